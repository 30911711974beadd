"""Rows of tables as sentences, so that a model that learnt to read sentences can check claims on them."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from thresher.structure.answers import grids_near
from thresher.text.numbers import agree, quantities
from thresher.text.sentences import sentence_spans
from thresher.text.terms import term_set
from thresher.types import Document
from thresher.verification.windows import RowInWords, Window

MOST_COLUMNS = 12
"""A row with more is read as it stands: in words it is longer than a window."""


def rows_in_words(document: Document, start: int, end: int) -> list[RowInWords]:
    """The rows, each of one piece, of the tables that overlap a span of a document, as sentences as in training."""
    found = []
    for grid in grids_near(document, start, end):
        spans = [(min(c.start for c in row), max(c.end for c in row)) for row in grid.rows]
        apart = all(one[1] <= other[0] for one, other in pairwise(spans))
        if apart and not grid.turned and len(grid.header) <= MOST_COLUMNS:
            for at, span in enumerate(spans):
                found.append(RowInWords(*span, grid.row_sentences(at), grid.start, grid.rows[at][0].text))
    return found


def cell_instead(claim: str, windows: Sequence[Window]) -> str:
    """Why the one row that a claim names contradicts it: its cell on the matter has another number; "" for none.

    The cell on the matter shares most words with the claim, the name of the row aside.
    """
    words = term_set(claim)
    read = {one.row for window in windows for one in window.read if one.row is not None}
    rows = [row for row in read if term_set(row.name) <= words]
    if len(rows) != 1:
        return ""
    row = rows[0]
    wanted = [one for one in quantities(claim) if not term_set(row.name) & set(one.values) and not one.is_article]
    cells = [row.text[start:end] for start, end in sentence_spans(row.text)]
    shared = {cell: len((term_set(cell) - term_set(row.name)) & words) for cell in cells}
    about = [cell for cell, number in shared.items() if number and number == max(shared.values())]
    stated = [one for cell in about for one in quantities(cell.replace(row.name, " "))]
    if len(wanted) != 1 or len(stated) != 1 or wanted[0].unit != stated[0].unit or agree(wanted[0], stated[0]):
        return ""
    return f"the row of {row.name} says {stated[0].values[0]} where the sentence says {wanted[0].values[0]}"
