"""`asqa:FILE`: questions that can be meant in several ways (ASQA, Stelmakh et al. 2022, arXiv 2204.06092)."""

from __future__ import annotations

from pathlib import Path

from thresher.evals.labels import Dataset, Question
from thresher.evals.lines import Record, records
from thresher.evals.sets.evidence import pool_places
from thresher.evals.sets.fields import objects, unique
from thresher.evals.sets.loaded import loaded
from thresher.evals.splits import Split


def load_asqa(spec: str, path: Path, split: Split) -> Dataset:
    """Every line in its order. No passages come along: the Wikipedia pool is asked, or the collection that is named."""
    questions = [
        Question(id, record.text("question"), short_answers(record)) for id, record in unique(records(path)).items()
    ]
    pool = next((place for place in pool_places(path) if place.is_file()), None)
    note = "any short answer of any reading counts as right; ASQA's own measure is the share of readings answered"
    return loaded("asqa", spec, path, questions, split, corpus=pool, note=note)


def short_answers(record: Record) -> tuple[str, ...]:
    """The short answers of all readings of a question, in their order, each once."""
    if record.fields.get("qa_pairs") is None:
        return record.texts("all_short_answers")
    return tuple(dict.fromkeys(text for pair in objects(record, "qa_pairs") for text in pair.texts("short_answers")))
