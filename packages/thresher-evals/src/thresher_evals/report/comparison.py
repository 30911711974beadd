"""The recipes side by side: a table and bars for each family of measures (ECRAG Table 1, Fig. 8, 9 and 10)."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from thresher_evals.metrics.registry import Family, parse
from thresher_evals.report.blocks import Cell, Figure, Measured, Section, Table, number
from thresher_evals.report.data import LACKS, Block, Run, lacks, standing, within
from thresher_evals.report.plots import Bars, bars, points
from thresher_evals.report.published import (
    ABLATED_ON,
    ABLATIONS,
    LABEL,
    LLAMA,
    SELF_RAG_LLAMA,
    Claim,
    ClaimedAblation,
    claims_of,
)
from thresher_evals.runner import parse_variant
from thresher_evals.stats import Comparison

if TYPE_CHECKING:
    from matplotlib.axes import Axes

DRAWN: Sequence[tuple[str, str, Sequence[str], str]] = (
    ("documents", "Documents among the first results", ("P@5", "R@5", "F1@5", "nDCG@10"), "share of 1"),
    (
        "passages",
        "Gold spans and chunks among the first five",
        ("span_R@5", "span_F1@5", "chunk_R@5", "chunk_F1@5"),
        "",
    ),
    ("answers", "Answers", ("label_accuracy", "match", "em", "f1"), "share of 1"),
    ("factscore", "Facts supported (FActScore)", ("factscore", "respond_ratio"), "share of 1"),
    (
        "hallucination",
        "Hallucination by both definitions: not supported by the sources (unsupported), not right (wrong)",
        ("unsupported", "wrong"),
        "share of the answers",
    ),
    ("verdicts", "Refusals and verdicts", ("refusal_recall", "wrong_refusals", "verdict_accuracy"), "share of 1"),
)
"""Name, title, measures and what the axis is of every figure of bars."""

QUALITY = re.compile(r"likert_.*")


def comparison_section(run: Run, block: Block, prefix: str) -> Section:
    """Tables of every measure but the costs, and bars."""
    tables = [
        family_table(block, title, names) for title, names in by_family(block.measures).items() if title != Family.COST
    ]
    claims = claims_of(run.dataset["kind"], [name for _, _, names, _ in DRAWN for name in names])
    text = [claim_words(claims)] if claims else []
    return Section("The recipes compared", text, tables, list(figures(run, block, prefix)))


def claim_words(claims: Sequence[Claim]) -> str:
    """Where the hollow bars come from."""
    sources = "; ".join(dict.fromkeys(claim.source for claim in claims))
    return f"Hollow bars with dashed edges are printed numbers: {LABEL}. They come from: {sources}."


def by_family(names: Sequence[str]) -> dict[str, list[str]]:
    """Table to its measures, in the order of the tables."""
    found = {str(family): [name for name in names if parse(name).family is family] for family in Family}
    return {title: measures for title, measures in found.items() if measures}


def family_table(block: Block, title: str, names: Sequence[str]) -> Table:
    """A row for each recipe and judge, a column for each measure."""
    best = {name: block.best(name) for name in names}
    rows: list[list[Cell]] = [
        [
            recipe,
            block.judges[recipe] or None,
            *(marked(block.scores[recipe].get(name), best=best[name] == recipe) for name in names),
            lacks(block.rows[recipe]),
        ]
        for recipe in block.recipes
    ]
    note = (
        "Value [95 % interval] n. ★ stands where a recipe is better than each other one on the same questions, "
        "p < 0.05 after Holm's correction; where none is, none is marked."
    )
    return Table(title, ["recipe", "judge", *names, LACKS], rows, note)


def marked(told: Measured | None, *, best: bool) -> Measured | None:
    """The number, with its star."""
    return None if told is None else Measured(told.value, told.low, told.high, told.n, best)


# --- figures ----------------------------------------------------------------------------------------------------------


def figures(run: Run, block: Block, prefix: str) -> Iterator[Figure]:
    """Every figure of bars for which there are numbers."""
    for name, title, names, label in DRAWN:
        yield from bar_figure(block, f"{prefix}-{name}", title, names, claims_of(run.dataset["kind"], names), label)
    quality = [name for name in block.measures if QUALITY.fullmatch(name)]
    yield from bar_figure(
        block, f"{prefix}-quality", "Response quality, by a judge", quality, (), "1 to 5", share=False
    )


def bar_figure(
    block: Block,
    name: str,
    title: str,
    wanted: Sequence[str],
    claims: Sequence[Claim] = (),
    label: str = "",
    *,
    share: bool = True,
) -> Iterator[Figure]:
    """Bars of the measures in which recipes differ, published ones hollow below them; nothing where there are none."""
    printed = {claim.measure for claim in claims}
    names = [measure for measure in wanted if measure in printed or differs(block, measure)]
    names = [measure for measure in names if measure in block.measures]
    if not names:
        return
    measured = [
        (bar_label(block, recipe, names), {measure: told[measure] for measure in names if measure in told})
        for recipe, told in block.scores.items()
    ]
    claimed: dict[str, dict[str, float]] = {}
    for claim in claims:
        if claim.measure in names:
            claimed.setdefault(claim.label, {})[claim.measure] = claim.value
    note = claim_words(claims) if claimed else ""
    draw = drawer(measured, names, claimed, label, share)
    yield Figure(name, title, draw, fewest(measured), note, block.legend(block.recipes))


def differs(block: Block, measure: str) -> bool:
    """Whether bars of a measure would say anything: one recipe's number is not the other's."""
    return len({told[measure].value for told in block.scores.values() if measure in told}) > 1


def bar_label(block: Block, recipe: str, names: Sequence[str]) -> str:
    """The recipe; with how long its answers are where a long answer matches more easily."""
    words = block.scores[recipe].get("words_median")
    name = block.label(recipe)
    return f"{name}, {words.shown} words" if words is not None and "match" in names else name


def drawer(
    measured: Bars, names: Sequence[str], claimed: Mapping[str, Mapping[str, float]], label: str, share: bool
) -> Callable[[Axes], None]:
    """Draws the bars later."""
    return lambda axes: bars(axes, measured, names, claimed=list(claimed.items()), label=label, share=share)


def fewest(measured: Bars) -> int | None:
    """The fewest questions behind one of the numbers."""
    return min((one.n for _, told in measured for one in told.values() if one.n is not None), default=None)


# --- each recipe against the baseline, question by question, and category by category ---------------------------------


COLUMNS = ("difference", "p", "p (Holm)", "test", "higher", "lower", "n", "other tests, p")
NOTE = (
    "Difference [95 % interval] of the mean on the questions both have, minus {baseline}'s. Higher and lower count the "
    "questions on which the number is. Holm's correction is for the number of recipes compared."
)
SHOWN = ("f1", "verdict_accuracy", "refusal_recall", "wrong_refusals", "R@5", "span_R@5")
"""What is drawn beside the primary measure, the first that differ."""
DIFFERENCES_DRAWN = 4  # measures that have room side by side
TOLD = (
    "label_accuracy", "match", "match_norm", "em", "f1", "factscore", "nDCG@10", "R@5", "span_R@5", "chunk_F1@5",
    "context_match", "abstained", "refusal_recall", "wrong_refusals", "verdict_accuracy",
)  # fmt: skip
"""Measures that stand in the table: what was found, said, refused and decided."""


def difference_section(block: Block, prefix: str) -> list[Section]:
    """A table and a figure; nothing where there is one recipe only, or where the ablations say the same."""
    if not block.differences or block.ablated == block.baseline:
        return []
    rows = [
        [recipe, name, *cells(told), lacks(block.rows[recipe])]
        for recipe, comparisons in block.differences.items()
        for name, told in comparisons.items()
        if name in TOLD and moved(told)
    ]
    still = ", ".join(
        name
        for name in TOLD
        if name in block.measures and not any(name in told and moved(told[name]) for told in block.differences.values())
    )
    table = Table(
        f"Differences from {block.baseline}",
        ["recipe", "measure", *COLUMNS, LACKS],
        rows,
        NOTE.format(baseline=block.baseline)
        + " `eval score --json` has those of the other measures. Rows in which no question differs are left out"
        + (f"; for all recipes these are: {still}." if still else "."),
    )
    title = f"Differences from {block.baseline}, question by question"
    figures = difference_figures(block, f"{prefix}-differences", title, block.differences)
    return [Section(title, tables=[table], figures=figures)]


def difference_figures(
    block: Block, name: str, title: str, compared: Mapping[str, Mapping[str, Mapping[str, Any]]]
) -> list[Figure]:
    """One drawing of differences with their intervals, or none: the primary measure and up to three more."""
    measures = [
        measure
        for measure in dict.fromkeys((block.primary, *SHOWN))
        if any(measure in told and moved(told[measure]) for told in compared.values())
    ][:DIFFERENCES_DRAWN]
    if not measures:
        return []
    drawn = [
        (block.label(recipe), {measure: difference(told[measure]) for measure in measures if measure in told})
        for recipe, told in compared.items()
    ]
    n = min(one.n or 0 for _, told in drawn for one in told.values())
    note = "Blue where the interval leaves out no difference; before Holm's correction."
    draw = partial(points, told=drawn, names=measures, label="difference")
    return [Figure(name, title, draw, n, note, block.legend(compared))]


def moved(told: Mapping[str, Any]) -> bool:
    """Whether any question came out otherwise."""
    return bool(told["better"] or told["worse"])


def difference(told: Mapping[str, Any]) -> Measured:
    """The number of a comparison."""
    return Measured(told["difference"], told["low"], told["high"], told["n"])


def cells(told: Mapping[str, Any]) -> list[Cell]:
    """What stands under `COLUMNS`."""
    return [
        Measured(told["difference"], told["low"], told["high"]),
        probability(told["p"]),
        probability(told["p_holm"]),
        told["test"],
        told["better"],
        told["worse"],
        told["n"],
        ", ".join(f"{name} {probability(p)}" for name, p in told.get("tests", {}).items()) or None,
    ]


def probability(p: float | None) -> str | None:
    """A p value in words."""
    if p is None:
        return None
    return "< 0.001" if p < 0.001 else number(p)


# --- categories -------------------------------------------------------------------------------------------------------


def category_section(block: Block) -> list[Section]:
    """The recipes in each category: their numbers, and their differences from the baseline in the primary measure."""
    if not block.categories:
        return []
    wanted = [name for name in CATEGORY_MEASURES if any(name in told for told in everything(block))]
    rows: list[list[Cell]] = [
        [category, recipe, *(told.get(name) for name in wanted), lacks(within(block.rows[recipe], category))]
        for category, recipes in block.categories.items()
        for recipe, told in recipes.items()
    ]
    tables = [Table("By category", ["category", "recipe", *wanted, LACKS], rows, "Value [95 % interval] n.")]
    changed: list[list[Cell]] = [
        [category, recipe, *cells(told[block.primary])]
        for category, compared in block.category_differences.items()
        for recipe, told in compared.items()
        if block.primary in told
    ]
    if changed:
        columns = ["category", "recipe", *COLUMNS]
        title = f"Differences from {block.baseline} in {block.primary}, by category"
        tables.append(Table(title, columns, changed, NOTE.format(baseline=block.baseline)))
    return [Section("Categories", tables=tables)]


CATEGORY_MEASURES = (
    "label_accuracy", "match", "f1", "factscore", "nDCG@10", "R@5", "abstained", "refusal_recall", "verdict_accuracy",
    "outside_used", "unsupported", "wrong",
)  # fmt: skip


def everything(block: Block) -> Iterable[Mapping[str, Measured]]:
    """The numbers of every recipe in every category."""
    return (told for recipes in block.categories.values() for told in recipes.values())


# --- the recipe that this library is about against each other one, and the sentences that follow by rule --------------


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


# --- what each part of a recipe is worth: the recipe with a setting changed, against the recipe as it is --------------


def ablation_sections(run: Run, block: Block, prefix: str) -> list[Section]:
    """A section where most of the recipes are variants of one; see `Block.ablated`."""
    base = block.ablated
    if base is None:
        return []
    named = [(name, parse_variant(name)) for name in block.recipes]
    variants = [name for name, variant in named if variant.recipe == base and variant.settings]
    return [ablation_section(run, block, base, variants, prefix)]


def ablation_section(run: Run, block: Block, base: str, variants: list[str], prefix: str) -> Section:
    """Variants against the recipe itself, the printed ablations in a figure of their own."""
    title = f"Ablations of {base}"
    claimed = claimed_figures(run, base, prefix)
    if base not in block.rows:
        text = f"{base} as it is was not asked in this run, so its variants are compared with nothing here."
        return Section(title, [text], figures=claimed)
    told = block.compare({name: block.rows[name] for name in (base, *variants)}, base, block.measures)
    rows: list[list[Cell]] = [
        [
            variant,
            name,
            block.scores[variant].get(name),
            block.scores[base].get(name),
            *cells(comparisons[name]),
            lacks(block.rows[variant]),
        ]
        for variant, comparisons in told.items()
        for name in TOLD
        if name in comparisons and moved(comparisons[name])
    ]
    note = (
        f"Variant minus {base}, on the same questions; Holm's correction is for the number of variants. Rows in which "
        "no question differs are left out."
    )
    table = Table(title, ["variant", "measure", "variant's", f"{base}'s", *COLUMNS, LACKS], rows, note)
    figures = difference_figures(block, f"{prefix}-ablations-{base}", f"{title}: variant minus {base}", told)
    return Section(title, tables=[table], figures=[*figures, *claimed])


# --- printed ones -----------------------------------------------------------------------------------------------------


def claimed_figures(run: Run, base: str, prefix: str) -> list[Figure]:
    """The printed ablations of the recipe, where the dataset has the questions of theirs in its name."""
    printed = [one for one in ABLATIONS if one.recipe == base]
    dataset = run.dataset
    if not printed or ABLATED_ON not in f"{dataset['kind']} {dataset['name']}".lower():
        return []
    sources = "; ".join(dict.fromkeys(one.source for one in printed))
    note = f"Accuracy on PopQA: {LABEL}, other questions. {sources}. Nothing in this figure was measured."
    return [Figure(f"{prefix}-claimed-ablations-{base}", f"Ablations of {base} as printed", draw(printed), None, note)]


def draw(printed: list[ClaimedAblation]) -> Callable[[Axes], None]:
    """Hollow bars, one for each of the two generators."""
    names = (LLAMA, SELF_RAG_LLAMA)

    def drawn(axes: Axes) -> None:
        bars(axes, [], names, claimed=[(one.variant, one.values) for one in printed], label="accuracy, claimed")

    return drawn
