"""Small files that want more than any reader should give."""

from __future__ import annotations

import docx
import openpyxl
import pptx
from docx.oxml.ns import qn

from tests.documents import making

DEPTH = 20_000


def nested_book() -> bytes:
    """An EPUB whose only chapter is elements in elements."""
    return making.book(f"<html><body>{'<b>' * DEPTH}x{'</b>' * DEPTH}</body></html>")


def nested_slides() -> bytes:
    """A presentation with groups of shapes in groups."""
    deck = pptx.Presentation()
    deck.slides.add_slide(deck.slide_layouts[1])
    parts = making.members(making.saved(deck))
    groups = b"<p:grpSp>" * DEPTH + b"</p:grpSp>" * DEPTH
    parts["ppt/slides/slide1.xml"] = parts["ppt/slides/slide1.xml"].replace(b"</p:spTree>", groups + b"</p:spTree>")
    return making.archive(parts)


def far_cell() -> bytes:
    """A workbook of two cells, 16,383 columns and 1,999 rows apart."""
    book = openpyxl.Workbook()
    book.active["A1"], book.active["XFD2000"] = "near", "far"
    return making.saved(book)


def diagonal() -> bytes:
    """A workbook of 2,000 cells whose rows and columns would be 16,000 million."""
    book = openpyxl.Workbook()
    for number in range(1, 2000):
        book.active.cell(number * 500, number * 8, "x")
    return making.saved(book)


def wide_cell() -> bytes:
    """A Word document with a cell over two thousand million columns."""
    document = docx.Document()
    properties = document.add_table(rows=2, cols=2).cell(0, 0)._tc.get_or_add_tcPr()
    properties.append(properties.makeelement(qn("w:gridSpan"), {qn("w:val"): "2000000000"}))
    return making.saved(document)


def entities() -> bytes:
    """A Word document whose text is entities of entities."""
    declared = '<!ENTITY a "words ">' + "".join(
        f'<!ENTITY {name} "{f"&{before};" * 10}">' for before, name in zip("abcdefgh", "bcdefghi", strict=True)
    )
    text = f"<!DOCTYPE x [{declared}]><x><body><p><r><t>&i;</t></r></p></body></x>"
    return making.archive({"word/document.xml": text.encode(), "[Content_Types].xml": b"<Types/>"})
