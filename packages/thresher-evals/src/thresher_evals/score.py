"""The scores of a run, from its rows alone: without model, collection or dataset files."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from thresher.errors import UnknownSetting, UsageError
from thresher_evals.dataset import Split, members
from thresher_evals.judges.judgements import judged_rows
from thresher_evals.metrics.answers import Outcome, outcome
from thresher_evals.metrics.measure import Valued, applying, by_question, compared, summaries, within
from thresher_evals.metrics.registry import measures_of, parse
from thresher_evals.rows import TAKEN, Row, is_together, models_of, read_run
from thresher_evals.stats import corrected


def score(
    directory: Path,
    *,
    measures: Sequence[str] | None = None,
    baseline: str | None = None,
    split: Split = "all",
    seed: int = 0,
) -> dict[str, Any]:
    """The JSON of `eval score`, over the rows of one split or of all. Raises UnknownSetting and UsageError.

    Unless `measures` are named, those that apply to no row are left out. Fields beside the documented ones: `asked`
    (rows of each recipe), `unfinished` (questions without a row), `outcomes`, `keys`, `degraded`, `against` (each
    recipe against `baseline`, by default the first, on shared questions), and `categories` if there are any.
    """
    described = read_run(directory)
    dataset = described["dataset"]
    every = {recipe: judged_rows(directory, recipe) for recipe in described["recipes"]}
    recipes = {recipe: [row for row in rows if members([row.question], split)] for recipe, rows in every.items()}
    if baseline is not None and baseline not in recipes:
        raise UnknownSetting(baseline, recipes, kind="recipe of this run")
    if not any(every.values()):
        raise UsageError("the run has no rows yet", subject=str(directory), next_step="finish it with `resume`")
    if not any(recipes.values()):
        asked, rows = dataset.get("split", "all"), max(map(len, every.values()))
        raise UsageError(
            f"none of the {rows} questions with a row is of the split {split}; the run asked those of {asked}",
            subject=str(directory),
            next_step=f"score those of the `split` {asked}, or run it with the `split` {split}",
        )
    wanted = measures_of(dataset["task"]) if measures is None else tuple(map(parse, measures))
    if is_together(described):
        wanted = tuple(measure for measure in wanted if str(measure) not in TAKEN)
    values: Mapping[str, Valued] = {
        recipe: {measure: measure.values(rows) for measure in wanted} for recipe, rows in recipes.items()
    }
    if measures is None:
        values = applying(values)
    scored: dict[str, Any] = {
        "dataset": dataset["spec"],
        "n": dataset["questions"] if split == "all" else max(map(len, recipes.values())),
        "recipes": {recipe: summaries(values[recipe], seed=seed) for recipe in recipes},
        "unfinished": {
            recipe: missing for recipe, rows in every.items() if (missing := dataset["questions"] - len(rows)) > 0
        },
        "asked": {recipe: len(rows) for recipe, rows in recipes.items()},
        "outcomes": {recipe: outcomes(rows) for recipe, rows in recipes.items()},
        "keys": {recipe: keys(rows) for recipe, rows in recipes.items()},
        "degraded": {
            recipe: sorted({name for row in rows for name in row.degraded}) for recipe, rows in recipes.items()
        },
        "against": against(recipes, values, baseline or next(iter(recipes)), seed=seed),
    }
    categories = sorted({row.question.category for rows in recipes.values() for row in rows if row.question.category})
    if categories:
        scored["categories"] = {
            category: {
                recipe: summaries(within(values[recipe], rows, category), seed=seed) for recipe, rows in recipes.items()
            }
            for category in categories
        }
    return scored


def outcomes(rows: Sequence[Row]) -> dict[str, int]:
    """Numbers of questions answered (or searched), refused and failed, and of questions with problems.

    `timed_out`: something ran out of time; `unreadable`: a model's reply could not be parsed. Both may still be
    answered.
    """
    came = Counter(map(outcome, rows))
    refused = came[Outcome.REFUSED_RIGHTLY] + came[Outcome.REFUSED_WRONGLY]
    failed = came[Outcome.FAILED] + came[Outcome.TIMED_OUT]
    return {
        "answered": len(rows) - refused - failed,
        "refused": refused,
        "failed": failed,
        "timed_out": sum(row.timed_out for row in rows),
        "unreadable": sum(row.unreadable > 0 for row in rows),
    }


def keys(rows: Sequence[Row]) -> dict[str, list[str]]:
    """The generators of answers and the judges of chunks in the rows; rows with different ones are not comparable."""
    return {
        "generator": sorted({row.generator for row in rows if row.generator}),
        "judge": sorted({row.judge for row in rows if row.judge}),
    }


# --- recipes against each other, question by question -----------------------------------------------------------------


def against(
    recipes: Mapping[str, Sequence[Row]], values: Mapping[str, Valued], baseline: str, *, seed: int
) -> dict[str, Any]:
    """Every other recipe against the baseline, question by question; those with another generator are `skipped`."""
    generators = {recipe: models_of(keys(rows)["generator"]) for recipe, rows in recipes.items()}
    skipped = {
        recipe: f"answers by {', '.join(known)}, and those of {baseline} by {', '.join(generators[baseline])}"
        for recipe, known in generators.items()
        if known and generators[baseline] and known != generators[baseline]
    }
    others = [recipe for recipe in recipes if recipe != baseline and recipe not in skipped]
    found: dict[str, dict[str, Any]] = {other: {} for other in others}
    for measure, numbers in values[baseline].items():
        if not measure.paired:
            continue
        first = by_question(recipes[baseline], numbers)
        comparisons = [
            compared(measure, first, by_question(recipes[other], values[other][measure]), seed=seed) for other in others
        ]
        for other, comparison in zip(others, corrected(comparisons), strict=True):
            found[other][str(measure)] = asdict(comparison)
    return {"baseline": baseline, "recipes": found, "skipped": skipped}
