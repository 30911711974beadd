from __future__ import annotations

from dataclasses import replace

from tests.generation.answerers.test_tables import piece
from tests.generation.answering import only, proposed
from thresher.generation.answerers.enumerations import MOST_DOCUMENTS, EnumerationAnswerer
from thresher.types import Document, Generation

MAY = Document("m", "may.md", "Minutes of May", "Present: Ana Silva,\nBo Chen.\n\nThe budget was approved.", "markdown")
JUNE = replace(MAY, id="n", source="june.md", title="Minutes of June", text="Present: Dora Lang, Bo Chen.")


def answer(question: str, *documents: Document) -> Generation:
    pieces = [piece(document.text, document) for document in documents]
    draft = only(EnumerationAnswerer(), question, *pieces)
    by_id = {document.id: document for document in documents}
    for citation in draft.citations:
        assert by_id[citation.document_id].text[citation.start : citation.end] == citation.quote
    return draft


def test_all_who_were_present_are_told_with_their_line() -> None:
    draft = answer("Who was present?", MAY)
    assert draft.text == "Ana Silva, Bo Chen [1]"
    assert draft.citations[0].quote == "Present: Ana Silva,\nBo Chen"


def test_two_minutes_are_told_each_behind_its_title() -> None:
    told = "Minutes of May: Ana Silva, Bo Chen [1]\nMinutes of June: Dora Lang, Bo Chen [2]"
    assert answer("Who was present?", MAY, JUNE).text == told


def test_of_more_documents_than_a_few_none_is_told() -> None:
    minutes = [replace(MAY, id=f"m{number}", title=f"Minutes {number}") for number in range(MOST_DOCUMENTS + 1)]
    pieces = [piece(document.text, document) for document in minutes]
    assert proposed(EnumerationAnswerer(), "Who was present?", *pieces) == ()
    assert len(only(EnumerationAnswerer(), "Who was present?", *pieces[1:]).text.splitlines()) == MOST_DOCUMENTS


def test_what_enumerates_nothing_that_was_asked_for_is_not_proposed() -> None:
    assert proposed(EnumerationAnswerer(), "Who approved the budget?", piece(MAY.text, MAY)) == ()
