"""What ECRAG retrieves for a question: its chunks, the subchunks below them, and how far each lies from the question.

ECRAG, Figure 7. A distance is the L2 distance of unit vectors, sqrt(2 - 2 cosine); a chunk's is that of its summary.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Set
from typing import Any

from pydantic import Field

from benchmarks.studies.study import (
    INTERVALS,
    Cells,
    Findings,
    Materials,
    Opened,
    Row,
    Study,
    Table,
    mean_of,
    spread,
)
from thresher.settings import Frozen
from thresher.types import Judgement, Query

RECIPE = "ecrag"

SHOWN_QUESTIONS = 5
"""Questions with a table of their own: the first ones; a page of hundreds is not read."""

SHOWN_CHARACTERS = 160
"""Of a subchunk's text in a table."""


class Settings(Frozen):
    """Settings of the study."""

    limit: int = Field(5, ge=1, description="results wanted")


def measure(materials: Materials, done: Set[str]) -> Iterator[Row]:
    """A row for each question: chunks, nearest first, each with the subchunks that were found below it."""
    pipeline = Opened.of(materials).pipeline(RECIPE)
    for question in materials.left(done):
        query = pipeline.rewrite(Query(question.question, question.question, materials.settings.limit))
        found = pipeline.retrieve(query)
        judged = pipeline.judge(query, found.kept)
        decision = pipeline.decide(query, judged.judgements)
        below: dict[str, list[dict[str, Any]]] = {}
        for judgement in sorted(judged.judgements, key=lambda one: one.hit.scores["l2"].value):
            below.setdefault(judgement.hit.chunk.parent_id or "", []).append(describe(judgement))
        yield {
            "id": question.id,
            "question": question.question,
            "verdict": None if decision.verdict is None else str(decision.verdict),
            "chunks": [{**chunk, "subchunks": below.get(chunk["id"], [])} for chunk in found.notes.facts["chunks"]],
        }


def describe(judgement: Judgement) -> dict[str, Any]:
    """What is kept of a subchunk."""
    hit = judgement.hit
    return {
        "label": hit.chunk.label,
        "source": hit.chunk.source,
        "page": hit.chunk.page,
        "text": hit.chunk.text,
        "distance": hit.scores["l2"].value,
        "scores": {name: score.value for name, score in hit.scores.items()},
        "kept": judgement.keep,
        "reason": judgement.reason,
    }


def tell(rows: Sequence[Row], settings: Settings, seed: int) -> Findings:
    """Figure 7 for the first questions, and the mean distance of each rank over all."""
    n = len(rows)
    text = (
        f"For each question, the chunks whose summaries lie nearest and the subchunks found below them, with their L2 "
        "distance to the question (0 the same direction, 1.41 unrelated). "
        f"n = {n} questions; the first {min(n, SHOWN_QUESTIONS)} are shown. The source draws one question and gives no "
        "numbers to compare with.",
    )
    ranks = Table(
        "ranks",
        f"Distances by rank, n = {n}",
        [
            rank_cells(rank, [row["chunks"][rank] for row in rows if rank < len(row["chunks"])], seed)
            for rank in range(max(len(row["chunks"]) for row in rows))
        ],
        f"{INTERVALS} A chunk below which nothing was found has no nearest subchunk.",
        {"x": "chunk rank", "y": "distance of the summary"}
        | {bound: f"distance of the summary {bound}" for bound in ("low", "high")},
    )
    shown = [question_table(number, row) for number, row in enumerate(rows[:SHOWN_QUESTIONS], start=1)]
    return Findings(text, (ranks, *shown))


def rank_cells(rank: int, chunks: Sequence[Mapping[str, Any]], seed: int) -> Cells:
    """Mean distance of the chunks of one rank, and of the nearest subchunk below each."""
    nearest = [min((one["distance"] for one in chunk["subchunks"]), default=None) for chunk in chunks]
    return {
        "chunk rank": rank + 1,
        **spread("distance of the summary", mean_of([chunk["distance"] for chunk in chunks], seed)),
        **spread("of its nearest subchunk", mean_of(nearest, seed)),
        **spread("subchunks found", mean_of([float(len(chunk["subchunks"])) for chunk in chunks], seed)),
        "n": len(chunks),
    }


def question_table(number: int, row: Row) -> Table:
    """Chunks and subchunks of one question."""
    cells: list[Cells] = []
    for chunk in row["chunks"]:
        cells.append({"chunk or subchunk": chunk["label"], "distance": chunk["distance"]})
        cells += [
            {
                "chunk or subchunk": one["label"],
                "distance": one["distance"],
                "cosine": one["scores"].get("dense"),
                "BM25": one["scores"].get("lexical"),
                "confidence": one["scores"].get("confidence"),
                "handed on": "yes" if one["kept"] else "no",
                "text": shortened(one["text"]),
            }
            for one in chunk["subchunks"]
        ]
    verdict = f"Verdict: {row['verdict']}. " if row["verdict"] else ""
    note = f"{verdict}n = 1 question; confidence is relative to the rows."
    return Table(f"question-{number}", row["question"], cells, note)


def shortened(text: str) -> str:
    """On one line, cut with an ellipsis."""
    line = " ".join(text.split())
    return line if len(line) <= SHOWN_CHARACTERS else f"{line[: SHOWN_CHARACTERS - 1]}…"


STUDY = Study("retrieved", "Retrieved chunks and their subchunks", Settings, lambda settings: (RECIPE,), measure, tell)
