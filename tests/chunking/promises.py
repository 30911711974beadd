"""What every chunker promises, and documents to hold it to."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from hypothesis import strategies as st
from numpy.typing import NDArray

from thresher.chunking.spans import chunk_id, row_spans, text_regions
from thresher.types import Chunk, Document, Mark, Page, Table

WORDS = [
    *("a", "Grain", "chaff", "(e.g.", "et al.", "Fig. 2", "ends.", "Why?", "Yes!", "“Quoted.", "x" * 70, "漢字。"),
    *("e\u0301", "👩‍👩‍👧", " ", "  ", "\t", "\n", "\n\n", "\r\n", "\r\n\r\n", "\r", "\u00a0", "\u2028", "\x85", "\x0c"),
]
ANY_TEXT = st.text(max_size=200)
PROSE = st.lists(st.sampled_from(WORDS), max_size=120).map("".join)
SPACED_PROSE = st.lists(st.sampled_from(WORDS), max_size=120).map(" ".join)
NEWLINES = st.integers(0, 50).map(lambda count: "\n" * count)
TEXTS = st.one_of(ANY_TEXT, PROSE, SPACED_PROSE, NEWLINES)


def document(
    text: str, *, tables: Sequence[Table] = (), pages: Sequence[Page] = (), marks: Sequence[Mark] = ()
) -> Document:
    """A document that holds this text."""
    identity = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
    more = {"pages": tuple(pages), "tables": tuple(tables), "marks": tuple(marks)}
    return Document(id=identity, source="a.txt", title="A", text=text, kind="text", **more)


@st.composite
def documents(draw: st.DrawFn) -> Document:
    """A document of any text, with tables, pages and headings anywhere."""
    text = draw(TEXTS)
    offsets = st.integers(0, len(text))
    bounds = sorted(draw(st.lists(offsets, max_size=6, unique=True)))
    tables = []
    for start, end in zip(bounds[::2], bounds[1::2], strict=False):
        begins = sorted(draw(st.lists(st.integers(start, end - 1), max_size=5, unique=True)))
        tables.append(Table(start, end, tuple(zip(begins, [*begins[1:], end], strict=False))))
    begins = [0, *sorted(draw(st.lists(offsets, max_size=3, unique=True)))]
    pages = [
        Page(number, start, end)
        for number, (start, end) in enumerate(zip(begins, [*begins[1:], len(text)], strict=True), start=1)
    ]
    headings = sorted(draw(st.lists(st.tuples(offsets, st.integers(0, 60)), max_size=6)))
    marks = [Mark(start, "heading", text[start : start + length]) for start, length in headings]
    return document(text, tables=tables, pages=draw(st.sampled_from([pages, []])), marks=marks)


def hash_encoder(texts: Sequence[str]) -> NDArray[np.float32]:
    """Each text's words hashed into 32 counts of unit length: the same words give the same vector."""
    vectors = np.zeros((len(texts), 32), dtype=np.float32)
    for row, text in enumerate(texts):
        for word in text.lower().split():
            vectors[row, hashlib.sha256(word.encode("utf-8", "surrogatepass")).digest()[0] % 32] += 1
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    return vectors


def assert_promises(
    document: Document,
    chunks: Sequence[Chunk],
    *,
    size: int,
    table_size: int | None = None,
    without: tuple[int, int] | None = None,
) -> None:
    """All that holds for the chunks of one level, whoever cut them."""
    text = document.text
    assert len({chunk.id for chunk in chunks}) == len(chunks)
    for before, after in pairwise(chunks):
        assert before.start <= after.start or before.parent_id != after.parent_id
    covered = [False] * len(text)
    rows = {span for table in document.tables for span in row_spans(text, table)}
    for chunk in chunks:
        assert chunk.text == text[chunk.start : chunk.end]
        assert chunk.text == chunk.text.strip() != ""
        assert chunk.id == chunk_id(document.id, chunk.level, chunk.start, chunk.end)
        assert (chunk.document_id, chunk.source, chunk.title) == (document.id, document.source, document.title)
        assert chunk.page == document.page_at(chunk.start)
        assert chunk.label == ""
        if chunk.kind == "text":
            assert len(chunk.text) <= size
        else:
            assert len(chunk.text) <= (table_size or size) or (chunk.start, chunk.end) in rows
        covered[chunk.start : chunk.end] = [True] * len(chunk.text)
    skipped_start, skipped_end = without or (0, 0)
    for offset, character in enumerate(text):
        if not character.isspace() and not skipped_start <= offset < skipped_end:
            assert covered[offset], f"{character!r} at {offset} is in no chunk"
    for region in text_regions(document):
        inside = [chunk for chunk in chunks if chunk.start < region.end and chunk.end > region.start]
        assert all(region.start <= chunk.start and chunk.end <= region.end for chunk in inside)
        assert all(chunk.kind == region.kind for chunk in inside)
        for row_start, row_end in region.rows:
            assert all(
                chunk.end <= row_start or chunk.start >= row_end or (chunk.start <= row_start and row_end <= chunk.end)
                for chunk in inside
            )


def assert_numbered(chunks: Sequence[Chunk]) -> None:
    """Siblings are numbered from 1."""
    assert [chunk.number for chunk in chunks] == list(range(1, len(chunks) + 1))
