"""The top of a report: a table with a row for each run, and sentences, both made from the numbers by rule."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from thresher.evals.report.differences import probability
from thresher.evals.report.heading import warnings
from thresher.evals.report.measured import Block, Run, standing
from thresher.evals.report.rivals import OURS, listed, rivals_of, verdict
from thresher.evals.report.section import Cell, Measured, Section, Table

COLUMNS = (
    "run", "dataset", "n", "measure", "best recipe", "its value", "against the others", OURS,
    f"{OURS} minus the best other", "that other, p (Holm)",
)  # fmt: skip
NOTE = (
    "A row for each run: the recipe with the best primary measure, its value [95 % interval], and whether it is better "
    "than each other recipe on the same questions, p < 0.05 after Holm's correction."
)


def overview(runs: Sequence[Run], also: Sequence[Run] = ()) -> Section:
    """One table of all `runs`, and every warning once, of the runs in `also` too."""
    rows = [row(run, block) for run in runs for block in run.blocks]
    tables = [Table("The runs at a glance", COLUMNS, rows, NOTE)] if rows else []
    warned: dict[str, list[str]] = {}
    for run in (*runs, *also):
        for warning in warnings(run):
            warned.setdefault(warning, []).append(run.name)
    return Section("At a glance", [f"{', '.join(names)}: {warning}" for warning, names in warned.items()], tables)


def row(run: Run, block: Block) -> list[Cell]:
    """What a run says, or one generator's part of it."""
    name = f"{run.name} ({block.generator or 'generator not told'})" if len(run.blocks) > 1 else run.name
    start: list[Cell] = [name, f"{run.dataset['kind']} {run.dataset['name']}", run.dataset["questions"], block.primary]
    leading = block.leading(block.primary)
    if leading is None:
        return [*start, *[None] * (len(COLUMNS) - len(start))]
    return [*start, leading, block.scores[leading][block.primary], shared(block, leading), *ours(block)]


def shared(block: Block, leading: str) -> str:
    """Whether the first is surely the first, or with whom it shares the place."""
    rivals = block.rivals(leading, block.primary)
    if not rivals:
        return "not compared"
    alike = [recipe for recipe, told in rivals.items() if standing(block.primary, told) <= 0]
    return f"not distinguishable from {listed(alike, len(rivals))}" if alike else "significantly better than each"


def ours(block: Block) -> list[Cell]:
    """Our recipe's number, and its paired difference to the best of the others."""
    value = block.scores.get(OURS, {}).get(block.primary)
    compared = block.rivals(OURS, block.primary)
    if not compared:
        return [value, None, None]
    best = max(compared, key=lambda other: block.scores[other][block.primary].value or 0.0)
    told = compared[best]
    p = "" if told.p_holm is None else f", {probability(told.p_holm)}"
    return [value, Measured(told.difference, told.low, told.high, told.n), f"{best}{p}"]


def sentences(block: Block) -> Iterator[str]:
    """At most three: who is highest, how ours stands among them, what is surely worse than the baseline."""
    leading = block.leading(block.primary)
    if leading is None:
        return
    words = block.scores[leading].get("words_median")
    length = f" (median length of an answer in words: {words.shown})" if words and block.primary == "match" else ""
    yield (
        f"{leading} has the highest {block.primary}, {block.scores[leading][block.primary]}{length}: "
        f"{shared(block, leading)}."
    )
    if rivals_of(block):
        yield verdict(block)
    if block.others:
        yield against_baseline(block)


def against_baseline(block: Block) -> str:
    """The recipes that are significantly worse than the baseline in the primary measure."""
    rivals = block.rivals(block.baseline, block.primary)
    worse = [recipe for recipe, told in rivals.items() if standing(block.primary, told) > 0]
    if not worse:
        return f"No recipe is significantly worse than {block.baseline} in {block.primary}."
    return f"Significantly worse than {block.baseline} in {block.primary}: {', '.join(worse)}."
