"""A collection that is open: its folder, its models, and what a question, an addition or a measurement is made from."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import date
from functools import cached_property
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self, TypedDict, TypeVar

from thresher import recipes
from thresher.answer import Answer
from thresher.collection.links import Links
from thresher.errors import (
    StoreError,
    UnknownSetting,
    UsageError,
    WrongType,
    check_awaits_nothing,
    check_type,
    without_password,
)
from thresher.filters import COLUMNS, parse, resolve
from thresher.home import folders, places
from thresher.indexing.catalog import Place
from thresher.indexing.index_config import IndexConfig
from thresher.indexing.store import DocumentStore
from thresher.models.usage import Exchanges, Meter
from thresher.pipeline import Pipeline
from thresher.protocols import Home, in_silence
from thresher.recipes.components import Components, Models, Outside
from thresher.recipes.settings import FrontSettings, LanguageModelSettings, RecipeSettings
from thresher.settings import collection_model, dotted, heed, own, resolved
from thresher.tracing.traces import Traces
from thresher.types import Filter, Query, Usage, Value

if TYPE_CHECKING:
    from thresher.correction.providers import WebSearch
    from thresher.judging.calibration import Calibrations
    from thresher.judging.certificate import Certificate, Certificates
    from thresher.tracing.feedback import Feedback

Named = TypeVar("Named")

CERTIFICATES = "certificates.json"
"""The file of what is certified here; without one nothing of certificates is imported."""

PUBLIC_URL = "public_url"
"""The setting of the front that a question may be asked with: a server knows its own address."""


class OpenCollection:
    """What every method of a collection stands on; cheap to make, everything is loaded at its first use."""

    def __init__(
        self,
        home: Home,
        name: str,
        *,
        completing: Callable[[int, int], None] | None = None,
        models: Models | None = None,
        source_name: Callable[[str], str] | None = None,
    ) -> None:
        check_type("collection", name, str, "the name of a collection")
        folders.check_name(name)
        self.home = home
        self.name = name
        self.folder = home / places.COLLECTIONS / name
        self.files = places.chosen(lambda: self._chosen_store().small_files)
        self.traces = Traces(self.files.below("traces"))
        self._replies = places.home_files(home).below("replies")
        self._store = DocumentStore(self.folder)
        # Other collections that were looked in; an open one need not be read again.
        self._others: dict[str, DocumentStore] = {}
        self._models = models or Models()
        self._completing = completing or _logged
        self._source_name = source_name
        own = self._models.own_encoder
        self._own: dict[str, Any] = {} if own is None else {"encoder": own.name}
        self._closed = False

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Let go of the models; what was committed is on disk already. Whatever is asked afterwards is a UsageError."""
        self._closed = True
        self._models = Models()
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

    @property
    def purge_remark(self) -> str:
        """What `delete(purge=True)` cannot reach, in words: old versions that a remote home keeps."""
        return places.purge_remark(self.folder)

    def _check_open(self) -> None:
        if self._closed:
            raise UsageError("is closed", subject=f"collection {self.name}", next_step="open it again")

    def _existing(self) -> DocumentStore:
        self._check_open()
        if not self._chosen_store().exists:
            others = folders.names(self.home)
            there = f"; there are: {', '.join(others)}" if others else ""
            if not others and (above := folders.home_above(self.home)):
                there = f"; or name the home that is above: `home` {above}"
            raise StoreError(
                "holds no documents yet",
                subject=f"collection {self.name} in {self.home}",
                next_step=f"call `add(PATH)`{there}",
            )
        return self._store

    def _chosen_store(self) -> DocumentStore:
        """The store, of a collection that is not here yet the one that the settings around it name."""
        if self._store.is_open_to_choice:  # another machine may have made it, in a database
            around = resolved(collection_model(), {}, home=self.home, known=recipes.settings_keys())
            self._store.choose(around.store)
        return self._store

    def _parts(
        self,
        meter: Meter | None = None,
        *,
        outside: Outside | None = None,
        exchanges: Exchanges | None = None,
        on_sentence: Callable[[str], None] = in_silence,
    ) -> Components:
        self._check_open()
        return Components(
            self._store,
            self._models,
            meter or Meter(),
            self._completing,
            outside=outside,
            exchanges=exchanges or Exchanges(),
            replies=self._replies,
            calibrations=lambda: self.calibrations,
            on_sentence=on_sentence,
        )

    def _place(self, given: str | WebSearch | None) -> Outside | None:
        """Where `outside` points; UsageError for a place that is not there."""
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
            raise UsageError("is the collection that is asked", subject=subject, next_step="name another one")
        if name not in self._others:
            self._others[name] = OpenCollection(self.home, name)._store
        other = self._others[name]
        if not other.exists:
            raise UsageError(
                "holds no documents yet", subject=subject, next_step=f"call `add(PATH)` with `collection` {name}"
            )
        return Outside(given, other)

    def _stored_place(self, given: str | None) -> Outside | None:
        """Where `outside` of a stored answer points: a search of the caller's own is known by its host alone."""
        kind, _, host = (given or "").partition(":")
        if kind != "web" or not host:
            return self._place(given)
        from thresher.correction.providers import StoredSearch

        return Outside(f"web:{host}", search=StoredSearch(host))

    def _configured(self, name: str | recipes.Recipe, settings: Mapping[str, Any] | None) -> RecipeSettings:
        return recipes.get(name).configured(self._for_recipes(settings), home=self.home)

    def _without_model(self, name: str | recipes.Recipe, settings: Mapping[str, Any] | None) -> RecipeSettings:
        return self._configured(name, settings).model_copy(update={"llm": LanguageModelSettings()})

    def _for_recipes(self, settings: Mapping[str, Any] | None) -> dict[str, Any]:
        """The settings of a call without those of the collection, of which `store` is heeded here."""
        check_type("settings", settings or {}, Mapping, "a mapping of dotted keys to values")
        given = {**self._own, **dict(dotted(settings or {}))}
        if "store" in given:
            self._store.choose(str(given["store"]))
        heed(self.folder, given)
        ours = {*own(collection_model(), given), PUBLIC_URL}
        return {key: value for key, value in given.items() if key not in ours}

    def _budgeted(self, pipeline: Pipeline, max_tokens: int | None, parts: Components) -> Pipeline:
        """The pipeline, its generator given so many tokens of evidence at most."""
        if max_tokens is None:
            return pipeline
        from thresher.recipes.evidence import spending

        return spending(parts).budgeted(pipeline, max_tokens)

    def _certificate(
        self, configured: RecipeSettings, parts: Components, options: AskOptions
    ) -> tuple[Certificate, str] | None:
        """The certificate of a recipe, and what of this question it does not cover; None where there is none."""
        name = options.get("recipe", recipes.DEFAULT)
        if not isinstance(name, str) or self.files.find(CERTIFICATES) is None:
            return None
        if (certificate := self.certificates.get(name)) is None:
            return None
        from thresher.recipes.certify import terms, uncovered

        changes = certificate.terms.changes(terms(configured, parts))
        return certificate, changes or uncovered(options, configured.outside)

    def _certified(self, answer: Answer, certificate: Certificate, void: str) -> Answer:
        """The answer with what its certificate says of it; its certainty is kept for the next ones."""
        from thresher.recipes.certify import asserted, settled

        if not void:
            answer = settled(answer, certificate)
            with suppress(StoreError):  # a home that cannot be written to
                self.certificates.note(certificate.recipe, answer.standalone or answer.question, asserted(answer))
        recent = [] if void else list(self.certificates.recent(certificate.recipe).values())
        return replace(answer, certificate=certificate.said(void, recent, covers=answer.state == "answered"))

    def _links(self, settings: Mapping[str, Any] | None, outside: Outside | None = None) -> Links:
        """What gives hits and citations their addresses; `outside` is where text from outside comes from."""
        given = {key: value for key, value in dotted(settings or {}) if key == PUBLIC_URL}
        front = resolved(FrontSettings, given, home=self.home, known=recipes.settings_keys())
        kind, _, other = ("" if outside is None else outside.given).partition(":")
        return Links(front.public_url, self.name, other if kind == "collection" else "")

    def _index_configs(
        self, names: Sequence[str | recipes.Recipe], settings: Mapping[str, Any] | None, parts: Components
    ) -> list[IndexConfig]:
        """What recipes need of the index, without repeats; a setting counts for the recipes that have it."""
        return [config for _, _, config in self._indexed(names, settings, parts)]

    def _indexed(
        self, names: Sequence[str | recipes.Recipe], settings: Mapping[str, Any] | None, parts: Components
    ) -> list[tuple[recipes.Recipe, RecipeSettings, IndexConfig]]:
        """The same, each with the first recipe that needs it, and that one's settings."""
        given = self._for_recipes(settings)
        found: dict[str, tuple[recipes.Recipe, RecipeSettings, IndexConfig]] = {}
        for recipe, configured in recipes.configured(names or [recipes.DEFAULT], given, home=self.home):
            config = recipe.index_config(configured, replace(parts, indexing=True))
            if config is not None:
                found.setdefault(config.fingerprint, (recipe, configured, config))
        return list(found.values())

    def _pipeline(self, name: str | recipes.Recipe, configured: RecipeSettings, parts: Components) -> Pipeline:
        recipe = recipes.get(name)
        config = recipe.index_config(configured, parts)
        if config is not None:
            self._existing().check_encoder(config)
        return recipe.pipeline(configured, parts)

    def _query(self, question: str, limit: int, where: str | None) -> Query:
        check_question(question)
        check_number("limit", limit, least=1)
        check_type("where", where or "", str, "a filter as text, e.g. `kind = 'pdf'`")
        question = question.encode("utf-8", "replace").decode("utf-8")  # half a surrogate pair, from a broken argument
        restricted = None if where is None else self._restricted(where)
        return Query(question, question, limit, restricted, today=date.today().isoformat())

    def _restricted(self, where: str) -> Filter:
        """The filter that a caller wrote in columns of chunks; sources are compared by their shown names."""
        name = self._source_name
        if name is None:
            return resolve(parse(where), self._existing().metadata)

        def fields() -> dict[str, Mapping[str, Value]]:
            return {one.id: {**one.metadata, "source": name(one.source)} for one in self._existing().records()}

        return resolve(parse(where), fields, columns=[column for column in COLUMNS if column != "source"])

    def _named(self, value: Named) -> Named:
        """A value with sources under their shown names."""
        if self._source_name is None:
            return value
        from thresher.collection.links import renamed

        return renamed(value, self._source_name)

    @staticmethod
    def _places(source: str, known: Iterable[Place]) -> list[Place]:
        """The places a person means by a source: exact, a path from here, a corpus file, or an ending of one source."""
        places = sorted(known)
        for name in (source, without_password(source), str(Path(source).absolute()), str(Path(source).resolve())):
            exact = [place for place in places if name in (place.source, place.container)]
            if exact:
                return exact
        # An absolute path means what it says: it is never taken for the ending of another one.
        ending = [place for place in places if not Path(source).is_absolute() and place.file.endswith(f"/{source}")]
        files = {place.file for place in ending}
        if len(files) == 1:
            return ending
        if files:
            raise UsageError(
                f"means {len(files)} sources", subject=source, next_step=f"give more of the path, e.g. {min(files)}"
            )
        raise UnknownSetting(source, {place.source for place in places}, kind="source")


def _logged(done: int, total: int) -> None:
    """Logs that a chunk table is made for a question, when the caller watches no progress."""
    if done == 0:
        logging.getLogger("thresher").warning("cutting and encoding %d documents anew for this recipe", total)


# --- how a question is asked ------------------------------------------------------------------------------------------


class AskOptions(TypedDict, total=False):
    """How a question is asked."""

    recipe: str | recipes.Recipe
    """`corrective` when not given; a name, or one with parts of your own (`recipes.derive`)."""
    outside: str | WebSearch | None
    """Where a recipe that corrects may look: `none`, `web`, `collection:NAME`, or a web search of your own
    (`thresher.correction.providers.WebSearch`); None is what the setting says."""
    where: str | None
    """A filter on metadata, e.g. `kind = 'pdf' AND page <= 3`."""
    settings: Mapping[str, Any] | None
    """By dotted key; they win over `thresher.toml` and the environment."""
    history: Sequence[tuple[str, str] | Answer]
    """Earlier questions with their answers, oldest first: a question that follows up on them is put into words that
    stand alone (`Answer.standalone`)."""
    on_sentence: Callable[[str], None]
    """Called with each sentence of the answer once it is written and checked; together they are its text."""
    strict: bool
    """Raise Degraded instead of doing without a part of the recipe."""
    budget_calls: int | None
    """A budget ends the question with what it has by then."""
    budget_tokens: int | None
    budget_seconds: float | None
    max_tokens: int | None
    """Tokens of evidence that the answer is written from: of what was found the best spans that fit."""


def check_question(question: str) -> None:
    """Raise WrongType or UsageError for what asks nothing."""
    check_type("question", question, str, "a text")
    if not question.strip():
        raise UsageError("the question is empty", next_step="ask something")


def search_option(name: str) -> str:
    """What to say instead of an option that `search` does not have."""
    if name in ("k", "n", "top_k", "number", "size"):
        return "say `limit`"
    return "there are: limit, max_tokens, recipe, settings, strict, where"


def check_number(name: str, given: object, *, least: int) -> None:
    """Raise WrongType or UsageError for what is no whole number, or too small."""
    check_type(name, given, int, "a whole number")
    if isinstance(given, int) and given < least:
        raise UsageError(f"must be at least {least}", subject=f"`{name}` {given}")


def check_options(options: Mapping[str, object]) -> None:
    """Raise UnknownSetting for an option that `ask` does not have, WrongType for a callback that is no function."""
    for name in options:
        if name not in AskOptions.__annotations__:
            raise UnknownSetting(name, AskOptions.__annotations__, kind="option of `ask`")
    for name in ("budget_calls", "budget_tokens", "budget_seconds"):
        check_type(name, given := options.get(name) or 0, (int, float), "a number")
        if isinstance(given, (int, float)) and given < 0:
            raise UsageError("must be at least 0", subject=f"`{name}` {given}")
    if options.get("max_tokens") is not None:
        check_number("max_tokens", options["max_tokens"], least=1)
    check_type("strict", options.get("strict", False), bool, "True or False")
    if not callable(options.get("on_sentence", in_silence)):
        raise WrongType("on_sentence", options["on_sentence"], "a function that takes a text")
    check_awaits_nothing("on_sentence", options.get("on_sentence"))


def turn(turn: tuple[str, str] | Answer) -> tuple[str, str]:
    """A question as it stands alone, with its answer. Raises WrongType."""
    if isinstance(turn, Answer):
        return turn.standalone or turn.question, turn.text
    match turn:
        case (str() as question, str() as answer):
            return question, answer
    raise WrongType("history", turn, "pairs of a question and its answer, or answers")


def understood(
    query: Query, history: Sequence[tuple[str, str]], pipeline: Pipeline, settings: RecipeSettings, parts: Components
) -> Query:
    """The reading of a question that the evidence decides for; the same query for one that stands alone."""
    if not history:
        return query
    from thresher.retrieval.follow_up import FollowUp, PassageFinder

    passages = PassageFinder(pipeline.retrieve, parts.models.judge())
    return FollowUp(passages, parts.language_model(settings.llm))(query, history)


def polite(question: str, recipe: str, line: str) -> Answer:
    """The answer to what asks nothing: a line, without steps, and without a trace."""
    return Answer(question, recipe, line, False, None, None, None, (), (), (), Usage(), (), "")
