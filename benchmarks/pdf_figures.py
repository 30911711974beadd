"""How often text inside pictures is told from the text of a PDF, on pages of real papers that were read by a person.

.venv/bin/python -m benchmarks.pdf_figures

Each line of a page has a label: figure (inside a picture), table, either (the line under one part of a figure; a
sentence that stands in a picture), or text. All pages were labelled before there were rules; the rules and their bounds
were chosen on the tuning pages and on papers without labels, none of them on the final pages.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

from benchmarks.machine import DATA
from thresher.documents.formats.pdf.glyphs import glyphs_of, joined
from thresher.documents.formats.pdf.layout import tidy
from thresher.documents.formats.pdf.lines import classify_all, figure_lines
from thresher.documents.formats.pdf.opening import opened
from thresher.documents.formats.pdf.reader import lines_of

LABELS = Path(__file__).with_suffix(".json")
HASH_DIGITS = 16


@dataclass(frozen=True, slots=True)
class Told:
    """Lines of labelled pages, and what was told of them."""

    pages: int = 0
    lines: int = 0
    figure: int = 0
    """Labelled so."""
    table: int = 0
    right: int = 0
    """Labelled as a figure's and told to be."""
    wrong: int = 0
    """Labelled as text or table and told to be a figure's."""

    def __add__(self, other: Told) -> Told:
        """Both together."""
        return Told(*(getattr(self, name) + getattr(other, name) for name in Told.__slots__))

    @property
    def precision(self) -> float:
        """Of the lines told to be in a figure, 0 to 1."""
        return self.right / max(1, self.right + self.wrong)

    @property
    def recall(self) -> float:
        """Of the lines in a figure, 0 to 1."""
        return self.right / max(1, self.figure)


def page_hash(lines: list[str]) -> str:
    """Names the text of a page, so that labels of another reading of it are not used."""
    return sha256("\n".join(lines).encode()).hexdigest()[:HASH_DIGITS]


def pages_of(name: str) -> list[list[str]]:
    """The lines of each page of a paper."""
    with opened((DATA / "papers" / name).read_bytes()) as document:
        lines, _ = lines_of([joined(page.characters) for page in glyphs_of(document)])
    return [tidy(page) for page in lines]


def measured(part: str) -> Told:
    """What is told of the pages of a part, `tuning` or `final`. Raises ValueError where a page is read otherwise."""
    told = Told()
    labels = [page for page in json.loads(LABELS.read_text()) if page["part"] == part]
    for name in dict.fromkeys(page["document"] for page in labels):
        pages = pages_of(name)
        for page in (page for page in labels if page["document"] == name):
            lines = pages[page["page"] - 1]
            if page_hash(lines) != page["hash"]:
                raise ValueError(f"{name}, page {page['page']}: its text is not what was labelled")
            told += _of_page(lines, page)
    return told


def _of_page(lines: list[str], page: dict[str, Any]) -> Told:
    figure, table, either = (set(_numbers(page[label])) for label in ("figure", "table", "either"))
    runs = figure_lines(lines, classify_all(lines))
    found = {at for run in runs for at in range(run.first, run.last + 1)} - either
    return Told(1, len(lines) - len(either), len(figure), len(table), len(found & figure), len(found - figure))


def _numbers(ranges: list[list[int]]) -> Iterator[int]:
    for first, last in ranges:
        yield from range(first, last + 1)


def main() -> int:
    """Print both parts."""
    for part in ("tuning", "final"):
        told = measured(part)
        print(
            f"{part}: {told.pages} pages, {told.lines} lines, {told.figure} in figures, {told.table} in tables: "
            f"precision {told.precision:.3f}, recall {told.recall:.3f} ({told.right} right, {told.wrong} wrong, "
            f"{told.figure - told.right} missed)"
        )
    return 0


if __name__ == "__main__":
    sys.exit(main())
