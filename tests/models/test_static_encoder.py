"""Static vectors: looked up by token, near to what the encoder gives, and compared with its questions."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from thresher.errors import ModelError
from thresher.models.encoders import BundledEncoder
from thresher.models.static_encoder import TABLE, StaticEncoder
from thresher.testing.fakes import HashEncoder

TEXTS = [
    "Enzymes lower the energy that a reaction needs to begin.",
    "The ferry leaves from the north pier at nine in the morning.",
    "A contract ends when either side gives notice in writing.",
    "",
]


@pytest.fixture(scope="module")
def static() -> StaticEncoder:
    return StaticEncoder(BundledEncoder())


def test_a_vector_is_of_unit_length_and_does_not_depend_on_its_neighbours(static: StaticEncoder) -> None:
    finished: list[int] = []
    together = static.encode(TEXTS, progress=finished.append)
    assert sum(finished) == len(TEXTS)
    assert together.dtype == np.float32
    assert together.shape == (len(TEXTS), static.dimension)
    np.testing.assert_allclose(np.linalg.norm(together, axis=1), 1, atol=1e-5)
    np.testing.assert_array_equal(together, np.concatenate([static.encode([text]) for text in TEXTS]))
    assert static.encode([]).shape == (0, static.dimension)


def test_a_question_in_other_words_is_nearest_to_the_text_that_answers_it(static: StaticEncoder) -> None:
    questions = ["How do catalysts speed things up?", "When does the boat depart?", "How do I cancel my agreement?"]
    texts = static.encode(TEXTS[:3])
    assert [int(np.argmax(texts @ static.encode_query(question))) for question in questions] == [0, 1, 2]


def test_it_is_named_by_a_hash_of_its_table(static: StaticEncoder, tmp_path: Path) -> None:
    changed = tmp_path / TABLE.name
    changed.write_bytes(TABLE.read_bytes() + b"\0")
    assert static.name.startswith("static@")
    assert StaticEncoder(HashEncoder(), changed).name != static.name


def test_a_table_that_is_missing_or_damaged_is_an_error_that_names_it(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match=r"static\.npz"):
        _ = StaticEncoder(HashEncoder(), tmp_path / TABLE.name).name
    (tmp_path / TABLE.name).write_bytes(b"no table")
    with pytest.raises(ModelError, match=r"static\.npz"):
        StaticEncoder(HashEncoder(), tmp_path / TABLE.name).encode(["A text."])
