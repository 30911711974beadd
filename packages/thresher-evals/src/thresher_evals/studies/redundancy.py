"""How much of what is retrieved says the same: the redundancy threshold swept over the candidates of each question.

ChunkRAG (arXiv:2410.19572v2), Table 2, Figures 3 and 4. Its counts and percentages are not of one set (36 removed are
20.5 % of 176, 12 removed are 8.5 % of 141), and its similarity falls where its text says that it rises (Y5 and Y6 in
docs/methods.md); so count, total and percent stand together here, and so do both similarities.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Set
from functools import partial
from typing import TYPE_CHECKING, Any

from pydantic import Field

from thresher.recipes.build import redundancy
from thresher.recipes.settings import RedundancySettings
from thresher.settings import Frozen
from thresher.types import Query
from thresher_evals.report.blocks import Cell, Figure, Section, Table
from thresher_evals.studies.runner import (
    INTERVALS,
    Kind,
    Materials,
    Study,
    StudyRow,
    difference_of,
    mean,
    mean_of,
    opened,
    shown,
    shown_difference,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

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


def recipes_of(settings: Settings) -> Sequence[str]:
    """The recipe whose candidates are compared."""
    return (RECIPE,)


def measure(materials: Materials, done: Set[str]) -> Iterator[StudyRow]:
    """A row for each question: what each threshold would remove of its candidates, by each kind of vectors."""
    here = opened(materials.home, materials.collection, materials.given)
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
                sifted = redundancy(chosen, table)(hits)
                sweep.append(
                    {
                        **sifted.notes.facts["redundancy"],
                        "words": {
                            "before": mean([len(hit.chunk.text.split()) for hit in hits]),
                            "after": mean([len(hit.chunk.text.split()) for hit in sifted.kept]),
                        },
                        "characters": {
                            "before": mean([len(hit.chunk.text) for hit in hits]),
                            "after": mean([len(hit.chunk.text) for hit in sifted.kept]),
                        },
                    }
                )
        yield {"id": question.id, "question": question.question, "sweep": sweep}


def section(rows: Sequence[StudyRow], study: Study) -> Section:
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
    return Section(
        study.title,
        text,
        tables=(measured_table(swept, n, study.seed), similarity_table(swept, n, study.seed), published_table()),
        figures=(
            Figure("redundancy-removed", "Chunks removed by threshold", partial(draw_removed, swept), n, HOLLOW),
            Figure("redundancy-similarity", "Similarity after removal", partial(draw_similarity, swept), n, HOLLOW),
        ),
    )


HOLLOW = "Hollow: as published (ChunkRAG v2, section 6.1 and Table 2), on other chunks with another encoder."


Swept = Mapping[tuple[str, float], Sequence[Mapping[str, Any]]]


def measured_table(swept: Swept, n: int, seed: int) -> Table:
    """Removed, total, percent and lengths."""
    rows: list[Sequence[Cell]] = []
    for (vectors, threshold), found in swept.items():
        removed, total = sum(one["removed"] for one in found), sum(one["total"] for one in found)
        rows.append(
            (
                vectors,
                threshold,
                removed,
                total,
                shown(mean_of([one["percent"] for one in found], seed), 1),
                *(shown(mean_of(part(found, "words", when), seed), 1) for when in WHEN),
                *(shown(mean_of(part(found, "characters", when), seed), 0) for when in WHEN),
            )
        )
    columns = (
        "vectors", "threshold", "removed", "of", "percent a question", "words before", "after", "characters before",
        "after",
    )  # fmt: skip
    return Table(f"Redundancy removed, n = {n}", columns, rows, INTERVALS)


def similarity_table(swept: Swept, n: int, seed: int) -> Table:
    """Both similarities, before and after, with the paired change."""
    rows: list[Sequence[Cell]] = []
    for (vectors, threshold), found in swept.items():
        cells: list[Cell] = [vectors, threshold]
        for name in ("pairwise_similarity", "query_similarity"):
            before, after = (part(found, name, when) for when in WHEN)
            cells += [
                shown(mean_of(before, seed), 3),
                shown(mean_of(after, seed), 3),
                shown_difference(difference_of(before, after, seed), 3),
            ]
        rows.append(cells)
    columns = ("vectors", "threshold", "among chunks, before", "after", "change", "to the question, before", "after",
               "change")  # fmt: skip
    note = (
        f"{INTERVALS} Change: paired, over the questions of which two chunks or more are left. Among chunks: cosine of "
        "the vectors in the first column, the larger one for either. To the question: cosine of the embeddings."
    )
    return Table(f"Similarity before and after, n = {n}", columns, rows, note)


def published_table() -> Table:
    """Table 2 as printed."""
    columns = ("threshold", "removed", "percent", "average length", "similarity before", "after")
    return Table("As published: ChunkRAG v2, Table 2 and section 6.1", columns, PUBLISHED, "n is not given.")


WHEN = ("before", "after")


def part(found: Sequence[Mapping[str, Any]], name: str, when: str) -> list[float | None]:
    """One number of each question."""
    return [one[name][when] for one in found]


def draw_removed(swept: Swept, axes: Axes) -> None:
    """Figure 3: percent removed against the threshold."""
    for vectors in VECTORS:
        means = [mean([one["percent"] for one in swept[vectors, threshold]]) or 0.0 for threshold in THRESHOLDS]
        axes.plot(THRESHOLDS, means, marker="o", label=vectors)
    known = [(threshold, percent) for threshold, _, percent, *_ in PUBLISHED if percent is not None]
    axes.plot(*zip(*known, strict=True), linestyle="none", marker="s", markerfacecolor="none", label="published")
    axes.set_xlabel("threshold")
    axes.set_ylabel("removed, percent of candidates")
    axes.set_ylim(bottom=0)
    axes.legend()


def draw_similarity(swept: Swept, axes: Axes) -> None:
    """Figure 4: similarities after removal, by embeddings; what they were before as lines."""
    for name, words, colour in (
        ("pairwise_similarity", "among chunks", "C0"),
        ("query_similarity", "to the question", "C1"),
    ):
        means = [mean_of(part(swept["embedding", at], name, "after"), 0).value for at in THRESHOLDS]
        before = mean_of(part(swept["embedding", THRESHOLDS[0]], name, "before"), 0).value
        axes.plot(THRESHOLDS, [float("nan") if one is None else one for one in means], "o-", color=colour, label=words)
        if before is not None:
            axes.axhline(before, color=colour, linestyle="--", label=f"{words}, before")
    published = [(threshold, after) for threshold, *_, after in PUBLISHED]
    axes.plot(*zip(*published, strict=True), "s", markerfacecolor="none", color="C2", label="published, after")
    axes.axhline(PUBLISHED[0][4], color="C2", linestyle=":", label="published, before")
    axes.set_xlabel("threshold")
    axes.set_ylabel("mean cosine")
    axes.legend()


KIND = Kind("redundancy", "Redundancy removal by threshold", Settings, recipes_of, measure, section)
