"""The top of a report, at most one screen: gains and losses, refusals, costs, where others win, and warnings."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from thresher_evals.report.blocks import Cell, Link, Section, Table, probability, shown
from thresher_evals.report.data import Block, Run, sign_of, standing
from thresher_evals.report.run import in_words, warnings
from thresher_evals.report.tables import OUTCOMES_IN_SHORT, difference, number, outcomes_in_short, short
from thresher_evals.runner import parse_variant

COLUMNS = 6  # recipes that have a column of their own
NOTE = (
    "The recipe minus each other one on the same questions [95 % interval], p after Holm's correction; ★: p < 0.05. "
    "The best of the others is a preset or a variant, such as a published recipe with our judge."
)
COSTS = {
    "seconds_p50": "Median seconds a question",
    "cpu_seconds": "Processor seconds a question",
    "llm_calls": "Calls of a language model a question",
}


def summary(runs: Sequence[Run]) -> list[Section]:
    """A row for each run that compares recipes, and what must be said beside it."""
    compared = [(run, block) for run in runs if run.share is None for block in run.blocks if block.ablated is None]
    blocks = [block for _, block in compared]
    columns = own_columns(blocks)
    heads = ["dataset", "n", "recipe, measure", "value", OUTCOMES_IN_SHORT, *(f"− {one}" for one in columns)]
    rows = [summary_row(run, block, columns) for run, block in compared]
    tables = [Table("", [*heads, "− the best of the others"], rows, NOTE)] if rows else []
    return [Section("", list(standings(blocks)), tables), Section("", [*costs(blocks), *all_warnings(runs)])]


def own_columns(blocks: Sequence[Block]) -> list[str]:
    """The recipes that have a column: those as they are that stand in most rows."""
    others = (recipe for block in blocks for recipe in block.recipes if recipe != block.subject)
    times = Counter(recipe for recipe in others if not parse_variant(recipe).settings)
    often = [recipe for recipe, count in times.items() if count > 1 or len(blocks) == 1]
    return sorted(often, key=lambda recipe: -times[recipe])[:COLUMNS]


def summary_row(run: Run, block: Block, columns: Sequence[str]) -> list[Cell]:
    """What the recipe of a block is worth there."""
    recipe, name = block.subject, block.primary
    compared, numbers = block.rivals(recipe, name), block.numbers_of(name)
    others = [other for other in compared if other not in columns]
    best = max(others, key=lambda other: sign_of(name) * numbers[other].value, default=None)
    return [
        Link(f"{block.dataset} ({run.name})", run.key),
        block.n,
        f"{recipe}, {name}",
        number(block.get(recipe, name), block.n),
        outcomes_in_short(block.rows[recipe]),
        *(difference(compared.get(other)) for other in columns),
        None if best is None else f"{short(best)} {difference(compared[best])}",
    ]


def standings(blocks: Sequence[Block]) -> Iterator[str]:
    """How often the recipe of the report is better and worse, and where others are better, plainly."""
    times: Counter[int] = Counter()
    better: list[str] = []
    for block in blocks:
        name, numbers = block.primary, block.numbers_of(block.primary)
        for other, one in block.rivals(block.subject, name).items():
            times[standing(name, one)] += 1
            if standing(name, one) < 0:
                values = f"{shown(numbers[other].value)} against {shown(numbers[block.subject].value)}"
                better.append(f"{short(other)} on {block.run} ({name} {values}, p {probability(one.p_holm or 0.0)})")
    subjects = " or ".join(dict.fromkeys(block.subject for block in blocks))
    if times:
        yield (
            f"Of {times.total()} comparisons of {subjects} with another recipe it is significantly better in "
            f"{times[1]}, not distinguishable in {times[0]}, significantly worse in {times[-1]} (p < 0.05 after Holm's "
            "correction)."
        )
    if better:
        yield f"Others are significantly better: {'; '.join(better)}."


def costs(blocks: Sequence[Block]) -> Iterator[str]:
    """What an answer takes, of runs that say so, and what it calls."""
    for block in blocks:
        for name, words in COSTS.items():
            numbers = block.numbers_of(name)
            if any(one.value for one in numbers.values()):
                each = ", ".join(f"{short(recipe)} {shown(one.value)}" for recipe, one in numbers.items())
                yield f"{words} on {block.run}, n = {block.n}: {each}."


def all_warnings(runs: Sequence[Run]) -> Iterator[str]:
    """Every warning once, with the runs it is about, and on which machines they were made."""
    about: dict[str, list[str]] = {}
    for run in runs:
        for warning in warnings(run):
            about.setdefault(warning, []).append(run.name)
    yield from (f"{', '.join(names)}: {warning}" for warning, names in about.items())
    machines = dict.fromkeys(in_words(run.described["machine"]) for run in runs if run.described.get("machine"))
    if machines:
        yield f"Machine{'s, whose seconds are not compared' * (len(machines) > 1)}: {'; '.join(machines)}."
