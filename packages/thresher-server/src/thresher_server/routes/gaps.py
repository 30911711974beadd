"""Questions that were refused or answered wrongly, in groups of similar ones, with their nearest documents."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
from fastapi import APIRouter, Query, Request
from pydantic import Field

from thresher import recipes
from thresher.collection import Collection
from thresher.errors import StoreError, UsageError
from thresher.links import address, file_name
from thresher.text.terms import STOP_WORDS
from thresher_server.asking import worked
from thresher_server.naming import Opened, Served
from thresher_server.problems import replies
from thresher_server.searching import address_of
from thresher_server.security.access import Asker, Askers
from thresher_server.security.keys import Caller
from thresher_server.service import Service
from thresher_server.shapes import Reply

if TYPE_CHECKING:
    from thresher.types import Vectors

ALIKE = 0.65
"""Lowest mean cosine of two groups that merge. On the benchmark (bundled encoder) all 60 pairs of rewordings exceed it,
no pair of questions to different collections does, and 0.9 % of pairs to one collection do."""

MOST_QUESTIONS = 300
"""Only the newest are grouped; merging so many takes a third of a second."""

NEAREST = 3
"""Documents listed for a gap."""

TERMS = 3
"""Words that label a gap."""

BY_COSINE = "dense"
"""The score that measures a chunk's nearness; without it, the highest score with a scale from 0 to 1."""

ASKING = STOP_WORDS | {"may", "might", "must", "shall", "could", "would", "much", "many", "long", "tell"}
"""Words that say nothing about the subject of a question."""

_WORD = re.compile(r"\w[\w'’-]*")


router = APIRouter(prefix="/api/collections/{collection}", tags=["traces"])

Stored = Mapping[str, Any]
"""A stored answer as from `explain`, with `asked` and `feedback`."""


@dataclass(frozen=True, slots=True)
class Gap:
    """Questions that ask for the same thing, the newest first."""

    questions: Sequence[Stored]
    terms: tuple[str, ...]
    nearest: tuple[tuple[str, float], ...]
    """Sources and how near they came, the nearest first."""


def missed(stored: Iterable[Stored]) -> list[Stored]:
    """Gaps among stored answers, newest first, each with its `reason`.

    Only the last answer to a repeated question counts: a question answered since is no gap.
    """
    last: dict[str, Stored] = {}
    for answer in stored:
        last.setdefault(" ".join(_understood(answer).casefold().split()), answer)
    found: list[Stored] = [{**answer, "reason": _reason(answer)} for answer in last.values()]
    return [answer for answer in found if answer["reason"]][:MOST_QUESTIONS]


def _understood(answer: Stored) -> str:
    """The question as it is grouped: a follow-up as it was understood."""
    return str(answer.get("standalone") or answer["question"])


def _reason(answer: Stored) -> str:
    """Why an answer leaves a gap; empty if it leaves none."""
    feedback = answer.get("feedback")
    if feedback is not None:
        return "" if feedback["right"] else "marked as wrong"
    return "refused" if answer["abstained"] else ""


def _nearness(scores: Mapping[str, Mapping[str, Any]]) -> float:
    if BY_COSINE in scores:
        return float(scores[BY_COSINE]["value"])
    shares = [score["value"] for score in scores.values() if str(score["scale"]).endswith("[0, 1]")]
    return max(shares, default=0.0)


def gaps(questions: Sequence[Stored], encode: Callable[[Sequence[str]], Vectors]) -> list[Gap]:
    """The questions grouped by subject, the largest group first; `encode` returns rows of unit length."""
    if not questions:
        return []
    groups = clusters(encode(list(map(_understood, questions))), ALIKE)
    made = [_gap([questions[at] for at in group]) for group in groups]
    return sorted(made, key=lambda gap: -len(gap.questions))


def clusters(vectors: Vectors, alike: float) -> list[list[int]]:
    """Row positions in groups: the two with the greatest mean cosine merge while it is at least `alike`; rows keep
    order.
    """
    groups = [[at] for at in range(len(vectors))]
    sums = np.asarray(vectors, dtype=np.float64)  # per group; two groups' mean cosine is the product of their means
    while len(groups) > 1:
        means = sums / np.array([len(group) for group in groups])[:, None]
        cosines = means @ means.T
        np.fill_diagonal(cosines, -np.inf)
        one, other = sorted(divmod(int(cosines.argmax()), len(groups)))
        if cosines[one, other] < alike:
            break
        groups[one] = sorted(groups[one] + groups.pop(other))
        sums[one] += sums[other]
        sums = np.delete(sums, other, axis=0)
    return groups


def _gap(questions: Sequence[Stored]) -> Gap:
    near: dict[str, float] = {}
    for chunk in (chunk for one in questions for chunk in one["chunks"]):
        if chunk["origin"] == "inside":
            near[chunk["source"]] = max(_nearness(chunk["scores"]), near.get(chunk["source"], 0.0))
    nearest = sorted(near.items(), key=lambda item: (-item[1], item[0]))[:NEAREST]
    return Gap(questions, _terms(map(_understood, questions)), tuple(nearest))


def _terms(questions: Iterable[str]) -> tuple[str, ...]:
    written: dict[str, str] = {}
    counts: Counter[str] = Counter()
    for question in questions:
        words = {word.casefold(): word for word in _WORD.findall(question) if word.casefold() not in ASKING}
        counts.update(words.keys())
        written = {**words, **written}
    common = {word for word, _ in counts.most_common(TERMS)}
    return tuple(written[word] for word in written if word in common)


class MissedReply(Reply):
    """A question that left a gap."""

    question: str = Field(examples=["Who is the mayor?"], description="as typed")
    standalone: str | None = Field(None, description="a follow-up question as it was understood")
    trace: str
    asked: str
    reason: str = Field(examples=["refused"])


class NearReply(Reply):
    """A near document."""

    title: str
    source: str
    url: str
    score: float = Field(description="cosine of its nearest passage to a question, or its best score from 0 to 1")


class GapReply(Reply):
    """Questions about the same thing."""

    questions: list[MissedReply]
    terms: list[str] = Field(description="words shared by most of the questions")
    nearest: list[NearReply]


class GapList(Reply):
    """Gaps, the largest first."""

    gaps: list[GapReply]


@router.get("/gaps", summary="List gaps", responses=replies(404))
async def listed(
    caller: Asker,
    collection: Opened,
    service: Served,
    request: Request,
    limit: Annotated[int, Query(ge=1, le=200)] = 50,
) -> GapList:
    """Questions that were refused or whose answer was marked as wrong, grouped by subject.

    The caller's own, or everybody's for an admin. Only the last answer to a repeated question counts.
    """
    here = address_of(service, request)
    return await worked(service, lambda: _found(service, caller, collection, here, limit))


def _found(service: Service, caller: Caller, collection: Collection, here: str, limit: int) -> GapList:
    questions = missed(_stored(service, caller, collection))
    if not questions:
        return GapList(gaps=[])
    settings = recipes.get(service.front.recipe).configured({}, home=service.home)
    encoder = service.engine.models.encoder(settings.encoder, settings.embeddings)
    found = gaps(questions, encoder.encode)[:limit]
    records = {record.source: record for record in collection.opened.store.records()}

    def near(source: str, score: float) -> NearReply:
        record = records[source]
        url = address(here, collection.name, record.id, 0, 0, None)
        return NearReply(title=record.title, source=file_name(source), url=url, score=round(score, 4))

    shown = MissedReply.model_fields
    return GapList(
        gaps=[
            GapReply(
                questions=[MissedReply(**{name: one.get(name) for name in shown}) for one in gap.questions],
                terms=list(gap.terms),
                nearest=[near(source, score) for source, score in gap.nearest if source in records],
            )
            for gap in found
        ]
    )


def _stored(service: Service, caller: Caller, collection: Collection) -> Iterator[Stored]:
    """Stored answers that the caller may see, newest first; damaged ones are skipped."""
    askers, traces = Askers(service.home), collection.traces
    said = {label.trace: {"right": label.right} for label in collection.labels.labels()}
    shows = collection.opened.showing()
    for trace, asked in reversed(traces.asked()):
        if askers.may_see(caller, collection.name, trace):
            with suppress(UsageError, StoreError):
                if shows(stored := traces.load(trace)):
                    yield {**stored, "asked": asked.isoformat(), "feedback": said.get(trace)}
