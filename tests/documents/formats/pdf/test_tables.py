from __future__ import annotations

import io
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from reportlab.graphics.charts.barcharts import VerticalBarChart
from reportlab.graphics.shapes import Drawing
from reportlab.lib import colors
from reportlab.lib.styles import getSampleStyleSheet
from reportlab.pdfgen import canvas
from reportlab.platypus import Flowable, Paragraph, SimpleDocTemplate, Spacer, Table

from tests.documents.making import read_one, rows_of, save
from thresher.structure.grid import grid_of
from thresher.types import Document

BODY = getSampleStyleSheet()["BodyText"]
GRID = ("GRID", (0, 0), (-1, -1), 0.5, colors.black)
BELOW = ("LINEBELOW", (0, 0), (-1, -1), 0.5, colors.black)
CREW = [["Task", "Person", "Tool"], ["Dressing", "Hugo Brandt", "Pick"], ["Sieving", "Irma Solis", "Silk frame"]]
PROSE = "A mason looked at the arch and found a crack as wide as a thumb, and the council closed it for carts. "


def made(folder: Path, *parts: Flowable) -> Document:
    buffer = io.BytesIO()
    SimpleDocTemplate(buffer, invariant=1).build(list(parts))
    return read_one(save(folder, "a.pdf", buffer.getvalue()))


def text(words: str) -> Paragraph:
    return Paragraph(words, BODY)


def table(rows: Sequence[Sequence[Any]], *style: Any, **options: Any) -> Table:
    return Table([list(row) for row in rows], style=list(style), **options)


def piped(*rows: Sequence[str]) -> list[str]:
    return [f"| {' | '.join(row)} |" for row in rows]


ZEBRA = ("ROWBACKGROUNDS", (0, 0), (-1, -1), [colors.lightgrey, colors.white])
RULES = [("LINEABOVE", (0, 0), (-1, 0), 1, colors.black), ("LINEBELOW", (0, 0), (-1, 0), 0.5, colors.black)]
ENDED = [*RULES, ("LINEBELOW", (0, -1), (-1, -1), 1, colors.black)]


@pytest.mark.parametrize("style", [[GRID], [BELOW], [ZEBRA], ENDED], ids=["grid", "below", "zebra", "rules"])
def test_a_table_of_words_is_read_as_cells_however_it_is_ruled(style: list[Any], tmp_path: Path) -> None:
    document = made(tmp_path, text("The crew of the mill:"), table(CREW, *style), text("It rests on Sundays."))
    assert rows_of(document) == piped(*CREW)
    assert document.text.startswith("The crew of the mill:\n\n|")
    assert "|\n\nIt rests on Sundays." in document.text


def test_small_tables_below_each_other_stay_apart(tmp_path: Path) -> None:
    tables = [[["Bus", "Driver"], ["Line A", "Greta Lund"]], [["Tram", "Driver"], ["Line A", "Piet Vos"]]]
    document = made(tmp_path, *(part for rows in tables for part in (table(rows, GRID), Spacer(1, 5))))
    assert [rows_of(document, number) for number in (0, 1)] == [piped(*rows) for rows in tables]


def test_a_cell_of_several_lines_is_one_and_lines_of_numbers_are_rows(tmp_path: Path) -> None:
    long = "Soups of beans and of barley, in small amounts"
    rows = [["Herb", "Use"], ["Lovage", text(long)], ["Tansy", "None"]]
    assert rows_of(made(tmp_path, table(rows, GRID, colWidths=[80, 110])))[1] == f"| Lovage | {long} |"
    numbers = [["Year", "Boats"], ["1990\n1991\n1992", "31\n35\n28"]]
    assert rows_of(made(tmp_path, table(numbers, GRID)))[1:] == piped(["1990", "31"], ["1991", "35"], ["1992", "28"])


def test_a_cell_over_several_stands_in_each(tmp_path: Path) -> None:
    rows = [
        ["Day", "Morning", "", "Evening", ""],
        ["", "Baker", "Helper", "Baker", "Helper"],
        ["Monday", "Ugo", "Pia", "Sten", "Zoe"],
        ["Tuesday", "Ida", "Raul", "Wim", "Eva"],
        ["", "Lars", "Tess", "Finn", "Gia"],
    ]
    spans = [((0, 0), (0, 1)), ((1, 0), (2, 0)), ((3, 0), (4, 0)), ((0, 3), (0, 4))]
    document = made(tmp_path, table(rows, GRID, *(("SPAN", *span) for span in spans)))
    names = ["Day", "Morning / Baker", "Morning / Helper", "Evening / Baker", "Evening / Helper"]
    tuesdays = ["Tuesday", "Ida", "Raul", "Wim", "Eva"], ["Tuesday", "Lars", "Tess", "Finn", "Gia"]
    assert rows_of(document) == piped(names, rows[2], *tuesdays)


LONG = [["Boat", "Berth"], *([f"Boat {number}", f"Pier {number % 7}"] for number in range(60))]


@pytest.mark.parametrize("style", [[GRID], [BELOW], ENDED], ids=["grid", "below", "rules"])
@pytest.mark.parametrize("repeated", [0, 1])
def test_a_table_over_two_pages_is_one(style: list[Any], repeated: int, tmp_path: Path) -> None:
    document = made(tmp_path, text("Boats:"), table(LONG, *style, repeatRows=repeated), text("Kept by the harbour."))
    assert rows_of(document) == piped(*LONG)
    assert len(document.tables) == 1
    assert document.page_at(document.text.index("Boat 59")) == 2
    grid = grid_of(document, document.tables[0])
    assert grid is not None
    assert [cell.text for cell in grid.rows[-1]] == ["Boat 59", "Pier 3"]


def columns_of_prose() -> Flowable:
    return table([[text(PROSE * 8), text(PROSE * 8)]], ("LINEABOVE", (0, 0), (-1, 0), 1, colors.black), BELOW)


def chart() -> Flowable:
    drawing, bars = Drawing(400, 200), VerticalBarChart()
    bars.x, bars.y, bars.width, bars.height = 50, 50, 300, 125
    bars.data = [(13, 5, 20, 22), (14, 6, 21, 23)]
    bars.valueAxis.visibleGrid = True
    drawing.add(bars)
    return drawing


NO_TABLES = {
    "columns of prose": columns_of_prose,
    "boxes side by side": lambda: table([[text(PROSE * 4), text(PROSE * 4)]], GRID),
    "a box": lambda: table([[text(PROSE * 3)]], GRID),
    "a listing": lambda: table(
        [[f"{line + 1}   total = total + {line}"] for line in range(8)], ("BOX", (0, 0), (-1, -1), 1, colors.black)
    ),
    "a chart": chart,
    "references": lambda: text(
        "<br/>".join(f"[{n}] A. Author. Of bridges, part {n}. Arches, {1990 + n}." for n in range(9))
    ),
}


@pytest.mark.parametrize("what", NO_TABLES)
def test_what_is_no_table_is_not_read_as_one(what: str, tmp_path: Path) -> None:
    assert "|" not in made(tmp_path, text(PROSE), NO_TABLES[what](), text(PROSE)).text


def test_a_word_over_the_edge_of_a_coloured_box_makes_no_table(tmp_path: Path) -> None:
    buffer = io.BytesIO()
    page = canvas.Canvas(buffer, invariant=1)
    for column in range(8):
        for row in range(3):
            page.setFillGray(0.5 + column / 20)
            page.rect(72 + 30 * column, 700 - 20 * row, 30, 20, stroke=0, fill=1)
            page.setFillGray(0)
            page.drawString(60 + 30 * column, 705 - 20 * row, "token")
    page.save()
    assert "|" not in read_one(save(tmp_path, "a.pdf", buffer.getvalue())).text
