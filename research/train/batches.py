"""What a step reads: questions drawn with some of their texts, and claims, out of a pack, as padded tensors."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from thresher_training.network import LABELS, mixed
from thresher_training.tokens import TITLE_TOKENS, Batch

MAX_TOKENS, QUESTION_TOKENS, CLAIM_TOKENS = 256, 64, 96
"""As the engine reads."""
CLS, SEP = 101, 102
SUPPORTED = LABELS["supported"]
PLAIN_QUESTION = 0.3
"""Share of questions that are read in lower case without their question mark, as people type them."""
TITLED = 0.8
"""Share of texts that are read with their title."""
ANYWHERE = 0.5
"""Share of long texts that are read from another place on than their beginning."""
HARDEST = 0.04
"""How much the order of the negatives counts when some are drawn."""
NEAR_WEIGHT = 2.5
"""Of a text of which people said that it does not answer: that of one that does, `POSITIVE_WEIGHT`."""
BUILT_WEIGHT = 1.0
"""Of the nearest text without the answer's words, of a question whose answer is left out."""

Pack = Mapping[str, NDArray[Any]]


def part_of(pack: Pack, name: str) -> dict[str, NDArray[Any]]:
    """The arrays of a part, under their names there."""
    return {key.removeprefix(f"{name}."): value for key, value in pack.items() if key.startswith(f"{name}.")}


@dataclass(frozen=True)
class Rows:
    """Pairs to read: places of question, title and text in the pack (-1 for none), and what is known of them."""

    question: NDArray[Any]
    title: NDArray[Any]
    text: NDArray[Any]
    start: NDArray[Any]
    """The text's first token that is read."""
    behind: NDArray[Any]
    """Another text, read behind the first or before it."""
    before: NDArray[Any]
    ends: NDArray[Any]
    """Of the pack: where each text begins in its tokens."""
    slot: NDArray[Any]
    answered: NDArray[Any]
    right: NDArray[Any]
    weight: NDArray[Any]
    places: NDArray[Any]
    """Of answers, in tokens of the text."""
    most: int = MAX_TOKENS
    """Tokens of a row."""

    def size(self, which: NDArray[Any]) -> NDArray[Any]:
        """Tokens of texts; 0 for none."""
        return np.asarray(np.where(which < 0, 0, self.ends[which + 1] - self.ends[which]))

    def layout(self, most: int) -> Layout:
        """How the rows are read, with so many tokens of a question or claim at most."""
        asked = np.minimum(self.size(self.question), most)
        titled = np.minimum(self.size(self.title), TITLE_TOKENS)
        room = self.most - 3 - asked - titled
        first = np.minimum(self.size(self.text) - self.start, room)
        second = np.minimum(self.size(self.behind), room - first)
        head = 2 + asked + titled + np.where(self.before, second, 0)
        end = self.start + first
        inside = (self.places[:, :, 0] >= self.start[:, None]) & (self.places[:, :, 1] < end[:, None])
        moved = self.places - self.start[:, None, None] + head[:, None, None]
        spans = np.where(inside[:, :, None] & (self.places[:, :, :1] >= 0), moved, -1)
        return Layout(self, asked, titled, first, second, spans)


@dataclass(frozen=True)
class Layout:
    """Tokens of each part of each row, and the places of answers in what is read."""

    rows: Rows
    asked: NDArray[Any]
    titled: NDArray[Any]
    first: NDArray[Any]
    second: NDArray[Any]
    spans: NDArray[Any]

    @property
    def lengths(self) -> NDArray[Any]:
        """Tokens of each row."""
        return np.asarray(3 + self.asked + self.titled + self.first + self.second)


class Tokens:
    """The pack's tokens on a device."""

    def __init__(self, pack: Pack, device: torch.device, *, bfloat16: bool | None = None) -> None:
        self.device = device
        self.bfloat16 = device.type == "cuda" if bfloat16 is None else bfloat16
        self.flat = torch.as_tensor(pack["tokens"].astype(np.int32), device=device)
        self.ends = pack["ends"]

    def precision(self) -> AbstractContextManager[Any]:
        """bfloat16 on an accelerator; few processors are fast in it."""
        return mixed(self.device) if self.bfloat16 else nullcontext()

    def batch(self, layout: Layout, part: NDArray[Any]) -> Batch:
        """The rows of a part, padded."""
        rows, starts = layout.rows, layout.rows.ends
        one, two = rows.text[part], rows.behind[part]
        first = (starts[one] + rows.start[part], layout.first[part])
        second = (starts[two], layout.second[part])
        swap = rows.before[part]
        pieces = [
            (starts[rows.question[part]], layout.asked[part]),
            (starts[rows.title[part]], layout.titled[part]),
            (np.where(swap, second[0], first[0]), np.where(swap, second[1], first[1])),
            (np.where(swap, first[0], second[0]), np.where(swap, first[1], second[1])),
        ]
        numbers = np.stack([value for piece in pieces for value in piece])
        put = torch.as_tensor(numbers.astype(np.int64), device=self.device)[:, :, None]
        asked = put[1]
        length = 3 + put[1] + put[3] + put[5] + put[7]
        longest = int((3 + numbers[1] + numbers[3] + numbers[5] + numbers[7]).max())
        at = torch.arange(longest, device=self.device)[None, :]
        where = at - 1 + put[0]
        edge = 2 + asked
        for begin, size in ((put[2], put[3]), (put[4], put[5]), (put[6], put[7])):
            where = torch.where(at >= edge, at - edge + begin, where)
            edge = edge + size
        ids = self.flat[where.clamp(0, len(self.flat) - 1)].long()
        ids = ids.masked_fill((at == asked + 1) | (at == length - 1), SEP).masked_fill(at == 0, CLS)
        mask = at < length
        types = ((at >= 2 + asked) & mask).long()
        return Batch(ids * mask, types, mask.long(), types.bool())


class Groups:
    """Questions with their texts, to be drawn from."""

    def __init__(
        self, pack: Pack, part: str, shares: Mapping[str, float], *, joined: float = 0.0, most: int = MAX_TOKENS
    ) -> None:
        self.pack = part_of(pack, part)
        self.ends, self.joined, self.most = pack["ends"], joined, most
        self.members = [np.flatnonzero(self.pack["stream"] == name) for name in shares]
        self.shares = np.array(list(shares.values())) / sum(shares.values())

    def draw(self, draw: np.random.Generator, questions: int, texts: int, *, joined: float) -> Rows:
        """The texts of so many questions, the one that answers in the first slot."""
        streams = draw.choice(len(self.shares), questions, p=self.shares)
        chosen = np.array([self.members[stream][draw.integers(len(self.members[stream]))] for stream in streams])
        right, wrong = self.pack["right"][chosen], self.pack["wrong"][chosen]
        count = (right[:, :, 1] >= 0).sum(axis=1)
        which = (draw.random(questions) * np.maximum(count, 1)).astype(int)
        answered = count > 0
        there = wrong[:, :, 1] >= 0
        keys = draw.random(there.shape) + HARDEST * np.arange(there.shape[1])
        keys[self.pack["near"][chosen], 0] = -1  # what nobody but people could tell from an answer is always read
        order = np.argsort(np.where(there, keys, np.inf), axis=1)[:, :texts]
        negatives = np.take_along_axis(wrong, order[:, :, None], axis=1)
        positive = right[np.arange(questions), which]
        table = np.where(
            answered[:, None, None], np.concatenate([positive[:, None], negatives[:, :-1]], axis=1), negatives
        )
        slot = np.flatnonzero(table[:, :, 1].reshape(-1) >= 0)
        asking, nth = slot // texts, slot % texts
        pairs = table.reshape(-1, 2)[slot]
        plain = (draw.random(questions) < PLAIN_QUESTION).astype(int)
        question = self.pack["question"][chosen, plain][asking]
        titled = (draw.random(questions) < TITLED)[asking]
        is_right = answered[asking] & (nth == 0)
        places = np.where(is_right[:, None, None], self.pack["spans"][chosen, which][asking], -1).astype(np.int64)
        size = self.ends[pairs[:, 1] + 1] - self.ends[pairs[:, 1]]
        # Of a text that is too long a window is read: around a place of the answer, else its beginning or anywhere.
        room = self.most - 3 - np.minimum(self.ends[question + 1] - self.ends[question], QUESTION_TOKENS)
        start = window(draw, size, room - TITLE_TOKENS, places)
        # Some are read with another text of the question that does not answer behind them, or before.
        other = wrong[asking, (draw.random(len(slot)) * np.maximum(there.sum(axis=1)[asking], 1)).astype(int)]
        join = (draw.random(len(slot)) < joined) & (other[:, 1] >= 0) & (other[:, 1] != pairs[:, 1])
        certain = self.pack["certain"][chosen][asking] | (nth > 0)
        per_question = np.bincount(asking, minlength=questions)[asking]
        near = (self.pack["near"][chosen] & ~answered)[asking] & (nth == 0)
        return Rows(
            question=question,
            title=np.where(titled, pairs[:, 0], -1),
            text=pairs[:, 1],
            start=start,
            behind=np.where(join, other[:, 1], -1),
            before=join & (draw.random(len(slot)) < 0.5),
            ends=self.ends,
            slot=slot,
            answered=answered,
            right=is_right,
            weight=np.where(near, np.where(certain, NEAR_WEIGHT, BUILT_WEIGHT), certain) / per_question,
            places=places,
            most=self.most,
        )


def window(
    draw: np.random.Generator, size: NDArray[Any], room: NDArray[Any], places: NDArray[Any]
) -> NDArray[np.int64]:
    """Where a window of so much room begins in each text: so that it holds the first place, else at 0 or anywhere."""
    latest = np.maximum(size - room, 0)
    anywhere = draw.random(len(size)) * (latest + 1) * (draw.random(len(size)) < ANYWHERE)
    low = np.clip(places[:, 0, 1] - room + 1, 0, latest)
    around = low + draw.random(len(size)) * (np.clip(places[:, 0, 0], 0, latest) - low + 1)
    start = np.where(places[:, 0, 0] >= 0, np.maximum(around, low), anywhere).astype(np.int64)
    return np.asarray(np.minimum(start, latest))


class Contrasts:
    """Questions with one word exchanged, beside the questions as they were asked, over one text."""

    def __init__(self, pack: Pack, *, most: int = MAX_TOKENS) -> None:
        self.pack, self.ends, self.most = part_of(pack, "pairs"), pack["ends"], most
        read = (self.pack["part"] == "train") & (self.pack["spans"][:, 0, 0] >= 0)  # else a window may lack the answer
        kinds = self.pack["kind"][trained := np.flatnonzero(read)]
        self.members = [trained[kinds == kind] for kind in np.unique(kinds)]
        # A kind is drawn by the root of its size, so that the frequent ones are not everything.
        self.shares = np.sqrt([len(own) for own in self.members])
        self.shares /= self.shares.sum()

    def draw(self, draw: np.random.Generator, number: int) -> Rows:
        """Two rows of so many pairs: all that are answered, then all that are not, over the same window."""
        kinds = draw.choice(len(self.members), number, p=self.shares)
        chosen = np.array([self.members[kind][draw.integers(len(self.members[kind]))] for kind in kinds])
        plain = (draw.random(number) < PLAIN_QUESTION).astype(int)
        asked = [self.pack[name][chosen, plain] for name in ("question", "exchanged")]
        title, text = self.pack["text"][chosen].T
        places = self.pack["spans"][chosen].astype(np.int64)
        longest = np.maximum(*(self.ends[one + 1] - self.ends[one] for one in asked))
        room = self.most - 3 - np.minimum(longest, QUESTION_TOKENS) - TITLE_TOKENS
        start = window(draw, self.ends[text + 1] - self.ends[text], room, places)
        title = np.where(draw.random(number) < TITLED, title, -1)
        rows = plain_rows(np.concatenate(asked), np.tile(title, 2), np.tile(text, 2), self.ends, np.tile(start, 2))
        right = np.arange(2 * number) < number
        return replace(
            rows, right=right, places=np.where(right[:, None, None], np.tile(places, (2, 1, 1)), -1), most=self.most
        )


class Taught:
    """Questions without labels, and what a teacher says of their candidates."""

    def __init__(self, pack: Pack, scores: NDArray[Any]) -> None:
        self.pack, self.ends, self.scores = part_of(pack, "unlabelled"), pack["ends"], scores.astype(np.float32)

    def draw(self, draw: np.random.Generator, questions: int, texts: int) -> tuple[Rows, NDArray[Any]]:
        """So many questions with some of their candidates, and the scores (questions, texts), NaN for no text."""
        chosen = draw.integers(len(self.scores), size=questions)
        scores = self.scores[chosen]
        order = np.argsort(np.where(np.isnan(scores), np.inf, draw.random(scores.shape)), axis=1)[:, :texts]
        pairs = np.take_along_axis(self.pack["texts"][chosen], order[:, :, None], axis=1).reshape(-1, 2)
        kept = np.take_along_axis(scores, order, axis=1)
        slot = np.flatnonzero(pairs[:, 1] >= 0)
        plain = (draw.random(questions) < PLAIN_QUESTION).astype(int)
        asked = self.pack["question"][chosen, plain][slot // order.shape[1]]
        return replace(plain_rows(asked, pairs[slot, 0], pairs[slot, 1], self.ends), slot=slot), kept


MADE = ("sentence", "answer", "same passage")
"""Sources of claims that nobody wrote for their text."""
OF_A_GROUP = 4
"""Claims that are read of a group of contrasts at most, of both sides if it has them."""


@dataclass(frozen=True)
class Drawn:
    """Claims of a step: what is read, labels, what a teacher says of them, and of which group each is (-1 for none)."""

    rows: Rows
    labels: NDArray[Any]
    said: NDArray[Any] | None
    group: NDArray[Any]


class Claims:
    """Claims with a text and a label; of those drawn a share, if given, is written by people.

    `said`: what a teacher says of them, (claims, 2) support and denial. `grouped`: the share of those drawn that are
    contrasts of each other, whole groups; without it all claims are drawn one by one.
    """

    def __init__(
        self,
        pack: Pack,
        *,
        tune: bool,
        by_people: float | None = None,
        said: NDArray[Any] | None = None,
        grouped: float = 0.0,
    ) -> None:
        chosen = pack["claims.tune"] == tune
        self.rows, self.labels = pack["claims"][chosen], pack["claims.label"][chosen]
        self.sources, self.ends = pack["claims.source"][chosen], pack["ends"]
        self.group = pack["claims.group"][chosen] if "claims.group" in pack else np.full(len(self.rows), -1)
        self.grouped = grouped
        made = np.isin(self.sources, MADE) | np.char.startswith(self.sources, "made ")
        single = self.group < 0 if grouped else np.ones(len(made), bool)
        self.sides = (np.flatnonzero(made & single), np.flatnonzero(~made & single))
        self.by_people = by_people if by_people is not None else len(self.sides[1]) / max(1, single.sum())
        self.said = said
        if grouped:
            order = np.argsort(self.group, kind="stable")
            order = order[self.group[order] >= 0]
            self.members = np.split(order, np.flatnonzero(np.diff(self.group[order])) + 1)
            # A group of more claims than are read of it is drawn more often.
            times = pack["claims.times"][chosen][[own[0] for own in self.members]].astype(float)
            self.shares = times * [max(1.0, len(own) / OF_A_GROUP) for own in self.members]
            self.shares = np.cumsum(self.shares / self.shares.sum())

    def draw(self, draw: np.random.Generator, number: int) -> Drawn:
        """So many claims: groups of contrasts first, then single ones."""
        wanted = round(self.grouped * number)
        contrasts: list[int] = []
        while len(contrasts) < wanted:
            contrasts += self.of_group(draw, min(OF_A_GROUP, max(2, wanted - len(contrasts))))
        left = number - len(contrasts)
        sides = [draw.choice(side, left) if len(side) else np.full(left, -1) for side in self.sides]
        single = np.where((draw.random(left) < self.by_people) & (sides[1] >= 0) | (sides[0] < 0), sides[1], sides[0])
        chosen = np.concatenate([np.array(contrasts, np.int64), single])
        titled = draw.random(len(chosen)) < TITLED
        group = np.where(np.arange(len(chosen)) < len(contrasts), self.group[chosen], -1)
        if contrasts:  # those of a group are read alike
            titled = np.where(group >= 0, draw.random(int(self.group.max()) + 1)[group] < TITLED, titled)
        said = None if self.said is None else self.said[chosen]
        return Drawn(self.at(chosen, titled), self.labels[chosen], said, group)

    def of_group(self, draw: np.random.Generator, most: int) -> list[int]:
        """Claims of one group, of both sides where it has them."""
        own = draw.permutation(
            self.members[min(int(np.searchsorted(self.shares, draw.random())), len(self.members) - 1)]
        )
        right = self.labels[own] == SUPPORTED
        first = [int(side[0]) for side in (own[right], own[~right]) if len(side)]
        return [*first, *(int(one) for one in own if one not in first)][:most]

    def at(self, chosen: NDArray[Any], titled: NDArray[Any]) -> Rows:
        """Claims of these numbers."""
        claim, title, text = self.rows[chosen].T
        return plain_rows(claim, np.where(titled, title, -1), text, self.ends)


def plain_rows(
    question: NDArray[Any],
    title: NDArray[Any],
    text: NDArray[Any],
    ends: NDArray[Any],
    start: NDArray[Any] | None = None,
) -> Rows:
    """Rows of which nothing is known, read from their beginning, or from the tokens `start` on."""
    count, none = len(text), np.full(len(text), -1)
    flags = np.zeros(count, bool)
    places = np.full((count, 1, 2), -1, np.int64)
    zeros = np.zeros(count, np.int64)
    return Rows(
        question,
        title,
        text,
        zeros if start is None else start,
        none,
        flags,
        ends,
        np.arange(count),
        flags,
        flags,
        zeros,
        places,
    )
