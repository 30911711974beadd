"""The two bounds of a published recipe in one collection: the printed ones, or those that `calibrate` learned there.

Printed bounds belong to one judge over one collection. `thresher calibrate --recipe crag` learns others for this judge
and this collection; they take the place of the printed ones, and every answer says so. Bounds set by hand stay.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from thresher.judging.learned_bounds import ConfidentDecider, bounded, learned_bounds
from thresher.judging.verdicts import Bounds
from thresher.pipeline import Pipeline
from thresher.recipes.build import mapping
from thresher.recipes.components import Components
from thresher.recipes.judges import judge_folder
from thresher.recipes.settings import JudgeSettings, RecipeSettings
from thresher.settings import flat, resolved


def with_learned(
    printed: Pipeline,
    settings: RecipeSettings,
    parts: Components,
    *,
    name: str,
    keys: tuple[str, str],
    preset: Mapping[str, Any],
    wired: Callable[[RecipeSettings, Components], Pipeline],
) -> Pipeline:
    """The recipe by the bounds learned in this collection; `printed` where none were learned or others are set by hand.

    `keys` are the settings of its lower and upper bound, `preset` what it sets of its own.
    """
    inner = bounded(printed.decide)
    if inner is None or parts.calibrations is None or not isinstance(settings, JudgeSettings):
        return printed
    learned = parts.calibrations.get(judge_of(name, settings), parts.encoder(settings).name)
    if learned is None or not _as_printed(settings, keys, preset):
        return printed
    found = learned_bounds(learned, inner.bounds.scale)
    if found is None:
        return printed
    made = wired(_changed(settings, keys, found), parts)
    return replace(made, decide=ConfidentDecider(made.decide, learned, mapping(learned, fits=True)))


def judge_of(recipe: str, settings: JudgeSettings) -> str:
    """The name that a recipe's calibration is kept under: whose retrieval, and which judge's scores."""
    judge = settings.judge
    if judge in ("auto", "llm"):
        judge = f"llm {settings.llm.model}" if settings.llm.configured else "local"
    folder = judge_folder(settings)
    return f"{recipe}: {judge}" if folder is None else f"{recipe}: {judge} of {folder}"


def bounds_here(pipeline: Pipeline) -> Bounds | None:
    """The bounds that a pipeline decides by; None where it decides otherwise."""
    decide = pipeline.decide.decide if isinstance(pipeline.decide, ConfidentDecider) else pipeline.decide
    inner = bounded(decide)
    return None if inner is None else inner.bounds


def _as_printed(settings: RecipeSettings, keys: tuple[str, str], preset: Mapping[str, Any]) -> bool:
    """Whether the bounds are those the recipe comes with, so that nobody set others."""
    given, own = flat(settings), flat(resolved(type(settings), {}, preset=preset))
    return all(given[key] == own[key] for key in keys)


def _changed(settings: RecipeSettings, keys: tuple[str, str], values: tuple[float, float]) -> RecipeSettings:
    """The settings with other values of dotted keys, whatever their range: a learned bound lies on its scale."""
    for key, value in zip(keys, values, strict=True):
        table, _, name = key.rpartition(".")
        if table:
            settings = settings.model_copy(update={table: getattr(settings, table).model_copy(update={name: value})})
        else:
            settings = settings.model_copy(update={name: value})
    return settings
