"""The bundled encoder: all-MiniLM-L6-v2 in int8, through ONNX Runtime and tokenizers and nothing else.

Texts are encoded one by one, as many at a time as there are threads. That is as fast as batching, because 192 tokens
already fill the integer products, and it makes a vector depend on its text alone: activations are quantised with one
scale per tensor, so in a batch the neighbours and the padding would change it.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import numpy as np

from thresher.errors import ModelError, UsageError
from thresher.models.onnx_model import Loaded, digest, encodable, load, usable_cores, weights_file

if TYPE_CHECKING:
    from thresher.protocols import Progress, Vectors

BUNDLED = Path(__file__).resolve().parent / "weights" / "all-MiniLM-L6-v2-int8"

MAX_TOKENS = 256  # what all-MiniLM-L6-v2 was tuned and published for, [CLS] and [SEP] included
DIMENSION = 384  # of all-MiniLM-L6-v2; a folder with another one says so when it is loaded
BLOCK_TEXTS = 256  # tokenised together: bounds what is held at once, and a block still keeps every thread busy

LongText = Literal["window", "truncate"]
Pieces = list[list[int]]
"""The token ids of one text, cut to what the model reads at once."""


@dataclass(slots=True)
class LongTexts:
    """How many texts were longer than `max_tokens` so far, by what was done with them."""

    windowed: int = 0
    truncated: int = 0


class BundledEncoder:
    """Texts to unit vectors with a model folder that holds model.onnx and tokenizer.json; mean pooling.

    `long_text` says what happens to a text of more than `MAX_TOKENS` tokens. "window" cuts it into pieces of nearly
    equal length and pools over the tokens of all of them, so that a piece weighs as much as it is long; "truncate"
    keeps the beginning. Either way it is counted in `long_texts`. The empty text is encoded like any other, as
    [CLS] [SEP].

    Safe to use from several threads. `threads` defaults to the cores this process may use.
    """

    def __init__(self, folder: Path = BUNDLED, *, long_text: LongText = "window", threads: int | None = None) -> None:
        if long_text not in ("window", "truncate"):
            raise UsageError("unknown way to read a long text", subject=long_text, next_step="use window or truncate")
        if threads is not None and threads < 1:
            raise UsageError("an encoder needs at least one thread", subject=str(threads))
        self._folder = Path(folder)
        self._long_text = long_text
        self._threads = threads or usable_cores()
        self._lock = threading.Lock()
        self._loaded: Loaded | None = None
        self.long_texts = LongTexts()

    @cached_property
    def name(self) -> str:
        """The folder's name and a hash of what decides the vectors; "+truncate" where long texts lose their end."""
        suffix = "+truncate" if self._long_text == "truncate" else ""
        return f"{self._folder.name}@{digest(self._file('model.onnx'), self._file('tokenizer.json'))}{suffix}"

    @property
    def dimension(self) -> int:
        """Numbers in a vector."""
        return DIMENSION

    @property
    def max_tokens(self) -> int:
        """Tokens read at once, [CLS] and [SEP] included."""
        return MAX_TOKENS

    def warm_up(self) -> None:
        """Loads the weights; raises ModelError when they are not there or cannot be read."""
        self._load()

    def encode(self, texts: Sequence[str], *, progress: Progress | None = None) -> Vectors:
        """(n_texts, dimension) float32, rows of unit length, in the order of the texts.

        A row is the same, bit for bit, whatever texts are encoded with it. `progress` gets the number of texts just
        finished, in this thread.
        """
        vectors = np.empty((len(texts), DIMENSION), np.float32)
        with self._pool(len(texts)) as pool:
            for start in range(0, len(texts), BLOCK_TEXTS):
                cut = self._cut(texts[start : start + BLOCK_TEXTS])
                # The longest first, so that no thread begins a long text when the others have nothing left to do.
                order = sorted(range(len(cut)), key=lambda row: -sum(map(len, cut[row])))
                encoded = (pool.map if pool else map)(self._vector, [cut[row] for row in order])
                for row, vector in zip(order, encoded, strict=True):
                    vectors[start + row] = vector
                    if progress is not None:
                        progress(1)
        return vectors

    def encode_query(self, text: str) -> Vectors:
        """(dimension,) float32 of unit length; the same as `encode([text])[0]`."""
        return self._vector(self._cut([text])[0])

    def _vector(self, pieces: Pieces) -> Vectors:
        """Mean over the tokens of all pieces, scaled to length 1."""
        loaded = self._load()
        total = np.zeros(DIMENSION, np.float32)
        for piece in pieces:
            ids = np.array([[loaded.first, *piece, loaded.last]], np.int64)
            (hidden,) = loaded.session.run(None, {"input_ids": ids, "attention_mask": np.ones_like(ids)})
            total += hidden[0].sum(axis=0)
        return total / np.float32(np.linalg.norm(total))

    def _cut(self, texts: Sequence[str]) -> list[Pieces]:
        """The pieces of each text, at least one; counts the texts that needed more than one."""
        clean = [encodable(text) for text in texts]
        encodings = self._load().tokenizer.encode_batch_fast(clean, add_special_tokens=False)
        cut = [windows(encoding.ids, MAX_TOKENS - 2) for encoding in encodings]
        long = sum(len(pieces) > 1 for pieces in cut)
        if self._long_text == "window":
            with self._lock:
                self.long_texts.windowed += long
            return cut
        with self._lock:
            self.long_texts.truncated += long
        return [[encoding.ids[: MAX_TOKENS - 2]] for encoding in encodings]

    @contextmanager
    def _pool(self, n_texts: int) -> Iterator[ThreadPoolExecutor | None]:
        """Threads for that many texts; None where one is enough."""
        threads = min(self._threads, n_texts)
        if threads < 2:
            yield None
            return
        with ThreadPoolExecutor(threads, thread_name_prefix="encoder") as pool:
            yield pool

    def _load(self) -> Loaded:
        if self._loaded is None:
            with self._lock:
                self._loaded = self._loaded or self._opened()
        return self._loaded

    def _opened(self) -> Loaded:
        model = self._file("model.onnx")
        loaded = load(model, self._file("tokenizer.json"))
        width = loaded.session.get_outputs()[0].shape[-1]
        if width != DIMENSION:
            raise ModelError(f"gives {width} numbers, expected {DIMENSION}", subject=str(model))
        return loaded

    def _file(self, name: str) -> Path:
        return weights_file(self._folder, name, "tools/export_encoder.py")


def windows(ids: list[int], most: int) -> Pieces:
    """`ids` cut into as few pieces of at most `most` as possible, their lengths differing by one at most."""
    count = max(1, -(-len(ids) // most))
    bounds = [len(ids) * number // count for number in range(count + 1)]
    return [ids[start:end] for start, end in pairwise(bounds)]
