from __future__ import annotations

import pytest

from tests.generation.answering import SUPPORT, Scripted, material, only, piece, proposed
from thresher.generation.answerers.yes_no import YesNoAnswerer

DECIDES = YesNoAnswerer(SUPPORT)


@pytest.mark.parametrize(
    ("question", "sentence", "said"),
    [
        ("May employees work from abroad?", "Employees may work from abroad for 30 days a year.", "Yes."),
        ("May employees work from abroad?", "Employees may not work from abroad.", "No."),
        ("Is the fee refundable?", "The fee is not refundable under any circumstances.", "No."),
        ("Is DPO simpler than RLHF?", "DPO is much simpler to implement than RLHF.", "Yes."),
        ("Does Yarrow have grade A?", "The supplier Yarrow has grade C since May.", "No."),
        ("Was the bridge built in 1931?", "The bridge was built in 1931 by the city.", "Yes."),
        ("Was the bridge built in 1931?", "The bridge was built in 1940 by the city.", "No."),
        ("Can I use the van for private trips?", "The van may be used for work; private trips are not allowed.", "No."),
        ("Will Brackwell open on Saturdays?", "Brackwell will open on Saturdays from February 2025.", "Yes."),
    ],
)
def test_yes_or_no_is_said_where_a_sentence_decides(question: str, sentence: str, said: str) -> None:
    assert only(DECIDES, question, piece(sentence)).text == f"{said} “{sentence}” [1]"


@pytest.mark.parametrize(
    ("question", "sentence"),
    [
        ("Is RLHF simpler than DPO?", "DPO is much simpler to implement than RLHF."),
        ("Can I return an opened item?", "An item can be returned within 30 days."),
        ("Do all employees get a car?", "Employees get a car after ten years."),
        ("Is the bridge safe?", "It is unclear whether the bridge is safe."),
        ("Does Yarrow have grade A?", "The supplier Yarrow had its last assessment in May."),
        ("Does Oakridge sell insurance?", "The branch of Stonebridge does sell insurance."),
    ],
)
def test_of_what_does_not_decide_nothing_is_said(question: str, sentence: str) -> None:
    assert proposed(DECIDES, question, piece(sentence)) == ()


def test_an_item_of_a_list_is_about_what_leads_in_to_it() -> None:
    text = "The following rules hold for company vans:\n\n- Fuel is paid by card.\n\n- Private trips are not allowed."
    answer = only(DECIDES, "Can I use the company van for private trips?", piece(text))
    assert answer.text == "No. “- Private trips are not allowed.” [1]"


def test_sentences_that_disagree_decide_nothing() -> None:
    text = "The fee is refundable in full. The fee is not refundable in full."
    assert proposed(DECIDES, "Is the fee refundable?", piece(text)) == ()


def test_a_title_names_whom_a_sentence_is_about_and_not_what_is_said_of_it() -> None:
    evidence = piece("ELMo uses the concatenation of two LSTMs.", title="BERT: Deep Bidirectional Transformers")
    assert proposed(DECIDES, "Does ELMo use a transformer?", evidence) == ()


def test_what_decides_is_as_relevant_as_the_best_place_of_the_evidence() -> None:
    text = "The fee is not refundable under any circumstances."
    (candidate,) = proposed(
        DECIDES, "Is the fee refundable?", piece(text), reader=Scripted({text: (2.5, "not refundable", 0.9)})
    )
    assert candidate.signs.relevance == 2.5
    assert candidate.answer.notes.facts["decided"] == "No."


@pytest.mark.parametrize("question", ["Why is the fee refundable?", "Is the fee refundable? (A) yes (B) no"])
def test_only_what_asks_for_yes_or_no_is_decided(question: str) -> None:
    assert proposed(DECIDES, question, piece("The fee is refundable.")) == ()


def test_a_document_that_does_not_name_the_code_that_is_asked_for_decides_nothing() -> None:
    question, evidence = "Is order K-12 paid in full?", piece("Order K-11 is paid in full.")
    assert proposed(DECIDES, question, evidence) == ()
    assert material(question, evidence).lacks == "No document that was found names K-12."
