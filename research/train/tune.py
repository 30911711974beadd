"""How good a judge is on the tune part of a pack: order, whether there is an answer, spans, claims, contrasts."""

from __future__ import annotations

import itertools
import re
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn
from torch.nn import functional

from research.train.batches import (
    CLAIM_TOKENS,
    MAX_TOKENS,
    QUESTION_TOKENS,
    Claims,
    Groups,
    Layout,
    Pack,
    Tokens,
    part_of,
    plain_rows,
)
from thresher.models.cross_encoders import windows_of_tokens
from thresher_training.tokens import TITLE_TOKENS

READ_TOGETHER = 256
SPAN_TOKENS = 30
CLAIMS, PAIRS = 16_000, 40
"""Measured at most; pairs of each kind and part."""
ASKED_OF_PASSAGES = "tune squad passage"
"""The kind of questions of which people said whether the passage that they are asked of answers them."""
DOUBTFUL = 1 / 12
"""Share of the mined negatives that do answer: 3 of 36 that were read."""


@dataclass(frozen=True)
class Measured:
    """What is measured: all of the tune part of a pack, or so many questions at most of each kind that is named."""

    pack: Pack
    claims: Claims | None
    at_most: int | None = None
    kinds: str | None = None
    """A pattern."""
    pairs: int = PAIRS
    claims_at_most: int | None = None
    """Of a source."""

    def questions(self) -> dict[str, NDArray[Any]]:
        """The rows of the tune part."""
        part = part_of(self.pack, "tune")
        found: dict[str, list[int]] = defaultdict(list)
        for at, kind in enumerate(part.get("stream", ())):
            if re.search(self.kinds or "", str(kind)) and (self.at_most is None or len(found[kind]) < self.at_most):
                found[kind].append(at)
        return chosen_of(part, found)

    def contrasts(self) -> dict[str, NDArray[Any]]:
        """The pairs that are not trained on, of each kind and part so many at most."""
        pairs = part_of(self.pack, "pairs")
        found: dict[tuple[str, str], list[int]] = defaultdict(list)
        for at, key in enumerate(zip(pairs.get("kind", ()), pairs.get("part", ()), strict=True)):
            if key[1] != "train" and len(found[key]) < self.pairs:
                found[key].append(at)
        return chosen_of(pairs, found)


def chosen_of(part: dict[str, NDArray[Any]], chosen: Mapping[Any, list[int]]) -> dict[str, NDArray[Any]]:
    """Some rows of a part; nothing if there are none."""
    at = sorted(one for own in chosen.values() for one in own)
    return {name: rows[at] for name, rows in part.items()} if at else {}


@torch.no_grad()
def tuned(judge: nn.Module, tokens: Tokens, measured: Measured) -> dict[str, Any]:
    """By kind: questions, first and among three in percent, area under the curve; spans' F1; claims; contrasts."""
    judge.eval()
    found: dict[str, Any] = {}
    if measured.claims:
        found["claims"] = of_claims(judge, tokens, measured.claims, measured.claims_at_most)
    if part := measured.questions():
        found |= of_questions(judge, tokens, part, measured.pack["ends"])
    if part := measured.contrasts():
        found["contrasts"] = of_contrasts(judge, tokens, part, measured.pack["ends"])
    if (part := part_of(measured.pack, "tune")) and (part["stream"] == ASKED_OF_PASSAGES).any():
        found["people"] = of_people(judge, tokens, part, measured.pack["ends"])
    judge.train()
    return found


@torch.no_grad()
def of_people(judge: nn.Module, tokens: Tokens, part: dict[str, NDArray[Any]], ends: NDArray[Any]) -> list[float]:
    """Of questions with their own passage alone: those that it answers, the others, area, means of their logits."""
    asked = part["stream"] == ASKED_OF_PASSAGES
    sides = [np.flatnonzero(asked & (part["right"][:, 0, 1] >= 0)), np.flatnonzero(asked & part["near"])]
    texts = np.concatenate([part["right"][sides[0], 0], part["wrong"][sides[1], 0]])
    layout, back = windows(part["question"][np.concatenate(sides), 0], texts[:, 0], texts[:, 1], ends)
    yes, no = np.split(best_of(read_all(judge, tokens, layout, spans=False)[0], back), [len(sides[0])])
    means = [round(float(side.mean()), 2) for side in (yes, no)]
    return [len(yes), len(no), round(above(yes, no), 3), *means]


@torch.no_grad()
def of_contrasts(
    judge: nn.Module, tokens: Tokens, part: dict[str, NDArray[Any]], ends: NDArray[Any]
) -> dict[str, list[float]]:
    """By kind and by part: pairs, area under the curve, share in order, means of the right and the exchanged logits."""
    title, text = np.tile(part["text"], (2, 1)).T
    asked = np.concatenate([part["question"][:, 0], part["exchanged"][:, 0]])
    layout, back = windows(asked, title, text, ends)
    scores = best_of(read_all(judge, tokens, layout, spans=False)[0], back)
    right, exchanged = np.split(scores, 2)
    names = [("all", np.ones(len(right), bool))]
    names += [(str(name), part[field] == name) for field in ("kind", "part") for name in np.unique(part[field])]
    return {
        name: [
            int(own.sum()),
            round(above(right[own], exchanged[own]), 3),
            round(float((right[own] > exchanged[own]).mean()), 3),
            round(float(right[own].mean()), 2),
            round(float(exchanged[own].mean()), 2),
        ]
        for name, own in names
    }


def of_questions(judge: nn.Module, tokens: Tokens, part: dict[str, NDArray[Any]], ends: NDArray[Any]) -> dict[str, Any]:
    """Order of texts, whether there is an answer, spans."""
    asked = texts_of(part)
    layout, back = windows(part["question"][asked["of"], 0], asked["title"], asked["text"], ends)
    scores, places = read_all(judge, tokens, layout)
    found = orders(part, best_of(scores, back), asked)
    found["span"] = spans_f1(part, back, places, asked)
    return found


@torch.no_grad()
def ranks(judge: nn.Module, tokens: Tokens, pack: Pack) -> dict[str, list[int]]:
    """By kind: how many wrong texts stand before the first right one, of each question of the tune part."""
    part = part_of(pack, "tune")
    asked = texts_of(part)
    layout, back = windows(part["question"][asked["of"], 0], asked["title"], asked["text"], pack["ends"])
    scores, _ = read_all(judge.eval(), tokens, layout, spans=False)
    return ranks_of(part, best_of(scores, back), asked)[0]


def texts_of(part: dict[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
    """Every text of every question: `of` which, on which `side` (1 is right), `title`, `text` and known `spans`."""
    found: dict[str, list[Any]] = {"of": [], "side": [], "title": [], "text": [], "spans": []}
    for at in range(len(part["question"])):
        for side, rows in ((1, part["right"][at]), (0, part["wrong"][at])):
            for nth, (title, text) in enumerate(rows[rows[:, 1] >= 0]):
                spans = part["spans"][at, nth] if side else np.full((part["spans"].shape[2], 2), -1)
                for name, value in zip(found, (at, side, title, text, spans), strict=True):
                    found[name].append(value)
    return {name: np.array(values) for name, values in found.items()}


def best_of(scores: NDArray[Any], back: NDArray[Any]) -> NDArray[Any]:
    """The relevance of the best window of each text."""
    best = np.full(back.max() + 1, -np.inf)
    np.maximum.at(best, back, scores[:, 0])
    return best


@torch.no_grad()
def of_claims(judge: nn.Module, tokens: Tokens, claims: Claims, at_most: int | None = None) -> dict[str, list[float]]:
    """Of each source: claims, supported that are found, others that are accepted, area under the curve.

    Of contrasts also the share of the groups whose supported claims are above the others.
    """
    chosen = measured_claims(claims, at_most)
    checked = claims.at(chosen, np.ones(len(chosen), bool)).layout(CLAIM_TOKENS)
    verdicts, _ = read_all(judge, tokens, checked, spans=False)
    shares = functional.pad(torch.as_tensor(verdicts[:, 1:]), (1, 0)).softmax(dim=1).numpy()[:, 1]
    is_so, sources, group = claims.labels[chosen] == 1, claims.sources[chosen], claims.group[chosen]
    return {
        str(name): balanced(shares[own], is_so[own]) + in_order(shares[own], is_so[own], group[own])
        for name in np.unique(sources)
        for own in [sources == name]
    }


def measured_claims(claims: Claims, at_most: int | None) -> NDArray[Any]:
    """Some claims, of each source so many at most; whole groups."""
    places = np.random.default_rng(0).permutation(len(claims.rows))
    groups: dict[tuple[str, int], list[int]] = defaultdict(list)
    for at in places.tolist():
        group = int(claims.group[at])
        groups[str(claims.sources[at]), group if group >= 0 else -1 - at].append(at)
    found: list[int] = []
    counts: dict[str, int] = defaultdict(int)
    for (source, _), own in groups.items():
        if (at_most is None or counts[source] < at_most) and len(found) < CLAIMS:
            counts[source] += len(own)
            found += own
    return np.array(found, np.int64)


def in_order(support: NDArray[Any], is_so: NDArray[Any], group: NDArray[Any]) -> list[float]:
    """The share of the groups of both sides whose supported claims are above the others, in the mean; none without."""
    numbers = [one for one in np.unique(group[group >= 0]) if len(np.unique(is_so[group == one])) == 2]
    right = [support[(group == one) & is_so].mean() > support[(group == one) & ~is_so].mean() for one in numbers]
    return [round(float(np.mean(right)), 3)] if right else []


@torch.no_grad()
def without_doubtful(judge: nn.Module, tokens: Tokens, groups: Groups, stream: str) -> dict[str, int]:
    """Drops the negatives of a stream that the judge puts furthest above what answers."""
    judge.eval()
    part = groups.pack

    def best_of(side: str) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
        """Group and place of each text, and the logit of its best window."""
        table = part[side]
        of, nth = np.nonzero((table[:, :, 1] >= 0) & (part["stream"] == stream)[:, None])
        titles, texts = table[of, nth].T
        layout, back = windows(part["question"][of, 0], titles, texts, groups.ends)
        best = np.full(len(of), -np.inf)
        np.maximum.at(best, back, read_all(judge, tokens, layout, spans=False)[0][:, 0])
        return of, nth, best

    right = np.full(len(part["stream"]), -np.inf)
    of, _, best = best_of("right")
    np.maximum.at(right, of, best)
    of, nth, best = best_of("wrong")
    above = best - right[of]
    doubtful = above > np.quantile(above, 1 - DOUBTFUL)
    part["wrong"][of[doubtful], nth[doubtful]] = -1
    judge.train()
    return {"negatives": len(of), "above": int((above > 0).sum()), "dropped": int(doubtful.sum())}


def windows(
    asked: NDArray[Any], titles: NDArray[Any], texts: NDArray[Any], ends: NDArray[Any]
) -> tuple[Layout, NDArray[Any]]:
    """Rows as the engine reads: as few windows as cover a text, all as long."""
    size = ends[texts + 1] - ends[texts]
    head = np.minimum(ends[asked + 1] - ends[asked], QUESTION_TOKENS)
    head = head + np.minimum(ends[titles + 1] - ends[titles], TITLE_TOKENS)
    room = MAX_TOKENS - 3 - head
    begins = [
        (at, start)
        for at, (count, space) in enumerate(zip(size.tolist(), room.tolist(), strict=True))
        for start, _ in windows_of_tokens(count, space)
    ]
    which, starts = np.array(begins).T
    rows = plain_rows(asked[which], titles[which], texts[which], ends, starts)
    return rows.layout(QUESTION_TOKENS), which


def read_all(
    judge: nn.Module, tokens: Tokens, layout: Layout, *, spans: bool = True
) -> tuple[NDArray[Any], list[tuple[int, int]]]:
    """Verdicts (rows, 3), and with `spans` the best place of each row, in tokens of its text."""
    order = np.argsort(layout.lengths, kind="stable")
    verdicts = np.zeros((len(order), 3), np.float32)
    places: list[tuple[int, int]] = [(0, 0)] * len(order)
    for begin in range(0, len(order), READ_TOGETHER):
        part = order[begin : begin + READ_TOGETHER]
        batch = tokens.batch(layout, part)
        with tokens.precision():
            judged, logits = judge(batch.ids, batch.types, batch.mask)
        verdicts[part] = judged.float().cpu().numpy()
        if not spans:
            continue
        shares = functional.log_softmax(logits.masked_fill(~batch.body[..., None], -1e4), dim=1)
        joint = shares[:, :, None, 0] + shares[:, None, :, 1]
        near = torch.ones_like(joint[0], dtype=torch.bool).triu().tril(SPAN_TOKENS - 1)
        flat = joint.masked_fill(~near, -1e9).flatten(1).argmax(dim=1).cpu().numpy()
        head = (2 + layout.asked + layout.titled - layout.rows.start)[part]
        for at, one, before in zip(part.tolist(), flat.tolist(), head.tolist(), strict=True):
            first, last = divmod(one, joint.shape[1])
            places[at] = (first - before, last - before)
    return verdicts, places


def ranks_of(
    part: dict[str, Any], scores: NDArray[Any], asked: Mapping[str, NDArray[Any]]
) -> tuple[dict[str, list[int]], dict[str, tuple[list[float], list[float]]]]:
    """By kind: wrong texts before the first right one; the best score of each question, without an answer and with."""
    found: dict[str, list[int]] = defaultdict(list)
    best: dict[str, tuple[list[float], list[float]]] = defaultdict(lambda: ([], []))
    bounds = np.searchsorted(asked["of"], np.arange(len(part["question"]) + 1))
    for at, (begin, end) in enumerate(itertools.pairwise(bounds)):
        own, side = scores[begin:end], asked["side"][begin:end]
        kind = str(part["stream"][at])
        best[kind][int(side.any())].append(float(own.max()))
        if side.any() and not side.all():
            found[kind].append(int((own[side == 0] > own[side == 1].max()).sum()))
            if kind == "held back":
                found[f"held back {part['set'][at]}"].append(found[kind][-1])
    return found, best


def orders(part: dict[str, Any], scores: NDArray[Any], asked: Mapping[str, NDArray[Any]]) -> dict[str, Any]:
    """First and among three of each kind of question that has an answer; area under the curve where some have none."""
    every, best = ranks_of(part, scores, asked)
    found: dict[str, Any] = {}
    for kind, values in every.items():
        numbers = np.array(values)
        found[kind] = [len(numbers), int((numbers == 0).sum()), int((numbers < 3).sum())]
        if min(map(len, best[kind])) > 5:
            no, yes = map(np.array, best[kind])
            found[kind].append(round(above(yes, no), 3))
    return found


def spans_f1(
    part: dict[str, Any], back: NDArray[Any], places: list[tuple[int, int]], asked: Mapping[str, NDArray[Any]]
) -> dict[str, list[float]]:
    """Questions and mean overlap in tokens of the best place with the nearest known one, of texts of one window."""
    single = np.bincount(back) == 1
    found: dict[str, list[float]] = defaultdict(list)
    for at, place in zip(back.tolist(), places, strict=True):
        known = [tuple(one) for one in asked["spans"][at] if one[0] >= 0]
        if asked["side"][at] and single[at] and known:
            stream = str(part["stream"][asked["of"][at]])
            found[stream].append(max(overlap(place, one) for one in known))
    return {name: [len(values), round(float(np.mean(values)), 3)] for name, values in found.items()}


def overlap(one: tuple[int, int], other: tuple[int, ...]) -> float:
    """F1 of two places in tokens."""
    common = min(one[1], other[1]) - max(one[0], other[0]) + 1
    return max(0.0, 2 * common / (one[1] - one[0] + other[1] - other[0] + 2))


def balanced(support: NDArray[Any], is_so: NDArray[Any]) -> list[float]:
    """Claims; supported that are found, others that are accepted; area under the curve."""
    yes, no = support[is_so], support[~is_so]
    shares = [float((side > 0.5).mean()) if len(side) else -1.0 for side in (yes, no)]
    return [len(support), *(round(one, 3) for one in (*shares, above(yes, no)))]


def above(yes: NDArray[Any], no: NDArray[Any]) -> float:
    """Area under the curve: the probability that one of the first is above one of the second; -1 without either."""
    return float(((yes[:, None] > no) + (yes[:, None] == no) / 2).mean()) if len(yes) and len(no) else -1.0
