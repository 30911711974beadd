"""The judges by name: what makes the scorer, its scale, and the calibration it comes with; the bounds that one gives.

Adding a judge is a scorer (see `thresher.protocols.Scorer`) in a file of its own and a line in `JUDGES`. Any other name
is a cross-encoder: a fastembed name, a folder or a `/rerank` address.

A calibration maps the score that is compared with a recipe's bounds to the probability that the evidence suffices; its
inverse gives the bounds on the recipe's scale. Learned bounds replace the printed ones, and every answer states it;
bounds set by hand stay. For a recipe that gives no verdict (`chunkrag`) the lower bound is the floor of its scores.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import nextafter
from pathlib import Path
from typing import TYPE_CHECKING, Any

from thresher.errors import UnknownSetting, UsageError
from thresher.judging.calibration import SHIPPED, Calibration
from thresher.judging.scorers import (
    CalibratedScorer,
    CrossEncoderScorer,
    LocalScorer,
    QueryText,
    TrainedScorer,
    TunedJudge,
)
from thresher.judging.verdicts import ThreeWay
from thresher.judging.windows import EntryScorer, TableScorer
from thresher.pipeline import Pipeline
from thresher.protocols import ChunkTable, Decider, Scorer, about
from thresher.recipes.components import BUNDLED, Components
from thresher.recipes.settings import JudgeSettings, RecipeSettings
from thresher.settings import flat, resolved
from thresher.types import PROBABILITY, UNIT, Decision, Judgement, Notes, Query, Scale

if TYPE_CHECKING:
    from thresher.judging.calibration import ModelWeight

__all__ = ["JUDGES", "JudgeEntry", "calibration", "judge_folder", "judge_of", "trained_scorer"]

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
    return LocalScorer(encoder, components.rarity(table))


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


def raw_scorer(settings: JudgeSettings, components: Components, table: ChunkTable) -> Scorer:
    """The uncalibrated scorer the settings name, tables by their rows. Raises UnknownSetting."""
    name = "trained" if settings.judge == "auto" else settings.judge
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
    return CrossEncoderScorer(components.cross_encoder(settings.judge), query_text=query_text), ()


def stand_in(settings: RecipeSettings, components: Components, table: ChunkTable, scorer: Scorer) -> Scorer | None:
    """Scores the chunks that a model failed on: the local judge, where it is on the same scale."""
    unit = (scorer.scale.low, scorer.scale.high) == (UNIT.low, UNIT.high)
    return None if not unit or isinstance(scorer, LocalScorer) else local_scorer(settings, components, table)


def mapping(learned: Calibration, *, fits: bool) -> str:
    """Which calibration was used, for the trace; `fits` is whether it is for the encoder in use."""
    if learned.source != "shipped":
        return f"this collection's, from {learned.source}"
    return "shipped" if fits else "shipped for another encoder: run thresher calibrate"


def weight_note(weight: ModelWeight | None) -> str:
    """The weight of the chat model beside our judge, for the trace; empty where it was not measured."""
    if weight is None:
        return ""
    return f"; {weight.model} counts {weight.model_weight:.2f}" if weight.counts else f"; {weight.model} is not asked"


# --- the bounds of a published recipe: the printed ones, or those that `calibrate` learned ----------------------------


def with_learned(
    printed: Pipeline,
    settings: RecipeSettings,
    parts: Components,
    *,
    name: str,
    keys: tuple[str, ...],
    preset: Mapping[str, Any],
    wired: Callable[[RecipeSettings, Components], Pipeline],
) -> Pipeline:
    """The recipe by learned bounds, `printed` without any or where those at `keys` are set by hand."""
    if parts.calibrations is None or not isinstance(settings, JudgeSettings) or not learns(printed, keys):
        return printed
    learned = parts.calibrations().get(judge_of(name, settings), parts.encoder(settings).name)
    if learned is None:
        return printed
    given, own = flat(settings), flat(resolved(type(settings), {}, preset=preset))
    if any(given[key] != own[key] for key in keys):  # set by hand
        return printed
    inner = bounded(printed.decide)
    found = learned_floor(learned) if inner is None else learned_bounds(learned, inner.bounds.scale)
    if found is None:
        return printed
    made = wired(_changed(settings, keys, found), parts)
    return replace(made, decide=ConfidentDecider(made.decide, learned, mapping(learned, fits=True)))


def learns(pipeline: Pipeline, keys: tuple[str, ...]) -> bool:
    """Whether the settings at `keys` take effect: the decider has two bounds, or the judge's threshold has a floor."""
    if len(keys) == 1:
        return getattr(pipeline.judge, "floor", None) is not None
    return len(keys) == 2 and bounded(pipeline.decide) is not None


def learned_floor(learned: Calibration) -> tuple[float, ...] | None:
    """The score, 0 to 1, below which the evidence does not suffice; None where a better score is not worth more."""
    floor = learned.raw(learned.lower)
    return None if floor is None else (floor,)


def judge_of(recipe: str, settings: JudgeSettings) -> str:
    """The name of a recipe's calibration: its retrieval, and whose scores."""
    judge = settings.judge
    if judge in ("auto", "llm"):
        judge = f"llm {settings.llm.model}" if settings.llm.configured else "local"
    folder = judge_folder(settings)
    return f"{recipe}: {judge}" if folder is None else f"{recipe}: {judge} of {folder}"


def bounds_here(pipeline: Pipeline) -> tuple[float, ...] | None:
    """The lower and upper bound that a pipeline decides by, or the floor that was learned for it; None without any."""
    confident = pipeline.decide if isinstance(pipeline.decide, ConfidentDecider) else None
    inner = bounded(pipeline.decide if confident is None else confident.decide)
    if inner is not None:
        return inner.bounds.lower, inner.bounds.upper
    return None if confident is None else learned_floor(confident.learned)


def _changed(settings: RecipeSettings, keys: tuple[str, ...], values: tuple[float, ...]) -> RecipeSettings:
    """The settings with other values of dotted keys, whatever their range: a learned bound lies on its scale."""
    for key, value in zip(keys, values, strict=True):
        table, _, name = key.rpartition(".")
        update: dict[str, Any] = {name: value}
        if table:
            update = {table: getattr(settings, table).model_copy(update=update)}
        settings = settings.model_copy(update=update)
    return settings


def bounded(decide: Decider) -> ThreeWay | None:
    """The part of a decider that compares scores with two bounds; None for a decider that does not."""
    return getattr(decide, "bounded", None)


def best_score(decide: Decider, judged: Sequence[Judgement]) -> float | None:
    """The highest score that is compared with the bounds, or that the judge gave, as 0..1; None without any score."""
    inner = bounded(decide)
    scores = [one.score for one in judged if one.score is not None] if inner is None else inner.scores(judged)
    scales = [score.scale if inner is None else inner.bounds.scale for score in scores]
    unit = ((score.value - at.low) / (at.high - at.low) for score, at in zip(scores, scales, strict=True))
    return max((min(max(value, 0.0), 1.0) for value in unit), default=None)


def learned_bounds(learned: Calibration, scale: Scale) -> tuple[float, float] | None:
    """LOWER and UPPER on a recipe's own scale; None where a better score is not worth more, so that no bound helps."""
    lower, upper = learned.raw(learned.lower), learned.raw(learned.upper)
    if lower is None or upper is None:
        return None
    lower, upper = (scale.low + value * (scale.high - scale.low) for value in (lower, upper))
    upper = max(upper, nextafter(scale.low, scale.high))
    return min(lower, nextafter(upper, scale.low)), upper


@dataclass(frozen=True, slots=True)
class ConfidentDecider:
    """Adds to the verdict of a decider, if it gives one, the calibrated probability of the best score."""

    decide: Decider
    learned: Calibration
    mapping: str
    """Name of the calibration, for the trace."""

    @property
    def about(self) -> str:
        """For people, in a few words."""
        return f"{about(self.decide)}, {'floor' if bounded(self.decide) is None else 'bounds'} learned here"

    def __call__(self, query: Query, judged: Sequence[Judgement]) -> Decision:
        """The verdict, with the probability that the evidence suffices as confidence."""
        decision, best = self.decide(query, judged), best_score(self.decide, judged)
        if best is None:
            return decision
        notes = decision.notes + Notes(facts={"mapping": self.mapping})
        return replace(decision, confidence=self.learned.probability(best), notes=notes)
