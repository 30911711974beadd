"""Ask small sets of questions that turn on one sign, and count what came of them: right, wrong, refused.

    python -m benchmarks.signals identifiers|dates|negation [--half dev|aside] [--rows]

A set is a folder of documents beside this file and the rows of `questions.jsonl` that name it: with `answers`, of which
one must stand in what is marked of the answer, or without, where nothing may be answered. Half of the questions, by a
hash of their words, is set aside and is asked once, when nothing is changed any more.
"""

from __future__ import annotations

import argparse
import json
import re
import tempfile
from collections import Counter
from hashlib import sha256
from pathlib import Path
from typing import Any

import thresher

FOLDER = Path(__file__).parent
SETS = ("identifiers", "dates", "negation")
OTHERS = re.compile(r"\n(?:Another \w+ |Superseded, |Replaced since, )")
"""What else is told behind an answer."""
MARKED = re.compile(r"\*\*(.+?)\*\*", re.DOTALL)


def half_of(question: str) -> str:
    """The half that a question belongs to."""
    return "aside" if sha256(question.encode()).digest()[0] % 2 else "dev"


def mark(row: dict[str, Any], answer: thresher.Answer) -> str:
    """Right, wrong or refused; of a passage with a marked sentence that sentence and what leads count."""
    if answer.abstained:
        return "refused" if row["answers"] else "right"
    text = OTHERS.split(answer.text)[0]
    if marked := MARKED.search(text):
        text = f"{text.partition('“')[0]} {marked[1]}"
    text = " ".join(text.split()).casefold()
    return "right" if any(one.casefold() in text for one in row["answers"]) else "wrong"


def main() -> None:
    """Ask one set and print the counts by kind."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("set", choices=SETS)
    parser.add_argument("--half", choices=("dev", "aside"), default="dev")
    parser.add_argument("--rows", action="store_true", help="print each question with what came of it")
    given = parser.parse_args()
    lines = (FOLDER / "questions.jsonl").read_text(encoding="utf-8").splitlines()
    rows = [row for row in map(json.loads, lines) if row["set"] == given.set and half_of(row["question"]) == given.half]
    counts: Counter[tuple[str, str]] = Counter()
    with tempfile.TemporaryDirectory() as home, thresher.open(home) as collection:
        collection.add(FOLDER / given.set)
        for row in rows:
            answer = collection.ask(row["question"])
            came = mark(row, answer)
            if came == "wrong" and answer.verdict == "correct":
                counts[row["kind"], "wrong under correct"] += 1
            counts[row["kind"], came] += 1
            if given.rows:
                said = answer.reason if answer.abstained else answer.text
                print(came, answer.verdict, row["question"], "->", " ".join(str(said).split())[:150])
    for kind in dict.fromkeys(row["kind"] for row in rows):
        print(kind, {name: counts[kind, name] for name in ("right", "wrong", "refused", "wrong under correct")})


if __name__ == "__main__":
    main()
