"""Builds the pages of a report: the summary, at most one screen, and a page for each dataset.

A page has the runs of its dataset in order, ablations and degraded retrieval as one table each.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from thresher import recipes
from thresher.errors import ThresherError
from thresher.settings import flat
from thresher_evals.asker import parse_variant
from thresher_evals.compare.text_report import advice
from thresher_evals.report.blocks import Cell, Figure, Link, Page, Section, Table, probability, shown
from thresher_evals.report.data import Block, Run, labels, short, sign_of, standing
from thresher_evals.report.plots import Line, lines
from thresher_evals.report.questions import answer_table, examples
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
    measure_table,
    number,
    outcome_table,
    outcomes_in_short,
    rival_table,
    verdict_tables,
)
from thresher_evals.rows import WHY

NAMED = 4  # recipes named in a sentence; more are counted
STANDINGS = {1: "significantly better than", 0: "not distinguishable from", -1: "significantly worse than"}


def dataset_pages(runs: Sequence[Run], shown_changes: int) -> list[Page]:
    """A page for each dataset: its runs in order, those with degraded retrieval together at the end."""
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
    """A section for each generator of a run; the first describes the run."""
    head, details = [facts(run), *warnings(run)], list(small_print(run))
    for place, block in enumerate(run.blocks):
        alone = len(run.blocks) == 1
        prefix = run.name if alone else f"{run.name}-{place}"
        title = run.name if alone else f"{run.name}, answers of {block.generator or 'a generator not named'}"
        if block.ablated is not None:
            tables = [ablation_table(block, block.ablated), *claimed_ablations(run, block.ablated)]
            yield Section(title, head, tables, details=details)
        else:
            tables = list(block_tables(run, block, prefix))
            text = [*advised(run), *sentences(block), *head] if head else [*sentences(block)]
            yield Section(title, text, tables, examples(run, block, shown_changes), details)
        head, details = [], []


def block_tables(run: Run, block: Block, prefix: str) -> Iterator[Table]:
    """The tables of a block without ablations, as far as there is data."""
    yield from rival_table(block)
    yield outcome_table(block)
    yield from measure_table("Answers", block, ANSWERS)
    yield from measure_table("What was retrieved", block, RETRIEVED)
    yield from judged_table(block)
    yield from verdict_tables(run, block, prefix)
    yield from category_table(block)
    yield from cost_table(run, block)
    yield from claimed_table(run, block)
    yield from answer_table(block)


def advised(run: Run) -> Iterator[str]:
    """The advice of `eval compare`, if it made the run."""
    if run.comparison:
        yield from (part.strip() for part in advice(run.comparison) if isinstance(part, str))


# --- sentences that follow from the numbers by rule -------------------------------------------------------------------


def sentences(block: Block) -> Iterator[str]:
    """The leading recipe, and how the recipe of the report compares."""
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
    """The recipes that the report's recipe is significantly better or worse than, in the primary measure."""
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
    """A section for each group of runs with the same recipes."""
    groups: dict[tuple[str, ...], list[Run]] = {}
    for run in sorted(runs, key=lambda run: -(run.share or 0.0)):
        groups.setdefault(tuple(run.described["recipes"]), []).append(run)
    for group in groups.values():
        head = dict.fromkeys([facts(group[0]), *(warning for run in group for warning in warnings(run))])
        details = [f"{run.name}: `{run.described['command']}`" for run in group if run.described.get("command")]
        yield Section("Retrieval made worse", list(head), [degraded_table(group)], details=details)


def degraded_table(runs: Sequence[Run]) -> Table:
    """The primary measure by the share of questions that can find their gold documents, the highest share first."""
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


# --- the head of a run: questions, reasons why it is no evidence, its command -----------------------------------------

ENOUGH_FOR_HEADLINES, ENOUGH_FOR_ABLATIONS = 300, 100
"""Questions, or all there are (docs/methods.md, sizes)."""

IN_SENTENCES = {"dataset", "recipes", "settings", "limit", "outside", "together", "command"}
"""Keys of run.json with their own wording."""


def facts(run: Run) -> str:
    """What was asked, in a sentence."""
    dataset, outside = run.dataset, run.described.get("outside", "none")
    available = dataset.get("available")
    of = f" of {available}" if available and available != dataset["questions"] else ""
    counts = ", ".join(f"{count} {name}" for name, count in dataset.get("categories", {}).items())
    generators = " and of ".join(block.generator or "a generator not named" for block in run.blocks)
    parts = [
        f"n = {dataset['questions']} questions{of}" + (f" ({counts})" if counts else ""),
        f"{run.described['limit']} results a search",
        "nowhere to look outside" if outside == "none" else f"looked outside in `{outside}`",
        "" if dataset["task"] == "search" else f"answers of {generators}",
        str(dataset.get("note") or ""),
    ]
    return "; ".join(filter(None, parts)) + "."


def warnings(run: Run) -> Iterator[str]:
    """Reasons why the numbers of a run are no evidence."""
    dataset = run.dataset
    sample, n, available = dataset.get("sample"), dataset["questions"], dataset.get("available")
    if sample is not None and not (available and sample >= available):
        of = f" of {available}" if available else ""
        if n < ENOUGH_FOR_ABLATIONS:
            worth = "a smoke run, not evidence"
        elif n < ENOUGH_FOR_HEADLINES:
            worth = f"a sample, enough for ablations and not for a headline, which takes {ENOUGH_FOR_HEADLINES}"
        else:
            worth = "a sample"
        yield f"--sample {sample}{of}: {worth}. n = {n}."
    elif n < ENOUGH_FOR_ABLATIONS:
        yield f"These are all the questions of the dataset, and few: n = {n}."
    for recipe, rows in run.rows.items():
        if len(rows) < n:
            yield f"Unfinished: {recipe} has {len(rows)} of {n} questions. Its numbers are of those."
    if len(run.blocks) > 1:
        yield "The answers have different generators: they stand apart and are not compared."


def small_print(run: Run) -> Iterator[str]:
    """The command of a run, changed settings, degradations, the machine, and the agreement of raters."""
    described = run.described
    if command := run.described.get("command"):
        yield f"To make it again: `{command}`"
    if run.together:
        yield WHY
    yield from (f"{label} is {recipe}." for recipe, label in labels(described["recipes"]).items() if label != recipe)
    for recipe, settings in described["settings"].items():
        own, defaults = parse_variant(recipe).settings, defaults_of(recipe)
        changed = [
            f"{name} {in_words(value)} (default now: {in_words(defaults[name])})"
            for name, value in settings.items()
            if name in defaults and name not in own and in_words(defaults[name]) != in_words(value)
        ]
        if changed:
            yield f"Settings of {recipe}: {'; '.join(changed)}."
    degradations = {recipe: {name for row in rows for name in row.degraded} for recipe, rows in run.rows.items()}
    for degradation in sorted(set().union(*degradations.values())):
        by = [recipe for recipe, names in degradations.items() if degradation in names]
        listed = "every recipe" if len(by) == len(degradations) > 1 else ", ".join(by)
        yield f"Done without, by {listed}: {degradation}."
    all_else = {"sha256 of the dataset": run.dataset["sha256"], "split": run.dataset.get("split", "all"), **described}
    rest = [f"{name}: {in_words(value)}" for name, value in all_else.items() if value and name not in IN_SENTENCES]
    yield f"{'; '.join(rest)}."
    for dimension, agreement in run.ratings.get("agreement", {}).items():
        numbers = [f"{name.replace('_', ' ')} {shown(value)}" for name, value in agreement.items() if value is not None]
        yield f"{len(run.ratings['raters'])} people rated {dimension} without a recipe's name: {', '.join(numbers)}."


def in_words(value: Any) -> str:
    """A value of run.json or a setting, as text."""
    if isinstance(value, Mapping):
        return ", ".join(f"{name} {in_words(item)}" for name, item in value.items() if item not in (None, "", {}, []))
    return ", ".join(map(in_words, value)) if isinstance(value, list | tuple) else str(value)


def defaults_of(recipe: str) -> Mapping[str, Any]:
    """The default settings of a recipe; empty for a recipe that no longer exists."""
    try:
        return flat(recipes.get(parse_variant(recipe).recipe).settings())
    except ThresherError:
        return {}


# --- the top of a report: gains and losses, refusals, costs, where others win, and warnings ---------------------------

COLUMNS = 6  # recipes with their own column
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
    """A row for each run that compares recipes, with its remarks."""
    compared = [(run, block) for run in runs if run.share is None for block in run.blocks if block.ablated is None]
    blocks = [block for _, block in compared]
    columns = own_columns(blocks)
    heads = ["dataset", "n", "recipe, measure", "value", OUTCOMES_IN_SHORT, *(f"− {one}" for one in columns)]
    rows = [summary_row(run, block, columns) for run, block in compared]
    tables = [Table("", [*heads, "− the best of the others"], rows, NOTE)] if rows else []
    first = [line for run in runs for line in advised(run)]
    told = [*first, *standings(blocks)]
    return [Section("", told, tables), Section("", [*costs(blocks), *all_warnings(runs)])]


def own_columns(blocks: Sequence[Block]) -> list[str]:
    """Recipes with a column: those without settings that occur in most rows."""
    others = (recipe for block in blocks for recipe in block.recipes if recipe != block.subject)
    times = Counter(recipe for recipe in others if not parse_variant(recipe).settings)
    often = [recipe for recipe, count in times.items() if count > 1 or len(blocks) == 1]
    return sorted(often, key=lambda recipe: -times[recipe])[:COLUMNS]


def summary_row(run: Run, block: Block, columns: Sequence[str]) -> list[Cell]:
    """Results of the report's recipe in a block."""
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
    """How often the report's recipe is better and worse, and which others are better."""
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
    """Time and model calls of a question, for runs that measured them."""
    for block in blocks:
        for name, words in COSTS.items():
            numbers = block.numbers_of(name)
            if any(one.value for one in numbers.values()):
                each = ", ".join(f"{short(recipe)} {shown(one.value)}" for recipe, one in numbers.items())
                yield f"{words} on {block.run}, n = {block.n}: {each}."


def all_warnings(runs: Sequence[Run]) -> Iterator[str]:
    """Each warning once with its runs, and the machines."""
    about: dict[str, list[str]] = {}
    for run in runs:
        for warning in warnings(run):
            about.setdefault(warning, []).append(run.name)
    yield from (f"{', '.join(names)}: {warning}" for warning, names in about.items())
    machines = dict.fromkeys(in_words(run.described["machine"]) for run in runs if run.described.get("machine"))
    if machines:
        yield f"Machine{'s, whose seconds are not compared' * (len(machines) > 1)}: {'; '.join(machines)}."
