"""Questions made of the texts of a collection, for measurements without labels."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, Protocol

from thresher.errors import UsageError
from thresher.judging.synthetic_questions import SyntheticQuestion
from thresher.plugins import required
from thresher.protocols import ChunkTable
from thresher.types import Chunk

MADE: Literal["questions made of the collection"] = "questions made of the collection"

MOST_CHUNKS = 200_000
"""Chunks that questions are drawn from: the texts of a larger collection need not all be in memory."""

GROUP = "thresher.questions"
"""The group of entry points for `made`, a function that makes questions."""


class MakesQuestions(Protocol):
    """Up to `number` questions made of texts, the same for a fixed seed."""

    def __call__(self, chunks: Sequence[Chunk], *, number: int, seed: int) -> list[SyntheticQuestion]:
        """The questions; fewer where the texts give no more."""


def questions_of(chunks: ChunkTable, number: int, seed: int) -> list[SyntheticQuestion]:
    """Questions made of the texts of a table. Raises UsageError for none, MissingExtra where nothing makes them."""
    make: MakesQuestions = required(GROUP, "made")
    texts: list[Chunk] = []
    for batch in chunks.chunks():
        texts += [chunk for chunk, _ in batch]
        if len(texts) >= MOST_CHUNKS:
            break
    questions = make(texts, number=number, seed=seed)
    if not questions:
        next_step = "give some with `questions`"
        raise UsageError("no questions can be made of its texts", subject="the collection", next_step=next_step)
    return questions
