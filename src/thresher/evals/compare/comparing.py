"""Does correction help on these documents, and what does it cost: recipes with and without it on the same questions."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import fmean
from typing import Any

from thresher import recipes
from thresher.collection import Collection
from thresher.errors import UsageError
from thresher.evals.asking import CollectionAsker
from thresher.evals.compare.outcomes import WRONG_COSTS, counts, outcome, outcomes, value
from thresher.evals.compare.recommending import (
    Recommendation,
    better,
    compare_all,
    detectable,
    difference,
    recommend,
)
from thresher.evals.compare.replaying import (
    BOTH,
    ELSEWHERE,
    INSIDE,
    LEAST_HALF,
    OPEN,
    TUNED,
    choose,
    halves,
    usual_bounds,
    variant,
)
from thresher.evals.folder import rows_path
from thresher.evals.labels import Dataset, Question
from thresher.evals.rows import Row, read_rows
from thresher.evals.runs import RunReport, run
from thresher.evals.score import score
from thresher.evals.statistics import Comparison, mean_interval
from thresher.evals.variants import parse_variant
from thresher.judging.calibration import LEAST_QUESTIONS
from thresher.judging.stored import Calibrations
from thresher.protocols import Progress

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
    rows = {recipe: read_rows(rows_path(plan.out, recipe)) for recipe in plan.recipes}
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
    used = [row.reply.answer["usage"] for row in rows if row.reply is not None]
    return fmean(one["prompt_tokens"] + one["completion_tokens"] for one in used) if used else None


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
    text = row.error if row.reply is None else row.reply.answer.get("reason") if row.reply.abstained else row.reply.text
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
    replayed = {part: read_rows(rows_path(opened, OPEN[part])) for part in parts}
    bounds, gain = choose(replayed, usual, wrong_costs=plan.wrong_costs)
    if gain <= 0:
        return {**untried("no other bounds would have done better than the usual ones"), "tried": True}
    name = variant(bounds)
    say(f"checking {name} on the other {len(second)}")
    checked = plan.out / "chosen"
    ask(plan, asker, second, [name], checked)
    compared = checked_on(plan, rows, read_rows(rows_path(checked, name)))
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
    compared = checked_on(plan, rows, read_rows(rows_path(folder, TUNED)))
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
