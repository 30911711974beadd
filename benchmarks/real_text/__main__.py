"""Ask questions to texts that exist for their own sake, and count what came of it.

python -m benchmarks.real_text fetch
python -m benchmarks.real_text check
python -m benchmarks.real_text ask --part dev --recipe corrective --out ROWS
python -m benchmarks.real_text table ROWS --by source
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from time import perf_counter

from benchmarks.machine import DATA
from benchmarks.questions import ask as asking
from benchmarks.questions import rules
from benchmarks.questions.rules import Mark
from benchmarks.real_text import documents, questions

COLLECTION = "real_text"


def fetch(_: argparse.Namespace) -> None:
    """Download and unpack the packages of manuals."""
    documents.fetch()
    print(f"{len(documents.pages())} pages and {len(documents.PAPERS)} papers")


def check(_: argparse.Namespace) -> None:
    """Check the questions against what is read of the documents."""
    texts = documents.texts()
    wrong = [f"{one.id}: {each}" for one in questions.load() for each in questions.problems(one, texts)]
    print("\n".join(wrong) or f"{len(texts)} documents, nothing wrong")
    if wrong:
        sys.exit(1)


def ask(options: argparse.Namespace) -> None:
    """Index what is missing and ask what is not in the rows yet."""
    import thresher

    started = perf_counter()
    with thresher.open(home=options.home, collection=COLLECTION) as collection:
        collection.add(*documents.sources(papers=options.papers), recipe=[options.recipe])
    print(f"indexed in {perf_counter() - started:.0f} s", flush=True)
    chosen = [one for one in questions.load() if one.part == options.part]
    for row in asking.ask_all(chosen, lambda name: thresher.open(options.home, name), options.recipe, options.out):
        print(asking.told(row), flush=True)


def table(options: argparse.Namespace) -> None:
    """Print the counts by rule."""
    rows = asking.read(options.rows)
    print(asking.table(questions.load(), rows, by=options.by))
    answered = [row for row in rows if not row.abstained]
    wrong = sum(row.mark != Mark.RIGHT for row in answered)
    asked = {one.id: one for one in questions.load()}
    shown = sum(rules.marked(asked[row.id], row.shown, abstained=row.abstained).mark == Mark.RIGHT for row in rows)
    print(f"right with the alternatives: {shown} of {len(rows)}")
    print(f"coverage {len(answered)} of {len(rows)} questions answered; risk {wrong} of {len(answered)} not right")


def main() -> None:
    """Run the command that is named."""
    parser = argparse.ArgumentParser(prog="benchmarks.real_text", description=__doc__)
    commands = parser.add_subparsers(required=True)

    commands.add_parser("fetch", help="download the manuals with apt-get and unpack them").set_defaults(run=fetch)
    commands.add_parser("check", help="check the questions against the documents").set_defaults(run=check)

    one = commands.add_parser("ask", help="ask the questions of a part; what is in --out already is not asked again")
    one.add_argument("--part", choices=questions.PARTS, required=True)
    one.add_argument("--recipe", default="corrective")
    one.add_argument("--out", type=Path, required=True)
    one.add_argument("--home", type=Path, default=documents.FOLDER / "home")
    one.add_argument("--papers", type=Path, default=DATA / "papers")
    one.set_defaults(run=ask)

    one = commands.add_parser("table", help="print the counts")
    one.add_argument("rows", type=Path)
    one.add_argument("--by", choices=("source", "kind"), default="source")
    one.set_defaults(run=table)

    options = parser.parse_args()
    options.run(options)


if __name__ == "__main__":
    main()
