"""The numbers of a report: one tidy table built from the rows of runs; every page is a view of it.

`Measurement` is a line of that table. Differences between recipes are paired by question; lines of single questions are
in questions.py. Recipes whose answers come from different generators are never compared: a run has a `Block` for each
generator. A study is a folder with about.json and table.csv, see study.py.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

from thresher.errors import UnknownSetting, UsageError
from thresher_evals.asker import parse_variant
from thresher_evals.compare.recommend import values_of
from thresher_evals.judges.judgements import judged_rows, read_ratings
from thresher_evals.metrics.answers import Outcome, outcome
from thresher_evals.metrics.measure import (
    Measure,
    Values,
    applying,
    by_question,
    compared,
    summaries,
    within,
)
from thresher_evals.metrics.registry import measures_of, parse
from thresher_evals.rows import TAKEN, Row, is_together, models_of, read_comparison, read_run
from thresher_evals.stats import Comparison, corrected, mean_interval

OURS = "corrective"
"""This library's own recipe."""

STEPS = range(2, 11)  # consecutive answers that must all be right (ChunkRAG, equation 3)

RIVAL_MEASURES = ("em", "f1", "context_match", "refusal_recall", "wrong_refusals", "verdict_accuracy")
"""Measures that compare our recipe with each other one, beside the primary measure."""
CATEGORY_MEASURES = {
    *("label_accuracy", "match", "f1", "factscore", "nDCG@10", "R@5", "outside_used", "unsupported", "wrong"),
    *("abstained", "refusal_recall", "wrong_refusals", "verdict_accuracy"),
}
"""Measures of each category of questions."""
WITHOUT_SIGN = {"abstained", "llm_calls", "cpu_seconds"}
"""Compared with the baseline although neither more nor less is better."""


class Measurement(NamedTuple):
    """A line of measures.csv."""

    run: str
    dataset: str
    recipe: str
    category: str
    """Category of questions; empty for all."""
    measure: str
    value: float
    low: float | None
    high: float | None
    n: int
    """Number of questions."""
    p: float | None
    """Of the paired difference from the run's baseline, after Holm's correction."""


def sign_of(name: str) -> int:
    """1 if more is better, -1 if less is, 0 if neither is or the measure is unknown."""
    try:
        return parse(name).sign
    except UnknownSetting:
        return 0


def standing(name: str, difference: Comparison) -> int:
    """1 for a significant improvement, -1 for a significant loss, 0 otherwise."""
    return sign_of(name) * difference.direction


# --- one generator's recipes ------------------------------------------------------------------------------------------

Differences = Mapping[str, Comparison]
"""Recipe to its comparison with another one."""


@dataclass(frozen=True)
class Block:
    """The recipes of a run with one generator."""

    run: str
    dataset: str
    task: str
    generator: str
    """Empty if the rows do not name it."""
    baseline: str
    rows: Mapping[str, Sequence[Row]]
    """Recipe to its rows, in the order of the run."""
    values: Mapping[str, Mapping[Measure, Values]]
    """Recipe to measure to the values of its rows."""
    ratings: Mapping[str, Mapping[str, Mapping[str, Any]]]
    """Recipe to dimension to `{"value", "low", "high", "n"}` of people's ratings; may be empty."""

    @property
    def recipes(self) -> list[str]:
        """Recipes in the order of the run."""
        return list(self.rows)

    @cached_property
    def n(self) -> int:
        """The largest number of questions of a recipe."""
        return max(map(len, self.rows.values()))

    @cached_property
    def categories(self) -> list[str]:
        """Categories of the questions, sorted."""
        return sorted({row.question.category for rows in self.rows.values() for row in rows if row.question.category})

    @cached_property
    def primary(self) -> str:
        """The measure of success: labels if the questions have options, else words."""
        if self.task == "search":
            return "nDCG@10"
        wanted = ("label_accuracy", "match", "factscore")
        return next((name for name in wanted if any(self.numbers(recipe, name) for recipe in self.rows)), "match")

    @cached_property
    def subject(self) -> str:
        """The recipe that the report is about: ours, else the one with the best number."""
        return OURS if OURS in self.rows else self.leading(self.primary) or self.recipes[-1]

    @cached_property
    def ablated(self) -> str | None:
        """The recipe that with its variants makes up more than two thirds of the block, or None.

        Only then variants are shown as ablations; otherwise they are recipes among others.
        """
        variants = [parse_variant(name) for name in self.rows]
        for base in dict.fromkeys(variant.recipe for variant in variants):
            own = [variant for variant in variants if variant.recipe == base]
            if 3 * len(own) > 2 * len(variants) and any(variant.settings for variant in own):
                return base
        return None

    # --- numbers ------------------------------------------------------------------------------------------------------

    @cached_property
    def measurements(self) -> Mapping[tuple[str, str, str], Measurement]:
        """Every number of the block, by recipe, measure and category."""
        return {(one.recipe, one.measure, one.category): one for one in self._measurements()}

    def _measurements(self) -> Iterator[Measurement]:
        for recipe, rows in self.rows.items():
            values = self.values[recipe]
            few = {measure: numbers for measure, numbers in values.items() if measure.name in CATEGORY_MEASURES}
            for category in ("", *self.categories):
                intervals = summaries(within(few, rows, category) if category else values, seed=0)
                for name, interval in (intervals if category else intervals | self._unscored(recipe)).items():
                    if interval["value"] is not None:
                        p = self._p(recipe, name, category)
                        one = Measurement(self.run, self.dataset, recipe, category, name, **interval, p=p)
                        yield one
                        if name == self.primary in ("match", "label_accuracy") and not category:
                            yield from (in_a_row(one, steps) for steps in STEPS)

    def _unscored(self, recipe: str) -> dict[str, Any]:
        """Numbers outside `eval score`: people's ratings, and mean seconds, which papers print."""
        rated = {f"rated_{name}": one for name, one in self.ratings.get(recipe, {}).items()}
        if parse("seconds_p50") not in self.values[recipe]:
            return rated
        return {"seconds_mean": asdict(mean_interval([row.seconds for row in self.rows[recipe]])), **rated}

    def _p(self, recipe: str, name: str, category: str) -> float | None:
        is_compared = name == self.primary if category else name in self.compared_measures
        difference = self.against_baseline(name, category).get(recipe) if is_compared else None
        return None if difference is None else difference.p_holm

    def get(self, recipe: str, measure: str) -> Measurement | None:
        """A number over all questions, or None."""
        return self.measurements.get((recipe, measure, ""))

    def numbers_of(self, measure: str, category: str = "") -> dict[str, Measurement]:
        """The numbers of all recipes that have one, by recipe."""
        keys = ((recipe, measure, category) for recipe in self.rows)
        return {key[0]: self.measurements[key] for key in keys if key in self.measurements}

    @cached_property
    def measures(self) -> list[str]:
        """Measures with a number for some recipe, in the order of `eval score`."""
        return list(dict.fromkeys(measure for _, measure, category in self.measurements if not category))

    def leading(self, name: str) -> str | None:
        """The recipe with the best number, the first of ties; None if the measure has no better side."""
        numbers = self.numbers_of(name) if sign_of(name) else {}
        return max(numbers, key=lambda recipe: sign_of(name) * numbers[recipe].value, default=None)

    def best(self, name: str) -> str | None:
        """The recipe that is significantly better than every other, paired and corrected for multiple comparisons."""
        leading = self.leading(name)
        others = [one for recipe, one in self.numbers_of(name).items() if recipe != leading]
        if leading is None or not others:
            return None
        # The nearest first saves most comparisons: Holm's correction makes no p smaller.
        nearest = max(others, key=lambda one: sign_of(name) * one.value).recipe
        first = self._differences(name, {nearest: (nearest, leading)})
        rest = self.rivals(leading, name) if any(standing(name, one) > 0 for one in first.values()) else {}
        return leading if rest and all(standing(name, one) > 0 for one in rest.values()) else None

    # --- recipes compared question by question ------------------------------------------------------------------------

    @cached_property
    def compared_measures(self) -> list[str]:
        """Measures that compare every recipe with the baseline."""
        return [one.name for one in self.values[self.baseline] if one.sign or one.name in WITHOUT_SIGN]

    def numbers(self, recipe: str, name: str, category: str = "") -> dict[str, float]:
        """Question id to number, where the measure applies."""
        measure, rows = parse(name), self.rows[recipe]
        values = within(self.values[recipe], rows, category) if category else self.values[recipe]
        rows = [row for row in rows if not category or row.question.category == category]
        return by_question(rows, values[measure]) if measure in values else {}

    def against_baseline(self, name: str, category: str = "") -> Differences:
        """Each other recipe to its difference from the baseline, corrected by Holm."""
        others = {other: (self.baseline, other) for other in self.rows if other != self.baseline}
        return self._differences(name, others, category)

    def rivals(self, recipe: str, name: str) -> Differences:
        """Each other recipe to the difference of `recipe` from it, corrected by Holm."""
        return self._differences(name, {other: (other, recipe) for other in self.rows if other != recipe})

    def variants(self, base: str, name: str) -> Differences:
        """Each variant to its difference from its recipe, corrected by Holm."""
        others = [other for other in self.rows if other != base and parse_variant(other).recipe == base]
        return self._differences(name, {other: (base, other) for other in others})

    def _differences(self, name: str, pairs: Mapping[str, tuple[str, str]], category: str = "") -> Differences:
        key = (name, category, *pairs.items())
        if key not in self._known:
            measure = parse(name)
            numbers = {recipe: self.numbers(recipe, name, category) for pair in pairs.values() for recipe in pair}
            comparisons = {
                other: compared(measure, numbers[first], numbers[second], seed=0)
                for other, (first, second) in pairs.items()
                if measure.paired and numbers[first] and numbers[second]
            }
            holm = zip(comparisons, corrected(list(comparisons.values())), strict=True)
            self._known[key] = {other: comparison for other, comparison in holm if comparison.n}
        return self._known[key]

    @cached_property
    def _known(self) -> dict[tuple[Any, ...], Differences]:
        return {}

    def difference_lines(self) -> Iterator[dict[str, Any]]:
        """The lines of differences.csv: `recipe` minus `against`, paired by question.

        Every recipe against the baseline, with the primary measure also for each category; the subject against each
        other.
        """
        for name in self.compared_measures:
            for category in ("", *(self.categories if name == self.primary else ())):
                for other, comparison in self.against_baseline(name, category).items():
                    yield self._difference_line(category, other, self.baseline, name, comparison)
        if self.subject != self.baseline:
            for name in dict.fromkeys((self.primary, *RIVAL_MEASURES)):
                for other, comparison in self.rivals(self.subject, name).items():
                    yield self._difference_line("", self.subject, other, name, comparison)

    def _difference_line(
        self, category: str, recipe: str, against: str, measure: str, comparison: Comparison
    ) -> dict[str, Any]:
        names = {"run": self.run, "dataset": self.dataset, "category": category}
        numbers = asdict(comparison)
        tests = numbers.pop("tests")
        each = {test.replace(" ", "_"): tests.get(test) for test in ("paired t", "permutation", "sign")}
        return {**names, "recipe": recipe, "against": against, "measure": measure, **numbers, **each}


def in_a_row(one: Measurement, steps: int) -> Measurement:
    """accuracy^n with its interval (the power is monotone), assuming that steps fail independently."""
    low, high = (None if bound is None else bound**steps for bound in (one.low, one.high))
    return one._replace(measure=f"{one.measure}^{steps}", value=one.value**steps, low=low, high=high, p=None)


# --- a run ------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Run:
    """A run folder, read and scored."""

    name: str
    """Unique in the report."""
    directory: Path
    described: Mapping[str, Any]
    """run.json."""
    rows: Mapping[str, Sequence[Row]]
    """A killed run has fewer rows than questions."""
    blocks: Sequence[Block]
    ratings: Mapping[str, Any]
    """ratings.json; may be empty."""
    comparison: Mapping[str, Any] = field(default_factory=dict)
    """The result of `eval compare`, or empty."""

    @property
    def dataset(self) -> Mapping[str, Any]:
        """The dataset in run.json."""
        described: Mapping[str, Any] = self.described["dataset"]
        return described

    def settings_of(self, recipe: str) -> Mapping[str, Any]:
        """The settings of a recipe in run.json."""
        settings: Mapping[str, Any] = self.described["settings"].get(recipe, {})
        return settings

    @property
    def key(self) -> str:
        """Shared by runs of the same dataset, which share a page."""
        return f"{self.blocks[0].dataset} {self.dataset['sha256']}"

    @property
    def together(self) -> bool:
        """Whether its recipes were asked in turn, so that their times are not comparable."""
        return is_together(self.described)

    @property
    def collection(self) -> str | None:
        """The collection in run.json, if any."""
        collection = self.described.get("collection")
        name = collection.get("name") if isinstance(collection, Mapping) else collection
        return name if isinstance(name, str) else None

    @cached_property
    def share(self) -> float | None:
        """The share of questions that can find their gold documents, if retrieval was degraded on purpose."""
        shares = {settings.get("degraded") for settings in self.described["settings"].values()}
        share = next(iter(shares)) if len(shares) == 1 else None
        return None if share is None else float(share)


def read_measured(directory: Path, name: str, *, baseline: str | None = None) -> Run:
    """Read a run. Recipes of one generator form a block, with `baseline` or its first recipe as the baseline.

    Raises UnknownSetting for a baseline that the run lacks, UsageError for a run without rows.
    """
    described = read_run(directory)
    if baseline is not None and baseline not in described["recipes"]:
        raise UnknownSetting(baseline, described["recipes"], kind="recipe of this run")
    rows = {recipe: judged_rows(directory, recipe) for recipe in described["recipes"]}
    if not any(rows.values()):
        raise UsageError("the run has no rows yet", subject=str(directory), next_step="finish it with `resume`")
    dataset, left_out = described["dataset"], TAKEN if is_together(described) else ()
    wanted = [measure for measure in measures_of(dataset["task"]) if measure.name not in left_out]
    values = applying({recipe: {measure: measure.values(of) for measure in wanted} for recipe, of in rows.items()})
    ratings = read_ratings(directory)
    blocks = [
        Block(
            run=name,
            dataset=" ".join(dict.fromkeys((dataset["kind"], dataset["name"]))),
            task=dataset["task"],
            generator=generator,
            baseline=baseline if baseline in recipes else recipes[0],
            rows={recipe: rows[recipe] for recipe in recipes},
            values=values,
            ratings=ratings.get("recipes", {}),
        )
        for generator, recipes in by_generator(rows).items()
    ]
    return Run(name, directory, described, rows, blocks, ratings, read_comparison(directory))


def by_generator(rows: Mapping[str, Sequence[Row]]) -> dict[str, list[str]]:
    """Generator to its recipes with rows, in order; a recipe that only refuses has none and joins the first."""
    generators = {
        recipe: joined(models_of(sorted({row.generator for row in of if row.generator})))
        for recipe, of in rows.items()
        if of
    }
    first = next((generator for generator in generators.values() if generator), "")
    grouped: dict[str, list[str]] = {}
    for recipe, generator in generators.items():
        grouped.setdefault(generator or first, []).append(recipe)
    return grouped


def joined(names: Iterable[str]) -> str:
    """The distinct non-empty names, in order."""
    return " and ".join(dict.fromkeys(name for name in names if name))


def successes(block: Block, recipe: str) -> dict[str, float]:
    """Question id to the primary measure's number; for unanswerable questions, whether they were refused."""
    refusals = {
        row.question.id: float(row.reply is not None and row.reply.abstained)
        for row in block.rows[recipe]
        if not row.question.answerable and (row.reply is not None or row.ranking is None)
    }
    return {**refusals, **block.numbers(recipe, block.primary)}


def worth(block: Block, recipe: str) -> dict[str, float]:
    """Question id to its value: as in `eval compare` if the primary measure is of words or labels, else `successes`."""
    if block.primary in ("match", "label_accuracy"):
        return values_of([row for row in block.rows[recipe] if outcome(row) is not Outcome.RANKED])
    return successes(block, recipe)


# --- gains and losses -------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Change:
    """A question with a different value than under the baseline: both values and both rows."""

    before: float
    after: float
    first: Row
    second: Row

    @property
    def gained(self) -> bool:
        """Whether the recipe is better than the baseline here."""
        return self.after > self.before


def changes(block: Block, recipe: str) -> list[Change]:
    """Every question on which a recipe and the baseline differ, in the order of the baseline's rows."""
    before, after = worth(block, block.baseline), worth(block, recipe)
    second = {row.question.id: row for row in block.rows[recipe]}
    return [
        Change(before[id], after[id], row, second[id])
        for row in block.rows[block.baseline]
        if (id := row.question.id) in before and id in after and before[id] != after[id]
    ]


# --- names of recipes that fit ----------------------------------------------------------------------------------------

LONGEST_LABEL = 32  # characters; the drawing keeps most of the width


def short(recipe: str) -> str:
    """A short name for a drawing: a variant keeps its first settings."""
    fits = len(recipe) <= LONGEST_LABEL
    return recipe if fits else f"{recipe[: LONGEST_LABEL - 2].rsplit(',', 1)[0]}…]"


def labels(recipes: Sequence[str]) -> Mapping[str, str]:
    """Short names, numbered if two would be equal."""
    times = Counter(map(short, recipes))
    return {
        recipe: short(recipe) if times[short(recipe)] == 1 else f"{parse_variant(recipe).recipe} ({place})"
        for place, recipe in enumerate(recipes, start=1)
    }


def legend(names: Mapping[str, str]) -> list[tuple[str, str]]:
    """The numbered names with the full ones."""
    return [(label, recipe) for recipe, label in names.items() if label.endswith(")")]
