"""A collection with the parts of its recipes in hand: studies look into slots that a search does not show."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from thresher import recipes
from thresher.collection import Collection
from thresher.indexing.archive import Archive
from thresher.models.meter import Meter
from thresher.models.reply_cache import ReplyCache
from thresher.pipeline import Pipeline
from thresher.protocols import ChunkTable
from thresher.recipes.parts import Models, Parts
from thresher.settings import RecipeSettings, ambient, own


@dataclass(frozen=True)
class Opened:
    """A collection, the parts that its recipes are made of, and the settings that were given."""

    collection: Collection
    parts: Parts
    given: Mapping[str, Any]

    def configured(self, recipe: str, more: Mapping[str, Any] | None = None) -> RecipeSettings:
        """Settings of a recipe: its own, those around, those given, and `more`, the later the stronger."""
        return configured(recipe, {**self.given, **(more or {})}, self.collection.home)

    def pipeline(self, recipe: str, more: Mapping[str, Any] | None = None) -> Pipeline:
        """The recipe, ready to run slot by slot."""
        made = recipes.get(recipe)
        return made.pipeline(self.configured(recipe, more), self.parts, made)

    def table(self, recipe: str, level: str = "chunk") -> ChunkTable:
        """The recipe's chunk table; it is made when it is missing."""
        layout = recipes.get(recipe).layout(self.configured(recipe), self.parts)
        assert layout is not None, f"{recipe} retrieves nothing"
        return self.parts.table(layout, level)


def opened(home: Path, name: str, given: Mapping[str, Any]) -> Opened:
    """The collection of that name. Raises StoreError where it holds no documents."""
    collection = Collection(home, name)
    collection.documents()
    return Opened(collection, parts_of(collection, home), given)


def parts_of(collection: Collection, home: Path) -> Parts:
    """What recipes are made of over a collection; replies of chat models are kept in `home` where that is asked for."""
    archive, replies = Archive(collection.folder), ReplyCache(home / "replies")
    return Parts(archive, Models(), Meter(), replies=replies, calibrations=collection.calibrations)


def configured(recipe: str, given: Mapping[str, Any], home: Path) -> RecipeSettings:
    """As `Collection.settings` finds them, as a model; settings that the recipe has not are passed over."""
    model = recipes.get(recipe).settings
    around = ambient(recipes.settings_keys(), home)
    return recipes.get(recipe).configured({**own(model, around), **own(model, given)})
