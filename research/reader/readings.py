"""What the judge reads, kept on disk; texts cut into pieces; scores of answers and tables of measures."""

from __future__ import annotations

import hashlib
import sqlite3
import sys
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from math import exp, log, log1p
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.machine import RESEARCH
from thresher.models import cross_encoders as limits
from thresher.models.running import usable_cores
from thresher.protocols import PairReader
from thresher.text.sentences import sentence_spans
from thresher.types import Reading
from thresher_evals.metrics.answers import exact_match, f1, match, match_norm
from thresher_evals.stats import mean_interval, proportion_interval, quantile_interval

FILE = RESEARCH / ".cache" / "judge" / "reader.sqlite"
SENTENCES, STRIDE = 3, 2  # a window shares a sentence with the next
QUOTED_WORDS = 20  # what an extractive answer is cut to: the median of its sentences on PopQA
LEAST = 1e-9  # a certainty below it is taken for it, so that its logarithm is finite
BATCH = 1000

Table = dict[str, dict[str, Any]]

# --- readings ---------------------------------------------------------------------------------------------------------


class Text(NamedTuple):
    """What is read in one go, and the title above it."""

    text: str
    title: str = ""


class Asked(NamedTuple):
    """A question or claim, and the texts it is read with."""

    question: str
    texts: tuple[Text, ...]


class Readings:
    """A judge's readings, each made once and kept on disk."""

    def __init__(self, judge: PairReader, file: Path = FILE) -> None:
        self.judge = judge
        sizes = (limits.MAX_TOKENS, limits.QUESTION_TOKENS, limits.TITLE_TOKENS, limits.OVERLAP_TOKENS)
        self.name = ":".join(map(str, (judge.name, *sizes, limits.SPAN_TOKENS)))
        file.parent.mkdir(parents=True, exist_ok=True)
        self.kept = sqlite3.connect(file, timeout=60)
        columns = "key BLOB PRIMARY KEY, relevance REAL, support REAL, start INTEGER, stop INTEGER, certainty REAL"
        self.kept.execute(f"CREATE TABLE IF NOT EXISTS readings ({columns}) WITHOUT ROWID")

    def __call__(self, part: str, asked: Sequence[Asked]) -> list[list[Reading]]:
        """One reading per text; what is new is read on all cores."""
        keys = [[self._key(one.question, text) for text in one.texts] for one in asked]
        places = {
            key: (one.question, text)
            for one, own in zip(asked, keys, strict=True)
            for text, key in zip(one.texts, own, strict=True)
        }
        known = {key: reading for key in places if (reading := self._recalled(key)) is not None}
        new = [key for key in places if key not in known]
        print(f"\n{part}: {len(asked)} questions, {len(places)} pairs, {len(new)} of them new", flush=True)
        started = time.perf_counter()
        with ThreadPoolExecutor(usable_cores()) as pool:
            for low in range(0, len(new), BATCH):
                batch = new[low : low + BATCH]
                found = dict(zip(batch, pool.map(lambda key: self._read(*places[key]), batch), strict=True))
                self._keep(found)
                known |= found
                done = low + len(batch)
                rate = done / (time.perf_counter() - started)
                print(f"  {done} of {len(new)}, {rate:.0f} a second", file=sys.stderr, flush=True)
        return [[known[key] for key in own] for own in keys]

    def _read(self, question: str, text: Text) -> Reading:
        return self.judge.read(question, [text.text], [text.title])[0]

    def _recalled(self, key: bytes) -> Reading | None:
        query = "SELECT relevance, support, start, stop, certainty FROM readings WHERE key = ?"
        row = self.kept.execute(query, (key,)).fetchone()
        return Reading(*row) if row else None

    def _keep(self, found: Mapping[bytes, Reading]) -> None:
        values = [(key, r.relevance, r.support, r.start, r.end, r.certainty) for key, r in found.items()]
        with self.kept:
            self.kept.executemany("INSERT OR REPLACE INTO readings VALUES (?, ?, ?, ?, ?, ?)", values)

    def _key(self, question: str, text: Text) -> bytes:
        parts = (self.name, question, text.title, text.text)
        return hashlib.sha256("\0".join(parts).encode("utf-8", "backslashreplace")).digest()


# --- texts ------------------------------------------------------------------------------------------------------------


def windows(text: str) -> list[str]:
    """Every `SENTENCES` sentences as they stand in the text, `STRIDE` sentences apart; the last end with the text."""
    spans = sentence_spans(text)
    last = max(0, len(spans) - SENTENCES)
    return [stretch(text, spans[at : at + SENTENCES]) for at in (*range(0, last, STRIDE), last)] if spans else []


def stretch(text: str, spans: Sequence[tuple[int, int]]) -> str:
    """The text from the first span's beginning to the last one's end."""
    return text[spans[0][0] : spans[-1][1]]


def sentence_at(text: str, start: int) -> str:
    """The sentence that a place begins in."""
    return next((text[low:high] for low, high in sentence_spans(text) if low <= start < high), text)


def cut(text: str) -> str:
    """The first `QUOTED_WORDS` words."""
    return " ".join(text.split()[:QUOTED_WORDS])


# --- scores and measures ----------------------------------------------------------------------------------------------


def log_sigmoid(logit: float) -> float:
    """The logarithm of the probability of a logit."""
    return min(0.0, logit) - log1p(exp(-abs(logit)))


def log_certainty(reading: Reading) -> float:
    """The logarithm of a certainty, never infinite."""
    return log(max(reading.certainty, LEAST))


def sureness(reading: Reading) -> float:
    """sigmoid(relevance) * certainty: that the text answers, and in this place."""
    return exp(log_sigmoid(reading.relevance)) * reading.certainty


def shares(values: Sequence[bool | float]) -> dict[str, Any]:
    """A mean with its interval; Wilson's where all are alike."""
    numbers = [float(value) for value in values]
    binary = set(numbers) <= {0.0, 1.0}
    return (proportion_interval(numbers) if binary else mean_interval(numbers)).to_dict()


def measures(answers: Sequence[str], golds: Sequence[Sequence[str]]) -> dict[str, Any]:
    """How the answers compare with the gold answers, and how long they are."""
    pairs = list(zip(answers, golds, strict=True))
    return {
        "match": shares([match(*pair) for pair in pairs]),
        "match_norm": shares([match_norm(*pair) for pair in pairs]),
        "EM": shares([exact_match(*pair) for pair in pairs]),
        "F1": shares([f1(*pair) for pair in pairs]),
        "words": quantile_interval([len(answer.split()) for answer in answers], 0.5).to_dict(),
    }


def show(title: str, table: Mapping[str, Mapping[str, Any]], chosen: str = "") -> None:
    """A table of measures with their intervals; the row that was chosen on tune has a star."""
    print(f"\n{title}")
    width = max(map(len, table), default=0)
    for label, values in table.items():
        cells = [
            f"{name} {value['value']:.3f} [{value['low']:.3f}, {value['high']:.3f}]"
            for name, value in values.items()
            if isinstance(value, dict) and value.get("value") is not None
        ]
        print(f"{'*' if label == chosen else ' '} {label:<{width}}  " + "  ".join(cells))


def best_by(table: Mapping[str, Mapping[str, Any]], *names: str) -> str:
    """The row with the highest value of the first measure; of rows alike, of the next; then the first row."""
    return max(table, key=lambda label: tuple(table[label][name]["value"] for name in names))
