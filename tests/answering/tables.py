"""Two documents with tables, and pieces of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from tests.structure.test_grid import document
from thresher.types import COSINE, Chunk, Document, Evidence, Hit, Score

RESULTS = document(
    "Results by quarter\n\nAll amounts in million euros.\n\n",
    "| Quarter | Revenue | Costs |\n| Q1 | 14.2 | 11.0 |\n| Q2 | 15.8 | 11.9 |\n| Q3 | 17.9 | 12.1 |",
    "\n\nThe board met in March.",
)
OTHER = replace(
    document("Results by quarter, in euros\n\n", "| Quarter | Revenue |\n| Q1 | 70 |\n| Q3 | 82 |"),
    id="e",
    title="Bolt",
)


def documents(ids: Sequence[str]) -> Mapping[str, Document]:
    return {one.id: one for one in (RESULTS, OTHER) if one.id in ids}


def piece(text: str, of: Document = RESULTS) -> Evidence:
    start = of.text.index(text)
    kind = "table" if text.startswith("|") else "text"
    chunk = Chunk("c", of.id, "d.md", of.title, start, start + len(text), text, kind=kind)  # type: ignore[arg-type]
    return Evidence(Hit(chunk, Score(0.5, COSINE), 1), start, start + len(text), text)
