from __future__ import annotations

from dataclasses import replace

from tests.generation.test_tables import otherwise, piece
from thresher.generation.enumerations import EnumerationReader
from thresher.types import Document, Generation, Query

MAY = Document("m", "may.md", "Minutes of May", "Present: Ana Silva,\nBo Chen.\n\nThe budget was approved.", "markdown")
JUNE = replace(MAY, id="n", source="june.md", title="Minutes of June", text="Present: Dora Lang, Bo Chen.")


def answer(question: str, *documents: Document) -> Generation:
    pieces = [piece(document.text, document) for document in documents]
    draft = EnumerationReader(otherwise)(Query(question, question), pieces)
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


def test_what_enumerates_nothing_that_was_asked_for_is_handed_on() -> None:
    assert answer("Who approved the budget?", MAY).text.startswith("otherwise")
