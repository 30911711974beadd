from __future__ import annotations

import pytest

from tests.structure.test_grid import grid
from thresher.structure.answers import answered, looked_up
from thresher.structure.grid import Grid
from thresher.structure.lookup import lacking

RESULTS = grid(
    "Results by quarter\n\nAll amounts in million euros.\n\n",
    """| Quarter | Revenue | Costs | Employees |
| Q1 | 14.2 | 11.0 | 210 |
| Q2 | 15.8 | 11.9 | 214 |
| Q3 | 17.9 | 12.1 | 220 |
| Total | 47.9 | 35.0 | |""",
)
BRANCHES = grid(
    "Branches\n\nFigures in thousand US dollars.\n\n",
    """| Branch | Manager | City | Revenue 2022 | Revenue 2023 |
| North | Ines Cole | Stonebridge | 410 | 455 |
| South | Tom Reed | Oakridge | 520 | 498 |""",
)
LITRES = grid("", "| Plant | Litres a week |\n| Tomato | 7 |\n| Basil | 2 |")
MEASURES = grid("", "| Measure | 2022 | 2023 |\n| Revenue (EUR) | 5 | 6 |\n| Visitors | 70 | 80 |")


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("What was revenue in Q3?", "17.9 million euros"),
        ("What were the costs in the second quarter?", "11.9 million euros"),
        ("How many employees were there in Q1?", "210"),
        ("What was the total revenue?", "47.9 million euros"),
    ],
)
def test_a_cell_is_found_by_its_row_and_column(question: str, answer: str) -> None:
    found = looked_up(RESULTS, question)
    assert found is not None
    assert found.text == answer


@pytest.mark.parametrize(
    "question",
    [
        "What was revenue in Q5?",
        "What was the profit in Q3?",
        "What were the marketing costs in Q3?",
        "What was the revenue of Bolt in Q3?",
        "What was revenue before Q3?",
        "What was revenue in Q3 of 2019?",
        "What was revenue?",
        "What were revenue and costs in Q3?",
        "How many employees does it have in total?",
    ],
)
def test_what_the_table_does_not_say_is_not_answered(question: str) -> None:
    assert looked_up(RESULTS, question) is None


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("Who manages the North branch?", "Ines Cole"),
        ("Who is in charge of South?", None),
        ("Where is the South branch?", "Oakridge"),
        ("What was South's revenue in 2023?", "498 thousand US dollars"),
        ("What was South's revenue in 2021?", None),
        ("What was the revenue of South?", None),
        ("Which branch is in Oakridge?", "South"),
    ],
)
def test_words_of_the_question_find_persons_places_and_years(question: str, answer: str | None) -> None:
    found = looked_up(BRANCHES, question)
    assert (found and found.text) == answer


CLAIMS = grid(
    "Claims of March\n\n",
    """| name | city | age | claim |
| Ada | Paris | 36 | stolen bike |
| Bruno | Lyon | 41 | water damage |
| Clara | Oslo | 29 | broken window |""",
)


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("What is Ada's city?", "Paris"),
        ("Who lives in Paris?", "Ada"),
        ("Where does Bruno live?", "Lyon"),
        ("How old is Ada?", "36"),
        ("Which customer had a stolen bike?", "Ada"),
        ("Who had water damage?", "Bruno"),
        ("Which customer is 29 years old?", "Clara"),
        ("Who lives in Berlin?", None),
        ("How tall is Ada?", None),
        ("How old is Dora?", None),
        ("Which doctor lives in Paris?", None),
        ("Who does not live in Paris?", None),
    ],
)
def test_a_row_is_found_by_any_cell_and_a_column_by_what_is_said_of_it(question: str, answer: str | None) -> None:
    found = answered(CLAIMS, question)
    assert (found and found.text) == answer


def test_a_table_may_have_its_measures_in_rows() -> None:
    found = looked_up(MEASURES, "What was the revenue in 2023?")
    assert found is not None
    assert found.text == "6 EUR"


def test_a_period_that_the_table_lacks_is_named() -> None:
    assert lacking(RESULTS, "What was revenue in Q5?", "The board met on 5 May.") == "Q5"
    assert lacking(RESULTS, "What was revenue in Q3?", "") == ""
    assert lacking(MEASURES, "What was the revenue in 2021?", "Founded in 2021.") == "2021"
    assert lacking(LITRES, "How many litres a week does mint need?", "Basil and tomato.") == "mint"
    assert lacking(LITRES, "How many litres a week does basil need?", "Basil and tomato.") == ""
    assert lacking(BRANCHES, "What was the revenue of East in 2023?", "The eastern branch") == "East"


@pytest.mark.parametrize("question", ["How do I plant tomatoes?", "What is a tomato?", "Why does basil need litres?"])
def test_steps_reasons_and_descriptions_are_not_answered_with_a_number(question: str) -> None:
    assert answered(LITRES, question) is None


RATES = grid(
    "Fine-tuning of deep transformers\n\n",
    "| Batch size | Learning rate (Adam) | Epochs |\n| 16, 32 | 5e-5, 3e-5, 2e-5 | 2, 3, 4 |",
)
WINS = grid("Wins by method\n\n", "| Measure | DPO | SFT |\n| Respondents | 272 | 122 |\n| Wins in % | 47 | 27 |")
CODES = grid("Error codes\n\n", "| Code | Meaning |\n| E5 | the fan is blocked |\n| E6 | no coolant |")


@pytest.mark.parametrize(
    ("table", "question", "answer"),
    [
        (RATES, "What is a transformer in deep learning?", None),
        (WINS, "What is DPO?", None),
        (CODES, "What is E5?", "the fan is blocked"),
        (CODES, "What does E6 mean?", "no coolant"),
    ],
)
def test_what_a_thing_is_a_row_of_that_name_says_and_no_column(table: Grid, question: str, answer: str | None) -> None:
    found = answered(table, question)
    assert answer is None if found is None else answer is not None and answer in found.text
