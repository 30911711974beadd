from __future__ import annotations

import pytest

from thresher.text.follow_up import Turn, leans, standing_alone

LAYERS: list[Turn] = [("How many layers has BERT-base?", "12 layers [1]")]
RAILWAY: list[Turn] = [("Who designed the Semmering railway?", "Carl von Ghega [1]")]
REVENUE: list[Turn] = [("What was the revenue of Acme in Q3 2024?", "17.9 million euros [1]")]


@pytest.mark.parametrize(
    ("history", "question", "alone"),
    [
        (LAYERS, "And BERT-large?", "How many layers has BERT-large?"),
        (LAYERS, "What about BERT-large?", "How many layers has BERT-large?"),
        (LAYERS, "How was it trained?", "How was BERT-base trained?"),
        (LAYERS, "What are its parameters?", "What are BERT-base's parameters?"),
        (RAILWAY, "When was he born?", "When was Carl von Ghega born?"),
        (RAILWAY, "And when?", "When was the Semmering railway designed?"),
        (REVENUE, "And in Q4?", "What was the revenue of Acme in Q4 2024?"),
        (LAYERS, "Who designed the Semmering railway?", "Who designed the Semmering railway?"),
        ([], "And BERT-large?", "And BERT-large?"),
    ],
)
def test_a_follow_up_is_given_what_it_lacks(history: list[Turn], question: str, alone: str) -> None:
    assert standing_alone(question, history) == alone


@pytest.mark.parametrize(
    "question", ["How many layers has BERT-base?", "How does the model handle its long inputs in GPT-4?"]
)
def test_a_question_that_names_what_it_is_about_stands_alone(question: str) -> None:
    assert not leans(question)
