"""The sentence that answers is chosen by what the judge reads of it and of its passage."""

from __future__ import annotations

from collections.abc import Sequence

from tests.answering.answering import CONFIDENCE, answerer, document, piece, rarity
from thresher.answering.passage import passage_of, stretches_of
from thresher.answering.sentences import SentenceFinder
from thresher.answering.spans import AnswerSpan, SpanFinder
from thresher.types import Query, Reading


class Reader:
    """Reads as many points as the text has stars, and remembers what it read."""

    def __init__(self) -> None:
        self.read_texts: list[str] = []

    def read(self, question: str, texts: Sequence[str], titles: Sequence[str] | None = None) -> list[Reading]:
        self.read_texts += texts
        return [Reading(float(text.count("*")), 0.0, 0, 1, 0.1) for text in texts]


def finder(reader: Reader) -> tuple[SentenceFinder, SpanFinder]:
    return SentenceFinder(reader, CONFIDENCE.sentence), SpanFinder(reader, rarity, CONFIDENCE.span)


def place_in(text: str, reader: Reader) -> tuple[AnswerSpan, object]:
    (place,) = finder(reader)[1]("q", [piece(text)], {"d1": document(text)})
    (stretch,) = stretches_of([place.piece], {"d1": document(text)})
    return place, passage_of(stretch, place.piece, (0, 1))


def test_every_sentence_is_read_by_itself_and_is_worth_no_more_than_its_passage() -> None:
    text = "The wind * is from the west. The ferry ** leaves at 06:40. Seals live here."
    reader = Reader()
    place, passage = place_in(text, reader)
    reader.read_texts.clear()
    (marked,) = finder(reader)[0].read("q", [(passage, place)], lambda sentence: True)  # type: ignore[list-item]
    assert reader.read_texts == ["The wind * is from the west.", "The ferry ** leaves at 06:40.", "Seals live here."]
    assert [(one.signs.sentence, one.signs.least) for one in marked] == [(1.0, 1.0), (2.0, 2.0), (0.0, 0.0)]
    assert [one.signs.held for one in marked] == [1.0, 0.0, 0.0]


def test_a_row_is_read_below_its_header_and_a_sentence_below_its_question_or_heading() -> None:
    fares = "2 Fares of boats\n\nAll are in euros. Children pay half."
    text = f"Who runs it? Maret does.\n\n{fares}\n\n| boat | price |\n|---|---|\n| Gull | 4 euros |"
    reader = Reader()
    place, passage = place_in(text, reader)
    finder(reader)[0].read("q", [(passage, place)], lambda sentence: True)  # type: ignore[list-item]
    assert "Who runs it? Maret does." in reader.read_texts
    assert {"2 Fares of boats All are in euros.", "2 Fares of boats Children pay half."} <= set(reader.read_texts)
    assert "| boat | price |\n| Gull | 4 euros |" in reader.read_texts


def test_where_no_sentence_may_answer_nothing_is_marked() -> None:
    text = "The ferry leaves at 06:40. It takes forty minutes."
    reader = Reader()
    place, passage = place_in(text, reader)
    assert finder(reader)[0]("q", [(passage, place)], lambda sentence: False) == [None]  # type: ignore[list-item]


def test_the_marked_sentence_is_the_one_that_reads_best_not_the_first() -> None:
    text = "The harbour is old. The ferry to Gull Island leaves at 06:40. Seals live on the rocks."
    question = "When does the ferry to Gull Island leave?"
    found = answerer(document(text))(Query(question, question), [piece(text)])
    assert "**The ferry to Gull Island leaves at 06:40.**" in found.text
