"""Verdicts by hand, beside the answers they are about, and what comes of them.

A table is a TSV of id, question, answer, verdict, why. `why` begins with `read:` where a person has read the answer,
and with `by rule:` where the mark stands as it was proposed. What was read once counts for the same answer everywhere.
"""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from benchmarks.questions.ask import Row
from benchmarks.questions.rules import Mark, Question
from thresher_evals.stats import Forecast, ece_interval, mcnemar

FOLDER = Path(__file__).with_name("verdicts")
COLUMNS = ("id", "question", "answer", "verdict", "why")
READ, BY_RULE = "read: ", "by rule: "


@dataclass(frozen=True, slots=True)
class Verdict:
    """One row of a table."""

    id: str
    question: str
    answer: str
    verdict: str
    why: str

    @property
    def by_hand(self) -> bool:
        """Whether a person has read it."""
        return self.why.startswith(READ)


@dataclass(frozen=True, slots=True)
class Counted:
    """What came of some questions."""

    right: int
    partly: int
    wrong: int
    refused: int
    wrong_under_correct: int
    """Of the answerable."""
    judged_correct: int
    """All answers that stand under `Verdict: correct`, of unanswerable questions too."""
    wrong_of_them: int
    rightly_refused: int
    unanswerable: int
    evidence: tuple[int, int]
    """Questions whose evidence holds all that is expected, and those of which that can be told."""

    @property
    def answerable(self) -> int:
        """How many have an answer."""
        return self.right + self.partly + self.wrong + self.refused


def one_line(text: str) -> str:
    """The text without what a TSV cannot hold."""
    return " ".join(text.split())


def load(path: Path) -> list[Verdict]:
    """The rows of a table."""
    with path.open(encoding="utf-8", newline="") as file:
        return [Verdict(*row) for row in list(csv.reader(file, delimiter="\t", quoting=csv.QUOTE_NONE))[1:]]


def write(path: Path, verdicts: Iterable[Verdict]) -> None:
    """Write a table."""
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = ["\t".join(COLUMNS)]
    lines += ["\t".join(map(one_line, (v.id, v.question, v.answer, v.verdict, v.why))) for v in verdicts]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def by_hand(folder: Path = FOLDER) -> dict[tuple[str, str], Verdict]:
    """What was read, by id and answer, from all tables of a folder."""
    tables = [load(path) for path in sorted(folder.glob("*.tsv"))]
    return {(one.id, one.answer): one for table in tables for one in table if one.by_hand}


def judged(rows: Sequence[Row], known: Mapping[tuple[str, str], Verdict]) -> list[Verdict]:
    """A verdict for each row: the one by hand where this answer was read, else the mark by rule.

    Refusals need no reading: whether one is right is known from the question.
    """
    made = []
    for row in sorted(rows, key=lambda row: row.id):
        answer = one_line(row.answer)
        read = None if row.abstained else known.get((row.id, answer))
        verdict = Verdict(row.id, row.question, answer, row.mark, one_line(BY_RULE + row.why))
        made.append(read or verdict)
    return made


def counted(questions: Sequence[Question], rows: Sequence[Row], verdicts: Sequence[Verdict]) -> Counted:
    """Counts over the questions that were asked."""
    row_of = {row.id: row for row in rows}
    verdict_of = {verdict.id: Mark(verdict.verdict) for verdict in verdicts}
    there = [question for question in questions if question.id in row_of]
    answerable = [one for one in there if one.answerable]
    marks = Counter(verdict_of[one.id] for one in answerable)
    correct = [one for one in there if row_of[one.id].verdict == "correct" and not row_of[one.id].abstained]
    wrong = [one for one in correct if verdict_of[one.id] is Mark.WRONG]
    holds = [held for one in answerable if (held := row_of[one.id].evidence_holds) is not None]
    return Counted(
        marks[Mark.RIGHT],
        marks[Mark.PARTLY],
        marks[Mark.WRONG],
        marks[Mark.REFUSED],
        sum(one.answerable for one in wrong),
        len(correct),
        len(wrong),
        sum(not one.answerable and verdict_of[one.id] is Mark.REFUSED for one in there),
        sum(not one.answerable for one in there),
        (sum(holds), len(holds)),
    )


def table(questions: Sequence[Question], rows: Sequence[Row], verdicts: Sequence[Verdict], *, by: str) -> str:
    """Lines of counts for each collection or kind, and for all."""
    names = list(dict.fromkeys(getattr(question, by) for question in questions))
    head = f"{by:<14} right partly wrong refused | wrong under correct | unanswerable refused | evidence holds"
    lines = [head]
    for name in (*names, "all"):
        chosen = [question for question in questions if name in ("all", getattr(question, by))]
        of = counted(chosen, rows, verdicts)
        lines.append(
            f"{name:<14} {of.right:5d} {of.partly:6d} {of.wrong:5d} {of.refused:7d} |"
            f" {of.wrong_under_correct:3d} ({of.wrong_of_them:2d} of {of.judged_correct:3d}) |"
            f" {of.rightly_refused:9d} of {of.unanswerable:2d} | {of.evidence[0]:5d} of {of.evidence[1]:3d}"
        )
    read = sum(verdict.by_hand for verdict in verdicts)
    answered = sum(not row.abstained for row in rows)
    lines.append(
        f"right {_share(of.right, of.answerable)} of the answerable, wrong under correct "
        f"{_share(of.wrong_under_correct, of.answerable)} of them and {_share(of.wrong_of_them, of.judged_correct)} of "
        f"what stands under correct, unanswerable refused {_share(of.rightly_refused, of.unanswerable)}; "
        f"{read} of {answered} answers read by a person"
    )
    lines.append(f"{certainty(rows, verdicts)}; median {median(row.seconds for row in rows):.2f} s")
    return "\n".join(lines)


def certainty(rows: Sequence[Row], verdicts: Sequence[Verdict]) -> str:
    """How well the certainty of the answers is calibrated, and how many are not right among the surest ones.

    By the answer's own certainty where there is one, else by the confidence in the evidence. Partly right is not right.
    """
    right = {verdict.id: verdict.verdict == Mark.RIGHT for verdict in verdicts}
    sure = [
        (row.confidence if row.certainty is None else row.certainty, right[row.id]) for row in rows if not row.abstained
    ]
    known = sorted(((value, good) for value, good in sure if value is not None), reverse=True)
    if not known:
        return "no certainties"
    ece = ece_interval([Forecast(value, float(good)) for value, good in known])
    risks = []
    for share in (0.25, 0.5, 0.75, 1.0):
        surest = known[: max(1, round(share * len(known)))]
        risks.append(f"{1 - sum(good for _, good in surest) / len(surest):.2f} of the surest {share:.0%}")
    return f"certainty: ECE {ece.value:.3f} over {len(known)} answers; not right: {', '.join(risks)}"


def compared(questions: Sequence[Question], first: Sequence[Verdict], second: Sequence[Verdict]) -> str:
    """Paired: on how many questions the second is right and the first is not, and the other way round."""
    good = [{one.id: one.verdict for one in table} for table in (first, second)]
    lines = []
    for name, answerable in (("answerable right", True), ("unanswerable refused", False)):
        wanted = Mark.RIGHT if answerable else Mark.REFUSED
        ids = [one.id for one in questions if one.answerable is answerable and all(one.id in table for table in good)]
        before, after = ([float(table[id_] == wanted) for id_ in ids] for table in good)
        better = sum(new > old for old, new in zip(before, after, strict=True))
        worse = sum(new < old for old, new in zip(before, after, strict=True))
        lines.append(
            f"{name:<22} {sum(before):.0f} -> {sum(after):.0f} of {len(ids)}; better on {better}, worse on {worse}, "
            f"McNemar p {mcnemar(before, after):.4f}"
        )
        lost = [id_ for id_, old, new in zip(ids, before, after, strict=True) if new < old]
        lines += [f"  lost: {', '.join(lost)}"] if lost else []
    return "\n".join(lines)


def _share(part: int, of: int) -> str:
    return f"{part / of:.3f}" if of else "-"
