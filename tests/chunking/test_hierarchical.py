from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.chunking.promises import assert_numbered, assert_promises, document, documents
from thresher.chunking.hierarchical import HierarchicalChunker, windows
from thresher.errors import UsageError
from thresher.types import Chunk, Document


def parents(chunks: Sequence[Chunk]) -> list[Chunk]:
    return [chunk for chunk in chunks if chunk.level == "chunk"]


def children(chunks: Sequence[Chunk]) -> list[Chunk]:
    return [chunk for chunk in chunks if chunk.level == "subchunk"]


def sentence(length: int, letter: str = "a") -> str:
    """A sentence of this many characters, full stop included, in words of nine."""
    words = (f"{letter.upper()}{letter * 8} " + f"{letter * 9} " * (length // 10 + 1))[: length - 1]
    return (words[:-1] + letter if words.endswith(" ") else words) + "."


def sentences(*lengths: int) -> str:
    return " ".join(sentence(length, chr(ord("b") + index % 20)) for index, length in enumerate(lengths))


@st.composite
def chunkers(draw: st.DrawFn) -> HierarchicalChunker:
    size = draw(st.integers(2, 120))
    subchunk_size = draw(st.integers(1, 60))
    return HierarchicalChunker(
        size=size,
        minimum=draw(st.integers(0, size)),
        overlap=draw(st.integers(0, size - 1)),
        subchunk_size=subchunk_size,
        subchunk_overlap=draw(st.integers(0, subchunk_size - 1)),
    )


def assert_family(chunks: Sequence[Chunk]) -> None:
    """Parents before their children, which lie in them and are numbered from 1."""
    assert_numbered(parents(chunks))
    parent = None
    siblings: list[Chunk] = []
    for chunk in chunks:
        if chunk.level == "chunk":
            assert_numbered(siblings)
            parent, siblings = chunk, []
            assert chunk.parent_id is None
        else:
            assert parent is not None
            assert chunk.parent_id == parent.id
            assert parent.start <= chunk.start < chunk.end <= parent.end
            siblings.append(chunk)
    assert_numbered(siblings)


@given(documents(), chunkers())
def test_chunks_and_subchunks_keep_every_promise(source: Document, chunker: HierarchicalChunker) -> None:
    chunks = chunker(source)
    assert len({chunk.id for chunk in chunks}) == len(chunks)
    largest = chunker.size + chunker.minimum
    assert_promises(source, parents(chunks), size=largest, table_size=chunker.size)
    assert_promises(source, children(chunks), size=chunker.subchunk_size)
    assert_family(chunks)
    assert {chunk.parent_id for chunk in children(chunks)} == {chunk.id for chunk in parents(chunks)}
    assert chunks == chunker(source)


@given(documents(), chunkers())
def test_the_literal_preset_loses_no_text_at_the_level_of_chunks(
    source: Document, chunker: HierarchicalChunker
) -> None:
    chunks = replace(chunker, literal=True)(source)
    assert_promises(source, parents(chunks), size=len(source.text) + 1)
    assert_family(chunks)
    assert len({chunk.id for chunk in chunks}) == len(chunks)
    for chunk in children(chunks):
        assert chunk.text == source.text[chunk.start : chunk.end] == chunk.text.strip() != ""


@given(documents(), chunkers())
def test_neighbouring_chunks_overlap_by_no_more_than_the_setting(
    source: Document, chunker: HierarchicalChunker
) -> None:
    for level in (parents, children):
        limit = chunker.overlap if level is parents else chunker.subchunk_overlap
        groups: dict[str | None, list[Chunk]] = {}
        for chunk in level(chunker(source)):
            groups.setdefault(chunk.parent_id, []).append(chunk)
        for group in groups.values():
            for before, after in pairwise(group):
                assert before.end - after.start <= limit
                assert before.end < after.end


# --- estimates --------------------------------------------------------------------------------------------------------


def test_the_papers_own_subchunks_are_estimated_at_ten() -> None:
    """The formula gives 9.8 for the defaults; part of a window is a window."""
    assert pytest.approx(9.8) == (2500 - 300) / (300 - 50) + 1
    assert windows(2500, 300, 50) == 10


@pytest.mark.parametrize(
    ("length", "size", "overlap", "expected"),
    [
        (0, 2500, 100, 1),
        (1000, 2500, 100, 1),
        (2500, 2500, 100, 1),
        (2501, 2500, 100, 2),
        (4900, 2500, 100, 2),
        (4901, 2500, 100, 3),
        (100_000, 2500, 100, 42),
    ],
)
def test_the_estimate_counts_windows_and_is_never_below_one(
    length: int, size: int, overlap: int, expected: int
) -> None:
    assert windows(length, size, overlap) == expected


# --- chunks -----------------------------------------------------------------------------------------------------------


def test_sentences_are_packed_up_to_the_size_with_the_spaces_between_them() -> None:
    text = sentences(1249, 1250, 600)
    first, second = parents(HierarchicalChunker(overlap=0)(document(text)))
    assert len(first.text) == 2500
    assert second.text == sentence(600, "d")
    assert len(parents(HierarchicalChunker(overlap=0)(document(sentences(1250, 1250, 600))))[0].text) == 1250


def test_a_chunk_begins_with_the_end_of_the_one_before() -> None:
    first, second = parents(HierarchicalChunker()(document(sentences(1200, 1200, 1200))))
    assert 80 < first.end - second.start <= 100
    assert second.text[0] != " "
    assert first.text[second.start - first.start - 1] == " "


def test_a_small_chunk_goes_into_the_one_before() -> None:
    text = sentences(1200, 1200, 150)
    chunks = parents(HierarchicalChunker()(document(text)))
    assert [chunk.text for chunk in chunks] == [text]
    assert len(text) == 2552
    kept = parents(HierarchicalChunker(minimum=0)(document(text)))
    assert len(kept) == 2


def test_a_small_first_chunk_goes_into_the_one_after() -> None:
    text = sentences(200, 2450, 1000)
    chunks = parents(HierarchicalChunker()(document(text)))
    assert (chunks[0].start, chunks[0].end) == (0, 2651)
    assert len(chunks) == 2


def test_a_document_below_the_minimum_is_one_chunk() -> None:
    chunks = HierarchicalChunker()(document("Short."))
    assert [(chunk.level, chunk.text) for chunk in chunks] == [("chunk", "Short."), ("subchunk", "Short.")]


def test_a_first_sentence_longer_than_the_size_leaves_no_empty_chunk() -> None:
    chunks = parents(HierarchicalChunker()(document(sentences(3000, 400))))
    assert all(chunk.text for chunk in chunks)
    assert all(len(chunk.text) <= 2500 + 300 for chunk in chunks)
    assert chunks[0].text.endswith("b"), "cut between words"
    assert chunks[-1].text.endswith(sentence(400, "c"))


def test_a_word_longer_than_the_size_is_cut() -> None:
    chunks = parents(HierarchicalChunker(overlap=0, minimum=0)(document("x" * 6000)))
    assert [len(chunk.text) for chunk in chunks] == [2500, 2500, 1000]


# --- subchunks --------------------------------------------------------------------------------------------------------


def test_the_last_subchunk_is_kept() -> None:
    chunks = children(HierarchicalChunker(subchunk_overlap=0)(document(sentences(200, 200, 120))))
    assert [chunk.text for chunk in chunks] == [sentence(200, "b"), sentence(200, "c"), sentence(120, "d")]


def test_a_chunk_within_the_subchunk_size_is_its_own_subchunk() -> None:
    parent, child = HierarchicalChunker()(document(sentences(150, 149)))
    assert len(parent.text) == 300
    assert (child.start, child.end, child.parent_id, child.number) == (parent.start, parent.end, parent.id, 1)
    assert child.id != parent.id


def test_a_subchunk_begins_with_words_of_the_one_before() -> None:
    first, second = children(HierarchicalChunker()(document(sentences(200, 200))))
    assert first.text == sentence(200, "b")
    assert second.text.endswith(sentence(200, "c"))
    assert 30 < first.end - second.start <= 50
    assert second.text.startswith("bbbbbbbbb ")


def test_an_overlap_gives_way_when_the_next_sentence_needs_the_room() -> None:
    first, second = children(HierarchicalChunker()(document(sentences(200, 290))))
    assert len(second.text) <= 300
    assert first.end - second.start <= 9


def test_a_subchunk_that_the_chunk_before_has_is_not_repeated() -> None:
    """Sub-overlap off and a last sentence as long as the overlap: both chunks would own the same subchunk."""
    chunker = HierarchicalChunker(size=200, minimum=0, overlap=60, subchunk_size=60, subchunk_overlap=0)
    chunks = chunker(document(sentences(50, 50, 50, 130)))
    second = parents(chunks)[1]
    shared = [chunk for chunk in children(chunks) if chunk.start == second.start]
    assert [chunk.parent_id for chunk in shared] == [parents(chunks)[0].id]
    assert_family(chunks)


# --- as printed -------------------------------------------------------------------------------------------------------


def test_as_printed_the_last_subchunk_is_lost() -> None:
    text = sentences(200, 200, 120)
    chunks = children(HierarchicalChunker(literal=True)(document(text)))
    assert [chunk.text for chunk in chunks] == [sentence(200, "b"), sentence(200, "c")]


def test_as_printed_a_chunk_within_the_subchunk_size_has_no_subchunk() -> None:
    assert children(HierarchicalChunker(literal=True)(document("Short."))) == []


def test_as_printed_a_long_first_sentence_makes_the_whole_chunk_a_subchunk() -> None:
    text = sentences(350, 100, 250, 90)
    parent, *subchunks = HierarchicalChunker(literal=True)(document(text))
    assert [chunk.text for chunk in subchunks] == [
        parent.text,
        sentence(350, "b"),
        sentence(100, "c"),
        sentence(250, "d"),
    ]


def test_as_printed_an_empty_chunk_before_a_long_first_sentence_is_none() -> None:
    text = sentences(2600, 400)
    chunks = parents(HierarchicalChunker(literal=True)(document(text)))
    assert [chunk.text for chunk in chunks] == [sentence(2600, "b"), sentence(400, "c")]


def test_as_printed_spaces_do_not_count_and_nothing_overlaps_or_merges() -> None:
    text = sentences(1250, 1250, 100)
    chunks = parents(HierarchicalChunker(literal=True)(document(text)))
    assert [(chunk.start, chunk.end) for chunk in chunks] == [(0, 2501), (2502, 2602)]


def test_a_literal_tail_can_be_had_alone() -> None:
    chunks = HierarchicalChunker(tail="literal", subchunk_overlap=0)(document(sentences(200, 200, 120)))
    assert [chunk.text for chunk in children(chunks)] == [sentence(200, "b"), sentence(200, "c")]


# --- settings ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "wrong", [{"size": 0}, {"overlap": 2500}, {"minimum": 2501}, {"minimum": -1}, {"subchunk_overlap": 300}]
)
def test_impossible_settings_are_refused_when_built(wrong: dict[str, Any]) -> None:
    with pytest.raises(UsageError, match="use "):
        HierarchicalChunker(**wrong)


def test_the_fingerprint_says_every_setting_that_is_read() -> None:
    assert HierarchicalChunker().fingerprint == (
        "hierarchical@1(size=2500,minimum=300,overlap=100,merge_small=true,subchunk_size=300,subchunk_overlap=50,"
        "subchunk_overlap_mode=character,tail=flush,sentences=1)"
    )
    literal = HierarchicalChunker(literal=True, overlap=7).fingerprint
    assert literal == "hierarchical-literal@1(size=2500,subchunk_size=300,sentences=1)"


def test_references_yield_neither_chunks_nor_subchunks() -> None:
    text = f"{sentences(400)}\n\nReferences\n\n[1] A title. A venue.\n\nAppendix. It goes on."
    found = (text.index("References"), text.index("Appendix"))
    chunks = HierarchicalChunker(without=lambda _: found)(document(text))
    assert all(chunk.end <= found[0] or chunk.start >= found[1] for chunk in chunks)
    assert_promises(document(text), parents(chunks), size=2800, without=found)
    assert_promises(document(text), children(chunks), size=300, without=found)
