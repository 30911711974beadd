"""Cross-encoders: any that fastembed loads, by name or from a folder, and any endpoint of Cohere's `/rerank` form."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from thresher.errors import ModelError, ProviderError
from thresher.models.onnx import Loaded, digest, encodable, load, usable_cores, weights_file
from thresher.models.usage import Meter, without_password
from thresher.types import LOGIT, UNIT, Reading, Score

if TYPE_CHECKING:
    import tokenizers
    from numpy.typing import NDArray

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


# --- the bundled judge: a small cross-encoder with three heads, in int8, through ONNX Runtime and tokenizers ----------


BUNDLED_JUDGE = Path(__file__).resolve().parent / "weights" / "thresher-judge-int8"

MAX_TOKENS = 256  # question, title and text together; trained at 144 and measured at both
QUESTION_TOKENS, TITLE_TOKENS = 64, 16  # of longer ones the beginning is read
OVERLAP_TOKENS = 32  # shared by two windows of a long text, so that an answer is whole in one of them
SPAN_TOKENS = 30  # of an answer at most: 20 words
REMEMBERED = 4096  # readings: the chunks and sentences of a few questions, which several parts read again


class BundledJudge:
    """Questions and texts to readings, with a folder that holds onnx/model.onnx and tokenizer.json.

    A text of more than `MAX_TOKENS` tokens is read in windows that overlap: the most relevant one counts. Safe to use
    from several threads; `threads` defaults to the cores this process may use.
    """

    def __init__(self, folder: Path = BUNDLED_JUDGE, *, threads: int | None = None) -> None:
        self._folder = Path(folder)
        self._threads = threads or usable_cores()
        self._lock = threading.Lock()
        self._loaded: Loaded | None = None
        self._known: OrderedDict[tuple[str, str, str], Reading] = OrderedDict()

    @cached_property
    def name(self) -> str:
        """The folder's name and a hash of what decides the readings."""
        return f"{self._folder.name}@{digest(self._file('onnx/model.onnx'), self._file('tokenizer.json'))}"

    def warm_up(self) -> None:
        """Loads the weights; raises ModelError when they are not there or cannot be read."""
        self._load()

    def __call__(self, question: str, texts: Sequence[str]) -> list[Score]:
        """One logit per text, in their order."""
        return [Score(reading.relevance, LOGIT) for reading in self.read(question, texts)]

    def read(self, question: str, texts: Sequence[str], titles: Sequence[str] | None = None) -> list[Reading]:
        """One reading per text, in their order; a title is read before its text and holds no answer."""
        keys = [(question, title, text) for title, text in zip(titles or [""] * len(texts), texts, strict=True)]
        with self._lock:
            known = {key: self._known[key] for key in keys if key in self._known}
        new = [key for key in dict.fromkeys(keys) if key not in known]
        if len(new) > 1 and self._threads > 1:
            with ThreadPoolExecutor(min(self._threads, len(new)), thread_name_prefix="judge") as pool:
                known |= zip(new, pool.map(self._read, new), strict=True)
        else:
            known |= {key: self._read(key) for key in new}
        with self._lock:
            for key in keys:
                self._known[key] = known[key]
                self._known.move_to_end(key)
            while len(self._known) > REMEMBERED:
                self._known.popitem(last=False)
        return [known[key] for key in keys]

    def _read(self, key: tuple[str, str, str]) -> Reading:
        question, title, text = (encodable(part) for part in key)
        loaded = self._load()
        asked = _tokens(loaded.tokenizer, question).ids[:QUESTION_TOKENS]
        above = _tokens(loaded.tokenizer, title).ids[:TITLE_TOKENS] if title else []
        body = _tokens(loaded.tokenizer, text)
        head = [loaded.first, *asked, loaded.last]
        room = MAX_TOKENS - len(head) - len(above) - 1
        readings = []
        for start, end in _windows(len(body.ids), room):
            ids = np.array([[*head, *above, *body.ids[start:end], loaded.last]], np.int64)
            types = np.zeros_like(ids)
            types[:, len(head) :] = 1
            inputs = {"input_ids": ids, "attention_mask": np.ones_like(ids), "token_type_ids": types}
            logits, support, spans = loaded.session.run(["logits", "support", "spans"], inputs)
            first = len(head) + len(above)
            place = _best_span(spans[0, first : first + end - start], body.offsets[start:end])
            readings.append(Reading(float(logits[0, 0]), float(support[0, 0]), *place))
        return max(readings, key=lambda reading: reading.relevance)

    def _load(self) -> Loaded:
        if self._loaded is None:
            with self._lock:
                self._loaded = self._loaded or load(self._file("onnx/model.onnx"), self._file("tokenizer.json"))
        return self._loaded

    def _file(self, name: str) -> Path:
        return weights_file(self._folder, name, "tools/export_judge.py")


def _tokens(tokenizer: tokenizers.Tokenizer, text: str) -> tokenizers.Encoding:
    return tokenizer.encode(text, add_special_tokens=False)


def _windows(count: int, room: int) -> list[tuple[int, int]]:
    """Begin and end of as few windows as cover the tokens with the overlap; one for an empty text."""
    if count <= room:
        return [(0, count)]
    pieces = -(-(count - OVERLAP_TOKENS) // (room - OVERLAP_TOKENS))
    last = count - room
    starts = [last * piece // (pieces - 1) for piece in range(pieces)]
    return [(start, start + room) for start in starts]


def _best_span(logits: NDArray[np.float32], offsets: Sequence[tuple[int, int]]) -> tuple[int, int, float]:
    """Begin, end (code points) and probability of the likeliest place of at most `SPAN_TOKENS` tokens."""
    if not len(logits):
        return 0, 0, 0.0
    shares = logits - logits.max(axis=0)
    shares = np.exp(shares) / np.exp(shares).sum(axis=0)
    joint = np.tril(np.triu(np.outer(shares[:, 0], shares[:, 1])), SPAN_TOKENS - 1)
    first, last = divmod(int(joint.argmax()), joint.shape[1])
    return offsets[first][0], offsets[last][1], float(joint[first, last])
