"""The bounds of a published recipe in one collection: the printed ones, or those that `calibrate` learned there.

A calibration maps the score that is compared with the bounds to the probability that the evidence suffices; its inverse
gives the bounds on the recipe's scale. Learned bounds replace the printed ones, and every answer states it; bounds set
by hand stay. For `chunkrag`, which gives no verdict, the lower bound is the floor of its scores (`score_floor`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import nextafter
from typing import Any

from thresher.judging.calibration import Calibration
from thresher.judging.verdicts import RestrictedDecider, ThreeWay
from thresher.pipeline import Pipeline
from thresher.protocols import Decider, about
from thresher.recipes.build import mapping
from thresher.recipes.components import Components
from thresher.recipes.judges import judge_folder
from thresher.recipes.settings import ChunkragSettings, JudgeSettings, RecipeSettings
from thresher.settings import flat, resolved
from thresher.types import Decision, Judgement, Notes, Scale


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
    if parts.calibrations is None or not isinstance(settings, JudgeSettings) or not learns(printed, settings, keys):
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


def learns(pipeline: Pipeline, settings: RecipeSettings, keys: tuple[str, ...]) -> bool:
    """Whether the settings at `keys` take effect: the decider has two bounds, or the threshold has a floor."""
    if isinstance(settings, ChunkragSettings):
        return settings.threshold == "stat"
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
    inner = decide.decide if isinstance(decide, RestrictedDecider) else decide
    return inner if isinstance(inner, ThreeWay) else None


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

    def __call__(self, judged: Sequence[Judgement]) -> Decision:
        """The verdict, with the probability that the evidence suffices as confidence."""
        decision, best = self.decide(judged), best_score(self.decide, judged)
        if best is None:
            return decision
        notes = decision.notes + Notes(facts={"mapping": self.mapping})
        return replace(decision, confidence=self.learned.probability(best), notes=notes)
