"""The recipe that this library is about against each other one, and the sentences that follow by rule."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from thresher.evals.report.differences import COLUMNS, cells, difference_figures
from thresher.evals.report.measured import Block, standing
from thresher.evals.report.outcomes import LACKS, lacks
from thresher.evals.report.section import Cell, Section, Table
from thresher.evals.statistics import Comparison
from thresher.evals.variants import parse_variant

OURS = "corrective"

COMPARED = ("em", "f1", "context_match", "refusal_recall", "wrong_refusals", "verdict_accuracy")
"""Measures beside the primary one, where there are numbers."""

NAMED = 4  # recipes that a sentence names; more are counted


def rival_section(block: Block, prefix: str) -> list[Section]:
    """A table, a figure and a sentence for the primary measure; nothing where it is alone or with its variants only."""
    rivals = rivals_of(block)
    if not rivals:
        return []
    compared = {name: block.rivals(OURS, name) for name in dict.fromkeys((block.primary, *COMPARED))}
    told: Mapping[str, Mapping[str, dict[str, Any]]] = {
        rival: {name: of[rival].to_dict() for name, of in compared.items() if rival in of and of[rival].n}
        for rival in rivals
    }
    rows: list[list[Cell]] = [
        [rival, kind(rival), name, *cells(comparison), lacks(block.rows[rival])]
        for name in compared
        for rival in rivals
        if (comparison := told[rival].get(name)) is not None
    ]
    note = (
        f"{OURS} minus the other [95 % interval], on the questions both have. Higher and lower count the questions on "
        f"which {OURS}'s number is; of wrong_refusals less is better. Holm's correction is for the number of recipes. "
        "A fair rival is a published recipe with our judge in its slot."
    )
    title = f"{OURS} against each other recipe"
    table = Table(title, ["against", "what it is", "measure", *COLUMNS, LACKS], rows, note)
    figures = difference_figures(block, f"{prefix}-rivals", f"{OURS} minus each other recipe", told)
    return [Section(title, [verdict(block)], [table], figures)]


def rivals_of(block: Block) -> list[str]:
    """The other recipes, where ours stands among recipes that are not variants of it."""
    if OURS not in block.rows or block.ablated is not None:
        return []
    return [recipe for recipe in block.recipes if recipe != OURS]


def kind(recipe: str) -> str:
    """What a rival is."""
    variant = parse_variant(recipe)
    if variant.recipe != OURS and "judge" in variant.settings:
        return "fair rival"
    return "variant" if variant.settings else "as it is"


def verdict(block: Block) -> str:
    """Against whom ours is significantly better, not distinguishable or significantly worse in the primary measure."""
    compared = block.rivals(OURS, block.primary)
    if not compared:
        return f"In {block.primary}, {OURS} cannot be compared: it has no number."
    groups = {
        "significantly better than": [name for name, told in compared.items() if standing(block.primary, told) > 0],
        "not distinguishable from": [name for name, told in compared.items() if standing(block.primary, told) == 0],
        "significantly worse than": [name for name, told in compared.items() if standing(block.primary, told) < 0],
    }
    said = "; ".join(f"{how} {', '.join(of)}" for how, of in groups.items() if of)
    return f"In {block.primary}, {OURS} is {said} (p < 0.05 after Holm's correction for {counted(compared)})."


def counted(compared: Mapping[str, Comparison]) -> str:
    """How many comparisons."""
    return "1 comparison" if len(compared) == 1 else f"{len(compared)} comparisons"


def listed(names: list[str], of: int) -> str:
    """A few names, or how many of how many."""
    return ", ".join(names) if len(names) <= NAMED else f"{len(names)} of {of} others"
