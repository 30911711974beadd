"""Questions about a document as a whole: its outline, named as one, and no passages that pass for all of it."""

from __future__ import annotations

from pathlib import Path

import pytest

import thresher
from tests.conftest import Run
from thresher import recipes
from thresher.collection import Collection
from thresher.question.intent import asks_about_whole

BOILER = """---
author: Ada Kask
date: 2023-03-04
---
# Boiler manual

## Safety

Close the gas valve before any work. Wear gloves.

## Faults

| Fault | Meaning |
|---|---|
| E5 | Low water |

## Service

The boiler is serviced every year in May.
"""
LEASE = "The lease of the mill runs until 30 June 2031.\n\nThe rent is 900 euros a month.\n"


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("whole")
    (folder / "papers").mkdir()
    (folder / "papers" / "boiler_manual.md").write_text(BOILER)
    (folder / "papers" / "lease.txt").write_text(LEASE)
    with thresher.open(str(folder / "home")) as collection:
        collection.add(str(folder / "papers"))
    return folder / "home"


@pytest.fixture
def collection(home: Path) -> Collection:
    return thresher.open(str(home))


@pytest.mark.parametrize(
    "question",
    ["Summarise boiler_manual.md", "what is the boiler manual about?", "Give me an overview of the Boiler manual"],
)
def test_a_named_document_is_told_as_its_outline(collection: Collection, question: str) -> None:
    answer = collection.ask(question)
    first, *lines = answer.text.split("\n")
    assert first.startswith("An outline of “Boiler manual” (boiler_manual.md), not a summary: 4 headings, 1 table,")
    assert first.endswith("by Ada Kask, dated 4 March 2023.")
    assert "- Safety: “Close the gas valve before any work.” [1]" in lines
    assert "- Faults: a table of 1 row: Fault, Meaning [2]" in lines
    assert "- Service: “The boiler is serviced every year in May.” [3]" in lines
    for citation in answer.citations:
        assert collection.document(citation.document_id).text[citation.start : citation.end] == citation.quote
    assert answer.citations[0].locator == "line 9, under “Safety”"


def test_a_document_without_headings_is_told_by_its_paragraphs(collection: Collection) -> None:
    assert "- “The rent is 900 euros a month.” [2]" in collection.ask("What is lease.txt about?").text


def test_a_document_that_is_not_named_is_that_of_the_question_before(collection: Collection) -> None:
    answer = collection.ask("Can you summarise it?", history=[("How much is the rent of the mill?", "900 euros")])
    assert answer.text.startswith("An outline of “lease”")
    again = collection.ask("What is this document about?", history=[("Summarise the boiler manual", "An outline")])
    assert again.text.startswith("An outline of “Boiler manual”")


def test_without_a_topic_it_is_asked_which_document_is_meant(collection: Collection) -> None:
    answer = collection.ask("What is this document about?")
    assert (answer.abstained, answer.state, answer.citations) == (True, "refused", ())
    assert "Which document is meant?" in answer.text


def test_only_corrective_and_what_is_derived_from_it_outline(collection: Collection) -> None:
    derived = recipes.derive("corrective", settings={"rewrite": False})
    told = {name: collection.ask("Summarise lease.txt", recipe=name).text for name in ("corrective", "rag", "hybrid")}
    assert collection.ask("Summarise lease.txt", recipe=derived).text == told["corrective"]
    assert [name for name, text in told.items() if text.startswith("An outline")] == ["corrective"]


def test_an_outline_is_the_last_answer_that_is_explained(home: Path, run: Run) -> None:
    for question in ("What is the rent of the mill?", "Summarise lease.txt"):
        run("ask", question, "--home", home)
    explained = run("explain", "--home", home).out
    assert explained.startswith("question  Summarise lease.txt\nrecipe    corrective\nanswer    An outline of “lease”")
    assert "nothing to do: rewrite, retrieve, judge, correct, refine" in explained


@pytest.mark.parametrize("question", ["Summarise lease.txt", "Can you summarise it?", "What is this document about?"])
@pytest.mark.parametrize("history", [[], [("How much is the rent of the mill?", "900 euros")]])
def test_a_replay_reaches_the_outline_or_the_question_back(
    collection: Collection, question: str, history: list[tuple[str, str]]
) -> None:
    answer = collection.ask(question, history=history)
    again, differences = collection.replay(answer.trace)
    assert (again.text, again.state, differences) == (answer.text, answer.state, [])


def test_a_filter_holds_for_outlines_too(collection: Collection) -> None:
    answer = collection.ask("Summarise lease.txt", where="kind = 'markdown'")
    assert not answer.text.startswith("An outline")


@pytest.mark.parametrize(
    "question",
    ["What is the rent of the mill?", "Summarise the rent", "What about the service?", "When is the boiler serviced?",
     "What does the lease say about rent?"],
)  # fmt: skip
def test_questions_about_what_a_document_says_are_answered_from_it(collection: Collection, question: str) -> None:
    assert not collection.ask(question).text.startswith("An outline")


@pytest.mark.parametrize(
    ("question", "named"),
    [
        ("Please summarize the report", "report"),
        ("outline of 'a b.pdf'", "a b.pdf"),
        ("what's the lease all about", "lease"),
        ("Summarise this document for me.", ""),
        ("what is this about: boats.md", "boats.md"),
        ("tell me about the file boats.md", "boats.md"),
        ("what's in boats.md", "boats.md"),
        ("describe the pdf my boats.pdf", "my boats.pdf"),
        ("what does boats.md contain?", "boats.md"),
        ("boats.md summary", "boats.md"),
        ("give me an overview", ""),
        ("summarise", ""),
        ("what's in the document?", ""),
        ("What is the fee?", None),
        ("tell me about the ferry", None),
        ("tell me about the paper mill", None),
        ("what's in the cellar?", None),
        ("what does boats.md say about anchors?", None),
        ("what is a summary judgment?", None),
        ("What is the talk about the fee?", None),
    ],
)
def test_what_is_asked_about_as_a_whole_is_known_by_the_form_of_the_question(question: str, named: str | None) -> None:
    assert asks_about_whole(question) == named
