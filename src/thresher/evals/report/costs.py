"""What an answer costs: seconds, processor time, memory, calls and tokens."""

from __future__ import annotations

from collections.abc import Sequence

from thresher.evals.report.claims import claims_of
from thresher.evals.report.comparison import COST, bar_figure, by_family, claim_words, drawer, fewest
from thresher.evals.report.measured import Block, Run
from thresher.evals.report.outcomes import LACKS, lacks
from thresher.evals.report.section import Cell, Figure, Measured, Section, Table
from thresher.evals.rows import Row
from thresher.evals.statistics import mean_interval
from thresher.evals.together import WHY

DRAWN = (
    ("seconds", "Seconds a question", ("seconds_p50", "seconds_p95", "cpu_seconds"), "seconds"),
    ("calls", "Calls of a language model and tokens for a question, means", ("llm_calls", "completion_tokens"), ""),
)
"""Name, title, measures and what the axis is of every figure of bars; left out where nothing was spent."""
ABOUT_TAKEN = (
    "Questions that failed count for the seconds. Memory is the most the process had held when the question was done: "
    "it never falls, so a recipe shows what the ones before it took as well."
)
FEW_RECIPES = 3  # whose costs are seen at a glance in the table


def cost_section(run: Run, block: Block, prefix: str) -> Section:
    """A table of all costs, bars of those that are not nothing; of recipes asked in turn only what cannot be shared."""
    names = by_family(block.measures).get(COST, [])
    rows: list[list[Cell]] = [
        [recipe, *(block.scores[recipe].get(name) for name in names), lacks(of)] for recipe, of in block.rows.items()
    ]
    note = "Value [95 % interval] n." if run.together else f"Value [95 % interval] n. {ABOUT_TAKEN}"
    figures = [
        figure
        for name, title, wanted, label in DRAWN
        if len(block.rows) > FEW_RECIPES and block.ablated is None
        for figure in bar_figure(block, f"{prefix}-{name}", title, spent(block, wanted), (), label, share=False)
    ]
    tables = [Table("Costs", ["recipe", *names, LACKS], rows, note)] if spent(block, names) else []
    if run.together:
        return Section("What it costs", [WHY], tables, figures)
    return Section("What it costs", tables=tables, figures=[*figures, *claimed_seconds(run, block, prefix)])


def spent(block: Block, names: Sequence[str]) -> list[str]:
    """The measures that are above nothing for some recipe."""
    return [name for name in names if any(name in told and told[name].value for told in block.scores.values())]


def claimed_seconds(run: Run, block: Block, prefix: str) -> list[Figure]:
    """Mean seconds beside the printed ones, which were taken on other machines."""
    claims = claims_of(run.dataset["kind"], ["seconds_mean"])
    if not claims:
        return []
    measured = [(block.label(recipe), {"seconds_mean": mean_seconds(rows)}) for recipe, rows in block.rows.items()]
    claimed = {claim.label: {claim.measure: claim.value} for claim in claims}
    draw = drawer(measured, ["seconds_mean"], claimed, "seconds, mean", share=False)
    legend = block.legend(block.recipes)
    title = "Mean seconds a question; the printed ones on other machines"
    return [Figure(f"{prefix}-claimed-seconds", title, draw, fewest(measured), claim_words(claims), legend)]


def mean_seconds(rows: Sequence[Row]) -> Measured:
    """What is printed is a mean, and not the median that stands in the table."""
    return Measured.of(mean_interval([row.seconds for row in rows]).to_dict())
