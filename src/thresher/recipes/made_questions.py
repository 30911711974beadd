"""Questions made of the texts of a collection, for what is measured where nobody has labelled any."""

from __future__ import annotations

from typing import Literal

from thresher.errors import UsageError
from thresher.judging.synthetic_questions import SyntheticQuestion, synthetic_questions
from thresher.protocols import ChunkTable

MADE: Literal["questions made of the collection"] = "questions made of the collection"

MOST_CHUNKS = 200_000
"""Chunks that questions are drawn from: the texts of a larger collection need not all be in memory."""


def questions_of(chunks: ChunkTable, number: int, seed: int) -> list[SyntheticQuestion]:
    """Questions made of the texts of a table. Raises UsageError where none can be made."""
    texts = []
    for batch in chunks.chunks():
        texts += [chunk for chunk, _ in batch]
        if len(texts) >= MOST_CHUNKS:
            break
    questions = synthetic_questions(texts, number=number, seed=seed)
    if not questions:
        raise UsageError(
            "no questions can be made of its texts", subject="the collection", next_step="give some with `questions`"
        )
    return questions
