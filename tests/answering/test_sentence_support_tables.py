from __future__ import annotations

from tests.generation.answerers.test_tables import piece
from thresher.answering.sentence_support import sentence_around
from thresher.types import COSINE, Score


def test_a_place_in_a_table_is_quoted_with_its_row_and_no_other() -> None:
    rows = piece("| Q1 | 14.2 | 11.0 |\n| Q2 | 15.8 | 11.9 |\n| Q3 | 17.9 | 12.1 |")
    at = rows.text.index("15.8")
    assert sentence_around(rows, at, at + 4, Score(0.5, COSINE)).text == "| Q2 | 15.8 | 11.9 |"
