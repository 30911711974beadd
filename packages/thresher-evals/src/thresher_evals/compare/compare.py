"""Does correction help on these documents, and what does it cost: recipes with and without it on the same questions."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from pathlib import Path
from statistics import fmean
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import stats  # type: ignore[import-untyped, unused-ignore]

from thresher import recipes
from thresher.collection import Collection
from thresher.errors import UsageError
from thresher.judging.calibration import LEAST_QUESTIONS, Calibrations
from thresher.protocols import Progress
from thresher_evals.dataset import Dataset, Question, sha1_number
from thresher_evals.metrics.answers import Outcome, outcome
from thresher_evals.rows import Row, read_rows
from thresher_evals.runner import CollectionAsker, RunReport, parse_variant, run
from thresher_evals.score import score
from thresher_evals.stats import Comparison, holm, mean_interval, paired_difference, permutation_test

WRONG_COSTS = 1.0
"""Right answers that a wrong one undoes, where no other number is given. With 0 a recipe that always answers cannot
lose; the benchmark of Yang et al. 2024 (CRAG, section 3.2) scores +1, 0 and -1 as well."""


def value(came: Outcome, wrong_costs: float = WRONG_COSTS) -> float:
    """Right +1, wrong `-wrong_costs`, no answer and failures 0.

    Where nobody knows which answers are right, any counts as right whatever it says: then only refusals are measured.
    """
    match came:
        case Outcome.RIGHT | Outcome.UNCHECKED:
            return 1.0
        case Outcome.WRONG | Outcome.UNREADABLE:
            return -wrong_costs
        case _:
            return 0.0


def outcomes(rows: Sequence[Row]) -> dict[str, Outcome]:
    """Question id to what came of it."""
    return {row.question.id: outcome(row) for row in rows}


def counts(came: Mapping[str, Outcome]) -> dict[str, int]:
    """How many questions there are of each outcome."""
    counted = Counter(came.values())
    return {str(one): counted[one] for one in Outcome if one is not Outcome.RANKED}


# --- which recipe to use, from what came of the same questions with each; and what so few questions cannot te----------


ALPHA, POWER = 0.05, 0.8
"""The customary two (Cohen 1988): what is there is found four times in five, what is not there one time in twenty."""

Values = Mapping[str, float]
"""Question id to the value of what came of it."""


@dataclass(frozen=True, slots=True)
class Recommendation:
    """A recipe, the settings it should have, and why; `certain` says whether the data settle it."""

    recipe: str
    why: str
    certain: bool
    settings: Mapping[str, float] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """JSON form."""
        return {"recipe": self.recipe, "settings": dict(self.settings), "why": self.why, "certain": self.certain}


# --- differences ------------------------------------------------------------------------------------------------------


def compare_all(values: Mapping[str, Values], baseline: str, *, seed: int = 0) -> dict[str, Comparison]:
    """Every other recipe against the baseline on the questions both have, with p corrected for being several."""
    others = [recipe for recipe in values if recipe != baseline]
    found = [difference(values[baseline], values[other], seed=seed) for other in others]
    corrected = holm([1.0 if one.p is None else one.p for one in found])
    return {other: replace(one, p_holm=p) for other, one, p in zip(others, found, corrected, strict=True)}


def difference(first: Values, second: Values, *, seed: int = 0) -> Comparison:
    """Second minus first: the paired bootstrap's interval, and the permutation test's p.

    The bootstrap's own p is too small for a handful of questions: three that all got better are no proof.
    """
    shared = [id for id in first if id in second]
    before, after = [first[id] for id in shared], [second[id] for id in shared]
    compared = paired_difference(before, after, seed=seed)
    p = permutation_test(before, after, seed=seed) if shared else None
    return replace(compared, p=p, test="permutation")


def detectable(differences: Sequence[float], comparisons: int = 1) -> float:
    """The smallest mean difference that so many questions would show four times in five, in value per question.

    From the spread of the differences seen (Cohen 1988, section 2.3.4), and never less than what the fewest questions
    give whose difference can be told from chance at all: six that change the same way, more with several recipes.
    None can be told where that is more than there are questions; the result is then above 1.
    """
    n = max(1, len(differences))
    level = ALPHA / comparisons
    fewest = math.ceil(math.log2(2 / level))
    deviations = stats.norm.ppf(1 - level / 2) + stats.norm.ppf(POWER)
    spread = float(np.std(differences, ddof=1)) if n > 1 else 0.0
    return max(fewest / n, float(deviations) * spread / math.sqrt(n))


# --- the rule ---------------------------------------------------------------------------------------------------------


def better(compared: Comparison) -> bool:
    """Whether the second recipe is better than the first beyond chance."""
    return bool(compared.difference and compared.difference > 0 and is_clear(compared))


def worse(compared: Comparison) -> bool:
    """Whether the second recipe is worse than the first beyond chance."""
    return bool(compared.difference and compared.difference < 0 and is_clear(compared))


def is_clear(compared: Comparison) -> bool:
    """Whether p, corrected where it is one of several, is small enough."""
    p = compared.p if compared.p_holm is None else compared.p_holm
    return p is not None and p <= ALPHA


def recommend(
    values: Mapping[str, Values], baseline: str, corrects: Mapping[str, bool], *, seed: int = 0
) -> Recommendation:
    """The recipe to use by the rule above; `corrects` says which of the recipes do."""
    against = compare_all(values, baseline, seed=seed)
    winners = [recipe for recipe, compared in against.items() if better(compared)]
    if not winners:
        return keep(against, baseline, corrects)
    best = max(winners, key=lambda recipe: against[recipe].difference or 0.0)
    gain = against[best]
    why = f"{best} is better than {baseline}: {gain.better} questions came out better and {gain.worse} worse"
    if not corrects[best]:
        rivals = [winner for winner in winners if corrects[winner]]
        told = f"; correction gains nothing beyond it that these questions show ({', '.join(rivals)} did no better)"
        return Recommendation(best, why + (told if rivals else ", and no recipe that corrects is"), not rivals)
    plain = {name: found for name, found in values.items() if not corrects[name] and name != baseline}
    unbeaten = [
        name
        for name, compared in compare_all({best: values[best], **plain}, best, seed=seed).items()
        if not worse(compared)
    ]
    if unbeaten:
        told = f"; but that it is better than {', '.join(unbeaten)}, which does not correct, cannot be told from them"
        return Recommendation(best, why + told, False)
    return Recommendation(best, why, True)


def keep(against: Mapping[str, Comparison], baseline: str, corrects: Mapping[str, bool]) -> Recommendation:
    """The baseline, since nothing is better: surely, where everything that corrects is worse."""
    correcting = {recipe: compared for recipe, compared in against.items() if corrects[recipe]}
    if correcting and all(map(worse, correcting.values())):
        told = ", ".join(f"{name} ({one.better} better, {one.worse} worse)" for name, one in correcting.items())
        return Recommendation(baseline, f"correction makes answers worse on these questions: {told}", True)
    if not against:
        return Recommendation(baseline, "nothing else was asked", False)
    best = max(against, key=lambda recipe: against[recipe].difference or 0.0)
    compared = against[best]
    told = (
        f"nothing is shown to be better than {baseline}: the nearest is {best}, with which {compared.better} questions"
    )
    return Recommendation(baseline, f"{told} came out better and {compared.worse} worse", False)


# --- bounds for `corrective` from stored rows: what would have come of a question with other ones ---------------------


TUNED = "corrective"
"""The recipe whose bounds do nothing but decide; those of the published ones also choose chunks and sentences."""

INSIDE, BOTH, ELSEWHERE = "inside", "both", "outside"

OPEN: Mapping[str, str] = {
    INSIDE: f"{TUNED}[lower=0,upper=0.000001,second_opinion_below=0,answer.min_relevance=0]",
    BOTH: f"{TUNED}[lower=0,upper=1,answer.min_relevance=0]",
    ELSEWHERE: f"{TUNED}[lower=0.999999,upper=1,answer.min_relevance=0]",
}
"""The recipe so that its verdict is always correct, always ambiguous, always incorrect, and it always answers."""

STEP = 0.05
"""Between two bounds that are tried: finer ones follow single questions."""

LEAST_HALF = 20
"""Questions in each half, below which no bounds are chosen: one question then moves the mean by 5 points or more."""


@dataclass(frozen=True, slots=True)
class Bounds:
    """Where `corrective` decides; `upper` is None where nothing outside was looked at, so that it decides nothing."""

    lower: float
    upper: float | None
    min_relevance: float

    @property
    def settings(self) -> dict[str, float]:
        """As settings of the recipe."""
        upper = {} if self.upper is None else {"upper": self.upper}
        return {"lower": self.lower, **upper, "answer.min_relevance": self.min_relevance}


def halves(questions: Iterable[Question]) -> tuple[list[Question], list[Question]]:
    """The half to choose on and the half to check on: by sha1 of `compare:` and the question's group or id."""
    parts: tuple[list[Question], list[Question]] = ([], [])
    for question in questions:
        parts[sha1_number(f"compare:{question.group or question.id}") % 2].append(question)
    return parts


def choose(opened: Mapping[str, Sequence[Row]], usual: Bounds, *, wrong_costs: float) -> tuple[Bounds, float]:
    """The bounds of the highest mean value, and how much that is above the one with the `usual` bounds.

    `opened` are the rows of `INSIDE` and, where there is an outside, of `BOTH` and `ELSEWHERE`, on the same questions.
    Of bounds that are equally good the nearest to the usual ones are taken.
    """
    replay = Replay(opened, wrong_costs)
    grid = [round(STEP * step, 2) for step in range(round(1 / STEP))]
    uppers: list[float | None] = [None] if usual.upper is None else [*grid[1:], 1.0]
    tried = [
        Bounds(lower, upper, least)
        for lower, upper, least in product(grid, uppers, grid)
        if upper is None or lower <= upper
    ]
    before = replay.mean(usual)
    best = max((usual, *tried), key=lambda bounds: (round(replay.mean(bounds), 9), -distance(bounds, usual)))
    return best, replay.mean(best) - before


def distance(one: Bounds, other: Bounds) -> float:
    """How far apart two choices are: the sum over the bounds."""
    return sum(abs(mine - other.settings[name]) for name, mine in one.settings.items())


class Replay:
    """What the stored rows say of any bounds; arrays are (n,), one entry a question."""

    def __init__(self, opened: Mapping[str, Sequence[Row]], wrong_costs: float) -> None:
        rows = {part: {row.question.id: row for row in found} for part, found in opened.items()}
        shared = [id for id in rows[INSIDE] if all(id in found for found in rows.values())]
        self._best = np.array([told(rows[INSIDE][id], "decide", "best", 0.0) for id in shared])
        self._values = {
            part: np.array([value(outcome(found[id]), wrong_costs) for id in shared]) for part, found in rows.items()
        }
        # Where no reader told a relevance there is none to fall short of.
        self._relevance = {
            part: np.array([told(found[id], "generate", "relevance", 1.0) for id in shared])
            for part, found in rows.items()
        }

    def mean(self, bounds: Bounds) -> float:
        """Mean value with these bounds; what would have been withheld counts 0."""
        gated = {part: self._gated(part, bounds.min_relevance) for part in self._values}
        low = self._best < bounds.lower
        if bounds.upper is None:
            return float(np.where(low, 0.0, gated[INSIDE]).mean())
        high = self._best >= bounds.upper
        return float(np.where(low, gated[ELSEWHERE], np.where(high, gated[INSIDE], gated[BOTH])).mean())

    def _gated(self, part: str, least: float) -> NDArray[np.float64]:
        return np.where(self._relevance[part] >= least, self._values[part], 0.0)


def told(row: Row, step: str, name: str, otherwise: float) -> float:
    """A number that a step of the answer tells, or what stands for it where it tells none."""
    found = None if row.reply is None else row.reply.told(step, name)
    return otherwise if found is None else float(found)


def usual_bounds(rows: Sequence[Row], *, outside: bool) -> Bounds | None:
    """The bounds that stored rows of the recipe as it is were decided with; None where no row tells them."""
    for row in rows:
        lower, upper = told(row, "decide", "lower", -1.0), told(row, "decide", "upper", -1.0)
        least = told(row, "generate", "min_relevance", -1.0)
        if min(lower, upper, least) >= 0:
            return Bounds(lower, upper if outside else None, least)
    return None


def variant(bounds: Bounds) -> str:
    """The recipe with these bounds, as one word."""
    given = ",".join(f"{name}={number:g}" for name, number in bounds.settings.items())
    return f"{TUNED}[{given}]"


# --- does correction help on these documents, and what does it cost: recipes with and without it on the same ----------


OFF, ON = ("rag", "hybrid"), ("crag", "ecrag", "corrective")
"""Recipes that are compared where none are named: without correction and with it."""

GAINS = ("match", "match_norm", "f1", "gold_source", "gold_page", "wrong_refusals", "refusal_recall")
COSTS = ("seconds_p50", "seconds_p95", "llm_calls")
BESIDE = ("words_median", "refusal_precision", "failed")

Say = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Plan:
    """What is asked of what, and how it is weighed."""

    collection: Collection
    dataset: Dataset
    out: Path
    recipes: Sequence[str] = (*OFF, *ON)
    baseline: str = OFF[0]
    settings: Mapping[str, Any] | None = None
    outside: str = "none"
    wrong_costs: float = WRONG_COSTS
    tune: bool = True
    """Also look for better bounds of `corrective`, and calibrate it on half of the questions."""
    resume: bool = False
    parallel: int = 1
    seed: int = 0


def compare(plan: Plan, *, progress: Progress | None = None, say: Say = lambda text: None) -> dict[str, Any]:
    """Ask what has no row yet in `plan.out`, and weigh the rows: the JSON of `eval compare`.

    `say` is told what is being asked besides the recipes. Raises UsageError for recipes that cannot be compared.
    """
    plan = replace(plan, recipes=list(dict.fromkeys([plan.baseline, *plan.recipes])))
    if len(plan.recipes) == 1:
        raise UsageError("is compared with nothing", subject=plan.baseline, next_step="name another --recipe")
    if corrects(plan.baseline):
        raise UsageError(
            "corrects, and cannot be the baseline", subject=plan.baseline, next_step="give one that does not, e.g. rag"
        )
    asker = CollectionAsker(plan.collection, plan.settings or {}, outside=plan.outside)
    report = ask(plan, asker, plan.dataset.questions, plan.recipes, plan.out, resume=plan.resume, progress=progress)
    rows = {recipe: read_rows(plan.out, recipe) for recipe in plan.recipes}
    found = weigh(rows, plan.baseline, wrong_costs=plan.wrong_costs, seed=plan.seed)
    scored = score(plan.out, measures=[*GAINS, *COSTS, *BESIDE], baseline=plan.baseline, seed=plan.seed)
    for recipe in plan.recipes:
        found["recipes"][recipe]["measures"] = scored["recipes"][recipe]
        found["cost"][recipe] |= {name: scored["recipes"][recipe][name] for name in COSTS}
        found["recipes"][recipe]["degraded"] = scored["degraded"][recipe]
        if recipe != plan.baseline:
            against = scored["against"]["recipes"][recipe]
            found["gained"][recipe]["measures"] = {name: against[name] for name in GAINS}
    found |= {"directory": str(plan.out), "outside": plan.outside, "failed": sum(report.failed.values())}
    return with_tuning(found, tuned(plan, asker, rows, say))


def corrects(recipe: str) -> bool:
    """Whether a recipe or a variant of one may look outside."""
    return recipes.get(parse_variant(recipe).recipe).corrects


def ask(
    plan: Plan,
    asker: CollectionAsker,
    questions: Sequence[Question],
    names: Sequence[str],
    out: Path,
    *,
    resume: bool = True,
    progress: Progress | None = None,
) -> RunReport:
    """Put questions to recipes; what has a row in the folder already is not asked again."""
    described = {recipe: asker.settings_of(recipe) for recipe in names}
    for recipe in names:
        asker.warm_up(recipe)
    return run(
        asker,
        replace(plan.dataset, questions=tuple(questions)),
        names,
        out,
        resume=resume,
        settings=described,
        outside=plan.outside,
        parallel=plan.parallel,
        progress=progress,
    )


# --- weighing the rows ------------------------------------------------------------------------------------------------


def weigh(
    rows: Mapping[str, Sequence[Row]], baseline: str, *, wrong_costs: float = WRONG_COSTS, seed: int = 0
) -> dict[str, Any]:
    """What correction gained, what it cost, where it hurt and which recipe to use, from rows alone."""
    came = {recipe: outcomes(found) for recipe, found in rows.items()}
    values = {recipe: {id: value(one, wrong_costs) for id, one in found.items()} for recipe, found in came.items()}
    against = compare_all(values, baseline, seed=seed)
    asked = [row.question for row in rows[baseline]]
    return {
        "n": len(asked),
        "questions": {
            "answerable": sum(question.answerable for question in asked),
            "unanswerable": sum(not question.answerable for question in asked),
            "unchecked": sum(question.answerable and not question.answers for question in asked),
        },
        "wrong_costs": wrong_costs,
        "baseline": baseline,
        "recipes": {
            recipe: {
                "corrects": corrects(recipe),
                "outcomes": counts(came[recipe]),
                "value": mean_interval(list(values[recipe].values()), seed=seed).to_dict(),
            }
            for recipe in rows
        },
        "gained": {
            recipe: {
                "value": compared.to_dict(),
                "detectable": detectable(
                    [values[recipe][id] - before for id, before in values[baseline].items() if id in values[recipe]],
                    len(against),
                ),
            }
            for recipe, compared in against.items()
        },
        "cost": {recipe: {"tokens": tokens(found)} for recipe, found in rows.items()},
        "hurt": [
            one
            for recipe in rows
            if recipe != baseline
            for one in hurt(rows[baseline], rows[recipe], recipe, wrong_costs=wrong_costs)
        ],
        "recommend": recommend(values, baseline, {name: corrects(name) for name in rows}, seed=seed).to_dict(),
    }


def tokens(rows: Sequence[Row]) -> float | None:
    """Tokens of prompts and replies for a question that did not fail, mean."""
    used = [row.reply.usage for row in rows if row.reply is not None]
    return fmean(one.prompt_tokens + one.completion_tokens for one in used) if used else None


def hurt(before: Sequence[Row], after: Sequence[Row], recipe: str, *, wrong_costs: float) -> list[dict[str, Any]]:
    """The questions that are worth less than with the baseline, by category, with both answers."""
    earlier = {row.question.id: row for row in before}
    lost = [
        (earlier[row.question.id], row)
        for row in after
        if row.question.id in earlier
        and value(outcome(row), wrong_costs) < value(outcome(earlier[row.question.id]), wrong_costs)
    ]
    lost.sort(key=lambda pair: (pair[0].question.category or "", pair[0].question.id))
    return [
        {
            "recipe": recipe,
            "id": first.question.id,
            "category": first.question.category,
            "question": first.question.question,
            "answers": list(first.question.answers),
            "before": said(first),
            "after": said(second),
        }
        for first, second in lost
    ]


def said(row: Row) -> dict[str, Any]:
    """What came of a question, and in which words."""
    text = row.error if row.reply is None else row.reply.reason if row.reply.abstained else row.reply.text
    return {"outcome": str(outcome(row)), "text": text}


# --- corrective, made to measure --------------------------------------------------------------------------------------


def tuned(plan: Plan, asker: CollectionAsker, rows: Mapping[str, Sequence[Row]], say: Say) -> dict[str, Any]:
    """What bounds and a calibration of one's own would do for `corrective`, checked on questions they were not made of.

    Each is {"tried", "why"}, and where it was tried "settings", "chosen_on", "checked_on", "check" and "adopt".
    """
    names = ("bounds", "calibration")
    if not plan.tune:
        return {name: untried("it was not asked for") for name in names}
    if TUNED not in rows:
        return {name: untried(f"{TUNED} is not among the recipes") for name in names}
    asked = asker.settings_of(TUNED)
    if asked["llm.base_url"] and asked["llm.model"]:
        why = "a chat model is configured: its judgements depend on the bounds, so stored rows do not tell about others"
        return {name: untried(why) for name in names}
    first, second = halves([row.question for row in rows[TUNED]])
    if min(len(first), len(second)) < LEAST_HALF:
        why = f"half of {len(first) + len(second)} questions is too few: at least {LEAST_HALF} are needed in each half"
        return {name: untried(why) for name in names}
    return {
        "bounds": chosen_bounds(plan, asker, rows[TUNED], first, second, say),
        "calibration": calibrated(plan, rows[TUNED], first, second, say),
    }


def untried(why: str) -> dict[str, Any]:
    """Something that was not tried."""
    return {"tried": False, "adopt": False, "why": why}


def chosen_bounds(
    plan: Plan,
    asker: CollectionAsker,
    rows: Sequence[Row],
    first: Sequence[Question],
    second: Sequence[Question],
    say: Say,
) -> dict[str, Any]:
    """Bounds chosen on the first half from rows in which nothing was withheld, then asked for real on the second."""
    outside = plan.outside != "none"
    usual = usual_bounds(rows, outside=outside)
    if usual is None:
        return untried("the rows do not tell the bounds they were decided with")
    parts = (INSIDE, BOTH, ELSEWHERE) if outside else (INSIDE,)
    say(f"looking for bounds of {TUNED} on {len(first)} of the questions, asked with nothing withheld")
    opened = plan.out / "open"
    ask(plan, asker, first, [OPEN[part] for part in parts], opened)
    replayed = {part: read_rows(opened, OPEN[part]) for part in parts}
    bounds, gain = choose(replayed, usual, wrong_costs=plan.wrong_costs)
    if gain <= 0:
        return {**untried("no other bounds would have done better than the usual ones"), "tried": True}
    name = variant(bounds)
    say(f"checking {name} on the other {len(second)}")
    checked = plan.out / "chosen"
    ask(plan, asker, second, [name], checked)
    compared = checked_on(plan, rows, read_rows(checked, name))
    adopt = compared.difference is not None and compared.difference >= 0
    return {
        "tried": True,
        "adopt": adopt,
        "settings": bounds.settings,
        "usual": usual.settings,
        "gain": gain,
        "chosen_on": len(first),
        "checked_on": compared.n,
        "check": compared.to_dict(),
        "certain": better(compared),
        "why": "on the half that they were not chosen on they did "
        + ("not do worse" if adopt else "worse than the usual ones"),
    }


def calibrated(
    plan: Plan, rows: Sequence[Row], first: Sequence[Question], second: Sequence[Question], say: Say
) -> dict[str, Any]:
    """The recipe with a calibration fitted on the first half; the collection's own is neither used nor changed."""
    labelled = [(question.question, question.answerable) for question in first]
    fewest = min(sum(answerable for _, answerable in labelled), sum(not answerable for _, answerable in labelled))
    if fewest < LEAST_QUESTIONS:
        return untried(
            f"half of the questions has {fewest} of one kind: at least {LEAST_QUESTIONS} that can be answered and "
            f"{LEAST_QUESTIONS} that cannot are needed in it"
        )
    say(f"calibrating {TUNED} on {len(first)} of the questions, and checking it on the other {len(second)}")
    folder = plan.out / "calibrated"
    with Collection(plan.collection.home, plan.collection.name) as apart:
        apart.calibrations = Calibrations(plan.out / "calibration.json")
        own = CollectionAsker(apart, plan.settings or {}, outside=plan.outside)
        fitting = {key: number for key, number in (plan.settings or {}).items() if key in own.settings_of(TUNED)}
        apart.calibrate(labelled, seed=plan.seed, settings=fitting)
        ask(plan, own, second, [TUNED], folder)
    compared = checked_on(plan, rows, read_rows(folder, TUNED))
    adopt = compared.difference is not None and compared.difference > 0
    return {
        "tried": True,
        "adopt": adopt,
        "chosen_on": len(first),
        "checked_on": compared.n,
        "check": compared.to_dict(),
        "certain": better(compared),
        "why": "on the half that it was not fitted on it did " + ("better" if adopt else "no better"),
    }


def checked_on(plan: Plan, usual: Sequence[Row], other: Sequence[Row]) -> Comparison:
    """The difference in value on the questions of `other`."""
    ids = {row.question.id for row in other}
    before, after = (
        {row.question.id: value(outcome(row), plan.wrong_costs) for row in found if row.question.id in ids}
        for found in (usual, other)
    )
    return difference(before, after, seed=plan.seed)


def with_tuning(found: dict[str, Any], tuning: Mapping[str, Any]) -> dict[str, Any]:
    """The comparison with the bounds that are recommended, where `corrective` is; otherwise the defaults stay."""
    found["tuning"] = dict(tuning)
    bounds, recommended = tuning["bounds"], found["recommend"]
    if recommended["recipe"] == TUNED and bounds["adopt"]:
        found["recommend"] = Recommendation(
            TUNED,
            f"{recommended['why']}; the bounds were chosen on {bounds['chosen_on']} questions, and {bounds['why']}",
            recommended["certain"] and bounds["certain"],
            bounds["settings"],
        ).to_dict()
    return found
