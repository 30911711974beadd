from __future__ import annotations

import json
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import pytest

from thresher.errors import BudgetSpent, ProviderError
from thresher.filters import holds
from thresher.protocols import LanguageModel
from thresher.question.conversation import MOST_ADDED, FollowUp, PassageFinder, Turn, in_its_place, with_topic
from thresher.question.wording import cannot_stand_alone
from thresher.testing.fakes import ScriptedModel
from thresher.types import PROBABILITY, Chunk, Hit, Judged, Judgement, Query, Reading, Score

LAYERS: list[Turn] = [("How many layers has BERT-base?", "12 layers [1]")]
HEADS = "How many heads has BERT-base?"


Likely = Callable[[str, str], float]
"""Probability that the passage of a title answers a question."""


@dataclass(frozen=True)
class Judge:
    """Reads every text as its title says."""

    likely: Likely
    name: str = "judge"

    def read(self, question: str, texts: Sequence[str], titles: Sequence[str]) -> list[Reading]:
        """As likely as the title answers."""
        each = (min(max(self.likely(question, title), 1e-6), 1 - 1e-6) for title in titles)
        return [Reading(math.log(one / (1 - one)), 0.0, 0, 1, 1.0) for one in each]


def evidence(likely: Likely, *titles: str) -> PassageFinder:
    """A collection of one passage a title, which says its title."""
    chunks = [Chunk(one, one, f"{one}.html", one, 0, 5, one, None) for one in titles or ("BERT",)]
    hits = [Hit(chunk, Score(1.0, PROBABILITY), rank) for rank, chunk in enumerate(chunks, start=1)]

    def retrieve(query: Query) -> Judged:
        found = (
            hit for hit in hits if query.where is None or holds(query.where, {"document_id": hit.chunk.document_id})
        )
        return Judged(tuple(Judgement(hit, keep=True) for hit in found))

    return PassageFinder(retrieve, Judge(likely))


def spent(after: int) -> PassageFinder:
    """A finder whose budget ends after so many searches."""
    left = iter(range(after))

    def retrieve(query: Query) -> Judged:
        if next(left, None) is None:
            raise BudgetSpent("seconds")
        return Judged(())

    return PassageFinder(retrieve, Judge(lambda *_: 0.0))


the_longer = evidence(lambda question, title: len(question) / 1000)


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
        "Does the pump use that seal?",
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
        "How long are the sequences that Longformer reads?",
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
        (
            "and of the base model?",
            "What is the score of the big Transformer on French?",
            "What is the score of the base model on French?",
        ),
        ("no, the large BERT", "What is the batch size of GPT-2?", "What is the batch size of the large BERT?"),
        ("No, I mean the records server.", "Who owns the mail server here?", "Who owns the records server here?"),
    ],
)
def test_what_was_typed_takes_its_place_in_the_question_before(typed: str, before: str, full: str) -> None:
    assert in_its_place(typed, before) == [full]
    query = FollowUp(the_longer)(Query(typed, typed), [(before, "")])
    assert (query.question, query.search, query.asked) == (full, full, typed)
    assert query.notes.facts["standalone_by"] == "rules"


@pytest.mark.parametrize(
    "typed", ["And is there a dress code at Kõpu?", "what about dogs?", "BERT-large?", "and when?", "and with 8 bit?"]
)
def test_what_says_more_or_has_no_counterpart_takes_no_place(typed: str) -> None:
    assert in_its_place(typed, "Are cats allowed in Ristna?") == []


@pytest.mark.parametrize(
    ("answered", "understood"), [(0.9, "who wrote it? (BERT)"), (0.3, "who wrote it? (How many layers has BERT-base?)")]
)
def test_a_question_about_the_document_that_answered_is_asked_with_its_title(answered: float, understood: str) -> None:
    likely = {LAYERS[0][0]: answered, "who wrote it?": 0.95, "who wrote it? (BERT)": 0.98}
    found = evidence(lambda question, title: likely.get(question, 0.1))
    query = FollowUp(found)(Query("who wrote it?", "x"), LAYERS)
    assert query.standalone == understood
    assert "(BERT)" not in query.to_send, "no title of a document leaves this machine"


TITLED: list[Turn] = [
    ("Who made the pump P7?", "Kask."),
    ("And who wrote it? (Secret plan Aurora)", "Saar wrote Aurora."),
]


@pytest.mark.parametrize("worded", ["", "When was the plan Aurora written?", "When was the pump P7 made?"])
def test_a_title_that_an_earlier_question_was_asked_with_does_not_leave_either(worded: str) -> None:
    model = _model(worded) if worded else None
    for found in (the_longer, spent(0)):
        query = FollowUp(found, model if found is the_longer else None)(Query("and when?", ""), TITLED)
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
            "How heavy is it? (LP-203?)",
            "How heavy is it? (LP-203? What does LP-201 cost?)",
        ]


def test_what_is_added_has_an_end_and_the_newest_stays() -> None:
    history: list[Turn] = [("Where is the oak desk made?", "")] + [(f"And desk {at}?", "") for at in range(99)]
    *_, added = with_topic("why?", history)
    assert added.startswith("why? (desk 98? desk 97?")
    assert len(added) <= MOST_ADDED + len("why? ()")


def test_the_better_evidence_decides_and_what_was_typed_wins_a_tie() -> None:
    query = Query("And is there a dress code?", "x")
    for typed, added, kept in ((0.4, 0.5, False), (0.5, 0.5, True), (0.6, 0.5, True)):
        told = {query.question: typed}
        found = evidence(lambda one, title, told=told, added=added: told.get(one, added))  # type: ignore[misc]
        read = FollowUp(found)(query, LAYERS)
        assert (read.question == query.question) is kept
        assert (read.asked == "") is kept
        assert read.notes.facts["likelihoods"] == pytest.approx([typed, added])


def test_a_turn_that_does_not_help_is_left_out_where_the_evidence_is_better_without_it() -> None:
    history: list[Turn] = [("Which orders are late?", ""), ("How much does it cost?", "")]
    found = evidence(lambda question, title: float(question == "and the spa? (How much does it cost?)"))
    read = FollowUp(found)(Query("and the spa?", "and the spa?"), history)
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
    query = FollowUp(spent(judged))(Query(typed, ""), LAYERS)
    assert (query.question, query.asked) == (understood, typed)
    assert "all readings" in query.notes.degraded[0]


def test_the_models_words_are_searched_and_what_was_asked_is_kept() -> None:
    found = evidence(lambda question, title: float(question == HEADS))
    query = FollowUp(found, _model(HEADS))(Query("And how many heads?", ""), LAYERS)
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


def test_a_title_is_added_as_far_as_there_is_room() -> None:
    found = evidence(lambda question, title: 0.9, "word " * 1000)
    assert len(found.best(Query("Who wrote it?", "x")).title) == MOST_ADDED
    assert (
        PassageFinder(lambda query: Judged(()), Judge(lambda *_: 1.0)).best(Query("Who wrote it?", "x")).probability
        == 0.0
    )


WINDOW: list[Turn] = [("Does Longformer use global attention?", "It does. [1]")]


@pytest.mark.parametrize(
    ("here", "elsewhere", "understood"),
    [
        (0.8, 0.9, "what is the window size? (Longformer)"),
        (0.1, 0.9, "what is the window size?"),
        (0.9, 0.8, "what is the window size?"),
    ],
)
def test_a_question_that_names_nothing_stays_in_the_document_before_where_that_answers_it(
    here: float, elsewhere: float, understood: str
) -> None:
    def likely(question: str, title: str) -> float:
        before, own = question == WINDOW[0][0], title == "Longformer"
        return 0.95 * own if before else here if own else elsewhere

    query = FollowUp(evidence(likely, "YaRN", "Longformer"))(Query("what is the window size?", "x"), WINDOW)
    assert query.standalone == understood
    assert query.question == "what is the window size?", "its passages are judged for what was typed"


def test_a_question_that_stands_alone_is_not_kept_in_a_document_that_lacks_a_name_of_it() -> None:
    def likely(question: str, title: str) -> float:
        return {"Longformer": 0.95}.get(title, 0.0) if question == WINDOW[0][0] else {"YaRN": 0.9}.get(title, 0.8)

    found, other = evidence(likely, "YaRN", "Longformer"), "Which GPUs does OPT need?"
    assert FollowUp(found)(Query(other, "x"), WINDOW).standalone == other
    assert FollowUp(found)(Query("Which memory is needed?", "x"), WINDOW).topic == "Longformer"


def test_a_pronoun_after_an_unanswered_question_stands_for_nothing_else() -> None:
    likely = evidence(lambda question, title: 0.97 if question == "how many passages does it read?" else 0.1)
    query = FollowUp(likely)(Query("how many passages does it read?", "x"), [("What is FiD?", "Nothing.")])
    assert query.question == "how many passages does it read? (What is FiD?)"


@pytest.mark.parametrize(("title", "understood"), [("XLNet", "and XLNet?"), ("OPT", "and XLNet? (how long was it?)")])
def test_a_name_alone_leaves_the_topic_for_a_document_of_that_name_only(title: str, understood: str) -> None:
    found = evidence(lambda question, one: 0.97 if question == "and XLNet?" else 0.1, title)
    assert FollowUp(found)(Query("and XLNet?", "x"), [("how long was it?", "")]).question == understood


def test_the_topic_of_a_pronoun_is_the_subject_and_not_the_question_before() -> None:
    history: list[Turn] = [("What is PagedAttention?", ""), ("what does it solve? (What is PagedAttention?)", "")]
    assert with_topic("who proposed it?", history)[0] == "who proposed it? (What is PagedAttention?)"
    assert with_topic("and where?", history)[0] == "and where? (what does it solve? What is PagedAttention?)"


def _model(*replies: str) -> LanguageModel:
    return ScriptedModel([json.dumps({"question": reply}) for reply in replies])


def test_what_says_only_of_what_stays_in_the_document_that_answered() -> None:
    def likely(question: str, title: str) -> float:
        return 0.9 if title == "BERT" else 0.95 if "big" in question else 0.1

    query = FollowUp(evidence(likely, "BERT", "XL"))(Query("for the big one?", "x"), [("How many heads has BERT?", "")])
    assert query.topic == "BERT"
