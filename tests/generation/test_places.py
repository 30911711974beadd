from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from math import log

import pytest

from tests.generation.answering import Scripted, by_relevance, finder, piece
from thresher.generation.places import LEAST, Place, PlaceFinder, Places, judged, share_of_terms, signs_of
from thresher.types import PROBABILITY, UNIT, Evidence, Reading, Score

OSTROM = "Elinor Ostrom was born in Los Angeles. She was an American political economist."
PRIZE = "The political economist Elinor Ostrom shared the prize in 2009."
STRANGER = "The lighthouse of Kõpu was built in 1531."
QUESTION = "What was Elinor Ostrom's occupation?"


def places(script: Mapping[str, tuple[float, str, float]], *evidence: Evidence, question: str = QUESTION) -> Places:
    return finder(Scripted(script))(question, evidence)


def texts(found: tuple[Place, ...]) -> list[str]:
    return [place.text for place in found]


def test_a_place_stands_in_its_piece_with_its_sentence_and_what_was_read_with_it() -> None:
    (place,) = places({OSTROM: (3.0, "political economist", 0.6)}, piece(OSTROM, start=100)).found
    assert (place.text, place.certainty) == ("political economist", by_relevance(place.signs))
    assert place.sentence.text == "She was an American political economist."
    assert place.at == ("d1", 100 + OSTROM.index("political"))
    assert place.known == f"Notes. {OSTROM}"
    assert (place.signs.relevance, place.signs.place) == (3.0, log(0.6))


def test_an_answer_that_two_pieces_agree_on_comes_before_a_likelier_one_of_a_single_piece() -> None:
    script = {
        OSTROM: (1.0, "political economist", 0.5),
        PRIZE: (1.2, "political economist", 0.5),
        STRANGER: (1.5, "Kõpu", 0.8),
    }
    evidence = piece(STRANGER, document="d3"), piece(OSTROM), piece(PRIZE, document="d2")
    found = places(script, *evidence)
    assert texts(found.answers) == ["political economist", "Kõpu"]
    assert found.answers[0].document == "d2"


def test_a_place_that_two_windows_share_counts_once() -> None:
    script = {OSTROM: (1.0, "political economist", 0.5)}
    assert len(places(script, piece(OSTROM), piece(OSTROM)).found) == 1


def test_a_window_whose_answer_is_of_another_time_is_read_without_it_and_both_places_are_kept() -> None:
    after, during = "After probation the notice period is eight weeks.", "During probation it is two weeks."
    text = f"{after} {during}"
    script = {text: (3.0, "eight weeks", 0.9), text.replace(after, " " * len(after)): (2.0, "two weeks", 0.9)}
    found = places(script, piece(text), question="What is the notice period during probation?")
    assert texts(found.found) == ["eight weeks", "two weeks"]
    assert [bool(place.other) for place in found.found] == [True, False]
    assert texts(tuple(found.agreeing)) == texts(found.answers) == ["two weeks"]


def test_the_best_pieces_are_read_and_no_more_windows_than_are_allowed() -> None:
    reader = Scripted({OSTROM: (1.0, "born", 0.5), STRANGER: (1.0, "1531", 0.5)})
    one = replace(finder(reader), max_windows=1)
    assert texts(one("When?", [piece(STRANGER), piece(OSTROM, document="d2")]).found) == ["1531"]


def test_a_number_of_another_unit_or_none_is_no_answer_where_a_number_is_asked_for() -> None:
    climb = "The line climbs 460 metres over 41 kilometres."
    question = "Over how many kilometres does the line climb?"
    assert places({climb: (3.0, "460 metres", 0.9)}, piece(climb), question=question).answers == ()
    assert texts(places({climb: (3.0, "41 kilometres", 0.9)}, piece(climb), question=question).answers) == [
        "41 kilometres"
    ]
    layers = "L is the number of layers."
    found = places({layers: (3.0, "number", 0.9)}, piece(layers), question="How many layers does it have?")
    assert (len(found.found), found.answers) == (1, ())


@pytest.mark.parametrize(
    ("question", "text", "read"),
    [
        (QUESTION, OSTROM, "Elinor Ostrom"),
        ("Who is Chris Woolf?", "Ricky Lund and Mike Hansen played with Chris Woolf.", "Ricky Lund and Mike Hansen"),
        ("How many pumps are there?", "Table 2: Pumps of the hall and their seals, by year.", "2"),
    ],
)
def test_the_questions_own_words_names_of_others_and_numbers_of_tables_are_no_answers(
    question: str, text: str, read: str
) -> None:
    script = {text: (3.0, read, 0.9), " " * len(text): (-9.0, " ", 0.1)}
    assert places(script, piece(text), question=question).answers == ()


def test_documents_that_do_not_name_the_code_that_is_asked_for_are_not_read() -> None:
    one, other = "The total of order K-11 is 600.00 euros.", "The total of order K-12 is 700.00 euros."
    script = {one: (9.0, "600.00", 0.9), other: (1.0, "700.00", 0.9)}
    question = "What is the total of K-12?"
    found = places(script, piece(one), piece(other, document="d2"), question=question)
    assert (texts(found.found), found.unnamed) == (["700.00 euros"], "")
    alone = places(script, piece(one), question=question)
    assert (alone.found, alone.unnamed) == ((), "K-12")


def test_without_evidence_there_is_no_place() -> None:
    assert places({}) == Places()


def test_signs_tell_a_text_about_another_year_and_a_sentence_beside_the_question() -> None:
    rarity = {"revenu": 1.0, "2021": 3.0}
    text = "Costs were low. In 2022 revenue was high."
    reading = Reading(1.0, 0.0, 0, 0, 0.5)
    signs = signs_of("How much revenue in 2021?", text, "", (text.index("high"), len(text) - 1), reading, rarity)
    assert (signs.terms, signs.sentence, signs.uncovered) == (0.25, 0.25, 1.0)
    elsewhere = signs_of("How much revenue in 2021?", text, "", (0, 5), reading, rarity)
    assert (elsewhere.terms, elsewhere.sentence) == (0.25, 0.0)


def test_what_stands_above_a_text_holds_terms_and_names_for_it() -> None:
    signs = signs_of(
        "Revenue in 2021?", "It was high.", "Revenue of 2021", (0, 2), Reading(0, 0, 0, 0, 0.0), {"2021": 1}
    )
    assert (signs.terms, signs.uncovered) == (1.0, 0.0)
    assert signs.place == log(LEAST)


def test_terms_that_a_text_runs_together_are_held() -> None:
    rarity = {"bert": 1.0, "base": 1.0}
    signs = signs_of("Is it BERT-base?", "BERTBASE is.", "", (0, 8), Reading(1.0, 0.0, 0, 0, 0.5), rarity)
    assert signs.terms == 1.0
    assert share_of_terms({}, "?", "anything") == 0.0


def test_what_the_judge_gave_the_chunk_is_a_sign_where_it_is_a_probability() -> None:
    plain = piece(OSTROM)
    scored = replace(
        plain, hit=replace(plain.hit, scores={"dense": Score(0.9, UNIT), "judge": Score(0.4, PROBABILITY)})
    )
    assert (judged(plain), judged(scored)) == (None, 0.4)
    script = {OSTROM: (1.0, "born", 0.5)}
    assert [place.signs.judged for place in places(script, scored).found] == [0.4]


def test_the_finder_says_how_certain_a_place_is_by_what_it_was_given() -> None:
    find = PlaceFinder(Scripted({OSTROM: (1.0, "born", 0.5)}), lambda question: {}, lambda signs: 0.125, 12)
    assert [place.certainty for place in find(QUESTION, [piece(OSTROM)]).found] == [0.125]
