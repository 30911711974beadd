"""Ask the question set and count what came of it, by rule.

python -m benchmarks.questions ask --recipe corrective --out ROWS --home HOME
python -m benchmarks.questions table ROWS
"""

from __future__ import annotations

import argparse
from pathlib import Path

from benchmarks.machine import CACHE, DATA
from benchmarks.questions import documents, rules
from benchmarks.questions.ask import ask_all, prepared, read, table, told


def ask(options: argparse.Namespace) -> None:
    """Index what is missing and ask what is not in the rows yet."""
    import thresher

    chosen = [one for one in rules.load() if options.collection in (None, one.collection)]
    prepared(options.home, options.papers, list(dict.fromkeys(one.collection for one in chosen)), [options.recipe])
    for row in ask_all(chosen, lambda name: thresher.open(options.home, name), options.recipe, options.out):
        print(told(row), flush=True)


def main() -> None:
    """Run the command that is named."""
    parser = argparse.ArgumentParser(prog="benchmarks.questions", description=__doc__)
    commands = parser.add_subparsers(required=True)

    one = commands.add_parser("ask", help="ask all questions; what is in --out already is not asked again")
    one.add_argument("--recipe", default="corrective")
    one.add_argument("--collection", choices=documents.COLLECTIONS)
    one.add_argument("--out", type=Path, required=True)
    one.add_argument("--home", type=Path, default=CACHE / "questions")
    one.add_argument("--papers", type=Path, default=DATA / "papers")
    one.set_defaults(run=ask)

    one = commands.add_parser("table", help="print the counts")
    one.add_argument("rows", type=Path)
    one.add_argument("--by", choices=("collection", "kind"), default="collection")
    one.set_defaults(run=lambda options: print(table(rules.load(), read(options.rows), by=options.by)))

    options = parser.parse_args()
    options.run(options)


if __name__ == "__main__":
    main()
