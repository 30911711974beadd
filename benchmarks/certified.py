"""Does the certified bound hold: labels drawn at random, the true share of wrong answers, and one deliberate shift.

    python -m benchmarks.certified rows PROPOSALS   # of `python -m research.answer_certainty ask --out PROPOSALS`
    python -m benchmarks.certified                  # the tables, from the rows that are stored; three minutes
    python -m benchmarks.certified bound|risk|shift # one of them; with starts where the first threshold should lie

A row is a question with the certainty of its answer and whether what was shown is right, marked by rule: the gold
answers stand in for the person. The sets are those of `research.answer_certainty` (every question has an answer) and
those of `benchmarks.quality` (a third to a fifth has none). A refusal is what lies below answer.min_confidence.

Two measurements. *Draws*: the set is the population, and the labels are drawn from it with replacement, so that the
true share of wrong answers above a threshold is known; at 95 % confidence at most 5 % of the draws may pass the level.
*Splits*: half of the set is labelled and the share of wrong answers is counted in the other half, which adds the chance
of a small half.
"""

from __future__ import annotations

import argparse
import json
import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.machine import BENCHMARKS
from benchmarks.quality.rows import stored
from benchmarks.questions.rules import Mark
from thresher.answering.spans import Confidence, Signs
from thresher.judging.certificate import LEAST_RECENT, WINDOW
from thresher.judging.certify import SHIFT_LEVEL, Labelled, Passed, at_most_wrong, risk, shift

ROWS = BENCHMARKS / "results" / "certified_rows.jsonl"
REFUSED_BELOW, ASSERTED_FROM = 0.3, 0.6
"""answer.min_confidence, and what decides without a certificate."""
DRAWS, SHIFT_DRAWS, STARTS_DRAWS = 1_000, 200, 200
LABELS, CONFIDENCE, LEVELS = 150, 0.95, (0.1, 0.2, 0.3)
LOOKS = range(LEAST_RECENT, WINDOW + 1, 10)
"""Questions after which a shift is looked for here; the engine looks after each."""
SHARES = (0.0, 0.25, 0.5, 0.75, 1.0)
WITHOUT = "squad, a third without an answer"
SHIFTS = (
    ("short", "manuals"),
    ("questions", "squad"),
    (WITHOUT, "nq"),
    ("short", "short"),
    ("questions", "questions"),
    (WITHOUT, WITHOUT),
)
"""Labels of one set and questions of another; of the same set every warning is a false one."""

Draw = Callable[[random.Random], tuple[Sequence[Labelled], Sequence[Labelled]]]
"""Labels, and the questions that the true share is counted on."""


def rows() -> dict[str, list[Labelled]]:
    """The stored rows by set."""
    found: dict[str, list[Labelled]] = {}
    for row in map(json.loads, ROWS.read_text(encoding="utf-8").splitlines()):
        found.setdefault(row["set"], []).append(_labelled(row["certainty"], row["right"]))
    for row in stored():
        name = WITHOUT if row.set == "squad" else row.set
        found.setdefault(name, []).append(_labelled(row.certainty, row.shown == Mark.RIGHT))
    return found


def _labelled(certainty: float | None, right: bool) -> Labelled:
    refused = certainty is None or certainty < REFUSED_BELOW
    return Labelled(None if refused else certainty, right)


def write(proposals: Path) -> None:
    """Keep set, certainty and rightness of each question of a file of proposals."""
    confidence, lines = Confidence.load(), []
    for row in map(json.loads, proposals.read_text(encoding="utf-8").splitlines()):
        certainty = _certainty(row["proposals"][0], confidence) if row["proposals"] else None
        name = row["set"].replace("_", " ")
        lines.append(json.dumps({"set": name, "id": row["id"], "certainty": certainty, "right": row["right"]}) + "\n")
    ROWS.write_text("".join(lines), encoding="utf-8")


def _certainty(best: dict[str, float], confidence: Confidence) -> float:
    """As `Answerer` has it."""
    names = [name for name in Signs.__dataclass_fields__ if name in best]
    shown = confidence.answer.probability(Signs(**{name: best[name] for name in names})) if names else 0.0
    return round(max(shown, best["probability"]), 4)


# --- the measurements -------------------------------------------------------------------------------------------------


def drawn(rows: Sequence[Labelled], number: int = LABELS) -> Draw:
    """Labels with replacement; the set is the population."""
    return lambda draw: (draw.choices(rows, k=number), rows)


def halved(rows: Sequence[Labelled]) -> Draw:
    """Half of the set is labelled, the other half asked."""

    def halves(draw: random.Random) -> tuple[Sequence[Labelled], Sequence[Labelled]]:
        mixed = draw.sample(rows, len(rows))
        return mixed[: len(rows) // 2], mixed[len(rows) // 2 :]

    return halves


@dataclass(frozen=True, slots=True)
class Measured:
    """Shares of the draws."""

    certified: float
    broken: float
    """Whose true share of wrong answers passes the level; those without a certificate do not."""
    answered: float
    """Share of all questions that is asserted, on average over the certified draws."""

    def line(self) -> str:
        """Three columns."""
        return f"{self.certified:>9.1%} {self.broken:>8.1%} {self.answered:>9.0%}"


def wrong(rows: Sequence[Labelled], threshold: float) -> tuple[float, float]:
    """The share of wrong answers among those asserted, and the share of all that is asserted."""
    above = [one.right for one in rows if one.certainty is not None and one.certainty >= threshold]
    return above.count(False) / len(above) if above else 0.0, len(above) / len(rows)


def measured(draw: Draw, level: float, *, times: int = DRAWS, share: float = 0.5) -> Measured:
    """Certify as often, and count."""
    chance, found = random.Random(0), []
    for _ in range(times):
        labels, asked = draw(chance)
        made = at_most_wrong(labels, level, CONFIDENCE, least=REFUSED_BELOW, share=share)
        if isinstance(made, Passed):
            found.append(wrong(asked, made.threshold))
    answered = sum(one for _, one in found) / len(found) if found else 0.0
    return Measured(len(found) / times, sum(rate > level for rate, _ in found) / times, answered)


def average_risk(rows: Sequence[Labelled], level: float) -> tuple[float, float]:
    """Wrong and asserted of all questions, on average over the draws, and the share that is asserted."""
    chance, found = random.Random(0), []
    for _ in range(DRAWS):
        made = risk(chance.choices(rows, k=LABELS), level, least=REFUSED_BELOW)
        found.append(wrong(rows, made.threshold) if isinstance(made, Passed) else (0.0, 0.0))
    return sum(rate * answered for rate, answered in found) / DRAWS, sum(answered for _, answered in found) / DRAWS


def shifted(labels: Sequence[Labelled], asked: Sequence[Labelled], level: float) -> Iterator[tuple[bool, int | None]]:
    """Of each certified draw: whether the bound breaks on the other questions, and after how many a warning comes."""
    chance = random.Random(0)
    for _ in range(SHIFT_DRAWS):
        known = chance.choices(labels, k=LABELS)
        made = at_most_wrong(known, level, CONFIDENCE, least=REFUSED_BELOW)
        if isinstance(made, Passed):
            later = chance.choices(asked, k=WINDOW)
            yield wrong(asked, made.threshold)[0] > level, _warned_after(known, later)


def _warned_after(known: Sequence[Labelled], later: Sequence[Labelled]) -> int | None:
    one, other = ([row.certainty or 0.0 for row in rows] for rows in (known, later))
    return next((number for number in LOOKS if shift(one, other[:number]) <= SHIFT_LEVEL), None)


# --- the tables -------------------------------------------------------------------------------------------------------


def bounds() -> None:
    """Print how often P(wrong | answered) passes the level."""
    print(f"{DRAWS} draws of {LABELS} labels, and {DRAWS} splits into halves; confidence {CONFIDENCE:.0%}")
    print(f"{'set':<33} {'level':>5}  draws: certified, broken, answered   splits: the same")
    for name, given in rows().items():
        error, answered = wrong(given, ASSERTED_FROM)
        print(
            f"{name}, {len(given)} questions; from {ASSERTED_FROM} on {answered:.0%} asserted, {error:.0%} of it wrong"
        )
        for level in LEVELS:
            both = (measured(drawn(given), level).line(), measured(halved(given), level).line())
            print(f"{'':<33} {level:>5.0%}  {both[0]}   {both[1]}", flush=True)


def risks() -> None:
    """Print the average of E[wrong and answered]."""
    print(f"risk: wrong and asserted of all questions, on average over {DRAWS} draws of {LABELS} labels")
    for name, given in rows().items():
        shown = (f"{level:.0%}: {average_risk(given, level)[0]:.1%}" for level in LEVELS)
        print(f"{name:<33} {'  '.join(shown)}", flush=True)


def shifts() -> None:
    """Print how often the bound breaks on questions of another set, and how often a warning comes."""
    sets = rows()
    print(f"shift: {SHIFT_DRAWS} draws; a look after every tenth of {WINDOW} questions from {LEAST_RECENT} on")
    for one, other in SHIFTS:
        for level in LEVELS:
            found = list(shifted(sets[one], sets[other], level))
            if found:
                print(f"labels {one}, questions {other}, {level:.0%}: {_of_shift(found)}", flush=True)


def _of_shift(found: Sequence[tuple[bool, int | None]]) -> str:
    warned = [number for _, number in found if number is not None]
    early = sum(number == LEAST_RECENT for number in warned)
    broken = sum(breaks for breaks, _ in found)
    both = sum(breaks and number is not None for breaks, number in found)
    return (
        f"{len(found)} certified, {broken} broken, of which {both} warned; "
        f"warned in all {len(warned)}, after {LEAST_RECENT} questions {early}"
    )


def starts() -> None:
    """Print how often a level is certified, by the share of the answered labels above the first threshold."""
    for name, given in rows().items():
        for level in LEVELS:
            found = [measured(drawn(given), level, times=STARTS_DRAWS, share=share) for share in SHARES]
            shown = "  ".join(f"{share:.2f}: {one.certified:.0%}" for share, one in zip(SHARES, found, strict=True))
            print(f"{name:<33} {level:.0%}  {shown}", flush=True)


TABLES = {"bound": bounds, "risk": risks, "shift": shifts, "starts": starts}


def main() -> None:
    """Print the tables, or store rows."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("what", nargs="?", choices=["rows", *TABLES], help="one table, or `rows` with a file")
    parser.add_argument("proposals", nargs="?", type=Path, help="what `research.answer_certainty ask` wrote")
    given = parser.parse_args()
    if given.what == "rows":
        if given.proposals is None:
            parser.error("rows: give the file that `research.answer_certainty ask` wrote")
        write(given.proposals)
        return
    for table in [TABLES[given.what]] if given.what else [bounds, risks, shifts]:
        table()


if __name__ == "__main__":
    main()
