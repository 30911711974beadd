"""Each recipe against the baseline, question by question, and category by category."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import partial
from typing import Any

from thresher.evals.report.drawing import points
from thresher.evals.report.measured import Block, within
from thresher.evals.report.outcomes import LACKS, lacks
from thresher.evals.report.section import Cell, Figure, Measured, Section, Table, number

COLUMNS = ("difference", "p", "p (Holm)", "test", "higher", "lower", "n", "other tests, p")
NOTE = (
    "Difference [95 % interval] of the mean on the questions both have, minus {baseline}'s. Higher and lower count the "
    "questions on which the number is. Holm's correction is for the number of recipes compared."
)
SHOWN = ("f1", "verdict_accuracy", "refusal_recall", "wrong_refusals", "R@5", "span_R@5")
"""What is drawn beside the primary measure, the first that differ."""
DRAWN = 4  # measures that have room side by side
TOLD = (
    "label_accuracy", "match", "match_norm", "em", "f1", "factscore", "nDCG@10", "R@5", "span_R@5", "chunk_F1@5",
    "context_match", "abstained", "refusal_recall", "wrong_refusals", "verdict_accuracy",
)  # fmt: skip
"""Measures that stand in the table: what was found, said, refused and decided."""


def difference_section(block: Block, prefix: str) -> list[Section]:
    """A table and a figure; nothing where there is one recipe only, or where the ablations say the same."""
    if not block.differences or block.ablated == block.baseline:
        return []
    rows = [
        [recipe, name, *cells(told), lacks(block.rows[recipe])]
        for recipe, comparisons in block.differences.items()
        for name, told in comparisons.items()
        if name in TOLD and moved(told)
    ]
    still = ", ".join(
        name
        for name in TOLD
        if name in block.measures and not any(name in told and moved(told[name]) for told in block.differences.values())
    )
    table = Table(
        f"Differences from {block.baseline}",
        ["recipe", "measure", *COLUMNS, LACKS],
        rows,
        NOTE.format(baseline=block.baseline)
        + " `eval score --json` has those of the other measures. Rows in which no question differs are left out"
        + (f"; for all recipes these are: {still}." if still else "."),
    )
    title = f"Differences from {block.baseline}, question by question"
    figures = difference_figures(block, f"{prefix}-differences", title, block.differences)
    return [Section(title, tables=[table], figures=figures)]


def difference_figures(
    block: Block, name: str, title: str, compared: Mapping[str, Mapping[str, Mapping[str, Any]]]
) -> list[Figure]:
    """One drawing of differences with their intervals, or none: the primary measure and up to three more."""
    measures = [
        measure
        for measure in dict.fromkeys((block.primary, *SHOWN))
        if any(measure in told and moved(told[measure]) for told in compared.values())
    ][:DRAWN]
    if not measures:
        return []
    drawn = [
        (block.label(recipe), {measure: difference(told[measure]) for measure in measures if measure in told})
        for recipe, told in compared.items()
    ]
    n = min(one.n or 0 for _, told in drawn for one in told.values())
    note = "Blue where the interval leaves out no difference; before Holm's correction."
    draw = partial(points, told=drawn, names=measures, label="difference")
    return [Figure(name, title, draw, n, note, block.legend(compared))]


def moved(told: Mapping[str, Any]) -> bool:
    """Whether any question came out otherwise."""
    return bool(told["better"] or told["worse"])


def difference(told: Mapping[str, Any]) -> Measured:
    """The number of a comparison."""
    return Measured(told["difference"], told["low"], told["high"], told["n"])


def cells(told: Mapping[str, Any]) -> list[Cell]:
    """What stands under `COLUMNS`."""
    return [
        Measured(told["difference"], told["low"], told["high"]),
        probability(told["p"]),
        probability(told["p_holm"]),
        told["test"],
        told["better"],
        told["worse"],
        told["n"],
        ", ".join(f"{name} {probability(p)}" for name, p in told.get("tests", {}).items()) or None,
    ]


def probability(p: float | None) -> str | None:
    """A p value in words."""
    if p is None:
        return None
    return "< 0.001" if p < 0.001 else number(p)


# --- categories -------------------------------------------------------------------------------------------------------


def category_section(block: Block) -> list[Section]:
    """The recipes in each category: their numbers, and their differences from the baseline in the primary measure."""
    if not block.categories:
        return []
    wanted = [name for name in CATEGORY_MEASURES if any(name in told for told in everything(block))]
    rows: list[list[Cell]] = [
        [category, recipe, *(told.get(name) for name in wanted), lacks(within(block.rows[recipe], category))]
        for category, recipes in block.categories.items()
        for recipe, told in recipes.items()
    ]
    tables = [Table("By category", ["category", "recipe", *wanted, LACKS], rows, "Value [95 % interval] n.")]
    changed: list[list[Cell]] = [
        [category, recipe, *cells(told[block.primary])]
        for category, compared in block.category_differences.items()
        for recipe, told in compared.items()
        if block.primary in told
    ]
    if changed:
        columns = ["category", "recipe", *COLUMNS]
        title = f"Differences from {block.baseline} in {block.primary}, by category"
        tables.append(Table(title, columns, changed, NOTE.format(baseline=block.baseline)))
    return [Section("Categories", tables=tables)]


CATEGORY_MEASURES = (
    "label_accuracy", "match", "f1", "factscore", "nDCG@10", "R@5", "abstained", "refusal_recall", "verdict_accuracy",
    "outside_used", "unsupported", "wrong",
)  # fmt: skip


def everything(block: Block) -> Iterable[Mapping[str, Measured]]:
    """The numbers of every recipe in every category."""
    return (told for recipes in block.categories.values() for told in recipes.values())
