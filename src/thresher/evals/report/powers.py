"""Answers that build on answers: the chance that n in a row are right (ChunkRAG, eq. 3)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from thresher.evals.report.claims import CHUNKRAG_TABLE_1, CRAG_TABLE_1, LABEL, SELF_RAG_LLAMA, claims_of
from thresher.evals.report.drawing import COLOURS
from thresher.evals.report.measured import Block, Run
from thresher.evals.report.outcomes import LACKS, lacks
from thresher.evals.report.section import Cell, Figure, Measured, Section, Table

if TYPE_CHECKING:
    from matplotlib.axes import Axes

STEPS = tuple(range(1, 11))
PRINTED = (1, 2, 3, 5, 10)
"""Steps that stand in the table."""
ACCURACIES = ("label_accuracy", "match")


def power_section(run: Run, block: Block, prefix: str) -> list[Section]:
    """A table and curves; nothing where no accuracy was measured, or for ablations."""
    if block.primary not in ACCURACIES or block.ablated is not None:
        return []
    told = {recipe: scores[block.primary] for recipe, scores in block.scores.items() if block.primary in scores}
    drawn = {block.label(recipe): told[recipe] for recipe in block.curved if recipe in told}
    if not told:
        return []
    rows: list[list[Cell]] = [
        [recipe, *(power(one, step) for step in PRINTED), lacks(block.rows[recipe])] for recipe, one in told.items()
    ]
    note = f"{block.primary} to the power of the number of steps [the same of its interval's ends] n."
    columns = ["recipe", *(f"{step} in a row" for step in PRINTED), LACKS]
    claims = [
        (claim.label, claim.value)
        for claim in claims_of(run.dataset["kind"], [block.primary])
        if claim.generator == SELF_RAG_LLAMA and claim.source in (CRAG_TABLE_1, CHUNKRAG_TABLE_1)
    ]
    words = "ChunkRAG's equation 3. It supposes that steps fail independently of each other, which was not measured."
    figure = Figure(
        f"{prefix}-powers",
        "Chance that n answers in a row are right",
        lambda axes: curves(axes, list(drawn.items()), claims),
        min((one.n or 0 for one in drawn.values()), default=0),
        f"Bands are the intervals of {block.primary}." + (f" Dashed: {LABEL}." if claims else ""),
        block.legend(block.curved),
    )
    return [Section("Several steps in a row", [words], [Table("Accuracy to the n", columns, rows, note)], [figure])]


def power(told: Measured, steps: int) -> Measured:
    """accuracy^n with the ends of the interval raised as well (the power is monotone)."""
    value, low, high = (None if bound is None else bound**steps for bound in (told.value, told.low, told.high))
    return Measured(value, low, high, told.n)


def curves(axes: Axes, measured: Sequence[tuple[str, Measured]], claims: Sequence[tuple[str, float]]) -> None:
    """A filled line with its band for each recipe, a dashed one for each printed number."""
    for place, (recipe, told) in enumerate(measured):
        colour = COLOURS[place % len(COLOURS)]
        powers = [power(told, step) for step in STEPS]
        axes.plot(STEPS, [one.value or 0.0 for one in powers], color=colour, label=recipe)
        axes.fill_between(
            STEPS, [one.low or 0.0 for one in powers], [one.high or 0.0 for one in powers],
            color=colour, alpha=0.12, linewidth=0,
        )  # fmt: skip
    for place, (label, value) in enumerate(claims):
        axes.plot(
            STEPS, [value**step for step in STEPS], linestyle="--", linewidth=1, marker="o", markersize=4,
            markerfacecolor="none", color=COLOURS[(place + len(measured)) % len(COLOURS)], label=label,
        )  # fmt: skip
    axes.set_xlabel("answers in a row (n)")
    axes.set_ylabel("all right")
    axes.set_ylim(0, 1)
    axes.set_xticks(STEPS)
    axes.grid(alpha=0.25)
    axes.legend(frameon=False, fontsize=8, loc="upper left", bbox_to_anchor=(1, 1))
