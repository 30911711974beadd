"""What ECRAG retrieves for a question: its chunks, the subchunks below them, and how far each lies from the question.

ECRAG, Figure 7. A distance is the L2 distance of unit vectors, sqrt(2 - 2 cosine); a chunk's is that of its summary.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Set
from functools import partial
from typing import TYPE_CHECKING, Any

from pydantic import Field

from thresher.settings import Frozen
from thresher.types import Judgement, Query
from thresher_evals.report.blocks import Cell, Figure, Section, Table
from thresher_evals.studies.runner import INTERVALS, Kind, Materials, Study, StudyRow, mean_of, opened, shown

if TYPE_CHECKING:
    from matplotlib.axes import Axes

RECIPE = "ecrag"

SHOWN_QUESTIONS = 5
"""Questions with a table of their own: the first ones; a page of hundreds is not read."""

SHOWN_CHARACTERS = 160
"""Of a subchunk's text in a table."""


class Settings(Frozen):
    """Settings of the study."""

    limit: int = Field(5, ge=1, description="results wanted")


def recipes_of(settings: Settings) -> Sequence[str]:
    """The recipe that retrieves."""
    return (RECIPE,)


def measure(materials: Materials, done: Set[str]) -> Iterator[StudyRow]:
    """A row for each question: chunks, nearest first, each with the subchunks that were found below it."""
    here = opened(materials.home, materials.collection, materials.given)
    pipeline = here.pipeline(RECIPE)
    for question in materials.left(done):
        query = pipeline.rewrite(Query(question.question, question.question, materials.settings.limit))
        found = pipeline.retrieve(query)
        judged = pipeline.judge(query, found.kept)
        decision = pipeline.decide(judged.judgements)
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


def section(rows: Sequence[StudyRow], study: Study) -> Section:
    """Figure 7 for the first questions, and the mean distance of each rank over all."""
    n = len(rows)
    text = (
        f"For each question, the chunks whose summaries lie nearest and the subchunks found below them, with their L2 "
        "distance to the question (0 the same direction, 1.41 unrelated). "
        f"n = {n} questions; the first {min(n, SHOWN_QUESTIONS)} are shown. The source draws one question and gives no "
        "numbers to compare with.",
    )
    tables = [question_table(row) for row in rows[:SHOWN_QUESTIONS]]
    figures = [
        Figure(
            f"retrieved-{number}",
            str(row["question"]),
            partial(draw, row),
            1,
            "Bars: chunks, by the distance of their summary. Dots: their subchunks, filled where handed on.",
        )
        for number, row in enumerate(rows[:SHOWN_QUESTIONS], start=1)
        if row["chunks"]
    ]
    return Section(study.title, text, (rank_table(rows, study.seed), *tables), figures)


def rank_table(rows: Sequence[StudyRow], seed: int) -> Table:
    """Mean distance of the first, second, ... chunk, and of the nearest subchunk below it."""
    deepest = max(len(row["chunks"]) for row in rows)
    cells: list[Sequence[Cell]] = []
    for rank in range(deepest):
        chunks = [row["chunks"][rank] for row in rows if rank < len(row["chunks"])]
        nearest = [min((one["distance"] for one in chunk["subchunks"]), default=None) for chunk in chunks]
        counts = [float(len(chunk["subchunks"])) for chunk in chunks]
        cells.append(
            (
                rank + 1,
                shown(mean_of([chunk["distance"] for chunk in chunks], seed)),
                shown(mean_of(nearest, seed)),
                shown(mean_of(counts, seed), 1),
                len(chunks),
            )
        )
    columns = ("chunk rank", "distance of the summary", "of its nearest subchunk", "subchunks found", "n")
    note = f"{INTERVALS} A chunk below which nothing was found has no nearest subchunk."
    return Table(f"Distances by rank, n = {len(rows)}", columns, cells, note)


def question_table(row: StudyRow) -> Table:
    """Chunks and subchunks of one question."""
    cells: list[Sequence[Cell]] = []
    for chunk in row["chunks"]:
        cells.append((chunk["label"], rounded(chunk["distance"]), None, None, None, None, None))
        for one in chunk["subchunks"]:
            scores = one["scores"]
            cells.append(
                (
                    one["label"],
                    rounded(one["distance"]),
                    rounded(scores.get("dense")),
                    rounded(scores.get("lexical")),
                    rounded(scores.get("confidence")),
                    "yes" if one["kept"] else "no",
                    shortened(one["text"]),
                )
            )
    columns = ("chunk or subchunk", "distance", "cosine", "BM25", "confidence", "handed on", "text")
    verdict = f"Verdict: {row['verdict']}. " if row["verdict"] else ""
    return Table(str(row["question"]), columns, cells, f"{verdict}n = 1 question; confidence is relative to the rows.")


def rounded(value: float | None) -> float | None:
    """Three digits after the point."""
    return None if value is None else round(value, 3)


def shortened(text: str) -> str:
    """On one line, cut with an ellipsis."""
    line = " ".join(text.split())
    return line if len(line) <= SHOWN_CHARACTERS else f"{line[: SHOWN_CHARACTERS - 1]}…"


def draw(row: Mapping[str, Any], axes: Axes) -> None:
    """A bar for each chunk, dots for its subchunks."""
    for place, chunk in enumerate(row["chunks"]):
        axes.barh(place, chunk["distance"], color="C0", alpha=0.4)
        for one in chunk["subchunks"]:
            axes.plot(one["distance"], place, "o", color="C1", fillstyle="full" if one["kept"] else "none")
    axes.set_yticks(range(len(row["chunks"])), [chunk["label"] for chunk in row["chunks"]])
    axes.invert_yaxis()
    axes.set_xlabel("L2 distance to the question")


KIND = Kind("retrieved", "Retrieved chunks and their subchunks", Settings, recipes_of, measure, section)
