from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.structure.test_grid import grid
from tests.structure.test_tables import BRANCHES, ENERGY, RESULTS, TICKETS
from thresher.structure.answers import answered

MODELS = grid("", "| Model | Layers |\n| ViT-Base | 12 |\n| ViT-Huge | 32 |")


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("Which quarter had the highest revenue?", "Q3: 17.9 million euros"),
        ("What were the lowest costs?", "Q1: 11.0 million euros"),
        ("How much more revenue was there in Q3 than in Q2?", "17.9 - 15.8 = 2.1 million euros"),
        ("What is the difference in costs between Q1 and Q3?", "12.1 - 11.0 = 1.1 million euros"),
        ("By what percentage did revenue grow from Q2 to Q3?", "(17.9 - 15.8) / 15.8 = 13.3%"),
        ("Were costs lower in Q2 than in Q1?", "No: 11.9 - 11.0 = 0.9 million euros"),
        ("How many employees were there in all quarters together?", "210 + 214 + 220 = 644"),
        ("What are the total costs of Q1 and Q2?", "11.0 + 11.9 = 22.9 million euros"),
        ("What was the average revenue per quarter?", "(14.2 + 15.8 + 17.9) / 3 = 15.97 million euros"),
    ],
)
def test_a_result_is_worked_out_and_shown_and_total_rows_are_not_counted_in(question: str, answer: str) -> None:
    found = answered(RESULTS, question)
    assert found is not None
    assert found.text == answer


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("Which tickets are open?", "T-101, T-103"),
        ("How many tickets are open?", "2: T-101, T-103"),
        ("How many tickets are closed?", "1: T-102"),
        ("Which tickets does Anna Berg own?", "T-101, T-104"),
        ("How many hours do the open tickets have in total?", "4 + 7 = 11"),
        ("Which ticket has the most hours?", "T-103: 7"),
    ],
)
def test_rows_are_counted_and_listed_by_what_holds_for_them(question: str, answer: str) -> None:
    found = answered(TICKETS, question)
    assert found is not None
    assert found.text == answer


@pytest.mark.parametrize(
    ("table", "question", "answer"),
    [
        (BRANCHES, "How much did the revenue of South fall from 2022 to 2023?", "498 - 520 = -22 thousand US dollars"),
        (BRANCHES, "Which branch had the highest revenue in 2023?", "South: 498 thousand US dollars"),
        (ENERGY, "In which month did Plant A use the most energy?", "January: 120 MWh"),
        (ENERGY, "What is the total energy use of Plant A?", "120 + 111 = 231 MWh"),
        (MODELS, "How many more layers does ViT-Huge have than ViT-Base?", "32 - 12 = 20"),
    ],
)
def test_rows_and_columns_may_be_exchanged(table: object, question: str, answer: str) -> None:
    found = answered(table, question)  # type: ignore[arg-type]
    assert found is not None
    assert found.text == answer


@pytest.mark.parametrize(
    ("table", "question"),
    [
        (RESULTS, "Which quarter had the highest profit?"),
        (RESULTS, "Which quarter had the second highest revenue?"),
        (RESULTS, "How much more revenue was there in Q5 than in Q3?"),
        (RESULTS, "What was the total in Q3?"),
        (RESULTS, "Which quarter had the highest revenue of Bolt?"),
        (TICKETS, "How many tickets are blocked?"),
        (TICKETS, "How many tickets are not open?"),
        (TICKETS, "Who has the most tickets?"),
        (TICKETS, "What are the opening hours?"),
        (BRANCHES, "Which branch has the fewest employees?"),
        (BRANCHES, "Who is the oldest manager?"),
    ],
)
def test_what_does_not_map_onto_the_table_is_not_worked_out(table: object, question: str) -> None:
    assert answered(table, question) is None  # type: ignore[arg-type]


@given(st.lists(st.decimals(0, 10**6, places=2), min_size=2, max_size=8, unique=True))
def test_the_highest_and_the_sum_are_those_of_the_numbers(values: list[object]) -> None:
    rows = "\n".join(f"| Item{number} | {value} |" for number, value in enumerate(values, start=1))
    table = grid("", f"| Article | Weight |\n{rows}")
    highest, added = (
        answered(table, "Which article has the highest weight?"),
        answered(table, "What is the total weight?"),
    )
    assert highest is not None
    assert added is not None
    assert highest.text.endswith(f": {max(values)}")  # type: ignore[type-var]
    assert added.text.endswith(f" = {sum(values)}")  # type: ignore[call-overload]
