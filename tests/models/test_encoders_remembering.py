from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from thresher.models.encoders import RememberingEncoder
from thresher.testing.fakes import HashEncoder


class Counting:
    """A hash encoder that keeps what it was asked to read."""

    name, dimension, max_tokens = "counting", 64, 100

    def __init__(self) -> None:
        self.read: list[str] = []

    def encode(self, texts: Sequence[str], *, progress: Any = None) -> Any:
        self.read += texts
        return HashEncoder().encode(texts, progress=progress)

    def encode_query(self, text: str) -> Any:
        self.read.append(text)
        return HashEncoder().encode_query(text)

    def warm_up(self) -> None: ...


def test_a_text_is_read_once_and_its_vector_is_the_encoders() -> None:
    counting = Counting()
    memo = RememberingEncoder(counting)
    first = memo.encode(["a b", "c", "a b"])
    again = memo.encode(["c", "d"])
    assert counting.read == ["a b", "c", "d"]
    assert np.array_equal(first, HashEncoder().encode(["a b", "c", "a b"]))
    assert np.array_equal(again, HashEncoder().encode(["c", "d"]))


def test_a_question_and_a_text_of_the_same_words_are_not_mixed_up() -> None:
    counting = Counting()
    memo = RememberingEncoder(counting)
    memo.encode(["a"])
    memo.encode_query("a")
    memo.encode_query("a")
    assert counting.read == ["a", "a"]


def test_the_text_that_was_not_used_for_longest_is_forgotten_first() -> None:
    counting = Counting()
    memo = RememberingEncoder(counting, most=2)
    memo.encode(["a"])
    memo.encode(["b"])
    memo.encode(["a"])
    memo.encode(["c"])
    memo.encode(["a", "b"])
    assert counting.read == ["a", "b", "c", "b"]


def test_no_texts_give_no_rows() -> None:
    assert RememberingEncoder(Counting()).encode([]).shape == (0, 64)
