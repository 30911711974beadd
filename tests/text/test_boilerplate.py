from __future__ import annotations

import pytest

from thresher.text.boilerplate import (
    asks,
    has_labels,
    heading_above,
    leans,
    says_nothing,
)


@pytest.mark.parametrize(
    "sentence",
    [
        "Revenue by quarter",
        "3 Notice period during probation",
        "4\tNumber of sick days without a certificate\t14",
        "6 Price of a charter ... 24",
        "| | Oak |",
        "How do I cancel a booking (and is it free)?",
        "From: Priya <priya@harwick.example> To: the team Date: Wed, 19 Feb 2025 Subject: The kick-off",
        "Benchmark (Metric) # Shots Small MoE Small MoE Large MoE Large MoE w/ MHA w/ MLA",
    ],
)
def test_headings_questions_heads_of_mails_and_labels_say_nothing(sentence: str) -> None:
    assert says_nothing(sentence)


def test_what_says_something_is_kept() -> None:
    sentences = [
        "The pump must be serviced every 500 hours.",
        "Opening hours: 9 to 17",
        "As shown in Table 4, GaLore uses less memory than LoRA.",
        "Devlin et al. (2019) train BERT with a masked language model.",
    ]
    assert not any(map(says_nothing, sentences))


QUESTIONS = """Where do I park?
1. Where do I park?
**Q:** *Where were you born?*
Juta: "Where do you live?"
“Where do I park?”
(Where do I park?)
How do I cancel a booking (and is it free?)
- RQ1: Does the tide change the growth?
Lost your password?
In Which Zone Can I Park?
Does the hotel have a "late check-out?"
Who wrote "Emma"?
駐車場はどこですか？
أين أقف؟"""
STATEMENTS = """Her best-known novel is "Who Counts the Swans?"
She won the prize for *Where Does the River Sleep?*
She hosted the quiz show Who Wants to Be a Farmer?
The judge asked the miller, "Who set fire to the barn?"
La question était « Où est-il ? »
It was built in 1901 (or was it 1902?)
Yes."""


def test_a_question_asks_and_a_statement_that_ends_in_the_words_of_one_does_not() -> None:
    assert [line for line in QUESTIONS.splitlines() if not asks(line)] == []
    assert [line for line in STATEMENTS.splitlines() if asks(line)] == []


def test_a_sentence_that_begins_with_a_pronoun_leans_on_the_one_before() -> None:
    assert leans("It must be replaced after 4,000 hours.")
    assert leans("However, the fee is not refunded.")
    assert not leans("The filter must be replaced.")


@pytest.mark.parametrize(
    ("sentence", "has"),
    [
        ("RAG-Tok R-L RAG-Tok B-1 RAG-Seq R-L RAG-Seq B-1", True),
        ("2020) Transformer Seq2Seq T5 (Multitask) 27.0 29.1 - 223m T5 (large)", True),
        ("Ashish Vaswani, Noam Shazeer, Niki Parmar, Jakob Uszkoreit and Llion Jones wrote it.", False),
        ("The total is 2Ψ + 2Ψ + KΨ = 16Ψ bytes of memory.", False),
    ],
)
def test_labels_of_a_figure_are_a_long_run_of_capitals_and_numbers(sentence: str, has: bool) -> None:
    assert has_labels(sentence) is has


def test_the_heading_above_a_place_is_the_last_short_paragraph_that_is_no_sentence() -> None:
    text = "How does the return work?\n\nBoats are back by 17:00.\n\nTable 1: Fares\n\nThe tank is full."
    assert heading_above(text, text.index("Boats")) == "How does the return work?"
    assert heading_above(text, text.index("The tank")) == "How does the return work?"
    assert heading_above(text, 3) == ""
