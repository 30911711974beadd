"""A run as the report reads it: its scores, in one block for each generator, because those are never compared.

A study is a folder too, whoever measured it (benchmarks/studies). The report shows what it says of itself:

    about.json  {"title": "How latency grows", "text": ["A paragraph.", ...], "note": "What n is, what intervals are.",
                 "plot": {"x": "documents", "y": "p50 ms", "by": "recipe", "low": "...", "high": "...", "log": true}}
    table.csv   a line of column names, then the rows; numbers as plain numbers

Only `title` is needed. `plot` draws a line for each value of the column `by` (one line without it), with a band where
`low` and `high` name columns. A study of several tables has `"tables": [{"file": "costs.csv", "title": "What it
costs", "note": "...", "plot": {...}}, ...]` instead of `note`, `plot` and table.csv.
"""

from __future__ import annotations

import csv
import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from thresher.errors import UnknownSetting, UsageError
from thresher_evals.metrics.answers import Outcome, outcome
from thresher_evals.metrics.measure import Measure
from thresher_evals.metrics.registry import parse
from thresher_evals.report.blocks import Cell, Measured, Section, Table
from thresher_evals.rows import Row, is_together, read_run
from thresher_evals.runner import parse_variant
from thresher_evals.score import against, by_question, compared, corrected, judged_rows, score
from thresher_evals.stats import Comparison

SIGNIFICANT = 0.05  # two-sided, after Holm's correction
LONGEST_NAME = 26  # characters that leave most of a drawing's width to the drawing
CURVES = 8  # that can be told apart, as many as there are colours


@dataclass(frozen=True)
class Block:
    """The recipes of a run whose answers one generator wrote."""

    generator: str
    """Empty where the rows do not say."""
    task: str
    judges: Mapping[str, str]
    """Recipe to what judged its chunks."""
    rows: Mapping[str, Sequence[Row]]
    scores: Mapping[str, Mapping[str, Measured]]
    """Recipe to measure to number, only numbers that there are."""
    categories: Mapping[str, Mapping[str, Mapping[str, Measured]]]
    """Category to the same."""
    baseline: str

    @property
    def recipes(self) -> list[str]:
        """In the order of the run."""
        return list(self.rows)

    @property
    def others(self) -> list[str]:
        """All but the baseline."""
        return [recipe for recipe in self.rows if recipe != self.baseline]

    @cached_property
    def measures(self) -> list[str]:
        """Those of which some recipe has a number, in the order of `eval score`."""
        return list(dict.fromkeys(name for values in self.scores.values() for name in values))

    @property
    def primary(self) -> str:
        """The measure that says whether a question came out right: labels where they were asked for, else words."""
        if self.task == "search":
            return "nDCG@10"
        return next((name for name in ("label_accuracy", "match", "factscore") if name in self.measures), "match")

    @cached_property
    def differences(self) -> Mapping[str, Mapping[str, Mapping[str, Any]]]:
        """Recipe to measure to the comparison with the baseline, as `against` of `eval score`."""
        return self.compare(self.rows, self.baseline, self.measures)

    @cached_property
    def category_differences(self) -> Mapping[str, Mapping[str, Mapping[str, Mapping[str, Any]]]]:
        """Category to recipe to the comparison with the baseline in the primary measure."""
        return {
            category: self.compare(
                {recipe: within(rows, category) for recipe, rows in self.rows.items()}, self.baseline, [self.primary]
            )
            for category in self.categories
        }

    def compare(
        self, rows: Mapping[str, Sequence[Row]], baseline: str, measures: Iterable[str]
    ) -> Mapping[str, Mapping[str, Mapping[str, Any]]]:
        """Each recipe of `rows` against the baseline, question by question, corrected for their number (Holm)."""
        known = list(numeric(measures))
        values = {recipe: {measure: measure.values(of) for measure in known} for recipe, of in rows.items()}
        found = against(rows, values, baseline, seed=0)["recipes"]
        return {
            recipe: {name: told for name, told in comparisons.items() if told["n"]}
            for recipe, comparisons in found.items()
        }

    def leading(self, name: str) -> str | None:
        """The recipe with the best number, the first of equals; None where no number is better than another."""
        sign = parse(name).sign
        told = {recipe: values[name] for recipe, values in self.scores.items() if name in values}
        return max(told, key=lambda recipe: sign * (told[recipe].value or 0.0)) if told and sign else None

    def best(self, name: str) -> str | None:
        """The recipe that is significantly better than each other one, paired and corrected for their number."""
        leading = self.leading(name)
        rivals = {} if leading is None else self.rivals(leading, name)
        return leading if rivals and all(standing(name, rival) > 0 for rival in rivals.values()) else None

    def rivals(self, recipe: str, name: str) -> Mapping[str, Comparison]:
        """Each other recipe to `recipe` minus it, question by question, corrected for their number (Holm)."""
        if (recipe, name) not in self._rivals:
            self._rivals[recipe, name] = dict(self._compared_with_each(recipe, name))
        return self._rivals[recipe, name]

    @cached_property
    def _rivals(self) -> dict[tuple[str, str], Mapping[str, Comparison]]:
        return {}

    def _compared_with_each(self, recipe: str, name: str) -> Iterator[tuple[str, Comparison]]:
        measure = next(numeric([name]), None)
        told = [other for other, values in self.scores.items() if name in values]
        if measure is None or recipe not in told:
            return
        numbers = {other: by_question(self.rows[other], measure.values(self.rows[other])) for other in told}
        others = [other for other in told if other != recipe]
        found = [compared(measure, numbers[other], numbers[recipe], seed=0) for other in others]
        yield from zip(others, corrected(found), strict=True)

    @cached_property
    def ablated(self) -> str | None:
        """The recipe that makes up more than two thirds of the block with its variants; None where none does.

        Only then are variants told as ablations. Elsewhere a variant is one recipe among others.
        """
        of = Counter(parse_variant(name).recipe for name in self.rows)
        base, many = of.most_common(1)[0]
        varied = any(parse_variant(name).settings for name in self.rows if parse_variant(name).recipe == base)
        return base if varied and 3 * many > 2 * len(self.rows) else None

    @cached_property
    def numbered(self) -> Mapping[str, str]:
        """The recipes whose names are too long for a drawing, to what stands there for them."""
        long = [name for name in self.rows if len(name) > LONGEST_NAME]
        return {name: f"{parse_variant(name).recipe} ({place})" for place, name in enumerate(long, start=1)}

    def label(self, recipe: str) -> str:
        """The name of a recipe in a drawing."""
        return self.numbered.get(recipe, recipe)

    def legend(self, recipes: Iterable[str]) -> tuple[tuple[str, str], ...]:
        """What the numbered names in a drawing of `recipes` stand for."""
        return tuple((self.numbered[recipe], recipe) for recipe in recipes if recipe in self.numbered)

    @property
    def curved(self) -> list[str]:
        """The recipes that are drawn as curves: variants only where there is room for them."""
        plain = [name for name in self.rows if not parse_variant(name).settings]
        return (self.recipes if len(self.rows) <= CURVES else plain)[:CURVES]


def standing(name: str, told: Comparison) -> int:
    """1 where a comparison is significantly to the good side of its measure, -1 to the bad side, 0 elsewhere."""
    if told.p_holm is None or told.p_holm >= SIGNIFICANT or not told.difference:
        return 0
    return parse(name).sign if told.difference > 0 else -parse(name).sign


def within(rows: Sequence[Row], category: str) -> list[Row]:
    """The rows of one category."""
    return [row for row in rows if row.question.category == category]


def numeric(names: Iterable[str]) -> Iterator[Measure]:
    """The measures of those names that compare two recipes question by question."""
    return (measure for measure in map(parse, names) if measure.paired)


@dataclass(frozen=True)
class Run:
    """A run folder, read and scored."""

    name: str
    """Unique in the report."""
    directory: Path
    described: Mapping[str, Any]
    asked: Mapping[str, int]
    degraded: Mapping[str, Sequence[str]]
    blocks: Sequence[Block]

    @property
    def dataset(self) -> Mapping[str, Any]:
        """What run.json says of the dataset."""
        told: Mapping[str, Any] = self.described["dataset"]
        return told

    @property
    def together(self) -> bool:
        """Whether its recipes were asked in turn, so that what each took is no comparison and no block tells it."""
        return is_together(self.described)


def read_measured(directory: Path, name: str, *, baseline: str | None = None) -> Run:
    """Read and score a run; recipes of one generator share a block, whose baseline is `baseline` or its first."""
    described = read_run(directory)
    if baseline is not None and baseline not in described["recipes"]:
        raise UnknownSetting(baseline, described["recipes"], kind="recipe of this run")
    scored = score(directory, baseline=baseline)
    rows = {recipe: judged_rows(directory, recipe) for recipe in described["recipes"]}
    grouped = by_generator({recipe: said(row.generator for row in of) for recipe, of in rows.items() if of})
    blocks = [
        Block(
            generator=generator,
            task=described["dataset"]["task"],
            judges={recipe: said(row.judge for row in rows[recipe]) for recipe in recipes},
            rows={recipe: rows[recipe] for recipe in recipes},
            scores={recipe: numbers(scored["recipes"][recipe]) for recipe in recipes},
            categories={
                category: {recipe: numbers(told[recipe]) for recipe in recipes}
                for category, told in scored.get("categories", {}).items()
            },
            baseline=baseline if baseline in recipes else recipes[0],
        )
        for generator, recipes in grouped.items()
    ]
    return Run(name, directory, described, scored["asked"], scored["degraded"], blocks)


def by_generator(generators: Mapping[str, str]) -> dict[str, list[str]]:
    """Generator to its recipes, in the order of the run.

    A recipe that only refuses has none: no other wrote its answers, so it stands with the first generator there is.
    """
    first = next((generator for generator in generators.values() if generator), "")
    grouped: dict[str, list[str]] = {}
    for recipe, generator in generators.items():
        grouped.setdefault(generator or first, []).append(recipe)
    return grouped


def said(names: Iterable[str]) -> str:
    """The distinct names that are not empty, in order; refusals before the generator name none."""
    return " and ".join(dict.fromkeys(name for name in names if name))


def numbers(told: Mapping[str, Mapping[str, Any]]) -> dict[str, Measured]:
    """The measures that have a number."""
    return {name: Measured.of(value) for name, value in told.items() if value["value"] is not None}


# --- what became of every question: nothing that was refused, failed, late or unreadable disappears from a ta----------


def successes(rows: Sequence[Row], measure: str) -> list[float | None]:
    """0..1 for each question: the measure's number; for what cannot be answered, whether it was refused.

    None where neither says anything of the question.
    """
    told: list[float | None] = []
    for row, value in zip(rows, parse(measure).values(rows), strict=True):
        if isinstance(value, float):
            told.append(value)
        elif row.question.answerable or (row.ranking is not None and row.reply is None):
            told.append(None)
        else:
            told.append(float(row.reply is not None and row.reply.abstained))
    return told


LACKS = "refused / failed / timed out / unreadable"
"""Heading of the column that says them in short."""


def lacks(rows: Sequence[Row]) -> str:
    """Questions refused, failed, timed out, and with replies of models that could not be read."""
    refused = sum(row.reply is not None and row.reply.abstained for row in rows)
    failed = sum(row.error is not None for row in rows)
    late = sum(row.timed_out for row in rows)
    unreadable = sum(row.unreadable > 0 for row in rows)
    return f"{refused} / {failed} / {late} / {unreadable}"


def outcome_section(block: Block) -> Section:
    """A table of counts."""
    counted = {recipe: Counter(map(outcome, rows)) for recipe, rows in block.rows.items()}
    shown = [kind for kind in Outcome if any(counts[kind] for counts in counted.values())]
    table: list[list[Cell]] = [
        [
            recipe,
            len(rows),
            *(counted[recipe][kind] for kind in shown),
            sum(row.timed_out for row in rows),
            sum(row.unreadable > 0 for row in rows),
            sum(bool(row.degraded) for row in rows),
        ]
        for recipe, rows in block.rows.items()
    ]
    columns = ["recipe", "n", *shown, "late", "unreadable replies", "degraded"]
    note = (
        "Counts of questions. Right and wrong are by the words of a gold answer (match_norm), by the label where one "
        "is asked for (unreadable where none is named), or by the first citation where nothing but a gold document is "
        "known; an answer to a question that cannot be answered is wrong. Late (a part ran out of time), unreadable "
        "replies (of a model) and degraded (something was done without) are counted beside the outcome."
    )
    return Section("What became of the questions", tables=[Table("Outcomes", columns, table, note)])


# --- studies: about.json and its tables, as the docstring of this module has them -------------------------------------


ABOUT = "about.json"


def is_study(directory: Path) -> bool:
    """Whether a folder tells of a study."""
    return (directory / ABOUT).is_file()


def read_study(directory: Path) -> Section:
    """The tables of a study. Raises UsageError for a folder that is not as it should be."""
    try:
        about = json.loads((directory / ABOUT).read_text(encoding="utf-8"))
        tables = []
        for told in about.get("tables") or [{"file": "table.csv", "title": about["title"], **about}]:
            with (directory / told["file"]).open(encoding="utf-8", newline="") as stream:
                columns, *rows = csv.reader(stream)
            tables.append(Table(told["title"], columns, rows, told.get("note", "")))
        return Section(about["title"], about.get("text", ()), tables)
    except (OSError, ValueError, TypeError, KeyError) as error:
        raise UsageError(
            f"no study that can be read: {error}", subject=str(directory), next_step="measure the study again"
        ) from error
