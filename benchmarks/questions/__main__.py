"""Ask a set of questions and count what came of it, by rule.

python -m benchmarks.questions ask --recipe corrective --out ROWS --home HOME [--set real_text --part dev]
python -m benchmarks.questions table ROWS [--set real_text] [--by kind]

The sets: `questions`, the question set of the answer (README.md), and `real_text` (../real_text/README.md).
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from benchmarks.machine import CACHE, DATA
from benchmarks.questions import documents, rules
from benchmarks.questions.ask import ask_all, prepared, read, table, told
from benchmarks.questions.rules import Mark, Question
from benchmarks.real_text import documents as real_documents
from benchmarks.real_text import questions as real_questions

REAL = "real_text"


def ask(options: argparse.Namespace) -> None:
    """Index what is missing and ask what is not in the rows yet."""
    import thresher

    chosen: Sequence[Question]
    if options.set == REAL:
        with thresher.open(home=options.home, collection=REAL) as collection:
            collection.add(*real_documents.sources(papers=options.papers), recipe=[options.recipe])
        chosen = [one for one in real_questions.load() if one.part == options.part]
    else:
        chosen = [one for one in rules.load() if options.collection in (None, one.collection)]
        prepared(options.home, options.papers, list(dict.fromkeys(one.collection for one in chosen)), [options.recipe])
    for row in ask_all(chosen, lambda name: thresher.open(options.home, name), options.recipe, options.out):
        print(told(row), flush=True)


def show(options: argparse.Namespace) -> None:
    """Print the counts by rule."""
    rows, asked = read(options.rows), real_questions.load() if options.set == REAL else rules.load()
    print(table(asked, rows, by=options.by))
    answered, by_id = [row for row in rows if not row.abstained], {one.id: one for one in asked}
    wrong = sum(row.mark != Mark.RIGHT for row in answered)
    shown = sum(rules.marked(by_id[row.id], row.shown, abstained=row.abstained).mark == Mark.RIGHT for row in rows)
    print(f"right with the alternatives: {shown} of {len(rows)}")
    print(f"coverage {len(answered)} of {len(rows)} questions answered; risk {wrong} of {len(answered)} not right")


def main() -> None:
    """Run the command that is named."""
    parser = argparse.ArgumentParser(prog="benchmarks.questions", description=__doc__)
    commands = parser.add_subparsers(required=True)

    one = commands.add_parser("ask", help="ask the questions; what is in --out already is not asked again")
    one.add_argument("--recipe", default="corrective")
    one.add_argument("--collection", choices=documents.COLLECTIONS, help="of the set `questions`")
    one.add_argument("--part", choices=real_questions.PARTS, default="dev", help="of the set `real_text`")
    one.add_argument("--out", type=Path, required=True)
    one.add_argument("--home", type=Path, help="default: a folder for each set in benchmarks/.cache")
    one.add_argument("--papers", type=Path, default=DATA / "papers")
    one.set_defaults(run=ask)

    two = commands.add_parser("table", help="print the counts")
    two.add_argument("rows", type=Path)
    two.add_argument("--by", choices=("collection", "source", "kind"), default="kind")
    two.set_defaults(run=show)
    for each in (one, two):
        each.add_argument("--set", choices=("questions", REAL), default="questions")

    options = parser.parse_args()
    if "home" in options and options.home is None:
        options.home = real_documents.FOLDER / "home" if options.set == REAL else CACHE / "questions"
    options.run(options)


if __name__ == "__main__":
    main()
