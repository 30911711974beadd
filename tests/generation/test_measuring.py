"""Which of two has more: what each is told to have is compared, and nothing is said where it cannot be."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pytest

from thresher.generation.answers import MeasuringReader
from thresher.generation.citations import abstention
from thresher.types import PROBABILITY, Citation, Evidence, Generation, Query, Score

QUESTION = "Which branch has more employees, Coldmere or Fernby?"


def cited(text: str, certainty: float = 0.8) -> Generation:
    citation = Citation(1, "d", "d.txt", "", None, 0, 3, "abc", Score(0.5, PROBABILITY))
    return Generation(f"{text} [1]", (citation,), certainty=certainty, exact=True)


def asked(answers: Mapping[str, Generation], question: str = QUESTION) -> Generation:
    def otherwise(query: Query, evidence: Sequence[Evidence]) -> Generation:
        if query.question == question:
            return cited("otherwise")
        return next(told for thing, told in answers.items() if thing in query.question)

    return MeasuringReader(otherwise)(Query(question, question, 10), ())


def test_the_one_with_the_higher_number_is_named_and_both_are_cited() -> None:
    answer = asked({"Coldmere": cited("15"), "Fernby": cited("5", 0.6)})
    assert answer.text == "Coldmere. Coldmere: 15 [1]\nFernby: 5 [2]"
    assert [citation.marker for citation in answer.citations] == [1, 2]
    assert answer.certainty == 0.6


def test_fewer_turns_it_round_and_a_doubt_about_one_is_a_doubt_about_both() -> None:
    answer = asked(
        {"Coldmere": cited("15"), "Fernby": cited("5")}, "Which branch has fewer employees, Coldmere or Fernby?"
    )
    assert answer.text.startswith("Fernby.")
    doubted = asked({"Coldmere": cited("15"), "Fernby": cited("Perhaps: 5")})
    assert doubted.text == "Perhaps: Coldmere. Coldmere: 15 [1]\nFernby: 5 [2]"


@pytest.mark.parametrize(
    "fernby",
    [abstention("nothing"), cited("many"), cited("5 of 12"), cited("15"), cited("5 kilometres"), cited("5", 0.3)],
)
def test_what_cannot_be_compared_is_a_question_like_others(fernby: Generation) -> None:
    assert asked({"Coldmere": cited("15"), "Fernby": fernby}).text == "otherwise [1]"


def test_a_yes_or_no_begins_with_it() -> None:
    question = "Is the total of Coldmere lower than that of Fernby?"
    answer = asked({"Coldmere": cited("20"), "Fernby": cited("5")}, question)
    assert answer.text == "No. Coldmere: 20 [1]\nFernby: 5 [2]"
