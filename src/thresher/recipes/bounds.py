"""The bounds of a published recipe in one collection: the printed ones, or those that `calibrate` learned there.

Printed bounds belong to one judge and one collection. `thresher calibrate --recipe crag` learns others for this judge
and this collection; they replace the printed ones, and every answer states it. Bounds set by hand stay. Of `chunkrag`,
which gives no verdict, the floor of its scores is learned (`score_floor`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from thresher.judging.calibration import Calibration
from thresher.judging.learned_bounds import ConfidentDecider, bounded, learned_bounds, learned_floor
from thresher.pipeline import Pipeline
from thresher.recipes.build import mapping
from thresher.recipes.components import Components
from thresher.recipes.judges import judge_folder
from thresher.recipes.settings import ChunkragSettings, JudgeSettings, RecipeSettings
from thresher.settings import flat, resolved


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
    """The recipe by the bounds learned in this collection; `printed` where none were learned or others are set by hand.

    `keys` are the settings of its lower and upper bound, or of its floor; `preset` what it sets of its own.
    """
    if parts.calibrations is None or not isinstance(settings, JudgeSettings) or not learns(printed, settings, keys):
        return printed
    learned = parts.calibrations.get(judge_of(name, settings), parts.encoder(settings).name)
    if learned is None or not _as_printed(settings, keys, preset):
        return printed
    found = _values(printed, learned)
    if found is None:
        return printed
    made = wired(_changed(settings, keys, found), parts)
    return replace(made, decide=ConfidentDecider(made.decide, learned, mapping(learned, fits=True)))


def learns(pipeline: Pipeline, settings: RecipeSettings, keys: tuple[str, ...]) -> bool:
    """Whether the settings at `keys` take effect: the decider has two bounds, or the threshold has a floor."""
    if isinstance(settings, ChunkragSettings):
        return settings.threshold == "stat"
    return len(keys) == 2 and bounded(pipeline.decide) is not None


def _values(pipeline: Pipeline, learned: Calibration) -> tuple[float, ...] | None:
    """The learned bounds on the scale of the recipe's, or its floor."""
    inner = bounded(pipeline.decide)
    if inner is not None:
        return learned_bounds(learned, inner.bounds.scale)
    floor = learned_floor(learned)
    return None if floor is None else (floor,)


def judge_of(recipe: str, settings: JudgeSettings) -> str:
    """The name that a recipe's calibration is kept under: whose retrieval, and which judge's scores."""
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
    floor = None if confident is None else learned_floor(confident.learned)
    return None if floor is None else (floor,)


def _as_printed(settings: RecipeSettings, keys: tuple[str, ...], preset: Mapping[str, Any]) -> bool:
    """Whether the bounds are those the recipe comes with, so that none were set by hand."""
    given, own = flat(settings), flat(resolved(type(settings), {}, preset=preset))
    return all(given[key] == own[key] for key in keys)


def _changed(settings: RecipeSettings, keys: tuple[str, ...], values: tuple[float, ...]) -> RecipeSettings:
    """The settings with other values of dotted keys, whatever their range: a learned bound lies on its scale."""
    for key, value in zip(keys, values, strict=True):
        table, _, name = key.rpartition(".")
        if table:
            settings = settings.model_copy(update={table: getattr(settings, table).model_copy(update={name: value})})
        else:
            settings = settings.model_copy(update={name: value})
    return settings
