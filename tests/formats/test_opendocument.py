"""OpenDocument files: what a writer did to the text is in it, and sheets are read as those of Excel."""

from __future__ import annotations

import pytest

from tests.documents import making
from tests.documents.making import parse_bytes
from thresher.errors import DocumentError
from thresher.types import Document

SPACES = " ".join(
    f'xmlns:{name}="urn:{name}"'
    for name in ("office", "text", "table", "style", "fo", "draw", "presentation", "form", "dc", "meta", "svg")
)
STYLES = """
<style:style style:name="Up"><style:text-properties style:text-position="super 58%"/></style:style>
<style:style style:name="Gone"><style:text-properties style:text-line-through-style="solid"/></style:style>
<style:style style:name="Below" style:parent-style-name="Gone"/>
<style:style style:name="Unseen"><style:text-properties text:display="none"/></style:style>
<style:style style:name="Page"><style:drawing-page-properties presentation:visibility="hidden"/></style:style>
<style:style style:name="Sheet"><style:table-properties table:display="false"/></style:style>
<text:list-style style:name="L"><text:list-level-style-number text:level="1" style:num-format="1"/></text:list-style>
"""
META = (
    f"<office:document-meta {SPACES}><office:meta><dc:title>Pier rules</dc:title><dc:creator>Ann Berg</dc:creator>"
    "<meta:initial-creator>Nora Lind</meta:initial-creator><meta:creation-date>2024-05-03T10:00:00</meta:creation-date>"
    "</office:meta></office:document-meta>"
)


def packed(kind: str, body: str, **parts: bytes) -> bytes:
    content = (
        f"<office:document-content {SPACES}><office:automatic-styles>{STYLES}</office:automatic-styles>"
        f"<office:body><office:{kind}>{body}</office:{kind}></office:body></office:document-content>"
    )
    mime_type = f"application/vnd.oasis.opendocument.{kind}".encode()
    return making.archive({"mimetype": mime_type, "content.xml": content.encode(), "meta.xml": META.encode(), **parts})


def read(kind: str, body: str, name: str) -> Document:
    (document,) = parse_bytes(packed(kind, body), name=name)
    assert isinstance(document, Document)
    making.spans_hold(document)
    return document


@pytest.mark.parametrize(
    ("written", "text"),
    [
        ('<text:p>35<text:span text:style-name="Up">2</text:span> boats</text:p>', "35 [2] boats"),
        ('<text:p>about 10<text:span text:style-name="Up">6</text:span> litres</text:p>', "about 10^6 litres"),
        ('<text:p>Fee <text:span text:style-name="Gone">40</text:span> 55</text:p>', "Fee ~~40~~ 55"),
        ('<text:p>Fee <text:span text:style-name="Below">40</text:span> 55</text:p>', "Fee ~~40~~ 55"),
        ("<text:p>a<text:s/>b<text:tab/>c &lt; 5 %<text:line-break/>d</text:p>", "a b c < 5 %\nd"),
        (
            '<text:list text:style-name="L"><text:list-item><text:p>Cast off</text:p></text:list-item>'
            "<text:list-item><text:p>Row</text:p></text:list-item></text:list>",
            "1. Cast off\n\n2. Row",
        ),
        (
            '<text:p>The pier<text:note text:note-class="footnote"><text:note-citation>1</text:note-citation>'
            "<text:note-body><text:p>Built in 1931.</text:p></text:note-body></text:note> is long.</text:p>",
            "The pier is long.\n\nFootnote 1: Built in 1931.",
        ),
        (
            "<text:p>The pier<office:annotation><dc:creator>Ann Berg</dc:creator><text:p>Since when?</text:p>"
            "</office:annotation> is long.</text:p>",
            "The pier is long.\n\nComment by Ann Berg: Since when?",
        ),
        (
            "<text:tracked-changes><text:p>Removed.</text:p></text:tracked-changes><text:p>Kept.</text:p>",
            "Kept.",
        ),
        (
            '<office:forms><form:form><form:checkbox form:id="c" form:label="Steel" form:current-state="checked"/>'
            '<form:checkbox form:id="d" form:label="Wood"/></form:form></office:forms>'
            '<text:p>Hull: <draw:control draw:control="c"/><draw:control draw:control="d"/></text:p>',
            "Hull: ☑ Steel ☐ Wood",
        ),
    ],
)
def test_what_was_done_to_a_text_is_kept(written: str, text: str) -> None:
    assert read("text", written, "a.odt").text.startswith(text)


def test_title_author_day_and_headings_are_those_of_the_file() -> None:
    document = read("text", '<text:h text:outline-level="1">Depth</text:h><text:p>4 m</text:p>', "a.odt")
    assert (document.title, document.date, document.metadata["author"]) == ("Pier rules", "2024-05-03", "Nora Lind")
    assert [mark.name for mark in document.marks if mark.kind == "heading"] == ["Depth"]


def test_hidden_text_is_kept_and_named_as_hidden() -> None:
    document = read("text", '<text:p>Open.<text:span text:style-name="Unseen"> Code 99.</text:span></text:p>', "a.odt")
    assert document.metadata["hidden_words"] == 2
    assert [mark.name for mark in document.marks if mark.kind == "hidden"][:1] == ["hidden text"]


def test_a_table_keeps_its_cells_and_spans() -> None:
    rows = (
        "<table:table-header-rows><table:table-row><table:table-cell><text:p>Pier</text:p></table:table-cell>"
        "<table:table-cell><text:p>Boats</text:p></table:table-cell></table:table-row></table:table-header-rows>"
        '<table:table-row><table:table-cell table:number-rows-spanned="2"><text:p>North</text:p></table:table-cell>'
        "<table:table-cell><text:p>12</text:p></table:table-cell></table:table-row>"
        "<table:table-row><table:covered-table-cell/><table:table-cell><text:p>9</text:p></table:table-cell>"
        "</table:table-row>"
    )
    document = read("text", f"<table:table>{rows}</table:table>", "a.odt")
    assert making.rows_of(document) == ["| Pier | Boats |", "| North | 12 |", "| North | 9 |"]


TWO, GONE = 'table:number-rows-spanned="2"', 'table:style-name="Gone"'


def cell(text: str, given: str = "") -> str:
    return f"<table:table-cell {given}><text:p>{text}</text:p></table:table-cell>"


def test_a_sheet_is_read_as_one_of_excel() -> None:
    rows = (
        f"<table:table-row>{cell('Depot')}{cell('Trams')}{cell('Since')}</table:table-row>"
        f"<table:table-row>{cell('Hull', TWO)}{cell('12')}{cell('3 May 2024')}</table:table-row>"
        f"<table:table-row><table:covered-table-cell/>{cell('9')}{cell('2023')}</table:table-row>"
        f'<table:table-row table:visibility="collapse">{cell("York")}{cell("4", GONE)}'
        "<table:table-cell><office:annotation><text:p>ask Berg</text:p></office:annotation></table:table-cell>"
        "</table:table-row>"
        '<table:table-row table:number-rows-repeated="1048570"><table:table-cell/></table:table-row>'
    )
    old = f"<table:table-row>{cell('Bus')}{cell('Count')}</table:table-row>" * 2
    sheets = (
        f'<table:table table:name="Trams">{rows}</table:table>'
        f'<table:table table:name="Old" table:style-name="Sheet">{old}</table:table>'
    )
    document = read("spreadsheet", sheets, "a.ods")
    assert making.rows_of(document)[:4] == [
        "| Depot | Trams | Since |",
        "| Hull | 12 | 3 May 2024 |",
        "| Hull | 9 | 2023 |",
        "| York | ~~4~~ |  |",
    ]
    assert "Comment on C4: ask Berg" in document.text
    assert document.metadata["hidden_sheets"] == "Old"
    assert {"hidden row", "hidden sheet"} <= {mark.name for mark in document.marks if mark.kind == "hidden"}


def test_a_slide_is_a_page_with_its_notes() -> None:
    slides = (
        '<draw:page><draw:frame presentation:class="title"><draw:text-box><text:p>Tram plan</text:p></draw:text-box>'
        "</draw:frame><draw:frame><draw:text-box><text:p>Every 8 minutes</text:p></draw:text-box></draw:frame>"
        '<presentation:notes><draw:frame presentation:class="notes"><draw:text-box><text:p>Opened in 1931.</text:p>'
        '</draw:text-box></draw:frame></presentation:notes></draw:page><draw:page draw:style-name="Page"><draw:frame>'
        "<draw:text-box><text:p>Fares rise.</text:p></draw:text-box></draw:frame></draw:page>"
    )
    document = read("presentation", slides, "a.odp")
    assert document.text.startswith("Tram plan\n\nEvery 8 minutes\n\nNotes:\n\nOpened in 1931.\n\nFares rise.")
    assert (len(document.pages), document.metadata["hidden_slides"]) == (2, 1)
    assert [mark.name for mark in document.marks if mark.kind == "hidden"] == ["hidden slide"]


def test_a_file_with_a_password_is_refused_as_such() -> None:
    manifest = b"<manifest><file-entry><encryption-data/></file-entry></manifest>"
    data = packed("text", "<text:p>x</text:p>", **{"META-INF/manifest.xml": manifest})
    with pytest.raises(DocumentError, match="protected by a password"):
        parse_bytes(data, name="a.odt")
