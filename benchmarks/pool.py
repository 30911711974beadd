"""A smaller Wikipedia pool beside the question files: every passage they name, and random others up to a size.

The whole pool (28,735 passages) takes three quarters of an hour to index for all recipes on two cores; this one takes
a third of that, for each set of questions. Made once, below benchmarks/.cache; the same size gives the same pool.
"""

from __future__ import annotations

import hashlib
import json
import shutil
from pathlib import Path

import machine

PASSAGES = 10_000
NAMING = {"popqa": ("gold_ids",), "nq": ("silver_ids", "retrieved_ids")}


def made(passages: int = PASSAGES) -> Path:
    """The folder with corpus.jsonl, popqa.jsonl and nq.jsonl."""
    source = machine.DATA / "wikipedia"
    folder = machine.CACHE / f"pool-{passages}"
    if (folder / "corpus.jsonl").is_file():
        return folder
    named: set[str] = set()
    folder.mkdir(parents=True, exist_ok=True)
    for name, fields in NAMING.items():
        shutil.copy(source / f"{name}.jsonl", folder)
        for line in (source / f"{name}.jsonl").read_text(encoding="utf-8").splitlines():
            question = json.loads(line)
            named.update(id_ for field in fields for id_ in question.get(field, ()))
    rows = [json.loads(line) for line in (source / "corpus.jsonl").read_text(encoding="utf-8").splitlines()]
    rows.sort(key=lambda row: (row["_id"] not in named, hashlib.sha1(f"pool:{row['_id']}".encode()).hexdigest()))
    with (folder / "corpus.jsonl.new").open("w", encoding="utf-8") as stream:
        for row in rows[:passages]:
            stream.write(json.dumps(row, ensure_ascii=False) + "\n")
    (folder / "corpus.jsonl.new").rename(folder / "corpus.jsonl")
    return folder
