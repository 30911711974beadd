"""The recipes side by side: a table and bars for each family of measures (ECRAG Table 1, Fig. 8, 9 and 10)."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from thresher.evals.report.claims import LABEL, Claim, claims_of
from thresher.evals.report.drawing import Bars, bars
from thresher.evals.report.measured import Block, Run
from thresher.evals.report.outcomes import LACKS, lacks
from thresher.evals.report.section import Cell, Figure, Measured, Section, Table

if TYPE_CHECKING:
    from matplotlib.axes import Axes

FAMILIES: Mapping[str, re.Pattern[str]] = {
    "Retrieval, documents": re.compile(r"(micro_)?(nDCG|P|R|F1)@\d+|MRR|MAP"),
    "Retrieval, gold spans": re.compile(r"(micro_)?span_.*|context_(match|characters)"),
    "Retrieval, chunks": re.compile(r"(micro_)?chunk_.*"),
    "Answers": re.compile(r"match|match_norm|em|f1|words_median|label_accuracy|unparsed|majority_label"),
    "Facts (FActScore)": re.compile(r"factscore|respond_ratio"),
    "Citations and support": re.compile(r"gold_page|gold_source|unsupported|wrong"),
    "Response quality, by a judge": re.compile(r"(likert|judged)_.*|judge_failed"),
    "Refusals and verdicts": re.compile(
        r"abstained|refusal_.*|wrong_refusals|aurc|verdict_accuracy|auroc|ece|outside_used"
    ),
    "Cost": re.compile(
        r"seconds_.*|cpu_seconds|memory_mib|llm_calls|.*_tokens|web_requests|unreadable|timed_out|failed"
    ),
    "Other": re.compile(r".*"),
}
"""Which table a measure stands in: the first whose pattern is its name."""

COST = "Cost"

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


def family(name: str) -> str:
    """The table that a measure stands in."""
    return next(title for title, pattern in FAMILIES.items() if pattern.fullmatch(name))


def comparison_section(run: Run, block: Block, prefix: str) -> Section:
    """Tables of every measure but the costs, and bars."""
    tables = [family_table(block, title, names) for title, names in by_family(block.measures).items() if title != COST]
    claims = claims_of(run.dataset["kind"], [name for _, _, names, _ in DRAWN for name in names])
    text = [claim_words(claims)] if claims else []
    return Section("The recipes compared", text, tables, list(figures(run, block, prefix)))


def claim_words(claims: Sequence[Claim]) -> str:
    """Where the hollow bars come from."""
    sources = "; ".join(dict.fromkeys(claim.source for claim in claims))
    return f"Hollow bars with dashed edges are printed numbers: {LABEL}. They come from: {sources}."


def by_family(names: Sequence[str]) -> dict[str, list[str]]:
    """Table to its measures, in the order of the tables."""
    found = {title: [name for name in names if family(name) == title] for title in FAMILIES}
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
