from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from tests.generation.answering import only, proposed
from tests.structure.test_grid import document
from thresher.generation.answerers.tables import TableAnswerer
from thresher.types import COSINE, Chunk, Document, Evidence, Generation, Hit, Score

RESULTS = document(
    "Results by quarter\n\nAll amounts in million euros.\n\n",
    "| Quarter | Revenue | Costs |\n| Q1 | 14.2 | 11.0 |\n| Q2 | 15.8 | 11.9 |\n| Q3 | 17.9 | 12.1 |",
    "\n\nThe board met in March.",
)


OTHER = replace(
    document("Results by quarter, in euros\n\n", "| Quarter | Revenue |\n| Q1 | 70 |\n| Q3 | 82 |"),
    id="e",
    title="Bolt",
)


def documents(ids: Sequence[str]) -> Mapping[str, Document]:
    return {one.id: one for one in (RESULTS, OTHER) if one.id in ids}


def piece(text: str, of: Document = RESULTS) -> Evidence:
    start = of.text.index(text)
    kind = "table" if text.startswith("|") else "text"
    chunk = Chunk("c", of.id, "d.md", of.title, start, start + len(text), text, kind=kind)  # type: ignore[arg-type]
    return Evidence(Hit(chunk, Score(0.5, COSINE), 1), start, start + len(text), text)


def answer(question: str, *evidence: Evidence) -> Generation:
    return only(TableAnswerer(), question, *evidence, documents=(RESULTS, OTHER))


def test_a_cell_is_answered_with_its_unit_its_row_and_the_line_of_the_unit() -> None:
    draft = answer("What was revenue in Q3?", piece("| Quarter | Revenue | Costs |"))
    assert draft.text == "17.9 million euros [1] [2]"
    assert [citation.quote for citation in draft.citations] == [
        "| Q3 | 17.9 | 12.1 |",
        "All amounts in million euros.",
    ]
    assert draft.exact
    for citation in draft.citations:
        assert RESULTS.text[citation.start : citation.end] == citation.quote


def test_tables_of_two_documents_that_say_different_things_are_told_each_behind_its_title() -> None:
    draft = answer("What was revenue in Q3?", piece("| Q1 | 14.2 | 11.0 |"), piece("| Q1 | 70 |", OTHER))
    assert draft.text == "Halden: 17.9 million euros [1] [2]\nBolt: 82 euros [3] [4]"
    assert [citation.quote for citation in draft.citations][2] == "| Q3 | 82 |"


def test_tables_that_say_the_same_are_told_once() -> None:
    again = replace(RESULTS, id="again", title="Copy")
    pieces = piece("| Q1 | 14.2 | 11.0 |"), piece("| Q1 | 14.2 | 11.0 |", again)
    draft = only(TableAnswerer(), "What was revenue in Q3?", *pieces, documents=(RESULTS, again))
    assert draft.text == "17.9 million euros [1] [2]"


def test_what_the_table_cannot_answer_is_nothing_to_propose() -> None:
    evidence = piece("| Q1 | 14.2 | 11.0 |"), piece("The board met in March.")
    for question in ("Why did the board meet?", "What was revenue in Q4?"):
        assert proposed(TableAnswerer(), question, *evidence, documents=(RESULTS, OTHER)) == ()


def test_of_a_document_that_is_gone_no_table_is_read() -> None:
    assert proposed(TableAnswerer(), "What was revenue in Q3?", piece("| Q1 | 14.2 | 11.0 |")) == ()
