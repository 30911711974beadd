"""Rows of tables as sentences, so that a model that learnt to read sentences can check claims on them."""

from __future__ import annotations

from itertools import pairwise

from thresher.structure.answers import grids_near
from thresher.types import Document
from thresher.verification.windows import RowInWords

MOST_COLUMNS = 12
"""A row with more is read as it stands: in words it is longer than a window."""


def rows_in_words(document: Document, start: int, end: int) -> list[RowInWords]:
    """The rows of the tables that reach into a stretch of a document, where their cells stand in one piece each.

    The model read sentences in its training: of "| Gannet Rock | 11 | 5.5 |" it makes nothing.
    """
    found = []
    for grid in grids_near(document, start, end):
        spans = [(min(c.start for c in row), max(c.end for c in row)) for row in grid.rows]
        apart = all(one[1] <= other[0] for one, other in pairwise(spans))
        if apart and not grid.turned and len(grid.header) <= MOST_COLUMNS:
            found += [RowInWords(*span, grid.row_sentences(at), grid.start) for at, span in enumerate(spans)]
    return found
