from __future__ import annotations

import openpyxl
import pytest

from tests.documents.making import parse_bytes, saved
from thresher.documents.formats.formulas import Formulas
from thresher.types import Document

VALUES: dict[tuple[int, int], float | str] = {(1, 1): 1200.0, (2, 1): 800.0, (3, 1): "oats", (4, 1): "#REF!"}


@pytest.mark.parametrize(
    ("formula", "value"),
    [
        ("A1-A2*2", -400.0),
        ("-(A1+$A$2)/A9", None),
        ("SUM(A1:A3,5)", 2005.0),
        ("AVERAGE(A1:A2)", 1000.0),
        ('CONCATENATE("Lars ",A3)&"!"&A2', "Lars oats!800"),
        ("SUM(A1:A4)", None),
        ("A1+A3", None),
        ("VLOOKUP(A1,A1:A3,1)", None),
        ("Other!A1", None),
        ("SUM(A1:ZZ9999999)", None),
        ("((((A1", None),
        ("B1", None),
        ("", None),
    ],
)
def test_a_simple_formula_has_a_value_and_any_other_none(formula: str, value: float | str | None) -> None:
    assert Formulas({(1, 2): formula}, VALUES).value((1, 2)) == value


def test_a_cell_without_a_stored_value_is_computed_or_says_that_it_is_not() -> None:
    book = openpyxl.Workbook()
    for row in (["Post", "Planned"], ["Paint", 1200.5], ["Ropes", 800], ["Total", "=SUM(B2:B3)"], ["Tax", "=B4^2"]):
        book.active.append(row)
    (read,) = parse_bytes(saved(book), name="a.xlsx")
    assert isinstance(read, Document)
    assert "| Total | 2000.5 |\n| Tax | (not computed) |" in read.text
    assert read.metadata["formulas_without_value"] == 1
