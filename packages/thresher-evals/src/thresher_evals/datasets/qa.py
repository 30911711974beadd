"""`qa:FILE.jsonl`: questions with answers and the places that answer them, asked of a collection."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from thresher_evals.dataset import Dataset, Gold, Question, Split
from thresher_evals.datasets.records import loaded, unique
from thresher_evals.jsonl import Record, records


def load_qa(spec: str, path: Path, split: Split) -> Dataset:
    """Every line of the file, in its order."""
    return loaded("qa", spec, path, read_questions(path), split)


def read_questions(path: Path) -> list[Question]:
    """The questions of a file, in its order."""
    return [read_question(record) for record in unique(records(path)).values()]


def read_question(record: Record) -> Question:
    """One line; `gold_ids` are gold places of which only the source is known."""
    return Question(
        id=record.identity("id"),
        question=record.text("question"),
        answers=record.texts("answers"),
        answerable=record.boolean("answerable", default=True),
        gold=(*gold_places(record), *(Gold(source) for source in record.texts("gold_ids"))),
        category=None if record.fields.get("category") is None else record.text("category"),
        group="" if record.fields.get("subject") is None else record.text("subject"),
    )


def gold_places(record: Record) -> tuple[Gold, ...]:
    """The `gold` list of a line."""
    places = record.fields.get("gold")
    if places is None:
        return ()
    if not isinstance(places, list) or not all(isinstance(place, dict) for place in places):
        raise record.bad("'gold' is not a list of objects", next_step='write "gold": [{"source": "...", "page": 3}]')
    return tuple(gold_place(record, place) for place in places)


def gold_place(record: Record, place: dict[str, Any]) -> Gold:
    """One entry of the `gold` list."""
    source = place.get("source")
    if not isinstance(source, str) or not source.strip():
        raise record.bad("a gold place has no 'source'")
    numbers: dict[str, int | None] = {}
    for name, least in (("page", 1), ("start", 0), ("end", 0)):
        value = place.get(name)
        if value is not None and (not isinstance(value, int) or isinstance(value, bool) or value < least):
            raise record.bad(f"'{name}' of a gold place is not a whole number from {least}")
        numbers[name] = value
    return Gold(source, numbers["page"], numbers["start"], numbers["end"])
