"""A collection as the harness asks it: with fixed settings, the models loaded before the clock starts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from thresher import recipes
from thresher.collection import Collection
from thresher.evals.variants import parse_variant
from thresher.settings import check_known, keys, own
from thresher.types import Answer, SearchResult

WARM_UP_QUESTION = "What is this about?"


class CollectionAsker:
    """Puts questions to one collection; a setting counts for the recipes that have it.

    A recipe may be a variant (`crag[upper=0.6]`), whose own settings come last and must be settings of that recipe.
    `outside` (as of `--outside`) counts for the recipes that correct, so that others can be asked in the same run.
    """

    def __init__(self, collection: Collection, settings: Mapping[str, Any], *, outside: str | None = None) -> None:
        self._collection = collection
        self._settings = dict(settings)
        self._outside = outside

    def settings_of(self, recipe: str) -> dict[str, Any]:
        """All settings that `recipe` runs with. Raises UnknownSetting for a setting no recipe has."""
        everything = {key for name in recipes.names() for key in keys(recipes.get(name).settings)}
        check_known(self._settings, everything)
        name, settings = self._own(recipe)
        return self._collection.settings(name, settings)

    def search(self, question: str, *, recipe: str, limit: int) -> SearchResult:
        """Ranked hits."""
        name, settings = self._own(recipe)
        return self._collection.search(question, recipe=name, limit=limit, settings=settings)

    def ask(self, question: str, *, recipe: str) -> Answer:
        """The answer."""
        name, settings = self._own(recipe)
        outside = self._outside if recipes.get(name).corrects else None
        return self._collection.ask(question, recipe=name, outside=outside, settings=settings)

    def also(self, document_id: str) -> tuple[str, ...]:
        """The other sources of a document."""
        return self._collection.also(document_id)[1:]

    def warm_up(self, recipe: str) -> None:
        """Load what a first question would load."""
        name, settings = self._own(recipe)
        self._collection.search(WARM_UP_QUESTION, recipe=name, settings=settings)

    def _own(self, recipe: str) -> tuple[str, dict[str, Any]]:
        variant = parse_variant(recipe)
        model = recipes.get(variant.recipe).settings
        check_known(variant.settings, keys(model))
        return variant.recipe, {**own(model, self._settings), **variant.settings}
