"""Gain and cost of correction on these documents: recipes with and without it on the same questions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from statistics import fmean
from typing import Any

from thresher import recipes
from thresher.errors import UsageError
from thresher.protocols import Progress
from thresher_evals.asker import parse_variant
from thresher_evals.compare.plan import Plan
from thresher_evals.compare.recommend import WRONG_COSTS, compare_all, detectable, recommend, value, values_of
from thresher_evals.compare.tuning import Say, tuned, with_tuning
from thresher_evals.jsonl import write_whole
from thresher_evals.metrics.answers import Outcome, outcome
from thresher_evals.rows import COMPARISON, Row, written
from thresher_evals.score import score
from thresher_evals.stats import mean_interval

GAINS = ("match", "match_norm", "f1", "gold_source", "gold_page", "wrong_refusals", "refusal_recall")
COSTS = ("seconds_p50", "seconds_p95", "llm_calls")
BESIDE = ("words_median", "refusal_precision", "failed")


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
    found = with_tuning(found, tuned(plan, asker, rows, say))
    write_whole(plan.out / COMPARISON, written(found))
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
