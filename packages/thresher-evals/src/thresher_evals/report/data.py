"""The numbers behind a report, as tidy tables that are built once from the rows of runs; every page is a view of them.

`Measurement` is one number of one recipe, `Difference` one recipe against another on the same questions; questions.py
has a line for every question. Recipes whose answers another generator wrote are never compared:
a run has a `Block` for each generator. A study is a folder that tells of itself in about.json and table.csv: study.py.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

from thresher.errors import UnknownSetting, UsageError
from thresher_evals.judges.human import FOLDER, RATINGS
from thresher_evals.metrics.measure import Measure, Values
from thresher_evals.metrics.registry import measures_of, parse
from thresher_evals.rows import TAKEN, Row, is_together, read_run
from thresher_evals.runner import parse_variant
from thresher_evals.score import applying, by_question, compared, corrected, judged_rows, summaries, within
from thresher_evals.stats import Comparison, mean_interval

OURS = "corrective"
"""The recipe that this library is about."""

SIGNIFICANT = 0.05  # two-sided, after Holm's correction
STEPS = range(2, 11)  # answers in a row that must all be right (ChunkRAG, equation 3)

RIVAL_MEASURES = ("em", "f1", "context_match", "refusal_recall", "wrong_refusals", "verdict_accuracy")
"""In which ours is compared with each other recipe, beside the primary one."""
CATEGORY_MEASURES = frozenset((
    "label_accuracy", "match", "f1", "factscore", "nDCG@10", "R@5", "abstained", "refusal_recall", "wrong_refusals",
    "verdict_accuracy", "outside_used", "unsupported", "wrong",
))  # fmt: skip
"""What is told of each category of questions."""
WITHOUT_DIRECTION = frozenset(("abstained", "llm_calls", "cpu_seconds"))
"""Compared with the baseline although less of them is neither better nor worse by itself."""


def direction(name: str) -> int:
    """1 where more is better, -1 where less is, 0 where neither is, and for what `eval score` does not know."""
    try:
        return parse(name).sign
    except UnknownSetting:
        return 0


# --- the lines of the tidy tables -------------------------------------------------------------------------------------


class Measurement(NamedTuple):
    """A line of measures.csv."""

    run: str
    dataset: str
    recipe: str
    category: str
    """Of the questions; empty for all of them."""
    measure: str
    value: float
    low: float | None
    high: float | None
    """Ends of the 95 % interval."""
    n: int
    """Questions behind it."""
    p: float | None
    """Of the difference from the baseline of the run on the same questions, after Holm's correction."""


class Difference(NamedTuple):
    """A line of differences.csv: `recipe` minus `against`, question by question."""

    run: str
    dataset: str
    category: str
    recipe: str
    against: str
    measure: str
    difference: float | None
    low: float | None
    high: float | None
    p: float | None
    p_holm: float | None
    """After Holm's correction for all recipes that are compared with the same one."""
    test: str
    """What `p` is of; the columns behind `n` have the p of every test that applies."""
    higher: int
    lower: int
    """Questions on which the number of `recipe` is."""
    n: int
    paired_t: float | None
    permutation: float | None
    sign: float | None
    mcnemar: float | None


# --- one generator's recipes ------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Block:
    """The recipes of a run whose answers one generator wrote."""

    run: str
    dataset: str
    task: str
    generator: str
    """Empty where the rows do not say."""
    baseline: str
    rows: Mapping[str, Sequence[Row]]
    """In the order of the run."""
    values: Mapping[str, Mapping[Measure, Values]]
    """Recipe to measure to the number of each row."""
    ratings: Mapping[str, Mapping[str, Mapping[str, Any]]]
    """Recipe to what people rated to `{"value", "low", "high", "n"}`; empty where nobody rated."""

    @property
    def recipes(self) -> list[str]:
        """In the order of the run."""
        return list(self.rows)

    @property
    def others(self) -> list[str]:
        """All but the baseline."""
        return [recipe for recipe in self.rows if recipe != self.baseline]

    @cached_property
    def n(self) -> int:
        """Questions asked of the recipe that was asked most."""
        return max(map(len, self.rows.values()))

    @cached_property
    def categories(self) -> list[str]:
        """Of the questions, where they have any."""
        return sorted({row.question.category for rows in self.rows.values() for row in rows if row.question.category})

    @cached_property
    def primary(self) -> str:
        """The measure that says whether a question came out right: labels where they were asked for, else words."""
        if self.task == "search":
            return "nDCG@10"
        wanted = ("label_accuracy", "match", "factscore")
        return next((name for name in wanted if any(self.numbers(recipe, name) for recipe in self.rows)), "match")

    @cached_property
    def subject(self) -> str:
        """The recipe that the report is about: ours, or where it was not asked the one with the best number."""
        return OURS if OURS in self.rows else self.leading(self.primary) or self.recipes[-1]

    @cached_property
    def ablated(self) -> str | None:
        """The recipe that makes up more than two thirds of the block with its variants; None where none does.

        Only then are variants shown as ablations. Elsewhere a variant is one recipe among others.
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
            known = self.values[recipe]
            few = {measure: numbers for measure, numbers in known.items() if str(measure) in CATEGORY_MEASURES}
            for category in ("", *self.categories):
                told = summaries(within(few, rows, category), seed=0) if category else summaries(known, seed=0)
                for name, one in (told if category else told | self._others(recipe)).items():
                    if one["value"] is None:
                        continue
                    p = self._p(recipe, name, category)
                    line = Measurement(self.run, self.dataset, recipe, category, name, **one, p=p)
                    yield line
                    if name == self.primary and name in ("match", "label_accuracy") and not category:
                        yield from (in_a_row(line, steps) for steps in STEPS)

    def _others(self, recipe: str) -> dict[str, Any]:
        """What is no measure of `eval score`: what people rated, and the mean of the seconds, which papers print."""
        rated = {f"rated_{name}": one for name, one in self.ratings.get(recipe, {}).items()}
        if parse("seconds_p50") not in self.values[recipe]:
            return rated
        return {"seconds_mean": asdict(mean_interval([row.seconds for row in self.rows[recipe]])), **rated}

    def _p(self, recipe: str, name: str, category: str) -> float | None:
        compares = recipe != self.baseline and (name == self.primary if category else name in self.compared_measures)
        told = self.against_baseline(name, category).get(recipe) if compares else None
        return None if told is None else told.p_holm

    def get(self, recipe: str, measure: str, category: str = "") -> Measurement | None:
        """A number, where there is one."""
        return self.measurements.get((recipe, measure, category))

    def value(self, recipe: str, measure: str) -> float:
        """A number that is there."""
        return self.measurements[recipe, measure, ""].value

    def told(self, measure: str, category: str = "") -> dict[str, Measurement]:
        """The number of every recipe that has one, by recipe."""
        return {recipe: one for recipe in self.rows if (one := self.get(recipe, measure, category)) is not None}

    @cached_property
    def measures(self) -> list[str]:
        """Those of which some recipe has a number, in the order of `eval score`."""
        return list(dict.fromkeys(measure for _, measure, category in self.measurements if not category))

    def leading(self, name: str) -> str | None:
        """The recipe with the best number, the first of equals; None where no number is better than another."""
        sign = direction(name)
        told = self.told(name)
        return max(told, key=lambda recipe: sign * told[recipe].value) if told and sign else None

    def best(self, name: str) -> str | None:
        """The recipe that is significantly better than each other one, paired and corrected for their number."""
        leading = self.leading(name)
        others = [one for recipe, one in self.told(name).items() if recipe != leading]
        if leading is None or not others:
            return None
        nearest = max(others, key=lambda one: direction(name) * one.value)
        found = self._compared(name, "", {leading: (nearest.recipe, leading)}).get(leading)
        if found is None or standing(name, found) <= 0:  # spares the other comparisons: Holm makes no p smaller
            return None
        return leading if all(standing(name, told) > 0 for told in self.rivals(leading, name).values()) else None

    # --- recipes compared question by question ------------------------------------------------------------------------

    @cached_property
    def compared_measures(self) -> list[str]:
        """Those in which every recipe is compared with the baseline."""
        known = map(str, self.values[self.baseline])
        return [name for name in known if direction(name) or name in WITHOUT_DIRECTION]

    def numbers(self, recipe: str, name: str, category: str = "") -> Mapping[str, float]:
        """Question id to number, where the measure applies."""
        measure, rows = parse(name), self.rows[recipe]
        if measure not in self.values[recipe]:
            return {}
        inside = {row.question.id for row in rows if not category or row.question.category == category}
        told = by_question(rows, self.values[recipe][measure])
        return {id: number for id, number in told.items() if id in inside}

    def against_baseline(self, name: str, category: str = "") -> Mapping[str, Comparison]:
        """Each other recipe to it minus the baseline, corrected for their number (Holm)."""
        return self._compared(name, category, {other: (self.baseline, other) for other in self.others})

    def rivals(self, recipe: str, name: str) -> Mapping[str, Comparison]:
        """Each other recipe to `recipe` minus it, corrected for their number (Holm)."""
        return self._compared(name, "", {other: (other, recipe) for other in self.rows if other != recipe})

    def variants(self, base: str, name: str) -> Mapping[str, Comparison]:
        """Each variant of a recipe to it minus the recipe as it is, corrected for the number of variants (Holm)."""
        others = [other for other in self.rows if other != base and parse_variant(other).recipe == base]
        return self._compared(name, "", {other: (base, other) for other in others})

    def _compared(self, name: str, category: str, pairs: Mapping[str, tuple[str, str]]) -> Mapping[str, Comparison]:
        """The second of each pair minus the first."""
        key = (name, category, *pairs.items())
        if key not in self._known:
            measure = parse(name)
            numbers = {recipe: self.numbers(recipe, name, category) for pair in pairs.values() for recipe in pair}
            found = {
                other: compared(measure, numbers[first], numbers[second], seed=0)
                for other, (first, second) in pairs.items()
                if measure.paired and numbers[first] and numbers[second]
            }
            holm = zip(found, corrected(list(found.values())), strict=True)
            self._known[key] = {other: comparison for other, comparison in holm if comparison.n}
        return self._known[key]

    @cached_property
    def _known(self) -> dict[tuple[Any, ...], Mapping[str, Comparison]]:
        return {}

    def differences(self) -> Iterator[Difference]:
        """Every recipe against the baseline, in the primary measure for each category too; ours against each other."""
        for name in self.compared_measures:
            for category in ("", *(self.categories if name == self.primary else ())):
                for other, told in self.against_baseline(name, category).items():
                    yield self._difference(category, other, self.baseline, name, told)
        if self.subject != self.baseline:
            for name in dict.fromkeys((self.primary, *RIVAL_MEASURES)):
                for other, told in self.rivals(self.subject, name).items():
                    yield self._difference("", self.subject, other, name, told)

    def _difference(self, category: str, recipe: str, against: str, name: str, told: Comparison) -> Difference:
        tests = [told.tests.get(test) for test in ("paired t", "permutation", "sign", "McNemar")]
        numbers = (told.difference, told.low, told.high, told.p, told.p_holm, told.test, told.better, told.worse)
        return Difference(self.run, self.dataset, category, recipe, against, name, *numbers, told.n, *tests)


def standing(name: str, told: Comparison) -> int:
    """1 where a comparison is significantly to the good side of its measure, -1 to the bad side, 0 elsewhere."""
    if (p := told.p if told.p_holm is None else told.p_holm) is None or p >= SIGNIFICANT or not told.difference:
        return 0
    return direction(name) if told.difference > 0 else -direction(name)


def in_a_row(one: Measurement, steps: int) -> Measurement:
    """accuracy^n, with the ends of the interval raised as well (the power is monotone); steps fail independently."""
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
    asked: Mapping[str, int]
    """Recipe to the number of its rows; fewer than there are questions in a killed run."""
    degraded: Mapping[str, Sequence[str]]
    """What was done without, to the recipes that did."""
    blocks: Sequence[Block]
    raters: Mapping[str, Any]
    """ratings.json; empty where nobody rated."""

    @property
    def dataset(self) -> Mapping[str, Any]:
        """What run.json says of the dataset."""
        told: Mapping[str, Any] = self.described["dataset"]
        return told

    @property
    def key(self) -> str:
        """The same for runs of the same dataset, whose numbers share a page."""
        return f"{self.blocks[0].dataset} {self.dataset['sha256']}"

    def measurements(self) -> Iterator[Measurement]:
        """The lines of measures.csv."""
        return (one for block in self.blocks for one in block.measurements.values())

    def differences(self) -> Iterator[Difference]:
        """The lines of differences.csv."""
        return (one for block in self.blocks for one in block.differences())

    @property
    def together(self) -> bool:
        """Whether its recipes were asked in turn, so that what each took is no comparison."""
        return is_together(self.described)

    @property
    def collection(self) -> str | None:
        """The collection that was asked, where run.json tells it."""
        found = self.described.get("collection")
        found = found.get("name") if isinstance(found, Mapping) else found
        return found if isinstance(found, str) else None

    @cached_property
    def share(self) -> float | None:
        """The share of questions that may find their gold documents, where retrieval was made worse on purpose."""
        shares = {settings.get("degraded") for settings in self.described["settings"].values()}
        share = next(iter(shares)) if len(shares) == 1 else None
        return None if share is None else float(share)


def read_measured(directory: Path, name: str, *, baseline: str | None = None) -> Run:
    """Read a run; recipes of one generator share a block, whose baseline is `baseline` or its first.

    Raises UnknownSetting for a baseline that the run has not, UsageError for a run without rows.
    """
    described = read_run(directory)
    if baseline is not None and baseline not in described["recipes"]:
        raise UnknownSetting(baseline, described["recipes"], kind="recipe of this run")
    rows = {recipe: judged_rows(directory, recipe) for recipe in described["recipes"]}
    if not any(rows.values()):
        raise UsageError("the run has no rows yet", subject=str(directory), next_step="finish it with --resume")
    dataset, left_out = described["dataset"], TAKEN if is_together(described) else ()
    wanted = [measure for measure in measures_of(dataset["task"]) if str(measure) not in left_out]
    values = applying({recipe: {measure: measure.values(of) for measure in wanted} for recipe, of in rows.items()})
    raters = read_ratings(directory)
    blocks = [
        Block(
            run=name,
            dataset=title_of(dataset),
            task=dataset["task"],
            generator=generator,
            baseline=baseline if baseline in recipes else recipes[0],
            rows={recipe: rows[recipe] for recipe in recipes},
            values=values,
            ratings=raters.get("recipes", {}),
        )
        for generator, recipes in by_generator(rows).items()
    ]
    lacking: dict[str, list[str]] = {}
    for recipe, of in rows.items():
        for lack in sorted({name for row in of for name in row.degraded}):
            lacking.setdefault(lack, []).append(recipe)
    asked = {recipe: len(of) for recipe, of in rows.items()}
    return Run(name, directory, described, asked, lacking, blocks, raters)


def title_of(dataset: Mapping[str, Any]) -> str:
    """Kind and name of a dataset, once where they are the same."""
    return " ".join(dict.fromkeys((dataset["kind"], dataset["name"])))


def by_generator(rows: Mapping[str, Sequence[Row]]) -> dict[str, list[str]]:
    """Generator to its recipes, in the order of the run; recipes without rows are left out.

    A recipe that only refuses has none: no other wrote its answers, so it stands with the first generator there is.
    """
    generators = {recipe: named(row.generator for row in of) for recipe, of in rows.items() if of}
    first = next((generator for generator in generators.values() if generator), "")
    grouped: dict[str, list[str]] = {}
    for recipe, generator in generators.items():
        grouped.setdefault(generator or first, []).append(recipe)
    return grouped


def named(names: Iterable[str]) -> str:
    """The distinct names that are not empty, in order."""
    return " and ".join(dict.fromkeys(name for name in names if name))


def read_ratings(directory: Path) -> Mapping[str, Any]:
    """ratings.json of a run; empty where there is none."""
    path = directory / FOLDER / RATINGS
    if not path.is_file():
        return {}
    try:
        told = json.loads(path.read_text(encoding="utf-8"))
        if not {"raters", "recipes", "agreement"} <= set(told):
            raise ValueError("not ratings")
    except (OSError, ValueError, TypeError) as error:
        raise UsageError(
            "damaged", subject=str(path), next_step="read the sheets again: thresher eval ratings"
        ) from error
    return dict(told)
