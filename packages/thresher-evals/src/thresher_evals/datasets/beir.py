"""`beir:DIR`: corpus.jsonl, queries.jsonl and graded judgements (BEIR, Thakur et al. 2021, arXiv 2104.08663)."""

from __future__ import annotations

import math
from collections.abc import Container
from pathlib import Path

from thresher.errors import UsageError
from thresher_evals.dataset import Gold, Question, Split
from thresher_evals.datasets.records import Content, bad_line, lines, unique

JUDGEMENTS = ("qrels.tsv", "qrels/test.tsv")
"""Files of judgements, in order of preference."""


def load_beir(path: Path, split: Split) -> Content:
    """The queries with judgements, in the order of queries.jsonl; every grade is kept, also 0 and below."""
    corpus, queries = path / "corpus.jsonl", path / "queries.jsonl"
    judgements = next((path / name for name in JUDGEMENTS if (path / name).is_file()), None)
    missing = [file.name for file in (corpus, queries) if not file.is_file()]
    if judgements is None or missing:
        missing += [] if judgements else [" or ".join(JUDGEMENTS)]
        raise UsageError(
            f"not a BEIR folder: no {', no '.join(missing)}",
            subject=str(path),
            next_step="beir:DIR needs corpus.jsonl, queries.jsonl and qrels.tsv",
        )
    texts = {id: record.text("text") for id, record in unique(queries, "_id").items()}
    grades = read_judgements(judgements, texts)
    questions = (
        Question(
            id, text, gold=tuple(Gold(source) for source, grade in grades[id].items() if grade > 0), grades=grades[id]
        )
        for id, text in texts.items()
        if id in grades
    )
    name = f"beir-{path.resolve().name}"
    return Content(questions, task="search", files=(queries, judgements), corpus=corpus, collection=name)


def read_judgements(path: Path, queries: Container[str]) -> dict[str, dict[str, float]]:
    """Query id to source to grade, from lines `query-id corpus-id score`; further columns are ignored."""
    grades: dict[str, dict[str, float]] = {}
    for position, (number, line) in enumerate(lines(path)):
        columns = line.split("\t")
        if len(columns) < 3:
            raise bad_line(
                path, number, "fewer than 3 columns", next_step="query-id, corpus-id and score, separated by tabs"
            )
        query, source, printed = (column.strip() for column in columns[:3])
        grade = whole_number(printed)
        if position == 0 and printed[:1].isalpha():  # the header
            continue
        if grade is None:
            raise bad_line(path, number, f"the score '{printed}' is not a whole number")
        if query not in queries:
            raise bad_line(path, number, f"the query '{query}' is not in queries.jsonl")
        if grades.setdefault(query, {}).setdefault(source, grade) != grade:
            raise bad_line(path, number, f"'{source}' was given another grade for the query '{query}' before")
    return grades


def whole_number(text: str) -> float | None:
    """The number, or None; trec_eval's grades are whole numbers."""
    try:
        value = float(text)
    except ValueError:
        return None
    return value if math.isfinite(value) and value.is_integer() else None
