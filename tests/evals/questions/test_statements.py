"""Sentences are read as statements, or left alone."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from thresher.text.sentences import sentence_spans
from thresher_evals.questions.statements import clauses_of, statements
from thresher_evals.questions.verbs import BASE, PARTICIPLE, PAST, THIRD


def stated(text: str, about: str = "") -> list[tuple[str, str, str]]:
    return [(one.subject, one.verb, one.rest) for _, one in clauses_of(text, sentence_spans(text), about)]


@pytest.mark.parametrize(
    ("base", "third", "past", "participle"),
    [
        ("carry", "carries", "carried", "carried"),
        ("reach", "reaches", "reached", "reached"),
        ("raise", "raises", "raised", "raised"),
        ("plan", "plans", "planned", "planned"),
        ("write", "writes", "wrote", "written"),
        ("find", "finds", "found", "found"),
    ],
)
def test_the_forms_of_a_verb_lead_to_its_base(base: str, third: str, past: str, participle: str) -> None:
    assert {forms[form].base for forms, form in ((THIRD, third), (PAST, past), (PARTICIPLE, participle))} == {base}
    assert base in BASE


def test_one_sentence_may_state_several_things_of_one_subject_and_of_others() -> None:
    assert stated("The branch has 4 employees and serves 1,390 customers.") == [
        ("The branch", "has", "4 employees"),
        ("The branch", "serves", "1,390 customers"),
    ]
    assert stated("The keel is laid on 5 May, sea trials begin in June and the hand-over is in July.") == [
        ("The keel", "is", "laid on 5 May"),
        ("sea trials", "begin", "in June"),
        ("the hand-over", "is", "in July"),
    ]


def test_what_stands_in_front_and_what_it_depends_on_are_kept_apart() -> None:
    (one,) = statements("In 2023 the warden counted 212 pairs where the mole ends, because mink had come.")
    assert (one.lead, one.subject, one.rest) == ("in 2023", "the warden", "counted 212 pairs".removeprefix("counted "))
    assert (one.condition, one.reason) == (" where the mole ends", "because mink had come")


def test_a_second_participle_is_passive_and_a_past_with_an_object_is_not() -> None:
    assert stated("The deposit is blocked at once and released within five days.")[1] == (
        "The deposit",
        "is",
        "released within five days",
    )
    assert stated("Dall was born in 1829 and joined the army in 1836.")[1] == ("Dall", "joined", "the army in 1836")


def test_it_is_the_subject_before_it_or_what_the_text_is_about() -> None:
    assert stated("The pump costs 90 euros. It weighs 5 kg.")[1] == ("The pump", "weighs", "5 kg")
    assert stated("It weighs 5 kg.", about="The Wren") == [("The Wren", "weighs", "5 kg")]
    assert stated("Was it heavy? It weighs 5 kg.", about="The Wren") == []


@pytest.mark.parametrize(
    "sentence",
    [
        "This costs 40 euros.",
        "The results show a gain of 4 points over the other models.",
        "The boat never sails in May.",
        "and the harbour burns 40 lamps.",
        "How many lamps does it have?",
        "The same holds for 40 lamps in Table 3 above.",
    ],
)
def test_what_leans_on_other_sentences_denies_or_asks_states_nothing(sentence: str) -> None:
    assert stated(sentence) == []


@given(st.text(alphabet="The boat is of 5, and has by:(); WE'’\n.", max_size=80))
def test_any_text_is_read_and_each_statement_has_a_subject_and_a_rest(text: str) -> None:
    for subject, verb, rest in stated(text):
        assert subject
        assert verb
        assert rest
