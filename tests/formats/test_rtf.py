"""RTF files: what was done to the text is kept, and a file that is none or broken is named."""

from __future__ import annotations

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.documents import making
from tests.documents.making import parse_bytes
from thresher.errors import DocumentError
from thresher.types import Document

HEAD = rb"{\rtf1\ansi\ansicpg1252{\fonttbl{\f0 Arial;}}{\stylesheet{\s1\b\fs28 Heading 1;}{\s2\i Quote;}}"


def read(body: bytes, head: bytes = HEAD) -> Document:
    (document,) = parse_bytes(head + body + b"}", name="a.rtf")
    assert isinstance(document, Document)
    making.spans_hold(document)
    return document


@pytest.mark.parametrize(
    ("body", "text"),
    [
        (rb"35{\super 2} boats\par", "35 [2] boats"),
        (rb"about 10\super 6\nosupersub  litres\par", "about 10^6 litres"),
        (rb"about 10{\up8 6} litres, H{\sub 2}O\par", "about 10^6 litres, H2O"),
        (rb"Fee {\strike 40} 55\par", "Fee ~~40~~ 55"),
        (rb"na\'efve caf\u233? \emdash  5\~km\par", "naïve café — 5 km"),
        (rb"\uc2 \u8364 EU5\uc1 , \u-10179?\u-8704?\par", "€5, 😀"),
        (rb"{\field{\*\fldinst HYPERLINK x}{\fldrslt the list}}{\*\generator x;} hangs\par", "the list hangs"),
        (rb"{\listtext 1.\tab}Cast off\par{\listtext\'b7\tab}Row\par", "1. Cast off\n\n- Row"),
        (rb"A pier{\footnote\pard{\super\chftn} Of 1931.} is long.\par", "A pier is long.\n\nFootnote 1: Of 1931."),
        (rb"A pier{\*\annotation{\*\atnref 1}\pard Whose?} is long.\par", "A pier is long.\n\nComment: Whose?"),
        (rb"{\header Page}{\pict 0a0b}a\line b\par\par c\par", "a\nb\n\nc"),
        (rb"1\bin3 {{{2\par", "12"),
    ],
)  # fmt: skip
def test_what_was_done_to_a_text_is_kept(body: bytes, text: str) -> None:
    assert read(body).text == text


def test_a_table_keeps_its_cells_and_merged_ones() -> None:
    rows = (
        rb"\trowd\cellx1\cellx2\pard\intbl Pier\cell Boats\cell\row"
        rb"\trowd\clvmgf\cellx1\cellx2\intbl North\cell 12\cell\row"
        rb"\trowd\clvmrg\cellx1\cellx2\intbl\cell 9\cell\row\pard Behind.\par"
    )
    document = read(rows)
    assert making.rows_of(document) == ["| Pier | Boats |", "| North | 12 |", "| North | 9 |"]
    assert document.text.endswith("Behind.")


def test_headings_title_and_author_are_those_of_the_file() -> None:
    body = (
        rb"{\info{\title Pier r\'fcles}{\author Nora Lind}{\creatim\yr2024\mo5\dy3}}"
        rb"\pard\s1 Depth\par\pard 4 m\par"
    )
    document = read(body)
    assert (document.title, document.date, document.metadata["author"]) == ("Pier rüles", "2024-05-03", "Nora Lind")
    assert [mark.name for mark in document.marks if mark.kind == "heading"] == ["Depth"]


def test_hidden_text_is_kept_and_named_as_hidden() -> None:
    document = read(rb"Open.{\v  Code 99.} Shut.\par")
    assert document.text == "Open. Code 99. Shut."
    assert document.metadata["hidden_words"] == 2
    assert [mark.name for mark in document.marks if mark.kind == "hidden"] == ["hidden text", ""]


def test_a_file_without_text_or_too_deep_is_refused() -> None:
    with pytest.raises(DocumentError, match="has no text"):
        parse_bytes(HEAD + b"}", name="a.rtf")
    with pytest.raises(DocumentError, match="nested too deeply"):
        parse_bytes(HEAD + b"{" * 5000, name="a.rtf")


@given(st.binary(max_size=200))
def test_any_bytes_are_read_or_refused(data: bytes) -> None:
    with making.within(), suppress(DocumentError):
        parse_bytes(HEAD + data, name="a.rtf")
