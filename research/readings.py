"""The bundled judge's readings, each pair read once: they are kept in research/.cache/judge/readings.sqlite.

They stand under the hash of the model's files, the limits of what it reads, question, title and text. Delete the file
after changing how thresher.models.cross_encoders reads.
"""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Sequence
from pathlib import Path

from benchmarks.machine import RESEARCH
from thresher.models import cross_encoders as limits
from thresher.protocols import PairReader
from thresher.types import Reading

FILE = RESEARCH / ".cache" / "judge" / "readings.sqlite"


class Readings:
    """What a judge reads of questions and texts."""

    def __init__(self, judge: PairReader, file: Path = FILE) -> None:
        sizes = (limits.MAX_TOKENS, limits.QUESTION_TOKENS, limits.TITLE_TOKENS, limits.OVERLAP_TOKENS)
        self.judge = judge
        self._name = ":".join(map(str, (judge.name, *sizes, limits.SPAN_TOKENS)))
        file.parent.mkdir(parents=True, exist_ok=True)
        self._store = sqlite3.connect(file, timeout=60)
        columns = "pair BLOB PRIMARY KEY, relevance REAL, support REAL, start INTEGER, stop INTEGER, certainty REAL"
        self._store.execute(f"CREATE TABLE IF NOT EXISTS readings ({columns}) WITHOUT ROWID")

    def __call__(self, question: str, texts: Sequence[str], titles: Sequence[str]) -> list[Reading]:
        """One reading for each text."""
        keys = [self._key(question, title, text) for title, text in zip(titles, texts, strict=True)]
        known = {key: reading for key in keys if (reading := self._recalled(key)) is not None}
        new = {key: at for at, key in enumerate(keys) if key not in known}
        if new:
            read = self.judge.read(question, [texts[at] for at in new.values()], [titles[at] for at in new.values()])
            fresh = dict(zip(new, read, strict=True))
            values = [(key, r.relevance, r.support, r.start, r.end, r.certainty) for key, r in fresh.items()]
            with self._store:
                self._store.executemany("INSERT OR REPLACE INTO readings VALUES (?, ?, ?, ?, ?, ?)", values)
            known |= fresh
        return [known[key] for key in keys]

    def _recalled(self, key: bytes) -> Reading | None:
        query = "SELECT relevance, support, start, stop, certainty FROM readings WHERE pair = ?"
        row = self._store.execute(query, (key,)).fetchone()
        return Reading(*row) if row else None

    def _key(self, question: str, title: str, text: str) -> bytes:
        parts = (self._name, question, title, text)
        return hashlib.sha256("\0".join(parts).encode("utf-8", "backslashreplace")).digest()
