from __future__ import annotations

import json

import pytest

from thresher.errors import BudgetSpent, ProviderError
from thresher.filters import parse
from thresher.models.replies import Unreadable
from thresher.question.rewrite import REWRITE, LLMRewriter, read_rewriting
from thresher.testing.fakes import ScriptedModel
from thresher.types import Query

QUESTION = 'Who said "I am legion" in 1999?'
GOOD = 'Which person said "I am legion" in the year 1999?'
ASKED = Query(QUESTION, QUESTION, limit=7, where=parse("page = 1"), today="2026-01-01")


def reply(text: str) -> str:
    return json.dumps({"query": text})


def test_what_is_searched_is_rewritten_and_the_question_stays() -> None:
    model = ScriptedModel([reply(f"  {GOOD} ")])
    assert LLMRewriter(model)(ASKED) == Query(QUESTION, GOOD, limit=7, where=parse("page = 1"), today="2026-01-01")
    assert model.seen == [(REWRITE, f"Question: {QUESTION}")]


@pytest.mark.parametrize(
    ("rewritten", "why"),
    [
        ("", "empty"),
        ('"I am legion"\n1999', "not one line"),
        (f'"I am legion" 1999 {"word " * 30}', "too long"),
        ('Who said "I am legion" in 1998?', "number"),
        ('Who said "I am legion" in the nineties?', "number"),
        ("Who said he was legion in 1999?", "quoted phrase"),
    ],
)
def test_a_rewriting_that_could_change_the_question_is_refused(rewritten: str, why: str) -> None:
    with pytest.raises(Unreadable, match=why):
        read_rewriting(reply(rewritten), QUESTION)


@pytest.mark.parametrize(
    ("question", "rewritten"),
    [
        ("Did 7,000 people come?", "Number of visitors: 7000 people?"),
        ("What does “Deep  Learning” mean?", "meaning of deep learning"),
        ("It's the dog's bone, isn't it?", "owner of the bone"),
        ("BLEU?", "bilingual evaluation understudy (BLEU), a measure of machine translation"),
        ("no number", "a number is new: 12"),
        ("Wie heißt «Der Prozess» auf Englisch?", "Englischer Titel von Der Prozess"),
    ],
)
def test_numbers_and_quoted_phrases_are_kept_however_they_are_written(question: str, rewritten: str) -> None:
    assert read_rewriting(reply(rewritten), question) == rewritten


def test_an_unusable_rewriting_is_asked_for_once_more() -> None:
    model = ScriptedModel([reply("Who said it?"), reply(GOOD)])
    found = LLMRewriter(model)(ASKED)
    assert (found.search, found.notes.degraded) == (GOOD, ())
    assert "a number of the question is missing" in model.seen[1][1]


def test_after_two_unusable_rewritings_the_question_is_searched_and_this_is_said() -> None:
    model = ScriptedModel(["sorry", reply("")])
    found = LLMRewriter(model)(ASKED)
    assert (found.question, found.search) == (QUESTION, QUESTION)
    assert found.notes.degraded == (
        "rewrite: the model's reply could not be read; the question was searched as it stands",
    )
    assert len(model.seen) == 2


@pytest.mark.parametrize("error", [ProviderError("is down"), BudgetSpent("no calls left")])
def test_a_model_that_fails_leaves_the_question_and_this_is_said(error: Exception) -> None:
    def fails(system: str, user: str) -> str:
        raise error

    found = LLMRewriter(ScriptedModel(fails))(ASKED)
    assert found.search == QUESTION
    assert found.notes.degraded == (f"rewrite: {error}; the question was searched as it stands",)


def test_a_question_of_several_lines_is_sent_as_one() -> None:
    model = ScriptedModel([reply("a b")])
    LLMRewriter(model)(Query("a\n\nb", "a b"))
    assert model.seen[0][1] == "Question: a b"
