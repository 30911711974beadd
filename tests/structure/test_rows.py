from __future__ import annotations

import pytest

from tests.structure.test_grid import document, grid
from thresher.structure.answers import answered
from thresher.structure.grid import grid_of
from thresher.structure.records import records_of
from thresher.types import Document

ALLOWANCES = grid(
    "Travel\n\nTable 1: Daily allowances by country, in euros\n\n",
    """| Country | Full day | Half day | Hotel limit |
| Denmark | 58 | 39 | 190 |
| Estonia | 31 | 21 | 110 |
| Norway | 64 | 43 | 205 |""",
)
PARTS = grid(
    "Parts in the store\n\n",
    """| Part | Description | Price in euros | In stock | Shelf |
| HM-1 | bilge pump 24 V | 189.0 | 12 | B3 |
| HM-2 | bilge pump 12 V | 164.5 | 4 | B3 |
| HM-3 | anchor chain 10 mm | 9.8 | 300 | C1 |""",
)
CODES = grid("Error codes\n\n", "| Code | Meaning |\n| E1 | motor too hot |\n| E2 | oil level low |")
SEGMENTS = grid(
    "Revenue by segment, in million euros\n\n",
    """| Segment | Q3 2023 | Q2 2024 | Q3 2024 |
| New boats | 9.8 | 11.2 | 12.6 |
| Refit and repair | 4.1 | 3.9 | 3.7 |
| Charter | 2.9 | 2.2 | 2.8 |""",
)
LOANS = grid("Loans\n\n", "| Quarter | New loans |\n| January to March | 820 |\n| April to June | 910 |")
BUDGET = grid(
    "Budget by department, in thousand euros\n\n",
    "| Department | Q1 | Q2 |\n| Boatyard | 412 | 155 |\n| Charter | 188 | 464 |\n| Marketing | 64 | 97 |",
)


@pytest.mark.parametrize(
    ("table", "question", "answer"),
    [
        (ALLOWANCES, "What is the daily allowance for Norway?", "Norway: Full day 64 euros, Half day 43 euros, Hotel"),
        (
            ALLOWANCES,
            "What are the allowances for Estonia and Norway?",
            "Estonia: Full day 31 euros, Half day 21 euros",
        ),
        (SEGMENTS, "Revenue of the refit segment in Q3?", "Refit and repair: Q3 2023 4.1 million euros, Q3 2024 3.7"),
        (PARTS, "How much does a bilge pump cost?", "bilge pump 24 V: 189.0 euros; bilge pump 12 V: 164.5 euros"),
        (LOANS, "New loans in the second quarter?", "910"),
        (PARTS, "How many bilge pumps are in stock?", "bilge pump 24 V: 12; bilge pump 12 V: 4"),
    ],
)
def test_rows_that_are_named_without_one_column_or_in_part_are_told_with_the_names_of_their_columns(
    table: object, question: str, answer: str
) -> None:
    found = answered(table, question)  # type: ignore[arg-type]
    assert found is not None
    assert found.text.startswith(answer)


def test_a_column_without_a_row_is_told_row_by_row() -> None:
    found = answered(ALLOWANCES, "What is the hotel limit?")
    assert found is not None
    assert found.text == "Denmark: 190 euros; Estonia: 110 euros; Norway: 205 euros"


def test_a_name_of_a_row_alone_is_told_its_row() -> None:
    for question in ("Norway", "and what about Norway?", "Norway?"):
        found = answered(ALLOWANCES, question)
        assert found is not None
        assert found.text == "Norway: Full day 64 euros, Half day 43 euros, Hotel limit 205 euros"


@pytest.mark.parametrize("question", ["How much does the spa cost?", "What is the price of parking?", "Towel price?"])
def test_what_a_sentence_above_a_table_speaks_of_is_no_row_of_it(question: str) -> None:
    prose = "Parking costs 25 euros a night. The spa costs 40 euros, the towel 2 euros.\n\n"
    rooms = "| Room | Price |\n| Oak | 145 |\n| Elm | 69 |"
    assert answered(grid(prose, rooms), question) is None
    assert answered(grid(prose, rooms), "What is the price of the rooms?") is not None


def test_a_list_of_what_the_first_column_holds_is_all_its_rows() -> None:
    found = answered(CODES, "List the error codes")
    assert found is not None
    assert found.text == "E1 (motor too hot); E2 (oil level low)"


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("Is the hotel limit for Norway 205?", "Yes: 205 euros"),
        ("Is the hotel limit for Norway 190?", "No: 205 euros"),
    ],
)
def test_a_number_that_is_asked_about_is_compared_with_its_cell(question: str, answer: str) -> None:
    found = answered(ALLOWANCES, question)
    assert found is not None
    assert found.text == answer


def test_what_the_caption_measures_is_highest_where_it_is_in_every_column() -> None:
    found = answered(ALLOWANCES, "Which country has the highest daily allowance and how much is it?")
    assert found is not None
    assert found.text == "Norway: Full day 64 euros, Half day 43 euros, Hotel limit 205 euros"


def test_where_no_row_is_highest_in_every_quarter_their_sums_are_compared() -> None:
    found = answered(BUDGET, "Which department has the largest budget?")
    assert found is not None
    assert found.text == "Charter: 188 + 464 = 652 thousand euros"


def test_the_lowest_of_a_row_is_the_name_of_its_period() -> None:
    found = answered(SEGMENTS, "In which quarter was charter revenue lowest?")
    assert found is not None
    assert found.text == "Q2 2024: 2.2 million euros"


def test_an_object_of_numbers_in_json_is_a_table_of_names_and_numbers() -> None:
    text = "gusts_2024.Old Mole: 118\ngusts_2024.North Beacon: 141\ngusts_2024.Gannet Rock: 156"
    document = Document("d", "stations.json", "stations", text, "json")
    (table,) = records_of(document)
    found = answered(table, "Which station had the highest gust in 2024?")
    assert found is not None
    assert found.text == "Gannet Rock: 156"


@pytest.mark.parametrize(
    ("table", "question"),
    [
        (ALLOWANCES, "What is the meal allowance in Norway?"),
        (ALLOWANCES, "What is the daily allowance for Sweden?"),
        (ALLOWANCES, "What is Norway?"),
        (ALLOWANCES, "Who pays the allowance in Norway?"),
        (ALLOWANCES, "Is the hotel limit in Norway more than 100?"),
        (PARTS, "How much is the bilge pump 48 V?"),
        (PARTS, "How much does a fire pump cost?"),
        (PARTS, "Which parts are on shelf B4?"),
        (SEGMENTS, "What did the new boats cost?"),
        (SEGMENTS, "What was the profit of Charter?"),
        (SEGMENTS, "Revenue of the refit segment in Q3 2021?"),
        (CODES, "List the error codes of the pump"),
    ],
)
def test_what_a_table_does_not_say_is_not_told(table: object, question: str) -> None:
    assert answered(table, question) is None  # type: ignore[arg-type]


PHONES = grid(
    "Phones\n\n",
    """| Name | Department | Extension |
| Anna Berg | Finance | 4410 |
| Anna Bergh | Legal | 4419 |
| John Smith | Sales | 3301 |
| John Smith | Purchasing | 3377 |""",
)
PRICES = grid(
    "Prices\n\n", "| Product | Price 2023 | Price net | Price gross |\n| Lamp | 12 | 9 | 11 |\n| Chair | 44 | 36 | 43 |"
)
_SALES = document(
    "Sales\n\n",
    """| Region | Sales |
| Europe | |
| North | 10 |
| South | 20 |
| Asia | |
| North | 33 |
| Total | 63 |""",
)
SALES = grid_of(_SALES, _SALES.tables[0])


@pytest.mark.parametrize(
    ("table", "question", "answer"),
    [
        (PHONES, "What is the extension of Anna Berg?", "4410"),
        (PHONES, "What is the extension of John Smith?", "John Smith Sales: 3301; John Smith Purchasing: 3377"),
        (PHONES, "What is the extension of John Smith in Purchasing?", "3377"),
        (PRICES, "What is the price of the lamp?", "Lamp: Price 2023 12, Price net 9, Price gross 11"),
        (PRICES, "What is the gross price of the lamp?", "11"),
        (SALES, "What are the sales in the north of Asia?", "33"),
        (SALES, "What are the sales in the North?", "Europe North: 10; Asia North: 33"),
        (SALES, "What are the total sales?", "63"),
    ],
)
def test_of_look_alike_rows_and_columns_each_is_told_with_what_tells_it_apart(
    table: object, question: str, answer: str
) -> None:
    found = answered(table, question)  # type: ignore[arg-type]
    assert found is not None
    assert found.text == answer
