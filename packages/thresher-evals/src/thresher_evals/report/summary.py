"""The top of a report, at most one screen: gains and losses, refusals, costs, where others win, and warnings."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from thresher_evals.report.blocks import Cell, Link, Section, Table, probability, shown
from thresher_evals.report.data import Block, Run, direction, standing
from thresher_evals.report.run import in_words, warnings
from thresher_evals.report.tables import OUTCOMES_IN_SHORT, difference, number, outcomes_in_short, short
from thresher_evals.runner import parse_variant

COLUMNS = 6  # recipes that have a column of their own
NOTE = (
    "The recipe minus each other one on the same questions [95 % interval], p after Holm's correction; ★: p < 0.05. "
    "The best of the others is a preset or a variant, such as a published recipe with our judge."
)


def summary(runs: Sequence[Run]) -> list[Section]:
    """A row for each run that compares recipes, and what must be said beside it."""
    compared = [(run, block) for run in runs if run.share is None for block in run.blocks if block.ablated is None]
    blocks = [block for _, block in compared]
    columns = own_columns(blocks)
    heads = ["dataset", "n", "measure", "recipe", "its number", OUTCOMES_IN_SHORT, *(f"− {one}" for one in columns)]
    rows = [summary_row(run, block, columns) for run, block in compared]
    tables = [Table("", [*heads, "− the best of the others"], rows, NOTE)] if rows else []
    return [Section("", list(standings(blocks)), tables), Section("", [*costs(blocks), *warned(runs)])]


def own_columns(blocks: Sequence[Block]) -> list[str]:
    """The recipes that have a column: those as they are that stand in most rows."""
    times = Counter(
        recipe
        for block in blocks
        for recipe in block.recipes
        if recipe != block.subject and not parse_variant(recipe).settings
    )
    often = [recipe for recipe, count in times.items() if count > 1 or len(blocks) == 1]
    return sorted(often, key=lambda recipe: -times[recipe])[:COLUMNS]


def summary_row(run: Run, block: Block, columns: Sequence[str]) -> list[Cell]:
    """What the recipe of a block is worth there."""
    recipe, name = block.subject, block.primary
    compared = block.rivals(recipe, name)
    rest = [other for other in compared if other not in columns]
    best = max(rest, key=lambda other: direction(name) * block.value(other, name), default=None)
    return [
        Link(f"{block.dataset} ({run.name})" if run.name.casefold() not in block.dataset else block.dataset, run.key),
        block.n,
        name,
        recipe,
        number(block.get(recipe, name), block.n),
        outcomes_in_short(block.rows[recipe]),
        *(difference(compared.get(other)) for other in columns),
        None if best is None else f"{short(best)} {difference(compared[best])}",
    ]


def standings(blocks: Sequence[Block]) -> Iterator[str]:
    """How often the recipe of the report is better and worse, and where others are better, plainly."""
    told = [
        (block, other, one) for block in blocks for other, one in block.rivals(block.subject, block.primary).items()
    ]
    if not told:
        return
    times = Counter(standing(block.primary, one) for block, _, one in told)
    subjects = " or ".join(dict.fromkeys(block.subject for block, _, _ in told))
    yield (
        f"Of {len(told)} comparisons of {subjects} with another recipe it is significantly better in {times[1]}, not "
        f"distinguishable in {times[0]}, significantly worse in {times[-1]} (p < 0.05 after Holm's correction)."
    )
    worse = [
        f"{short(other)} on {block.run} ({block.primary} {shown(block.value(other, block.primary))} against "
        f"{shown(block.value(block.subject, block.primary))}, p {probability(one.p_holm or 0.0)})"
        for block, other, one in told
        if standing(block.primary, one) < 0
    ]
    if worse:
        yield f"Others are significantly better: {'; '.join(worse)}."


def costs(blocks: Sequence[Block]) -> Iterator[str]:
    """What an answer takes, of runs that say so, and what it calls."""
    for block in blocks:
        for name, what in (
            ("seconds_p50", "Median seconds a question"),
            ("cpu_seconds", "Processor seconds a question"),
            ("llm_calls", "Calls of a language model a question"),
        ):
            told = block.told(name)
            if any(one.value for one in told.values()):
                each = ", ".join(f"{short(recipe)} {shown(one.value)}" for recipe, one in told.items())
                yield f"{what} on {block.run}, n = {block.n}: {each}."


def warned(runs: Sequence[Run]) -> Iterator[str]:
    """Every warning once, with the runs it is about, and on which machines they were made."""
    about: dict[str, list[str]] = {}
    for run in runs:
        for warning in warnings(run):
            about.setdefault(warning, []).append(run.name)
    yield from (f"{', '.join(names)}: {warning}" for warning, names in about.items())
    machines = dict.fromkeys(in_words(run.described["machine"]) for run in runs if run.described.get("machine"))
    if machines:
        yield f"Machine{'s, whose seconds are not compared' * (len(machines) > 1)}: {'; '.join(machines)}."
