"""The head of a run: what was asked of what, on which machine, and how to make it again."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from shlex import quote
from typing import Any

from thresher import recipes
from thresher.errors import ThresherError
from thresher.evals.report.measured import Run
from thresher.evals.report.section import Cell, Section, Table
from thresher.evals.variants import parse_variant
from thresher.settings import flat

ENOUGH_FOR_HEADLINES, ENOUGH_FOR_ABLATIONS = 300, 100
"""Questions, or all there are (docs/methods.md, sizes)."""

TOLD_ELSEWHERE = {
    "dataset",
    "recipes",
    "settings",
    "limit",
    "outside",
    "seed",
    "together",
    "versions",
    "machine",
    "started",
}


def head(run: Run) -> Section:
    """The facts of run.json, warnings first."""
    dataset, described = run.dataset, run.described
    facts: dict[str, Any] = {
        "dataset": dataset["spec"],
        "kind, task": f"{dataset['kind']}, {dataset['task']}",
        "sha256 of its files": dataset["sha256"],
        "questions (n)": dataset["questions"],
        "of each category": ", ".join(f"{count} {name}" for name, count in dataset.get("categories", {}).items()),
        "how they were chosen": dataset.get("note"),
        "split, sample, seed": f"{dataset.get('split', 'all')}, {dataset.get('sample') or 'all'}, "
        f"{described.get('seed', 0)}",
        "results of a search": described["limit"],
        "looked outside in": described.get("outside", "none"),
        "asked": "question by question, every recipe in turn" if run.together else None,
        "generator": "; ".join(block.generator or "not told" for block in run.blocks),
        "machine": told(described.get("machine", {})),
        "versions": told(described.get("versions", {})),
        "started": described.get("started"),
        **{name: told(value) for name, value in described.items() if name not in TOLD_ELSEWHERE},
    }
    table = Table("What was run", ["", ""], [[name, str(fact)] for name, fact in facts.items() if fact])
    return Section(
        "What was run",
        [*warnings(run), f"To make it again: `{command(run)}`"],
        [table, *settings_table(run), *degradations(run)],
    )


def told(value: Any) -> str:
    """A value of run.json in words."""
    if isinstance(value, Mapping):
        return ", ".join(f"{name} {told(item)}" for name, item in value.items() if item not in (None, "", {}, []))
    if isinstance(value, list | tuple):
        return ", ".join(told(item) for item in value)
    return str(value)


def warnings(run: Run) -> list[str]:
    """What keeps the numbers of a run from being evidence."""
    said = []
    dataset = run.dataset
    sample, n = dataset.get("sample"), dataset["questions"]
    available = dataset.get("available")
    if sample is not None and not (available and sample >= available):
        of = f" of {available}" if available else ""
        if n < ENOUGH_FOR_ABLATIONS:
            worth = "a smoke run, not evidence"
        elif n < ENOUGH_FOR_HEADLINES:
            worth = f"a sample, enough for ablations and not for a headline, which takes {ENOUGH_FOR_HEADLINES}"
        else:
            worth = "a sample"
        said.append(f"--sample {sample}{of}: {worth}. n = {n}.")
    elif dataset.get("limit_questions"):
        said.append(f"Only the first {dataset['limit_questions']} questions were asked. n = {n}.")
    elif n < ENOUGH_FOR_ABLATIONS:
        said.append(f"These are all the questions of the dataset, and few: n = {n}.")
    said += [
        f"Unfinished: {recipe} has {asked} of {n} questions. Its numbers are of those."
        for recipe, asked in run.asked.items()
        if asked < n
    ]
    if len(run.blocks) > 1:
        said.append("The answers have different generators: they stand in blocks of their own and are not compared.")
    return said


def degradations(run: Run) -> Iterator[Table]:
    """What recipes had to do without, once for each lack; nothing where they had everything."""
    lacking: dict[str, list[str]] = {}
    for recipe, lacks in run.degraded.items():
        for lack in lacks:
            lacking.setdefault(lack, []).append(recipe)
    if lacking:
        yield Table("Done without", ["what", "by"], [[lack, ", ".join(of)] for lack, of in sorted(lacking.items())])


def command(run: Run) -> str:
    """The command line that asks the same again."""
    dataset, described = run.dataset, run.described
    if isinstance(described.get("command"), str):
        return str(described["command"])
    options: dict[str, Any] = {
        "--limit": described["limit"],
        "--split": None if dataset.get("split", "all") == "all" else dataset["split"],
        "--sample": dataset.get("sample"),
        "--seed": described.get("seed") or None,
        "--outside": described.get("outside"),
        "--collection": collection_of(run),
        "--out": run.name,
    }
    named = " ".join(f"--recipe {quote(recipe)}" for recipe in described["recipes"])
    given = " ".join(f"{name} {quote(str(value))}" for name, value in options.items() if value is not None)
    given += " --together" if run.together else ""
    return f"thresher eval run --dataset {quote(dataset['spec'])} {named} {given}"


def collection_of(run: Run) -> str | None:
    """The collection that was asked, where run.json tells it."""
    found = run.described.get("collection")
    if isinstance(found, Mapping):
        found = found.get("name")
    return found if isinstance(found, str) else None


def settings_table(run: Run) -> Iterator[Table]:
    """The settings that are not the recipe's defaults; nothing where all are."""
    rows: list[list[Cell]] = []
    for recipe, settings in run.described["settings"].items():
        defaults = defaults_of(recipe)
        rows += [
            [recipe, name, told(value), told(defaults[name])]
            for name, value in settings.items()
            if name in defaults and as_json(defaults[name]) != as_json(value)
        ]
    if rows:
        yield Table("Settings that are not the default", ["recipe", "setting", "value", "default now"], rows)


def as_json(value: Any) -> Any:
    """A default as JSON gives it back."""
    return list(value) if isinstance(value, tuple) else value


def defaults_of(recipe: str) -> Mapping[str, Any]:
    """The settings of a recipe as they are when nothing is set; none for a recipe that is no longer there."""
    try:
        found = recipes.get(parse_variant(recipe).recipe)
    except ThresherError:
        return {}
    return flat(found.settings())
