"""Calibrates the scores of a judge in one collection: of `corrective`, and of every recipe with bounds or a floor.

For `corrective` it also measures how much the chat model counts beside the judge. For a published recipe it calibrates
the score that is compared with the bounds, with that recipe's retrieval and judge. Questions made of the texts are
asked of the collection as it is, and with the documents that answer them out of reach or as a near miss.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Sequence, Set
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Literal

from thresher.errors import UsageError
from thresher.judging.calibration import Calibration, ModelWeight, usual
from thresher.judging.fitting import LEAST_QUESTIONS, Opinion, check_enough, fit, weighed
from thresher.plugins import required
from thresher.protocols import ChunkTable
from thresher.recipes import corrective
from thresher.recipes.components import Components
from thresher.recipes.judges import best_score, judge_of, learns, raw_scorer
from thresher.recipes.registry import Recipe, get, names
from thresher.recipes.settings import CorrectiveSettings, JudgeSettings, RecipeSettings
from thresher.tracing.feedback import Label
from thresher.types import Chunk, Hit, In, Not, Query

ASKED_ABOUT = 3
"""Chunks of a question, the best by our judge, that the chat model is asked about to find out what it is worth."""


# --- questions made of a collection's own texts, for measurements without labels --------------------------------------

MADE: Literal["questions made of the collection"] = "questions made of the collection"

MOST_CHUNKS = 200_000
"""Chunks that questions are drawn from: the texts of a larger collection need not all be in memory."""

MAKERS = "thresher.questions"
"""The group of entry points for `made`: (chunks, *, number, seed) to at most `number` questions, fewer where the texts
give no more, the same for a fixed seed."""

ScoresOf = Callable[[str, Set[str]], float | None]
"""Best raw score for a question with some documents out of reach; None where nothing was retrieved."""


@dataclass(frozen=True, slots=True)
class SyntheticQuestion:
    """A question made of a text, and the documents that answer it."""

    question: str
    document_id: str
    answered_by: tuple[str, ...]
    """Its own document, and every other that holds what it asks about and its answer."""
    near_miss: str = ""
    """A question that no document answers by a hair, asked in place of this one with its documents out of reach."""
    place: tuple[int, int] = (0, 0)
    """Where its answer stands in its document, or the sentence, row or line that states it."""


def questions_of(table: ChunkTable, number: int, seed: int) -> list[SyntheticQuestion]:
    """Questions made of the texts of a table. Raises UsageError for none, MissingExtra where nothing makes them."""
    make = required(MAKERS, "made")
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


# --- calibrating ------------------------------------------------------------------------------------------------------


@dataclass(slots=True)
class Observed:
    """The best raw scores of a recipe for questions; keeps what it retrieved."""

    name: str
    encoder: str
    texts: ChunkTable
    look: Callable[[Query], Sequence[tuple[float, Hit | None]]]
    """Raw scores, 0 to 1, of what is retrieved for a question."""
    limit: int
    progress: Callable[[int], None] | None = None
    seen: dict[tuple[str, Set[str]], Sequence[tuple[float, Hit | None]]] = field(default_factory=dict)

    def best(self, question: str, without: Set[str]) -> float | None:
        """The best score with some documents out of reach; None where nothing has one."""
        found = self.seen[question, without] = self.look(self.query(question, without))
        if self.progress is not None:
            self.progress(1)
        return max((value for value, _ in found), default=None)

    def query(self, question: str, without: Set[str]) -> Query:
        """The question, some documents out of reach."""
        others = Not(In("document_id", tuple(sorted(without)))) if without else None
        return Query(question, question, self.limit, others)


def calibrated(
    recipe: Recipe,
    settings: RecipeSettings,
    parts: Components,
    labelled: Sequence[tuple[str, bool]] | None,
    *,
    number: int,
    seed: int,
    limit: int,
    feedback: Sequence[tuple[str, bool]] = (),
    progress: Callable[[int], None] | None = None,
) -> Calibration:
    """Fitted on (question, whether the collection answers it), or on `number` questions made of its texts.

    Those of `feedback` are added to either; for a question labelled twice the label in `labelled` counts. Raises
    UsageError for a recipe that decides by no bounds, and for too few questions.
    """
    if labelled is None and number < LEAST_QUESTIONS:
        subject, next_step = f"{number} questions", f"make at least {LEAST_QUESTIONS}"
        raise UsageError("are too few to calibrate on", subject=subject, next_step=next_step)
    if recipe.bounds is None and not isinstance(settings, CorrectiveSettings):
        raise _without_bounds(recipe)
    known = {**dict(feedback), **dict(labelled or ())}
    if labelled is not None:  # checked before the searches, which may take minutes
        check_enough(sum(known.values()), len(known) - sum(known.values()))
    if isinstance(settings, CorrectiveSettings):
        evidence = _of_corrective(settings, parts, limit, progress)
    else:
        evidence = _of_printed_bounds(recipe, settings, parts, limit, progress)
    fitted = partial(fit, judge=evidence.name, encoder=evidence.encoder, seed=seed)
    if labelled is not None:
        made = fitted(*gather_labelled(known.items(), evidence.best), source="labels")
    else:
        questions = questions_of(evidence.texts, number, seed)
        scores = zip(gather(questions, evidence.best), gather_labelled(known.items(), evidence.best), strict=True)
        elsewhere = usual(evidence.name.removeprefix(f"{recipe.name}: "), evidence.encoder)
        made = fitted(*([*one, *other] for one, other in scores), source=MADE, elsewhere=elsewhere)
        known = {**{one.near_miss: False for one in questions}, **known}
    if not isinstance(settings, CorrectiveSettings):
        return made
    return replace(made, model=_model_weight(settings, parts, made, evidence, known, seed=seed))


def _of_corrective(
    settings: CorrectiveSettings, parts: Components, limit: int, progress: Callable[[int], None] | None
) -> Observed:
    """The trained judge's scores over what `corrective` retrieves."""
    chunks, retrieve = corrective.searched(settings, parts)
    scorer = raw_scorer(settings, parts, chunks)

    def look(query: Query) -> list[tuple[float, Hit | None]]:
        hits = retrieve(query).kept
        scores = scorer(query, hits).scores
        return [(score.value, hit) for hit, score in zip(hits, scores, strict=True) if score is not None]

    return Observed(scorer.name, parts.encoder(settings).name, chunks, look, limit, progress)


def _of_printed_bounds(
    recipe: Recipe, settings: RecipeSettings, parts: Components, limit: int, progress: Callable[[int], None] | None
) -> Observed:
    """The score that a published recipe compares with its bounds, over what it retrieves and judges."""
    pipeline, config = recipe.wired(settings, parts), recipe.index_config(settings, parts)
    effective = learns(pipeline, recipe.bounds or ())  # not with every setting or own part
    if config is None or not effective or not isinstance(settings, JudgeSettings):
        raise _without_bounds(recipe)

    def look(query: Query) -> list[tuple[float, Hit | None]]:
        query = pipeline.rewrite(query)
        best = best_score(pipeline.decide, pipeline.judge(query, pipeline.retrieve(query).kept).judgements)
        return [] if best is None else [(best, None)]

    name = judge_of(recipe.name, settings)
    return Observed(name, parts.encoder(settings).name, parts.table(config), look, limit, progress)


def _without_bounds(recipe: Recipe) -> UsageError:
    can = [one.name for one in map(get, names()) if one.bounds is not None or one.module == "corrective"]
    subject, next_step = f"recipe {recipe.name}", f"calibrate one of {', '.join(can)}"
    return UsageError("decides by no bounds that could be learned", subject=subject, next_step=next_step)


def _model_weight(
    settings: CorrectiveSettings,
    parts: Components,
    own: Calibration,
    evidence: Observed,
    known: dict[str, bool],
    *,
    seed: int,
) -> ModelWeight | None:
    """The weight of the chat model where our judge is unsure; None without one, or for too few such questions."""
    model = parts.language_model(settings.llm) if settings.judge == "auto" else None
    if model is None:
        return None
    relevance = corrective.model_relevance(settings, model, parts.meter)
    lower, upper = corrective.bounds(settings, own)
    opinions: list[Opinion] = []
    lacks: list[str] = []
    for (question, without), found in evidence.seen.items():
        best = sorted(((own.probability(value), hit) for value, hit in found), key=lambda pair: -pair[0])
        if not best or not lower <= best[0][0] < upper:
            continue
        asked = [hit for probability, hit in best[:ASKED_ABOUT] if hit is not None and probability >= lower]
        scored = relevance(evidence.query(question, without), asked)
        lacks += scored.notes.degraded
        scores = [score.value for score in scored.scores if score is not None]
        if scores:
            opinions.append(Opinion(best[0][0], max(scores), known.get(question, not without)))
        if evidence.progress is not None:
            evidence.progress(1)
    log, weight = logging.getLogger("thresher"), weighed(model.name, opinions, seed=seed)
    if lacks:
        log.warning("%d times the chat model was of no help: %s", len(lacks), lacks[0])
    if weight is None:
        few = "too few to say what the chat model's word is worth (20 of each kind)"
        log.warning("of %d questions our judge is unsure: %s", len(opinions), few)
    return weight


def answerable(labels: Iterable[Label]) -> list[tuple[str, bool]]:
    """Questions with whether the collection answers them, where the labels say so; of two that differ the later one."""
    return list({one.question: one.answerable for one in labels if one.answerable is not None}.items())
