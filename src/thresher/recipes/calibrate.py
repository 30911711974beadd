"""Learning what our judge's scores are worth in one collection, with the retrieval of `corrective`."""

from __future__ import annotations

from collections.abc import Callable, Sequence, Set
from typing import Literal

from thresher.errors import UsageError
from thresher.filters import In, Not
from thresher.judging.calibration import LEAST_QUESTIONS, Calibration, check_enough, fit
from thresher.judging.synthetic_questions import gather, gather_labelled, synthetic_questions
from thresher.recipes import corrective
from thresher.recipes.components import Components
from thresher.recipes.judges import raw_scorer
from thresher.recipes.settings import CorrectiveSettings
from thresher.text.sentences import sentence_spans
from thresher.text.terms import index_terms
from thresher.types import Query

MADE: Literal["questions made of the collection"] = "questions made of the collection"

MOST_CHUNKS = 200_000
"""Chunks that questions are drawn from: the texts of a larger collection need not all be in memory."""


def calibrated(
    settings: CorrectiveSettings,
    parts: Components,
    labelled: Sequence[tuple[str, bool]] | None,
    *,
    number: int,
    seed: int,
    limit: int,
    progress: Callable[[int], None] | None = None,
) -> Calibration:
    """Fitted on (question, whether the collection answers it), or on `number` questions made of its texts."""
    if labelled is None and number < LEAST_QUESTIONS:
        raise UsageError(
            "are too few to calibrate on", subject=f"{number} questions", next_step=f"make at least {LEAST_QUESTIONS}"
        )
    if labelled is not None:  # before the searches, which may take minutes
        answerable = sum(answers for _, answers in labelled)
        check_enough(answerable, len(labelled) - answerable)
    chunks = parts.table(corrective.index_config(settings, parts), "chunk")
    retrieve = corrective.retriever(settings, parts)
    scorer = raw_scorer(settings, parts, chunks, default="trained")

    def best(question: str, without: Set[str]) -> float | None:
        others = Not(In("document_id", tuple(sorted(without)))) if without else None
        query = Query(question, question, limit, others)
        scores = scorer(query, retrieve(query).kept).scores
        if progress is not None:
            progress(1)
        return max((score.value for score in scores if score is not None), default=None)

    encoder = parts.encoder(settings).name
    if labelled is not None:
        positives, negatives = gather_labelled(labelled, best)
        return fit(positives, negatives, judge=scorer.name, encoder=encoder, source="labels", seed=seed)
    texts = []
    for batch in chunks.chunks():
        texts += [chunk for chunk, _ in batch]
        if len(texts) >= MOST_CHUNKS:
            break
    questions = synthetic_questions(texts, number=number, seed=seed, spans=sentence_spans, terms=index_terms)
    positives, negatives = gather(questions, best)
    if not questions:
        raise UsageError(
            "no questions can be made of its texts", subject="the collection", next_step="give some with `questions`"
        )
    return fit(positives, negatives, judge=scorer.name, encoder=encoder, source=MADE, seed=seed)
