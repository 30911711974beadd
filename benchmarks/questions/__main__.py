"""Ask the question set and judge the answers.

python -m benchmarks.questions documents FOLDER
python -m benchmarks.questions ask --recipe corrective --out ROWS --home HOME
python -m benchmarks.questions judge ROWS --label LABEL
python -m benchmarks.questions table ROWS --label LABEL
python -m benchmarks.questions compare LABEL LABEL
python -m benchmarks.questions paraphrases --home HOME
"""

from __future__ import annotations

import argparse
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.machine import CACHE, DATA
from benchmarks.questions import documents, paraphrases, rules, verdicts
from benchmarks.questions.ask import ask_all, prepared, read


def ask(options: argparse.Namespace) -> None:
    """Index what is missing and ask what is not in the rows yet."""
    import thresher

    chosen = [one for one in rules.load() if options.collection in (None, one.collection)]
    prepared(options.home, options.papers, list(dict.fromkeys(one.collection for one in chosen)), [options.recipe])
    rows = ask_all(chosen, lambda name: thresher.open(options.home, name), options.recipe, options.out)
    for row in rows:
        print(f"{row.id:<8} {row.mark:<8} {row.seconds:5.1f} s  {verdicts.one_line(row.answer)[:90]}", flush=True)


def judge(options: argparse.Namespace) -> None:
    """Write the table of a label, with the verdicts by hand that are known."""
    made = verdicts.judged(read(options.rows), verdicts.by_hand())
    verdicts.write(verdicts.FOLDER / f"{options.label}.tsv", made)
    print(f"{sum(one.by_hand for one in made)} of {len(made)} verdicts by hand")


def table(options: argparse.Namespace) -> None:
    """Print the counts, by the table of a label or by rule and by what was read before."""
    rows = read(options.rows)
    label = options.label
    known = verdicts.load(verdicts.FOLDER / f"{label}.tsv") if label else verdicts.judged(rows, verdicts.by_hand())
    print(verdicts.table(rules.load(), rows, known, by=options.by))


def compare(options: argparse.Namespace) -> None:
    """Print the paired comparison of two labels."""
    first, second = (verdicts.load(verdicts.FOLDER / f"{label}.tsv") for label in (options.first, options.second))
    print(verdicts.compared(rules.load(), first, second))


def paraphrased(options: argparse.Namespace) -> None:
    """Ask questions in both of their wordings, and say how many pairs agree."""
    import thresher

    chosen = list(paraphrases.both(rules.load(), paraphrases.load()))
    prepared(options.home, options.papers, list(dict.fromkeys(one.collection for one in chosen)), [options.recipe])
    with TemporaryDirectory() as folder:
        rows = ask_all(chosen, lambda name: thresher.open(options.home, name), options.recipe, Path(folder) / "rows")
        print(paraphrases.told(paraphrases.pairs(list(rows)), shown=options.shown))


def main() -> None:
    """Run the command that is named."""
    parser = argparse.ArgumentParser(prog="benchmarks.questions", description=__doc__)
    commands = parser.add_subparsers(required=True)

    one = commands.add_parser("documents", help="write the made documents")
    one.add_argument("folder", type=Path)
    one.set_defaults(run=lambda options: documents.make(options.folder))

    one = commands.add_parser("ask", help="ask all questions; what is in --out already is not asked again")
    one.add_argument("--recipe", default="corrective")
    one.add_argument("--collection", choices=documents.COLLECTIONS)
    one.add_argument("--out", type=Path, required=True)
    one.add_argument("--home", type=Path, default=CACHE / "questions")
    one.add_argument("--papers", type=Path, default=DATA / "papers")
    one.set_defaults(run=ask)

    one = commands.add_parser("judge", help="write verdicts/LABEL.tsv")
    one.add_argument("rows", type=Path)
    one.add_argument("--label", required=True)
    one.set_defaults(run=judge)

    one = commands.add_parser("table", help="print the counts")
    one.add_argument("rows", type=Path)
    one.add_argument("--label", default="")
    one.add_argument("--by", choices=("collection", "kind"), default="collection")
    one.set_defaults(run=table)

    one = commands.add_parser("compare", help="print the paired comparison of two labels")
    one.add_argument("first")
    one.add_argument("second")
    one.set_defaults(run=compare)

    one = commands.add_parser("paraphrases", help="ask sixty questions in two wordings each: does the answer stay?")
    one.add_argument("--recipe", default="corrective")
    one.add_argument("--home", type=Path, default=CACHE / "questions")
    one.add_argument("--papers", type=Path, default=DATA / "papers")
    one.add_argument("--shown", type=int, default=5, help="pairs that disagree and are shown")
    one.set_defaults(run=paraphrased)

    options = parser.parse_args()
    options.run(options)


if __name__ == "__main__":
    main()
