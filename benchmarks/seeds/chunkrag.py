"""ChunkRAG: tables 1 to 3, figures 3 and 4."""

from __future__ import annotations

from collections.abc import Iterator

from benchmarks.seeds.sections import (
    NOTHING,
    Cell,
    Section,
    difference,
    footing,
    mean,
    needed,
    printed,
    stored_footing,
    table,
)
from benchmarks.seeds.stored import PAGES, column
from benchmarks.seeds.sweeps import BEFORE
from benchmarks.studies import redundancy, relevance

RECIPES = ("rag", "hybrid", "ecrag", "chunkrag", "crag", "corrective")
ANSWERED = (
    ("routing-popqa", "match", "PopQA, half of the evidence elsewhere, match"),
    ("pubhealth-claims", "label_accuracy", "PubHealth, labels right"),
    ("biography-questions", "factscore", "Biography, FActScore"),
)
"""Page of the evidence, measure, and how it stands here."""


def sections() -> Iterator[Section]:
    """In the order of the paper."""
    yield Section(
        "Figures 1 and 2, Algorithm 1, the example of A.2, and version 1",
        "Drawings of answers with and without filtering and of the method; the algorithm; one question worked through; "
        "the table and the equations of version 1.",
        not_here="Drawings and algorithm have no numbers; `thresher show chunkrag` prints the stages. A.2 shows the "
        "replies of a chat model that is not at hand. The table of version 1 is the PopQA column of Table 1 below; its "
        "equations are `chunkrag-v1`.",
    )
    yield table_1()
    yield table_2()
    yield table_3()


def table_1() -> Section:
    """Accuracy on three data sets."""
    return Section(
        "Table 1: accuracy of methods on PopQA, PubHealth and Biography",
        "Share of right answers by method and generator, in percent; FActScore for Biography. Version 1 has the column "
        "of PopQA alone and puts the same 64.9 among the rows of another generator (Y17 in [methods](../methods.md)).",
        printed("chunkrag table 1"),
        accuracy,
        "The rows of the paper need its 7B and 13B generators. `python -m benchmarks.table1 --base-url URL --model "
        "MODEL` measures this table with a chat model of your own.",
    )


def accuracy() -> str:
    """The three data sets by recipe, as the evidence measured them."""
    there = [one for one in ANSWERED if (PAGES / f"{one[0]}.md").is_file()]
    found = {title: column(page, measure) for page, measure, title in there}
    header = ["recipe", *(f"{title}, n = {one.questions}" for title, one in found.items())]
    lines: list[list[Cell]] = [
        [recipe, *(one.cells.get(recipe, NOTHING) for one in found.values())] for recipe in RECIPES
    ]
    parts = ["No generator: a small reader that quotes.", table(header, lines)]
    parts += [stored_footing(page) for page, *_ in there]
    parts.append(
        "PubHealth has no corpus here: its explanations are the evidence and leak the label. FActScore has rules in "
        "the place of a judge, and most sentences are quotations, which are supported by construction."
    )
    return "\n\n".join(parts)


def table_2() -> Section:
    """The sweep of the redundancy threshold, with figures 3 and 4."""
    columns = ["threshold", "removed", "%", "average length", "similarity before", "similarity after"]
    return Section(
        "Table 2, Figures 3 and 4: what the redundancy threshold removes",
        "Figure 3 draws the percentage of chunks that are removed by threshold, Figure 4 the average similarity before "
        "and after. Table 2 calls the threshold that of merging chunks; its rows behave like redundancy removal (Y4).",
        f"ChunkRAG (arXiv:2410.19572v2), Table 2; the percentages are those of section 6.1 and Figure 3. n is not "
        f"given. Its similarity falls with filtering where the text says that it rises (Y6).\n\n"
        f"{table(columns, redundancy.PUBLISHED)}",
        removed,
    )


def removed() -> str:
    """What each threshold removes of our candidates."""
    measured = needed("redundancy")
    before = measured.lines[BEFORE]
    chunks = sum(one or 0 for one in before["chunks"])
    lines: list[list[Cell]] = [[BEFORE, 0, NOTHING, *(mean(before[name]) for name in ("words", "pairwise", "query"))]]
    for threshold, found in measured.lines.items():
        if threshold != BEFORE:
            gone = sum(one or 0 for one in found["removed"])
            shares = [
                100 * (one or 0) / (of or 1) for one, of in zip(found["removed"], before["chunks"], strict=True) if of
            ]
            sides = (mean(found[name]) for name in ("words", "pairwise", "query"))
            lines.append([threshold, int(gone), mean(shares), *sides])
    header = ["threshold", f"removed of {int(chunks)}", "% of a question", "words", "among chunks", "to the question"]
    return (
        f"Mean cosine among the chunks of a question and to the question.\n\n{table(header, lines)}\n\n"
        f"{footing(measured)}\n\nThe similarity among the chunks changes by {change('pairwise')} at the lowest "
        f"threshold and by {change('pairwise', last=True)} at the highest; the similarity to the question, which says "
        f"whether what is left is better, by {change('query')} and {change('query', last=True)}. Redundancy removal "
        "lowers the first by construction and may raise the second: Table 2, whose similarity falls, and section 6.2, "
        "whose similarity rises, can both be right of different similarities."
    )


def change(measure: str, *, last: bool = False) -> str:
    """A similarity after minus before at the lowest or the highest threshold, paired."""
    lines = needed("redundancy").lines
    thresholds = [name for name in lines if name != BEFORE]
    return difference(lines[BEFORE][measure], lines[thresholds[-1 if last else 0]][measure])


def table_3() -> Section:
    """Relevance of what is handed on."""
    return Section(
        "Table 3: relevance of what is retrieved, naive and filtered",
        "The mean relevance that a judge gives to what a plain retriever and ChunkRAG (theta 0.8) hand on. Who judged, "
        "and how many chunks each side had, is not stated.",
        "ChunkRAG (arXiv:2410.19572v2), Table 3.\n\n" + table(["retriever", "average relevance"], relevance.PUBLISHED),
        graded,
    )


def graded() -> str:
    """Every side by two judges."""
    measured = needed("relevance")
    judges = [name for name in next(iter(measured.lines.values())) if name != "chunks"]
    plain = measured.lines[relevance.PLAIN]
    lines: list[list[Cell]] = [
        [
            side,
            *(mean(found[judge]) for judge in judges),
            mean(found["chunks"]),
            *(NOTHING if side == relevance.PLAIN else difference(plain[judge], found[judge]) for judge in judges),
        ]
        for side, found in measured.lines.items()
    ]
    header = ["side", *(f"by the {judge} judge" for judge in judges), "chunks"]
    header += [f"minus {relevance.PLAIN}, {judge}" for judge in judges]
    return (
        f"The same judge on every side.\n\n{table(header, lines)}\n\n{footing(measured)}\n\n"
        "`chunkrag` filters by the local judge without a chat model, and `corrective` by the trained one: read each by "
        "the other judge."
    )
