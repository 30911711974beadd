"""The recipes by name. A recipe's file is imported when the recipe is asked for, so listing them is cheap."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from thresher.errors import UnknownSetting

if TYPE_CHECKING:
    from thresher.recipes.registry import Recipe

DEFAULT = "corrective"

_FILES = {
    "corrective": "corrective",
    "rag": "rag",
    "hybrid": "hybrid",
    "hybrid-literal": "hybrid",
    "crag": "crag",
    "crag-paper": "crag",
    "crag-code": "crag",
    "ecrag": "ecrag",
    "ecrag-literal": "ecrag",
    "chunkrag": "chunkrag",
    "chunkrag-v1": "chunkrag",
    "no-retrieval": "no_retrieval",
}


def names() -> list[str]:
    """All recipes and presets."""
    return list(_FILES)


def get(name: str) -> Recipe:
    """The recipe or preset of that name. Raises UnknownSetting, naming the nearest."""
    if name not in _FILES:
        raise UnknownSetting(name, _FILES, kind="recipe")
    module = import_module(f"thresher.recipes.{_FILES[name]}")
    found: dict[str, Recipe] = module.RECIPES
    return found[name]


def settings_keys() -> set[str]:
    """The dotted keys of the settings that any recipe has."""
    from thresher.settings import keys

    return {key for name in names() for key in keys(get(name).settings)}
