"""CRAG's tables 2, 3, 5, 6 and 11, and figure 3: variants of `crag` on the same questions, without a chat model."""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path

from benchmarks import machine
from benchmarks.commands import HOME, thresher
from benchmarks.seeds.pool import pool
from benchmarks.seeds.rows import Lines, Measured, Provenance, Values
from thresher_evals.judges.judgements import judged_rows
from thresher_evals.metrics.registry import parse

QUESTIONS = 120
TIMED = 40
"""Questions of the costs: one recipe at a time, nothing shared between recipes."""

RECIPES = ("rag", "crag", "corrective")
ACTIONS = tuple(f"crag[actions=without-{which}]" for which in ("correct", "incorrect", "ambiguous"))
ALONE = tuple(f"crag[actions=only-{which}]" for which in ("correct", "incorrect", "ambiguous"))
FOUND = (1.0, 0.7, 0.4, 0.1)
"""Shares of the questions whose documents can be found inside."""
WITHOUT_REFINEMENT, WITHOUT_REWRITING, WITHOUT_SELECTION = (
    "crag[refine.of=none]",
    "crag[search.style=question]",
    "crag[refine.of=inside]",
)
ALWAYS_BOTH = "crag[actions=only-ambiguous,refine.of=none,lower=0,bounds=code]"
"""Plain retrieval and the web, always, whole and unjudged: the "RAG with web" of Table 5."""

PRESETS = ("crag-paper", "crag-code")
MEASURES = ("match", "context_match", "abstained", "context_characters")
DATA = (
    "PopQA over 2,000 passages of Wikipedia; the evidence of half of the questions is in a second collection, which "
    "stands for the web; no chat model, the bundled reader quotes"
)


def crag_variants() -> Measured:
    """Every variant of tables 2, 3, 5 and 11 in one run, on the same questions."""
    asked = (
        "crag",
        *ACTIONS,
        *ALONE,
        WITHOUT_REFINEMENT,
        WITHOUT_REWRITING,
        WITHOUT_SELECTION,
        ALWAYS_BOTH,
        "rag",
        *PRESETS,
    )
    lines = run("crag-variants", asked, QUESTIONS, MEASURES, "--together")
    return Measured("crag-variants", Provenance.now(), DATA, lines)


def crag_robustness() -> Measured:
    """Figure 3: the same questions while fewer and fewer of their documents can be found inside."""
    lines: dict[str, Mapping[str, Values]] = {}
    for share in FOUND:
        found = run(
            "crag-robustness", RECIPES, QUESTIONS, ("match", "abstained"), "--together", "--degrade", f"{share:g}"
        )
        lines |= {f"{recipe} {share:g}": values for recipe, values in found.items()}
    return Measured("crag-robustness", Provenance.now(), DATA, lines)


def crag_costs() -> Measured:
    """Seconds of a question, recipe by recipe."""
    lines = run("crag-costs", RECIPES, TIMED, ("seconds_p50", "cpu_seconds"))
    return Measured("crag-costs", Provenance.now(), DATA, lines)


def run(
    name: str,
    recipes: Sequence[str],
    questions: int,
    measures: Sequence[str],
    *options: str,
    folder: Path | None = None,
) -> Lines:
    """Ask anew, and the value of every measure for every question; the pool is that of `folder`, or of 2,000."""
    out = machine.CACHE / "seeds" / name
    shutil.rmtree(out, ignore_errors=True)
    dataset = f"routing:{(folder or pool()) / 'popqa.jsonl'}"
    chosen = [part for recipe in recipes for part in ("--recipe", recipe)]
    sample = ("--sample", str(questions))
    home = ("--home", str(HOME))
    thresher("eval", "run", "--dataset", dataset, *chosen, "--out", str(out), *sample, *options, *home, home=False)
    return {recipe: values(out, recipe, measures) for recipe in recipes}


def values(out: Path, recipe: str, measures: Sequence[str]) -> dict[str, list[float | None]]:
    """Measure to its value for each row of a recipe."""
    rows = judged_rows(out, recipe)
    return {name: [number(one) for one in parse(name).values(rows)] for name in measures}


def number(value: object) -> float | None:
    """A measure's value where it is a plain number: those of the tables here are."""
    return float(value) if isinstance(value, int | float) else None
