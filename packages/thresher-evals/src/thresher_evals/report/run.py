"""The head of a run: what was asked of what, what keeps it from being evidence, and how to make it again."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from shlex import quote
from typing import Any

from thresher import recipes
from thresher.errors import ThresherError
from thresher.settings import flat
from thresher_evals.report.blocks import shown
from thresher_evals.report.data import Run, labels
from thresher_evals.rows import WHY
from thresher_evals.runner import parse_variant

ENOUGH_FOR_HEADLINES, ENOUGH_FOR_ABLATIONS = 300, 100
"""Questions, or all there are (docs/methods.md, sizes)."""

IN_SENTENCES = {"dataset", "recipes", "settings", "limit", "outside", "together", "command"}
"""Keys of run.json that are put into words of their own."""


def facts(run: Run) -> str:
    """What was asked of what, in a sentence."""
    dataset, outside = run.dataset, run.described.get("outside", "none")
    available = dataset.get("available")
    of = f" of {available}" if available and available != dataset["questions"] else ""
    counts = ", ".join(f"{count} {name}" for name, count in dataset.get("categories", {}).items())
    generators = " and of ".join(block.generator or "a generator not named" for block in run.blocks)
    parts = [
        f"n = {dataset['questions']} questions{of}" + (f" ({counts})" if counts else ""),
        f"{run.described['limit']} results a search",
        "nowhere to look outside" if outside == "none" else f"looked outside in `{outside}`",
        "" if dataset["task"] == "search" else f"answers of {generators}",
        str(dataset.get("note") or ""),
    ]
    return "; ".join(filter(None, parts)) + "."


def warnings(run: Run) -> Iterator[str]:
    """What keeps the numbers of a run from being evidence."""
    dataset = run.dataset
    sample, n, available = dataset.get("sample"), dataset["questions"], dataset.get("available")
    if sample is not None and not (available and sample >= available):
        of = f" of {available}" if available else ""
        if n < ENOUGH_FOR_ABLATIONS:
            worth = "a smoke run, not evidence"
        elif n < ENOUGH_FOR_HEADLINES:
            worth = f"a sample, enough for ablations and not for a headline, which takes {ENOUGH_FOR_HEADLINES}"
        else:
            worth = "a sample"
        yield f"--sample {sample}{of}: {worth}. n = {n}."
    elif dataset.get("limit_questions"):
        yield f"Only the first {dataset['limit_questions']} questions were asked. n = {n}."
    elif n < ENOUGH_FOR_ABLATIONS:
        yield f"These are all the questions of the dataset, and few: n = {n}."
    for recipe, rows in run.rows.items():
        if len(rows) < n:
            yield f"Unfinished: {recipe} has {len(rows)} of {n} questions. Its numbers are of those."
    if len(run.blocks) > 1:
        yield "The answers have different generators: they stand apart and are not compared."


def small_print(run: Run) -> Iterator[str]:
    """How to make a run again, what was set and done without, on which machine, how far people agreed."""
    described = run.described
    yield f"To make it again: `{command(run)}`"
    if run.together:
        yield WHY
    yield from (f"{label} is {recipe}." for recipe, label in labels(described["recipes"]).items() if label != recipe)
    for recipe, settings in described["settings"].items():
        own, defaults = parse_variant(recipe).settings, defaults_of(recipe)
        changed = [
            f"{name} {in_words(value)} (default now: {in_words(defaults[name])})"
            for name, value in settings.items()
            if name in defaults and name not in own and in_words(defaults[name]) != in_words(value)
        ]
        if changed:
            yield f"Settings of {recipe}: {'; '.join(changed)}."
    degradations = {recipe: {name for row in rows for name in row.degraded} for recipe, rows in run.rows.items()}
    for degradation in sorted(set().union(*degradations.values())):
        by = [recipe for recipe, names in degradations.items() if degradation in names]
        listed = "every recipe" if len(by) == len(degradations) > 1 else ", ".join(by)
        yield f"Done without, by {listed}: {degradation}."
    all_else = {"sha256 of the dataset": run.dataset["sha256"], "split": run.dataset.get("split", "all"), **described}
    rest = [f"{name}: {in_words(value)}" for name, value in all_else.items() if value and name not in IN_SENTENCES]
    yield f"{'; '.join(rest)}."
    for dimension, agreement in run.ratings.get("agreement", {}).items():
        numbers = [f"{name.replace('_', ' ')} {shown(value)}" for name, value in agreement.items() if value is not None]
        yield f"{len(run.ratings['raters'])} people rated {dimension} without a recipe's name: {', '.join(numbers)}."


def in_words(value: Any) -> str:
    """A value of run.json, or of a setting, in words."""
    if isinstance(value, Mapping):
        return ", ".join(f"{name} {in_words(item)}" for name, item in value.items() if item not in (None, "", {}, []))
    return ", ".join(map(in_words, value)) if isinstance(value, list | tuple) else str(value)


def defaults_of(recipe: str) -> Mapping[str, Any]:
    """The settings of a recipe as they are when nothing is set; none for a recipe that is no longer there."""
    try:
        return flat(recipes.get(parse_variant(recipe).recipe).settings())
    except ThresherError:
        return {}


def command(run: Run) -> str:
    """The command line that asks the same again."""
    dataset, described = run.dataset, run.described
    if isinstance(described.get("command"), str):
        return str(described["command"])
    split = dataset.get("split", "all")
    options: dict[str, Any] = {
        "--limit": described["limit"],
        "--split": None if split == "all" else split,
        "--sample": dataset.get("sample"),
        "--seed": described.get("seed") or None,
        "--outside": described.get("outside"),
        "--degrade": run.share,
        "--collection": run.collection,
        "--out": run.name,
    }
    names = [f"--recipe {quote(recipe)}" for recipe in described["recipes"]]
    given = [f"{name} {quote(str(value))}" for name, value in options.items() if value is not None]
    together = ["--together"] if run.together else []
    return " ".join([f"thresher eval run --dataset {quote(dataset['spec'])}", *names, *given, *together])
