"""The parts that recipes have in common, made from settings. Only `recipes/` wires rooms together."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar, cast
from weakref import WeakValueDictionary

from thresher.answering.sentence_support import rarity_from
from thresher.errors import UsageError
from thresher.indexing.index_config import IndexConfig
from thresher.indexing.store import DocumentStore
from thresher.models.cassette import Exchanges
from thresher.models.encoders import RememberingEncoder
from thresher.models.onnx import ON_CPU
from thresher.models.reply_cache import ReplyCache
from thresher.models.usage import Meter, Prices, shared_rate
from thresher.pipeline import Pipeline
from thresher.protocols import ChunkTable, CrossEncoder, Encoder, LanguageModel, in_silence
from thresher.recipes.settings import (
    EncoderSettings,
    LanguageModelSettings,
    RecipeSettings,
    RerankerSettings,
)
from thresher.types import Document, Judged, Query

if TYPE_CHECKING:
    from thresher.correction.providers import WebSearch
    from thresher.judging.calibration import Calibrations
    from thresher.models.chat import ChatModel
    from thresher.models.cross_encoders import BundledJudge

BUNDLED = "bundled"
"""The name of the encoder, and of the cross-encoder, that come with Thresher."""

ENDPOINT = "endpoint:"
"""Before the name of a model whose vectors come from `embeddings.base_url`."""

MOST_REMEMBERED = 50
"""Whole documents; a question reads ten or so, a calibration all of them in turn."""

Model = TypeVar("Model")

_BUNDLED: WeakValueDictionary[str, object] = WeakValueDictionary()


def _bundled(kind: str, make: Callable[[], Model], providers: Sequence[str]) -> Model:
    """The bundled model of a kind: one for all collections of this process that are open at the same time."""
    key = f"{kind} on {', '.join(providers)}"
    model = cast("Model | None", _BUNDLED.get(key)) or make()
    _BUNDLED[key] = model
    return model


@dataclass
class Models:
    """Loaded models, kept from question to question; the bundled ones are shared with other open collections."""

    _encoders: dict[tuple[str, EncoderSettings], Encoder] = field(default_factory=dict)
    _readers: dict[tuple[str, EncoderSettings], Encoder] = field(default_factory=dict)
    _rerankers: dict[str, CrossEncoder] = field(default_factory=dict)
    _judges: dict[Path | None, BundledJudge] = field(default_factory=dict)
    _checker: BundledJudge | None = None
    providers: tuple[str, ...] = ON_CPU
    """Execution providers of ONNX Runtime that they run on."""
    _elsewhere: dict[tuple[str, ...], Models] = field(default_factory=dict)

    def on(self, providers: Sequence[str]) -> Models:
        """The same models on other execution providers."""
        wanted = tuple(providers) or ON_CPU
        if wanted == self.providers:
            return self
        return self._elsewhere.setdefault(wanted, Models(providers=wanted))

    def encoder(self, name: str, settings: EncoderSettings) -> Encoder:
        """The bundled encoder, one that fastembed loads, or an endpoint's."""
        key = (name, settings)
        if key not in self._encoders:
            self._encoders[key] = _make_encoder(name, settings, self.providers)
        return self._encoders[key]

    def reading_encoder(self, name: str, settings: EncoderSettings) -> Encoder:
        """The same encoder for the sentences of a question, which several parts read one after the other."""
        key = (name, settings)
        if key not in self._readers:
            encoder = self.encoder(name, settings)
            remembering = partial(RememberingEncoder, encoder)
            shared = name == BUNDLED
            self._readers[key] = _bundled("reading encoder", remembering, self.providers) if shared else remembering()
        return self._readers[key]

    def judge(self, folder: Path | None = None) -> BundledJudge:
        """The bundled cross-encoder, which judges, reranks and reads answers out, or one from another folder."""
        if folder not in self._judges:
            from thresher.models.cross_encoders import BUNDLED_JUDGE, BundledJudge

            own = partial(BundledJudge, folder or BUNDLED_JUDGE, providers=self.providers)
            self._judges[folder] = _bundled(f"judge {folder}", own, self.providers)
        return self._judges[folder]

    def checker(self) -> BundledJudge:
        """The bundled cross-encoder that holds claims against texts."""
        if self._checker is None:
            from thresher.models.cross_encoders import BUNDLED_CHECKER, BundledJudge

            own = partial(BundledJudge, BUNDLED_CHECKER, providers=self.providers)
            self._checker = _bundled("checker", own, self.providers)
        return self._checker

    def local_reranker(self, name: str) -> CrossEncoder:
        """The bundled cross-encoder, or one that fastembed loads."""
        if name == BUNDLED:
            return self.judge()
        if name not in self._rerankers:
            from thresher.models.fastembed_models import FastembedCrossEncoder

            self._rerankers[name] = FastembedCrossEncoder(name, self.providers)
        return self._rerankers[name]


def _make_encoder(name: str, settings: EncoderSettings, providers: tuple[str, ...]) -> Encoder:
    if name == BUNDLED:
        from thresher.models.encoders import BundledEncoder

        return _bundled("encoder", partial(BundledEncoder, providers=providers), providers)
    if name.startswith(ENDPOINT):
        if not settings.base_url:
            raise UsageError(
                "has no address",
                subject=f"encoder {name}",
                next_step="give one with `settings` embeddings.base_url=URL",
            )
        from thresher.models.endpoints import EndpointEncoder

        key = None if settings.api_key is None else settings.api_key.get_secret_value()
        model = name.removeprefix(ENDPOINT)
        return EndpointEncoder(model, base_url=settings.base_url, api_key=key)
    from thresher.models.encoders import ENCODERS

    if name in ENCODERS:
        return ENCODERS[name]()
    from thresher.models.fastembed_models import FastembedEncoder

    return FastembedEncoder(name, providers=providers)


@dataclass(frozen=True, slots=True)
class Outside:
    """Where a recipe that corrects may look, as it was given: `web`, or `collection:NAME` with its store.

    `web:HOST` is a web search of the caller's own, `search`.
    """

    given: str
    store: DocumentStore | None = None
    search: WebSearch | None = None


class _Nothing:
    """Stands for a collection that is not there: whatever is asked of it is as little there."""

    def __getattr__(self, name: str) -> Callable[..., _Nothing]:
        return lambda *given, **named: self


@dataclass
class Components:
    """What a recipe is made from, for one question: the collection, the models, the meter."""

    store: DocumentStore
    models: Models
    meter: Meter
    completing: Callable[[int, int], None] | None = None
    """Called with documents done and in total while a missing or outdated chunk table is made from the stored text."""
    outside: Outside | None = None
    exchanges: Exchanges = field(default_factory=Exchanges)
    """Records what comes from outside, or plays it back."""
    replies: ReplyCache | None = None
    """Used where `llm.cache` is on."""
    calibrations: Calibrations | None = None
    indexing: bool = False
    """Whether documents are taken in rather than a question asked: only then is a chat model paid to prepare them."""
    announce: Callable[[str], None] | None = None
    """Called with one line about a cost before it arises."""
    on_sentence: Callable[[str], None] = in_silence
    """Called with each sentence of the answer once it is checked."""
    sketched: bool = False
    """Whether there is no collection: parts can be made and described, not run."""
    _documents: dict[str, Document] = field(default_factory=dict, repr=False)
    """Those of this question: several parts read them whole, one after the other."""

    @classmethod
    def sketch(cls) -> Components:
        """What parts are made from to be described: over no collection, with a place outside to go to."""
        store = cast("DocumentStore", _Nothing())
        return cls(store, Models(), Meter(), outside=Outside("another collection or the web"), sketched=True)

    def elsewhere(self, store: DocumentStore) -> Components:
        """The same models, meter and records over another collection."""
        return replace(self, store=store, outside=None, _documents={})

    def running(self, settings: RecipeSettings) -> Components:
        """The same, with the models on the execution providers that the settings name."""
        return replace(self, models=self.models.on(tuple(filter(None, settings.onnx_providers.split(",")))))

    def encoder(self, settings: RecipeSettings, *, reading: bool = False) -> Encoder:
        """The encoder the settings name; what one behind an endpoint is sent is on the meter.

        With `reading` it remembers texts: for sentences, which several parts of a question read.
        """
        make = self.models.reading_encoder if reading else self.models.encoder
        encoder = make(settings.encoder, settings.embeddings)
        url = settings.embeddings.base_url
        if settings.encoder.startswith(ENDPOINT) and url:
            from thresher.models.endpoints import QuestionEncoder

            return QuestionEncoder(encoder, url, self.meter, self.exchanges)
        return encoder

    def table(self, config: IndexConfig, level: str = "chunk") -> ChunkTable:
        """A chunk table in step with the documents."""
        return self.store.table(config, level, progress=self.completing)

    def language_model(self, settings: LanguageModelSettings) -> LanguageModel | None:
        """The chat model, if one is configured."""
        cache = self.replies if settings.cache else None
        return chat_model(settings, self.meter, exchanges=self.exchanges, cache=cache)

    def reranker(self, name: str | None, *, api_key: str | None = None) -> CrossEncoder | None:
        """The cross-encoder of that name or folder, an endpoint for a URL, None for `none` or nothing.

        What stands behind a # of a URL is the name of the server's model.
        """
        if name is None or name == "none":
            return None
        if name.startswith(("http://", "https://")):
            from thresher.models.endpoints import EndpointCrossEncoder

            url, _, model = name.partition("#")
            return EndpointCrossEncoder(url, self.meter, model=model, api_key=api_key, exchanges=self.exchanges)
        return self.models.local_reranker(name)

    def chosen_reranker(self, settings: RerankerSettings) -> CrossEncoder | None:
        """The cross-encoder that the settings name."""
        key = None if settings.rerank_api_key is None else settings.rerank_api_key.get_secret_value()
        return self.reranker(settings.rerank, api_key=key)

    def rarity(self, table: ChunkTable) -> Callable[[str], Mapping[str, float]]:
        """How rare each term of a question is in a table."""

        def rarity(question: str) -> Mapping[str, float]:
            return rarity_from(table.document_frequencies(question), table.count())

        return rarity

    def unanswering(self, name: str, lack: str) -> Pipeline:
        """What stands for a recipe that there was no time to make: it finds nothing and says what it lacks."""
        from thresher.answering.citations import abstention

        return Pipeline(name, nothing, lambda query, evidence: abstention(lack), self.meter, degraded=(lack,))

    def whole_documents(self) -> Callable[[Sequence[str]], Mapping[str, Document]]:
        """What gives the documents of some ids, of this collection and of the other one."""
        stores = [self.store]
        if self.outside is not None and self.outside.store is not None:
            stores.append(self.outside.store)

        def documents(ids: Sequence[str]) -> Mapping[str, Document]:
            missing = [id_ for id_ in ids if id_ not in self._documents]
            if missing and len(self._documents) > MOST_REMEMBERED:
                self._documents.clear()
                missing = list(ids)
            for store in stores if missing else ():
                self._documents.update(store.documents(missing))
            return {id_: self._documents[id_] for id_ in ids if id_ in self._documents}

        return documents


def chat_model(
    settings: LanguageModelSettings,
    meter: Meter,
    *,
    exchanges: Exchanges | None = None,
    cache: ReplyCache | None = None,
) -> ChatModel | None:
    """The chat model, if one is configured; whether `cache` is wanted is for the caller to say."""
    if not (settings.base_url and settings.model):
        return None
    from thresher.models.chat import ChatModel

    return ChatModel(
        base_url=settings.base_url,
        model=settings.model,
        meter=meter,
        api_key=None if settings.api_key is None else settings.api_key.get_secret_value(),
        temperature=settings.temperature,
        max_tokens=settings.max_tokens,
        reasoning_effort=settings.reasoning_effort,
        timeout_seconds=settings.timeout_seconds,
        rate=None if settings.per_minute is None else shared_rate(settings.base_url, settings.per_minute),
        prices=prices_of(settings),
        exchanges=exchanges,
        cache=cache,
    )


def prices_of(settings: LanguageModelSettings) -> Prices | None:
    """What the tokens of a model cost; a price that is not set is 0 beside one that is."""
    if settings.price_prompt is None and settings.price_completion is None:
        return None
    return Prices(settings.price_prompt or 0.0, settings.price_completion or 0.0)


def nothing(query: Query) -> Judged:
    """Retrieve nothing (the `no-retrieval` baseline)."""
    return Judged(())
