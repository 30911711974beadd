"""A collection that is open: its folder, its models, and what a question, an addition or a measurement is made from."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from copy import copy
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar

from thresher import recipes
from thresher.errors import EncoderMismatch, NotIndexed, StoreError, UsageError, check_type
from thresher.home import places
from thresher.indexing.index_config import IndexConfig
from thresher.indexing.store import DocumentStore
from thresher.models.usage import Exchanges, Meter
from thresher.pipeline import Pipeline
from thresher.protocols import Home, in_silence
from thresher.recipes.components import STATIC, Components, Models, Outside
from thresher.recipes.settings import FrontSettings, LanguageModelSettings, RecipeSettings
from thresher.settings import (
    CollectionSettings,
    Layer,
    ambient,
    collection_model,
    dotted,
    known_to,
    resolved,
    tell_tables,
)
from thresher.tracing.traces import Traces

if TYPE_CHECKING:
    from thresher.correction.providers import WebSearch
    from thresher.judging.calibration import Calibrations
    from thresher.judging.certificate import Certificates
    from thresher.tracing.feedback import Feedback

Named = TypeVar("Named")

CERTIFICATES = "certificates.json"
"""The file of what is certified here; without one nothing of certificates is imported."""

PUBLIC_URL = "public_url"
"""The setting of the front that a question may be asked with: a server knows its own address."""


class Opened:
    """What questions, documents and maintenance of a collection share; everything is loaded at its first use."""

    def __init__(
        self,
        home: Home,
        name: str,
        *,
        completing: Callable[[int, int], None] | None = None,
        models: Models | None = None,
        source_name: Callable[[str], str] | None = None,
        within: str | None = None,
    ) -> None:
        check_type("collection", name, str, "the name of a collection")
        places.check_collection_name(name)
        self.home = home
        self.name = name
        self.folder = home / places.COLLECTIONS / name
        self.files = places.chosen(lambda: self._chosen_store().small_files)
        self.traces = Traces(self.files.below("traces"))
        self.replies = places.home_files(home).below("replies")
        self.store = DocumentStore(self.folder) if within is None else _view(self.folder, within)
        self.within = within
        self.models = models or Models()
        self.source_name = source_name
        # Other collections that were looked in; an open one need not be read again.
        self._others: dict[str, DocumentStore] = {}
        self._completing = completing or _logged
        self._closed = False
        self._makes_indexes = True

    def close(self) -> None:
        """Let go of the models. Whatever is asked afterwards is a UsageError."""
        self._closed = True
        self.models = Models()
        self._others.clear()

    @cached_property
    def calibrations(self) -> Calibrations:
        """What its judges are worth here, where that was learned."""
        from thresher.judging.calibration import Calibrations

        return Calibrations(self.files)

    @cached_property
    def certificates(self) -> Certificates:
        """What is certified of the answers of its recipes."""
        from thresher.judging.certificate import Certificates

        return Certificates(self.files, CERTIFICATES)

    @property
    def labels(self) -> Feedback:
        """What people reported about answers."""
        from thresher.tracing.feedback import Feedback

        return Feedback(self.files)

    def check_open(self) -> None:
        """Raise UsageError for a collection that was closed."""
        if self._closed:
            raise UsageError("is closed", subject=f"collection {self.name}", next_step="open it again")

    def existing(self) -> DocumentStore:
        """The store. Raises StoreError where nothing was added yet."""
        self.check_open()
        if not self._chosen_store().exists:
            from thresher.home import folders

            others = folders.names(self.home)
            there = f"; there are: {', '.join(others)}" if others else ""
            if not others and (above := folders.home_above(self.home)):
                there = f"; or name the home that is above: `home` {above}"
            raise StoreError(
                "holds no documents yet",
                subject=f"collection {self.name} in {self.home}",
                next_step=f"call `add(PATH)`{there}",
            )
        return self.store

    def _chosen_store(self) -> DocumentStore:
        """The store, of a collection that is not here yet the one that the settings around it name."""
        if self.store.is_open_to_choice:  # another machine may have made it, in a database
            self.store.choose(self.kept_by({}).store)
        return self.store

    def kept_by(self, given: Mapping[str, Any]) -> CollectionSettings:
        """How documents are read and kept, by the settings of a call and those around it."""
        return resolved(collection_model(), given, home=self.home, known=recipes.settings_keys())

    def named(self, value: Named) -> Named:
        """A value with sources under their shown names."""
        if self.source_name is None:
            return value
        from thresher.links import renamed

        return renamed(value, self.source_name)

    def seen_within(self, where: str | None) -> Opened:
        """The same collection through a filter; itself where it has one, which is never widened."""
        if self.within is not None or where is None:
            return self
        return Opened(self.home, self.name, models=self.models, source_name=self.source_name, within=where)

    def as_indexed(self) -> Opened:
        """The same collection, of which a question makes no index: NotIndexed for a recipe without one."""
        other = copy(self)
        other._makes_indexes = False
        return other

    def showing(self) -> Callable[[Mapping[str, Any]], bool]:
        """Whether a stored answer quotes no document that the filter of the collection hides."""
        from thresher.indexing.view import DocumentView

        if not isinstance(self.store, DocumentView) or not self.store.exists:
            return lambda stored: True
        from thresher.links import quoted

        hidden = self.store.hidden(self.source_name or str)
        return lambda stored: hidden.isdisjoint(quoted(stored))

    # --- what a recipe is made from

    def resolved(
        self, recipe: str | recipes.Recipe, settings: Mapping[str, Any] | None
    ) -> tuple[RecipeSettings, FrontSettings]:
        """The settings of a call: those that the recipe runs with, and those of the front."""
        given, around = self._for_recipes(settings), self._around()
        front = {key: value for key, value in dotted(settings or {}) if key == PUBLIC_URL}
        return recipes.get(recipe).configured(given, around=around), resolved(FrontSettings, front, around=around)

    def configured(self, recipe: str | recipes.Recipe, settings: Mapping[str, Any] | None) -> RecipeSettings:
        """The settings that a recipe runs with."""
        return recipes.get(recipe).configured(self._for_recipes(settings), around=self._around())

    def _around(self) -> list[Layer]:
        """What files and the environment say; below it, that a collection of static vectors is asked with them."""
        made_by = self._encoders()
        is_static = made_by and all(name.startswith(f"{STATIC}@") for name in made_by)
        weakest = [Layer("the collection", {"encoder": STATIC})] if is_static else []
        return [*weakest, *ambient(recipes.settings_keys(), self.home)]

    def _encoders(self) -> set[str]:
        """The names of those that its vectors were made by."""
        store = self._chosen_store()
        return {row["encoder"] for row in store.known_tables()} if store.exists else set()

    def _for_recipes(self, settings: Mapping[str, Any] | None) -> dict[str, Any]:
        """The settings of a call without those of the collection, of which `store` is heeded here."""
        check_type("settings", settings or {}, Mapping, "a mapping of dotted keys to values")
        encoder = self.models.own_encoder
        given = {**({} if encoder is None else {"encoder": encoder.name}), **dict(dotted(settings or {}))}
        if "store" in given:
            self.store.choose(str(given["store"]))
        tell_tables(self.folder, given)
        ours = {*known_to(collection_model(), given), PUBLIC_URL}
        return {key: value for key, value in given.items() if key not in ours}

    def parts(
        self,
        meter: Meter | None = None,
        *,
        outside: Outside | None = None,
        exchanges: Exchanges | None = None,
        on_sentence: Callable[[str], None] = in_silence,
    ) -> Components:
        """The collection, the models and the meter of one question or measurement. Raises UsageError once closed."""
        self.check_open()
        return Components(
            self.store,
            self.models,
            meter or Meter(),
            self._completing,
            outside=outside,
            exchanges=exchanges or Exchanges(),
            replies=self.replies,
            calibrations=lambda: self.calibrations,
            on_sentence=on_sentence,
        )

    def pipeline(self, recipe: str | recipes.Recipe, settings: RecipeSettings, parts: Components) -> Pipeline:
        """A recipe over the collection, ready to run. Raises StoreError without documents, or for another encoder."""
        found = recipes.get(recipe)
        config = found.index_config(settings, parts)
        if config is not None:
            self.existing().check_encoder(config)
            if not self._makes_indexes:
                check_indexed(self.store, found.name, config)
                if parts.outside is not None and parts.outside.store is not None:
                    check_indexed(parts.outside.store, found.name, config)
        return found.pipeline(settings, parts)

    def indexed(
        self, names: Sequence[str | recipes.Recipe], settings: Mapping[str, Any] | None, parts: Components
    ) -> list[tuple[recipes.Recipe, RecipeSettings, IndexConfig]]:
        """What recipes need of the index, without repeats, each with the first recipe that needs it and its settings.

        A setting counts for the recipes that have it. EncoderMismatch for static vectors beside others.
        """
        given = self._for_recipes(settings)
        found: dict[str, tuple[recipes.Recipe, RecipeSettings, IndexConfig]] = {}
        for recipe, configured in recipes.configured(names or [recipes.DEFAULT], given, around=self._around()):
            config = recipe.index_config(configured, replace(parts, indexing=True))
            if config is not None:
                found.setdefault(config.fingerprint, (recipe, configured, config))
        static = {config.encoder.name for _, settings, config in found.values() if settings.encoder == STATIC}
        if static and (others := self._encoders() - static):
            raise EncoderMismatch(
                f"has vectors of {', '.join(sorted(others))} and gets no static ones",
                subject=f"collection {self.name}",
                next_step="index into another collection, or without `fast`",
            )
        return list(found.values())

    def own_configs(self) -> dict[str, IndexConfig | None]:
        """What each recipe needs of the index by the settings around it; None where it retrieves nothing."""
        given, parts = self._for_recipes(None), self.parts()
        made = recipes.configured(recipes.names(), given, around=self._around())
        return {recipe.name: recipe.index_config(settings, parts) for recipe, settings in made}

    def index_configs(
        self, names: Sequence[str | recipes.Recipe], settings: Mapping[str, Any] | None
    ) -> list[IndexConfig]:
        """The same, alone."""
        return [config for _, _, config in self.indexed(names, settings, self.parts())]

    # --- outside

    def outside(self, given: str | WebSearch | None) -> Outside | None:
        """Where `outside` of a question points; UsageError for a place that is not there."""
        if given is None or given == "none":
            return None
        if callable(given):
            return Outside(f"web:{given.host}", search=given)
        check_type("outside", given, str, "none, web, collection:NAME or a web search")
        if given == "web":
            return Outside(given)
        subject = f"`outside` {given}"
        prefix, _, name = given.partition(":")
        if prefix != "collection" or not name:
            raise UsageError("is no outside source", subject=subject, next_step="use none, web or collection:NAME")
        if name == self.name:
            what = "the question already searches this collection"
            raise UsageError(what, subject=subject, next_step="name another one")
        if name not in self._others:
            self._others[name] = Opened(self.home, name, within=self.within).store
        other = self._others[name]
        if not other.exists:
            raise UsageError(
                "holds no documents yet", subject=subject, next_step=f"call `add(PATH)` with `collection` {name}"
            )
        return Outside(given, other)

    def stored_outside(self, given: str | None) -> Outside | None:
        """The same of a stored answer: a search of the caller's own is known by its host alone."""
        kind, _, host = (given or "").partition(":")
        if kind != "web" or not host:
            return self.outside(given)
        from thresher.correction.providers import StoredSearch

        return Outside(f"web:{host}", search=StoredSearch(host))


def check_indexed(store: DocumentStore, recipe: str, config: IndexConfig) -> None:
    """Raise NotIndexed for a collection without the index of a recipe."""
    if not store.has_index(config):
        raise NotIndexed(recipe, store.folder.name)


def _view(folder: Home, within: str) -> DocumentStore:
    from thresher.indexing.view import DocumentView

    return DocumentView(folder, within)


def without_model(settings: RecipeSettings) -> RecipeSettings:
    """The same settings, without a chat model."""
    return settings.model_copy(update={"llm": LanguageModelSettings()})


def _logged(done: int, total: int) -> None:
    """Logs that a chunk table is made for a question, when the caller watches no progress."""
    if done == 0:
        logging.getLogger("thresher").warning("cutting and encoding %d documents anew for this recipe", total)
