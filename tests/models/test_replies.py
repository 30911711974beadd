"""The text of a reply is the same however it is cut into pieces, and its form is read strictly."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as some

from thresher.errors import BudgetSpent, ProviderError
from thresher.models.replies import (
    DEEPEST,
    Spoken,
    Unreadable,
    asked,
    count,
    events,
    folded,
    grades_schema,
    is_deep,
    most_characters,
    number,
    read_choice,
    read_grades,
    read_integer,
    read_scores,
    read_text,
    scores_schema,
    whole_characters,
)
from thresher.testing.fakes import ScriptedModel

BITS = ["<think>", "</think>", "<thi", "nk>", "</", "a", "Ä", "word", " ", "\t", "\n", " \n \n", " " * 9]
PIECES = some.lists(some.sampled_from([*BITS, "\ud83d", "\ude00"]), max_size=12)


def spoken(pieces: list[str], *, tokens: int = 9) -> str:
    answer = Spoken(tokens)
    return "".join([*(answer.add(piece) for piece in pieces), answer.end()])


@given(PIECES)
def test_pieces_are_the_same_text_together_however_it_was_cut(pieces: list[str]) -> None:
    whole = "".join(pieces)
    text = spoken(pieces)
    assert text == spoken([whole]) == spoken(list(whole))
    text.encode()
    assert text == text.strip() == folded(text)
    assert "\n\n\n" not in text
    assert " " * 9 not in text


@given(PIECES, some.integers(0, 40))
def test_a_text_is_cut_at_the_same_place_however_it_comes(pieces: list[str], before: int) -> None:
    whole = "x" * (most_characters(0) - before) + "".join(pieces)
    assert spoken([whole], tokens=0) == spoken(list(whole), tokens=0)
    assert len(spoken([whole], tokens=0)) <= most_characters(0)


@pytest.mark.parametrize(
    ("said", "answer"),
    [("<think>Hm.</think> Twelve.", "Twelve."), ("  <think>Hm.", ""), ("No <think>.", "No <think>."), ("<thi", "<thi")],
)
def test_thoughts_before_an_answer_are_left_out(said: str, answer: str) -> None:
    reply = Spoken(100)
    assert reply.add(said) + reply.end() == answer
    assert reply.thought is said.strip().startswith("<think>")


def test_thoughts_without_an_end_are_read_as_long_as_they_may_be() -> None:
    reply = Spoken(1, 1)
    reply.add("<think>")
    pieces = 0
    while not reply.full:
        reply.add("on and on ")
        pieces += 1
    assert pieces * 10 < most_characters(2) + 30


@pytest.mark.parametrize("size", [1, 3, 1_000])
def test_events_are_read_however_the_bytes_are_cut(size: int) -> None:
    sent = (
        b': hello\r\n\r\ndata: {"a":\r\ndata: 1}\r\n\r\nevent: x\ndata:{"b": 2}\n\ndata: [DONE]\n\ndata: {"c": 3}\n\n'
    )
    assert list(events(sent[at : at + size] for at in range(0, len(sent), size))) == [{"a": 1}, {"b": 2}]
    with pytest.raises(ValueError, match="an error"):
        list(events([b'data: {"error": {"message": "overloaded"}}\n\n']))


@pytest.mark.parametrize("end", [b'data: {"b": 2}', b'data: {"b": 2}\n', b'data: {"b": 2}\n\ndata: [DONE]\n'])
def test_the_end_of_a_stream_needs_no_empty_line(end: bytes) -> None:
    def pieces() -> Iterator[bytes]:
        yield b'data: {"a": 1}\n\n' + end
        assert b"[DONE]" not in end, "more is waited for"

    assert list(events(pieces())) == [{"a": 1}, {"b": 2}]
    with pytest.raises(json.JSONDecodeError):
        list(events([b'data: {"a": 1}\n\ndata: {"b"']))


def test_a_count_is_between_none_and_the_most_and_a_negative_one_the_most() -> None:
    stated = [-1, float("inf"), 10**400, 3, 2.7, float("nan"), True, "3"]
    assert [count(value, 9) for value in stated] == [9, 9, 9, 3, 2, 0, 0, 0]


@pytest.mark.parametrize("value", [float("inf"), float("nan"), True, "1", None, 10**400])
def test_what_is_no_finite_number_is_refused(value: object) -> None:
    with pytest.raises((ValueError, OverflowError)):
        number(value)


def test_halves_of_a_character_are_joined_or_replaced() -> None:
    halves = ["\ud83d\ude00", "a\ud83d", "\ude00b", "\ud83d\ud83d\ude00"]
    assert [whole_characters(text) for text in halves] == ["\U0001f600", "a\ufffd", "\ufffdb", "\ufffd\U0001f600"]


def test_brackets_within_brackets_are_counted() -> None:
    shallow = (b"[" * DEEPEST + b"]" * DEEPEST, b'[{"index": 0, "text": "[1]"}],' * 1_000, b"")
    assert [is_deep(written) for written in shallow] == [False] * 3
    assert is_deep(b"[" * (DEEPEST + 1))
    assert is_deep(b'{"a": [' * DEEPEST)


# --- a form that was asked for ----------------------------------------------------------------------------------------

DEEP = "[" * 100_000

Read = Callable[[str], Any]

one_score: Read = partial(read_scores, number=1)
two_scores: Read = partial(read_scores, number=2)
one_grade: Read = partial(read_grades, number=1)
two_grades: Read = partial(read_grades, number=2)
query: Read = partial(read_text, field="query")
rating: Read = partial(read_integer, field="rating", low=1, high=5)
verdict: Read = partial(read_choice, field="verdict", options=("correct", "incorrect", "Ambiguous"))

READ: list[tuple[Read, Any, list[str]]] = [
    (two_scores, [0.1, 1.0], ['{"scores": [0.1, 1]}', "[0.1, 1.0]", 'Sure! {"scores": [0.1, 1]} There you are.']),
    (two_scores, [0.1, 1.0], ['  {"scores"\n:\n[ 0.1, "1" ]\n, "reason": "because"}\n\n', "```JSON\n[0.1, 1]\n```"]),
    (two_scores, [0.1, 1.0], ["Here are the scores:\n```\n[0.1, 1]\n```\nI hope this helps!"]),
    (two_scores, [0.1, 1.0], ['{"scores": [0.1, 1]}\n```json\n{ "scores": [ 0.1, 1 ] }\n```']),
    (
        one_score,
        [0.7],
        ['{"score": 0.7}', '{"score": "0.7"}', '{"score": [0.7]}', '{"scores": 0.7}', "[0.7]", '["7e-1"]'],
    ),
    (one_score, [0.7], ["0.7", ".7.", "0.7\n", '"0.7"', "**0.7**", "`0.7`", "```\n0.7\n```"]),
    (one_score, [0.7], ["Score: 0.7", "**Score:** 0.7"]),
    (two_grades, [0, 3], ['{"1": 0, "2": 3}', '{"2": 3.0, "1": "0"}', "[0, 3]", 'Here: {"1": 0, "2": 3}']),
    (one_grade, [2], ["2", "Grade: 2", '{"1": 2}']),
    (
        query,
        "red\nwine",
        ['{"query": "  red\\nwine "}', '{"query": "red\nwine"}', '```json\n{"query": "red\\nwine"}\n```'],
    ),
    (query, "a {brace}, a [1] and 🌾", ['{"query": "a {brace}, a [1] and 🌾"}']),
    (rating, 4, ['{"rating": 4}', '{"rating": 4.0}', '{"rating": "4"}', "4", "4.", "**Rating:** 4", "```\n4\n```"]),
    (verdict, "incorrect", ['{"verdict": " INCORRECT "}', "Incorrect.", '"incorrect".', "**Verdict:** **incorrect**"]),
    (verdict, "Ambiguous", ['{"verdict": "ambiguous"}', "```\nambiguous\n```"]),
]

UNREADABLE: list[tuple[Read, str]] = [  # each between two bars
    (one_score, """ 2.0 | 8 | -0.1 | 1.0000001 | 7/10 | 8 out of 10 | 70% | 1e999 | {"score": 8} | {"scores": [-0.1]} |
     {"score": "70%"} | {"scores": [1e999]} """),  # beyond 0 to 1, never clamped
    (one_score, """ NaN | inf | true | null | very relevant | 0x1 | 相关性：0.7 | 1,000 | {"scores": [NaN]} |
     {"scores": null} |
     {"scores": [Infinity]} | {"scores": ["nan"]} | {"scores": [true]} | {"scores": [null]} | {"scores": [""]} |
     {"scores": [[0.1]]} | {"scores": {"1": 0.1}} """),  # no numbers
    (one_score, """ | "" | { | {} | [] | . | {"scores": [0.1 | {"scores": [0.1,]} | {'scores': [0.1]} |
     {"scores": [.5]} |
     ```json {"scores": [0.1 | {"scores": [0.1]} and {"scores": [0. """),  # nothing, or half of something
    (one_score, """ 0.7, 0.8 | Score: 0.7 or 0.8 | {"scores": [0.1]} {"scores": [0.2]} |
     {"scores": [0.1], "scores": [0.2]} |
     ``` [0.1] ``` ``` [0.2] ``` | {"score": 0.1, "scores": [0.2]} | Passage [1] is good: {"scores": [0.7]} |
     Irrelevance: 0.9 | Passage 1: 0.9 | not 0.9 | about 0.7 | {"relevance": 0.7} | {"result": {"scores": [0.7]}} |
     <html>502 Bad Gateway</html> """),  # several, or one of another thing
    (two_scores, """ {"scores": [0.1]} | {"scores": [0.1, 0.2, 0.3]} | {"score": 0.7} | 0.7 | 0.7, 0.8 |
     see [0, 1] """),
    (two_grades, """ {"1": 2} | {"1": 2, "2": 2, "3": 0} | {"0": 2, "1": 2} | [1, 2, 3] | {"1": 2, "2": 4} """),
    (one_grade, """ {"1": 2, "1": 3} | {"1": 0.5} | {"1": true} | 2 or 3 | """),
    (query, r""" {"query": " \n "} | {"query": null} | {"query": ["red"]} | {"Query": "red"} |
     {"query": "half \ud800"} |
     {"query": "red | "red" | ["red"] | red wine | """),
    (rating, """ {"rating": 0} | {"rating": 6} | {"rating": 4.5} | {"rating": "4/5"} | {"rating": true} |
     {"rating": [4]} |
     {"rating": 1e999} | {"score": 4} | [4] | 4 or 5 | four """),
    (verdict, """ {"verdict": "not correct"} | {"verdict": ""} | {"verdict": true} | {"verdict": ["correct"]} |
     {"answer": "correct"} | not correct | It is correct. | correct, incorrect | richtig | """),
]  # fmt: skip
MORE = [
    "0.7\n0.7",
    "  \n",
    "\x00",
    "\ud800",
    DEEP,
    '{"scores": ' + DEEP,
    "9" * 5000,
    '{"scores": [' + "9" * 5000 + "]}",
]
"""What no bars can stand around."""


@pytest.mark.parametrize(("read", "wanted", "texts"), READ)
def test_what_can_be_meant_in_one_way_only_is_read(read: Read, wanted: Any, texts: list[str]) -> None:
    found = [read(text) for text in texts]
    assert found == [wanted] * len(texts)
    assert {type(value) for value in found} == {type(wanted)}


@pytest.mark.parametrize(("read", "texts"), [*UNREADABLE, (one_score, MORE), (rating, MORE)])
def test_all_else_is_unreadable_and_the_reason_holds_no_word_of_the_reply(read: Read, texts: str | list[str]) -> None:
    for text in map(str.strip, texts.split("|")) if isinstance(texts, str) else texts:
        with pytest.raises(Unreadable) as caught:
            read(text)
        assert 0 < len(str(caught.value)) < 60
        assert len(text) < 9 or text not in str(caught.value)


@given(some.lists(some.integers(0, 3), min_size=1, max_size=20))
def test_all_grades_are_asked_for_by_number_and_read_back(grades: list[int]) -> None:
    schema = grades_schema(len(grades))
    assert schema["required"] == [str(at) for at in range(1, len(grades) + 1)]
    assert all(grade["enum"] == [0, 1, 2, 3] for grade in schema["properties"].values())
    assert read_grades(json.dumps(dict(zip(schema["required"], grades, strict=True))), len(grades)) == grades


@given(some.lists(some.floats(0, 1), max_size=12), some.floats(0, 1))
def test_all_scores_are_read_back(scores: list[float], score: float) -> None:
    for text in (json.dumps({"scores": scores}), f"Here:\n```json\n{json.dumps(scores, indent=1)}\n```"):
        assert read_scores(text, len(scores)) == scores
    for text in (str(score), f"Score: {score}", json.dumps({"score": score}), json.dumps({"score": str(score)})):
        assert one_score(text) == [score]


BITS_OF_JSON = some.sampled_from([*'{}[]",:.`0123456789eE-+% \n', "```json\n", '"scores"', "true", "NaN", "Score: "])


@given(some.one_of(some.text(), some.lists(BITS_OF_JSON, max_size=40).map("".join)))
def test_no_text_raises_anything_but_unreadable(text: str) -> None:
    for read in (one_score, two_scores, one_grade, two_grades, query, rating, verdict):
        with suppress(Unreadable):
            read(text)


def test_a_schema_of_scores_offers_nothing_but_scores() -> None:
    offered = scores_schema(2)["properties"]["scores"]["items"]["enum"]
    assert read_scores(json.dumps(offered), len(offered)) == offered
    assert {0.0, 0.5, 1.0} <= set(offered)


def ask(model: Any) -> Any:
    return asked(model, "rate", "texts", schema=scores_schema(1), read=one_score)


def test_an_unreadable_reply_is_asked_for_once_more_with_the_reason() -> None:
    model = ScriptedModel(["high", "0.8"])
    answer = ask(model)
    assert (answer.value, answer.unreadable) == ([0.8], 1)
    assert model.seen[1][1].startswith("texts\n\nYour last reply could not be read (a score is not a number).")


def test_two_unreadable_replies_are_no_value() -> None:
    model = ScriptedModel(["high", "low", "0.8"])
    answer = ask(model)
    assert (answer.value, answer.unreadable, len(model.seen)) == (None, 2, 2)


@pytest.mark.parametrize("error", [ProviderError("down"), BudgetSpent("spent")], ids=["provider", "budget"])
@pytest.mark.parametrize("before", [0, 1])
def test_a_failing_model_passes_through_at_either_try(error: Exception, before: int) -> None:
    def reply(system: str, user: str) -> str:
        if len(model.seen) > before:
            raise error
        return "high"

    model = ScriptedModel(reply)
    with pytest.raises(type(error)):
        ask(model)
