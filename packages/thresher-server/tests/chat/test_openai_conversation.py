"""Which of the messages is the question, what came before it, and what is read of each."""

from __future__ import annotations

from dataclasses import replace

import pytest

from thresher.answer import Answer
from thresher.types import PROBABILITY, Alternative, Citation, Score
from thresher_server.openai.answer_text import marks, tail, without_tail
from thresher_server.openai.conversation import TURN_CHARACTERS, TURNS, Part, conversation, question_of, text_of
from thresher_server.problems import Problem


@pytest.mark.parametrize(
    ("said", "question", "history"),
    [
        (
            [
                ("system", "Be brief."),
                ("user", "When does it leave?"),
                ("assistant", "06:40 [1]\n\nSources:\n- [1] The ferry"),
                ("tool", "ignored"),
                ("user", "And back?"),
            ],
            "And back?",
            [("When does it leave?", "06:40 [1]")],
        ),
        (
            [("user", "About the ferry."), ("user", "When does it leave?")],
            "When does it leave?",
            [("About the ferry.", "")],
        ),
        (
            [("user", "One?"), ("assistant", "Yes."), ("user", "Two?"), ("assistant", "Half an ans")],
            "Two?",
            [("One?", "Yes.")],
        ),
    ],
    ids=["answered", "in a row", "to go on"],
)
def test_the_last_question_is_asked_and_the_turns_before_are_history(
    said: list[tuple[str, str]], question: str, history: list[tuple[str, str]]
) -> None:
    told = conversation(said)
    assert (told.question, list(told.history)) == (question, history)
    assert told.instructions == "\n".join(text for role, text in said if role == "system")


def test_a_long_conversation_is_kept_by_its_end() -> None:
    said = [pair for at in range(30) for pair in (("user", f"Question {at}?"), ("assistant", "long " * 9000))]
    told = conversation([*said, ("user", "And now?")])
    assert len(told.history) == TURNS
    assert told.history[-1][0] == "Question 29?"
    assert max(len(text) for text in told.texts) == TURN_CHARACTERS


@pytest.mark.parametrize("said", [[], [("system", "Be brief.")], [("user", "  ")], [("assistant", "Yes.")]])
def test_a_conversation_without_a_question_is_refused(said: list[tuple[str, str]]) -> None:
    with pytest.raises(Problem, match="role user"):
        conversation(said)


@pytest.mark.parametrize("kind", ["image_url", "input_audio", "file", "input_image", "no_such_thing"])
def test_only_text_is_read(kind: str) -> None:
    assert text_of([Part(type="text", text="a"), Part(type="input_text", text="b"), Part(type="text")]) == "a\nb"
    with pytest.raises(Problem, match="cannot be read in a question"):
        text_of([Part(type="text", text="a"), Part(type=kind)])
    assert text_of([Part(type="text", text="a"), Part(type=kind)], earlier=True) == "a"


@pytest.mark.parametrize(
    "text",
    [
        "### Task:\nAnswer.\n<context>\nx </context>\n</context>\n\nWhen?",
        "### Task:\nAnswer.\n<context>\nx\n</context>\n<user_query>\nWhen?\n</user_query>",
        "### Task:\nAnswer.\n<user_query>When?</user_query>\n<context>\nx\n</context>\n",
        "When?\n",
    ],
)
def test_the_question_is_found_behind_material_of_the_client(text: str) -> None:
    assert question_of(text) == "When?"


def files_of(*names: str) -> str:
    sources = "\n".join(f'<source id="{at}" name="{name}">Words.</source>' for at, name in enumerate(names, start=1))
    return f"### Task:\nAnswer.\n<context>\n{sources}\n</context>\n"


@pytest.mark.parametrize(
    ("said", "unread"),
    [
        ([("user", f"{files_of('a.pdf', 'b &amp; c.md', 'a.pdf')}When?")], ("a.pdf", "b & c.md")),
        ([("system", files_of("a.pdf")), ("user", "When?")], ("a.pdf",)),
        ([("user", "### Task:\nAnswer.\n<context>\nWords.\n</context>\nWhen?")], ("text that the chat program added",)),
        ([("user", "### Task:\nAnswer.\n<context>\n\n</context>\nWhen?")], ()),
        ([("user", f"{files_of('a.pdf')}Where?"), ("assistant", "Here."), ("user", "When?")], ()),
        ([("user", 'What is <source name="a">?')], ()),
    ],
)
def test_files_of_the_client_are_named_as_unread(said: list[tuple[str, str]], unread: tuple[str, ...]) -> None:
    assert conversation(said).unread == unread


def test_an_answer_ends_with_the_files_that_were_not_read_and_a_client_sends_them_back() -> None:
    told = tail(answer("a [1]", 1), listed=False, linked=False, unread=[f"{at}.pdf" for at in range(7)])
    assert told.startswith("\n\nNot read: 0.pdf, 1.pdf, 2.pdf, 3.pdf, 4.pdf, 2 more. Only the documents of the coll")
    assert without_tail(f"a [1]{told}") == "a [1]"


# --- the text of an answer --------------------------------------------------------------------------------------------


def answer(text: str, *markers: int, reason: str | None = None, source: str = "/x/a.pdf") -> Answer:
    score = Score(0.5, PROBABILITY)
    cited = tuple(Citation(number, "d", source, "A", 2, 0, 5, "words", score, url="http://x/d") for number in markers)
    return Answer("q", "rag", text, abstained=reason is not None, reason=reason, citations=cited, trace="t")


def test_a_number_inside_a_quote_is_no_marker() -> None:
    told = answer("“As shown in [2], it is so.” [1] And “more” [2]; see [7].", 1, 2)
    assert [(start, citation.marker) for start, _, citation in marks(told)] == [(29, 1), (44, 2)]


def test_the_list_of_sources_says_where_to_look() -> None:
    assert tail(answer("a [1]", 1), listed=True, linked=False) == "\n\nSources:\n- [1] A (a.pdf), page 2"
    assert tail(answer("a [1]", 1), listed=True, linked=True).endswith("page 2 <http://x/d>")
    assert tail(answer("a [1]", 1), listed=False, linked=True) == ""


def test_a_page_of_the_web_has_its_address_in_any_case() -> None:
    told = tail(answer("a [1]", 1, source="https://example.org/a"), listed=True, linked=False)
    assert told == "\n\nSources:\n- [1] A, page 2 <http://x/d>"


def test_a_doubt_is_followed_by_its_reason_and_by_further_passages() -> None:
    nearest = answer("In doubt, the nearest passage: “words” [1]", 1, reason="The passage does not name Seal Rock.")
    other = Alternative("“words” [2]", replace(nearest.citations[0], marker=2), 0.4)
    told = replace(nearest, abstained=False, state="doubtful", alternatives=(other,))
    behind = tail(told, listed=False, linked=False)
    also = "Other passages that may answer:\n- [2] A (a.pdf), page 2: “words”"
    assert behind == f"\nWhy: The passage does not name Seal Rock.\n\n{also}"
    assert without_tail(told.text + behind) == told.text
    followed = tail(replace(told, standalone="And Seal Rock?"), listed=True, linked=False)
    heads = ["Why:", "Understood as: And Seal Rock?", "Sources:\n- [1]", "Other passages", "- [2]"]
    assert [followed.index(head) for head in heads] == sorted(followed.index(head) for head in heads)


def test_an_answer_of_a_model_ends_with_what_contradicts_it() -> None:
    told = replace(answer("90 days [1]", 1, 2), conflicts=((1, 2),), answered_by="model")
    assert tail(told, listed=False, linked=False) == "\n\nThese sources contradict each other: [1] and [2]."


def test_what_stands_behind_an_answer_is_taken_off_again() -> None:
    contradicted = replace(answer("90 days [1]", 1, 2), conflicts=((1, 2),), answered_by="model")
    for told in (answer("Yes. [1]", 1), answer("No answer.", reason="nothing fits"), contradicted):
        assert without_tail(told.text + tail(told, listed=True, linked=False)) == told.text
