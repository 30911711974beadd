from __future__ import annotations

import pytest

from thresher.structure.answers import answered, form_near, grids_near
from thresher.types import Document

ORDER = """ORDER K-12

Skerrow Hire, Boathouse 4. Open daily.

Customer: Foss Scout Group

Order number: K-12

Order date: 6 May 2024

Delivered on: 9 May 2024

Equipment, prices in euros per week
Item    Number  Price   Amount
tent    12      18.00   216.00
stove   6       7.00    42.00

Discount: 12 percent

Deposit: 80.00

Please pay by 23 May 2024. Thank you."""


def filled(question: str, text: str = ORDER) -> str | None:
    document = Document("d", "d", "Order K-12", text, "text")
    form = form_near(document, 0, len(text))
    found = None if form is None else answered(form, question)
    return None if found is None else found.text


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("What did the Foss Scout Group hire?", "tent, stove"),
        ("What is the due date of order K-12?", "23 May 2024"),
        ("How many tents did Foss Scout Group order in May?", "12"),
        ("What does one stove cost on K-12?", "7.00 euros"),
        ("When were the goods of K-12 delivered?", "9 May 2024"),
        ("Which customer ordered a tent?", "Foss Scout Group"),
        ("on which order are the stoves", "K-12"),
        ("Which items are on K-12?", "tent, stove"),
    ],
)
def test_a_question_finds_its_field_item_or_cell(question: str, answer: str) -> None:
    assert filled(question) == answer


BILL = """Invoice 1042

Customer: Harbour Ltd
Date: 3 March 2025

Pump: 400.00 EUR
Subtotal: 400.00 EUR
Total: 484.00 EUR
Due date: 2 April 2025"""


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("What must Harbour Ltd pay?", "484.00 EUR"),
        ("What is the amount due from Harbour Ltd?", "484.00 EUR"),
        ("How much does Harbour Ltd have to pay in total?", "484.00 EUR"),
        ("By when must Harbour Ltd pay?", "2 April 2025"),
        ("What must Lindgren Events pay?", None),
        ("What must Harbour Ltd pay for the hose?", None),
        ("What did Harbour Ltd pay in May?", None),
    ],
)
def test_what_is_to_be_paid_is_the_total_of_that_customers_form(question: str, answer: str | None) -> None:
    assert filled(question, BILL) == answer
    of_two = BILL.replace("Total: 484.00", "Total: 500.00 EUR\nAmount due: 484.00")
    assert filled(question, of_two) == answer


@pytest.mark.parametrize(
    "question",
    [
        "What discount did Lindgren Events get?",  # another customer
        "How many tents did Foss Scout Group order in June?",
        "When did Foss Scout Group pay K-12?",  # it says when they have to
        "Why was K-12 late?",
    ],
)
def test_a_question_with_a_word_that_the_form_does_not_say_is_left_to_others(question: str) -> None:
    assert filled(question) is None


def test_a_text_with_few_fields_is_no_form() -> None:
    assert filled("When is it?", "Note: bring a coat.\n\nThe walk begins at nine.") is None


def test_aligned_lines_of_plain_text_are_a_table() -> None:
    document = Document("d", "d", "Order K-12", ORDER, "text")
    grid = next(grid for grid in grids_near(document, 0, len(ORDER)) if len(grid.rows) == 2)
    assert [cell.text for cell in grid.header] == ["Item", "Number", "Price", "Amount"]
    assert grid.around[0].text.startswith("Equipment")
    assert all(ORDER[cell.start : cell.end] == cell.text for row in grid.rows for cell in row)


def test_aligned_lines_of_source_code_are_no_table() -> None:
    rows = ["id,          -- Key", "minX, maxX,  -- Least and most X", "minY, maxY   -- Least and most Y"]
    code = "\n  ".join(["CREATE TABLE box(", *rows]) + "\n);"
    assert not list(grids_near(Document("d", "d", "Boxes", code, "text"), 0, len(code)))


WARRANTY = """Capacity: 300 litres
Power: 3 kW
Weight: 84 kg

The warranty does not cover damage by limescale, frost or water of more than 20 degrees of hardness."""


def test_a_field_does_not_answer_whether_and_what_something_is_done_by_is_no_date() -> None:
    assert filled("Does the warranty cover damage by frost?", WARRANTY) is None
    assert filled("What does the warranty cover damage by?", WARRANTY) is None
    assert filled("Is order K-12 due?") is None
