from __future__ import annotations

from decimal import Decimal

import pytest

from thresher.structure.answers import answered
from thresher.structure.grid import Grid, grid_of, number_in
from thresher.types import Document, Table


def table(*lines: str) -> Grid:
    text, rows, start = "\n".join(lines), [], 0
    for line in lines:
        rows.append((start, start + len(line)))
        start += len(line) + 1
    grid = grid_of(Document("0" * 32, "a.csv", "a", text, "csv"), Table(0, len(text), tuple(rows)))
    assert grid is not None
    return grid


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
    grid = table("| Name | Level |", *(f"| N{at} | {cell} |" for at, cell in enumerate(cells)))
    assert [row[1].number for row in grid.rows] == list(map(Decimal, values))


def test_a_column_that_does_not_show_it_is_read_as_the_table() -> None:
    grid = table("| Name | a | b |", "| x | 12,5 | 1,286 |", "| y | 0,75 | 2,300 |")
    assert [row[2].number for row in grid.rows] == [Decimal("1.286"), Decimal("2.3")]


def test_the_highest_of_a_column_of_decimals_is_the_highest() -> None:
    grid = table("| Region | Level |", "| East | 1,286 |", "| West | 12,5 |", "| North | 0,118 |")
    found = answered(grid, "Which region has the highest level?")
    assert found is not None
    assert found.text.startswith("West")


@pytest.mark.parametrize(
    ("head", "said"),
    [
        ("Pressure (bar)", "15 bar"),
        ("Dose (mg/l)", "15 mg/l"),
        ("Price EUR", "15 EUR"),
        ("Weight kg", "15 kg"),
        ("Fare (Adult)", "15"),
        ("Full day", "15"),
        ("Speed min", "15"),
    ],
)
def test_a_number_stands_with_the_unit_of_its_column(head: str, said: str) -> None:
    grid = table(f"| Pump | {head} | Place |", "| P-1 | 12 | Rome |", "| P-2 | 15 | Bern |")
    found = answered(grid, f"What is the {head.split()[0].lower()} {' '.join(head.split()[1:]).strip('()')} of P-2?")
    assert found is not None
    assert found.text == said


def test_a_year_in_brackets_is_no_sum() -> None:
    assert number_in("(2019)") is None
