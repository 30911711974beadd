"""What people say of answers, from the command line and the library to what calibrating and training read."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

import thresher
from tests.conftest import Run
from thresher.errors import UsageError
from thresher.recipes.calibrate import answerable
from thresher.tracing.feedback import Label, LabelledPassage

RAG = ("--recipe", "rag")
QUESTION = "When was the Kõpu lighthouse built?"


def label(question: str, *, right: bool, abstained: bool = False, answer: str | None = None, cited: str = "") -> Label:
    found = (LabelledPassage("pumps.txt", "Pumps", 0, len(cited), cited),) if cited else ()
    return Label(question, question, right, answer, abstained, found, "2026-01-01")


# --- kept -------------------------------------------------------------------------------------------------------------


def test_an_answer_is_labelled_by_its_trace_by_last_and_by_itself(home: Path) -> None:
    with thresher.open(home) as collection:
        answer = collection.ask(QUESTION, recipe="rag")
        by_trace = collection.feedback(answer.trace, right=True)
        assert collection.feedback("last", True).passages == by_trace.passages
        label = collection.feedback(answer, False, "in 1531")
        assert collection.labels.labels() == [label]
    assert (label.trace, label.question, label.right, label.answer) == (answer.trace, QUESTION, False, "in 1531")
    assert label.passages == by_trace.passages
    assert "1531" in label.passages[0].text
    assert label.passages[0].source.endswith("lighthouse.md")


def test_what_cannot_be_labelled_is_told(home: Path) -> None:
    shutil.rmtree(home / "collections" / "default" / "traces", ignore_errors=True)
    with thresher.open(home) as collection:
        given: list[tuple[Any, Any, Any, str]] = [
            ("nothing", True, None, "no such trace"),
            ("last", True, None, "no question was asked"),
            (None, True, None, "`trace`"),
            ("last", "right", None, "`right`"),
            ("last", True, 1531, "`answer`"),
        ]
        for trace, right, answer, told in given:
            with pytest.raises(UsageError, match=told):
                collection.feedback(trace, right, answer)
        assert collection.labels.labels() == []


def test_a_purge_drops_the_labels_that_quote_what_goes(home: Path) -> None:
    with thresher.open(home) as collection:
        collection.feedback(collection.ask(QUESTION, recipe="rag"), right=True)
        collection.delete("old/cheese.txt")
        assert len(collection.labels.labels()) == 1
        thresher.collections(home).copy("default", "second")
        with thresher.open(home, "second") as second:
            assert second.labels.labels() == []
        collection.delete("lighthouse.md", purge=True)
        assert "1531" not in (collection.folder / "feedback.jsonl").read_text(encoding="utf-8")


def test_the_command_keeps_what_is_said_of_the_last_answer(home: Path, run: Run) -> None:
    run("ask", QUESTION, *RAG, "--home", home)
    ran = run("feedback", "last", "right", "--home", home)
    assert ran.out == f"right: “{QUESTION}”; 1 label in this collection\n"
    told = run("feedback", "last", "wrong", "--answer", "1531", "--home", home, "--json").json
    assert (told["right"], told["answer"], told["question"]) == (False, "1531", QUESTION)
    assert run("feedback", told["trace"], "right", "--home", home).code == 0
    for words in (("last",), ("last", "perhaps"), ("nothing", "right"), ("last", "wrong", "--answer", "")):
        assert run("feedback", *words, "--home", home).code == 2


# --- read -------------------------------------------------------------------------------------------------------------

LABELS = [
    label("a?", right=True, cited="The seal is rubber."),
    label("b?", right=True, abstained=True),
    label("c?", right=False, cited="Lunch is at noon."),
    label("d?", right=False, answer="rubber", cited="Lunch is at noon."),
    label("e?", right=False, abstained=True),
]


def test_labels_say_which_questions_the_collection_answers() -> None:
    assert answerable(LABELS) == [("a?", True), ("b?", False), ("d?", True), ("e?", True)]
    assert answerable([*LABELS, label("b?", right=False, abstained=True)])[1] == ("b?", True)


@pytest.fixture(scope="module")
def barns(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """A collection of twenty-four barns."""
    home = tmp_path_factory.mktemp("barns")
    for at in range(24):
        text = f"The barn of Farm{at} was built by Ann Fielding in {1500 + at}. A fire destroyed it in {1800 + at}."
        (home / f"farm{at}.txt").write_text(text, encoding="utf-8")
    with thresher.open(home) as collection:
        collection.add(*(home / f"farm{at}.txt" for at in range(24)), recipe="corrective")
        yield collection


@pytest.mark.slow
def test_calibrating_counts_what_people_said_beside_the_made_and_the_given(barns: thresher.Collection) -> None:
    few = {"dense.depth": 5, "lexical.depth": 5}
    given = [(f"When was the barn of Farm{at} built?", True) for at in range(20)]
    given += [(f"Who is the mayor of Farm{at} Town?", False) for at in range(20)]
    before = barns.calibrate(given, settings=few), barns.calibrate(number=20, settings=few)
    for at in range(2):
        barns.feedback(barns.ask(f"When did a fire destroy the barn of Farm{at}?", settings=few), False, str(1800 + at))
    after = barns.calibrate(given, settings=few), barns.calibrate(number=20, settings=few)
    for one, other in zip(before, after, strict=True):
        assert (other.n_positive, other.n_negative) == (one.n_positive + 2, one.n_negative)
        assert other.source == one.source


@pytest.mark.slow
def test_a_question_that_is_labelled_twice_counts_as_the_file_has_it(barns: thresher.Collection) -> None:
    question = "Who painted the barn of Farm3?"
    barns.feedback(barns.ask(question), False, "nobody knows")
    given = [(f"When was the barn of Farm{at} built?", True) for at in range(20)]
    given += [(f"Who is the mayor of Farm{at} Town?", False) for at in range(19)]
    more = barns.calibrate([*given, (question, False)])
    assert more.n_negative == 20
