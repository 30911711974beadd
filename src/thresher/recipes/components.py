"""The parts that recipes have in common, made from settings. Only `recipes/` wires rooms together."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar, cast
from weakref import WeakValueDictionary

from thresher.errors import UsageError
from thresher.indexing.index_config import IndexConfig
from thresher.indexing.store import DocumentStore
from thresher.models.cassette import Exchanges, ReplyCache
from thresher.models.encoders import RememberingEncoder
from thresher.models.onnx import ON_CPU
from thresher.models.usage import Meter, Prices, shared_rate
from thresher.pipeline import Pipeline
from thresher.protocols import ChunkTable, CrossEncoder, Encoder, LanguageModel, in_silence
from thresher.recipes.settings import EncoderSettings, LanguageModelSettings, RecipeSettings, RerankerSettings
from thresher.text.terms import rarity_from
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

    providers: tuple[str, ...] = ON_CPU
    """Execution providers of ONNX Runtime that they run on."""
    _kept: dict[Hashable, object] = field(default_factory=dict)

    def on(self, providers: Sequence[str]) -> Models:
        """The same models on other execution providers."""
        wanted = tuple(providers) or ON_CPU
        return self if wanted == self.providers else self._keep(("on", wanted), partial(Models, wanted))

    def encoder(self, name: str, settings: EncoderSettings) -> Encoder:
        """The bundled encoder, one that fastembed loads, or an endpoint's."""
        return self._keep(("encoder", name, settings), partial(_make_encoder, name, settings, self.providers))

    def reading_encoder(self, name: str, settings: EncoderSettings) -> Encoder:
        """The same encoder, which remembers the sentences of a question for several parts."""
        make = partial(RememberingEncoder, self.encoder(name, settings))
        shared = partial(_bundled, "reading encoder", make, self.providers) if name == BUNDLED else make
        return self._keep(("reading encoder", name, settings), shared)

    def judge(self, folder: Path | None = None) -> BundledJudge:
        """The bundled cross-encoder, which judges, reranks and reads answers out, or one from another folder."""
        from thresher.models.cross_encoders import BUNDLED_JUDGE

        return self._judge(f"judge {folder}", folder or BUNDLED_JUDGE)

    def checker(self) -> BundledJudge:
        """The bundled cross-encoder that checks claims against texts."""
        from thresher.models.cross_encoders import BUNDLED_CHECKER

        return self._judge("checker", BUNDLED_CHECKER)

    def _judge(self, kind: str, folder: Path) -> BundledJudge:
        from thresher.models.cross_encoders import BundledJudge

        make = partial(BundledJudge, folder, providers=self.providers)
        return self._keep(kind, partial(_bundled, kind, make, self.providers))

    def local_reranker(self, name: str) -> CrossEncoder:
        """The bundled cross-encoder, or one that fastembed loads."""
        if name == BUNDLED:
            return self.judge()
        from thresher.models.fastembed_models import FastembedCrossEncoder

        return self._keep(("reranker", name), partial(FastembedCrossEncoder, name, self.providers))

    def _keep(self, key: Hashable, make: Callable[[], Model]) -> Model:
        if key not in self._kept:
            self._kept[key] = make()
        return cast("Model", self._kept[key])


def _make_encoder(name: str, settings: EncoderSettings, providers: tuple[str, ...]) -> Encoder:
    if name == BUNDLED:
        from thresher.models.encoders import BundledEncoder

        return _bundled("encoder", partial(BundledEncoder, providers=providers), providers)
    if name.startswith(ENDPOINT):
        if not settings.base_url:
            next_step = "give one with `settings` embeddings.base_url=URL"
            raise UsageError("has no address", subject=f"encoder {name}", next_step=next_step)
        from thresher.models.endpoints import EndpointEncoder

        key = None if settings.api_key is None else settings.api_key.get_secret_value()
        return EndpointEncoder(name.removeprefix(ENDPOINT), base_url=settings.base_url, api_key=key)
    from thresher.models.encoders import ENCODERS

    if name in ENCODERS:
        return ENCODERS[name]()
    from thresher.models.fastembed_models import FastembedEncoder

    return FastembedEncoder(name, providers=providers)


@dataclass(frozen=True, slots=True)
class Outside:
    """Where a recipe that corrects may look: `web`, `web:HOST` with the caller's `search`, `collection:NAME`."""

    given: str
    store: DocumentStore | None = None
    search: WebSearch | None = None


class _Nothing:
    """Null collection for recipes that are described, not run."""

    def __getattr__(self, name: str) -> Callable[..., _Nothing]:
        return lambda *given, **named: self


@dataclass
class Components:
    """The collection, the models, the meter and so on that a recipe is made from, for one question."""

    store: DocumentStore
    models: Models
    meter: Meter
    completing: Callable[[int, int], None] | None = None
    """Called with documents done and in total while a chunk table is made from the stored text."""
    outside: Outside | None = None
    exchanges: Exchanges = field(default_factory=Exchanges)
    """Records what comes from outside, or plays it back."""
    replies: ReplyCache | None = None
    """Used where `llm.cache` is on."""
    calibrations: Callable[[], Calibrations] | None = None
    indexing: bool = False
    """Whether documents are indexed: only then is a chat model paid to prepare them."""
    announce: Callable[[str], None] | None = None
    """Called with a line about a cost before it arises."""
    on_sentence: Callable[[str], None] = in_silence
    """Called with each sentence of the answer once it is checked."""
    sketched: bool = False
    """Whether there is no collection: parts can be made and described, not run."""
    _documents: dict[str, Document] = field(default_factory=dict, repr=False)
    """Those of this question, which several parts read whole."""

    @classmethod
    def sketch(cls) -> Components:
        """For parts that are described, not run: without a collection, with a place outside."""
        store = cast("DocumentStore", _Nothing())
        return cls(store, Models(), Meter(), outside=Outside("another collection or the web"), sketched=True)

    def elsewhere(self, store: DocumentStore) -> Components:
        """The same models, meter and records over another collection."""
        return replace(self, store=store, outside=None, _documents={})

    def running(self, settings: RecipeSettings) -> Components:
        """The same, with the models on the execution providers that the settings name."""
        return replace(self, models=self.models.on(tuple(filter(None, settings.onnx_providers.split(",")))))

    def encoder(self, settings: RecipeSettings, *, reading: bool = False) -> Encoder:
        """The encoder the settings name, metered behind an endpoint; with `reading` it remembers sentences."""
        make = self.models.reading_encoder if reading else self.models.encoder
        encoder = make(settings.encoder, settings.embeddings)
        url = settings.embeddings.base_url
        if not (settings.encoder.startswith(ENDPOINT) and url):
            return encoder
        from thresher.models.endpoints import QuestionEncoder

        return QuestionEncoder(encoder, url, self.meter, self.exchanges)

    def table(self, config: IndexConfig, level: str = "chunk") -> ChunkTable:
        """A chunk table in step with the documents."""
        return self.store.table(config, level, progress=self.completing)

    def language_model(self, settings: LanguageModelSettings) -> LanguageModel | None:
        """The chat model, if one is configured."""
        cache = self.replies if settings.cache else None
        return chat_model(settings, self.meter, exchanges=self.exchanges, cache=cache)

    def reranker(self, name: str | None, *, api_key: str | None = None) -> CrossEncoder | None:
        """The cross-encoder of that name or folder, an endpoint for URL or URL#MODEL, None for `none` or None."""
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
        return lambda question: rarity_from(table.document_frequencies(question), table.count())

    def unanswering(self, name: str, lack: str) -> Pipeline:
        """In place of a recipe that there was no time to make: finds nothing and says what it lacks."""
        from thresher.answering.citations import abstention

        return Pipeline(name, nothing, lambda query, evidence: abstention(lack), self.meter, degraded=(lack,))

    def whole_documents(self) -> Callable[[Sequence[str]], Mapping[str, Document]]:
        """A function from ids to documents of this collection and of the one outside."""
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
    """The chat model, if one is configured; `cache` is used whatever `settings.cache`."""
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
