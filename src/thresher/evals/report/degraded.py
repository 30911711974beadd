"""Runs whose retrieval was made worse on purpose, together: accuracy by how often it may be right (CRAG, Fig. 3)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from thresher.evals.report.differences import probability
from thresher.evals.report.drawing import COLOURS
from thresher.evals.report.measured import Block, Run
from thresher.evals.report.rivals import OURS
from thresher.evals.report.section import Cell, Figure, Measured, Part, Section, Table

if TYPE_CHECKING:
    from matplotlib.axes import Axes

SETTING = "degraded"
"""Among the settings of each recipe in run.json: the share of the questions that may find their gold documents."""


def share_of(run: Run) -> float | None:
    """The share, 0 to 1, of a run that was made worse; None of others."""
    shares = {settings.get(SETTING) for settings in run.described["settings"].values()}
    share = next(iter(shares)) if len(shares) == 1 else None
    return None if share is None else float(share)


def grouped(runs: Sequence[Run]) -> list[list[Run]]:
    """Runs of the same dataset and recipes, the highest share first."""
    groups: dict[tuple[str, ...], list[Run]] = {}
    for run in runs:
        groups.setdefault((run.dataset["spec"], run.dataset["task"], *run.described["recipes"]), []).append(run)
    return [sorted(group, key=lambda run: -(share_of(run) or 0.0)) for group in groups.values()]


def degraded_part(runs: Sequence[Run]) -> Part:
    """One section for runs of the same dataset and recipes: a table, a figure, and ours against each other recipe."""
    dataset = runs[0].dataset
    blocks = [(share_of(run) or 0.0, block) for run in runs for block in run.blocks]
    recipes = list(dict.fromkeys(recipe for _, block in blocks for recipe in block.recipes))
    measure = blocks[0][1].primary
    rows: list[list[Cell]] = [
        [f"{share_of(run) or 0.0:g}", run.name, *(block.scores.get(recipe, {}).get(measure) for recipe in recipes)]
        for run in runs
        for block in run.blocks
    ]
    text = (
        "Of the questions with gold documents inside, only a share may still find them (CRAG, Figure 3); the rest of "
        f"the collection is as it was. Folders: {', '.join(run.name for run in runs)}."
    )
    note = f"{measure} [95 % interval] n at each share of questions that may find their gold documents."
    tables = [Table(f"{measure} by share", ["share", "folder", *recipes], rows, note), *ours(blocks, measure)]
    counts = [block.scores[recipe][measure].n or 0 for _, block in blocks for recipe in told(block, measure)]
    figure = Figure(
        f"{runs[0].name}-worse",
        f"{measure} where retrieval is made worse",
        lines(blocks, recipes, measure),
        min(counts, default=0),
        "Bands are 95 % intervals.",
        tuple(dict.fromkeys(pair for _, block in blocks for pair in block.legend(recipes))),
    )
    title = "Retrieval made worse"
    return Part(f"{title}: {dataset['kind']} {dataset['name']}", [Section(title, [text], tables, [figure])])


def told(block: Block, measure: str) -> list[str]:
    """The recipes that have a number."""
    return [recipe for recipe, scores in block.scores.items() if measure in scores]


def ours(blocks: Sequence[tuple[float, Block]], measure: str) -> list[Table]:
    """Our recipe minus each other one at each share; nothing where it was not asked."""
    rows: list[list[Cell]] = [
        [
            f"{share:g}",
            other,
            Measured(one.difference, one.low, one.high, one.n),
            one.better,
            one.worse,
            probability(one.p),
            probability(one.p_holm),
        ]
        for share, block in blocks
        for other, one in block.rivals(OURS, measure).items()
    ]
    note = "Paired [95 % interval] n; Holm's correction is for the recipes of one share."
    columns = ["share", "against", "difference", "higher", "lower", "p", "p (Holm)"]
    return [Table(f"{OURS} minus each other recipe, {measure}", columns, rows, note)] if rows else []


def lines(blocks: Sequence[tuple[float, Block]], recipes: Sequence[str], measure: str) -> Callable[[Axes], None]:
    """Draws a line with the band of its interval for each recipe."""

    def draw(axes: Axes) -> None:
        for place, recipe in enumerate(recipes):
            known = [
                (share, block.scores[recipe][measure]) for share, block in blocks if recipe in told(block, measure)
            ]
            if not known:
                continue
            shares = [share for share, _ in known]
            values, lows, highs = ([getattr(one, name) or 0.0 for _, one in known] for name in ("value", "low", "high"))
            colour = COLOURS[place % len(COLOURS)]
            label = next(block.label(recipe) for _, block in blocks if recipe in block.rows)
            axes.plot(shares, values, marker="o", markersize=4, color=colour, label=label)
            axes.fill_between(shares, lows, highs, color=colour, alpha=0.12, linewidth=0)
        axes.invert_xaxis()
        axes.set_ylim(0, 1)
        axes.set_xlabel("share of the questions that may find their gold documents")
        axes.set_ylabel(measure)
        axes.grid(alpha=0.25)
        axes.legend(frameon=False, fontsize=8, loc="upper left", bbox_to_anchor=(1, 1))

    return draw
