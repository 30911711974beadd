"""The bounds of a published recipe in one collection: the printed ones, or those that `calibrate` learned there.

Learned bounds replace the printed ones, and every answer states it; bounds set by hand stay. For `chunkrag`, which
gives no verdict, `calibrate` learns the floor of its scores (`score_floor`).
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
    """The recipe by learned bounds, `printed` without any or where those at `keys` are set by hand."""
    if parts.calibrations is None or not isinstance(settings, JudgeSettings) or not learns(printed, settings, keys):
        return printed
    learned = parts.calibrations.get(judge_of(name, settings), parts.encoder(settings).name)
    if learned is None:
        return printed
    given, own = flat(settings), flat(resolved(type(settings), {}, preset=preset))
    if any(given[key] != own[key] for key in keys):  # set by hand
        return printed
    inner = bounded(printed.decide)
    found = _floor(learned) if inner is None else learned_bounds(learned, inner.bounds.scale)
    if found is None:
        return printed
    made = wired(_changed(settings, keys, found), parts)
    return replace(made, decide=ConfidentDecider(made.decide, learned, mapping(learned, fits=True)))


def learns(pipeline: Pipeline, settings: RecipeSettings, keys: tuple[str, ...]) -> bool:
    """Whether the settings at `keys` take effect: the decider has two bounds, or the threshold has a floor."""
    if isinstance(settings, ChunkragSettings):
        return settings.threshold == "stat"
    return len(keys) == 2 and bounded(pipeline.decide) is not None


def _floor(learned: Calibration) -> tuple[float, ...] | None:
    floor = learned_floor(learned)
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
    return None if confident is None else _floor(confident.learned)


def _changed(settings: RecipeSettings, keys: tuple[str, ...], values: tuple[float, ...]) -> RecipeSettings:
    """The settings with other values of dotted keys, whatever their range: a learned bound lies on its scale."""
    for key, value in zip(keys, values, strict=True):
        table, _, name = key.rpartition(".")
        update: dict[str, Any] = {name: value}
        if table:
            update = {table: getattr(settings, table).model_copy(update=update)}
        settings = settings.model_copy(update=update)
    return settings
