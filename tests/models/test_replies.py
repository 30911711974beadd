"""The text of a reply is the same however it is cut into pieces."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as some

from thresher.models.replies import (
    DEEPEST,
    Spoken,
    count,
    events,
    folded,
    is_deep,
    most_characters,
    number,
    whole_characters,
)

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
