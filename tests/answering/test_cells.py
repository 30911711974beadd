"""Cells of tables as answers."""

from __future__ import annotations

from dataclasses import replace

from tests.answering.tables import OTHER, RESULTS, documents, piece
from thresher.answering.proposers.cells import CellFinder, Holds
from thresher.types import Citation, Document, Evidence


def everything(document_id: str, start: int, end: int) -> bool:
    return True


def answer(
    question: str, *evidence: Evidence, known: tuple[Document, ...] = (RESULTS, OTHER), holds: Holds = everything
) -> tuple[str, tuple[Citation, ...]] | None:
    return CellFinder(question, evidence, {one.id: one for one in known}).answer(holds)


def test_a_cell_is_answered_with_its_unit_its_row_and_the_line_of_the_unit() -> None:
    found = answer("What was revenue in Q3?", piece("| Quarter | Revenue | Costs |"))
    assert found is not None
    text, citations = found
    assert text == "17.9 million euros [1] [2]"
    assert [citation.quote for citation in citations] == ["| Q3 | 17.9 | 12.1 |", "All amounts in million euros."]
    for citation in citations:
        assert RESULTS.text[citation.start : citation.end] == citation.quote


def test_a_cell_of_a_row_that_was_dropped_is_no_answer() -> None:
    at = RESULTS.text.index("| Q3")
    kept = answer(
        "What was revenue in Q3?", piece("| Q1 | 14.2 | 11.0 |"), holds=lambda of, start, end: not start <= at < end
    )
    assert kept is None


def test_tables_of_two_documents_that_say_different_things_are_told_each_behind_its_title() -> None:
    found = answer("What was revenue in Q3?", piece("| Q1 | 14.2 | 11.0 |"), piece("| Q1 | 70 |", OTHER))
    assert found is not None
    assert found[0] == "Halden: 17.9 million euros [1] [2]\nBolt: 82 euros [3] [4]"
    assert found[1][2].quote == "| Q3 | 82 |"


def test_tables_that_say_the_same_are_told_once() -> None:
    again = replace(RESULTS, id="again", title="Copy")
    pieces = piece("| Q1 | 14.2 | 11.0 |"), piece("| Q1 | 14.2 | 11.0 |", again)
    found = answer("What was revenue in Q3?", *pieces, known=(RESULTS, again))
    assert found is not None
    assert found[0] == "17.9 million euros [1] [2]"


def test_what_the_table_cannot_answer_has_no_cell() -> None:
    evidence = piece("| Q1 | 14.2 | 11.0 |"), piece("The board met in March.")
    assert all(answer(one, *evidence) is None for one in ("Why did the board meet?", "What was revenue in Q4?"))


def test_of_a_document_that_is_gone_no_table_is_read() -> None:
    assert answer("What was revenue in Q3?", piece("| Q1 | 14.2 | 11.0 |"), known=()) is None


def test_a_sum_is_worked_out_from_all_rows_where_one_of_the_table_was_kept_and_cites_that() -> None:
    row = piece("| Q1 | 14.2 | 11.0 |")
    tables = CellFinder("What is the total revenue?", [row], documents([RESULTS.id]))
    found = tables.answer(lambda _, start, end: row.start <= start and end <= row.end)
    assert found is not None
    assert found[0].startswith("14.2 + 15.8 + 17.9 = ")
    assert [cited.quote for cited in found[1]] == ["| Q1 | 14.2 | 11.0 |"]
    assert tables.answer(lambda *_: False) is None
