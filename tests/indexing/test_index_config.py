"""What the encoder reads of a chunk, and that it reads no text of a document twice."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from tests.indexing.making import ENCODER, LARGE, SMALL, TREE, Files, ReadingEncoder, assert_sound, ingest, prose
from thresher.chunking.fixed import RecursiveChunker
from thresher.chunking.hierarchical import HierarchicalChunker
from thresher.errors import ProviderError
from thresher.indexing.catalog import SourceRef
from thresher.indexing.index_config import IndexConfig, reads_titles, with_means
from thresher.indexing.store import DocumentStore
from thresher.testing.fakes import HashEncoder
from thresher.types import Chunk


class FirstWords:
    """A summarizer that takes the first words."""

    def __init__(self, words: int = 3) -> None:
        self._words = words
        self.name = f"first-{words}"

    def __call__(self, text: str) -> str:
        return " ".join(text.split()[: self._words])


CHUNK = Chunk("c", "d", "s", "Title", 0, 17, "one two three four", level="chunk")
SUMMARISED = IndexConfig(TREE.chunker, ENCODER, TREE.levels, FirstWords())


@pytest.fixture
def files() -> Files:
    """Three documents, one of them with a title; each fits a large chunk."""
    files = Files({f"{name}.txt": prose(name) for name in ("apples", "bears", "clouds")})
    files.titles["bears.txt"] = "Grizzlies"
    return files


def vectors_of(store: DocumentStore, config: IndexConfig, level: str = "chunk") -> list[tuple[Chunk, Any]]:
    table = store.open(config.table_name(level))
    return [pair for batch in table.chunks() for pair in batch]


def assert_vectors(store: DocumentStore, config: IndexConfig) -> None:
    """Every stored vector is the encoder's, of what the config says it reads."""
    for level in config.levels:
        for chunk, vector in vectors_of(store, config, level):
            assert np.allclose(vector, ENCODER.encode_query(config.embedding_text(chunk)), atol=1e-6)


# --- what is read -----------------------------------------------------------------------------------------------------


def test_a_config_without_a_summarizer_is_the_table_it_always_was() -> None:
    chunker = RecursiveChunker(120, 20)
    assert SMALL.fingerprint == f"{chunker.fingerprint} | hash-32 | terms 1"
    assert SMALL.table_name("chunk") == "chunks_1c0a7f494eefad4f"
    others = [
        TREE,
        SUMMARISED,
        replace(SUMMARISED, summarizer=FirstWords(4)),
        LARGE,
        replace(LARGE, encoder=HashEncoder(16)),
    ]
    assert len({config.table_name("chunk") for config in others}) == len(others)


UNTITLED = IndexConfig(LARGE.chunker, ENCODER, titled=False)


def test_without_titles_it_is_another_table_in_which_texts_stand_alone(store: DocumentStore, files: Files) -> None:
    assert UNTITLED.table_name("chunk") != LARGE.table_name("chunk")
    assert (reads_titles(UNTITLED.fingerprint), reads_titles(LARGE.fingerprint)) == (False, True)
    assert (UNTITLED.embedding_text(CHUNK), LARGE.embedding_text(CHUNK)) == (CHUNK.text, CHUNK.titled)
    ingest(store, files.incoming(), LARGE)
    encoder = ReadingEncoder()
    alone = IndexConfig(LARGE.chunker, encoder, titled=False)
    store.complete(alone)
    assert [text for text in encoder.texts if "Grizzlies" in text] == []
    assert len(encoder.texts) == 1  # only the document with a title was read in other words
    assert_vectors(store, alone)
    found = {
        config.titled: [chunk.title for chunk, _ in store.table(config, "chunk").matching("grizzlies", limit=9)]
        for config in (LARGE, alone)
    }
    assert found == {True: ["Grizzlies"], False: []}
    assert_sound(store, [LARGE, alone])


def test_a_summarizer_that_fails_stops_indexing_and_leaves_what_was_committed(
    store: DocumentStore, files: Files
) -> None:
    class Failing(FirstWords):
        def __call__(self, text: str) -> str:
            if "clouds" in text:
                raise ProviderError("is down")
            return super().__call__(text)

    config = IndexConfig(TREE.chunker, ENCODER, TREE.levels, Failing())
    with pytest.raises(ProviderError):
        ingest(store, files.incoming(), config, batch_chunks=0)
    assert {record.source for record in store.records()} == {"apples.txt", "bears.txt"}
    assert_sound(store, [config])
    ingest(store, files.incoming(), SUMMARISED)
    assert {record.source for record in store.records()} == {"apples.txt", "bears.txt", "clouds.txt"}
    assert_sound(store, [SUMMARISED, config])


# --- what is not read again -------------------------------------------------------------------------------------------


def test_a_second_config_with_the_same_spans_encodes_nothing(store: DocumentStore, files: Files) -> None:
    ingest(store, files.incoming(), LARGE)
    encoder = ReadingEncoder()
    larger = IndexConfig(RecursiveChunker(900, 0), encoder)
    assert store.complete(larger) == 3
    assert encoder.texts == []
    assert_vectors(store, larger)
    assert_sound(store, [LARGE, larger])


def test_a_chunk_by_its_parts_is_the_mean_of_its_subchunks_and_is_not_read(store: DocumentStore, files: Files) -> None:
    encoder = ReadingEncoder()
    config = replace(TREE, encoder=encoder, by_parts=True)
    ingest(store, files.incoming(), config)
    subchunks = vectors_of(store, config, "subchunk")
    assert sorted(encoder.texts) == sorted({chunk.titled for chunk, _ in subchunks})
    for chunk, vector in vectors_of(store, config):
        children = [of_child for child, of_child in subchunks if child.parent_id == chunk.id]
        assert len(children) > 1
        mean = np.mean(children, axis=0)
        np.testing.assert_allclose(vector, mean / np.linalg.norm(mean), atol=1e-6)


def test_a_chunk_by_its_parts_that_has_none_is_read() -> None:
    whole = Chunk("a", "d", "s", "Title", 0, 3, "one")
    parent, child = (
        Chunk("b", "d", "s", "Title", 4, 11, "two ten"),
        Chunk("c", "d", "s", "", 4, 7, "two", parent_id="b"),
    )
    config = replace(TREE, by_parts=True)
    assert config.to_encode([whole, parent, child]) == [whole, child]
    assert TREE.to_encode([whole, parent, child]) == [whole, parent, child]
    vectors = {"a": np.array([1, 0], np.float32), "c": np.array([0, 1], np.float32)}
    made = with_means([whole, parent, child], vectors)
    assert [(chunk.id, vector.tolist()) for chunk, vector in made] == [("a", [1, 0]), ("b", [0, 1]), ("c", [0, 1])]


def test_configs_that_are_filled_together_share_what_they_read(store: DocumentStore, files: Files) -> None:
    encoder = ReadingEncoder()
    configs = [IndexConfig(RecursiveChunker(size, 0), encoder) for size in (600, 900)]
    told: list[int] = []
    ingest(store, files.incoming(), *configs, progress=told.append)
    assert len(encoder.texts) == 3
    assert sum(told) == 6
    for config in configs:
        assert_vectors(store, config)


def test_what_stands_for_a_text_is_not_taken_for_it(store: DocumentStore, files: Files) -> None:
    chunker = HierarchicalChunker(600, 0, subchunk_size=100)
    ingest(store, files.incoming(), IndexConfig(chunker, ENCODER, ("chunk",), FirstWords()))
    ingest(store, files.incoming(), replace(TREE, chunker=chunker, by_parts=True))
    encoder = ReadingEncoder()
    plain = IndexConfig(RecursiveChunker(600, 0), encoder)
    assert store.complete(plain) == 3
    assert len(encoder.texts) == 3
    assert_vectors(store, plain)


def test_another_encoders_vectors_are_never_taken(store: DocumentStore, files: Files) -> None:
    ingest(store, files.incoming(), LARGE)
    encoder = ReadingEncoder("another")
    store.complete(IndexConfig(LARGE.chunker, encoder))
    assert len(encoder.texts) == 3


def test_a_text_under_another_title_is_read_again(store: DocumentStore, files: Files) -> None:
    ingest(store, files.incoming(), LARGE)
    files.titles["bears.txt"] = "Brown bears"
    encoder = ReadingEncoder()
    ingest(store, files.incoming(), IndexConfig(LARGE.chunker, encoder))
    assert encoder.texts == [f"Brown bears\n{files.texts['bears.txt']}"]
    larger = IndexConfig(RecursiveChunker(900, 0), ReadingEncoder())
    store.complete(larger)
    assert_vectors(store, larger)


def test_of_copies_the_first_title_is_encoded_and_shared(store: DocumentStore, files: Files) -> None:
    files.texts["copy.txt"] = files.texts["bears.txt"]
    files.titles["copy.txt"] = "Something else"
    ingest(store, files.incoming(), LARGE)
    store.remove([SourceRef("bears.txt")])
    larger = IndexConfig(RecursiveChunker(900, 0), ReadingEncoder())
    store.complete(larger)
    assert_vectors(store, LARGE)
    assert_vectors(store, larger)
