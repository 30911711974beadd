"""The tables of a run, views of its numbers: recipes side by side, outcomes, differences, ablations, claims."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from itertools import product

from thresher_evals.metrics.answers import Outcome, outcome
from thresher_evals.report.blocks import Cell, Figure, Number, Table
from thresher_evals.report.data import RIVAL_MEASURES, SIGNIFICANT, Block, Measurement, Run
from thresher_evals.report.plots import COLOURS, bars, differences, stacked
from thresher_evals.report.published import ABLATED_ON, CRAG_ABLATIONS, LABEL, LLAMA, SELF_RAG_LLAMA, Claim, claims_of
from thresher_evals.report.questions import changes
from thresher_evals.rows import Row
from thresher_evals.runner import parse_variant
from thresher_evals.stats import Comparison

ANSWERS = ("label_accuracy", "match", "em", "f1", "factscore", "respond_ratio", "wrong", "unsupported", "words_median")
RETRIEVED = ("nDCG@10", "P@5", "R@5", "F1@5", "span_R@5", "span_F1@5", "context_match", "gold_source")
FAILED = "judge_failed"
JUDGED = re.compile(rf"(judged|likert|rated)_.*|{FAILED}")
COST = ("seconds_p50", "seconds_p95", "seconds_mean", "cpu_seconds", "memory_mib")
SPENT = ("llm_calls", "prompt_tokens", "completion_tokens", "web_requests", "context_characters")
"""The measures that stand on a page; measures.csv has the others."""

MOVED = ("f1", "nDCG@10", "R@5", "context_match", "abstained", "refusal_recall", "verdict_accuracy")
"""What stands beside the primary measure of an ablation, where a question of it came out otherwise."""

STAR = "★: better than each other recipe on the same questions, p < 0.05 after Holm's correction."
LONGEST_LABEL = 26  # characters that leave most of a drawing's width to the drawing
FIGURE_MEASURES = 3  # that have room side by side
NOT_DRAWN = ("em", "f1")  # whose differences look like those of the primary measure

OUTCOME_COLOURS = {
    Outcome.RIGHT: COLOURS[2],
    Outcome.REFUSED_RIGHTLY: COLOURS[6],
    Outcome.UNCHECKED: COLOURS[5],
    Outcome.RANKED: COLOURS[0],
    Outcome.REFUSED_WRONGLY: COLOURS[4],
    Outcome.WRONG: COLOURS[1],
    Outcome.UNREADABLE: COLOURS[3],
    Outcome.TIMED_OUT: COLOURS[5],
    Outcome.FAILED: COLOURS[7],
}
SOMETIMES = {Outcome.UNCHECKED, Outcome.RANKED, Outcome.REFUSED_RIGHTLY}
"""Outcomes that have a column only where there are such questions; the others always have one, also for none."""


# --- cells ------------------------------------------------------------------------------------------------------------


def number(one: Measurement | None, n: int | None = None, *, mark: bool = False) -> Number | None:
    """A measurement, with its n where that is not `n`."""
    return None if one is None else Number(one.value, one.low, one.high, None if one.n == n else one.n, mark=mark)


def difference(told: Comparison | None) -> Number | None:
    """A difference with its p after Holm's correction, marked where that is small."""
    if told is None or told.difference is None:
        return None
    p = told.p if told.p_holm is None else told.p_holm
    return Number(told.difference, told.low, told.high, p=p, signed=True, mark=p is not None and p < SIGNIFICANT)


def short(recipe: str) -> str:
    """A recipe's name that fits beside a drawing: the first settings of a variant."""
    if len(recipe) <= LONGEST_LABEL:
        return recipe
    return f"{recipe[: LONGEST_LABEL - 2].rsplit(',', 1)[0]}…]"


def labels(recipes: Sequence[str]) -> Mapping[str, str]:
    """Short names, numbered where two would be the same."""
    times = Counter(map(short, recipes))
    return {
        recipe: short(recipe) if times[short(recipe)] == 1 else f"{parse_variant(recipe).recipe} ({place})"
        for place, recipe in enumerate(recipes, start=1)
    }


def legend(names: Mapping[str, str]) -> list[tuple[str, str]]:
    """What numbered names stand for."""
    return [(label, recipe) for recipe, label in names.items() if label.endswith(")")]


# --- the recipes side by side -----------------------------------------------------------------------------------------


def measure_table(title: str, block: Block, names: Iterable[str], note: str = "") -> list[Table]:
    """A row for each recipe and a column for each measure that some recipe has; nothing where none has any."""
    return number_table(title, block, {name: (name, "") for name in names}, note)


def number_table(title: str, block: Block, columns: Mapping[str, tuple[str, str]], note: str = "") -> list[Table]:
    """The same for columns of a measure in a category, by what stands above them."""
    cells = {head: block.told(*column) for head, column in columns.items() if block.told(*column)}
    if not cells:
        return []
    best = {head: None if columns[head][1] else block.best(columns[head][0]) for head in cells}
    sizes = {head: {one.n for one in told.values()} for head, told in cells.items()}
    common = {head: next(iter(of)) if len(of) == 1 else block.n for head, of in sizes.items()}
    names = labels(block.recipes)
    rows: list[list[Cell]] = [
        [
            names[recipe],
            *(number(told.get(recipe), common[head], mark=best[head] == recipe) for head, told in cells.items()),
        ]
        for recipe in block.recipes
    ]
    heads = [head if common[head] == block.n else f"{head}, n = {common[head]}" for head in cells]
    notes = [f"n = {block.n} where nothing else is said.", STAR if any(best.values()) else "", note]
    return [Table(title, ["recipe", *heads], rows, " ".join(filter(None, notes)))]


def judged_tables(block: Block) -> list[Table]:
    """What judges and people rated; where no reply of a judge failed, that needs no column."""
    names = [name for name in block.measures if JUDGED.fullmatch(name)]
    failed = any(one.value for one in block.told(FAILED).values())
    return measure_table("What judges and people said", block, [name for name in names if name != FAILED or failed])


def cost_tables(run: Run, block: Block) -> list[Table]:
    """What an answer takes and spends; not what it takes where the recipes were asked in turn."""
    spent = [name for name in SPENT if any(one.value for one in block.told(name).values())]
    memory = "Memory is the most the process had held: a recipe shows what the ones before it took too."
    return measure_table("Cost of a question", block, (*COST, *spent), "" if run.together else memory)


def category_table(block: Block) -> list[Table]:
    """The primary measure in each category; of questions that cannot be answered, how many were refused."""
    pairs = product((block.primary, "refusal_recall"), block.categories)
    columns = {f"{name}, {category}": (name, category) for name, category in pairs}
    return number_table("By category", block, columns) if len(block.categories) > 1 else []


# --- outcomes ---------------------------------------------------------------------------------------------------------


def outcome_table(block: Block, prefix: str) -> Table:
    """Counts of questions: nothing that was refused, failed, late or unreadable disappears."""
    counts = {recipe: Counter(map(outcome, rows)) for recipe, rows in block.rows.items()}
    ranked, names = block.task == "search", labels(block.recipes)
    kinds = [
        kind
        for kind in OUTCOME_COLOURS
        if any(counts[recipe][kind] for recipe in counts) or (not ranked and kind not in SOMETIMES)
    ]
    rows: list[list[Cell]] = []
    for recipe, of in block.rows.items():
        changed = Counter(one.gained for one in changes(block, recipe))
        gains: list[Cell] = [None, None] if recipe == block.baseline else [changed[True], changed[False]]
        rows.append([names[recipe], len(of), *(counts[recipe][kind] for kind in kinds), *trouble(of), *gains])
    heads = ["recipe", "n", *kinds, "something late", "unreadable replies", "degraded"]
    heads += [f"gained on {block.baseline}", f"lost to {block.baseline}"]
    note = (
        "Counts of questions. Right is a gold answer (as in `match_norm`), the right option, or where neither is known "
        "a gold document; an answer to a question that cannot be answered is wrong. Beside the outcome: something was "
        "late, a reply of a model could not be read, something was done without."
    )
    drawn = [(names[recipe], {str(kind): counts[recipe][kind] for kind in kinds}) for recipe in block.recipes]
    there = {str(kind): OUTCOME_COLOURS[kind] for kind in kinds if any(count[kind] for count in counts.values())}
    draw = partial(stacked, rows=drawn, kinds=there)
    figure = Figure(f"{prefix}-outcomes", "Shares of the questions", draw, block.n, legend=legend(names))
    return Table("What became of the questions", heads, rows, note, [] if ranked else [figure])


def trouble(rows: Sequence[Row]) -> list[int]:
    """How many questions were late, had an unreadable reply, and were answered without something."""
    return [
        sum(row.timed_out for row in rows),
        sum(row.unreadable > 0 for row in rows),
        sum(bool(row.degraded) for row in rows),
    ]


# --- differences ------------------------------------------------------------------------------------------------------

Compared = Mapping[str, Mapping[str, Comparison]]
"""Measure to recipe to how it compares."""


def moved(compared: Compared) -> Compared:
    """The measures in which any question came out otherwise, and the primary one, which is the first."""
    return {
        name: told
        for place, (name, told) in enumerate(compared.items())
        if told and (place == 0 or any(one.better or one.worse for one in told.values()))
    }


def rival_table(block: Block, prefix: str) -> list[Table]:
    """The recipe that the report is about minus each other one; nothing where it is alone."""
    recipe, primary, names = block.subject, block.primary, labels(block.recipes)
    compared = moved({name: block.rivals(recipe, name) for name in dict.fromkeys((primary, *RIVAL_MEASURES))})
    if primary not in compared:
        return []
    rows: list[list[Cell]] = [
        [names[other], f"{told.better} / {told.worse}", *(difference(of.get(other)) for of in compared.values())]
        for other, told in compared[primary].items()
    ]
    note = (
        f"On the questions both have, with p after Holm's correction for {len(rows)} recipes (★: p < 0.05). Higher / "
        f"lower: questions on which the {primary} of {recipe} is. Of wrong_refusals less is better."
    )
    heads = ["against", "higher / lower", *compared]
    figures = difference_figure(f"{prefix}-rivals", block.n, compared)
    return [Table(f"{recipe} minus each other recipe", heads, rows, note, figures)]


def ablation_table(block: Block, base: str, prefix: str) -> Table:
    """Each variant minus the recipe itself, if that was asked; what became of their questions."""
    primary, title = block.primary, f"Ablations of {base}"
    compared: Compared = {}
    note = f"n = {block.n}. {base} as it is was not asked, so its variants are compared with nothing here."
    if base in block.rows:
        compared = moved({name: block.variants(base, name) for name in dict.fromkeys((primary, *MOVED))})
        note = f"n = {block.n}. Minus {base} as it is, p after Holm's correction for the variants (★: p < 0.05)."
    rows: list[list[Cell]] = []
    for recipe, of in block.rows.items():
        differing = [difference(told.get(recipe)) for told in compared.values()]
        rows.append([recipe, number(block.get(recipe, primary), block.n), *differing, outcomes_in_short(of)])
    heads = ["recipe", primary, *(f"{name}, difference" for name in compared), OUTCOMES_IN_SHORT]
    return Table(title, heads, rows, note, difference_figure(f"{prefix}-ablations", block.n, compared))


def difference_figure(name: str, n: int, compared: Compared) -> list[Figure]:
    """The first of the measures drawn; nothing where there is one difference only."""
    measures = [measure for measure in compared if measure not in NOT_DRAWN][:FIGURE_MEASURES]
    recipes = list(dict.fromkeys(recipe for measure in measures for recipe in compared[measure]))
    if len(recipes) < 2:
        return []
    names = labels(recipes)
    told = {
        names[recipe]: {measure: difference(compared[measure].get(recipe)) for measure in measures}
        for recipe in recipes
    }
    rows = [(label, {measure: one for measure, one in of.items() if one}) for label, of in told.items()]
    draw = partial(differences, rows=rows, measures=measures)
    return [
        Figure(
            name, "Differences with their intervals", draw, n, "Blue: p < 0.05 after Holm's correction.", legend(names)
        )
    ]


OUTCOMES_IN_SHORT = "right / wrong / refused / unreadable / late / failed"


def outcomes_in_short(rows: Sequence[Row]) -> str:
    """What became of the questions, in one cell."""
    counts = Counter(map(outcome, rows))
    refused = counts[Outcome.REFUSED_WRONGLY] + counts[Outcome.REFUSED_RIGHTLY]
    others = (counts[kind] for kind in (Outcome.UNREADABLE, Outcome.TIMED_OUT, Outcome.FAILED))
    return " / ".join(map(str, (counts[Outcome.RIGHT], counts[Outcome.WRONG], refused, *others)))


# --- what was claimed -------------------------------------------------------------------------------------------------


def claimed_tables(run: Run, block: Block, prefix: str) -> list[Table]:
    """What papers print for this dataset, beside the recipes in a drawing; nothing for other datasets."""
    claims = claims_of(run.dataset["kind"], (*ANSWERS, *RETRIEVED, *COST))
    claims = [one for one in claims if one.measure in block.measures]
    if not claims:
        return []
    rows: list[list[Cell]] = [
        [one.system, one.generator, one.measure, Number(one.value, claimed=True), one.source] for one in claims
    ]
    names = [name for name in dict.fromkeys(one.measure for one in claims) if name not in COST][:FIGURE_MEASURES]
    figures = [claimed_figure(block, claims, names, f"{prefix}-claimed")] if names else []
    heads = ["system", "generator", "measure", "claimed", "source"]
    return [Table("What papers print for this dataset", heads, rows, f"{LABEL.capitalize()}.", figures)]


def claimed_figure(block: Block, claims: Sequence[Claim], names: Sequence[str], figure: str) -> Figure:
    """Measured numbers filled, printed ones hollow below them."""
    short_names = labels(block.recipes)
    drawn = [
        (short_names[recipe], {name: one for name in names if (one := number(block.get(recipe, name)))})
        for recipe in block.recipes
    ]
    printed: dict[str, dict[str, Number]] = {}
    for claim in claims:
        if claim.measure in names:
            label = f"{claim.system} ({claim.generator})"
            printed.setdefault(label, {})[claim.measure] = Number(claim.value, claimed=True)
    title = "Measured (filled) and claimed (hollow)"
    return Figure(
        figure, title, partial(bars, rows=[*drawn, *printed.items()], measures=names), block.n, f"Hollow: {LABEL}."
    )


def claimed_ablations(run: Run, base: str) -> list[Table]:
    """The printed ablations of CRAG, where the dataset has the questions of theirs in its name."""
    if base != "crag" or ABLATED_ON not in f"{run.dataset['kind']} {run.dataset['name']}".lower():
        return []
    rows: list[list[Cell]] = [
        [variant, *(Number(percent / 100, claimed=True) for percent in percents), source]
        for (variant, source), percents in CRAG_ABLATIONS.items()
    ]
    note = f"Accuracy on PopQA: {LABEL}, other questions."
    return [Table("Ablations of CRAG as printed", ["variant", LLAMA, SELF_RAG_LLAMA, "source"], rows, note)]
