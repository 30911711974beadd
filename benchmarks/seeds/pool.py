"""PopQA's questions with 2,000 or 200 passages of Wikipedia: few enough that every recipe indexes them in minutes."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from benchmarks import machine
from thresher_evals.dataset import split_of

PASSAGES = 2000
"""Every passage that a question names (some 800) and random others."""

COLLECTION = "seeds-pool"
"""All of the passages, for the table of the evaluator."""


FEW_QUESTIONS, FEW_PASSAGES = 40, 200


def few() -> Path:
    """The folder with some questions, the passages that they name and others: for what asks a chat model each time."""
    folder = machine.CACHE / "seeds" / f"pool-{FEW_PASSAGES}"
    if (folder / "corpus.jsonl").is_file():
        return folder
    folder.mkdir(parents=True, exist_ok=True)
    questions = sorted(machine.rows("wikipedia/popqa.jsonl"), key=lambda row: drawn(row["id"]))[:FEW_QUESTIONS]
    named = {id_ for question in questions for id_ in question["gold_ids"]}
    passages = machine.rows("wikipedia/corpus.jsonl")
    passages.sort(key=lambda row: (row["_id"] not in named, drawn(row["_id"])))
    write(folder / "popqa.jsonl", questions)
    write(folder / "corpus.jsonl", passages[:FEW_PASSAGES])
    return folder


def pool() -> Path:
    """The folder with corpus.jsonl, popqa.jsonl and evaluated.jsonl (the questions no judge was trained on)."""
    folder = machine.CACHE / "seeds" / f"pool-{PASSAGES}"
    if (folder / "corpus.jsonl").is_file():
        return folder
    folder.mkdir(parents=True, exist_ok=True)
    questions = machine.rows("wikipedia/popqa.jsonl")
    named = {id_ for question in questions for id_ in question["gold_ids"]}
    passages = machine.rows("wikipedia/corpus.jsonl")
    passages.sort(key=lambda row: (row["_id"] not in named, drawn(row["_id"])))
    write(folder / "popqa.jsonl", questions)
    unseen = [one for one in questions if split_of(one.get("subject") or one["id"]) in ("tune", "final")]
    write(folder / "evaluated.jsonl", unseen)
    write(folder / "corpus.jsonl", passages[:PASSAGES])
    return folder


def drawn(id_: str) -> str:
    """A passage's place in the drawing."""
    return hashlib.sha1(f"seeds:{id_}".encode()).hexdigest()


def write(path: Path, records: Iterable[Mapping[str, Any]]) -> None:
    """A line a record."""
    path.write_text("".join(json.dumps(one, ensure_ascii=False) + "\n" for one in records), encoding="utf-8")
