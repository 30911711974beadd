"""The tables of a run, views of its numbers: recipes compared, outcomes, differences, ablations, claims."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from thresher.types import Verdict
from thresher_evals.asker import parse_variant
from thresher_evals.metrics.answers import Outcome, outcome
from thresher_evals.metrics.registry import forecast, risk_coverage, verdict_of
from thresher_evals.report.blocks import Cell, Figure, Number, Table
from thresher_evals.report.data import (
    RIVAL_MEASURES,
    Block,
    Differences,
    Measurement,
    Run,
    changes,
    joined,
    labels,
    legend,
)
from thresher_evals.report.plots import Line, heat, lines
from thresher_evals.report.verdicts import BoundsMap, bounds_map
from thresher_evals.rows import Row
from thresher_evals.stats import BINS, Comparison, proportion_interval, wilson_interval

ANSWERS = ("label_accuracy", "match", "em", "f1", "factscore", "respond_ratio", "wrong", "unsupported", "words_median")
RETRIEVED = ("nDCG@10", "P@5", "R@5", "F1@5", "span_R@5", "span_F1@5", "context_match", "gold_source")
JUDGED, JUDGE_FAILED = re.compile(r"(judged|likert|rated)_.*|judge_failed"), "judge_failed"
COST = ("seconds_p50", "seconds_p95", "seconds_mean", "cpu_seconds", "memory_mib")
SPENT = ("llm_calls", "prompt_tokens", "completion_tokens", "cost", "web_requests", "context_characters")
"""Measures shown on a page; measures.csv has the others."""

ABLATION_MEASURES = ("f1", "nDCG@10", "R@5", "context_match", "abstained", "refusal_recall", "verdict_accuracy")
"""Shown beside the primary measure of an ablation, if they changed."""

OUTCOMES = (
    *(Outcome.RIGHT, Outcome.REFUSED_RIGHTLY, Outcome.UNCHECKED, Outcome.RANKED, Outcome.REFUSED_WRONGLY),
    *(Outcome.WRONG, Outcome.UNREADABLE, Outcome.TIMED_OUT, Outcome.FAILED),
)
SOMETIMES = {Outcome.UNCHECKED, Outcome.RANKED, Outcome.REFUSED_RIGHTLY}
"""Outcomes with a column only if they occur; all others always have one."""


# --- cells ------------------------------------------------------------------------------------------------------------


def number(one: Measurement | None, n: int | None = None, *, mark: bool = False) -> Number | None:
    """A measurement, with its n if it differs from `n`."""
    return None if one is None else Number(one.value, one.low, one.high, None if one.n == n else one.n, mark=mark)


def difference(one: Comparison | None) -> Number | None:
    """A difference with p after Holm's correction, marked if significant."""
    if one is None or one.difference is None:
        return None
    return Number(one.difference, one.low, one.high, p=one.p_of_several, signed=True, mark=one.direction != 0)


# --- the recipes side by side -----------------------------------------------------------------------------------------


def measure_table(title: str, block: Block, names: Iterable[str], note: str = "") -> list[Table]:
    """A row for each recipe and a column for each measure with a number; empty without numbers."""
    return number_table(title, block, {name: (name, "") for name in names}, note)


def number_table(title: str, block: Block, columns: Mapping[str, tuple[str, str]], note: str = "") -> list[Table]:
    """The same, with columns given as heading to measure and category."""
    numbers = {head: block.numbers_of(*column) for head, column in columns.items() if block.numbers_of(*column)}
    if not numbers:
        return []
    cells: dict[str, list[Cell]] = {recipe: [label] for recipe, label in labels(block.recipes).items()}
    heads, starred = ["recipe"], False
    for head, of_recipes in numbers.items():
        measure, category = columns[head]
        best = None if category else block.best(measure)
        sizes = {one.n for one in of_recipes.values()}
        n = sizes.pop() if len(sizes) == 1 else block.n
        heads.append(head if n == block.n else f"{head}, n = {n}")
        starred = starred or best is not None
        for recipe, row in cells.items():
            row.append(number(of_recipes.get(recipe), n, mark=recipe == best))
    star = "★: better than each other recipe on the same questions, p < 0.05 after Holm's correction."
    notes = [f"n = {block.n} where nothing else is said.", star if starred else "", note]
    return [Table(title, heads, list(cells.values()), " ".join(filter(None, notes)))]


def judged_table(block: Block) -> list[Table]:
    """Ratings by judges and people; failed replies have a column only if there are any."""
    failed = any(one.value for one in block.numbers_of(JUDGE_FAILED).values())
    names = [name for name in block.measures if JUDGED.fullmatch(name) and (failed or name != JUDGE_FAILED)]
    return measure_table("What judges and people said", block, names)


def cost_table(run: Run, block: Block) -> list[Table]:
    """Costs of an answer; without times if the recipes were asked in turn."""
    spent = [name for name in SPENT if any(one.value for one in block.numbers_of(name).values())]
    memory = "Memory is the most the process had held: a recipe shows what the ones before it took too."
    return measure_table("Cost of a question", block, (*COST, *spent), "" if run.together else memory)


def category_table(block: Block) -> list[Table]:
    """The primary measure and the recall of refusals in each category."""
    pairs = product((block.primary, "refusal_recall"), block.categories)
    columns = {f"{name}, {category}": (name, category) for name, category in pairs}
    return number_table("By category", block, columns) if len(block.categories) > 1 else []


# --- outcomes ---------------------------------------------------------------------------------------------------------


def outcome_table(block: Block) -> Table:
    """Counts of questions: refused, failed, late and unreadable ones are included."""
    counts = {recipe: Counter(map(outcome, rows)) for recipe, rows in block.rows.items()}
    ranked, names = block.task == "search", labels(block.recipes)
    there = [kind for kind in OUTCOMES if any(count[kind] for count in counts.values())]
    kinds = [kind for kind in OUTCOMES if kind in there or (not ranked and kind not in SOMETIMES)]
    cells: list[list[Cell]] = []
    for recipe, rows in block.rows.items():
        gained = Counter(one.gained for one in changes(block, recipe))
        late, unreadable = (sum(row.timed_out for row in rows), sum(row.unreadable > 0 for row in rows))
        beside: list[Cell] = [late, unreadable, sum(bool(row.lacked) for row in rows)]
        beside += [None, None] if recipe == block.baseline else [gained[True], gained[False]]
        cells.append([names[recipe], len(rows), *(counts[recipe][kind] for kind in kinds), *beside])
    heads = ["recipe", "n", *kinds, "something late", "unreadable replies", "degraded"]
    heads += [f"gained on {block.baseline}", f"lost to {block.baseline}"]
    note = (
        "Counts of questions. Right is a gold answer (as in `match_norm`), the right option, or where neither is known "
        "a gold document; an answer to a question that cannot be answered is wrong. Beside the outcome: something was "
        "late, a reply of a model could not be read, something was done without (but for a chat model that is not "
        "configured). Gained and lost as `eval compare` counts: right before none, none before wrong."
    )
    return Table("What became of the questions", heads, cells, note)


OUTCOMES_IN_SHORT = "right / wrong / refused / unchecked / unreadable / late / failed"


def outcomes_in_short(rows: Sequence[Row]) -> str:
    """The outcomes in one cell."""
    counts = Counter(map(outcome, rows))
    refused = counts[Outcome.REFUSED_WRONGLY] + counts[Outcome.REFUSED_RIGHTLY]
    others = (counts[kind] for kind in (Outcome.UNCHECKED, Outcome.UNREADABLE, Outcome.TIMED_OUT, Outcome.FAILED))
    return " / ".join(map(str, (counts[Outcome.RIGHT], counts[Outcome.WRONG], refused, *others)))


# --- differences ------------------------------------------------------------------------------------------------------

Compared = Mapping[str, Differences]
"""Measure to recipe to comparison; the primary measure first."""


def moved(compared: Compared) -> Compared:
    """The measures in which any question changed, and the first."""
    first = next(iter(compared))
    return {
        name: of_recipes
        for name, of_recipes in compared.items()
        if any(name == first or one.better or one.worse for one in of_recipes.values())
    }


def rival_table(block: Block) -> list[Table]:
    """The report's recipe minus each other one; empty if it is alone."""
    recipe, primary, names = block.subject, block.primary, labels(block.recipes)
    compared = moved({name: block.rivals(recipe, name) for name in dict.fromkeys((primary, *RIVAL_MEASURES))})
    if primary not in compared:
        return []
    rows: list[list[Cell]] = [
        [names[other], f"{one.better} / {one.worse}", *(difference(of.get(other)) for of in compared.values())]
        for other, one in compared[primary].items()
    ]
    note = (
        f"On the questions both have, with p after Holm's correction for {len(rows)} recipes (★: p < 0.05). Higher / "
        f"lower: questions on which the {primary} of {recipe} is. Of wrong_refusals less is better."
    )
    return [Table(f"{recipe} minus each other recipe", ["against", "higher / lower", *compared], rows, note)]


def ablation_table(block: Block, base: str) -> Table:
    """Each variant minus its recipe, if that was asked, with the outcomes."""
    compared: Compared = {}
    note = f"n = {block.n}. {base} as it is was not asked, so its variants are compared with nothing here."
    if base in block.rows:
        measures = dict.fromkeys((block.primary, *ABLATION_MEASURES))
        compared = moved({name: block.variants(base, name) for name in measures})
        note = f"n = {block.n}. Minus {base} as it is, p after Holm's correction for the variants (★: p < 0.05)."
    rows: list[list[Cell]] = []
    for recipe, of in block.rows.items():
        differing = [difference(of_recipes.get(recipe)) for of_recipes in compared.values()]
        rows.append([recipe, number(block.get(recipe, block.primary), block.n), *differing, outcomes_in_short(of)])
    heads = ["recipe", block.primary, *(f"{name}, difference" for name in compared), OUTCOMES_IN_SHORT]
    return Table(f"Ablations of {base}", heads, rows, note)


# --- published numbers ------------------------------------------------------------------------------------------------

# Published numbers (published.json) were not measured here and are never mixed with measured ones. Shares are in 0..1.
# Published tables have no intervals, so none are drawn. The papers' accuracy is Self-RAG's `match` (the answer contains
# a gold string), and FActScore for biographies. CRAG's seconds are from its authors' machine. ECRAG's 250 papers and
# questions are unpublished: another set of papers replaces them.

LABEL = "claimed, not measured here, other generator"
"""Printed beside every published number."""

ABLATED_ON = "popqa"
"""Part of the names of datasets that CRAG's ablations were published on."""


@dataclass(frozen=True, slots=True)
class Claim:
    """A printed number with its system, dataset, generator and table."""

    kind: str
    """Kind of the dataset (`eval run --dataset KIND:PATH`)."""
    measure: str
    system: str
    """For an ablation: what was left out."""
    generator: str
    value: float
    source: str


_PUBLISHED = json.loads(Path(__file__).with_name("published.json").read_text(encoding="utf-8"))
CLAIMS, CRAG_ABLATIONS = (tuple(Claim(**claim) for claim in _PUBLISHED[part]) for part in ("claims", "crag ablations"))


def claimed_table(run: Run, block: Block) -> list[Table]:
    """Published numbers for this dataset; empty for other datasets."""
    claims = [one for one in CLAIMS if one.kind == run.dataset["kind"] and one.measure in block.measures]
    rows: list[list[Cell]] = [
        [one.system, one.generator, one.measure, Number(one.value, claimed=True), one.source] for one in claims
    ]
    heads, note = ["system", "generator", "measure", "claimed", "source"], f"{LABEL.capitalize()}."
    return [Table("What papers print for this dataset", heads, rows, note)] if claims else []


def claimed_ablations(run: Run, base: str) -> list[Table]:
    """CRAG's published ablations, if the dataset's name contains their questions' name."""
    if base != "crag" or ABLATED_ON not in f"{run.dataset['kind']} {run.dataset['name']}".lower():
        return []
    rows: list[list[Cell]] = [
        [one.system, one.generator, Number(one.value, claimed=True), one.source] for one in CRAG_ABLATIONS
    ]
    heads, note = ["variant", "generator", "claimed", "source"], f"Accuracy on PopQA: {LABEL}, other questions."
    return [Table("Ablations of CRAG as printed", heads, rows, note)]


# --- refusals, verdicts, confidence -----------------------------------------------------------------------------------

REFUSALS = ("refusal_recall", "wrong_refusals", "verdict_accuracy", "auroc", "ece", "aurc", "outside_used")
VERDICTS = (Verdict.CORRECT, Verdict.AMBIGUOUS, Verdict.INCORRECT, Verdict.UNSURE)
BOUNDS_COLUMNS = ("LOWER", "UPPER", "right", "decided and right", "best of the map", "at", "not as recorded")
NOTE = (
    f"Verdicts are counts of {' / '.join(VERDICTS)}. Right: stayed inside where the collection answers, went outside "
    "where not. The best of the map was chosen on these same questions: it says what bounds could gain at most, and is "
    "no result; bounds.csv has all of it. Not as recorded: verdicts that come out otherwise than in the rows, where "
    "`unsure` counts as ambiguous."
)
CURVE_POINTS = 60  # distinct points in a drawing of this width


def verdict_tables(run: Run, block: Block, prefix: str) -> list[Table]:
    """Refusals and confidence, verdicts by category, and the possible gain from bounds, as far as there is data."""
    precision = ["refusal_precision"] if "refusal_recall" in block.measures else []
    tables = measure_table("Refusals and confidence", block, (*precision, *REFUSALS), "Of ece and aurc less is better.")
    figures = [*risk_figure(block, f"{prefix}-risk"), *reliability_figure(block, f"{prefix}-reliability")]
    tables = [replace(table, figures=figures) for table in tables]
    names = labels(block.recipes)
    deciding = {recipe: rows for recipe, rows in block.rows.items() if any(map(verdict_of, rows))}
    if not deciding:
        return tables
    maps = {recipe: bounds_map(rows, run.settings_of(recipe)) for recipe, rows in deciding.items()}
    categories = sorted({row.question.category or "all" for rows in deciding.values() for row in rows})
    cells: list[list[Cell]] = []
    for recipe, rows in deciding.items():
        counts = Counter((row.question.category or "all", verdict_of(row)) for row in rows)
        verdicts = [" / ".join(str(counts[category, verdict]) for verdict in VERDICTS) for category in categories]
        cells.append([names[recipe], joined(row.judge for row in rows) or None, *verdicts, *bounds_cells(maps[recipe])])
    drawn = [
        map_figure(recipe, one, f"{prefix}-bounds")
        for recipe, one in maps.items()
        if one is not None and not parse_variant(recipe).settings
    ]
    heads = ["recipe", "judge", *(f"verdicts, {category}" for category in categories), *BOUNDS_COLUMNS]
    return [*tables, Table("Verdicts and bounds", heads, cells, NOTE, drawn[-1:])]


def bounds_cells(one: BoundsMap | None) -> list[Cell]:
    """The cells under `BOUNDS_COLUMNS`."""
    if one is None:
        return [None] * len(BOUNDS_COLUMNS)
    best = max(one.shares, key=lambda bounds: one.shares[bounds][1])
    counted = (one.right(one.used[1]), one.decided(*one.used), one.decided(*best))
    intervals = [proportion_interval(hits.astype(float).tolist()) for hits in counted]
    shares = [Number(share.value or 0.0, share.low, share.high) for share in intervals]
    return [*one.used, *shares, f"{best[0]:g} and {best[1]:g}", one.not_as_recorded]


def map_figure(recipe: str, one: BoundsMap, name: str) -> Figure:
    """Both counts for every pair of bounds."""
    nothing = (np.nan, np.nan)
    both = np.array([[one.shares.get((lower, upper), nothing) for lower in one.grid] for upper in one.grid])
    maps = {"right to stay or go": both[:, :, 0], "decided and right": both[:, :, 1]}
    half = (one.grid[1] - one.grid[0]) / 2
    ends = (one.grid[0] - half, one.grid[-1] + half)
    draw = partial(heat, maps=maps, ends=ends, ring=one.used, x="LOWER", y="UPPER")
    return Figure(name, f"Verdicts by the bounds: {recipe}", draw, len(one.best), "A circle is what was used.")


def risk_figure(block: Block, name: str) -> list[Figure]:
    """Risk against coverage, for recipes whose answers have a confidence: the price of answering less."""
    names = labels(block.recipes)
    curves = []
    for recipe, rows in block.rows.items():
        points = risk_coverage(rows)[::-1]
        points = points[:: max(1, len(points) // CURVE_POINTS)][::-1]  # from the end, which is kept
        if points:
            curves.append(Line(names[recipe], [one.coverage for one in points], [one.risk for one in points]))
    note = (
        "Wrong answers among those that would be given at each confidence and above; what was refused is not answered."
    )
    draw = partial(lines, drawn=curves, x="share of the questions answered", y="share of the answers wrong", steps=True)
    figure = Figure(name, "What it would cost to answer less", draw, block.n, note, legend(names))
    return [figure] if curves else []


def reliability_figure(block: Block, name: str) -> list[Figure]:
    """How often the collection answers, by the confidence of the report's recipe; empty without confidences."""
    recipe = block.subject
    forecasts = [one for one in map(forecast, block.rows[recipe]) if one is not None]
    bins = [[one for one in forecasts if min(BINS - 1, int(one.probability * BINS)) == place] for place in range(BINS)]
    bins = [one for one in bins if one]
    means = [sum(one.probability for one in inside) / len(inside) for inside in bins]
    shares = [wilson_interval(round(sum(one.outcome for one in inside)), len(inside)) for inside in bins]
    bands = [[getattr(share, end) or 0.0 for share in shares] for end in ("value", "low", "high")]
    drawn = [Line(recipe, means, *bands), Line("as it should be", (0, 1), (0, 1))]
    x, y = f"confidence, mean of each of {BINS} bins", "share that the collection answers"
    title = f"How often the collection answers, by confidence: {recipe}"
    return [Figure(name, title, partial(lines, drawn=drawn, x=x, y=y), len(forecasts))] if bins else []


def bounds_lines(run: Run) -> Iterator[dict[str, Any]]:
    """The lines of bounds.csv: every pair of bounds; not for ablations, which share their recipe's bounds."""
    rows = {recipe: of for block in run.blocks if block.ablated is None for recipe, of in block.rows.items()}
    for recipe, of in rows.items():
        if (one := bounds_map(of, run.settings_of(recipe))) is not None:
            start = {"run": run.name, "recipe": recipe}
            for (lower, upper), (right, decided) in one.shares.items():
                bounds = {"lower": lower, "upper": upper, "right": right, "decided_and_right": decided}
                yield {**start, **bounds, "n": len(one.verdicts)}
