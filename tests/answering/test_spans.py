from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tests.answering.answering import CONFIDENCE, Overlapping, document, piece, rarity
from thresher.answering.spans import SpanFinder, answer_in
from thresher.types import Evidence, Reading

OSTROM = "Elinor Ostrom was born in Los Angeles. She was an American political economist."


class Counting(Overlapping):
    """Counts what it reads."""

    def __init__(self, *answers: str) -> None:
        super().__init__(*answers)
        self.texts: list[str] = []

    def read(self, question: str, texts: list[str], titles: list[str] | None = None) -> list[Reading]:  # type: ignore[override]
        self.texts += texts
        return super().read(question, texts, titles)


def test_each_piece_is_read_once_and_whole_and_has_one_place_in_their_order() -> None:
    evidence: list[Evidence] = [piece("It was built in 1531.", document="d2"), piece(OSTROM, start=40)]
    reader = Counting("1531", "Los Angeles")
    places = SpanFinder(reader, rarity, CONFIDENCE.span)("Where was Ostrom born?", evidence, {})
    assert reader.texts == [one.text for one in evidence]
    assert [one.words for one in places] == ["1531", "Los Angeles"]
    assert places[1].start == 40 + OSTROM.index("Los")
    assert places[1].sentence.text == "Elinor Ostrom was born in Los Angeles."


def test_a_place_knows_which_names_of_the_question_its_piece_lacks() -> None:
    places = SpanFinder(Overlapping(), rarity, CONFIDENCE.span)("Was Ostrom born in Oslo?", [piece(OSTROM)], {})
    assert places[0].signs.uncovered == 1


def lacked(question: str, **authors: str) -> list[float | None]:
    """Of a piece of each document, which is named by its author: what it lacks of the question."""
    texts = {"d1": "The pier cannot bear the ferry.", "d2": "The pier bears Kallo."}
    documents = {id_: document(text, id_, metadata={"author": authors[id_]}) for id_, text in texts.items()}
    evidence = [piece(text, document=id_) for id_, text in texts.items()]
    places = SpanFinder(Overlapping(), rarity, CONFIDENCE.span)(question, evidence, documents)
    return [place.signs.uncovered for place in places]


def test_an_author_whom_the_question_names_is_found_in_his_own_document_alone() -> None:
    assert lacked("What does Signe Holm say of the pier?", d1="Signe Holm", d2="Bram Visser") == [0, 2]
    assert lacked("What does Signe Holm say of Kallo?", d1="Signe Holm", d2="Bram Visser") == [1, 2]


def test_numbers_and_names_are_whole_and_a_number_has_its_unit() -> None:
    for text, read, whole in (
        ("It takes 0.15 seconds in all.", "0", "0.15 seconds"),
        ("The manager is Mirela Stanciu.", "Stanciu", "Mirela Stanciu"),
        ("Revenue rose to 17.9 million euros in May.", "17.9", "17.9 million euros"),
        ("Its name (Kõpu) is old.", "(Kõpu)", "Kõpu"),
    ):
        at = text.index(read)
        start, end = answer_in(text, Reading(1.0, 0.0, at, at + len(read), 0.9))
        assert text[start:end] == whole


@given(st.integers(0, len(OSTROM) - 1), st.integers(1, len(OSTROM)))
def test_an_answer_stays_within_its_text(start: int, length: int) -> None:
    end = min(len(OSTROM), start + length)
    low, high = answer_in(OSTROM, Reading(1.0, 0.0, start, end, 0.9))
    assert 0 <= low <= high <= len(OSTROM)
