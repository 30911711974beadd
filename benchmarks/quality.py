"""The gate of a change: what answers without a chat model are worth, held against the rows that are stored.

    python -m benchmarks.quality [--sets lookalikes squad papers manuals] [--write]

lookalikes  56 questions to reports, invoices and records that differ in names, numbers and dates only.
squad       150 questions of SQuAD's tune fifth over its paragraphs, every third without an answer there.
papers      the dev part of `benchmarks.real_text` that asks papers.
manuals     the dev part that asks manuals; left out, and said so, where `benchmarks.real_text fetch` was not run.

A row says of the first passage or cell, and of all that is shown, whether it is right, partly right or wrong by the
rules of the set. Against the stored rows of the same sets the gate allows: two right ones fewer, one more wrong under
`correct`, three more answers where there is none. Every row that changed is printed. `--write` stores the rows.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import thresher
from benchmarks.machine import CACHE, DATA
from benchmarks.questions import ask, rules
from benchmarks.questions.rules import Mark, Question
from benchmarks.real_text import documents, questions
from thresher_evals.dataset import split_of

ROWS = Path(__file__).with_suffix(".jsonl")
HOME = CACHE / "quality"
SETS = ("lookalikes", "squad", "papers", "manuals")
LOOKALIKES = ("reports", "invoices", "records")
SEED, SQUAD = 7, 150
FEWER_RIGHT, MORE_WRONG, MORE_ANSWERED = 2, 1, 3


@dataclass(frozen=True, slots=True)
class Row:
    """What came of one question."""

    set: str
    id: str
    answerable: bool
    verdict: str
    first: str
    """The mark of the first passage or cell."""
    shown: str
    """The mark of all that is shown."""

    @property
    def is_wrong_under_correct(self) -> bool:
        """Whether nothing right is shown though the evidence was called sufficient."""
        return self.verdict == "correct" and self.shown == Mark.WRONG


@dataclass(frozen=True, slots=True)
class Counted:
    """What the rows of a set come to."""

    asked: int
    right: int
    first_right: int
    wrong_under_correct: int
    answered_without: int
    """Answered though the documents have no answer."""

    @classmethod
    def of(cls, rows: Sequence[Row]) -> Counted:
        """The counts of rows."""
        return cls(
            len(rows),
            sum(row.shown == Mark.RIGHT for row in rows if row.answerable),
            sum(row.first == Mark.RIGHT for row in rows if row.answerable),
            sum(row.is_wrong_under_correct for row in rows),
            sum(row.shown != Mark.REFUSED for row in rows if not row.answerable),
        )


def asked(name: str) -> Iterator[Row]:
    """The rows of a set; what is not indexed yet is."""
    match name:
        case "lookalikes":
            ask.prepared(HOME, DATA / "papers", LOOKALIKES, ["corrective"])
            chosen: Sequence[Question] = [one for one in rules.load() if one.collection in LOOKALIKES]
        case "squad":
            chosen = squad()
        case _:
            there = [one for one in questions.load() if one.part == "dev"]
            chosen = [one for one in there if (one.source == "papers") == (name == "papers")]
            of_papers = [DATA / "papers" / f"{one}.pdf" for one in documents.PAPERS]
            with thresher.open(HOME, name) as collection:
                collection.add(*(of_papers if name == "papers" else documents.pages()))
            chosen = [replace(one, collection=name) for one in chosen]
    opened: dict[str, thresher.Collection] = {}
    for question in chosen:
        collection = opened.setdefault(question.collection, thresher.open(HOME, question.collection))
        row = ask.asked(question, collection, "corrective")
        shown = rules.marked(question, row.shown, abstained=row.abstained, reason=row.reason).mark
        yield Row(name, row.id, question.answerable, row.verdict, row.mark, shown)
    for collection in opened.values():
        collection.close()


def squad() -> list[Question]:
    """Questions of the tune fifth, over a collection of its paragraphs."""
    lines = (DATA / "squad" / "answered.jsonl").read_text(encoding="utf-8").splitlines()
    found = [row for row in map(json.loads, lines) if split_of(row["title"]) == "tune"]
    folder = HOME / "squad_paragraphs"
    folder.mkdir(parents=True, exist_ok=True)
    for at, (text, title) in enumerate({row["context"]: row["title"] for row in found}.items()):
        (folder / f"p{at}.md").write_text(f"# {title.replace('_', ' ')}\n\n{text}\n", encoding="utf-8")
    with thresher.open(HOME, "squad") as collection:
        collection.add(folder)
    draw = random.Random(SEED)
    kinds = [[row for row in found if bool(row["answers"]) is answerable] for answerable in (True, False)]
    chosen = [*draw.sample(kinds[0], 2 * SQUAD // 3), *draw.sample(kinds[1], SQUAD // 3)]
    return [
        Question(
            id=f"squad-{row['id']}",
            collection="squad",
            kind="squad",
            question=row["question"],
            answerable=bool(row["answers"]),
            expected=(tuple({text for _, text in row["answers"]}),) if row["answers"] else (),
        )
        for row in chosen
    ]


def stored() -> list[Row]:
    """The rows that are kept."""
    return [Row(**json.loads(line)) for line in ROWS.read_text(encoding="utf-8").splitlines()] if ROWS.exists() else []


def missed(before: Counted, now: Counted) -> list[str]:
    """What the gate does not allow."""
    told = []
    if now.right < before.right - FEWER_RIGHT:
        told.append(f"right {now.right}, {before.right} before: at most {FEWER_RIGHT} fewer")
    if now.wrong_under_correct > before.wrong_under_correct + MORE_WRONG:
        told.append(f"wrong under correct {now.wrong_under_correct}, {before.wrong_under_correct} before")
    if now.answered_without > before.answered_without + MORE_ANSWERED:
        told.append(f"answered without an answer {now.answered_without}, {before.answered_without} before")
    return told


def changes(before: Sequence[Row], now: Sequence[Row]) -> Iterator[str]:
    """A line for each question that came out otherwise."""
    old = {row.id: row for row in before}
    for row in now:
        if (was := old.get(row.id)) is not None and (was.first, was.shown) != (row.first, row.shown):
            yield f"{row.id}: {was.first}, shown {was.shown} -> {row.first}, shown {row.shown}"


def main() -> int:
    """Ask, print the table and what changed; 1 where the gate does not allow it."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--sets", nargs="+", choices=SETS, default=SETS)
    parser.add_argument("--write", action="store_true", help="store the rows")
    given = parser.parse_args()
    before, now, wrong = stored(), list[Row](), list[str]()
    for name in given.sets:
        if name == "manuals" and not documents.MANUALS.is_dir():
            print("manuals: not there; python -m benchmarks.real_text fetch")
            continue
        rows = list(asked(name))
        now += rows
        was = [row for row in before if row.set == name]
        print(name, json.dumps(asdict(Counted.of(rows))), "before", json.dumps(asdict(Counted.of(was))), flush=True)
        print(*changes(was, rows), sep="\n", flush=True)
        if was and not given.write:
            wrong += [f"{name}: {each}" for each in missed(Counted.of(was), Counted.of(rows))]
    if given.write:
        kept = [row for row in before if row.set not in {row.set for row in now}]
        ROWS.write_text("".join(json.dumps(asdict(row)) + "\n" for row in [*kept, *now]), encoding="utf-8")
    print(Counter(row.shown for row in now))
    print(*wrong, sep="\n")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
