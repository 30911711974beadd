from __future__ import annotations

import pytest

from thresher.structure.answers import answered
from thresher.structure.forms import records_of
from thresher.structure.grid import Grid
from thresher.types import Document

INVOICE = """Invoice HX-17

Harbour Supply, 3 Kiln Road.

Customer: Fernhill Clinic

Invoice number: HX-17

Invoice date: 9 January 2024

Net amount: 476.80 euros

Value added tax 20 percent: 95.36 euros

Total to pay: 572.16 euros

Thank you for your order."""
STATIONS = """stations.0.name: North Beacon
stations.0.highest_gust_kmh: 141
stations.1.name: Slipway
stations.1.highest_gust_kmh: 97"""


def records(of: Document) -> list[Grid]:
    return list(records_of(of, 0, len(of.text)))


def document(text: str, title: str) -> Document:
    return Document("d", "d", title, text, "text")


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("What is the total of invoice HX-17?", "572.16 euros"),
        ("Who is the customer of HX-17?", "Fernhill Clinic"),
        ("VAT on HX-17?", "95.36 euros"),
        ("What is the invoice date of HX-17?", "9 January 2024"),
        ("What is the total of invoice HX-18?", None),
        ("What is the discount of HX-17?", None),
        ("When was HX-17 paid?", None),
    ],
)
def test_a_form_is_a_table_of_one_row(question: str, answer: str | None) -> None:
    (form,) = records(document(INVOICE, "Invoice HX-17"))
    found = answered(form, question)
    assert (found and found.text) == answer
    assert all(INVOICE[cell.start : cell.end] == cell.text for cell in (*form.header, *form.rows[0]))


def test_numbered_paths_are_rows() -> None:
    (table,) = records(document(STATIONS, "stations"))
    assert [cell.text for cell in table.header] == ["name", "highest gust kmh"]
    found = answered(table, "What is the highest gust of Slipway?")
    assert found is not None
    assert found.text == "97"


def test_a_colon_or_two_make_no_form() -> None:
    assert records(document("Note: it rains.\n\nIt was late. He said: go.\n\nWarning: wet.", "x")) == []


def test_the_amount_that_is_due_is_no_date() -> None:
    text = "Customer: Harbour Ltd\nInvoice: 1042\nPayment date: 2 April 2025\nDue date: 2 May 2025"
    (form,) = records(document(text, "Invoice 1042"))
    assert answered(form, "What is the amount due from Harbour Ltd?") is None
