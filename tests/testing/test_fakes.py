from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from thresher.testing.fakes import HashEncoder, OverlapCrossEncoder, ScriptedModel


def test_hash_vectors_have_unit_length_and_depend_on_the_text_alone() -> None:
    encoder = HashEncoder(32)
    together = encoder.encode(["one two", "three", ""])
    assert together.shape == (3, 32)
    assert together.dtype == np.float32
    assert np.linalg.norm(together, axis=1) == pytest.approx([1, 1, 1], abs=1e-6)
    assert (encoder.encode(["three"])[0] == together[1]).all()


def test_shared_words_make_a_high_cosine() -> None:
    encoder = HashEncoder(256)
    query = encoder.encode_query("red green blue")
    near, far = encoder.encode(["Red, green!", "something else entirely"])
    assert near @ query > 0.7 > far @ query


def test_each_reply_of_a_scripted_model_is_given_to_one_thread() -> None:
    model = ScriptedModel([str(number) for number in range(200)])
    with pytest.raises(IndexError):
        ScriptedModel([]).complete("s", "a")
    assert ScriptedModel(lambda system, user: user.upper()).complete("", "loud") == "LOUD"
    with ThreadPoolExecutor(8) as pool:
        replies = list(pool.map(lambda number: model.complete("s", str(number)), range(200)))
    assert sorted(map(int, replies)) == list(range(200))


def test_overlap_is_the_share_of_the_questions_words() -> None:
    scores = OverlapCrossEncoder()("red green", ["green red!", "red", "blue", ""])
    assert [score.value for score in scores] == [1.0, 0.5, 0.0, 0.0]
