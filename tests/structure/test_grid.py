from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from thresher.documents.assembly import pipe_row, table_over
from thresher.structure.grid import Cell, Grid, grid_of, number_in, stated_unit, with_unit
from thresher.types import Document

BEFORE = "Results 2024\n\nResults by quarter\n\nAll amounts in million euros.\n\n"
PIPES = """| Quarter | Revenue | Employees |
|---|---:|---:|
| Q1 | 14.2 | 210 |
| Q2 | 15.8 | |"""
PAPER = """System Dev Test
EM F1 EM F1
Published
BiDAF (Single) - 85.6 - 85.8
Reader (Ensemble) 81.2 87.9 82.3 88.5
Ours (Large) 84.1 90.9 85.1 91.8"""


def document(before: str, table: str, behind: str = "") -> Document:
    text = before + table + behind
    return Document("d", "d.md", "Halden", text, "markdown", tables=(table_over(table.split("\n"), len(before)),))


def grid(before: str, table: str, behind: str = "") -> Grid:
    whole = document(before, table, behind)
    found = grid_of(whole, whole.tables[0])
    assert found is not None
    for row in (*found.rows, found.around):
        assert all(whole.text[cell.start : cell.end] == cell.text for cell in row)
    return found


def test_a_pipe_table_is_its_cells_with_heading_and_lead_in() -> None:
    found = grid(BEFORE, PIPES)
    assert [cell.text for cell in found.header] == ["Quarter", "Revenue", "Employees"]
    assert [[cell.text for cell in row] for row in found.rows] == [["Q1", "14.2", "210"], ["Q2", "15.8", ""]]
    assert [cell.text for cell in found.around] == ["Results by quarter", "All amounts in million euros."]
    assert found.row_form(0) == "Quarter: Q1; Revenue: 14.2; Employees: 210"


def test_the_unit_of_the_lead_in_is_not_that_of_what_is_counted() -> None:
    found = grid(BEFORE, PIPES)
    assert found.unit("Revenue")[0] == "million euros"
    assert found.unit("Employees") == ("", None)
    assert found.unit("Price (NOK)") == ("NOK", None)


def test_numbers_at_the_end_of_a_line_are_the_cells_of_a_paper() -> None:
    found = grid("", PAPER, "\n\nTable 2: SQuAD 1.1 results.\n")
    assert [cell.text for cell in found.rows[1]] == ["Reader (Ensemble)", "81.2", "87.9", "82.3", "88.5"]
    assert [cell.text for cell in found.around] == ["Table 2: SQuAD 1.1 results."]


def test_names_of_columns_that_do_not_fit_the_cells_make_no_table() -> None:
    whole = document("", "Size Layers Hidden Size Attention Heads\n1B 16 2048 16\n7B 32 4086 32\n13B 40 5120 40")
    assert grid_of(whole, whole.tables[0]) is None


def test_a_table_is_parsed_once_and_that_of_another_document_with_the_same_id_anew() -> None:
    one, other = document(BEFORE, PIPES), document(BEFORE, PIPES.replace("14.2", "19.9"))
    first, second = (grid_of(whole, whole.tables[0]) for whole in (one, other))
    assert first is grid_of(one, one.tables[0])
    assert first != second


@given(st.lists(st.lists(st.text("ab1| \\", min_size=1).filter(str.strip), min_size=3, max_size=3), min_size=2))
def test_every_cell_that_was_written_is_read_again(rows: list[list[str]]) -> None:
    rows = [[" ".join(cell.replace("\\", "/").split()) for cell in row] for row in rows]
    found = grid("", "\n".join(map(pipe_row, rows)).replace("\\|", "!"))
    assert [[cell.text for cell in row] for row in (found.header, *found.rows)] == [
        [cell.replace("|", "!") for cell in row] for row in rows
    ]


@pytest.mark.parametrize(
    ("text", "unit"),
    [
        ("All amounts in million euros.", "million euros"),
        ("Figures in thousand US dollars unless stated otherwise.", "thousand US dollars"),
        ("Table 3: Sales (EUR m)", "million EUR"),
        ("Market share 2023 (percent)", "percent"),
        ("Figures in MWh", "MWh"),
        ("Doses in mg per day.", "mg"),
        ("Table 2: Population (millions)", "million"),
        ("Changes in a week in May", ""),
        ("Table 1: GLUE results, scored in 2018", ""),
        ("The board met in May.", ""),
    ],
)
def test_a_unit_is_read_where_one_is_stated(text: str, unit: str) -> None:
    assert stated_unit(text) == unit


@pytest.mark.parametrize(
    ("text", "number"),
    [("1,234.5", 1234.5), ("2 %", 2), ("-3", -3), ("€ 40", 40), ("12 kg", 12), ("2024-03-01", None), ("T-101", None)],
)
def test_a_number_is_a_cell_that_is_nothing_else(text: str, number: float | None) -> None:
    assert number_in(text) == number


def test_a_value_with_a_unit_of_its_own_keeps_it() -> None:
    assert with_unit("17.9", "million euros") == "17.9 million euros"
    assert with_unit("5 USD", "million euros") == "5 USD"
    assert with_unit("+47 11 22 33", "MWh") == "+47 11 22 33"


@pytest.mark.parametrize(
    ("header", "unit"),
    [
        ("Width (mm)", "mm"),
        ("Width (m)", "m"),
        ("Depth in m", "m"),
        ("Weight (kg)", "kg"),
        ("Area (km²)", "km²"),
        ("Revenue (m)", "million"),
        ("Population (m)", "million"),
        ("Revenue (EUR m)", "million EUR"),
        ("Price (kEUR)", "thousand EUR"),
        ("Power (million kWh)", "million kWh"),
    ],
)
def test_a_letter_is_a_scale_before_money_and_a_unit_elsewhere(header: str, unit: str) -> None:
    names = (Cell("Name", 0, 4), Cell(header, 5, 5 + len(header)))
    assert Grid(names, ((Cell("Plank", 40, 45), Cell("450", 46, 49)),)).unit(header) == (unit, None)
