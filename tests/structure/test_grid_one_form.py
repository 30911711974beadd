"""The same table in three kinds of file is one table: header, caption and unit are read alike."""

from __future__ import annotations

import io
from collections.abc import Callable

import docx
import openpyxl
import pytest

from tests.documents.making import parse_bytes
from thresher.structure.grid import grid_of
from thresher.types import Document

CAPTION = "Table 1: Sales by region in million euros"
ROWS = (("Region", "Plan", "Sales"), ("North", "12.4", "14.1"), ("South", "8.2", "7.9"), ("West", "10.0", "10.6"))


def saved(document: object) -> bytes:
    buffer = io.BytesIO()
    document.save(buffer)  # type: ignore[attr-defined]
    return buffer.getvalue()


def word() -> bytes:
    document = docx.Document()
    document.add_heading("Report", 1)
    document.add_paragraph(CAPTION, style="Caption")
    table = document.add_table(rows=4, cols=3)
    for row, cells in enumerate(ROWS):
        for column, text in enumerate(cells):
            table.cell(row, column).text = text
    return saved(document)


def workbook() -> bytes:
    book = openpyxl.Workbook()
    book.active.append([CAPTION])
    for row in ROWS:
        book.active.append([cell if not cell[0].isdigit() or "." not in cell else float(cell) for cell in row])
    return saved(book)


def page() -> bytes:
    rows = "".join("<tr>" + "".join(f"<td>{cell}</td>" for cell in row) + "</tr>" for row in ROWS)
    return f"<html><body><h1>Report</h1><table><caption>{CAPTION}</caption>{rows}</table></body></html>".encode()


MAKERS: dict[str, Callable[[], bytes]] = {
    "a.docx": word,
    "a.xlsx": workbook,
    "a.html": page,
}


@pytest.mark.parametrize("name", MAKERS)
def test_a_table_has_its_header_caption_and_unit_in_every_kind_of_file(name: str) -> None:
    (document,) = parse_bytes(MAKERS[name](), name=name)
    assert isinstance(document, Document)
    (table,) = document.tables
    grid = grid_of(document, table)
    assert grid is not None
    assert tuple(cell.text for cell in grid.header) == ROWS[0]
    assert [tuple(cell.text for cell in row) for row in grid.rows] == [
        tuple("10" if (name, cell) == ("a.xlsx", "10.0") else cell for cell in row) for row in ROWS[1:]
    ]
    assert CAPTION in [cell.text for cell in grid.around]
    assert grid.unit("Sales", "North")[0] == "million euros"
