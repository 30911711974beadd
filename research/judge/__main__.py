"""What the bundled judge is worth as the evaluator of what was retrieved.

    .venv/bin/python -m research.judge evaluator [--final] [--folder DIR] [--candidates FILE]

Splits: sha1 of "split:KEY" modulo 5 (KEY: PopQA's subject, SQuAD's article, else the question's id). The judge was
trained on 0 to 2; what is chosen or fitted here is chosen or fitted on 3, tune; 4, final, is read with --final only,
which also writes research/results/judge.json. The protocol is that of `research.pools`, and with --candidates that of
the dev questions of real text. What the judge's score and its shipped calibration are is a logistic regression on its
logit, of the candidate where it is highest, each set weighing the same.

How the judge reranks, and how fast it is, was measured up to commit 2ebb4b8: docs/decisions.md, results/judge.json.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import sqlite3
from collections.abc import Sequence
from pathlib import Path

from benchmarks.machine import RESEARCH, keep, kept, tell
from research.judge.evaluator import evaluator
from thresher.models import cross_encoders as reading
from thresher.models.cross_encoders import BUNDLED_JUDGE, BundledJudge
from thresher.types import Chunk

FOLDER = RESEARCH / ".cache" / "judge"


class Logits:
    """The judge's logits, each pair read once: they are kept on disk by model, question, title and text."""

    def __init__(self, judge: BundledJudge) -> None:
        self.judge = judge
        FOLDER.mkdir(parents=True, exist_ok=True)
        self._store = sqlite3.connect(FOLDER / f"{judge.name}.sqlite")
        self._store.execute("CREATE TABLE IF NOT EXISTS logits (pair BLOB PRIMARY KEY, logit REAL NOT NULL)")

    def __call__(self, question: str, chunks: Sequence[Chunk]) -> list[float]:
        """One logit for each chunk."""
        pairs = [(question, chunk.title, chunk.text) for chunk in chunks]
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


def main() -> None:
    """Measure, print, and keep where the final fifth was read."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("section", nargs="?", choices=("evaluator",), default="evaluator")
    parser.add_argument("--final", action="store_true", help="also the final fifth; writes results/judge.json")
    parser.add_argument("--folder", type=Path, default=BUNDLED_JUDGE, help="the weights")
    parser.add_argument("--candidates", type=Path, help="what research.train.candidates wrote: papers and manuals too")
    options = parser.parse_args()
    tell()
    judge = BundledJudge(options.folder)
    print(f"judge {judge.name}")
    found = evaluator(Logits(judge), final=options.final, candidates_of=options.candidates)
    if options.final:
        before = kept("judge", folder=RESEARCH)
        same = {"rerank": before["rerank"]} if before.get("judge") == judge.name and "rerank" in before else {}
        keep("judge", {**same, "judge": judge.name, "evaluator": found}, folder=RESEARCH)


if __name__ == "__main__":
    main()
