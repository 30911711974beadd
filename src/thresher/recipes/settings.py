"""The settings of each recipe: one model a recipe, and the tables of settings they share. Data only.

Numbers are bounded and every field says its unit; unknown keys are errors. Nothing here loads a model or a part, so
reading or checking settings imports no recipe. How values get in is in `thresher.settings`.
"""

from __future__ import annotations

from datetime import date
from typing import ClassVar, Literal, Self

from pydantic import Field, SecretStr, field_validator, model_validator

from thresher.settings import Address, AddressOrNothing, Frozen, Listed, check_weights


class LanguageModelSettings(Frozen):
    """A chat model behind an OpenAI-compatible endpoint; nothing is sent anywhere until both are given."""

    base_url: Address = Field(None, description="address of the server, e.g. http://localhost:11434/v1")
    model: str | None = Field(None, description="name of the model there")
    api_key: SecretStr | None = Field(None, description="key, where the server wants one")
    temperature: float = Field(0.0, ge=0, le=2, description="0 is deterministic")
    max_tokens: int = Field(512, ge=1, description="tokens of the answer at most")
    reasoning_effort: Literal["none", "minimal", "low", "medium", "high", "xhigh", "max"] | None = Field(
        None, description="how much a model that thinks does so, where its server takes it; none turns it off"
    )
    timeout_seconds: float = Field(60.0, gt=0, description="seconds to wait for one reply")
    context_tokens: int | None = Field(
        None, ge=512, description="tokens the model reads and writes at once; as its server tells when not set"
    )
    concurrency: int = Field(4, ge=1, le=64, description="calls at the same time at most")
    per_minute: int | None = Field(None, ge=1, description="calls per minute at most; no limit when not set")
    cache: bool = Field(False, description="keep replies on disk and use them again for the same prompt")
    price_prompt: float | None = Field(None, ge=0, description="money for a million tokens that are sent")
    price_completion: float | None = Field(None, ge=0, description="money for a million tokens that are written")

    @model_validator(mode="after")
    def _whole(self) -> Self:
        if bool(self.base_url) != bool(self.model):
            here, lacking = ("llm.base_url", "llm.model") if self.base_url else ("llm.model", "llm.base_url")
            raise ValueError(f"{here} is set and {lacking} is not: a chat model needs both")
        return self

    @property
    def configured(self) -> bool:
        """Whether there is a model to ask."""
        return bool(self.base_url and self.model)


class EncoderSettings(Frozen):
    """Where an encoder that is not the bundled one lives."""

    base_url: Address = Field(None, description="address of an OpenAI-compatible embeddings endpoint")
    api_key: SecretStr | None = Field(None, description="key, where the endpoint wants one")


class AnswerSettings(Frozen):
    """How questions are answered: what a chat model is asked for, and the reader that answers where there is none."""

    style: Literal["auto", "short", "detailed", "list"] = Field(
        "auto", description="model: as short as the question allows, one sentence, everything there is, or a list"
    )
    max_words: int | None = Field(
        None, ge=1, description="model: words asked for at most; the answer ends with the sentence that reaches them"
    )
    instructions: str = Field("", description="model: further rules for the answer, e.g. Answer in German.")
    check: Literal["none", "open", "mark", "strict"] = Field(
        "open",
        description="model: what is shown of its sentences, all of which are checked: none = the words as they came, "
        "open = all, with what is not supported marked, mark = the same without contradicted ones, strict = supported "
        "ones alone",
    )
    verify: Literal["auto", "local", "model"] = Field(
        "auto",
        description="model: who says that a sentence is supported: local = the check alone, model = the check and the "
        "chat model, asked once more for all sentences, auto = the model for those that the check leaves open; with "
        "check=strict both must say so",
    )
    by: Literal["model", "reader"] = Field(
        "model",
        description="what gives the answer if a chat model is configured: the model writes it, or with reader the best "
        "passage or cell, as without a model (which then only judges and rewrites)",
    )
    mode: Literal["strict", "balanced", "open"] | None = Field(
        None,
        description="one choice for a person, which wins over answer.check: strict = nothing unverified, refused when "
        "the verdict is not correct; balanced = answer.check=mark; open = as the model says, marked",
    )
    min_confidence: float = Field(
        0.1, ge=0, le=1, description="probability that what is shown states the answer, below which nothing is shown"
    )


class FrontSettings(Frozen):
    """What a question is put to by default; options and arguments win."""

    home: str = Field(
        ".thresher",
        description="folder of all collections, in a file relative to that file; or an address: s3://BUCKET/PREFIX",
    )
    collection: str = Field("default", description="which collection")
    recipe: str = Field("corrective", description="which recipe")
    strict: bool = Field(False, description="refuse when a part of the recipe is not available")
    public_url: AddressOrNothing = Field(
        "",
        description="address of the server that opens documents for people, e.g. https://docs.example.org; hits and "
        "citations then have an address each",
    )


class RecipeSettings(Frozen):
    """What every recipe has; a class variable is what a recipe or preset comes with and nobody sets."""

    titled: ClassVar[bool] = True
    """The title of its document stands in front of a chunk for the encoder, BM25 and a cross-encoder."""
    drop_references: ClassVar[bool] = False
    """The References section of papers is not cut into chunks."""
    outlines: ClassVar[bool] = False
    """A question about a document as a whole gets its outline, or a chat model's summary."""

    encoder: str = Field(
        "bundled",
        description="'bundled', 'static' (looked up by token: `index --fast`), a folder, a fastembed model, or "
        "'endpoint:MODEL'",
    )
    outside: str = Field(
        "none",
        description="what a recipe that corrects may search besides: none, web or collection:NAME; `--outside` wins",
    )
    embeddings: EncoderSettings = EncoderSettings()
    llm: LanguageModelSettings = LanguageModelSettings()
    answer: AnswerSettings = AnswerSettings()


class ListSettings(Frozen):
    """Dense or BM25 retrieval."""

    depth: int = Field(ge=1, description="candidates at least; twice the wanted results when that is more")


class FixedChunking(Frozen):
    """Chunks of a size: those of plain RAG and of CRAG are of about it, recursive ones of at most it."""

    size: int = Field(900, ge=50, description="characters of a chunk at most")
    overlap: int = Field(0, ge=0, description="characters two neighbours share at most")


class SentenceChunking(FixedChunking):
    """Chunks of whole sentences."""

    min: int = Field(300, ge=0, description="characters of a chunk at least")


class Subchunking(Frozen):
    """Subchunks of a chunk."""

    size: int = Field(300, ge=20, description="characters of a subchunk at most")
    overlap: int = Field(50, ge=0, description="characters two neighbours share at most")


class ListWeights(Frozen):
    """Weights of the dense and of the lexical list."""

    dense_weight: float = Field(0.5, ge=0, description="weight of the dense list; 0 is without it")
    lexical_weight: float = Field(0.5, ge=0, description="weight of the BM25 list; 0 is without it")

    @model_validator(mode="after")
    def _weighs_something(self) -> Self:
        check_weights(dense_weight=self.dense_weight, lexical_weight=self.lexical_weight)
        return self


class FuseSettings(Frozen):
    """How the dense and the lexical list become one."""

    method: Literal["auto", "rrf", "weighted"] = Field(
        "auto",
        description="reciprocal ranks, a weighted sum of scores, or rrf before a reranker and weighted without one",
    )
    dense_weight: float | None = Field(
        None, ge=0, description="weight of the dense list; rrf 1, weighted 0.4; 0 is without it"
    )
    lexical_weight: float | None = Field(
        None, ge=0, description="weight of the lexical list; rrf 1, weighted 0.6; 0 is without it"
    )

    @model_validator(mode="after")
    def _weighs_something(self) -> Self:
        check_weights(dense_weight=self.dense_weight, lexical_weight=self.lexical_weight)
        return self


RERANK = (
    "cross-encoder that orders: 'bundled', a fastembed name or folder, a /rerank URL (URL#MODEL where the server has "
    "several), or 'none' to do without on purpose"
)


class RerankerSettings(Frozen):
    """A cross-encoder that orders."""

    rerank: str | None = Field(None, description=RERANK)
    rerank_api_key: SecretStr | None = Field(None, description="key for a /rerank URL")


class RedundancySettings(Frozen):
    """What counts as saying the same."""

    vectors: Literal["embedding", "tfidf", "either"] = Field(
        "embedding", description="what chunks are compared by (Y7)"
    )
    threshold: float = Field(
        0.9, ge=0, le=1, description="cosine above which the lower-ranked of two chunks is dropped; 1 drops none"
    )


class RefineSettings(Frozen):
    """Which strips become evidence (Z7)."""

    of: Literal["all", "inside", "outside", "none"] = Field(
        "all", description="chunks from where are cut into strips; the others are kept whole"
    )
    top_k: int | None = Field(5, ge=1, description="strips kept at most, inside and outside each")
    min_score: float | None = Field(None, description="score a strip needs; the lower bound of the judge when not set")
    order: Literal["document", "score"] = Field(
        "document",
        description="how the strips are put together; by score is as CRAG's code, which drops those of under 4 words",
    )


class SearchWordsSettings(Frozen):
    """The words that are sent to an outside source (Z10)."""

    style: Literal["words6-14", "keywords3", "question"] = Field(
        "words6-14", description="6 to 14 words, at most 3 keywords, or the question itself"
    )


class WebSettings(Frozen):
    """Web search; nothing is sent anywhere until a provider is configured and `outside` is `web`."""

    provider: str = Field("none", description="who searches: none, searxng, tavily, brave or json (any endpoint)")
    base_url: Address = Field(
        None,
        description="address of a SearXNG server, of another Tavily endpoint, or of an endpoint with {words} in it",
    )
    api_key: SecretStr | None = Field(None, description="the key of Tavily, Brave or the endpoint")
    fields: Listed = Field(
        "",
        description="where the reply of an endpoint (`web.provider=json`) keeps what, as NAME=PATH with dots, e.g. "
        "results=web.hits,url=link; of results, url, title, snippet, page, score, date; not given, as SearXNG does",
    )
    sites: Listed = Field(
        "",
        description="hosts that are searched alone, with those below them, e.g. wikipedia.org,arxiv.org; all if empty",
    )
    since: str = Field(
        "", description="date (2024-05-01) from which results count, as far as they are dated; any time if empty"
    )
    fetch: bool = Field(True, description="fetch the pages; the results' snippets alone when false")

    @field_validator("fields")
    @classmethod
    def _of_reply(cls, given: str) -> str:
        from thresher.correction.providers import Fields

        for one in filter(None, given.split(",")):
            name, _, path = one.partition("=")
            if name not in Fields._fields or not path:
                raise ValueError(f"{one} is not NAME=PATH with a name of {', '.join(Fields._fields)}")
        return given

    @field_validator("sites")
    @classmethod
    def _hosts(cls, given: str) -> str:
        for site in filter(None, given.split(",")):
            if "." not in site or not all(mark.isalnum() or mark in ".-" for mark in site):
                raise ValueError(f"{site} is no host's name, such as wikipedia.org")
        return given.lower()

    @field_validator("since")
    @classmethod
    def _dated(cls, given: str) -> str:
        return given and date.fromisoformat(given).isoformat()


class JudgeSettings(RecipeSettings):
    """What recipes that judge have in common."""

    judge: str = Field(
        "auto",
        description="'auto' (the chat model, or the local judge without one), 'llm', 'local' (cosine and words), "
        "'trained' (our own: the bundled cross-encoder), 'calibrated' (that one as a probability), "
        "or another cross-encoder: a fastembed name or folder, a /rerank URL",
    )
    judge_model: str = Field(
        "bundled",
        description="cross-encoder of the trained judge: 'bundled', or a folder that `thresher train-judge` wrote",
    )
    batch: int = Field(20, ge=1, description="chunks judged in one call; 1 is a call for each, as published")


class OutsideSettings(JudgeSettings):
    """What recipes that correct have in common."""

    decompose: Literal["sentences", "fixed_num", "excerption", "selection"] = Field(
        "sentences", description="how chunks are cut into strips (Z8)"
    )
    refine: RefineSettings = RefineSettings()
    search: SearchWordsSettings = SearchWordsSettings()
    web: WebSettings = WebSettings()


class ProtectSettings(Frozen):
    """The hybrid report's safety mechanism."""

    n: int = Field(2, ge=0, description="best dense hits that stay among the results whatever the order")
    position: Literal["keep", "front"] = Field(
        "keep", description="where they stand: where the order put them, or first"
    )


class NoRetrievalSettings(RecipeSettings):
    """Settings of `no-retrieval`."""


class RagSettings(RecipeSettings):
    """Settings of `rag`."""

    chunk: FixedChunking = FixedChunking()
    dense: ListSettings = ListSettings(depth=5)


class HybridSettings(RecipeSettings, RerankerSettings):
    """Settings of `hybrid`."""

    rerank: str | None = Field("bundled", description=RERANK)
    chunk: FixedChunking = FixedChunking(size=1500, overlap=300)
    dense: ListSettings = ListSettings(depth=8)
    lexical: ListSettings = ListSettings(depth=4)
    fuse: FuseSettings = FuseSettings()
    protect: ProtectSettings = ProtectSettings()
    literal: ClassVar[bool] = False
    """The printed depths and number of results whatever the limit, and the cross-encoder alone orders."""


class HybridLiteralSettings(HybridSettings):
    """Settings of `hybrid-literal`."""

    titled = False
    literal = True


class CorrectiveSettings(OutsideSettings, RerankerSettings):
    """Settings of `corrective`."""

    drop_references = True
    outlines = True

    answer: AnswerSettings = AnswerSettings(check="mark")
    judge: str = Field(
        "auto",
        description="the trained judge, and the chat model (where configured) for what it cannot tell; or a judge by "
        "name, alone: 'trained', 'local' (cosine and words)",
    )
    chunk: SentenceChunking = SentenceChunking(size=1500)
    subchunk: Subchunking = Subchunking()
    dense: ListSettings = ListSettings(depth=20)
    lexical: ListSettings = ListSettings(depth=20)
    fuse: ListWeights = ListWeights(dense_weight=0.4, lexical_weight=0.6)
    dedup: RedundancySettings = RedundancySettings()
    upper: float | None = Field(
        None, gt=0, le=1, description="probability from which the evidence suffices; the calibration's when not set"
    )
    lower: float | None = Field(
        None, ge=0, lt=1, description="probability below which it does not; the calibration's when not set"
    )
    min_probability: float = Field(
        0.04, ge=0, le=1, description="probability a chunk needs to be read at all; the bounds decide on the best one"
    )
    rewrite: bool = Field(True, description="rewrite a question whose first search found nothing good")
    refine: RefineSettings = RefineSettings(of="none", top_k=8)
