"""Gain and cost of correction on these documents: recipes with and without it on the same questions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import fmean
from typing import Any

from thresher import recipes
from thresher.collection import Collection
from thresher.errors import UsageError
from thresher.home.places import LocalFiles
from thresher.judging.calibration import Calibrations
from thresher.judging.fitting import LEAST_QUESTIONS
from thresher.protocols import Progress
from thresher_evals.asker import CollectionAsker, parse_variant
from thresher_evals.compare.recommend import WRONG_COSTS, compare_all, detectable, recommend, value, values_of
from thresher_evals.dataset import Dataset, Question, sha1_number
from thresher_evals.metrics.answers import Outcome, outcome
from thresher_evals.rows import COMPARISON, Row, read_rows, written
from thresher_evals.runner import run
from thresher_evals.score import score
from thresher_evals.stats import mean_interval, shared_difference

GAINS = ("match", "match_norm", "f1", "gold_source", "gold_page", "wrong_refusals", "refusal_recall")
COSTS = ("seconds_p50", "seconds_p95", "llm_calls")
BESIDE = ("words_median", "refusal_precision", "failed")


Say = Callable[[str], None]

# --- what is asked ----------------------------------------------------------------------------------------------------

OFF, ON = ("rag", "hybrid"), ("crag", "ecrag", "corrective")
"""Default recipes: without correction and with it."""


@dataclass(frozen=True, slots=True)
class Plan:
    """Questions, recipes, and the cost of a wrong answer."""

    collection: Collection
    dataset: Dataset
    out: Path
    recipes: Sequence[str] = (*OFF, *ON)
    baseline: str = OFF[0]
    settings: Mapping[str, Any] | None = None
    outside: str = "none"
    wrong_costs: float = WRONG_COSTS
    tune: bool = True
    """Also calibrate `corrective` on half of the questions."""
    resume: bool = False
    parallel: int = 1
    seed: int = 0
    command: str | None = None
    """Command line that repeats the comparison, for the report."""

    def asker(self, collection: Collection | None = None) -> CollectionAsker:
        """Asks the collection."""
        return CollectionAsker(collection or self.collection, self.settings or {}, outside=self.outside)

    def ask(
        self,
        asker: CollectionAsker,
        questions: Sequence[Question],
        names: Sequence[str],
        out: Path,
        *,
        resume: bool = True,
        progress: Progress | None = None,
        seen: Callable[[Row], None] = lambda _: None,
    ) -> dict[str, list[Row]]:
        """Ask the recipes; questions with a row in the folder are skipped."""
        described = {recipe: asker.settings_of(recipe) for recipe in names}
        for recipe in names:
            asker.warm_up(recipe)
        run(
            asker,
            replace(self.dataset, questions=tuple(questions)),
            names,
            out,
            resume=resume,
            settings=described,
            collection=self.collection.name,
            outside=self.outside,
            parallel=self.parallel,
            command=self.command,
            progress=progress,
            seen=seen,
        )
        return {recipe: read_rows(out, recipe) for recipe in names}


def compare(
    plan: Plan,
    *,
    progress: Progress | None = None,
    seen: Callable[[Row], None] = lambda _: None,
    say: Say = lambda text: None,
) -> dict[str, Any]:
    """Ask the questions that have no row yet in `plan.out`, and weigh the rows: the JSON of `eval compare`.

    `seen` receives each row of the recipes, `say` a line for everything else that is asked. Raises UsageError for
    recipes that cannot be compared.
    """
    plan = replace(plan, recipes=list(dict.fromkeys([plan.baseline, *plan.recipes])))
    if len(plan.recipes) == 1:
        raise UsageError("is compared with nothing", subject=plan.baseline, next_step="name another `recipe`")
    if corrects(plan.baseline):
        raise UsageError(
            "corrects, and cannot be the baseline", subject=plan.baseline, next_step="give one that does not, e.g. rag"
        )
    asker = plan.asker()
    questions, names = plan.dataset.questions, plan.recipes
    rows = plan.ask(asker, questions, names, plan.out, resume=plan.resume, progress=progress, seen=seen)
    found = weigh(rows, plan.baseline, wrong_costs=plan.wrong_costs, seed=plan.seed)
    scored = score(plan.out, measures=[*GAINS, *COSTS, *BESIDE], baseline=plan.baseline, seed=plan.seed)
    for recipe in plan.recipes:
        found["recipes"][recipe]["measures"] = scored["recipes"][recipe]
        found["cost"][recipe] |= {name: scored["recipes"][recipe][name] for name in COSTS}
        found["recipes"][recipe]["degraded"] = scored["degraded"][recipe]
        if recipe != plan.baseline:
            against = scored["against"]["recipes"].get(recipe, {})
            found["gained"][recipe]["measures"] = {name: against[name] for name in GAINS if name in against}
            if recipe in scored["against"]["skipped"]:  # rows of an earlier run that another model wrote
                found["gained"][recipe]["skipped"] = scored["against"]["skipped"][recipe]
    found |= {
        "directory": str(plan.out),
        "outside": plan.outside,
        "failed": sum(row.error is not None for each in rows.values() for row in each),
    }
    found["calibration"] = calibrated(plan, asker, rows, say)
    LocalFiles(plan.out).write(COMPARISON, written(found))
    return found


def corrects(recipe: str) -> bool:
    """Whether a recipe or a variant of one may look outside."""
    return recipes.get(parse_variant(recipe).recipe).corrects


# --- weighing the rows ------------------------------------------------------------------------------------------------


def weigh(
    rows: Mapping[str, Sequence[Row]], baseline: str, *, wrong_costs: float = WRONG_COSTS, seed: int = 0
) -> dict[str, Any]:
    """Gain, cost, worsened questions and the recommended recipe, from rows alone."""
    values = {recipe: values_of(found, wrong_costs) for recipe, found in rows.items()}
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
                "outcomes": counts(rows[recipe]),
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
        "silence": silence(rows, values, wrong_costs, seed=seed),
        "recommend": recommend(values, baseline, {name: corrects(name) for name in rows}, seed=seed).to_dict(),
    }


def silence(
    rows: Mapping[str, Sequence[Row]], values: Mapping[str, Mapping[str, float]], wrong_costs: float, *, seed: int
) -> dict[str, Any]:
    """Recipes worth less than no answer, which is worth 0, and the wrong answers of the best recipe.

    `every`: all are worth less; `certain`: the interval of the best one's value is below 0.
    """
    means = {recipe: mean_interval(list(found.values()), seed=seed) for recipe, found in values.items()}
    best = max(means, key=lambda recipe: means[recipe].value or 0.0)
    wrong = [row for row in rows[best] if value(outcome(row), wrong_costs) < 0]
    worse = [recipe for recipe, mean in means.items() if (mean.value or 0.0) < 0]
    high = means[best].high
    return {
        "worse": worse,
        "every": len(worse) == len(means),
        "certain": len(worse) == len(means) and high is not None and high < 0,
        "best": best,
        "wrong": len(wrong),
        "wrong_of_unanswerable": sum(not row.question.answerable for row in wrong),
        "wrong_elsewhere": sum(cites_elsewhere(row) for row in wrong),
    }


def cites_elsewhere(row: Row) -> bool:
    """Whether an answer to an answerable question cites none of its gold documents."""
    question, reply = row.question, row.reply
    if reply is None or not question.answerable or not question.gold:
        return False
    return not any(place.source.endswith(gold.source) for place in reply.citations for gold in question.gold)


def counts(rows: Sequence[Row]) -> dict[str, int]:
    """Number of questions by outcome."""
    counted = Counter(map(outcome, rows))
    return {str(one): counted[one] for one in Outcome if one is not Outcome.RANKED}


def tokens(rows: Sequence[Row]) -> float | None:
    """Mean tokens of prompts and replies of a question that did not fail."""
    used = [row.reply.usage for row in rows if row.reply is not None]
    return fmean(one.prompt_tokens + one.completion_tokens for one in used) if used else None


def hurt(before: Sequence[Row], after: Sequence[Row], recipe: str, *, wrong_costs: float) -> list[dict[str, Any]]:
    """Questions worth less than with the baseline, by category, with both answers."""
    earlier = {row.question.id: row for row in before}
    pairs = [(earlier[row.question.id], row) for row in after if row.question.id in earlier]
    lost = [pair for pair in pairs if value(outcome(pair[1]), wrong_costs) < value(outcome(pair[0]), wrong_costs)]
    lost.sort(key=lambda pair: (pair[0].question.category or "", pair[0].question.id))
    return [
        {
            "recipe": recipe,
            **{name: getattr(first.question, name) for name in ("id", "category", "question")},
            "answers": list(first.question.answers),
            "before": came_of(first),
            "after": came_of(second),
        }
        for first, second in lost
    ]


def came_of(row: Row) -> dict[str, Any]:
    """Outcome and text of a row."""
    text = row.error if row.reply is None else row.reply.reason if row.reply.abstained else row.reply.text
    return {"outcome": str(outcome(row)), "text": text}


# --- the calibration of `corrective`, checked on questions that were not used to fit it -------------------------------

TUNED = "corrective"
MIN_HALF = 20
"""Least questions in each half: below, one question moves the mean by 5 points or more."""


def calibrated(plan: Plan, asker: CollectionAsker, rows: Mapping[str, Sequence[Row]], say: Say) -> dict[str, Any]:
    """The recipe calibrated on half of the questions; the collection's own calibration is neither used nor changed.

    {"tried", "adopt", "why"}, and if it was tried also "chosen_on", "checked_on", "check" and "certain".
    """
    first, second = halves([row.question for row in rows.get(TUNED, ())])
    labelled = [(question.question, question.answerable) for question in first]
    fewest = min(sum(answerable == kind for _, answerable in labelled) for kind in (True, False))
    why = ""
    if not plan.tune:
        why = "it was not asked for"
    elif TUNED not in rows:
        why = f"{TUNED} is not among the recipes"
    elif all(asker.settings_of(TUNED)[f"llm.{key}"] for key in ("base_url", "model")):
        why = "a chat model is configured: its judgements depend on the bounds, so stored rows do not tell about others"
    elif min(len(first), len(second)) < MIN_HALF:
        why = f"half of {len(first) + len(second)} questions is too few: at least {MIN_HALF} are needed in each half"
    elif fewest < LEAST_QUESTIONS:
        why = (
            f"half of the questions has {fewest} of one kind: at least {LEAST_QUESTIONS} that can be answered and "
            f"{LEAST_QUESTIONS} that cannot are needed in it"
        )
    if why:
        return {"tried": False, "adopt": False, "why": why}
    say(f"calibrating {TUNED} on {len(first)} of the questions, and checking it on the other {len(second)}")
    with Collection(plan.collection.home, plan.collection.name) as apart:
        apart.opened.calibrations = Calibrations(LocalFiles(plan.out), "calibration.json")
        asking = plan.asker(apart)
        fitting = {key: given for key, given in (plan.settings or {}).items() if key in asking.settings_of(TUNED)}
        apart.calibrate(labelled, seed=plan.seed, settings=fitting)
        asked = plan.ask(asking, second, [TUNED], plan.out / "calibrated")[TUNED]
    before, after = (values_of(found, plan.wrong_costs) for found in (rows[TUNED], asked))
    compared = shared_difference(before, after, seed=plan.seed)
    adopt = compared.difference is not None and compared.difference > 0
    return {
        "tried": True,
        "adopt": adopt,
        "why": "on the half that it was not fitted on it did " + ("better" if adopt else "no better"),
        "chosen_on": len(first),
        "checked_on": compared.n,
        "check": compared.to_dict(),
        "certain": compared.direction > 0,
    }


def halves(questions: Iterable[Question]) -> tuple[list[Question], list[Question]]:
    """The half to fit on and the half to check on, by sha1 of `compare:` and the question's group or id."""
    parts: tuple[list[Question], list[Question]] = ([], [])
    for question in questions:
        parts[sha1_number(f"compare:{question.group or question.id}") % 2].append(question)
    return parts
