"""The judges by name: what makes the scorer, its scale, and the calibration it comes with.

Adding a judge is a scorer (see `thresher.protocols.Scorer`) in a file of its own and a line in `JUDGES`. Any other name
is a cross-encoder: a fastembed name, a folder or a `/rerank` address.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from thresher.errors import UnknownSetting, UsageError
from thresher.judging.calibration import SHIPPED, Calibration
from thresher.judging.entries import EntryScorer
from thresher.judging.scorers import (
    CalibratedScorer,
    CrossEncoderScorer,
    LocalRelevance,
    LocalScorer,
    QueryText,
    TrainedScorer,
    TunedJudge,
)
from thresher.judging.tables import TableScorer
from thresher.protocols import ChunkTable, Scorer
from thresher.recipes.components import BUNDLED, Components
from thresher.recipes.settings import JudgeSettings, RecipeSettings
from thresher.text.sentences import sentence_spans
from thresher.text.terms import index_terms
from thresher.types import PROBABILITY, UNIT, Scale

NO_CHAT_MODEL = "judge: no chat model is configured (llm.base_url, llm.model); the local judge scored"


@dataclass(frozen=True, slots=True)
class JudgeEntry:
    """A judge that needs no chat model."""

    make: Callable[[RecipeSettings, Components, ChunkTable], Scorer]
    scale: Scale
    """A threshold is checked against it."""
    shipped: Calibration | None = None
    """For a collection that was never calibrated, for one encoder; None for no such fit."""


def local_scorer(settings: RecipeSettings, components: Components, table: ChunkTable) -> LocalScorer:
    """Cosine of the best sentence and the question's words."""
    encoder = components.encoder(settings, reading=True)
    return LocalScorer(LocalRelevance(encoder, index_terms, components.rarity(table), sentence_spans))


def trained_scorer(settings: RecipeSettings, components: Components, _table: ChunkTable) -> TrainedScorer:
    """Our own: the bundled cross-encoder, or one that was trained further."""
    folder = judge_folder(settings)
    if folder is None:
        return TrainedScorer(components.models.judge())
    tuned = TunedJudge.read(folder)
    return TrainedScorer(components.models.judge(folder), tuned.calibration.judge, tuned.odds)


def judge_folder(settings: RecipeSettings) -> Path | None:
    """Where the trained judge's weights are; None for the bundled ones."""
    given = settings.judge_model if isinstance(settings, JudgeSettings) else BUNDLED
    return None if given == BUNDLED else Path(given).expanduser()


def calibrated_scorer(settings: RecipeSettings, components: Components, table: ChunkTable) -> CalibratedScorer:
    """The trained judge's score as a probability."""
    trained = trained_scorer(settings, components, table)
    return CalibratedScorer(trained, calibration(settings, components, trained.name))


JUDGES: dict[str, JudgeEntry] = {
    "local": JudgeEntry(local_scorer, LocalScorer.scale, SHIPPED["local"]),
    "trained": JudgeEntry(trained_scorer, TrainedScorer.scale, SHIPPED["trained"]),
    "calibrated": JudgeEntry(calibrated_scorer, PROBABILITY),
}


def calibration(settings: RecipeSettings, components: Components, judge: str) -> Calibration:
    """The collection's calibration of a judge, or the shipped one, for any encoder. Raises UsageError for neither."""
    encoder = components.encoder(settings).name
    stored = None if components.calibrations is None else components.calibrations().get(judge, encoder)
    entry, folder = JUDGES.get(judge), judge_folder(settings)
    found = stored or (entry.shipped if entry else None)
    if found is None and entry is None and folder is not None:
        found = TunedJudge.read(folder).calibration
    if found is None:
        raise UsageError(
            "comes with no calibration, and this collection has none of it",
            subject=f"judge {judge}",
            next_step="calibrate the collection, or use a judge that has one",
        )
    return found


def raw_scorer(settings: JudgeSettings, components: Components, table: ChunkTable, *, default: str) -> Scorer:
    """The uncalibrated scorer the settings name, tables by their rows; `default` for `auto`. Raises UnknownSetting."""
    name = default if settings.judge == "auto" else settings.judge
    raw = [known for known, entry in JUDGES.items() if entry.scale is not PROBABILITY]
    if name not in raw:
        raise UnknownSetting(name, ("auto", *raw), kind="judge")
    scorer = JUDGES[name].make(settings, components, table)
    documents = components.whole_documents()
    return EntryScorer(TableScorer(scorer, documents), documents)


def evaluator(
    settings: JudgeSettings, components: Components, table: ChunkTable, *, query_text: QueryText = "search"
) -> tuple[Scorer, tuple[str, ...]]:
    """The scorer that gives each chunk its relevance, and what is lacking."""
    if settings.judge in ("auto", "llm"):
        model = components.language_model(settings.llm)
        if model is None:
            return local_scorer(settings, components, table), (NO_CHAT_MODEL,)
        from thresher.judging.llm_scorers import LLMRelevance

        return LLMRelevance(model, batch=settings.batch, workers=settings.llm.concurrency, query_text=query_text), ()
    if settings.judge in JUDGES:
        return JUDGES[settings.judge].make(settings, components, table), ()
    if not ("/" in settings.judge or Path(settings.judge).is_dir()):  # what a hub calls a model has a / in it
        raise UnknownSetting(settings.judge, ("auto", "llm", *JUDGES), kind="judge")
    cross_encoder = components.reranker(settings.judge)
    assert cross_encoder is not None
    return CrossEncoderScorer(cross_encoder, query_text=query_text), ()


def stand_in(settings: RecipeSettings, components: Components, table: ChunkTable, scorer: Scorer) -> Scorer | None:
    """Scores the chunks that a model failed on: the local judge, where it is on the same scale."""
    unit = (scorer.scale.low, scorer.scale.high) == (UNIT.low, UNIT.high)
    return None if not unit or isinstance(scorer, LocalScorer) else local_scorer(settings, components, table)
