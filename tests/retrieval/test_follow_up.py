from __future__ import annotations

import json

import pytest

from thresher.errors import ProviderError
from thresher.retrieval.follow_up import FollowUp
from thresher.testing.fakes import ScriptedModel
from thresher.types import Query

HISTORY = [("How many layers has BERT-base?", "12 layers [1]")]


def ask(question: str, *replies: str) -> Query:
    model = ScriptedModel([json.dumps({"question": reply}) for reply in replies]) if replies else None
    return FollowUp(model)(Query(question, question), HISTORY)


def test_the_models_words_are_searched_and_answered_and_what_was_asked_is_kept() -> None:
    query = ask("And how many heads?", "How many heads has BERT-base?")
    assert (query.question, query.search) == ("How many heads has BERT-base?",) * 2
    assert query.asked == "And how many heads?"
    assert query.notes.facts == {"asked": "And how many heads?", "standalone_by": "model"}


@pytest.mark.parametrize(
    "reply", ["How many heads has GPT-2?", "BERT-base has 24 heads?", "Two\nlines", "It was about BERT-large."]
)
def test_words_that_are_not_of_the_conversation_are_not_used(reply: str) -> None:
    query = ask("And BERT-large?", reply, reply)
    assert query.question == "How many layers has BERT-large?"
    assert query.notes.facts["standalone_by"] == "rules"


def test_a_question_that_stands_alone_is_left_as_it_is() -> None:
    query = Query("Who designed the Semmering railway?", "x")
    assert FollowUp(ScriptedModel([]))(query, HISTORY) is query
    assert FollowUp()(Query("And BERT-large?", "x"), []).asked == ""


def test_where_the_model_fails_the_rules_complete_it_visibly() -> None:
    def fail(system: str, user: str) -> str:
        raise ProviderError("cannot be reached", subject="m")

    query = FollowUp(ScriptedModel(fail))(Query("And BERT-large?", "x"), HISTORY)
    assert query.question == "How many layers has BERT-large?"
    assert query.notes.degraded == ("rewrite: m: cannot be reached; the follow-up was completed by rules",)
