"""What a person meets who types `import thresher`: names, arguments of a wrong type, an answer to look at."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

import thresher
from thresher.answer import Answer
from thresher.collection import Collection
from thresher.errors import UsageError, WrongType

QUESTION = "When was the Kõpu lighthouse built?"


def test_dir_and_help_say_what_there_is() -> None:
    assert {"open", "Collection", "Answer", "Citation", "ThresherError", "recipes"} <= set(dir(thresher))
    assert dir(thresher) == sorted(thresher.__all__)
    assert "recipes.derive" in str(thresher.__doc__)
    assert issubclass(thresher.WrongType, TypeError)


@pytest.mark.parametrize(
    ("call", "told"),
    [
        (lambda one: one.ask(42), "`question`: is 42 (int); give a text"),
        (lambda one: one.ask(None), "`question`: is None (NoneType); give a text"),
        (lambda one: one.ask("q", recipe=3), "`recipe`: is 3 (int); give the name of a recipe"),
        (lambda one: one.ask("q", where=4), "`where`: is 4 (int); give a filter as text"),
        (lambda one: one.ask("q", settings="upper=1"), "`settings`: is 'upper=1' (str); give a mapping"),
        (lambda one: one.ask("q", history=["x"]), "`history`: is 'x' (str); give pairs"),
        (lambda one: one.ask("q", outside=4), "`outside`: is 4 (int); give none, web"),
        (lambda one: one.ask("q", on_sentence="x"), "`on_sentence`: is 'x' (str); give a function"),
        (lambda one: one.ask("q", budget_seconds="5"), "`budget_seconds`: is '5' (str); give a number"),
        (lambda one: one.ask("q", strict="no"), "`strict`: is 'no' (str); give True or False"),
        (lambda one: one.add("x", recipe=5), "`recipe`: is 5 (int); give one, or a list of them"),
        (lambda one: one.add("x", metadata="x"), "`metadata`: is 'x' (str); give a mapping"),
        (lambda one: one.document(5), "`document_id`: is 5 (int); give the id of a document"),
        (lambda one: one.replay(5), "`trace`: is 5 (int); give the id of an answer"),
        (lambda one: one.calibrate("x"), "`questions`: is 'x' (str); give pairs of a question and whether"),
        (lambda one: one.calibrate(number="x"), "`number`: is 'x' (str); give a whole number"),
        (lambda one: one.search("q", limit="5"), "`limit`: is '5' (str); give a whole number"),
        (lambda one: one.search("q", limit=True), "`limit`: is True (bool); give a whole number"),
        (lambda one: one.add(42), "`source`: is 42 (int); give a path"),
        (lambda one: one.delete(42), "`source`: is 42 (int); give a file"),
        (lambda one: thresher.open(42), "`home`: is 42 (int); give a folder"),
        (lambda one: thresher.open("home", 7), "`collection`: is 7 (int); give the name"),
    ],
)
def test_an_argument_of_a_wrong_type_is_told(call: Callable[[Any], object], told: str, collection: Collection) -> None:
    with pytest.raises(WrongType) as raised:
        call(collection)
    assert told in str(raised.value)


@pytest.mark.parametrize(
    ("call", "told"),
    [
        (lambda one: one.ask(QUESTION, recipee="rag"), "recipee: unknown option of `ask`; did you mean 'recipe'"),
        (lambda one: one.ask(QUESTION, budget_calls=-1), "`budget_calls` -1: must be at least 0"),
        (lambda one: one.add(), "nothing was given to add"),
        (lambda one: one.ask("  \n\t"), "the question is empty"),
        (lambda one: one.evidence(" "), "the question is empty"),
        (lambda one: one.evidence(QUESTION, limit=0), "`limit` 0: must be at least 1"),
    ],
)
def test_what_cannot_be_done_is_told(call: Callable[[Any], object], told: str, collection: Collection) -> None:
    with pytest.raises(UsageError, match=told):
        call(collection)


# --- an answer to look at ---------------------------------------------------------------------------------------------


@pytest.fixture
def answer(collection: Collection) -> Answer:
    return collection.ask(QUESTION)


def test_an_answer_has_its_evidence_and_its_chunks(answer: Answer) -> None:
    assert answer.evidence
    assert all(piece.text in piece.hit.chunk.text for piece in answer.evidence)
    assert {piece.hit.chunk.id for piece in answer.evidence} == {
        fate.hit.chunk.id for fate in answer.chunks if fate.kept
    }


def test_an_answer_prints_as_its_text_and_its_citations(answer: Answer) -> None:
    passage, citation, *_ = str(answer).splitlines()
    assert passage.startswith("Here: “**The Kõpu lighthouse was built in 1531.**")
    assert citation.startswith("  [1] ")


def test_an_answer_is_markdown_with_its_citations(answer: Answer) -> None:
    heading, _, text, *rest = answer.to_markdown().splitlines()
    assert heading == f"### {QUESTION}"
    assert text.startswith("Here: “**The Kõpu lighthouse was built in 1531.**")
    assert any("> The Kõpu lighthouse was built in 1531." in line for line in rest)


def test_nothing_of_a_document_becomes_markup(answer: Answer) -> None:
    evil = '<script>alert("x")</script> **bold** [link](http://evil)'
    (fate, *_), (cited, *_) = answer.chunks, answer.citations
    hit = replace(fate.hit, chunk=replace(fate.hit.chunk, text=evil, title=evil, source=evil))
    bad = replace(
        answer,
        question=evil,
        text=evil,
        reason=evil,
        citations=(replace(cited, quote=evil, title=evil, source=evil),),
        chunks=(replace(fate, hit=hit, reason=evil),),
        degraded=(evil,),
    )
    written = bad._repr_markdown_()  # what a notebook shows
    assert "<script" not in written.replace(r"\<script", "")
    assert "](" not in written.replace(r"\](", "")
    assert "**" not in written
