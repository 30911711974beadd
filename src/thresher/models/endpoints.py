"""Encoders and cross-encoders behind an address: `/v1/embeddings` of OpenAI's form, `/rerank` of Cohere's.

Every fault of a server is a ProviderError that states whether a retry may help. The chat model is in `chat`.
"""

from __future__ import annotations

import json
from base64 import b64decode, b64encode
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass
from math import inf
from time import monotonic
from typing import TYPE_CHECKING, Any

import numpy as np

from thresher.deadline import ends, until
from thresher.errors import ProviderError, without_password
from thresher.models.encoders import EncoderWrapper
from thresher.models.replies import SPARE_BYTES, number, parsed
from thresher.models.running import encodable
from thresher.models.transport import PAUSES_SECONDS, Server, paused, what_happened
from thresher.models.usage import Exchanges, Meter
from thresher.net import Bounds, NotFetched
from thresher.types import LOGIT, UNIT, Score

if TYPE_CHECKING:
    from thresher.protocols import Encoder, Progress
    from thresher.types import Vectors

SCALES = {scale.name: scale for scale in (LOGIT, UNIT)}  # that a reranker's scores may have

LONGEST_PAUSE_SECONDS = 60.0  # that a server may ask for (Retry-After), as long as OpenAI's SDK waits for one
BATCH_TEXTS = 64  # of 200 tokens stay far below OpenAI's limits (2,048 texts, 300,000 tokens a request)
USUAL_TOKENS = 512  # what most encoders that people serve themselves read; hosted ones read more
NUMBER_BYTES = 40  # of a vector: -0.012345678901234567 with its comma, on a line of its own
WIDEST = 16_384  # numbers of a vector while it is not known: the widest that were published have 12,288
RESULT_BYTES = 1_000  # of a ranking, besides the text, which some servers send back
EMPTY = " "  # what stands for the empty text, which OpenAI refuses


class EndpointEncoder:
    """One embedding model of one server; the connection is made at the first call.

    `max_tokens` is the input limit of the server's model, which the protocol does not report. The server refuses
    (ProviderError) or cuts a longer text; its tokenizer is not available here. A reply whose vectors are not of
    `dimension` numbers is an error; left out, the first reply decides it. Vectors are scaled to unit length.
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
        pauses: Sequence[float] = PAUSES_SECONDS,
    ) -> None:
        self._base_url = base_url
        self._server = Server(base_url, api_key)
        self._model = model
        self._dimension = dimension
        self.max_tokens = max_tokens
        self._timeout_seconds = timeout_seconds
        self._pauses = tuple(pauses)

    @property
    def name(self) -> str:
        """Model and server; the weights behind them cannot be seen."""
        return f"{self._model} at {without_password(self._base_url)}"

    @property
    def dimension(self) -> int:
        """Numbers in a vector, as configured; else the server is asked for one to count."""
        if self._dimension is None:
            self.warm_up()
        assert self._dimension is not None, "a checked reply has decided it"
        return self._dimension

    def warm_up(self) -> None:
        """Asks for one vector, so that a wrong address, key, model or dimension shows now."""
        self.encode_query("ready?")

    def encode(self, texts: Sequence[str], *, progress: Progress | None = None) -> Vectors:
        """(n_texts, dimension) float32, rows of unit length; raises ProviderError when a request fails."""
        parts: list[Vectors] = []
        for start in range(0, len(texts), BATCH_TEXTS):
            batch = [encodable(text) or EMPTY for text in texts[start : start + BATCH_TEXTS]]
            parts.append(self._checked(self._asked(batch), len(batch)))
            if progress is not None:
                progress(len(batch))
        return np.concatenate(parts) if parts else np.empty((0, self.dimension), np.float32)

    def encode_query(self, text: str) -> Vectors:
        """(dimension,) float32 of unit length."""
        vector: Vectors = self.encode([text])[0]
        return vector

    def _asked(self, batch: list[str]) -> list[tuple[int, list[float]]]:
        """Index and vector of every row of the reply, asked for again after a pause where a failure may pass."""
        pauses = iter(self._pauses)
        max_bytes = SPARE_BYTES + NUMBER_BYTES * len(batch) * (self._dimension or WIDEST)
        sent = {"model": self._model, "input": batch, "encoding_format": "float"}  # several servers know no base64
        while True:
            seconds = min(self._timeout_seconds, max(ends() - monotonic(), 0.001))
            try:
                with self._server.asked("/embeddings", sent, Bounds(monotonic() + seconds, max_bytes)) as pieces:
                    rows = parsed(pieces)["data"]
                    return [(int(number(row["index"])), [number(value) for value in row["embedding"]]) for row in rows]
            except NotFetched as error:
                if not paused(error, pauses, ends() - monotonic(), longest=LONGEST_PAUSE_SECONDS):
                    what = what_happened(error, seconds, "a list of embeddings")
                    raise self._failed(what, retryable=error.may_pass) from error

    def _checked(self, rows: list[tuple[int, list[float]]], expected: int) -> Vectors:
        """(expected, dimension), rows in the order asked and of unit length."""
        if sorted(index for index, _ in rows) != list(range(expected)):
            raise self._failed(f"answered with {len(rows)} vectors for {expected} texts", retryable=True)
        width = self._dimension or len(rows[0][1])
        for _, values in rows:
            if len(values) != width:
                what = f"answered with vectors of {len(values)} numbers, expected {width}"
                raise self._failed(what, retryable=False)
        with np.errstate(over="ignore"):  # what is too large has no direction
            vectors: Vectors = np.array([values for _, values in sorted(rows)]).astype(np.float32)
            lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
        if not np.all(np.isfinite(lengths)) or not np.all(lengths > 0):
            raise self._failed("answered with a vector that has no direction", retryable=False)
        vectors /= lengths
        self._dimension = width
        return vectors

    def _failed(self, what: str, *, retryable: bool) -> ProviderError:
        next_step = "check the encoder's base_url, model, api_key and dimension"
        return ProviderError(what, subject=self.name, next_step=next_step, retryable=retryable)


@dataclass(frozen=True, slots=True)
class QuestionEncoder(EncoderWrapper):
    """An endpoint's encoder during one question: its host is counted, its vectors are part of the question's record."""

    encoder: Encoder
    url: str
    meter: Meter
    exchanges: Exchanges

    def encode(self, texts: Sequence[str], *, progress: Progress | None = None) -> Vectors:
        """(n_texts, dimension) float32, rows of unit length."""
        if not texts:  # nothing is sent
            return self.encoder.encode(texts)
        vectors = self._recalled("encode", texts, lambda: self.encoder.encode(texts, progress=progress))
        return vectors.reshape(len(texts), -1)

    def encode_query(self, text: str) -> Vectors:
        """(dimension,) float32 of unit length."""
        return self._recalled("encode query", [text], lambda: self.encoder.encode_query(text))

    def _recalled(self, what: str, texts: Sequence[str], encode: Callable[[], Vectors]) -> Vectors:
        def make() -> Vectors:
            self.meter.allow_waiting()
            self.meter.visit(self.url)
            left = self.meter.seconds_left
            try:
                with until(inf if left is None else monotonic() + left):
                    return encode()
            except ProviderError:
                self.meter.allow_waiting()  # what the budget ended is no failure of the server
                raise

        return self.exchanges.recall(
            [what, self.name, *texts],
            make,
            write=lambda vectors: b64encode(vectors.astype("<f4").tobytes()).decode("ascii"),
            read=lambda text: np.frombuffer(b64decode(text), dtype="<f4").astype(np.float32),
            meter=self.meter,
        )


@dataclass(frozen=True)
class EndpointCrossEncoder:
    """A server that takes `{model, query, documents, top_n}` and returns `results: [{index, relevance_score}]`."""

    url: str
    meter: Meter
    model: str = ""
    api_key: str | None = None
    exchanges: Exchanges | None = None  # records the scores with the question, or plays them back
    timeout_seconds: float = 30.0

    @property
    def name(self) -> str:
        """Model and address."""
        return f"{self.model or 'reranker'} at {without_password(self.url)}"

    def __call__(self, question: str, texts: Sequence[str]) -> list[Score]:
        """One relevance per text, in their order. Raises ProviderError, or BudgetSpent before the call."""
        if not texts:
            return []
        if self.exchanges is None:
            return self._ranked(question, texts)
        return self.exchanges.recall(
            ["rank", self.name, question, *texts],
            lambda: self._ranked(question, texts),
            write=lambda scores: json.dumps([[score.value, score.scale.name] for score in scores]),
            read=lambda text: [Score(value, SCALES[name]) for value, name in json.loads(text)],
            meter=self.meter,
        )

    def _ranked(self, question: str, texts: Sequence[str]) -> list[Score]:
        body = {"model": self.model, "query": question, "documents": list(texts), "top_n": len(texts)}
        self.meter.allow_waiting()
        self.meter.visit(self.url)
        seconds = self.meter.seconds_within(self.timeout_seconds)
        most_bytes = SPARE_BYTES + RESULT_BYTES * len(texts) + len(json.dumps(body))
        server = Server(self.url, self.api_key)
        self.meter.on_cancel(server.end)
        try:
            with closing(server), server.asked("", body, Bounds(monotonic() + seconds, most_bytes)) as pieces:
                return _scores(parsed(pieces), len(texts))
        except NotFetched as error:
            what = what_happened(error, seconds, "a ranking of all texts")
            next_step = "check rerank and rerank_api_key"
            raise ProviderError(what, subject=self.name, next_step=next_step, retryable=error.may_pass) from error


def _scores(reply: Any, texts: int) -> list[Score]:
    """Scores by the index each result names; every text must be scored exactly once.

    Cohere's form promises 0..1; some servers send the model's logits instead, which are labelled so.
    """
    values = {int(number(item["index"])): number(item["relevance_score"]) for item in reply["results"]}
    if sorted(values) != list(range(texts)) or len(reply["results"]) != texts:
        raise ValueError("not every text was scored exactly once")
    scale = UNIT if all(0.0 <= value <= 1.0 for value in values.values()) else LOGIT
    return [Score(values[at], scale) for at in range(texts)]
