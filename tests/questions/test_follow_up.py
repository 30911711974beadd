from __future__ import annotations

import pytest

from thresher.questions.follow_up import Turn, leans, standing_alone

LAYERS: list[Turn] = [("How many layers has BERT-base?", "12 layers [1]")]
RAILWAY: list[Turn] = [("Who designed the Semmering railway?", "Carl von Ghega [1]")]
TIDE: list[Turn] = [("What was the mean tidal range at Coldmere?", "3.2 m [1]")]
STAFF: list[Turn] = [("How many people work in the Halden branch?", "12 [1]")]
FEE: list[Turn] = [("What is the fee for a late filing?", "20 euros [1]")]
LATE: list[Turn] = [("Why was the shipment late?", "There was fog. [1]")]
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
        (REVENUE, "And in 2023?", "What was the revenue of Acme in Q3 2023?"),
        (REVENUE, "And of Borealis?", "What was the revenue of Borealis in Q3 2024?"),
        (REVENUE, "And in Norway?", "What was the revenue in Norway in Q3 2024?"),
        (TIDE, "And at Northquay?", "What was the mean tidal range at Northquay?"),
        (TIDE, "And in Northquay?", "What was the mean tidal range in Northquay?"),
        (TIDE, "And for Northquay?", "What was the mean tidal range at Northquay?"),
        (TIDE, "And Northquay?", "What was the mean tidal range at Northquay?"),
        (STAFF, "And at Northquay?", "How many people work in the Northquay branch?"),
        (STAFF, "What about the Northquay branch?", "How many people work in the Northquay branch?"),
        (FEE, "And for a missing signature?", "What is the fee for a missing signature?"),
        (LATE, "And in March?", "Why was the shipment late in March?"),
        (LAYERS, "And for BERT-large?", "How many layers has BERT-large?"),
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
