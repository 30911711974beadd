"""The gate of a change: what answers without a chat model are worth, held against the rows that are stored.

    python -m benchmarks.quality [--sets typed squad ...] [--engine TREE] [--write]
    python -m benchmarks.quality --recipe rag --sets papers manuals --write    rows of another recipe, kept apart
    python -m benchmarks.quality --worth                                       what each rule wins and loses
    python -m benchmarks.quality --page                                        docs/results/answers.md, from the rows

A person reads the sentence in bold, or the cell: `marked` counts it. `first` is the whole first passage, `shown` any of
those shown; `judge` is what the judge knows (its first candidate, one of its first three), the ceiling. Below each set
stands `benchmarks.quality.plain`, the same questions asked of the judge alone: a set on which that is ahead by more
than chance is a fault of the engine, and is named. Against the stored rows the gate allows no loss that is beyond
chance (McNemar's test at 95 %). Every question that came out otherwise is printed. `--engine` asks another version of
the engine, in a checkout of its own, with the same questions, by its own .venv where it has one; `--write` stores the
rows.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator
from pathlib import Path

from benchmarks.machine import CACHE, ROOT, told_by
from benchmarks.quality import asking, page
from benchmarks.quality.asking import PLAIN
from benchmarks.quality.rows import Counted, Row, behind, changes, missed, row_of, rows_of, stored, write
from benchmarks.quality.sets import NEEDED, SETS, QuestionSet


def asked(
    name: str, given: QuestionSet, engine: Path = ROOT, *, recipe: str = "", keep: Path | None = None
) -> Iterator[Row]:
    """The rows of a set, asked of the engine of a checkout; what is not indexed yet is. `keep` takes what was told."""
    order = {
        "recipe": recipe,
        "home": str(CACHE / "quality" / engine.resolve().name),
        "sources": {one: [str(path) for path in paths] for one, paths in given.sources.items()},
        "questions": [
            {"id": one.id, "collection": one.collection, "question": one.question} for one in given.questions
        ],
    }
    lines = told_by(engine, Path(asking.__file__), order, f"{name}: asking")
    if keep is not None:
        keep.mkdir(parents=True, exist_ok=True)
        (keep / f"{name}.jsonl").write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    told = {one["id"]: one for one in map(json.loads, lines)}
    for question in given.questions:
        yield row_of(name, question, told[question.id])


def main() -> int:
    """Ask, print the table and what changed; 1 where the gate does not allow it."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--sets", nargs="+", choices=SETS, default=list(SETS))
    parser.add_argument("--engine", type=Path, default=ROOT, help="a checkout whose engine is asked")
    parser.add_argument("--recipe", default="", help="another than the default; its rows are stored apart")
    parser.add_argument("--worth", action="store_true", help="switch each rule off, and all; docs/results/worth.md")
    parser.add_argument("--page", action="store_true", help="write docs/results/answers.md from the stored rows")
    parser.add_argument("--keep", type=Path, help="a folder for what was told, a file a set")
    parser.add_argument("--write", action="store_true", help="store the rows")
    given = parser.parse_args()
    if given.page:
        print(page.write().relative_to(ROOT))
        return 0
    if given.worth:
        from benchmarks.quality import worth

        return worth.main() if given.sets == list(SETS) else worth.main(given.sets)
    kept = rows_of(given.recipe)
    before, now, plain, wrong = stored(kept), list[Row](), list[Row](), list[str]()
    for name in given.sets:
        if name in NEEDED and not NEEDED[name].is_dir():
            fetched = "python -m benchmarks.real_text fetch" if name in ("manuals", "typed") else "set THRESHER_DATA"
            print(f"{name}: left out, {NEEDED[name]} is not there; {fetched}")
            continue
        questions = SETS[name]()
        rows = list(asked(name, questions, given.engine, recipe=given.recipe, keep=given.keep))
        was = [row for row in before if row.set == name]
        now += rows
        print(f"{name}: {Counted.of(rows).line()}", flush=True)
        if was:
            print(f"{name}, before: {Counted.of(was).line()}", *changes(was, rows), sep="\n", flush=True)
            wrong += [f"{name}: {each}" for each in missed(was, rows)]
        if not given.recipe:
            baseline = list(asked(name, questions, given.engine, recipe=PLAIN))
            plain += baseline
            print(f"{name}, plain: {Counted.of(baseline).line()}", flush=True)
            for each in behind(baseline, rows):
                print(f"{name}, behind plain: {each}", flush=True)
    if given.write:
        write(now, kept)
        if plain:
            write(plain, rows_of(PLAIN))
        return 0
    print(*wrong, sep="\n")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
