"""An answer in doubt says why."""

from __future__ import annotations

import pytest

from tests.answering.answering import Overlapping, answerer, document, piece
from thresher.types import Evidence, Generation, Query

FERRY = "The ferry to Gull Island leaves at 06:40. It takes forty minutes."


def doubtful(question: str, *pieces: Evidence, reader: Overlapping | None = None) -> Generation:
    known = [document(one.text, one.hit.chunk.document_id) for one in pieces]
    found = answerer(*known, reader=reader, hedge=1.0)(Query(question, question), pieces)
    assert found.state == "doubtful"
    return found


def test_a_name_of_the_question_that_the_passage_lacks_is_the_reason() -> None:
    found = doubtful("When does the ferry to Seal Rock leave?", piece(FERRY))
    assert found.reason == "The passage does not name Seal Rock."


def test_another_passage_that_is_as_near_is_the_reason_and_is_named() -> None:
    other = "The ferry to Gull Island leaves at 07:10 on Sundays."
    found = doubtful("When does the ferry leave?", piece(FERRY), piece(other, document="d2", title="Sundays"))
    assert found.reason in ("A passage of Sundays is about as near.", "A passage of Notes is about as near.")


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("The ferry runs. To the island it is far. Boats leave.", "no sentence of it clearly states what is asked"),
        ("The ferry to the island leaves at 06:40.", "It may be about something near"),
    ],
)
def test_else_it_is_how_the_sentence_reads(text: str, reason: str) -> None:
    assert reason in (doubtful("When does the ferry to the island leave?", piece(text)).reason or "")


def test_the_reason_stands_in_the_trace_and_an_answer_without_doubt_has_none() -> None:
    question = "When does the ferry to Gull Island leave?"
    found = doubtful(question, piece(FERRY))
    assert found.notes.facts["doubt"] == found.reason
    sure = answerer(document(FERRY))(Query(question, question), [piece(FERRY)])
    assert (sure.state, sure.reason) == ("answered", None)
