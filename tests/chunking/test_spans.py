from __future__ import annotations

import pytest

from tests.chunking.promises import document, hash_encoder
from thresher.chunking.fixed import FixedChunker, RecursiveChunker
from thresher.chunking.hierarchical import HierarchicalChunker
from thresher.chunking.spans import row_spans, text_regions
from thresher.protocols import Chunker
from thresher.types import Document, Table
from thresher_methods.semantic import SemanticChunker

BEFORE = "Text before it.\n\n"
HEADER = "| name | count |\n"
RULE = "| --- | --- |\n"
ROWS = [f"| row {number:02} | {number * 37:05} |\n" for number in range(40)]
AFTER = "\nText after it."


def with_table() -> Document:
    spans = []
    position = len(BEFORE)
    for line in [HEADER, RULE, *ROWS]:
        if line != RULE:
            spans.append((position, position + len(line) - 1))
        position += len(line)
    table = Table(len(BEFORE), position, tuple(spans))
    return document(BEFORE + HEADER + RULE + "".join(ROWS) + AFTER, tables=[table])


CHUNKERS: list[Chunker] = [
    FixedChunker(size=200),
    RecursiveChunker(size=200, overlap=50),
    HierarchicalChunker(size=200, minimum=20, overlap=20, subchunk_size=60, subchunk_overlap=10),
    HierarchicalChunker(size=200, subchunk_size=60, literal=True),
    SemanticChunker(hash_encoder, "hash", max_characters=200),
]


@pytest.mark.parametrize("chunker", CHUNKERS, ids=lambda chunker: chunker.fingerprint.split("@")[0])
def test_a_long_table_is_cut_between_rows_only_and_shares_no_chunk_with_text(chunker: Chunker) -> None:
    chunks = chunker(with_table())
    texts = [chunk.text for chunk in chunks if chunk.kind == "text" and chunk.level == "chunk"]
    assert texts == ["Text before it.", "Text after it."]
    tables = [chunk for chunk in chunks if chunk.kind == "table"]
    assert len([chunk for chunk in tables if chunk.level == "chunk"]) > 1
    for chunk in tables:
        assert len(chunk.text) <= 200 or "literal" in chunker.fingerprint
        assert all(line.startswith("|") and line.endswith("|") for line in chunk.text.splitlines())


def test_a_rule_goes_with_the_header_above_it() -> None:
    source = with_table()
    start, end = row_spans(source.text, source.tables[0])[0]
    assert source.text[start:end] == (HEADER + RULE).strip()


def test_a_row_longer_than_the_size_stays_whole() -> None:
    row = "| " + "cell " * 60 + "|"
    text = f"| a | b |\n{row}\n| c | d |"
    first = len("| a | b |\n")
    rows = ((0, first - 1), (first, first + len(row)), (first + len(row) + 1, len(text)))
    chunks = FixedChunker(size=50)(document(text, tables=[Table(0, len(text), rows)]))
    assert [chunk.text for chunk in chunks] == ["| a | b |", row, "| c | d |"]


def test_a_table_without_known_rows_is_cut_at_line_ends() -> None:
    text = "a,b\n" * 10
    chunks = FixedChunker(size=8)(document(text, tables=[Table(0, len(text), ())]))
    assert {chunk.text for chunk in chunks} == {"a,b\na,b"}


def test_a_table_that_reaches_into_another_is_left_to_the_text() -> None:
    text = "one two three four"
    regions = text_regions(document(text, tables=[Table(0, 7, ((0, 7),)), Table(4, 13, ((4, 13),))]))
    assert [(region.kind, text[region.start : region.end]) for region in regions] == [
        ("table", "one two"),
        ("text", "three four"),
    ]


@pytest.mark.parametrize(
    ("text", "table", "skipped", "kept"),
    [
        ("Body. References [1] A table here [2] Index.", "A table", (6, 38), ["Body.", "Index."]),
        ("Body. A long table here. Tail.", "A long tabl", (0, 12), ["A long tabl", "e here. Tail."]),
    ],
)
def test_a_skipped_span_takes_the_tables_inside_it_along_and_no_others(
    text: str, table: str, skipped: tuple[int, int], kept: list[str]
) -> None:
    span = (text.index(table), text.index(table) + len(table))
    regions = text_regions(document(text, tables=[Table(*span, (span,))]), without=lambda _: skipped)
    assert [text[region.start : region.end] for region in regions] == kept
