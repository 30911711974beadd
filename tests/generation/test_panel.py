from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import pytest
from hypothesis import given
from hypothesis import strategies as some

from tests.generation.answering import certain, panel, piece
from thresher.errors import UsageError
from thresher.generation.answerers.spans import SpanAnswerer
from thresher.generation.candidates import Candidate, Signs
from thresher.generation.citations import cite, quoted
from thresher.generation.material import Material
from thresher.generation.panel import NAMED, Panel
from thresher.generation.select import AnswerThresholds, Row
from thresher.generation.sentence_support import SUPPORT, Sentence
from thresher.text.terms import index_terms
from thresher.types import Evidence, Generation, Query, Score


@dataclass(frozen=True)
class Saying:
    """Proposes what a function makes of the question and the evidence."""

    name: str
    say: Callable[[Query, Sequence[Evidence]], Sequence[Candidate]]
    asked: list[str] = field(default_factory=list)

    def __call__(self, query: Query, material: Material) -> Sequence[Candidate]:
        self.asked.append(query.question)
        return self.say(query, material.evidence)


def quote(by: str, each: Evidence) -> Candidate:
    citation = cite(1, Sentence.whole(each, Score(0.5, SUPPORT)))
    return Candidate(Generation(quoted(citation), (citation,)), by)


def first(query: Query, evidence: Sequence[Evidence]) -> Sequence[Candidate]:
    """Quotes the first piece whose words the question shares."""
    words = set(index_terms(query.question))
    return [quote("first", each) for each in evidence if words & set(index_terms(each.text))][:1]


FIRST = Saying("first", first)


def ask(read: Panel, question: str, *evidence: Evidence) -> Generation:
    return read(Query(question, question), evidence)


# --- parts of a question ----------------------------------------------------------------------------------------------


def of_parts() -> Panel:
    return panel([FIRST], {"first": certain(0.9)})


def test_each_part_is_answered_and_its_citations_are_numbered_through() -> None:
    answer = ask(of_parts(), "How many layers and heads has BERT?", piece("BERT has 12 layers and 12 heads."))
    quoted_once = "“BERT has 12 layers and 12 heads.”"
    assert answer.text == f"How many layers has BERT? {quoted_once} [1]\nHow many heads has BERT? {quoted_once} [2]"
    assert [citation.marker for citation in answer.citations] == [1, 2]
    assert [one["answered"] for one in answer.notes.facts["parts"]] == [True, True]


def test_a_part_that_nothing_answers_is_said_to_be_and_none_is_an_abstention() -> None:
    question = "Who signed the lease and when does the war end?"
    answer = ask(of_parts(), question, piece("Miller signed the lease."))
    assert answer.text == "Who signed the lease? “Miller signed the lease.” [1]\nWhen does the war end? Not stated."
    none = ask(of_parts(), question, piece("Nothing here."))
    assert none.abstained
    assert [one["answered"] for one in none.notes.facts["parts"]] == [False, False]


def test_a_part_that_nothing_answers_is_shown_where_it_is_named() -> None:
    def of_the_lease(query: Query, evidence: Sequence[Evidence]) -> Sequence[Candidate]:
        return [quote("first", evidence[0])] if "lease" in query.question else []

    read = panel([Saying("first", of_the_lease)], {"first": certain(0.9)})
    pieces = piece("Miller signed the lease."), piece("The Semmering railway is steep.", document="d2")
    answer = ask(read, "Who signed the lease and who designed the Semmering railway?", *pieces)
    assert answer.text.splitlines()[1].endswith(f"{NAMED} “The Semmering railway is steep.” [2]")


def test_one_number_is_not_how_many_of_two_things() -> None:
    text = "It has 236 parameters, of which 21 are used."

    def number(query: Query, evidence: Sequence[Evidence]) -> Sequence[Candidate]:
        citation = cite(1, Sentence.whole(evidence[0], Score(0.5, SUPPORT)))
        signs = Signs(relevance=2.0 if "used" in query.question else 0.0)
        return [Candidate(Generation("21 [1]", (citation,), exact=True), "number", signs)]

    read = panel([Saying("number", number)], {"number": certain(0.5, {"relevance": 1.0})})
    question = "How many parameters does it have and how many parameters are used?"
    answer = ask(read, question, piece(text))
    assert [line.rpartition("? ")[2] for line in answer.text.splitlines()] == ["Not stated.", "21 [1]"]
    hedged = panel(
        [Saying("number", number)],
        {"number": certain(0.5, {"relevance": 1.0})},
        thresholds=AnswerThresholds(0.3, 0.6),
    )
    assert "Not stated." in ask(hedged, question, piece(text)).text


def test_the_certainty_of_several_answers_is_that_of_the_least_certain() -> None:
    def one(query: Query, evidence: Sequence[Evidence]) -> Sequence[Candidate]:
        signs = Signs(relevance=2.0 if "lease" in query.question else 1.0)
        return [Candidate(quote("one", evidence[0]).answer, "one", signs)]

    read = panel([Saying("one", one)], {"one": certain(0.5, {"relevance": 1.0})})
    alone = ask(read, "When does the war end?", piece("Miller signed it."))
    both = ask(read, "Who signed the lease and when does the war end?", piece("Miller signed it."))
    assert both.certainty == alone.certainty


# --- siblings ---------------------------------------------------------------------------------------------------------


def test_all_answerers_are_asked_and_the_most_certain_of_all_candidates_is_the_answer() -> None:
    here = Saying("here", lambda query, evidence: [quote("here", evidence[0])])
    there = Saying("there", lambda query, evidence: [quote("there", evidence[1])])
    silent = Saying("silent", lambda query, evidence: ())
    read = panel([here, silent, there], {"here": certain(0.7), "there": certain(0.9)})
    answer = ask(read, "Where is it?", piece("It is here."), piece("It is there.", document="d2"))
    assert answer.text == "“It is there.” [1]"
    assert here.asked == there.asked == silent.asked == ["Where is it?"]
    assert [one["by"] for one in answer.notes.facts["candidates"]] == ["there", "here"]
    assert answer.notes.facts["kind"] == "fact"
    assert read.about == "here, silent, there"


def test_nothing_proposed_is_an_abstention_that_says_what_the_evidence_lacks() -> None:
    silent = panel([Saying("silent", lambda query, evidence: ())], {})
    answer = ask(silent, "What is the total of K-12?", piece("The total of order K-11 is 600 euros."))
    assert answer.abstained
    assert answer.reason == "No document that was found names K-12."


def test_the_evidence_is_read_once_for_all_answerers() -> None:
    read: list[int] = []

    @dataclass(frozen=True)
    class Places:
        name: str

        def __call__(self, query: Query, material: Material) -> Sequence[Candidate]:
            read.append(id(material.places))
            return ()

    ask(panel([Places("one"), Places("other")], {}), "Where is it?", piece("It is here in the hall."))
    assert len(read) == 2
    assert len(set(read)) == 1


TEXTS = ["It is in the old hall.", "It is in the new hall.", "It is on the roof."]
MADE = some.lists(
    some.tuples(some.sampled_from(["a", "b", "c"]), some.sampled_from(range(3)), some.integers(-4, 4), some.booleans()),
    max_size=6,
)


@given(MADE)
def test_a_panel_and_its_reverse_give_the_same_answer(made: list[tuple[str, int, int, bool]]) -> None:
    evidence = [piece(text, document=f"d{number}") for number, text in enumerate(TEXTS)]

    def saying(name: str) -> Saying:
        proposals = [
            Candidate(quote(name, evidence[at]).answer, name, Signs(relevance=float(relevance)), is_passage=passage)
            for by, at, relevance, passage in made
            if by == name
        ]
        return Saying(name, lambda query, evidence: proposals)

    answerers = [saying("a"), saying("b"), saying("c"), SpanAnswerer(0.1)]
    rows = dict.fromkeys(("a", "b", "c", "spans"), certain(0.4, {"relevance": 0.5}))
    thresholds = AnswerThresholds(0.3, 0.6)
    one, other = panel(answerers, rows, thresholds=thresholds), panel(answerers[::-1], rows, thresholds=thresholds)
    for question in ("Where is it?", "Where is the hall and where is the roof?"):
        assert ask(one, question, *evidence) == ask(other, question, *evidence)


# --- further answerers ------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Rowed(Saying):
    """An answerer that brings its row."""

    certainty: Row = field(default_factory=lambda: certain(0.8))


def test_an_answerer_of_ones_own_brings_its_row_and_takes_the_place_of_one_of_its_name() -> None:
    read = panel([FIRST], {"first": certain(0.9)})
    own = Rowed("own", lambda query, evidence: [quote("own", evidence[1])])
    again = Rowed("first", lambda query, evidence: [quote("first", evidence[1])])
    joined = read.joined_by([own])
    assert (joined.about, read.about) == ("first, own", "first")
    pieces = piece("The lease is signed."), piece("It is there.", document="d2")
    answer = ask(joined, "Who signed the lease?", *pieces)
    assert {one["by"]: one["certainty"] for one in answer.notes.facts["candidates"]} == {"first": 0.9, "own": 0.8}
    assert ask(read.joined_by([again]), "Who signed the lease?", *pieces).certainty == pytest.approx(0.8)
    assert ask(read, "Who signed the lease?", *pieces).certainty == pytest.approx(0.9)


def test_one_without_a_row_is_an_error_before_a_question_is_asked() -> None:
    with pytest.raises(UsageError, match="answerer own"):
        panel([FIRST], {"first": certain(0.9)}).joined_by([Saying("own", first)])
