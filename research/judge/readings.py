"""What the judge says to pairs of question and text, kept on disk, and the pools both measurements look at."""

from __future__ import annotations

import hashlib
import json
import sqlite3
from collections.abc import Sequence
from functools import cached_property

from benchmarks.machine import RESEARCH
from research.pools import FINAL, TUNE, Pool, Question, squad, wikipedia
from thresher.models import cross_encoders as reading
from thresher.models.cross_encoders import BundledJudge
from thresher.models.encoders import BundledEncoder
from thresher.types import Chunk
from thresher_evals.stats import Comparison, Interval

FOLDER = RESEARCH / ".cache" / "judge"


class Logits:
    """The judge's logits, each pair read once: they are kept on disk by model, question, title and text."""

    def __init__(self, judge: BundledJudge, *, titled: bool) -> None:
        self.judge = judge
        self._titled = titled
        FOLDER.mkdir(parents=True, exist_ok=True)
        self._store = sqlite3.connect(FOLDER / f"{judge.name}.sqlite")
        self._store.execute("CREATE TABLE IF NOT EXISTS logits (pair BLOB PRIMARY KEY, logit REAL NOT NULL)")

    def __call__(self, question: str, chunks: Sequence[Chunk]) -> list[float]:
        """One logit for each chunk."""
        pairs = [(question, chunk.title if self._titled else "", chunk.text) for chunk in chunks]
        keys = [pair_key(*pair) for pair in pairs]
        marks = ", ".join("?" * len(keys))
        known = dict(self._store.execute(f"SELECT pair, logit FROM logits WHERE pair IN ({marks})", keys).fetchall())
        new = {key: pair for key, pair in zip(keys, pairs, strict=True) if key not in known}
        if new:
            titles, texts = ([pair[at] for pair in new.values()] for at in (1, 2))
            found = self.judge.read(question, texts, titles)
            fresh = {key: one.relevance for key, one in zip(new, found, strict=True)}
            with self._store:
                self._store.executemany("INSERT OR REPLACE INTO logits VALUES (?, ?)", fresh.items())
            known |= fresh
        return [known[key] for key in keys]


def pair_key(question: str, title: str, text: str) -> bytes:
    """What a pair is kept under: its words, and how much of them the judge reads."""
    limits = (reading.MAX_TOKENS, reading.QUESTION_TOKENS, reading.TITLE_TOKENS, reading.OVERLAP_TOKENS)
    return hashlib.sha1(json.dumps([limits, question, title, text]).encode()).digest()


class Data:
    """Pools and questions, made when they are first asked for."""

    def __init__(self) -> None:
        self.encoder = BundledEncoder()

    @cached_property
    def wikipedia(self) -> tuple[Pool, dict[str, list[Question]]]:
        """The Wikipedia pool and its three sets."""
        return wikipedia(self.encoder)

    @cached_property
    def squad(self) -> tuple[Pool, list[Question], list[Question]]:
        """SQuAD's paragraphs, answerable questions and unanswerable ones."""
        return squad(self.encoder)


def slices_of(final: bool) -> tuple[int, ...]:
    """The slices that are measured."""
    return TUNE + FINAL if final else TUNE


def shown(found: Interval | Comparison) -> str:
    """A value or a difference with its interval."""
    if isinstance(found, Comparison):
        return f"({found.difference:+.3f} [{found.low:+.3f}, {found.high:+.3f}])"
    return f"{found.value:.3f} [{found.low:.3f}, {found.high:.3f}]"
