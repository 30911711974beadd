"""What came of each question, counted, and held against what came of it before."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from math import sqrt
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks.questions import rules
from benchmarks.questions.rules import Mark, Question
from benchmarks.seeds.rows import Provenance

ROWS = Path(__file__).with_name("rows.jsonl")
Z95 = 1.959964
BOLD = re.compile(r"\*\*(.+?)\*\*", re.DOTALL)
"""What an answer marks in a passage."""
STRUCK = re.compile(r"~~.*?~~", re.DOTALL)
MARKER = re.compile(r"\[\d+\]")
BESIDE = ("Another ", "In force ", "Superseded, ", "Replaced since, ", "The same in ")
"""Openings of what stands below an answer."""


@dataclass(frozen=True, slots=True)
class Row:
    """What came of one question."""

    set: str
    id: str
    answerable: bool
    verdict: str
    state: str
    """answered, doubtful or refused; of an engine that knows no doubt, answered or refused."""
    first: str
    """The mark of the first passage or cell."""
    shown: str
    """The mark of all that is shown: right where one of the passages is."""
    marked: str = ""
    """The mark of what a person reads first: the sentence in bold, or the cell."""
    first_characters: int = 0
    """Of what is shown first."""
    found: bool = False
    """Whether a candidate states the answer: what can be shown at all."""
    judged_first: bool = False
    """Whether the candidate does that the judge puts first."""
    judged_three: bool = False
    """Whether one of its first three does."""
    certainty: float | None = None
    confidence: float | None = None
    """That the evidence suffices, calibrated; None of a recipe without a judge."""
    score: float | None = None
    """The judge's own of its first candidate, before calibration."""

    @property
    def is_wrong_under_correct(self) -> bool:
        """Whether nothing right is shown, or nothing at all, though the evidence was called sufficient."""
        return self.answerable and self.verdict == "correct" and self.shown in (Mark.WRONG, Mark.REFUSED)

    @property
    def is_right(self) -> bool:
        """Whether the marked sentence or cell states the answer."""
        return self.answerable and self.marked == Mark.RIGHT

    @property
    def is_said(self) -> bool:
        """Whether something is shown as the answer, not in doubt."""
        return self.state == "answered"

    @property
    def is_said_wrong(self) -> bool:
        """Whether what is said is not right where a person reads it; without an answer all is wrong."""
        return self.is_said and not self.is_right


def row_of(set_: str, question: Question, told: Mapping[str, Any]) -> Row:
    """The marks by rule of what `asking` printed for a question."""
    refused = told["abstained"]
    marks = [mark_of(question, text) for text in told["shown"]]
    silent = rules.marked(question, "", abstained=refused, reason=told.get("reason") or "").mark
    first = marks[0] if marks else silent
    order = [Mark.RIGHT, Mark.PARTLY, Mark.WRONG]
    judged = sorted((one for one in told["found"] if one[0] is not None), key=lambda one: -one[0])
    stated = [_states(question, text) for _, text in judged]
    return Row(
        set=set_,
        id=question.id,
        answerable=question.answerable,
        verdict=str(told.get("verdict") or ""),
        state=told.get("state") or ("refused" if refused else "answered"),
        first=first,
        shown=min(marks, key=order.index) if marks else first,
        marked=mark_of(question, marked_in(told["shown"][0])) if marks else silent,
        first_characters=len(told["shown"][0]) if marks else 0,
        found=any(_states(question, text) for _, text in told["found"]),
        judged_first=any(stated[:1]),
        judged_three=any(stated[:3]),
        certainty=told["certainty"],
        confidence=told.get("confidence"),
        score=judged[0][0] if judged else None,
    )


def mark_of(question: Question, text: str) -> Mark:
    """The mark of a passage or cell; what is forbidden counts where it is asserted: in what is marked, or in all."""
    asserted = " ".join(BOLD.findall(text)) or text
    text = text.replace("**", "")
    wrong = any(rules.states(asserted, one) for one in question.forbidden)
    asserts = wrong and all(rules.stated(asserted, question.expected))
    asked = question if wrong and not asserts else replace(question, forbidden=())
    return rules.marked(asked, text, abstained=False).mark


def marked_in(text: str) -> str:
    """What a person reads first of an answer: up to each citation the words in bold, or all where none are.

    What is struck, and what is told below the answer of other documents, is not read.
    """
    *cited, rest = MARKER.split(STRUCK.sub("", text))
    parts = [one for one in cited if not one.lstrip().startswith(BESIDE)] or [rest]
    return "\n".join("\n".join(BOLD.findall(one)) or one for one in parts)


def _states(question: Question, text: str) -> bool:
    return question.answerable and all(rules.stated(text, question.expected))


@dataclass(frozen=True, slots=True)
class Counted:
    """What the rows of a set come to."""

    asked: int
    """With an answer."""
    marked: int
    """Whose marked sentence or cell states it."""
    first: int
    """Whose first passage is right."""
    shown: int
    """With a right one among those shown."""
    judged_first: int
    """The ceiling of `first`: the judge's first candidate, whole, states the answer."""
    judged_three: int
    """The ceiling of `shown`."""
    found: int
    """Among all candidates."""
    said: int
    """Shown as the answer, not in doubt."""
    said_marked: int
    """Of them, those that are right where they are marked."""
    refused: int
    doubtful: int
    wrong_under_correct: int
    asked_without: int
    """Questions without an answer."""
    refused_without: int
    said_without: int
    """Shown as an answer, not in doubt."""
    first_characters: int
    """Median of what is shown first."""

    @classmethod
    def of(cls, rows: Sequence[Row]) -> Counted:
        """The counts of rows."""
        asked, without = [row for row in rows if row.answerable], [row for row in rows if not row.answerable]
        return cls(
            asked=len(asked),
            marked=sum(row.is_right for row in asked),
            first=sum(row.first == Mark.RIGHT for row in asked),
            shown=sum(row.shown == Mark.RIGHT for row in asked),
            judged_first=sum(row.judged_first for row in asked),
            judged_three=sum(row.judged_three for row in asked),
            found=sum(row.found for row in asked),
            said=sum(row.is_said for row in asked),
            said_marked=sum(row.is_said and row.is_right for row in asked),
            refused=sum(row.state == "refused" for row in asked),
            doubtful=sum(row.state == "doubtful" for row in asked),
            wrong_under_correct=sum(row.is_wrong_under_correct for row in asked),
            asked_without=len(without),
            refused_without=sum(row.state == "refused" for row in without),
            said_without=sum(row.state == "answered" for row in without),
            first_characters=round(median([row.first_characters for row in rows if row.first_characters] or [0])),
        )

    def line(self) -> str:
        """One row of the table."""
        return (
            f"marked {self.marked}, first {self.first} (judge {self.judged_first}), shown {self.shown} (judge "
            f"{self.judged_three}) of {self.asked}, found {self.found}; said {self.said}, {self.said_marked} marked "
            f"right; refused {self.refused}, in doubt {self.doubtful}, wrong under correct {self.wrong_under_correct}; "
            f"without an answer: {self.refused_without} of {self.asked_without} refused, {self.said_without} said; "
            f"{self.first_characters} characters first"
        )


def rows_of(recipe: str) -> Path:
    """Where the rows of a recipe are kept; those of the default recipe are the gate's."""
    return ROWS.with_name(f"rows_{recipe}.jsonl") if recipe else ROWS


def stored(path: Path = ROWS) -> list[Row]:
    """The rows that are kept."""
    known = {one.name for one in fields(Row)}
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    return [Row(**{key: value for key, value in json.loads(line).items() if key in known}) for line in lines]


def write(rows: Sequence[Row], path: Path = ROWS) -> None:
    """Keep rows in place of earlier ones of their sets, and with which engine they were made."""
    sets = {row.set for row in rows}
    kept = [row for row in stored(path) if row.set not in sets]
    path.write_text("".join(json.dumps(asdict(row)) + "\n" for row in [*kept, *rows]), encoding="utf-8")
    made, now = path.with_suffix(".made.json"), vars(Provenance.now())
    before = json.loads(made.read_text(encoding="utf-8")) if made.is_file() else {}
    made.write_text(json.dumps({**before, **dict.fromkeys(sorted(sets), now)}, indent=1) + "\n", encoding="utf-8")


def made_of(path: Path = ROWS) -> dict[str, Provenance]:
    """With which engine the rows of each set were made."""
    kept = json.loads(path.with_suffix(".made.json").read_text(encoding="utf-8"))
    return {name: Provenance(**one) for name, one in kept.items()}


LOSSES: dict[str, Callable[[Row], bool]] = {
    "what is marked is right": lambda row: row.is_right,
    "the first passage is right": lambda row: row.answerable and row.first == Mark.RIGHT,
    "a right one is shown": lambda row: row.answerable and row.shown == Mark.RIGHT,
    "not wrong under correct": lambda row: not row.is_wrong_under_correct,
    "without an answer, not answered": lambda row: row.answerable or row.state != "answered",
}
"""What a change may not lose."""


BEHIND: dict[str, Callable[[Row], bool]] = {
    "what is marked is right": lambda row: row.is_right,
    "nothing wrong is said": lambda row: not row.is_said_wrong,
}
"""In what the engine may not be worse than the baseline."""


def behind(baseline: Sequence[Row], rows: Sequence[Row]) -> list[str]:
    """Where the baseline is ahead by more than chance explains."""
    return losses(BEHIND, baseline, rows)


def missed(before: Sequence[Row], now: Sequence[Row]) -> list[str]:
    """What the gate does not allow: a loss beyond its interval, of the questions that both have."""
    return losses(LOSSES, before, now)


def losses(what: Mapping[str, Callable[[Row], bool]], before: Sequence[Row], now: Sequence[Row]) -> list[str]:
    """Of what holds for rows: that which is lost beyond its interval, of the questions that both have."""
    old = {row.id: row for row in before}
    pairs = [(old[row.id], row) for row in now if row.id in old]
    told = []
    for name, holds in what.items():
        lost = sum(holds(was) and not holds(row) for was, row in pairs)
        gained = sum(holds(row) and not holds(was) for was, row in pairs)
        if lost - gained > allowed(lost + gained):
            told.append(f"{name}: {lost} lost, {gained} gained of {len(pairs)}")
    return told


def allowed(changed: int) -> float:
    """Net losses that chance explains at 95 %, of so many changed outcomes (McNemar 1947)."""
    return Z95 * sqrt(changed)


def changes(before: Sequence[Row], now: Sequence[Row]) -> Iterator[str]:
    """A line for each question that came out otherwise."""
    old = {row.id: row for row in before}
    for row in now:
        if (was := old.get(row.id)) is not None and _came(was) != _came(row):
            yield f"{row.id}: {_came(was)} -> {_came(row)}"


def _came(row: Row) -> str:
    return f"{row.state}, marked {row.marked}, first {row.first}, shown {row.shown}"
