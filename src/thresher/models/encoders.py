"""The bundled encoder: all-MiniLM-L6-v2 in int8, through ONNX Runtime and tokenizers and nothing else; wrappers.

Texts are encoded one by one, a text for each thread. That is as fast as batching, because 192 tokens already fill the
integer products, and a vector depends on its text alone: in a batch the neighbours and the padding would change the one
scale of a tensor's quantised activations.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, cached_property, partial
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from thresher.deadline import Allow, watch
from thresher.errors import ModelError, UsageError
from thresher.models.running import (
    LeastRecentlyUsed,
    Loaded,
    WeightsFolder,
    encodable,
    load_tokenizer,
    run_each,
    weights_file,
)
from thresher.protocols import Encoder, Progress

if TYPE_CHECKING:
    import tokenizers

    from thresher.types import Vectors

BUNDLED = Path(__file__).resolve().parent / "weights" / "all-MiniLM-L6-v2-int8"

MAX_TOKENS = 256  # what all-MiniLM-L6-v2 was tuned and published for, [CLS] and [SEP] included
DIMENSION = 384  # of all-MiniLM-L6-v2; a folder with another one says so when it is loaded
BLOCK_TEXTS = 256  # tokenised together: bounds what is held at once, and a block still keeps every thread busy

Pieces = list[list[int]]  # the token ids of one text, cut to what the model reads at once


class BundledEncoder(WeightsFolder):
    """Texts to unit vectors with a folder as that of all-MiniLM-L6-v2: model.onnx and tokenizer.json; mean pooling.

    A text of more than `MAX_TOKENS` tokens is cut into pieces of nearly equal length and pooled over the tokens of all
    of them, so that a piece weighs as much as it is long. The empty text is encoded like any other, as [CLS] [SEP].
    """

    model_file, tool = "model.onnx", "research/export_encoder.py"
    dimension = DIMENSION
    max_tokens = MAX_TOKENS

    def __init__(self, folder: Path = BUNDLED, *, threads: int | None = None) -> None:
        if threads is not None and threads < 1:
            raise UsageError("an encoder needs at least one thread", subject=str(threads))
        super().__init__(folder, threads)

    def encode(self, texts: Sequence[str], *, progress: Progress | None = None) -> Vectors:
        """(n_texts, dimension) float32, rows of unit length, in the order of the texts.

        A row is the same, bit for bit, whatever texts are encoded with it. `progress` gets the number of texts just
        finished, in this thread. Raises BudgetSpent between two texts when the question's seconds are over.
        """
        encode = partial(self._vector, allow=watch())
        vectors = np.empty((len(texts), DIMENSION), np.float32)
        for start in range(0, len(texts), BLOCK_TEXTS):
            cut = self._cut(texts[start : start + BLOCK_TEXTS])
            # The longest first, so that no thread begins a long text when the others have nothing left to do.
            order = sorted(range(len(cut)), key=lambda row: -sum(map(len, cut[row])))
            encoded = run_each(encode, [cut[row] for row in order], threads=self._threads, progress=progress)
            for row, vector in zip(order, encoded, strict=True):
                vectors[start + row] = vector
        return vectors

    def encode_query(self, text: str) -> Vectors:
        """(dimension,) float32 of unit length; the same as `encode([text])[0]`."""
        return self._vector(self._cut([text])[0], watch())

    def _vector(self, pieces: Pieces, allow: Allow) -> Vectors:
        """Mean over the tokens of all pieces, scaled to length 1."""
        allow()
        loaded = self._load()
        total = np.zeros(DIMENSION, np.float32)
        for piece in pieces:
            ids = np.array([[loaded.first, *piece, loaded.last]], np.int64)
            known = {"input_ids": ids, "attention_mask": np.ones_like(ids), "token_type_ids": np.zeros_like(ids)}
            hidden, *_ = loaded.session.run(None, {one.name: known[one.name] for one in loaded.session.get_inputs()})
            total += hidden[0].sum(axis=0)
        return total / np.float32(np.linalg.norm(total))

    def _cut(self, texts: Sequence[str]) -> list[Pieces]:
        """The pieces of each text, at least one."""
        clean = [encodable(text) for text in texts]
        encodings = self._load().tokenizer.encode_batch_fast(clean, add_special_tokens=False)
        return [token_windows(encoding.ids, MAX_TOKENS - 2) for encoding in encodings]

    def _opened(self) -> Loaded:
        loaded = super()._opened()
        width = loaded.session.get_outputs()[0].shape[-1]
        if width != DIMENSION:
            raise ModelError(
                f"gives {width} numbers, expected {DIMENSION}", subject=str(self._folder / self.model_file)
            )
        return loaded


def token_windows(ids: list[int], most: int) -> Pieces:
    """`ids` cut into as few pieces of at most `most` as possible, their lengths differing by one at most."""
    count = max(1, -(-len(ids) // most))
    bounds = [len(ids) * number // count for number in range(count + 1)]
    return [ids[start:end] for start, end in pairwise(bounds)]


class EncoderWrapper:
    """Name, dimension, tokens and weights of `encoder`; the subclass encodes."""

    encoder: Encoder

    @property
    def name(self) -> str:
        """Of the encoder."""
        return self.encoder.name

    @property
    def dimension(self) -> int:
        """Of the encoder."""
        return self.encoder.dimension

    @property
    def max_tokens(self) -> int:
        """Of the encoder."""
        return self.encoder.max_tokens

    def warm_up(self) -> None:
        """Load the weights now instead of at the first use."""
        self.encoder.warm_up()


REMEMBERED_TEXTS = 20_000  # 40 MB with 384 dimensions and sentences of 200 characters: a few hundred questions


@dataclass
class RememberingEncoder(EncoderWrapper):
    """The same vectors as `encoder`'s; the least recently used text is forgotten first. Safe with several threads."""

    encoder: Encoder
    most: int = REMEMBERED_TEXTS

    @cached_property
    def _known(self) -> LeastRecentlyUsed[tuple[bool, str], Vectors]:
        return LeastRecentlyUsed(self.most)

    def encode(self, texts: Sequence[str], *, progress: Progress | None = None) -> Vectors:
        """(n_texts, dimension) float32, rows of unit length; a text that stands twice is read once."""
        if not texts:
            return self.encoder.encode(texts)
        known = self._known.get([(False, text) for text in texts])
        new = [text for text in dict.fromkeys(texts) if (False, text) not in known]
        if new:
            vectors = self.encoder.encode(new, progress=progress)
            known |= {(False, text): vector for text, vector in zip(new, vectors, strict=True)}
        self._known.put(known)
        rows: Vectors = np.stack([known[False, text] for text in texts])
        return rows

    def encode_query(self, text: str) -> Vectors:
        """(dimension,) float32 of unit length."""
        known = self._known.get([(True, text)]) or {(True, text): self.encoder.encode_query(text)}
        self._known.put(known)
        return known[True, text]


@cache
def bundled_tokenizer() -> tokenizers.Tokenizer:
    """That of the bundled models."""
    return load_tokenizer(weights_file(BUNDLED, "tokenizer.json", "tools"))


def is_word(word: str) -> bool:
    """Whether a word is a piece of its own for the bundled tokenizer, which has those that many texts have."""
    return bundled_tokenizer().token_to_id(word) is not None


def token_count(text: str) -> int:
    """Tokens of a text, counted as the bundled encoder cuts words (WordPiece, 30,522 pieces). Raises ModelError.

    The tokenizers of chat models differ from it by some 10 to 20 % for English prose, by more for code, numbers and
    other languages: leave so much room where a limit is hard. White space always ends a token.
    """
    return len(bundled_tokenizer().encode(encodable(text), add_special_tokens=False).ids)
