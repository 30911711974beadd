"""Does the certified bound hold: labels drawn at random, the true share of wrong answers, and deliberate shifts.

    python -m benchmarks.certified              # from the rows that are stored; three minutes
    python -m benchmarks.certified --write      # also docs/results/certified.md
    python -m benchmarks.certified ask          # the questions that have no row yet, see `asking`; an hour
    python -m benchmarks.certified ask PopQA    # of one set; --again: also those that have one

A row is a question with the certainty of its answer and whether what is shown is right, marked by rule: the gold
answers stand in for the person. The rows of papers, manuals, short and look-alike documents that `make quality` asks
are those of its gate. A refusal is what lies below answer.min_confidence.

*Draws*: a set is the population, and 150 labels are drawn from it with replacement, so that the true share of wrong
answers above a threshold is known; at 95 % confidence at most 5 % of the draws may pass the level. *Splits*: half of
the set is labelled and the share of wrong answers is counted in the other half, which has chance of its own. *Shift*:
labels of one set, questions of another. A warning is looked for after every tenth question from 20 to 100; it is in
time where it comes before the wrong answers among these questions alone disprove the bound (exact test, 5 %).
"""

from __future__ import annotations

import argparse
import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from benchmarks.certified.asking import ROWS, SETS, ask, forget, read
from benchmarks.machine import ROOT, describe
from benchmarks.quality.rows import stored
from benchmarks.questions.rules import Mark
from benchmarks.stale import ANSWERS, footing, written
from thresher.judging.certificate import LEAST_RECENT, WINDOW
from thresher.judging.certify import SHIFT_LEVEL, Labelled, Passed, at_most, at_most_wrong, risk, shift

PAGE = ROOT / "docs" / "results" / "certified.md"
REFUSED_BELOW, ASSERTED_FROM = 0.3, 0.6
"""answer.min_confidence, and what decides without a certificate."""
TIMES, SHIFT_TIMES = 1_000, 200
LABELS, CONFIDENCE, LEVELS = 150, 0.95, (0.1, 0.2, 0.3)
LOOKS = range(LEAST_RECENT, WINDOW + 1, 10)
"""Questions after which a shift is looked for here; the engine looks after each."""
BOTH, MANUALS, SHORT = "papers and manuals", "manuals", "short documents"
OF_GATE = {"papers": (BOTH,), "manuals": (BOTH, MANUALS), "short": (SHORT,), "lookalikes": ("look-alike documents",)}
"""The sets that the rows of a set of the gate belong to."""
SHIFTS = (
    ("PopQA", MANUALS),
    ("PopQA", "SQuAD"),
    ("SQuAD", "PopQA"),
    ("SQuAD", "Natural Questions"),
    (SHORT, MANUALS),
    ("PopQA", "PopQA"),
    (BOTH, BOTH),
    (SHORT, SHORT),
)
"""Labels of one set and questions of another; of the same set every warning is a false one."""

Draw = Callable[[random.Random], tuple[Sequence[Labelled], Sequence[Labelled]]]
"""Labels, and the questions that the true share is counted on."""


def rows() -> dict[str, list[Labelled]]:
    """The stored rows by set."""
    found: dict[str, list[Labelled]] = {name: [] for name in SETS}
    for row in read():
        found[row.set].append(_labelled(row.certainty, row.right))
    for one in stored():
        for name in OF_GATE.get(one.set, ()):
            found.setdefault(name, []).append(_labelled(one.certainty, one.shown == Mark.RIGHT))
    return {name: labels for name, labels in found.items() if labels}


def _labelled(certainty: float | None, right: bool) -> Labelled:
    refused = certainty is None or certainty < REFUSED_BELOW
    return Labelled(None if refused else certainty, right)


# --- the measurements -------------------------------------------------------------------------------------------------


def drawn(labels: Sequence[Labelled]) -> Draw:
    """Labels with replacement; the set is the population."""
    return lambda draw: (draw.choices(labels, k=LABELS), labels)


def halved(labels: Sequence[Labelled]) -> Draw:
    """Half of the set is labelled, the other half asked."""

    def halves(draw: random.Random) -> tuple[Sequence[Labelled], Sequence[Labelled]]:
        mixed = draw.sample(labels, len(labels))
        return mixed[: len(labels) // 2], mixed[len(labels) // 2 :]

    return halves


@dataclass(frozen=True, slots=True)
class Measured:
    """Shares of the draws or splits."""

    certified: float
    broken: float
    """Whose true share of wrong answers passes the level; those without a certificate do not."""
    asserted: float
    """Share of all questions that is asserted, on average over those that are certified."""

    def __str__(self) -> str:
        """Three cells; nothing is asserted where nothing is certified."""
        asserted = f"{self.asserted:.0%}" if self.certified else ""
        return f"{self.certified:.1%} | {self.broken:.1%} | {asserted}"


def wrong(labels: Sequence[Labelled], threshold: float) -> tuple[float, float]:
    """The share of wrong answers among those asserted, and the share of all that is asserted."""
    above = [one.right for one in labels if one.certainty is not None and one.certainty >= threshold]
    return above.count(False) / len(above) if above else 0.0, len(above) / len(labels)


def measured(draw: Draw, level: float) -> Measured:
    """Certify as often, and count."""
    chance, found = random.Random(0), []
    for _ in range(TIMES):
        labels, asked = draw(chance)
        made = at_most_wrong(labels, level, CONFIDENCE, least=REFUSED_BELOW)
        if isinstance(made, Passed):
            found.append(wrong(asked, made.threshold))
    asserted = sum(one for _, one in found) / len(found) if found else 0.0
    return Measured(len(found) / TIMES, sum(rate > level for rate, _ in found) / TIMES, asserted)


def average_risk(labels: Sequence[Labelled], level: float) -> float:
    """Wrong and asserted of all questions, on average over the draws."""
    chance, found = random.Random(0), 0.0
    for _ in range(TIMES):
        made = risk(chance.choices(labels, k=LABELS), level, least=REFUSED_BELOW)
        if isinstance(made, Passed):
            rate, asserted = wrong(labels, made.threshold)
            found += rate * asserted
    return found / TIMES


@dataclass(frozen=True, slots=True)
class Shifted:
    """A certificate of one set, and later questions of another."""

    broken: bool
    warned: int | None
    """After so many questions; None for never."""
    disproved: int | None
    """So many questions whose wrong answers alone disprove the bound."""

    @property
    def in_time(self) -> bool:
        """Whether the warning comes first."""
        return self.warned is not None and (self.disproved is None or self.warned <= self.disproved)


def shifted(labels: Sequence[Labelled], asked: Sequence[Labelled], level: float) -> Iterator[Shifted]:
    """Of each draw that is certified."""
    chance = random.Random(0)
    for _ in range(SHIFT_TIMES):
        known = chance.choices(labels, k=LABELS)
        made = at_most_wrong(known, level, CONFIDENCE, least=REFUSED_BELOW)
        if isinstance(made, Passed):
            later = chance.choices(asked, k=WINDOW)
            broken = wrong(asked, made.threshold)[0] > level
            yield Shifted(broken, _warned(known, later), _disproved(later, made.threshold, level))


def _warned(known: Sequence[Labelled], later: Sequence[Labelled]) -> int | None:
    one, other = ([row.certainty or 0.0 for row in rows] for rows in (known, later))
    return next((number for number in LOOKS if shift(one, other[:number]) <= SHIFT_LEVEL), None)


def _disproved(later: Sequence[Labelled], threshold: float, level: float) -> int | None:
    for number in range(1, len(later) + 1):
        above = [one.right for one in later[:number] if one.certainty is not None and one.certainty >= threshold]
        errors = above.count(False)
        if errors and 1 - at_most(errors - 1, len(above), level) <= 1 - CONFIDENCE:
            return number
    return None


# --- the tables -------------------------------------------------------------------------------------------------------


def bounds(sets: dict[str, list[Labelled]]) -> Iterator[str]:
    """How often P(wrong | answered) passes the level."""
    yield f"## At most so many wrong, {CONFIDENCE:.0%} confidence"
    yield ""
    yield f"{TIMES:,} draws of {LABELS} labels, and {TIMES:,} splits into halves. *Today*: what is asserted without a"
    yield f"certificate (certainty from {ASSERTED_FROM} on), and how much of it is wrong. A row stored before"
    yield "29 November 2026 is right where any passage shown answers, a later one where the bold sentence or cell does."
    yield ""
    yield "| set (questions) | today: asserted, wrong | level | draws: certified | broken | asserted | splits: certified | broken | asserted |"  # noqa: E501
    yield "|---|---|---|---|---|---|---|---|---|"
    for name, given in sets.items():
        error, asserted = wrong(given, ASSERTED_FROM)
        for level in LEVELS:
            of_set = f"{name} ({len(given)}) | {asserted:.0%}, {error:.0%}" if level == LEVELS[0] else " | "
            yield f"| {of_set} | {level:.0%} | {measured(drawn(given), level)} | {measured(halved(given), level)} |"


def risks(sets: dict[str, list[Labelled]]) -> Iterator[str]:
    """The average of E[wrong and answered]."""
    yield "## The risk"
    yield ""
    yield f"Wrong and asserted, of all questions, on average over {TIMES:,} draws of {LABELS} labels."
    yield ""
    yield f"| set | {' | '.join(f'level {level:.0%}' for level in LEVELS)} |"
    yield f"|---|{'---|' * len(LEVELS)}"
    for name, given in sets.items():
        yield f"| {name} | {' | '.join(f'{average_risk(given, level):.1%}' for level in LEVELS)} |"


def shifts(sets: dict[str, list[Labelled]]) -> Iterator[str]:
    """How often the bound breaks on questions of another set, and how often a warning comes."""
    yield "## Questions of another set"
    yield ""
    yield f"{SHIFT_TIMES} draws of {LABELS} labels; a look after every tenth question from {LEAST_RECENT} to {WINDOW}."
    yield "*In time*: before the wrong answers among these questions alone disprove the bound."
    yield ""
    yield "| labels of, questions of | level | certified | broken | of these warned | in time | warned of all |"
    yield "|---|---|---|---|---|---|---|"
    for one, other in SHIFTS:
        for level in LEVELS:
            if found := list(shifted(sets[one], sets[other], level)):
                broken = [each for each in found if each.broken]
                counts = (len(found), len(broken), sum(each.warned is not None for each in broken))
                told = (*counts, sum(each.in_time for each in broken), sum(each.warned is not None for each in found))
                yield f"| {one}, {other} | {level:.0%} | {' | '.join(map(str, told))} |"


def page() -> Iterator[str]:
    """All of it."""
    sets = rows()
    yield "# Does the certified bound hold?"
    yield ""
    yield f"{', '.join(f'{key} {value}' for key, value in describe().items())}."
    yield ""
    yield "Made by `python -m benchmarks.certified --write` from the rows of `benchmarks/results/certified_rows.jsonl`."
    yield "The answers are marked by rule, and come without a chat model where none is named."
    for table in (bounds, risks, shifts):
        yield ""
        yield from table(sets)


def main() -> None:
    """Print the tables, or ask."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("what", nargs="?", choices=["ask"], help="ask the questions that have no row")
    parser.add_argument("sets", nargs="*", metavar="SET", help=", ".join(SETS))
    parser.add_argument("--again", action="store_true", help="ask those that have a row too")
    parser.add_argument("--write", action="store_true", help="write docs/results/certified.md")
    given = parser.parse_args()
    if unknown := set(given.sets) - set(SETS):
        parser.error(f"no such set: {', '.join(sorted(unknown))}")
    if given.what == "ask":
        for name in given.sets or SETS:
            if given.again:
                forget(name)
            ask(name)
        return
    lines = []
    for line in page():
        print(line, flush=True)
        lines.append(line)
    if given.write:
        below = footing(*written(ROOT, ROWS), "python -m benchmarks.certified --write", ANSWERS)
        PAGE.write_text("\n".join([*lines, "", below]) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
