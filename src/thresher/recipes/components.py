"""The parts that recipes have in common, made from settings. Only `recipes/` wires rooms together."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, cast
from weakref import WeakValueDictionary

from thresher.errors import UsageError
from thresher.indexing.index_config import IndexConfig
from thresher.indexing.store import DocumentStore
from thresher.models.encoders import RememberingEncoder
from thresher.models.usage import Exchanges, Meter, Prices
from thresher.pipeline import Pipeline
from thresher.protocols import ChunkTable, CrossEncoder, Encoder, Files, LanguageModel, in_silence
from thresher.recipes.settings import EncoderSettings, LanguageModelSettings, RecipeSettings, RerankerSettings
from thresher.text.terms import rarity_from
from thresher.types import Document, Judged, Query

if TYPE_CHECKING:
    from pydantic import SecretStr

    from thresher.correction.providers import WebSearch
    from thresher.judging.calibration import Calibrations
    from thresher.models.chat import ChatModel
    from thresher.models.cross_encoders import BundledJudge, Remember

__all__ = ["BUNDLED", "Components", "Models", "chat_model"]

BUNDLED = "bundled"
"""The name of the encoder, and of the cross-encoder, that come with Thresher."""

STATIC = "static"
"""The name of the encoder that looks tokens up, of `index --fast`; in an index a hash of its table follows."""

ENDPOINT = "endpoint:"
"""Before the name of a model whose vectors come from `embeddings.base_url`."""

MOST_REMEMBERED = 50
"""Whole documents; a question reads ten or so, a calibration all of them in turn."""

Model = TypeVar("Model")

_LOADED: WeakValueDictionary[Hashable, object] = WeakValueDictionary()
"""Models of this process, each one for all collections that are open at the same time."""


@dataclass
class Models:
    """Loaded models, kept from question to question; those of one name are shared with other open collections."""

    own_encoder: Encoder | None = None
    """An encoder of the caller's, used where the settings name it."""
    remember: Remember | None = None
    """Where the bundled cross-encoders remember what they read; None for a while, in this process."""
    _kept: dict[Hashable, object] = field(default_factory=dict)

    def encoder(self, name: str, settings: EncoderSettings) -> Encoder:
        """The bundled encoder, one in a folder, one that fastembed loads, an endpoint's, or the caller's."""
        if self.own_encoder is not None and name == self.own_encoder.name:
            return self.own_encoder
        return self._keep(partial(_make_encoder, name, settings), "encoder", name, settings)

    def reading_encoder(self, name: str, settings: EncoderSettings) -> Encoder:
        """The same encoder, which remembers the sentences of a question for several parts."""
        encoder = self.encoder(name, settings)
        return self._keep(partial(RememberingEncoder, encoder), "reading encoder", id(encoder))

    def judge(self, folder: Path | None = None) -> BundledJudge:
        """The bundled cross-encoder, which judges, reranks and reads answers out, or one from another folder."""
        from thresher.models.cross_encoders import BUNDLED_JUDGE, BundledJudge, for_a_while

        wanted = folder or BUNDLED_JUDGE
        remember = self.remember or for_a_while
        return self._keep(partial(BundledJudge, wanted, remember=remember), "judge", wanted, remember)

    def checker(self) -> BundledJudge:
        """The bundled cross-encoder that checks claims against texts."""
        from thresher.models.cross_encoders import BUNDLED_CHECKER

        return self.judge(BUNDLED_CHECKER)

    def cross_encoder(self, name: str) -> CrossEncoder:
        """The bundled cross-encoder, or one that fastembed loads."""
        if name == BUNDLED:
            return self.judge()
        from thresher.models.fastembed_models import FastembedCrossEncoder

        return self._keep(partial(FastembedCrossEncoder, name), "cross-encoder", name)

    def _keep(self, make: Callable[[], Model], *key: Hashable) -> Model:
        if key not in self._kept:
            self._kept[key] = _LOADED[key] = _LOADED.get(key) or make()
        return cast("Model", self._kept[key])


def _make_encoder(name: str, settings: EncoderSettings) -> Encoder:
    if name == BUNDLED or Path(name).is_dir():
        from thresher.models.encoders import BundledEncoder

        return BundledEncoder() if name == BUNDLED else BundledEncoder(Path(name))
    if name == STATIC:
        from thresher.models.static_encoder import StaticEncoder

        return StaticEncoder(_make_encoder(BUNDLED, settings))
    if name.startswith(ENDPOINT):
        if not settings.base_url:
            next_step = "give one with `settings` embeddings.base_url=URL"
            raise UsageError("has no address", subject=f"encoder {name}", next_step=next_step)
        from thresher.models.endpoints import EndpointEncoder

        name = name.removeprefix(ENDPOINT)
        return EndpointEncoder(name, base_url=settings.base_url, api_key=plain(settings.api_key))
    from thresher.models.fastembed_models import FastembedEncoder

    return FastembedEncoder(name)


def plain(secret: SecretStr | None) -> str | None:
    """A secret as it is sent."""
    return None if secret is None else secret.get_secret_value()


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
    replies: Files | None = None
    """Where replies are kept, if `llm.cache` is on."""
    calibrations: Callable[[], Calibrations] | None = None
    indexing: bool = False
    """Whether documents are indexed: only then is a chat model paid to prepare them."""
    announce: Callable[[str], None] | None = None
    """Called with a line about a cost before it arises."""
    on_sentence: Callable[[str], None] = in_silence
    """Called with each sentence of the answer once it is checked."""
    asserted_from: float | None = None
    """The certified certainty from which an answer is asserted; None without a certificate."""
    sketched: bool = False
    """Whether there is no collection: parts can be made and described, not run."""
    _documents: dict[str, Document] = field(default_factory=dict, repr=False)
    """Those of this question, which several parts read whole."""
    _made: dict[Hashable, Any] = field(default_factory=dict, init=False, repr=False)
    """Encoders and chat models by the settings that they are bound to."""

    @classmethod
    def sketch(cls, models: Models | None = None) -> Components:
        """For parts that are described, not run: without a collection, with a place outside."""
        store = cast("DocumentStore", _Nothing())
        return cls(store, models or Models(), Meter(), outside=Outside("another collection or the web"), sketched=True)

    def elsewhere(self, store: DocumentStore) -> Components:
        """The same models, meter and records over another collection."""
        return replace(self, store=store, outside=None, _documents={})

    def encoder(self, settings: RecipeSettings, *, reading: bool = False) -> Encoder:
        """The encoder the settings name, metered behind an endpoint; with `reading` it remembers sentences."""
        key = (settings.encoder, settings.embeddings, reading)
        if key not in self._made:
            self._made[key] = self._encoder(*key)
        return cast("Encoder", self._made[key])

    def _encoder(self, name: str, settings: EncoderSettings, reading: bool) -> Encoder:
        make = self.models.reading_encoder if reading else self.models.encoder
        encoder = make(name, settings)
        if not (name.startswith(ENDPOINT) and settings.base_url):
            return encoder
        from thresher.models.endpoints import QuestionEncoder

        return QuestionEncoder(encoder, settings.base_url, self.meter, self.exchanges)

    def table(self, config: IndexConfig, level: str = "chunk") -> ChunkTable:
        """A chunk table in step with the documents."""
        return self.store.table(config, level, progress=self.completing)

    def language_model(self, settings: LanguageModelSettings) -> LanguageModel | None:
        """The chat model, if one is configured."""
        if not settings.configured:
            return None
        if settings not in self._made:
            kept = self.replies if settings.cache else None
            self._made[settings] = chat_model(settings, self.meter, exchanges=self.exchanges, kept=kept)
        return cast("LanguageModel", self._made[settings])

    def cross_encoder(self, name: str, *, api_key: str | None = None) -> CrossEncoder:
        """The cross-encoder of that name or folder, or an endpoint for URL or URL#MODEL."""
        if not name.startswith(("http://", "https://")):
            return self.models.cross_encoder(name)
        from thresher.models.endpoints import EndpointCrossEncoder

        url, _, model = name.partition("#")
        return EndpointCrossEncoder(url, self.meter, model=model, api_key=api_key, exchanges=self.exchanges)

    def reranker(self, settings: RerankerSettings) -> CrossEncoder | None:
        """The cross-encoder that the settings name; None for `none` or no name."""
        if settings.rerank is None or settings.rerank == "none":
            return None
        return self.cross_encoder(settings.rerank, api_key=plain(settings.rerank_api_key))

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
                self._documents.update(store.kept_documents(missing))
            return {id_: self._documents[id_] for id_ in ids if id_ in self._documents}

        return documents


def chat_model(
    settings: LanguageModelSettings,
    meter: Meter,
    *,
    exchanges: Exchanges | None = None,
    kept: Files | None = None,
) -> ChatModel | None:
    """The chat model, if one is configured; replies are `kept` whatever `settings.cache`."""
    if not (settings.base_url and settings.model):
        return None
    from thresher.models.chat import ChatModel
    from thresher.models.reply_cache import ReplyCache
    from thresher.models.transport import shared_rate

    return ChatModel(
        base_url=settings.base_url,
        model=settings.model,
        meter=meter,
        api_key=plain(settings.api_key),
        temperature=settings.temperature,
        max_tokens=settings.max_tokens,
        reasoning_effort=settings.reasoning_effort,
        timeout_seconds=settings.timeout_seconds,
        rate=None if settings.per_minute is None else shared_rate(settings.base_url, settings.per_minute),
        prices=prices_of(settings),
        exchanges=exchanges,
        cache=None if kept is None else ReplyCache(kept),
    )


def prices_of(settings: LanguageModelSettings) -> Prices | None:
    """What the tokens of a model cost; a price that is not set is 0 beside one that is."""
    if settings.price_prompt is None and settings.price_completion is None:
        return None
    return Prices(settings.price_prompt or 0.0, settings.price_completion or 0.0)


def nothing(query: Query) -> Judged:
    """Retrieve nothing (the `no-retrieval` baseline)."""
    return Judged(())
