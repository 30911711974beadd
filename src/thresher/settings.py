"""Settings: data only. Each recipe has one model beside it; this file holds what they share and how values get in.

A value comes from, the later the stronger: the recipe's default, `thresher.toml` (in the home folder), environment
variables (`THRESHER_LLM__BASE_URL` for `llm.base_url`), those given with the call (`--set key=value`).
"""

from __future__ import annotations

import os
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal, Self, TypeVar
from urllib.parse import urlsplit

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, SecretStr, ValidationError, model_validator

from thresher.errors import UnknownSetting, UsageError

CONFIG_FILE = "thresher.toml"
ENVIRONMENT_PREFIX = "THRESHER_"


class Frozen(BaseModel):
    """Unknown keys are errors, values do not change, numbers are finite."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)


def _address(given: str | None) -> str | None:
    """An http address; the empty text is none."""
    if not given:
        return None
    parts = urlsplit(given)  # a ValueError of its own for what cannot be an address
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ValueError("an address starts with http:// or https://")
    return given


Address = Annotated[str | None, AfterValidator(_address)]


def check_weights(**weights: float | None) -> None:
    """Raise ValueError when nothing weighs anything: every candidate would be as good as any other."""
    if all(weight == 0 for weight in weights.values()):
        raise ValueError(f"one of {' and '.join(weights)} must be above 0")


class LanguageModelSettings(Frozen):
    """A chat model behind an OpenAI-compatible endpoint; nothing is sent anywhere until both are given."""

    base_url: Address = Field(None, description="address of the server, e.g. http://localhost:11434/v1")
    model: str | None = Field(None, description="name of the model there")
    api_key: SecretStr | None = Field(None, description="key, where the server wants one")
    temperature: float = Field(0.0, ge=0, le=2, description="0 is deterministic")
    max_tokens: int = Field(512, ge=1, description="tokens of the answer at most")
    timeout_seconds: float = Field(60.0, gt=0, description="seconds to wait for one reply")
    concurrency: int = Field(4, ge=1, le=64, description="calls at the same time at most")
    per_minute: int | None = Field(None, ge=1, description="calls per minute at most; no limit when not set")
    cache: bool = Field(False, description="keep replies on disk and use them again for the same prompt")

    @property
    def configured(self) -> bool:
        """Whether there is a model to ask."""
        return bool(self.base_url and self.model)


class EncoderSettings(Frozen):
    """Where an encoder that is not the bundled one lives."""

    base_url: Address = Field(None, description="address of an OpenAI-compatible embeddings endpoint")
    api_key: SecretStr | None = Field(None, description="key, where the endpoint wants one")
    dimension: int | None = Field(
        None, ge=1, description="length of the endpoint's vectors; asked of it when not given"
    )


class AnswerSettings(Frozen):
    """The reader that answers where no chat model is configured."""

    reader: Literal["spans", "sentences"] = Field(
        "spans", description="answer with the words that answer and cite their sentence, or quote sentences"
    )
    min_relevance: float = Field(
        0.3, ge=0, le=1, description="spans: probability of the best passage below which the answer is withheld"
    )
    min_certainty: float = Field(
        0.5, ge=0, le=1, description="spans: probability of the best place below which sentences are quoted instead"
    )
    min_support: float = Field(
        0.55, ge=0, le=1, description="sentences: support of the best one below which the answer is withheld"
    )
    max_sentences: int = Field(2, ge=1, description="sentences quoted at most")


class RecipeSettings(Frozen):
    """What every recipe has."""

    encoder: str = Field("bundled", description="'bundled', a fastembed model or folder, or 'endpoint:MODEL'")
    embeddings: EncoderSettings = EncoderSettings()
    llm: LanguageModelSettings = LanguageModelSettings()
    answer: AnswerSettings = AnswerSettings()


class DenseSettings(Frozen):
    """Dense retrieval."""

    depth: int = Field(5, ge=1, description="candidates at least; twice the wanted results when that is more")


class FixedChunking(Frozen):
    """Chunks of a fixed size: those of plain RAG, and of CRAG."""

    size: int = Field(900, ge=50, description="characters of a chunk at most")
    overlap: int = Field(0, ge=0, description="characters two neighbours share")
    drop_references: bool = Field(False, description="leave out the References section of papers")


class LexicalSettings(Frozen):
    """BM25 retrieval."""

    depth: int = Field(4, ge=1, description="candidates at least; twice the wanted results when that is more")


class FuseSettings(Frozen):
    """How the dense and the lexical list become one."""

    method: Literal["auto", "rrf", "weighted"] = Field(
        "auto",
        description="reciprocal ranks, a weighted sum of scores, or rrf before a reranker and weighted without one",
    )
    k: int = Field(60, ge=1, description="rank constant of rrf (Cormack et al. 2009)")
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


class RerankerSettings(Frozen):
    """A cross-encoder that orders."""

    rerank: str | None = Field(
        None,
        description="cross-encoder: 'bundled', a fastembed name or folder, a /rerank URL, or 'none' to do without on "
        "purpose",
    )
    rerank_model: str = Field("", description="model name sent to a /rerank URL")
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
        "all", description="chunks from where are cut into strips; the others are handed over whole"
    )
    top_k: int | None = Field(5, ge=1, description="strips kept at most, inside and outside each")
    min_score: float | None = Field(None, description="score a strip needs; the lower bound of the judge when not set")
    order: Literal["document", "score"] = Field("document", description="how the strips are put together")
    min_words: int = Field(2, ge=0, description="words a strip needs to be scored")


class SearchWordsSettings(Frozen):
    """The words that are sent to an outside source (Z10)."""

    style: Literal["words6-14", "keywords3"] = Field("words6-14", description="6 to 14 words, or at most 3 keywords")
    rewrite: bool = Field(True, description="put the question into such words; it is searched for itself when false")


class WebSettings(Frozen):
    """Web search; nothing is sent anywhere until a provider is configured and `outside` is `web`."""

    provider: Literal["none", "tavily", "searxng"] = Field("none", description="who searches")
    base_url: Address = Field(None, description="address of a SearXNG server, or of another Tavily endpoint")
    api_key: SecretStr | None = Field(None, description="Tavily's key")
    results: int = Field(5, ge=1, le=50, description="results looked at")
    fetch: bool = Field(True, description="fetch the pages; the results' snippets alone when false")
    timeout_seconds: float = Field(20.0, gt=0, description="seconds for one search or page")
    passage: int = Field(900, ge=100, description="characters of a passage of a page at most")


class JudgeSettings(RecipeSettings):
    """What recipes that judge have in common."""

    judge: str = Field(
        "auto",
        description="'auto' (the chat model, or the local judge without one), 'llm', 'local' (cosine and words), "
        "'trained' (our own: the bundled cross-encoder, cosine and words), 'calibrated' (that one as a probability), "
        "or another cross-encoder: a fastembed name or folder, a /rerank URL",
    )
    batch: int = Field(20, ge=1, description="chunks judged in one call; 1 is a call for each, as published")
    on_unreadable: Literal["keep", "drop", "raise"] = Field(
        "keep", description="what becomes of a chunk whose score could not be read"
    )


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


Model = TypeVar("Model", bound=RecipeSettings)


def build(model: type[Model], overrides: Mapping[str, Any], *, preset: Mapping[str, Any] | None = None) -> Model:
    """Settings of a recipe: its preset's values, then the overrides; dotted keys. Raises UsageError in one line."""
    # A table that is given in part keeps what the recipe's own default says of the rest of it.
    nested: dict[str, Any] = {
        name: field.default.model_dump(exclude_unset=True)
        for name, field in model.model_fields.items()
        if isinstance(field.default, BaseModel)
    }
    for key, value in {**(preset or {}), **overrides}.items():
        *path, last = key.split(".")
        inner = nested
        for name in path:
            inner = inner.setdefault(name, {})
        inner[last] = value
    try:
        return model.model_validate(nested)
    except ValidationError as error:
        # Without the cause: pydantic's own words hold the value, which may be a key.
        raise _bad_setting(error.errors()[0], model) from None


def _bad_setting(first: Mapping[str, Any], model: type[BaseModel]) -> UsageError:
    """One line for the first thing pydantic found."""
    key = ".".join(str(part) for part in first["loc"])
    shown = "" if key in secret_keys(model) or isinstance(first["input"], Mapping) else f" (given: {first['input']!r})"
    what = first["msg"].removeprefix("Value error, ")
    return UsageError(f"{what}{shown}", subject=f"setting {key}", next_step="see `settings(RECIPE)`")


def secret_keys(model: type[BaseModel]) -> set[str]:
    """The dotted keys whose values are never shown."""
    return {key for key, kind in _kinds(model) if SecretStr in (kind, *getattr(kind, "__args__", ()))}


def _kinds(model: type[BaseModel], prefix: str = "") -> Iterator[tuple[str, Any]]:
    for name, field in model.model_fields.items():
        kind = field.annotation
        if isinstance(kind, type) and issubclass(kind, BaseModel):
            yield from _kinds(kind, f"{prefix}{name}.")
        else:
            yield f"{prefix}{name}", kind


def keys(model: type[BaseModel], prefix: str = "") -> Iterator[str]:
    """All dotted keys of a settings model."""
    return (key for key, _ in _kinds(model, prefix))


def descriptions(model: type[BaseModel], prefix: str = "") -> dict[str, str]:
    """What each dotted key is, for people."""
    told: dict[str, str] = {}
    for name, field in model.model_fields.items():
        kind = field.annotation
        if isinstance(kind, type) and issubclass(kind, BaseModel):
            told.update(descriptions(kind, f"{prefix}{name}."))
        else:
            told[f"{prefix}{name}"] = field.description or ""
    return told


def flat(settings: BaseModel, prefix: str = "") -> dict[str, Any]:
    """Dotted keys and values, secrets as stars."""
    values: dict[str, Any] = {}
    for name in type(settings).model_fields:
        value = getattr(settings, name)
        if isinstance(value, BaseModel):
            values.update(flat(value, f"{prefix}{name}."))
        else:
            values[f"{prefix}{name}"] = str(value) if isinstance(value, SecretStr) else value
    return values


def flat_public(settings: BaseModel) -> dict[str, Any]:
    """Dotted keys and values without the secret ones, as they can be given again."""
    hidden = secret_keys(type(settings))
    return {key: value for key, value in flat(settings).items() if key not in hidden}


def parse_assignments(
    assignments: Sequence[str], *, parameter: str = "settings", example: str = "rerank=none"
) -> dict[str, str]:
    """`key=value` pairs from a command line; of a key given twice the last value counts."""
    parsed = {}
    for assignment in assignments:
        key, sign, value = assignment.partition("=")
        if not sign or not key.strip():
            raise UsageError(
                "is not key=value", subject=f"`{parameter}` {assignment!r}", next_step=f"e.g. `{parameter}` {example}"
            )
        parsed[key.strip()] = value.strip()
    return parsed


def ambient(known: Iterable[str], home: Path, environment: Mapping[str, str] = os.environ) -> dict[str, Any]:
    """Values from `thresher.toml` in `home` and from the environment, for the known keys."""
    known = set(known)
    values: dict[str, Any] = {}
    file = home / CONFIG_FILE
    if file.is_file():
        try:
            read = dict(dotted(tomllib.loads(file.read_text(encoding="utf-8"))))
        except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
            raise UsageError(f"cannot be read ({error})", subject=str(file), next_step="mend or remove it") from error
        check_known(read, known)
        values.update(read)
    variables = {ENVIRONMENT_PREFIX + key.upper().replace(".", "__"): key for key in sorted(known)}
    for name, value in environment.items():
        if name in variables:
            values[variables[name]] = value
        elif name.startswith(ENVIRONMENT_PREFIX) and "__" in name:
            raise UnknownSetting(name, variables, kind="setting in the environment")
    return values


def own(model: type[BaseModel], given: Mapping[str, Any]) -> dict[str, Any]:
    """The given settings that a model has: with several recipes, a setting counts for those that have it."""
    known = set(keys(model))
    return {key: value for key, value in given.items() if key in known}


def check_known(given: Iterable[str], known: Iterable[str]) -> None:
    """Raise UnknownSetting for the first key that is not known."""
    known = set(known)
    for key in given:
        if key not in known:
            raise UnknownSetting(key, known)


def dotted(table: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Nested tables as dotted keys."""
    for name, value in table.items():
        if isinstance(value, Mapping):
            yield from dotted(value, f"{prefix}{name}.")
        else:
            yield f"{prefix}{name}", value
