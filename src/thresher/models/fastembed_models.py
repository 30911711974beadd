"""Encoders and cross-encoders that fastembed loads, by the name of a published model."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from thresher.errors import MissingExtra, ModelError, UnknownSetting
from thresher.models.running import ON_CPU, encodable, without_telemetry
from thresher.types import LOGIT, Score

if TYPE_CHECKING:
    from fastembed import TextEmbedding
    from tokenizers import Tokenizer

    from thresher.protocols import Progress
    from thresher.types import Vectors

BATCH_TEXTS = 4  # sorted by length, small batches lose little to padding: 52 texts/s, where batches of 32 gave 38
BLOCK_TEXTS = 256  # tokenised, sorted and encoded together: bounds what is held at once


class FastembedEncoder:
    """Texts to unit vectors with fastembed; a text of more than `max_tokens` tokens is windowed and its pieces pooled.

    Windows are pooled as unit vectors weighted by their tokens, since not every model offers its vectors per token. A
    batch shares padding and quantisation scale: a short text's vector can be at a cosine of 0.99 from its vector alone.
    The same list gives the same vectors.
    """

    def __init__(self, name: str) -> None:
        """`name` is one that fastembed lists."""
        self.name = name
        self._lock = threading.Lock()

    @property
    def dimension(self) -> int:
        """Numbers in a vector, as fastembed lists it."""
        return int(self._description["dim"])

    @property
    def max_tokens(self) -> int:
        """Tokens read at once; loads the model, whose files state it."""
        truncation = self._tokenizer.truncation
        assert truncation is not None, "a tokenizer without one is refused"
        return int(truncation["max_length"])

    def warm_up(self) -> None:
        """Loads the model, fetching it when it is not here yet; ModelError when that fails."""
        _ = self._loaded

    def encode(self, texts: Sequence[str], *, progress: Progress | None = None) -> Vectors:
        """(n_texts, dimension) float32, rows of unit length, in the order of the texts."""
        vectors = np.zeros((len(texts), self.dimension), np.float32)
        for start in range(0, len(texts), BLOCK_TEXTS):
            block = texts[start : start + BLOCK_TEXTS]
            self._encode_block(block, vectors[start : start + len(block)])
            if progress is not None:
                progress(len(block))
        return vectors

    def encode_query(self, text: str) -> Vectors:
        """(dimension,) float32 of unit length; with the model's own prefix for queries where it has one."""
        if len(self._spans(encodable(text))) > 1:
            pooled: Vectors = self.encode([text])[0]
            return pooled
        vector: Vectors = np.array(next(iter(self._loaded.query_embed(encodable(text)))), np.float32)
        vector /= np.linalg.norm(vector)
        return vector

    def _encode_block(self, texts: Sequence[str], vectors: Vectors) -> None:
        """Fills `vectors`, one row per text."""
        pieces = []
        for row, text in enumerate(map(encodable, texts)):
            pieces += [(row, text[start:end], tokens) for start, end, tokens in self._spans(text)]
        pieces.sort(key=lambda piece: -piece[2])
        embedded = self._loaded.passage_embed([text for _, text, _ in pieces], batch_size=BATCH_TEXTS)
        for (row, _, tokens), vector in zip(pieces, embedded, strict=True):
            vectors[row] += tokens * np.asarray(vector, np.float32) / np.float32(np.linalg.norm(vector))
        vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)

    def _spans(self, text: str) -> list[tuple[int, int, int]]:
        """First character, end and number of tokens of each piece of the text, cut at the model's length."""
        encoding = self._tokenizer.encode(text)
        if not encoding.overflowing:
            return [(0, len(text), sum(encoding.attention_mask))]
        spans = []
        for window in (encoding, *encoding.overflowing):
            # Special tokens and padding stand for no characters: their offsets are (0, 0).
            offsets = [offset for offset in window.offsets if offset[1] > offset[0]]
            if offsets:
                spans.append((offsets[0][0], offsets[-1][1], len(offsets)))
        return spans

    @cached_property
    def _description(self) -> dict[str, Any]:
        """What fastembed knows of the model before loading it."""
        known: dict[str, dict[str, Any]] = {entry["model"]: entry for entry in text_embedding().list_supported_models()}
        for name, entry in known.items():
            if name.lower() == self.name.lower():
                return entry
        raise UnknownSetting(self.name, known, kind="encoder model or folder")

    @property
    def _loaded(self) -> TextEmbedding:
        with self._lock:
            return self._model_in_memory

    @cached_property
    def _model_in_memory(self) -> TextEmbedding:
        name = str(self._description["model"])
        try:
            return text_embedding()(name, providers=ON_CPU)
        except Exception as error:  # whatever the hub's client and ONNX Runtime raise becomes one line here
            next_step = "check the name and that a model hub can be reached, or give a folder"
            raise _not_loaded(error, f"encoder {self.name}", next_step) from error

    @property
    def _tokenizer(self) -> Tokenizer:
        tokenizer: Tokenizer | None = getattr(self._loaded.model, "tokenizer", None)
        if tokenizer is None or tokenizer.truncation is None:
            raise ModelError(
                "has no tokenizer that states a length, so too long texts would go unnoticed",
                subject=f"encoder {self.name}",
                next_step="choose another encoder",
            )
        return tokenizer


def text_embedding() -> type[TextEmbedding]:
    """Fastembed's class, imported when it is needed. Raises MissingExtra."""
    without_telemetry()
    try:
        from fastembed import TextEmbedding
    except ModuleNotFoundError as error:
        raise MissingExtra("fastembed", extra="fastembed") from error
    return TextEmbedding  # type: ignore[no-any-return]


def _not_loaded(error: Exception, subject: str, next_step: str) -> ModelError:
    detail = (str(error).splitlines() or ["no detail"])[0]
    return ModelError(f"cannot be loaded ({type(error).__name__}: {detail})", subject=subject, next_step=next_step)


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
        without_telemetry()
        try:
            from fastembed.rerank.cross_encoder import TextCrossEncoder
        except ModuleNotFoundError as error:
            raise MissingExtra("fastembed", extra="fastembed") from error

        folder = Path(self.model)
        try:
            if folder.is_dir():
                base = "Xenova/ms-marco-MiniLM-L-6-v2"  # its loading code takes a folder with onnx/model.onnx
                return TextCrossEncoder(base, providers=ON_CPU, specific_model_path=str(folder))
            return TextCrossEncoder(self.model, providers=ON_CPU)
        except Exception as error:  # fastembed raises whatever its hub client does: turned into one line here
            next_step = "give a folder with onnx/model.onnx and tokenizer.json, a name fastembed lists, or none"
            raise _not_loaded(error, f"reranker {self.model}", next_step) from error

    def __call__(self, question: str, texts: Sequence[str]) -> list[Score]:
        """One logit per text, in their order."""
        if not texts:
            return []
        return [Score(float(value), LOGIT) for value in self._loaded.rerank(question, list(texts))]
