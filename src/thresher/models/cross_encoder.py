"""Cross-encoders: any that fastembed loads, by name or from a folder, and any endpoint of Cohere's `/rerank` form."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import isfinite
from pathlib import Path
from typing import Any

from thresher.errors import ModelError, ProviderError
from thresher.models.meter import Meter, without_password
from thresher.types import LOGIT, UNIT, Score

_BASE_MODEL = "Xenova/ms-marco-MiniLM-L-6-v2"
"""The fastembed entry whose loading code is used for a model in a folder (model file `onnx/model.onnx`)."""


@dataclass(frozen=True)
class FastembedCrossEncoder:
    """A cross-encoder that fastembed knows by name (fetched once from a hub) or that lies in a folder."""

    model: str

    @property
    def name(self) -> str:
        """Name or folder of the model."""
        return self.model

    @cached_property
    def _loaded(self) -> Any:
        from fastembed.rerank.cross_encoder import TextCrossEncoder

        folder = Path(self.model)
        try:
            if folder.is_dir():
                return TextCrossEncoder(_BASE_MODEL, specific_model_path=str(folder))
            return TextCrossEncoder(self.model)
        except Exception as error:  # fastembed raises whatever its hub client does: turned into one line here
            detail = str(error).splitlines()[0] if str(error) else "no detail"
            raise ModelError(
                f"cannot be loaded ({type(error).__name__}: {detail})",
                subject=f"reranker {self.model}",
                next_step="give a folder with onnx/model.onnx and tokenizer.json, a name fastembed lists, or none",
            ) from error

    def __call__(self, question: str, texts: Sequence[str]) -> list[Score]:
        """One logit per text, in their order."""
        if not texts:
            return []
        return [Score(float(value), LOGIT) for value in self._loaded.rerank(question, list(texts))]


@dataclass(frozen=True)
class EndpointCrossEncoder:
    """A server that takes `{model, query, documents, top_n}` and returns `results: [{index, relevance_score}]`."""

    url: str
    meter: Meter
    model: str = ""
    api_key: str | None = None
    timeout_seconds: float = 30.0

    @property
    def name(self) -> str:
        """Model and address."""
        return f"{self.model or 'reranker'} at {without_password(self.url)}"

    def __call__(self, question: str, texts: Sequence[str]) -> list[Score]:
        """One relevance per text, in their order. Raises ProviderError, or BudgetSpent before the call."""
        import httpx

        if not texts:
            return []
        body = {"model": self.model, "query": question, "documents": list(texts), "top_n": len(texts)}
        headers = {"Authorization": f"Bearer {self.api_key}"} if self.api_key else {}
        self.meter.allow_time()
        self.meter.visit(self.url)
        left = self.meter.seconds_left
        timeout = self.timeout_seconds if left is None else min(self.timeout_seconds, max(left, 0.001))
        try:
            reply = httpx.post(self.url, json=body, headers=headers, timeout=timeout)
            reply.raise_for_status()
            return _scores(reply.json(), len(texts))
        except httpx.HTTPStatusError as error:
            status = error.response.status_code
            raise self._failed(f"answered with status {status}", retryable=status == 429 or status >= 500) from error
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            raise self._failed(f"cannot be reached ({type(error).__name__})", retryable=True) from error
        except (ValueError, KeyError, TypeError, IndexError) as error:
            raise self._failed("answered with something that is not a ranking of all texts", retryable=True) from error

    def _failed(self, what: str, *, retryable: bool) -> ProviderError:
        return ProviderError(what, subject=self.name, next_step="check rerank and rerank_api_key", retryable=retryable)


def _scores(reply: Any, number: int) -> list[Score]:
    """Scores by the index each result names; every text must be scored exactly once.

    Cohere's form promises 0..1; some servers send the model's logits instead, and those are called what they are.
    """
    values: dict[int, float] = {int(item["index"]): float(item["relevance_score"]) for item in reply["results"]}
    if sorted(values) != list(range(number)) or len(reply["results"]) != number:
        raise ValueError("not every text was scored exactly once")
    if not all(isfinite(value) for value in values.values()):
        raise ValueError("a score is not a number")
    scale = UNIT if all(0.0 <= value <= 1.0 for value in values.values()) else LOGIT
    return [Score(values[at], scale) for at in range(number)]
