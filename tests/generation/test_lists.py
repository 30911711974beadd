from __future__ import annotations

from collections.abc import Mapping, Sequence

from tests.text.test_lists import HANDBOOK, document
from thresher.generation.lists import ListReader
from thresher.types import COSINE, Chunk, Document, Evidence, Generation, Hit, Query, Score


def documents(ids: Sequence[str]) -> Mapping[str, Document]:
    return {"d": document(HANDBOOK)}


def otherwise(query: Query, evidence: Sequence[Evidence]) -> Generation:
    return Generation("otherwise")


def answer(question: str, text: str) -> Generation:
    start = HANDBOOK.index(text)
    chunk = Chunk("c", "d", "d.md", "Pump handbook", start, start + len(text), text)
    piece = Evidence(Hit(chunk, Score(0.5, COSINE), 1), start, start + len(text), text)
    return ListReader(documents, otherwise)(Query(question, question), [piece])


def test_the_whole_list_is_the_answer_though_the_evidence_holds_a_part_of_it() -> None:
    draft = answer("How do I reset the pump?", "1. Close the inlet valve.")
    assert draft.text.split("\n") == [
        "To reset the pump:",
        "1. Close the inlet valve.",
        "2. Hold the red button",
        "   for ten seconds.",
        "3. Open the valve. [1]",
    ]
    (citation,) = draft.citations
    assert HANDBOOK[citation.start : citation.end] == citation.quote
    assert citation.quote.startswith("To reset the pump:")


def test_a_heading_leads_the_list_without_its_marks() -> None:
    assert (
        answer("What are the safety rules?", "- Wear gloves.").text
        == "Safety rules\n- Wear gloves.\n- Report leaks. [1]"
    )


def test_a_list_that_is_not_in_the_evidence_or_does_not_fit_is_handed_on() -> None:
    assert answer("What are the safety rules?", "1. Close the inlet valve.").text == "otherwise"
    assert answer("How do I repair the pump?", "1. Close the inlet valve.").text == "otherwise"
