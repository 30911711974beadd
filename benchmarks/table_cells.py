"""Ask tables that nobody wrote for Thresher: questions of WikiTableQuestions and TAT-QA for one cell of a table.

    python -m benchmarks.table_cells [--tables 40]

The rows are `train/reader_wtq_lookup` and `train/reader_tatqa` of the data, which no bundled model was trained on. Each
table is a Markdown file in a collection of its own. Without `--tables` the table rules alone are asked, all rows, in
seconds; with it the engine is asked about so many tables of each set, by a hash of the table. Printed: right, wrong and
refused of the questions with an answer in the table, answered of those without, and of what is told as a cell how many
are right beside the certainty that is told.
"""

from __future__ import annotations

import argparse
import gzip
import json
import re
import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np

import thresher
from benchmarks.machine import DATA
from thresher.documents.read import parse
from thresher.documents.sources import Hints, Item
from thresher.judging.fitting import calibration_error
from thresher.structure.answers import answered, grids_near
from thresher.types import Document

SETS = ("reader_wtq_lookup", "reader_tatqa")
LONGEST = 160
"""Characters besides the right ones of an answer that still tells them: a row with its names."""

Row = dict[str, Any]


def rows_of(name: str) -> Iterator[Row]:
    """The questions to tables written as `a | b | c`."""
    with gzip.open(DATA / "train" / f"{name}.jsonl.gz", "rt", encoding="utf-8") as lines:
        for row in map(json.loads, lines):
            if "|" in row["passage"] and row["source"] != "tatqa_text":
                yield row


def as_markdown(passage: str) -> str:
    """Rows `a | b | c` as a table of Markdown."""
    rows = [[cell.strip() for cell in line.split("|")] for line in passage.split("\n")]
    width = max(map(len, rows))
    lines = [f"| {' | '.join([*row, *[''] * (width - len(row))])} |" for row in rows]
    return "\n".join([lines[0], f"|{'---|' * width}", *lines[1:], ""])


def is_right(text: str, answers: Sequence[str]) -> bool:
    """Whether a text has an answer, blanks, currency and signs for thousands aside, and little else."""

    def bare(given: str) -> str:
        return re.sub(r"[\s,$%]", "", given.casefold())

    return any(bare(one) in bare(text) and len(text) <= len(one) + LONGEST for one in answers)


def by_rules(rows: Sequence[Row]) -> Counter[str]:
    """What the table rules alone say."""
    counts: Counter[str] = Counter()
    for row in rows:
        document = document_of(row["passage"])
        grids = grids_near(document, 0, len(document.text))
        found = next((one for grid in grids if (one := answered(grid, row["question"])) is not None), None)
        counts[_came(row, None if found is None else found.text)] += 1
    return counts


@cache
def document_of(passage: str) -> Document:
    """A table as it is read."""
    item = Item("table.md", "table.md", Path("table.md"))
    found = next(iter(parse(item, as_markdown(passage).encode(), Hints())))
    assert isinstance(found, Document)
    return found


def _came(row: Row, text: str | None) -> str:
    if not row["answerable"]:
        return "refused, no answer there" if text is None else "answered, no answer there"
    return "refused" if text is None else "right" if is_right(text, row["answers"]) else "wrong"


def by_engine(rows: Sequence[Row], tables: int) -> tuple[Counter[str], list[tuple[float, bool]]]:
    """What the engine says about so many tables, and of each cell that leads its certainty and whether it is right."""
    by_table: defaultdict[str, list[Row]] = defaultdict(list)
    for row in rows:
        by_table[row["passage"]].append(row)
    counts: Counter[str] = Counter()
    told: list[tuple[float, bool]] = []
    for passage in sorted(by_table, key=lambda passage: sha256(passage.encode()).hexdigest())[:tables]:
        with tempfile.TemporaryDirectory() as home, thresher.open(home) as collection:
            collection.add_text(as_markdown(passage), source="table.md", title="Table")
            for row in by_table[passage]:
                answer = collection.ask(row["question"])
                text = None if answer.abstained else re.sub(r"\s*\[\d+\]", "", answer.text)
                leads = text is not None and not text.startswith(("Here", "Perhaps here"))
                came = _came(row, text if leads or text is None else _marked(text))
                counts[came] += 1
                if leads and "|" not in (text or "|"):
                    told.append((answer.certainty or 0.0, came == "right"))
    return counts, told


def _marked(text: str) -> str:
    """The bold cells of a row that is shown."""
    return " ".join(re.findall(r"\*\*(.+?)\*\*", text))


def main() -> None:
    """Print the counts of each set."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--tables", type=int, default=0)
    tables = parser.parse_args().tables
    for name in SETS:
        rows = list(rows_of(name))
        print(name, "rules", len(rows), dict(by_rules(rows)), flush=True)
        if tables:
            counts, told = by_engine(rows, tables)
            print(name, "engine", sum(counts.values()), dict(counts))
            if told:
                certain, right = (np.array(each) for each in zip(*told, strict=True))
                ece = calibration_error(certain, right)
                print(f"  cells {len(told)}, right {right.sum()}, certainty {certain.mean():.2f}, ECE {ece:.3f}")


if __name__ == "__main__":
    main()
