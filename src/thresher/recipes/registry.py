"""What a recipe is: a name, a settings model, the layout it needs and the pipeline it makes of its parts."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from thresher.indexing.index_config import IndexConfig
from thresher.pipeline import SLOTS, Pipeline
from thresher.recipes.components import Components
from thresher.settings import RecipeSettings, build, flat


@dataclass(frozen=True, slots=True)
class Recipe:
    """A published method, a preset of one, or our own."""

    name: str
    summary: str
    follows: str
    """Follows / Departs / Left open, with sections of the source."""
    settings: type[RecipeSettings]
    slots: Callable[[Any], Mapping[str, str]]
    """What stands in each slot, for people, given the settings."""
    layout: Callable[[Any, Components], IndexConfig | None]
    """How the documents must be cut and encoded; None for a recipe that retrieves nothing."""
    pipeline: Callable[[Any, Components, Recipe], Pipeline]
    preset_of: str | None = None
    preset: Mapping[str, Any] = field(default_factory=dict)
    needs_llm: bool = False
    corrects: bool = False
    """Whether it may look outside the collection."""

    def configured(self, overrides: Mapping[str, Any]) -> RecipeSettings:
        """The settings with the preset's values and the overrides."""
        return build(self.settings, overrides, preset=self.preset)

    def describe(self, settings: RecipeSettings) -> dict[str, Any]:
        """JSON form of the public contract, with the settings."""
        shown = self.slots(settings)
        return {
            "name": self.name,
            "preset_of": self.preset_of,
            "summary": self.summary,
            "slots": {slot: shown.get(slot, DOES_NOTHING[slot]) for slot in SLOTS},
            "follows": self.follows,
            "needs_llm": self.needs_llm,
            "settings": flat(settings),
        }


def preset(recipe: Recipe, name: str, summary: str, values: Mapping[str, Any]) -> Recipe:
    """The same recipe with other values, under a name of its own."""
    return replace(recipe, name=name, summary=summary, preset_of=recipe.name, preset=values)


DOES_NOTHING = {
    "rewrite": "as_asked",
    "retrieve": "nothing",
    "judge": "keep_all",
    "decide": "always_correct",
    "correct": "never",
    "refine": "as_is",
    "generate": "grounded",
    "verify": "unverified",
}
