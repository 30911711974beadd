"""How much of what is retrieved says the same: the redundancy threshold swept over the candidates of each question.

ChunkRAG (arXiv:2410.19572v2), Table 2, Figures 3 and 4. Its counts and percentages are not of one set (36 removed are
20.5 % of 176, 12 removed are 8.5 % of 141), and its similarity falls where its text says that it rises (Y5 and Y6 in
docs/methods.md); so count, total and percent stand together here, and so do both similarities.
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
    change,
    difference_of,
    mean,
    mean_of,
    spread,
)
from thresher.recipes.build import redundancy
from thresher.recipes.settings import RedundancySettings
from thresher.settings import Frozen
from thresher.types import Query

RECIPE = "chunkrag"
"""Whose candidates are compared: the recipe that the sweep is published for."""

THRESHOLDS = (0.5, 0.6, 0.7, 0.8, 0.9)
VECTORS = ("embedding", "tfidf", "either")

PUBLISHED = (
    (0.5, 36, 20.5, 36.04, 0.2399, 0.2105),
    (0.6, 24, None, 35.66, 0.2399, 0.2163),
    (0.7, 18, None, 35.78, 0.2399, 0.2222),
    (0.8, 16, None, 35.49, 0.2399, 0.2255),
    (0.9, 12, 8.5, 35.55, 0.2399, 0.2288),
)
"""ChunkRAG v2, Table 2: threshold, removed, percent (two in section 6.1), mean length, similarity before, after."""


class Settings(Frozen):
    """Settings of the study."""

    limit: int = Field(5, ge=1, description="results wanted; the recipe's depths say how many candidates that means")


def measure(materials: Materials, done: Set[str]) -> Iterator[Row]:
    """A row for each question: what each threshold would remove of its candidates, by each kind of vectors."""
    here = Opened.of(materials)
    # With a threshold of 1 the retriever removes nothing: what it found is what the sweep is over.
    pipeline = here.pipeline(RECIPE, {"dedup.threshold": 1.0})
    table = here.table(RECIPE)
    for question in materials.left(done):
        query = pipeline.rewrite(Query(question.question, question.question, materials.settings.limit))
        hits = pipeline.retrieve(query).kept
        sweep = []
        for vectors in VECTORS:
            for threshold in THRESHOLDS:
                chosen = RedundancySettings.model_validate({"vectors": vectors, "threshold": threshold})
                found = redundancy(chosen, table)(hits)
                sides = {"before": [hit.chunk.text for hit in hits], "after": [hit.chunk.text for hit in found.kept]}
                sweep.append(
                    {
                        **found.notes.facts["redundancy"],
                        "words": {side: mean([len(text.split()) for text in texts]) for side, texts in sides.items()},
                        "characters": {side: mean([len(text) for text in texts]) for side, texts in sides.items()},
                    }
                )
        yield {"id": question.id, "question": question.question, "sweep": sweep}


def tell(rows: Sequence[Row], settings: Settings, seed: int) -> Findings:
    """Table 2 and Figures 3 and 4, measured beside published."""
    swept: dict[tuple[str, float], list[Mapping[str, Any]]] = {}
    for row in rows:
        for one in row["sweep"]:
            swept.setdefault((one["vectors"], one["threshold"]), []).append(one)
    n = len(rows)
    text = (
        f"Of the candidates that {RECIPE} retrieves for a question, a chunk goes when its cosine to a better one that "
        f"stays is above the threshold. n = {n} questions. The better chunk stays, so removing repetition lowers the "
        "similarity among the chunks by construction; whether what is left is nearer to the question is a second "
        "number, and the one that matters.",
        "The published counts and percentages do not fit one set of chunks: 36 removed are 20.5 % of 176, 12 removed "
        "are 8.5 % of 141. Their similarity falls with filtering where the text says it rises; which similarity it is, "
        "and the unit of the length, are not said.",
    )
    columns = ("threshold", "removed", "percent", "average length", "similarity before", "similarity after")
    return Findings(
        text,
        (
            Table(
                "removed",
                f"Redundancy removed, n = {n}",
                [removed(*key, found, seed) for key, found in swept.items()],
                INTERVALS,
                {"x": "threshold", "by": "vectors"} | bounded("percent a question"),
            ),
            Table(
                "similarity",
                f"Similarity before and after, n = {n}",
                [similarities(*key, found, seed) for key, found in swept.items()],
                f"{INTERVALS} Change: paired, over the questions of which two chunks or more are left. Among chunks: "
                "cosine of the vectors in the first column, the larger one for either. To the question: cosine of the "
                "embeddings.",
                {"x": "threshold", "by": "vectors"} | bounded("to the question after"),
            ),
            Table(
                "published",
                "As published: ChunkRAG v2, Table 2 and section 6.1",
                [dict(zip(columns, line, strict=True)) for line in PUBLISHED],
                "n is not given.",
            ),
        ),
    )


def bounded(column: str) -> dict[str, str]:
    """What is drawn of a column with an interval."""
    return {"y": column, "low": f"{column} low", "high": f"{column} high"}


def removed(vectors: str, threshold: float, found: Sequence[Mapping[str, Any]], seed: int) -> Cells:
    """Removed, total, percent and lengths."""
    return {
        "vectors": vectors,
        "threshold": threshold,
        "removed": sum(one["removed"] for one in found),
        "of": sum(one["total"] for one in found),
        **spread("percent a question", mean_of([one["percent"] for one in found], seed)),
        **spread("words before", mean_of([one["words"]["before"] for one in found], seed)),
        **spread("words after", mean_of([one["words"]["after"] for one in found], seed)),
        **spread("characters before", mean_of([one["characters"]["before"] for one in found], seed)),
        **spread("characters after", mean_of([one["characters"]["after"] for one in found], seed)),
    }


def similarities(vectors: str, threshold: float, found: Sequence[Mapping[str, Any]], seed: int) -> Cells:
    """Both similarities, before and after, with the paired change."""
    cells: dict[str, Any] = {"vectors": vectors, "threshold": threshold}
    for name, words in (("pairwise_similarity", "among chunks"), ("query_similarity", "to the question")):
        before, after = ([one[name][when] for one in found] for when in ("before", "after"))
        cells |= spread(f"{words} before", mean_of(before, seed)) | spread(f"{words} after", mean_of(after, seed))
        cells |= change(f"{words} change", difference_of(before, after, seed))
    return cells


STUDY = Study("redundancy", "Redundancy removal by threshold", Settings, lambda settings: (RECIPE,), measure, tell)
