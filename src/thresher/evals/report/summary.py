"""The first lines of a report, made from its numbers by rule."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from thresher.evals.report.differences import probability
from thresher.evals.report.heading import warnings
from thresher.evals.report.measured import SIGNIFICANT, Block, Run, direction
from thresher.evals.report.section import Measured, number


def summary(run: Run) -> list[str]:
    """What a reader should know: warnings, the best recipe, gains and costs against the baseline, where it hurt."""
    said = warnings(run)
    for block in run.blocks:
        who = f"{block.generator or 'Generator not told'}: " if len(run.blocks) > 1 else ""
        said += [f"{who}{sentence}" for sentence in sentences(block)]
    return said


def sentences(block: Block) -> Iterator[str]:
    """What can be said of one generator's recipes."""
    yield from leading(block)
    hurt = hurts(block)
    for recipe in block.others:
        told = block.differences.get(recipe, {}).get(block.primary)
        if told is not None:
            yield against_baseline(recipe, block.baseline, block.primary, told)
        if hurt.get(recipe):
            yield f"{recipe} is significantly worse than {block.baseline} in: {'; '.join(hurt[recipe])}."
    if block.others and not any(hurt.values()):
        yield f"No recipe is significantly worse than {block.baseline} in any measure or category."


def leading(block: Block) -> Iterator[str]:
    """Which recipe has the best primary measure, and whether that is sure."""
    told = {recipe: values[block.primary] for recipe, values in block.scores.items() if block.primary in values}
    if not told:
        return
    first = max(told, key=lambda recipe: told[recipe].value or 0.0)
    words = block.scores[first].get("words_median")
    length = f" (median length of an answer in words: {words.shown})" if words and block.primary == "match" else ""
    best = block.best(block.primary)
    if len(told) == 1:
        yield f"{first} has {block.primary} {told[first]}{length}."
    elif best is not None:
        yield f"{best} has the best {block.primary}, {told[best]}{length}: significantly better than every other."
    else:
        alike = [recipe for recipe in told if told[recipe].value == told[first].value]
        yield (
            f"No recipe is significantly better in {block.primary} than every other; the highest is "
            f"{' and '.join(alike)} with {told[first]}{length}."
        )


def against_baseline(recipe: str, baseline: str, measure: str, told: Mapping[str, Any]) -> str:
    """What a recipe gains and loses, and costs."""
    one = Measured(told["difference"], told["low"], told["high"], told["n"])
    sure = told["p_holm"] is not None and told["p_holm"] < SIGNIFICANT
    how = "significant" if sure else "not significant"
    p = f", p {equals(told['p_holm'])} after Holm" if told["p_holm"] is not None else ""
    return (
        f"Against {baseline}, {recipe} has the higher {measure} on {told['better']} and the lower on {told['worse']} "
        f"of {told['n']} questions (difference {one}{p}: {how})."
    )


def equals(p: float) -> str:
    """`= 0.02` or `< 0.001`."""
    shown = probability(p) or ""
    return shown if shown.startswith("<") else f"= {shown}"


def hurts(block: Block) -> dict[str, list[str]]:
    """Recipe to the measures, and the categories, in which it is significantly worse than the baseline."""
    found: dict[str, list[str]] = {recipe: [] for recipe in block.others}
    for recipe, comparisons in block.differences.items():
        found[recipe] += [
            f"{name} {number(told['difference'])} (n={told['n']})"
            for name, told in comparisons.items()
            if worse(name, told)
        ]
    for category, compared in block.category_differences.items():
        for recipe, comparisons in compared.items():
            told = comparisons.get(block.primary)
            if told is not None and worse(block.primary, told):
                found[recipe].append(
                    f"{block.primary} of the category {category} {number(told['difference'])} (n={told['n']})"
                )
    return found


def worse(name: str, told: Mapping[str, Any]) -> bool:
    """Whether a comparison is significant and to the bad side of its measure."""
    p, moved = told["p_holm"], told["difference"]
    return p is not None and p < SIGNIFICANT and moved is not None and direction(name) * moved < 0
