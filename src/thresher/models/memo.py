"""An encoder that remembers the texts it has just read: judge, strips and reader see the same sentences."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from thresher.models.around import EncoderAround
from thresher.protocols import Encoder, Progress

if TYPE_CHECKING:
    from thresher.protocols import Vectors

REMEMBERED_TEXTS = 20_000
"""About 40 MB with 384 dimensions and sentences of 200 characters: the sentences of a few hundred questions."""


@dataclass
class RememberingEncoder(EncoderAround):
    """The same vectors as `encoder`'s; the least recently used text is forgotten first. Safe with several threads."""

    encoder: Encoder
    most: int = REMEMBERED_TEXTS
    _known: OrderedDict[tuple[bool, str], Vectors] = field(default_factory=OrderedDict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def encode(self, texts: Sequence[str], *, progress: Progress | None = None) -> Vectors:
        """(n_texts, dimension) float32, rows of unit length; a text that stands twice is read once."""
        import numpy as np

        found = {text: self._recalled((False, text)) for text in texts}
        new = [text for text, vector in found.items() if vector is None]
        if new:
            for text, vector in zip(new, self.encoder.encode(new, progress=progress), strict=True):
                found[text] = vector
                self._remember((False, text), vector)
        rows = [found[text] for text in texts]
        return np.stack(rows) if rows else np.zeros((0, self.dimension), np.float32)  # type: ignore[arg-type]

    def encode_query(self, text: str) -> Vectors:
        """(dimension,) float32 of unit length."""
        vector = self._recalled((True, text))
        if vector is None:
            vector = self.encoder.encode_query(text)
            self._remember((True, text), vector)
        return vector

    def _recalled(self, key: tuple[bool, str]) -> Vectors | None:
        with self._lock:
            vector = self._known.get(key)
            if vector is not None:
                self._known.move_to_end(key)
            return vector

    def _remember(self, key: tuple[bool, str], vector: Vectors) -> None:
        with self._lock:
            self._known[key] = vector
            while len(self._known) > self.most:
                self._known.popitem(last=False)
