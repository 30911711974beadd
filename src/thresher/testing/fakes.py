"""Public deterministic doubles: a hash encoder, a scripted chat model, a word-overlap cross-encoder.

For tests, documentation and trying things out; none of them is a model of anything.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from threading import Lock
from typing import TYPE_CHECKING, Any

from thresher.protocols import Progress
from thresher.text.numbers import missing_quantity
from thresher.text.terms import term_set
from thresher.types import UNIT, Score, SupportReading

if TYPE_CHECKING:
    from thresher.types import Vectors

MOST = 0.6
"""Share of a claim's terms that `WordSupport` asks for."""

_WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class WordSupport:
    """Takes a claim to be supported by a text that holds most of its terms, and denied where a number differs then."""

    name: str = "word-support"

    def check(self, claim: str, texts: Sequence[str], titles: Sequence[str] | None = None) -> list[SupportReading]:
        """One reading per text, in their order."""
        whole = [f"{title} {text}" for title, text in zip(titles or [""] * len(texts), texts, strict=True)]
        return [self._read(claim, text) for text in whole]

    def _read(self, claim: str, text: str) -> SupportReading:
        words = {term for term in term_set(claim) if not term[0].isdigit()}
        if not words or len(words & term_set(text)) < MOST * len(words):
            return SupportReading(0.05, 0.05)
        return SupportReading(0.02, 0.9) if missing_quantity(claim, text) else SupportReading(0.97, 0.01)


@dataclass(frozen=True, slots=True)
class HashEncoder:
    """Each word is a random direction fixed by its hash, a text is the sum of its words: shared words, high cosine."""

    dimension: int = 64
    max_tokens: int = 1_000_000

    @property
    def name(self) -> str:
        """Identity for fingerprints."""
        return f"hash-{self.dimension}"

    def encode(self, texts: Sequence[str], *, progress: Progress | None = None) -> Vectors:
        """(n_texts, dimension) float32, rows of unit length."""
        import numpy as np

        rows = np.stack([self.encode_query(text) for text in texts]) if texts else np.zeros((0, self.dimension))
        if progress is not None:
            progress(len(texts))
        return rows.astype(np.float32)

    def encode_query(self, text: str) -> Vectors:
        """(dimension,) float32 of unit length."""
        import numpy as np

        words = _WORD.findall(text.lower()) or [""]
        total = sum((self._direction(word) for word in words), np.zeros(self.dimension, dtype=np.float32))
        return (total / np.linalg.norm(total)).astype(np.float32)

    def warm_up(self) -> None:
        """Nothing to load."""

    def _direction(self, word: str) -> Vectors:
        import numpy as np

        seed = int.from_bytes(hashlib.sha256(word.encode()).digest()[:8], "little")
        return np.random.default_rng(seed).standard_normal(self.dimension, dtype=np.float32)


@dataclass(slots=True)
class ScriptedModel:
    """A chat model whose replies are given: a list used up in order, or a function of (system, user).

    Safe to use from several threads, which get the replies of a list in the order they ask.
    """

    replies: Sequence[str] | Callable[[str, str], str]
    name: str = "scripted"
    seen: list[tuple[str, str]] = field(default_factory=list)
    """Every exchange so far, for assertions."""
    _lock: Lock = field(default_factory=Lock, repr=False, compare=False)

    def complete(self, system: str, user: str, *, schema: Mapping[str, Any] | None = None) -> str:
        """The next reply; IndexError when a list is used up."""
        with self._lock:
            at = len(self.seen)
            self.seen.append((system, user))
        return self.replies(system, user) if callable(self.replies) else self.replies[at]


@dataclass(frozen=True, slots=True)
class OverlapCrossEncoder:
    """Share of the question's distinct words that occur in the text, 0..1."""

    name: str = "word overlap"

    def __call__(self, question: str, texts: Sequence[str]) -> list[Score]:
        """One score per text, in their order."""
        words = set(_WORD.findall(question.lower()))
        shares = (len(words & set(_WORD.findall(text.lower()))) / max(1, len(words)) for text in texts)
        return [Score(share, UNIT) for share in shares]
