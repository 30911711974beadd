from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from tests.chunking.promises import assert_numbered, assert_promises, document, documents, hash_encoder
from thresher.errors import ModelError, UsageError
from thresher.types import Document, Table
from thresher_methods.semantic import SemanticChunker

SETTINGS = st.tuples(
    st.sampled_from(["absolute", "percentile", "std"]),
    st.sampled_from(["previous_sentence", "chunk_centroid"]),
    st.sampled_from([0.0, 0.5, 0.8, 1.0]),
    st.integers(1, 80),
)


class Angles:
    """Encodes the sentence that starts with `N ` as the unit vector at N degrees; counts its calls."""

    def __init__(self) -> None:
        self.calls: list[list[str]] = []

    def __call__(self, texts: Sequence[str]) -> NDArray[np.float32]:
        self.calls.append(list(texts))
        angles = np.radians([float(text.split()[1]) for text in texts])
        return np.stack([np.cos(angles), np.sin(angles)], axis=1).astype(np.float32)


def at(*angles: int) -> str:
    """A text whose sentences lie at these angles, in degrees."""
    return " ".join(f"At {angle} degrees." for angle in angles)


def groups(chunker: SemanticChunker, text: str) -> list[list[int]]:
    """The angles of the sentences in each chunk."""
    return [[int(word) for word in chunk.text.split() if word.isdigit()] for chunk in chunker(document(text))]


@given(documents(), SETTINGS)
def test_semantic_chunks_keep_every_promise(source: Document, choice: tuple[str, str, float, int]) -> None:
    mode, compare, theta, size = choice
    chunker = SemanticChunker(hash_encoder, "hash", theta, size, mode, compare)  # type: ignore[arg-type]
    chunks = chunker(source)
    assert_promises(source, chunks, size=size)
    assert_numbered(chunks)
    assert all(before.end <= after.start for before, after in pairwise(chunks))
    assert chunks == chunker(source)


@pytest.mark.parametrize(
    ("settings", "angles", "cut"),
    [
        # cos 30° = .87, cos 45° = .71, cos 60° = .5
        ({}, (0, 30, 75, 15), [[0, 30], [75], [15]]),
        ({"theta": 0.7}, (0, 30, 75, 15), [[0, 30, 75], [15]]),
        # steps of 30° drift from the mean of three: cos 60°
        ({}, (0, 30, 60, 90), [[0, 30, 60, 90]]),
        ({"compare": "chunk_centroid"}, (0, 30, 60, 90), [[0, 30], [60, 90]]),
        # vectors that cancel out are like nothing
        ({"compare": "chunk_centroid", "theta": -1.0}, (0, 180, 90), [[0, 180, 90]]),
        ({"compare": "chunk_centroid", "theta": 0.1}, (0, 180, 90), [[0], [180], [90]]),
        # gaps of 5, 10, 15, 20 and 80°: at .8 the one fifth that is least alike is cut
        ({"mode": "percentile"}, (0, 5, 15, 30, 50, 130), [[0, 5, 15, 30, 50], [130]]),
        ({"mode": "percentile", "theta": 0.5}, (0, 5, 15, 30, 50, 130), [[0, 5, 15, 30], [50], [130]]),
        ({"mode": "std", "theta": 1.0}, (0, 5, 15, 30, 50, 130), [[0, 5, 15, 30, 50], [130]]),
        ({"mode": "std", "theta": 3.0}, (0, 5, 15, 30, 50, 130), [[0, 5, 15, 30, 50, 130]]),
        ({"mode": "percentile", "max_characters": 40}, (7, 7, 7, 7), [[7, 7], [7, 7]]),
    ],
)
def test_a_boundary_falls_where_a_sentence_is_less_like_what_precedes_it_than_theta_says(
    settings: dict[str, Any], angles: tuple[int, ...], cut: list[list[int]]
) -> None:
    assert groups(SemanticChunker(Angles(), "angles", **settings), at(*angles)) == cut


def test_a_similarity_of_exactly_theta_is_no_boundary() -> None:
    orthogonal = SemanticChunker(lambda texts: np.eye(len(texts), dtype=np.float32), "eye", theta=0.0)
    assert len(orthogonal(document("One here. Two here. Three here."))) == 1


def test_a_sentence_longer_than_the_limit_shares_its_chunks_with_no_other() -> None:
    long = "Long " + "words " * 150 + "end."
    chunks = SemanticChunker(hash_encoder, "hash", theta=-1.0)(document(f"Before it. {long} After it."))
    assert chunks[0].text == "Before it."
    assert chunks[-1].text == "After it."
    assert " ".join(chunk.text for chunk in chunks[1:-1]) == long
    assert all(len(chunk.text) <= 500 for chunk in chunks)


def test_all_sentences_of_a_document_are_encoded_in_one_call() -> None:
    encoder = Angles()
    text = f"{at(0, 10)} | a | b | {at(20)}"
    start = text.index("|")
    table = Table(start, text.rindex("|") + 1, ((start, text.rindex("|") + 1),))
    SemanticChunker(encoder, "angles")(document(text, tables=[table]))
    assert encoder.calls == [["At 0 degrees.", "At 10 degrees.", "At 20 degrees."]]


def test_a_document_without_text_asks_the_encoder_nothing() -> None:
    encoder = Angles()
    assert SemanticChunker(encoder, "angles", mode="percentile")(document(" \n ")) == []
    assert encoder.calls == []


def test_sentences_on_both_sides_of_a_table_are_no_neighbours() -> None:
    """Without the table the gap of 90 degrees would be the least alike; with it, the gap of 20 is."""
    text = f"{at(0, 5, 25)} | a | {at(115, 120)}"
    start = text.index("|")
    table = Table(start, start + 5, ((start, start + 5),))
    chunks = SemanticChunker(Angles(), "angles", mode="percentile")(document(text, tables=[table]))
    assert [chunk.text for chunk in chunks] == [at(0, 5), at(25), "| a |", at(115, 120)]


@pytest.mark.parametrize("bad", [np.zeros((1, 2)), np.zeros(3), np.full((2, 2), np.nan)])
def test_an_encoder_that_gives_something_else_is_named(bad: NDArray[np.float32]) -> None:
    with pytest.raises(ModelError, match="broken"):
        SemanticChunker(lambda texts: bad, "broken")(document("One here. Two here."))


@pytest.mark.parametrize(("mode", "theta"), [("absolute", 1.1), ("percentile", -0.1), ("percentile", 80), ("std", -1)])
def test_a_theta_outside_its_mode_is_refused_when_built(mode: str, theta: float) -> None:
    with pytest.raises(UsageError, match="theta must be from"):
        SemanticChunker(hash_encoder, "hash", theta=theta, mode=mode)  # type: ignore[arg-type]


def test_the_fingerprint_names_the_encoder() -> None:
    assert SemanticChunker(hash_encoder, "all-MiniLM-L6-v2").fingerprint == (
        "semantic@1(encoder=all-MiniLM-L6-v2,theta=0.8,max_characters=500,mode=absolute,"
        "compare=previous_sentence,sentences=2)"
    )
