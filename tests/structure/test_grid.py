from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from thresher.documents.assembly import pipe_row, table_over
from thresher.structure.grid import Grid, grid_of, number_in, stated_unit, with_unit
from thresher.types import Document

BEFORE = "Results 2024\n\nResults by quarter\n\nAll amounts in million euros.\n\n"
PIPES = """| Quarter | Revenue | Employees |
|---|---:|---:|
| Q1 | 14.2 | 210 |
| Q2 | 15.8 | |"""


def document(before: str, table: str, behind: str = "") -> Document:
    text = before + table + behind
    return Document("d", "d.md", "Halden", text, "markdown", tables=(table_over(table.split("\n"), len(before)),))


def grid(before: str, table: str, behind: str = "", *, is_exact: bool = True) -> Grid:
    whole = document(before, table, behind)
    found = grid_of(whole, whole.tables[0])
    assert found is not None
    for row in (*found.rows, found.around):
        assert not is_exact or all(whole.text[cell.start : cell.end] == cell.text for cell in row)
    return found


def test_a_pipe_table_is_its_cells_with_heading_and_lead_in() -> None:
    found = grid(BEFORE, PIPES)
    assert [cell.text for cell in found.header] == ["Quarter", "Revenue", "Employees"]
    assert [[cell.text for cell in row] for row in found.rows] == [["Q1", "14.2", "210"], ["Q2", "15.8", ""]]
    assert [cell.text for cell in found.around] == ["Results by quarter", "All amounts in million euros."]
    assert found.row_form(0) == "Quarter: Q1; Revenue: 14.2; Employees: 210"
    units = [found.unit(name) for name in ("Revenue", "Employees", "Price (NOK)")]
    assert units == [("million euros", found.around[1]), ("", None), ("NOK", None)]


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
    [
        ("1,234.5", 1234.5),
        ("2 %", 2),
        ("-3", -3),
        ("€ 40", 40),
        ("12 kg", 12),
        ("2024-03-01", None),
        ("T-101", None),
        ("(2019)", None),
    ],
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
        ("Pressure (bar)", "bar"),
        ("Dose (mg/l)", "mg/l"),
        ("Price EUR", "EUR"),
        ("Weight kg", "kg"),
        ("Fare (Adult)", ""),
        ("KeepAliveTimeout num[ms]", ""),
        ("Weight(kg)", "kg"),
        ("Delivery time (days)", "days"),
        ("Full day", ""),
        ("Speed min", ""),
    ],
)
def test_a_column_has_a_unit_in_which_a_letter_is_a_scale_before_money_alone(header: str, unit: str) -> None:
    assert grid("", f"| Pump | {header} |\n| P-1 | 12 |").unit(header) == (unit, None)


@pytest.mark.parametrize(
    ("cells", "values"),
    [
        (("0,435", "1,286", "0,118", "12,5"), ("0.435", "1.286", "0.118", "12.5")),
        (("1,286", "2,450"), ("1286", "2450")),
        (("1.286", "2.450,5"), ("1286", "2450.5")),
        (("1.234.567", "12.345"), ("1234567", "12345")),
        (("1,234.5", "12,345"), ("1234.5", "12345")),
        (("1,286", "12.5"), ("1286", "12.5")),
        (("-2,300", "(500)"), ("-2300", "-500")),
        (("−2,5", "3,25 €"), ("-2.5", "3.25")),
    ],
)
def test_a_column_decides_what_its_commas_are(cells: tuple[str, ...], values: tuple[str, ...]) -> None:
    found = grid("", "\n".join(["| Name | Level |", *(f"| N{at} | {cell} |" for at, cell in enumerate(cells))]))
    assert [row[1].number for row in found.rows] == list(map(Decimal, values))


def test_a_column_that_does_not_show_it_is_read_as_the_table() -> None:
    found = grid("", "| Name | a | b |\n| x | 12,5 | 1,286 |\n| y | 0,75 | 2,300 |")
    assert [row[2].number for row in found.rows] == [Decimal("1.286"), Decimal("2.3")]


@pytest.mark.parametrize(
    ("lines", "header", "last"),
    [
        (
            "System Dev Test\nEM F1 EM F1\nBiDAF (Single) - 85.6 - 85.8\nOurs (Large) 84.1 90.9 85.1 91.8",
            ["", "Dev EM", "Dev F1", "Test EM", "Test F1"],
            ["Ours (Large)", "84.1", "90.9", "85.1", "91.8"],
        ),
        (
            "Model Layers Hidden size D MLP size Params\nViT-Base 12 768 3072 86M\nViT-Huge 32 1280 5120 632M",
            ["Model", "Layers", "Hidden size D", "MLP size", "Params"],
            ["ViT-Huge", "32", "1280", "5120", "632M"],
        ),
        ("Model EM F1\n\nA-1 80.1 85.2\n\nA-2 82.3 88.0", ["Model", "EM", "F1"], ["A-2", "82.3", "88.0"]),
    ],
)
def test_numbers_at_the_end_of_a_line_are_the_cells_of_a_paper(lines: str, header: list[str], last: list[str]) -> None:
    found = grid("", lines, "\n\nTable 2: what was measured.\n")
    assert [cell.text for cell in found.header] == header
    assert [cell.text for cell in found.rows[-1]] == last
    assert [cell.text for cell in found.around] == ["Table 2: what was measured."]


@pytest.mark.parametrize(
    "lines",
    [
        "Size Layers Heads\n1B 16 16\n7B 32 32",
        "Size Layers Hidden Size Attention Heads\n1B 16 2048 16\n7B 32 4086 32\n13B 40 5120 40",
    ],
)
def test_names_of_columns_that_do_not_fit_the_cells_make_no_table(lines: str) -> None:
    whole = document("", lines)
    assert grid_of(whole, whole.tables[0]) is None
