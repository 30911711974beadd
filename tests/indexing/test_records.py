"""A document's record holds all that is told of its text."""

from __future__ import annotations

import pytest

from thresher.indexing.catalog import Entry, Place, about
from thresher.indexing.records import to_document, to_document_row
from thresher.types import Document, Mark, Page, Table

PLAIN = Document("1", "mill.pdf", "Mills", "The mill.\n\n0.2\n0.4\n\nThe end.", "pdf", (Page(1, 0, 28),))
MARKED = Document(
    "1",
    "mill.pdf",
    "Mills",
    PLAIN.text,
    "pdf",
    (Page(1, 0, 28),),
    (Table(0, 9, ((0, 9),)),),
    marks=(Mark(0, "heading", "The mill."),),
    figures=((11, 18),),
)


@pytest.mark.parametrize("document", [PLAIN, MARKED], ids=["plain", "marked"])
def test_a_document_comes_back_as_it_was_stored(document: Document) -> None:
    row = to_document_row(document, Entry("1", 1, (Place("mill.pdf", ""),)), "2024-05-01T00:00:00Z")
    assert to_document(row) == document


def test_a_figure_that_is_told_anew_is_a_change() -> None:
    assert about(PLAIN) != about(MARKED)
