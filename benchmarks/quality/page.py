"""docs/results/answers.md: what is shown, what a refusal costs, how good the probabilities are; from stored rows."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from benchmarks.machine import ROOT
from benchmarks.quality.asking import PLAIN
from benchmarks.quality.rows import ROWS, Counted, Row, behind, made_of, rows_of, stored
from benchmarks.questions.rules import Mark
from benchmarks.seeds.sections import Cell, cell, interval, table
from benchmarks.stale import ANSWERS, footing
from thresher_evals.stats import (
    Forecast,
    aurc_interval,
    ece_interval,
    holm,
    paired_difference,
    proportion_interval,
)

PAGE = ROOT / "docs" / "results" / "answers.md"
DEFAULT = "corrective"
RECIPES = {DEFAULT: ROWS, **{name: rows_of(name) for name in (PLAIN, "hybrid", "rag", "crag")}}
"""Each with the rows that are kept of it."""
COMPARED = ("papers", "manuals")
"""Sets that every recipe is asked."""

COVERAGES = (0.25, 0.5, 0.75, 1.0)

OPENING = """# Answers, refusals and probabilities

<!-- Made by `python -m benchmarks.quality --page` from benchmarks/quality/rows*.jsonl; do not edit. -->

Questions to papers and manuals, look-alike documents, short documents, SQuAD's paragraphs, definitions, typed ones, and
files after public reports, without a chat model, marked by rule. An answer is *right* where the sentence in bold, or
the cell, states what is asked: that is what a person reads. *First* is the whole first passage, *shown* any of those
shown; *the judge's* are what it puts first and among its first three, which bounds them. *Said* is what is shown as the
answer, not in doubt. `plain` is a baseline of eighty lines (benchmarks/quality/plain.py): what the bundled judge alone
makes of what `corrective` retrieves, without a rule or a table. The rows are the gate's
(`python -m benchmarks.quality --write`); papers and manuals were asked of three more recipes (`--recipe NAME --sets
papers manuals --write`). Intervals are 95 %, bootstrap over questions."""

COMMAND = "python -m benchmarks.quality --page"
OF = (*ANSWERS, "src/thresher/documents", "benchmarks/real_text/questions.jsonl")
README = ROOT / "README.md"
BLOCK = re.compile(r"\| questions about manuals and papers \|.*?<!-- measured: [^>]*-->", re.DOTALL)
"""The table of README.md that stands here too."""


def markdown() -> str:
    """The page, from what is stored."""
    of = {recipe: rows for recipe, path in RECIPES.items() if (rows := stored(path))}
    parts = [OPENING, *shown(of), *risks(of), *calibration(of[DEFAULT]), *compared(of), below(*of)]
    return "\n\n".join(parts) + "\n"


def below(*recipes: str) -> str:
    """The footing, by the oldest rows of some recipes."""
    oldest = min((one for each in recipes for one in made_of(RECIPES[each]).values()), key=lambda one: one.date)
    return footing(oldest.commit, oldest.date, COMMAND, OF)


def in_short() -> str:
    """The default recipe on papers and manuals together, for README.md."""
    rows = [row for row in stored() if row.set in COMPARED]
    asked, without = ([row for row in rows if row.answerable is answerable] for answerable in (True, False))

    def counted(of: Sequence[Row], state: str, *, right: bool = False) -> int:
        return sum(row.state == state and (not right or row.is_right) for row in of)

    lines = [
        [
            f"{len(of)} {title}",
            *(
                f"{counted(of, state)}, {counted(of, state, right=True)} right" if of is asked else counted(of, state)
                for state in ("answered", "doubtful")
            ),
            counted(of, "refused"),
        ]
        for of, title in ((asked, "that the documents answer"), (without, "that they do not"))
    ]
    return table(["questions about manuals and papers", "answered", "in doubt", "refused"], lines)


def write() -> Path:
    """Write the page where the documentation has it, and the table of README.md."""
    PAGE.write_text(markdown(), encoding="utf-8")
    block = f"{in_short()}\n\n{below(DEFAULT)}"
    README.write_text(BLOCK.sub(lambda _: block, README.read_text(encoding="utf-8")), encoding="utf-8")
    return PAGE


def shown(of: dict[str, list[Row]]) -> Iterator[str]:
    """What every question came to, and where the default recipe is behind the baseline."""
    yield "## What is shown"
    lines = list[list[Cell]]()
    for recipe, name, rows in each_set(of):
        asked, counted = [row for row in rows if row.answerable], Counted.of(rows)
        lines.append([
            f"`{recipe}`", name, len(asked), share(row.is_right for row in asked),
            share(row.first == Mark.RIGHT for row in asked), share(row.shown == Mark.RIGHT for row in asked),
            f"{counted.judged_first}, {counted.judged_three}" if any(row.score is not None for row in rows) else "–",
            counted.said, counted.said_marked,
            sum(row.is_said_wrong for row in rows), counted.doubtful, counted.refused,
            f"{counted.refused_without} / {counted.said_without} of {counted.asked_without}", counted.first_characters,
        ])  # fmt: skip
    yield table(
        [
            "recipe", "set", "n with an answer", "marked right", "first passage right", "right among those shown",
            "the judge's first, three", "said", "said and marked right", "said and not right, all questions",
            "in doubt", "refused", "without an answer: refused / said", "characters first",
        ],
        lines,
    )  # fmt: skip
    if PLAIN in of:
        ours, baseline = (
            {name: rows for recipe, name, rows in each_set(of) if recipe == one} for one in (DEFAULT, PLAIN)
        )
        faults = [
            f"- {name}: {each} (lost: right for `{PLAIN}` alone)"
            for name in ours
            for each in behind(baseline.get(name, []), ours[name])
        ]
        yield f"Sets on which `{DEFAULT}` is behind `{PLAIN}` by more than chance, each a fault of the engine:"
        yield "\n".join(faults) or "none."


def each_set(of: dict[str, list[Row]]) -> Iterator[tuple[str, str, list[Row]]]:
    """Recipe, name and rows of every set that a recipe was asked."""
    for recipe, rows in of.items():
        for name in dict.fromkeys(row.set for row in rows):
            yield recipe, name, [row for row in rows if row.set == name]


def share(holds: Iterator[bool]) -> str:
    """A proportion with its interval."""
    return interval(proportion_interval([float(one) for one in holds]))


def risks(of: dict[str, list[Row]]) -> Iterator[str]:
    """Not right where marked, by how much is shown, ordered by the answer's probability and by the judge's score."""
    yield "## Risk and coverage"
    yield (
        "Of the questions to papers and manuals that are not refused, those without an answer included: the share of "
        "which the marked sentence or cell is not right, among the most probable ones. AURC is the area under that "
        "curve, less is better. *Calibrated* orders by the probability of the answer, *raw* by the score of the judge "
        "for its first passage; a recipe without the trained judge has none."
    )
    lines = list[list[Cell]]()
    for recipe, rows in of.items():
        told = [row for row in rows if row.set in COMPARED and row.state != "refused"]
        for name, by in (("calibrated", "certainty"), ("raw", "score")):
            known = [(getattr(row, by), float(not row.is_right)) for row in told if getattr(row, by) is not None]
            if known:
                known.sort(key=lambda one: -one[0])
                upto = [known[: max(1, round(at * len(known)))] for at in COVERAGES]
                risk = [cell(sum(wrong for _, wrong in part) / len(part)) for part in upto]
                area = interval(aurc_interval([Forecast(*one) for one in known]))
                lines.append([f"`{recipe}`, {name}", len(known), *risk, area])
    yield table(["recipe, ordered by", "n", *(f"at {at:.0%}" for at in COVERAGES), "AURC"], lines)


def calibration(rows: Sequence[Row]) -> Iterator[str]:
    """How far the judge's probability is from what happens."""
    yield "## The judge's probability"
    yield (
        f"`{DEFAULT}`: the probability that the evidence suffices, beside whether a passage found states the answer; "
        "and that of the answer, beside whether what is marked is right. ECE has ten bins; its interval is biased "
        "upwards."
    )
    lines = list[list[Cell]]()
    for name in COMPARED:
        of = [row for row in rows if row.set == name]
        for title, pairs in (
            ("evidence suffices", [(row.confidence, row.found) for row in of]),
            ("answer is right", [(row.certainty, row.is_right) for row in of]),
        ):
            known = [Forecast(said, float(so)) for said, so in pairs if said is not None]
            means = [sum(side) / len(known) for side in zip(*known, strict=True)] or [None, None]
            lines.append([name, title, len(known), *means, interval(ece_interval(known))])
    yield table(["set", "probability that the", "n", "mean", "happened", "ECE"], lines)


def compared(of: dict[str, list[Row]]) -> Iterator[str]:
    """The default recipe minus each other one on the same questions."""
    others = [recipe for recipe in of if recipe != DEFAULT]
    if not others:
        return
    yield f"## `{DEFAULT}` beside the others"
    cells = [
        (recipe, name, title, paired_difference(*pairs(of[recipe], of[DEFAULT], name, by)))
        for recipe in others
        for name in COMPARED
        for title, by in (("marked right", "marked"), ("right among those shown", "shown"))
    ]
    corrected = holm([one.p if one.p is not None else 1.0 for *_, one in cells])
    lines: list[list[Cell]] = [
        [
            f"`{recipe}`",
            name,
            title,
            one.n,
            f"{one.difference:+.3f} [{one.low:+.3f}, {one.high:+.3f}]",
            round(p, 4),
        ]
        for (recipe, name, title, one), p in zip(cells, corrected, strict=True)
    ]
    yield table(["minus", "set", "measure", "n", "difference", "p after Holm"], lines)


def pairs(first: Sequence[Row], second: Sequence[Row], name: str, by: str) -> tuple[list[float], list[float]]:
    """Whether each recipe is right, on the questions of a set that have an answer and that both were asked."""
    other = {row.id: row for row in first}
    both = [(other[row.id], row) for row in second if row.set == name and row.answerable and row.id in other]
    return tuple([float(getattr(row, by) == Mark.RIGHT) for row in side] for side in zip(*both, strict=True))  # type: ignore[return-value]
