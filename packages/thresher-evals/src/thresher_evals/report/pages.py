"""A page for each dataset: its runs one after the other, ablations and degraded retrieval as one table each."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

from thresher_evals.report.blocks import Cell, Figure, Page, Section, Table, shown
from thresher_evals.report.data import Block, Run, standing
from thresher_evals.report.plots import Line, lines
from thresher_evals.report.questions import examples
from thresher_evals.report.run import command, facts, small_print, warnings
from thresher_evals.report.tables import (
    ANSWERS,
    OUTCOMES_IN_SHORT,
    RETRIEVED,
    ablation_table,
    category_table,
    claimed_ablations,
    claimed_table,
    cost_table,
    difference,
    judged_table,
    labels,
    measure_table,
    number,
    outcome_table,
    outcomes_in_short,
    rival_table,
)
from thresher_evals.report.verdicts import verdict_tables

NAMED = 4  # recipes that a sentence names; more are counted
STANDINGS = {1: "significantly better than", 0: "not distinguishable from", -1: "significantly worse than"}


def dataset_pages(runs: Sequence[Run], shown_changes: int) -> list[Page]:
    """A page for each dataset: its runs in their order, those with retrieval made worse together at the end."""
    grouped: dict[str, list[Run]] = {}
    for run in runs:
        grouped.setdefault(run.key, []).append(run)
    pages = []
    for key, of in grouped.items():
        whole = [one for run in of if run.share is None for one in run_sections(run, shown_changes)]
        worse = degraded_sections([run for run in of if run.share is not None])
        pages.append(Page(of[0].blocks[0].dataset, [*whole, *worse], key))
    return pages


def run_sections(run: Run, shown_changes: int) -> Iterator[Section]:
    """A section for each generator of a run; the first says what was run."""
    head, details = [facts(run), *warnings(run)], list(small_print(run))
    for place, block in enumerate(run.blocks):
        alone = len(run.blocks) == 1
        prefix = run.name if alone else f"{run.name}-{place}"
        title = run.name if alone else f"{run.name}, answers of {block.generator or 'a generator not named'}"
        if block.ablated is not None:
            tables = [ablation_table(block, block.ablated, prefix), *claimed_ablations(run, block.ablated)]
            yield Section(title, head, tables, details=details)
        else:
            tables = list(block_tables(run, block, prefix))
            yield Section(title, [*head, *sentences(block)], tables, examples(run, block, shown_changes), details)
        head, details = [], []


def block_tables(run: Run, block: Block, prefix: str) -> Iterator[Table]:
    """What stands on the page of every block that is no ablation, as far as there is data."""
    yield from rival_table(block, prefix)
    yield outcome_table(block, prefix)
    yield from measure_table("Answers", block, ANSWERS)
    yield from measure_table("What was retrieved", block, RETRIEVED)
    yield from judged_table(block)
    yield from verdict_tables(run, block, prefix)
    yield from category_table(block)
    yield from cost_table(run, block)
    yield from claimed_table(run, block, prefix)


# --- sentences that follow from the numbers by rule -------------------------------------------------------------------


def sentences(block: Block) -> Iterator[str]:
    """Who is highest, and how the recipe of the report stands among the others."""
    name, leading = block.primary, block.leading(block.primary)
    if leading is None or len(block.recipes) == 1:
        return
    words = block.get(leading, "words_median") if name == "match" else None
    length = f" (median length of an answer in words: {shown(words.value)})" if words else ""
    rivals = block.rivals(leading, name)
    alike = [recipe for recipe, one in rivals.items() if standing(name, one) <= 0]
    listed = ", ".join(alike) if len(alike) <= NAMED else f"{len(alike)} of {len(rivals)} others"
    how = f"not distinguishable from {listed}" if alike else "significantly better than each other"
    yield f"{leading} has the highest {name}, {number(block.get(leading, name), block.n)}{length}: {how}."
    if block.subject != leading:
        yield standing_in_words(block)


def standing_in_words(block: Block) -> str:
    """Than whom the recipe of the report is significantly better or worse in the primary measure."""
    compared = block.rivals(block.subject, block.primary)
    if not compared:
        return f"In {block.primary}, {block.subject} cannot be compared: it has no number."
    parts = []
    for sign, how in STANDINGS.items():
        others = [name for name, one in compared.items() if standing(block.primary, one) == sign]
        parts += [f"{how} {', '.join(others)}"] if others else []
    times = "1 comparison" if len(compared) == 1 else f"{len(compared)} comparisons"
    return f"In {block.primary}, {block.subject} is {'; '.join(parts)} (p < 0.05 after Holm's correction for {times})."


# --- retrieval made worse on purpose (CRAG, Figure 3) -----------------------------------------------------------------


def degraded_sections(runs: Sequence[Run]) -> Iterator[Section]:
    """A section for the runs of the same recipes."""
    groups: dict[tuple[str, ...], list[Run]] = {}
    for run in sorted(runs, key=lambda run: -(run.share or 0.0)):
        groups.setdefault(tuple(run.described["recipes"]), []).append(run)
    for group in groups.values():
        head = dict.fromkeys([facts(group[0]), *(warning for run in group for warning in warnings(run))])
        details = [f"{run.name}: `{command(run)}`" for run in group]
        yield Section("Retrieval made worse", list(head), [degraded_table(group)], details=details)


def degraded_table(runs: Sequence[Run]) -> Table:
    """The primary measure by the share of questions that may find their gold documents, the highest share first."""
    blocks = [(run.share or 0.0, block) for run in runs for block in run.blocks]
    recipes = list(dict.fromkeys(recipe for _, block in blocks for recipe in block.recipes))
    subject, measure = blocks[0][1].subject, blocks[0][1].primary
    others = [recipe for recipe in recipes if recipe != subject]
    rows: list[list[Cell]] = []
    for share, block in blocks:
        compared = block.rivals(subject, measure) if subject in block.rows else {}
        outcomes = "; ".join(f"{recipe} {outcomes_in_short(of)}" for recipe, of in block.rows.items())
        numbers = [number(block.get(recipe, measure), block.n) for recipe in recipes]
        rows.append([f"{share:g}", block.run, *numbers, *(difference(compared.get(one)) for one in others), outcomes])
    heads = ["share", "run", *recipes, *(f"{subject} − {other}" for other in others), OUTCOMES_IN_SHORT]
    note = (
        f"{measure} where, of the questions with gold documents inside, only a share may still find them (CRAG, Figure "
        f"3); the rest of the collection is as it was. n = {min(block.n for _, block in blocks)} each; Holm's "
        "correction is for the recipes of one share."
    )
    drawn = []
    for recipe, label in labels(recipes).items():
        known = [(share, one) for share, block in blocks if (one := block.get(recipe, measure))]
        bands = [[getattr(one, end) or 0.0 for _, one in known] for end in ("value", "low", "high")]
        drawn.append(Line(label, [share for share, _ in known], *bands))
    draw = partial(lines, drawn=drawn, x="share of the questions that may find their gold documents", y=measure)
    title, n = f"{measure} where retrieval is made worse", min(block.n for _, block in blocks)
    return Table(f"{measure} by share", heads, rows, note, [Figure(f"{runs[0].name}-worse", title, draw, n)])
