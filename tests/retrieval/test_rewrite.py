from __future__ import annotations

import json

import pytest

from thresher.errors import BudgetSpent, ProviderError
from thresher.filters import parse
from thresher.models.replies import Unreadable
from thresher.protocols import LanguageModel
from thresher.questions import cannot_stand_alone
from thresher.retrieval.rewrite import (
    MOST_ADDED,
    REWRITE,
    FollowUp,
    LLMRewriter,
    Turn,
    best_found,
    in_its_place,
    read_rewriting,
    with_topic,
)
from thresher.testing.fakes import ScriptedModel
from thresher.types import PROBABILITY, Chunk, Hit, Judged, Judgement, Query, Reading, Score

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


# --- follow-ups -------------------------------------------------------------------------------------------------------

LAYERS: list[Turn] = [("How many layers has BERT-base?", "12 layers [1]")]
HEADS = "How many heads has BERT-base?"


Found = tuple[float, str] | None


def the_longer(query: Query) -> Found:
    return min(len(query.question) / 1000, 1.0), "BERT"


def ask(question: str, *replies: str) -> Query:
    model = ScriptedModel([json.dumps({"question": reply}) for reply in replies]) if replies else None
    return FollowUp(the_longer, model)(Query(question, question), LAYERS)


@pytest.mark.parametrize(
    "question",
    [
        "And LP-203?",
        "why?",
        "Since when?",
        "and on Sundays?",
        "on Sundays?",
        "How much does it cost?",
        "How long?",
        "What about BERT-large?",
        "No, I meant the Oak desk.",
        "When was she born?",
        "How late?",
        "LP-203?",
        "Are they free?",
        "Who signed?",
        "And is there a dress code?",
    ],
)
def test_a_question_that_leaves_out_what_it_is_about_cannot_stand_alone(question: str) -> None:
    assert cannot_stand_alone(question)


@pytest.mark.parametrize(
    "question",
    [
        "Which orders are late?",
        "Is there a dress code?",
        "Is there a handbook?",
        "Who wrote Emma?",
        "Is Finland a member?",
        "What is lambda?",
        "How many wheels does the dairy make in a week?",
        "What does it cost to rent a towel?",
        "What do thousand wheels weigh?",
        "What does IT support cost?",
        "Nordic offices?",
        "Sofa prices in Sonoma?",
    ],
)
def test_a_whole_question_is_left_as_it_is(question: str) -> None:
    assert not cannot_stand_alone(question)
    query = Query(question, question)
    assert FollowUp(the_longer, ScriptedModel([]))(query, LAYERS) is query


@pytest.mark.parametrize(
    ("typed", "before", "full"),
    [
        ("And BERT-large?", "How many layers has BERT-base?", "How many layers has BERT-large?"),
        (
            "Sorry, to Gull Island.",
            "What does a crossing to Seal Rock cost?",
            "What does a crossing to Gull Island cost?",
        ),
        ("and in 2019?", "What was the revenue in 2018?", "What was the revenue in 2019?"),
        ("and on CoLA?", "What does BERT-large reach on MRPC?", "What does BERT-large reach on CoLA?"),
        ("and ResNet-50?", "What is the top-5 error of ResNet-152?", "What is the top-5 error of ResNet-50?"),
        ("No, I mean the records server.", "Who owns the mail server here?", "Who owns the records server here?"),
    ],
)
def test_what_was_typed_takes_its_place_in_the_question_before(typed: str, before: str, full: str) -> None:
    assert in_its_place(typed, before) == [full]
    query = FollowUp(the_longer)(Query(typed, typed), [(before, "")])
    assert (query.question, query.search, query.asked) == (full, full, typed)
    assert query.notes.facts["standalone_by"] == "rules"


@pytest.mark.parametrize(
    "typed", ["And is there a dress code at Kõpu?", "what about dogs?", "BERT-large?", "and when?"]
)
def test_what_says_more_or_has_no_counterpart_takes_no_place(typed: str) -> None:
    assert in_its_place(typed, "Are cats allowed in Ristna?") == []


@pytest.mark.parametrize(("answered", "understood"), [(0.9, "who wrote it? (BERT)"), (0.3, "who wrote it?")])
def test_a_question_about_the_document_that_answered_is_asked_with_its_title(answered: float, understood: str) -> None:
    likely = {LAYERS[0][0]: answered, "who wrote it?": 0.95, "who wrote it? (BERT)": 0.98}
    query = FollowUp(lambda query: (likely.get(query.question, 0.1), "BERT"))(Query("who wrote it?", "x"), LAYERS)
    assert query.question == understood
    assert "(BERT)" not in query.to_send, "no title of a document leaves this machine"


TITLED: list[Turn] = [
    ("Who made the pump P7?", "Kask."),
    ("And who wrote it? (Secret plan Aurora)", "Saar wrote Aurora."),
]


@pytest.mark.parametrize("worded", ["", "When was the plan Aurora written?", "When was the pump P7 made?"])
def test_a_title_that_an_earlier_question_was_asked_with_does_not_leave_either(worded: str) -> None:
    model = _model(worded) if worded else None

    def spent(query: Query) -> Found:
        raise BudgetSpent("seconds")

    for judge in (the_longer, spent):
        query = FollowUp(judge, model if judge is the_longer else None)(Query("and when?", ""), TITLED)
        assert query.question != "and when?"
        assert "Aurora" not in query.to_send


def test_no_letter_of_the_question_is_changed() -> None:
    query = ask("And at night?")
    assert query.question == query.search == "And at night? (How many layers has BERT-base?)"
    assert query.asked == "And at night?"


def test_the_topic_reaches_back_to_a_question_that_stands_alone() -> None:
    typed: list[Turn] = [("Who sells pumps?", ""), ("What does LP-201 cost?", ""), ("And LP-203?", "")]
    understood: list[Turn] = [("And LP-203? (What does LP-201 cost?)", "")]
    for history in (typed, understood):
        assert with_topic("How heavy is it?", history) == [
            "How heavy is it? (And LP-203?)",
            "How heavy is it? (And LP-203? What does LP-201 cost?)",
        ]


def test_what_is_added_has_an_end_and_the_newest_stays() -> None:
    history: list[Turn] = [("Where is the oak desk made?", "")] + [(f"And desk {at}?", "") for at in range(99)]
    *_, added = with_topic("why?", history)
    assert added.startswith("why? (And desk 98? And desk 97?")
    assert len(added) <= MOST_ADDED + len("why? ()")


def test_the_better_evidence_decides_and_what_was_typed_wins_a_tie() -> None:
    query = Query("And at night?", "And at night?")
    for typed, added, kept in ((0.4, 0.5, False), (0.5, 0.5, True), (0.6, 0.5, True), (None, None, False)):
        told = {query.question: typed}
        read = FollowUp(lambda one, told=told, added=added: _likely(told.get(one.question, added)))(query, LAYERS)  # type: ignore[misc]
        assert (read.question == query.question) is kept
        assert (read.asked == "") is kept
        assert read.notes.facts["likelihoods"] == [typed, added]


def test_a_turn_that_does_not_help_is_left_out_where_the_evidence_is_better_without_it() -> None:
    history: list[Turn] = [("Which orders are late?", ""), ("How much does it cost?", "")]
    read = FollowUp(lambda query: _likely(float(query.question == "and the spa? (How much does it cost?)")))(
        Query("and the spa?", "and the spa?"), history
    )
    assert (read.question, read.asked) == ("and the spa? (How much does it cost?)", "and the spa?")


@pytest.mark.parametrize("judged", [0, 1])
@pytest.mark.parametrize(
    ("typed", "understood"),
    [
        ("And BERT-large?", "How many layers has BERT-large?"),
        ("And who wrote it?", "And who wrote it? (How many layers has BERT-base?)"),
    ],
)
def test_where_no_time_is_left_to_judge_the_topic_is_added_visibly(judged: int, typed: str, understood: str) -> None:
    read: list[Found] = [(0.9, "BERT")] * judged

    def spent(query: Query) -> Found:
        if not read:
            raise BudgetSpent("seconds")
        return read.pop()

    query = FollowUp(spent)(Query(typed, ""), LAYERS)
    assert (query.question, query.asked) == (understood, typed)
    assert "all readings" in query.notes.degraded[0]


def test_the_models_words_are_searched_and_what_was_asked_is_kept() -> None:
    query = FollowUp(lambda query: _likely(float(query.question == HEADS)), _model(HEADS))(
        Query("And how many heads?", ""), LAYERS
    )
    assert (query.question, query.search, query.asked) == (HEADS, HEADS, "And how many heads?")
    assert query.notes.facts["standalone_by"] == "model"


@pytest.mark.parametrize(
    "reply", ["How many heads has GPT-2?", "BERT-base has 24 heads?", "Two\nlines", "It was about BERT-large."]
)
def test_words_that_are_not_of_the_conversation_are_not_used(reply: str) -> None:
    query = ask("And at night?", reply, reply)
    assert query.question == "And at night? (How many layers has BERT-base?)"
    assert query.notes.facts["standalone_by"] == "rules"


def test_where_the_model_fails_the_topic_is_added_visibly() -> None:
    def fail(system: str, user: str) -> str:
        raise ProviderError("cannot be reached", subject="m")

    query = FollowUp(the_longer, ScriptedModel(fail))(Query("And at night?", "x"), LAYERS)
    assert query.question == "And at night? (How many layers has BERT-base?)"
    assert query.notes.degraded == ("rewrite: m: cannot be reached; the follow-up was completed by rules",)


class Sure:
    name = "sure"

    def read(self, question: str, texts: list[str], titles: object = None) -> list[Reading]:
        return [Reading(9.0, 0.0, 0, 1, 1.0)] * len(texts)


def test_a_likelihood_is_that_of_the_best_passage_with_its_title_as_far_as_it_is_added() -> None:
    query = Query("Who wrote it?", "x")
    assert best_found(lambda query: Judged(()), Sure(), query) is None
    chunk = Chunk("c", "d", "a.html", "long " * 1000, 0, 5, "Words", None)
    found = Judged((Judgement(Hit(chunk, Score(1.0, PROBABILITY), 1), keep=True),))
    best = best_found(lambda query: found, Sure(), query)
    assert best is not None
    assert len(best[1]) == MOST_ADDED


def _likely(probability: float | None) -> Found:
    return None if probability is None else (probability, "")


def _model(*replies: str) -> LanguageModel:
    return ScriptedModel([json.dumps({"question": reply}) for reply in replies])
