from __future__ import annotations

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from tests.chunking.promises import TEXTS, assert_numbered, assert_promises, document, documents
from thresher.chunking.fixed import FixedChunker, RecursiveChunker
from thresher.errors import UsageError
from thresher.types import Document

SIZES = st.integers(1, 80).flatmap(lambda size: st.tuples(st.just(size), st.integers(0, size - 1)))


@given(documents(), SIZES)
def test_chunks_keep_every_promise(source: Document, sizes: tuple[int, int]) -> None:
    for chunker in (FixedChunker(*sizes), RecursiveChunker(*sizes)):
        chunks = chunker(source)
        assert_promises(source, chunks, size=sizes[0])
        assert_numbered(chunks)
        assert chunks == chunker(source)


@given(documents(), st.tuples(st.integers(0, 300), st.integers(0, 300)))
def test_only_the_skipped_span_is_missing(source: Document, found: tuple[int, int]) -> None:
    start, end = min(found), min(max(found), len(source.text))
    for chunker in (
        FixedChunker(20, without=lambda _: (start, end)),
        RecursiveChunker(20, 5, without=lambda _: (start, end)),
    ):
        chunks = chunker(source)
        assume(not source.tables)
        assert_promises(source, chunks, size=20, without=(start, end))
        assert start == end or all(chunk.end <= start or chunk.start >= end for chunk in chunks)


@pytest.mark.parametrize(
    ("text", "size", "overlap", "texts"),
    [
        ("word " * 500, 900, 0, ["word " * 179 + "word"] * 2 + ["word " * 139 + "word"]),
        ("four five six", 9, 0, ["four five", "six"]),
        ("several words of everyday lengths", 20, 0, ["several words of", "everyday lengths"]),
        ("x" * 2000, 900, 0, ["x" * 900, "x" * 900, "x" * 200]),
        ("a" * 900, 900, 0, ["a" * 900]),
        ("alpha beta gamma delta epsilon zeta", 20, 8, ["alpha beta gamma", "gamma delta epsilon", "epsilon zeta"]),
    ],
)
def test_words_stay_whole_where_a_space_is_near_and_an_overlap_begins_at_one(
    text: str, size: int, overlap: int, texts: list[str]
) -> None:
    assert [chunk.text for chunk in FixedChunker(size, overlap)(document(text))] == texts


@pytest.mark.parametrize("chunker", [FixedChunker(), RecursiveChunker()])
@pytest.mark.parametrize("text", ["", " \n\t ", "\n" * 5000])
def test_a_document_without_text_has_no_chunks(chunker: FixedChunker | RecursiveChunker, text: str) -> None:
    assert chunker(document(text)) == []


def test_recursion_goes_from_paragraphs_to_lines_to_words_to_characters() -> None:
    text = "A paragraph.\n\nA line here\nand another one\n\nabcdefghijklmnopqrstuvwxyz"
    chunks = RecursiveChunker(size=16, overlap=0)(document(text))
    assert [chunk.text for chunk in chunks] == [
        "A paragraph.",
        "A line here",
        "and another one",
        "abcdefghijklmno",  # its line end counts, as it does in the splitter this follows
        "pqrstuvwxyz",
    ]


def test_recursive_overlap_repeats_whole_pieces() -> None:
    chunks = RecursiveChunker(size=17, overlap=8)(document("alpha beta gamma delta epsilon"))
    assert [chunk.text for chunk in chunks] == ["alpha beta gamma", "gamma delta", "delta epsilon"]


def reference_split(text: str, size: int, overlap: int, separators: list[str]) -> list[str]:
    """A recursive character splitter on strings: separators kept in front of their piece, pieces stripped."""
    index = next(i for i, separator in enumerate(separators) if separator in text)
    separator, rest = separators[index], separators[index + 1 :]
    first, *others = text.split(separator) if separator else list(text)
    pieces = [first, *(separator + other for other in others)]
    result: list[str] = []
    short: list[str] = []

    def flush() -> None:
        group: list[str] = []
        for piece in short:
            if group and len("".join(group)) + len(piece) > size:
                result.append("".join(group))
                while group and (len("".join(group)) > overlap or len("".join(group)) + len(piece) > size):
                    group.pop(0)
            group.append(piece)
        if group:
            result.append("".join(group))
        short.clear()

    for piece in filter(None, pieces):
        if len(piece) < size or separator == "":
            short.append(piece)
        else:
            flush()
            result += reference_split(piece, size, overlap, rest)
    flush()
    return result


@given(TEXTS, SIZES)
def test_recursive_chunks_are_those_of_a_plain_string_splitter(text: str, sizes: tuple[int, int]) -> None:
    text = text.strip()
    assume(text)
    expected = [piece.strip() for piece in reference_split(text, *sizes, ["\n\n", "\n", " ", ""])]
    expected = [piece for piece in expected if piece]
    chunks = [chunk.text for chunk in RecursiveChunker(*sizes)(document(text))]
    remaining = iter(expected)
    assert all(chunk in remaining for chunk in chunks), "only pieces of the reference, in its order"
    # what is missing held nothing beyond the piece before it: see the docstring
    if sizes[1] == 0:
        assert chunks == expected


@pytest.mark.parametrize(("size", "overlap"), [(0, 0), (-1, 0), (10, 10), (10, -1)])
def test_impossible_sizes_are_refused_when_built(size: int, overlap: int) -> None:
    for chunker in (FixedChunker, RecursiveChunker):
        with pytest.raises(UsageError, match=r"use "):
            chunker(size, overlap)


def find_references(text: str) -> tuple[int, int] | None:
    return None


def test_fingerprints_say_every_setting_that_matters() -> None:
    assert FixedChunker().fingerprint == "fixed@1(size=900,overlap=0)"
    assert RecursiveChunker().fingerprint == "recursive@1(size=1500,overlap=300)"
    assert FixedChunker(without=find_references).fingerprint == "fixed@1(size=900,overlap=0,without=find_references)"
