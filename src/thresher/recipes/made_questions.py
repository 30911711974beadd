"""Questions made of a collection's own texts, for measurements without labels.

Each is asked of the collection as it is, and with the documents that answer it out of reach or as a near miss.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence, Set
from dataclasses import dataclass
from typing import Literal

from thresher.errors import UsageError
from thresher.plugins import required
from thresher.protocols import ChunkTable
from thresher.types import Chunk

MADE: Literal["questions made of the collection"] = "questions made of the collection"

MOST_CHUNKS = 200_000
"""Chunks that questions are drawn from: the texts of a larger collection need not all be in memory."""

GROUP = "thresher.questions"
"""The group of entry points for `made`: (chunks, *, number, seed) to at most `number` questions, fewer where the texts
give no more, the same for a fixed seed."""

ScoresOf = Callable[[str, Set[str]], float | None]
"""Best raw score for a question with some documents out of reach; None where nothing was retrieved."""


@dataclass(frozen=True, slots=True)
class SyntheticQuestion:
    """A question made of a text, and the documents that answer it."""

    question: str
    document_id: str
    chunk_id: str
    answered_by: tuple[str, ...]
    """Its own document, and every other that holds what it asks about and its answer."""
    near_miss: str = ""
    """A question that no document answers by a hair, asked in place of this one with its documents out of reach."""
    place: tuple[int, int] = (0, 0)
    """Where its answer stands in its document, or the sentence, row or line that states it."""


def questions_of(table: ChunkTable, number: int, seed: int) -> list[SyntheticQuestion]:
    """Questions made of the texts of a table. Raises UsageError for none, MissingExtra where nothing makes them."""
    make = required(GROUP, "made")
    texts: list[Chunk] = []
    for batch in table.chunks():
        texts += [chunk for chunk, _ in batch]
        if len(texts) >= MOST_CHUNKS:
            break
    questions: list[SyntheticQuestion] = make(texts, number=number, seed=seed)
    if not questions:
        next_step = "give some with `questions`"
        raise UsageError("no questions can be made of its texts", subject="the collection", next_step=next_step)
    return questions


def gather(questions: Sequence[SyntheticQuestion], scores_of: ScoresOf) -> tuple[list[float], list[float]]:
    """Best raw scores of the questions with answers, and of their near misses or without the documents that answer."""
    positives, negatives = [], []
    for made in questions:
        inside = scores_of(made.question, frozenset())
        without: Set[str] = frozenset() if made.near_miss else frozenset(made.answered_by)
        outside = scores_of(made.near_miss or made.question, without)
        if inside is not None and outside is not None:
            positives.append(inside)
            negatives.append(outside)
    return positives, negatives


def gather_labelled(questions: Iterable[tuple[str, bool]], scores_of: ScoresOf) -> tuple[list[float], list[float]]:
    """Best raw scores of answerable and of other labelled questions; nothing retrieved scores 0."""
    scores: dict[bool, list[float]] = {True: [], False: []}
    for question, answerable in questions:
        scores[answerable].append(scores_of(question, frozenset()) or 0.0)
    return scores[True], scores[False]
