"""Static vectors: a text's is the sum of one vector a token, fitted to what the bundled encoder gives for whole texts.

Questions are read by the encoder itself, put in the same directions. `research/static_encoder.py` makes the table.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from thresher.deadline import watch
from thresher.models.encoders import BLOCK_TEXTS, BUNDLED, EncoderWrapper, bundled_tokenizer
from thresher.models.running import damaged, digest, encodable, weights_file
from thresher.protocols import Encoder, Progress

if TYPE_CHECKING:
    from thresher.types import Vectors

TABLE = BUNDLED.parent / "static.npz"


class StaticEncoder(EncoderWrapper):
    """Texts by the table, questions by `encoder`, which the table was fitted to. Safe to use from several threads."""

    tool = "research/static_encoder.py"

    def __init__(self, encoder: Encoder, file: Path = TABLE) -> None:
        self.encoder = encoder
        self._file = file

    @cached_property
    def name(self) -> str:
        """The file's name and a hash of it."""
        return f"{self._file.stem}@{digest(weights_file(self._file.parent, self._file.name, self.tool))}"

    @property
    def dimension(self) -> int:
        """Directions of the encoder's vectors that are kept."""
        return int(self._directions.shape[1])

    def encode(self, texts: Sequence[str], *, progress: Progress | None = None) -> Vectors:
        """(n_texts, dimension) float32, rows of unit length; a row is the same whatever texts are encoded with it."""
        allow, table = watch(), self._table
        vectors = np.empty((len(texts), self.dimension), np.float32)
        for start in range(0, len(texts), BLOCK_TEXTS):
            allow()
            block = [encodable(text) for text in texts[start : start + BLOCK_TEXTS]]
            cut = bundled_tokenizer().encode_batch_fast(block, add_special_tokens=False)
            for row, one in enumerate(cut):
                total = table[one.ids].sum(axis=0)
                length = np.linalg.norm(total)
                vectors[start + row] = total / length if length else self.encode_query(block[row])
            if progress is not None:
                progress(len(block))
        return vectors

    def encode_query(self, text: str) -> Vectors:
        """(dimension,) float32 of unit length: the encoder's vector in these directions."""
        vector = self.encoder.encode_query(text) @ self._directions
        return vector / np.float32(np.linalg.norm(vector))

    def warm_up(self) -> None:
        """Load the weights of both now."""
        self.encoder.warm_up()
        _ = self._table, self._directions

    @cached_property
    def _directions(self) -> Vectors:
        """(dimension of the encoder, dimension)."""
        return self._read("directions").astype(np.float32)

    @cached_property
    def _table(self) -> Vectors:
        """(tokens, dimension)."""
        return self._read("tokens") * self._read("scales").astype(np.float32)[:, None]

    def _read(self, name: str) -> Vectors:
        try:
            with np.load(self._file) as stored:
                found: Vectors = stored[name]
                return found
        except (ValueError, KeyError, OSError) as error:
            raise damaged(self._file, error) from error
