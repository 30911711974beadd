from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.chunking.promises import assert_numbered, assert_promises, document, documents
from tests.documents.making import within
from thresher.chunking.hierarchical import HierarchicalChunker, window_count
from thresher.errors import UsageError
from thresher.types import Chunk, Document, Mark, Table


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
    assert len({chunk.id for chunk in chunks}) == len(chunks)
    for parent in parents(chunks):
        own = [chunk for chunk in children(chunks) if chunk.parent_id == parent.id]
        assert_numbered(own)
        at = chunks.index(parent)
        assert list(chunks[at + 1 : at + 1 + len(own)]) == own
        assert all(parent.start <= chunk.start < chunk.end <= parent.end for chunk in own)
    assert {chunk.parent_id for chunk in children(chunks)} <= {chunk.id for chunk in parents(chunks)}


@given(documents(), chunkers())
def test_chunks_and_subchunks_keep_every_promise(source: Document, chunker: HierarchicalChunker) -> None:
    chunks = chunker(source)
    assert_promises(source, parents(chunks), size=chunker.size + chunker.minimum, table_size=chunker.size)
    assert_promises(source, children(chunks), size=chunker.subchunk_size)
    assert_family(chunks)
    assert chunks == chunker(source)
    for level, limit in ((parents, chunker.overlap), (children, chunker.subchunk_overlap)):
        for before, after in pairwise(level(chunks)):
            assert before.parent_id != after.parent_id or (before.end - after.start <= limit and before.end < after.end)


@given(documents(), chunkers())
def test_the_literal_preset_loses_no_text_at_the_level_of_chunks(
    source: Document, chunker: HierarchicalChunker
) -> None:
    chunks = replace(chunker, literal=True)(source)
    assert_promises(source, parents(chunks), size=len(source.text) + 1)
    assert_family(chunks)
    for chunk in children(chunks):
        assert chunk.text == source.text[chunk.start : chunk.end] == chunk.text.strip() != ""


@pytest.mark.parametrize(
    ("length", "size", "overlap", "expected"),
    [
        (2500, 300, 50, 10),  # the formula gives 9.8 for the paper's defaults; part of a window is a window
        (0, 2500, 100, 1),
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
    assert window_count(length, size, overlap) == expected


@pytest.mark.parametrize(
    ("settings", "lengths", "spans"),
    [
        ({"overlap": 0}, (1249, 1250, 600), [(0, 2500), (2501, 3101)]),
        ({"overlap": 0}, (1250, 1250, 600), [(0, 1250), (1251, 3102)]),
        ({}, (1200, 1200, 150), [(0, 2552)]),  # a small chunk goes into the one before
        ({}, (200, 2450, 1000), [(0, 2651), (2551, 3652)]),  # and a small first one into the one after
        ({"literal": True}, (2600, 400), [(0, 2600), (2601, 3001)]),  # no empty chunk before a long sentence
        ({"literal": True}, (1250, 1250, 100), [(0, 2501), (2502, 2602)]),  # spaces do not count, nothing overlaps
    ],
)
def test_sentences_are_packed_and_small_chunks_merged(
    settings: dict[str, Any], lengths: tuple[int, ...], spans: list[tuple[int, int]]
) -> None:
    chunks = parents(HierarchicalChunker(**settings)(document(sentences(*lengths))))
    assert [chunk.end for chunk in chunks] == [end for _, end in spans]
    assert all(abs(chunk.start - start) < 10 for chunk, (start, _) in zip(chunks, spans, strict=True))


def test_a_chunk_begins_at_a_word_of_the_end_of_the_one_before() -> None:
    first, second = parents(HierarchicalChunker()(document(sentences(1200, 1200, 1200))))
    assert 80 < first.end - second.start <= 100
    assert first.text[second.start - first.start - 1] == " "


@pytest.mark.parametrize(
    ("name", "written"),
    [
        ("6.2. Where do I park? Is it free?", "6.2. Where do I park? Is it free?"),
        ("Where do I park?", "## Where do I park?"),
        ("Parking", "Parking\n======="),
    ],
)
def test_a_heading_stands_with_the_sentence_below_it(name: str, written: str) -> None:
    text = f"{sentence(2400)}\n\n{written}\n\n{sentence(900)}"
    at = text.index(written)
    marked = document(text, marks=[Mark(at, "heading", name)])
    chunker = HierarchicalChunker(overlap=0)
    assert [chunk.start for chunk in parents(chunker(marked))] == [0, at]
    assert parents(chunker(document(text)))[1].start > at
    assert next(chunk for chunk in children(chunker(marked)) if chunk.start == at).end > at + len(written)


def test_headings_that_nothing_follows_are_not_cut() -> None:
    names = [f"What the bylaw says of stall {number}" for number in range(1, 400)]
    text = "\n\n".join(names)
    marks = tuple(Mark(text.index(name), "heading", name) for name in names)
    chunks = HierarchicalChunker(overlap=0, subchunk_overlap=0)(document(text, marks=marks))
    assert {line for chunk in chunks for line in chunk.text.split("\n\n")} == set(names)


def test_headings_between_many_tables_are_looked_for_once() -> None:
    part = "Stall\n\nIt is let by the day.\n\n| a |\n| 1 |\n\n"
    starts = [number * len(part) for number in range(1_000)]
    marks = [Mark(start, "heading", "Stall") for start in starts for _ in range(20)]
    tables = [Table(at, at + 11, ((at, at + 5), (at + 6, at + 11))) for at in (start + 30 for start in starts)]
    with within():
        HierarchicalChunker()(document(part * len(starts), marks=marks, tables=tables))


def test_what_is_longer_than_a_chunk_is_cut_between_words_where_it_has_any() -> None:
    chunks = parents(HierarchicalChunker()(document(sentences(3000, 400))))
    assert all(0 < len(chunk.text) <= 2500 + 300 for chunk in chunks)
    assert chunks[0].text.endswith("b")
    assert chunks[-1].text.endswith(sentence(400, "c"))
    chunks = parents(HierarchicalChunker(overlap=0, minimum=0)(document("x" * 6000)))
    assert [len(chunk.text) for chunk in chunks] == [2500, 2500, 1000]


# --- subchunks --------------------------------------------------------------------------------------------------------

B200, C200, D120 = sentence(200, "b"), sentence(200, "c"), sentence(120, "d")


@pytest.mark.parametrize(
    ("settings", "lengths", "texts"),
    [
        ({"subchunk_overlap": 0}, (200, 200, 120), [B200, C200, D120]),
        ({"subchunk_overlap": 0, "tail": "literal"}, (200, 200, 120), [B200, C200]),
        ({"literal": True}, (200, 200, 120), [B200, C200]),  # as printed the last one is lost
        ({"literal": True}, (150,), []),  # and a chunk that fits has none
        ({}, (150,), [sentence(150, "b")]),
        (  # as printed a long first sentence makes the whole chunk a subchunk
            {"literal": True},
            (350, 100, 250, 90),
            [sentences(350, 100, 250, 90), sentence(350, "b"), sentence(100, "c"), sentence(250, "d")],
        ),
    ],
)
def test_subchunks_are_sentences_and_the_last_is_kept(
    settings: dict[str, Any], lengths: tuple[int, ...], texts: list[str]
) -> None:
    chunks = HierarchicalChunker(**settings)(document(sentences(*lengths)))
    assert [chunk.text for chunk in children(chunks)] == texts


def test_a_subchunk_begins_with_words_of_the_one_before_as_far_as_there_is_room() -> None:
    first, second = children(HierarchicalChunker()(document(sentences(200, 200))))
    assert second.text.endswith(C200)
    assert 30 < first.end - second.start <= 50
    assert second.text.startswith("bbbbbbbbb ")
    first, second = children(HierarchicalChunker()(document(sentences(200, 290))))
    assert len(second.text) <= 300
    assert first.end - second.start <= 9


def test_a_subchunk_that_the_chunk_before_has_is_not_repeated() -> None:
    """Sub-overlap off and a last sentence as long as the overlap: both chunks would own the same subchunk."""
    chunker = HierarchicalChunker(size=200, minimum=0, overlap=60, subchunk_size=60, subchunk_overlap=0)
    chunks = chunker(document(sentences(50, 50, 50, 130)))
    first, second = parents(chunks)[:2]
    assert [chunk.parent_id for chunk in children(chunks) if chunk.start == second.start] == [first.id]
    assert_family(chunks)


# --- settings ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "wrong", [{"size": 0}, {"overlap": 2500}, {"minimum": 2501}, {"minimum": -1}, {"subchunk_overlap": 300}]
)
def test_impossible_settings_are_refused_when_built(wrong: dict[str, Any]) -> None:
    with pytest.raises(UsageError, match="use "):
        HierarchicalChunker(**wrong)


def test_the_fingerprint_says_every_setting_that_is_read() -> None:
    assert HierarchicalChunker().fingerprint == (
        "hierarchical@2(size=2500,minimum=300,overlap=100,merge_small=true,subchunk_size=300,subchunk_overlap=50,"
        "subchunk_overlap_mode=character,tail=flush,sentences=2)"
    )
    literal = HierarchicalChunker(literal=True, overlap=7).fingerprint
    assert literal == "hierarchical-literal@1(size=2500,subchunk_size=300,sentences=2)"


def test_references_yield_neither_chunks_nor_subchunks() -> None:
    text = f"{sentences(400)}\n\nReferences\n\n[1] A title. A venue.\n\nAppendix. It goes on."
    found = (text.index("References"), text.index("Appendix"))
    chunks = HierarchicalChunker(without=lambda _: found)(document(text))
    assert all(chunk.end <= found[0] or chunk.start >= found[1] for chunk in chunks)
    assert_promises(document(text), parents(chunks), size=2800, without=found)
