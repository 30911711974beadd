"""An encoder behind any OpenAI-compatible `/v1/embeddings` endpoint."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from thresher.errors import ProviderError

if TYPE_CHECKING:
    from openai import OpenAI

    from thresher.protocols import Progress, Vectors

MAX_RETRIES = 2  # the SDK's own default: with its backoff (0.5 s doubling), about 2 s for a server that is restarting
BATCH_TEXTS = 64  # 64 texts of 200 tokens stay far below OpenAI's limits (2,048 texts, 300,000 tokens a request)
USUAL_TOKENS = 512  # what most encoders that people serve themselves read; hosted ones read more
EMPTY = " "  # what stands for the empty text, which OpenAI refuses


class EndpointEncoder:
    """One embedding model of one server; the connection is made at the first call.

    `max_tokens` is what the server's model reads at once: it cannot be asked, so it is told. A text that is longer is
    the server's to refuse (ProviderError) or to cut; no tokenizer of it is here to count with. A reply whose vectors
    are not of `dimension` numbers is an error; left out, the first reply decides it. Vectors are scaled to unit length.
    """

    def __init__(
        self,
        model: str,
        *,
        base_url: str,
        api_key: str | None = None,
        dimension: int | None = None,
        max_tokens: int = USUAL_TOKENS,
        timeout_seconds: float = 60.0,
        max_retries: int = MAX_RETRIES,
    ) -> None:
        self._base_url = base_url
        self._model = model
        self._dimension = dimension
        self._max_tokens = max_tokens
        self._api_key = api_key
        self._timeout_seconds = timeout_seconds
        self._max_retries = max_retries

    @property
    def name(self) -> str:
        """Model and server; the weights behind them cannot be seen."""
        return f"{self._model} at {self._base_url}"

    @property
    def dimension(self) -> int:
        """Numbers in a vector, as told; else the server is asked for one to count."""
        if self._dimension is None:
            self.warm_up()
        assert self._dimension is not None, "a checked reply has decided it"
        return self._dimension

    @property
    def max_tokens(self) -> int:
        """Tokens the server's model reads at once, as told."""
        return self._max_tokens

    def warm_up(self) -> None:
        """Asks for one vector, so that a wrong address, key, model or dimension shows now."""
        self.encode_query("ready?")

    def encode(self, texts: Sequence[str], *, progress: Progress | None = None) -> Vectors:
        """(n_texts, dimension) float32, rows of unit length; raises ProviderError when a request fails."""
        parts: list[Vectors] = []
        for start in range(0, len(texts), BATCH_TEXTS):
            batch = [clean(text) or EMPTY for text in texts[start : start + BATCH_TEXTS]]
            parts.append(self._checked(self._asked(batch), len(batch)))
            if progress is not None:
                progress(len(batch))
        return np.concatenate(parts) if parts else np.empty((0, self.dimension), np.float32)

    def encode_query(self, text: str) -> Vectors:
        """(dimension,) float32 of unit length."""
        vector: Vectors = self.encode([text])[0]
        return vector

    @cached_property
    def _client(self) -> OpenAI:
        import openai

        # Servers on one's own machine want no key, the SDK wants a string.
        return openai.OpenAI(
            base_url=self._base_url,
            api_key=self._api_key or "none",
            timeout=self._timeout_seconds,
            max_retries=self._max_retries,
        )

    def _asked(self, batch: list[str]) -> list[tuple[int, list[float]]]:
        """Index and vector of every row of the reply."""
        client = self._client
        import openai

        try:
            # As numbers: several servers know no base64, which the SDK would ask for.
            reply = client.embeddings.create(model=self._model, input=batch, encoding_format="float")
            return [(int(row.index), [float(value) for value in row.embedding]) for row in reply.data]
        except openai.APITimeoutError as error:
            raise self._failed(f"no reply within {self._timeout_seconds:.0f} s", retryable=True) from error
        except openai.APIConnectionError as error:
            raise self._failed("cannot be reached", retryable=True) from error
        except openai.APIStatusError as error:
            retryable = error.status_code == 429 or error.status_code >= 500
            raise self._failed(f"answered with status {error.status_code}", retryable=retryable) from error
        except (openai.APIError, AttributeError, TypeError, ValueError) as error:
            raise self._failed("answered with something that is not a list of embeddings", retryable=True) from error

    def _checked(self, rows: list[tuple[int, list[float]]], expected: int) -> Vectors:
        """(expected, dimension), rows in the order asked and of unit length."""
        if sorted(index for index, _ in rows) != list(range(expected)):
            raise self._failed(f"answered with {len(rows)} vectors for {expected} texts", retryable=True)
        width = self._dimension or len(rows[0][1])
        for _, values in rows:
            if len(values) != width:
                what = f"answered with vectors of {len(values)} numbers, expected {width}"
                raise self._failed(what, retryable=False)
        vectors: Vectors = np.array([values for _, values in sorted(rows)], np.float32)
        lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
        if not np.all(np.isfinite(lengths)) or not np.all(lengths > 0):
            raise self._failed("answered with a vector that has no direction", retryable=False)
        vectors /= lengths
        self._dimension = width
        return vectors

    def _failed(self, what: str, *, retryable: bool) -> ProviderError:
        return ProviderError(
            what,
            subject=self.name,
            next_step="check the encoder's base_url, model, api_key and dimension",
            retryable=retryable,
        )


def clean(text: str) -> str:
    """The text without halves of surrogate pairs, which broken documents contain and JSON servers refuse."""
    return text.encode("utf-8", "replace").decode("utf-8")
