"""Files of every format, made in code, and the shortest way to read them."""

from __future__ import annotations

import io
import signal
import zipfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from email.message import EmailMessage
from functools import cache
from pathlib import Path
from typing import Any

import docx
import openpyxl
import pptx
import pypdf
import pytest
from reportlab.pdfgen import canvas

from tests.real_data import DATA
from thresher.documents.read import parse
from thresher.documents.sources import Hints, Item, Limits, fetch
from thresher.errors import DocumentError
from thresher.types import Document

PAPERS = DATA / "papers"
needs_papers = pytest.mark.skipif(not PAPERS.is_dir(), reason=f"no papers in {PAPERS} (set THRESHER_DATA)")


@contextmanager
def within(seconds: float = 5.0) -> Iterator[None]:
    """Fails what takes a processor longer: patterns that try everything in every way take days, ours milliseconds."""

    def too_long(*_: object) -> None:
        raise TimeoutError(f"not done within {seconds:g} s")

    before = signal.signal(signal.SIGPROF, too_long)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


def save(folder: Path, name: str, data: bytes | str) -> Item:
    path = folder / name
    path.write_bytes(data.encode() if isinstance(data, str) else data)
    return Item(source=path.as_posix(), root=path.as_posix(), path=path)


def read_all(item: Item, **given: object) -> list[Document | DocumentError]:
    limits = given.pop("limits", Limits())
    data, hints = fetch(item, limits=limits)
    return list(parse(item, data, hints, limits=limits, **given))


def read_one(item: Item, **given: object) -> Document:
    (document,) = read_all(item, **given)
    assert isinstance(document, Document)
    spans_hold(document)
    return document


@cache
def read_paper(name: str) -> Document:
    """One of the real papers, read once for all tests of a process."""
    path = PAPERS / name
    return read_one(Item(source=path.as_posix(), root=path.as_posix(), path=path))


def refusal(folder: Path, name: str, data: bytes | str, **given: object) -> DocumentError:
    """The error that a broken file raises; one line, about this file, with a next step."""
    with pytest.raises(DocumentError) as caught:
        read_all(save(folder, name, data), **given)
    error = caught.value
    assert error.subject.endswith(name)
    assert error.next_step
    assert "\n" not in str(error)
    return error


def parse_bytes(data: bytes, *, name: str = "", content_type: str = "") -> list[Document | DocumentError]:
    path = Path("/nowhere", name) if name else None
    item = Item(source=name or "stdin:0", root="-", path=path, data=data)
    return list(parse(item, data, Hints(content_type=content_type)))


def read_text(text: str, name: str) -> Document:
    """The one document that a text is."""
    (document,) = parse_bytes(text.encode(), name=name)
    assert isinstance(document, Document)
    spans_hold(document)
    return document


def spans_hold(document: Document) -> None:
    """Pages cover the text in order; tables and their rows lie in it, one line a row."""
    if document.pages:
        assert document.pages[0].start == 0
        assert document.pages[-1].end == len(document.text[: document.card].rstrip())
        assert [page.number for page in document.pages] == list(range(1, len(document.pages) + 1))
        for before, after in zip(document.pages, document.pages[1:], strict=False):
            assert before.start <= before.end == after.start
        for page in document.pages:
            if page.end > page.start:
                assert document.page_at(page.start) == document.page_at(page.end - 1) == page.number
    for table in document.tables:
        assert table.start == table.rows[0][0]
        assert table.end == table.rows[-1][1]
        for start, end in table.rows:
            row = document.text[start:end]
            assert row.strip()
            assert "\n" not in row
            assert start == 0 or document.text[start - 1] == "\n"


def rows_of(document: Document, number: int = 0) -> list[str]:
    return [document.text[start:end] for start, end in document.tables[number].rows]


def pdf(pages: Sequence[str], *, title: str = "", author: str = "", encrypt: str = "") -> bytes:
    """A PDF whose pages hold these lines."""
    buffer = io.BytesIO()
    page = canvas.Canvas(buffer, invariant=1)
    page.setTitle(title or "untitled")
    page.setAuthor(author or "anonymous")
    for text in pages:
        for number, line in enumerate(text.split("\n")):
            page.drawString(72, 800 - 14 * number, line)
        page.showPage()
    page.save()
    if not encrypt:
        return buffer.getvalue()
    writer = pypdf.PdfWriter(clone_from=io.BytesIO(buffer.getvalue()))
    writer.encrypt(encrypt)
    return written(writer)


def written(writer: pypdf.PdfWriter) -> bytes:
    buffer = io.BytesIO()
    writer.write(buffer)
    return buffer.getvalue()


def saved(document: Any) -> bytes:
    """What is made with python-docx, python-pptx or openpyxl, as a file."""
    buffer = io.BytesIO()
    document.save(buffer)
    return buffer.getvalue()


def blank_pdf(pages: int) -> bytes:
    writer = pypdf.PdfWriter()
    for _ in range(pages):
        writer.add_blank_page(300, 300)
    return written(writer)


def word() -> bytes:
    document = docx.Document()
    document.core_properties.title = "Harvest report"
    document.core_properties.author = "Ann Lee"
    document.add_heading("Results", 1)
    document.add_paragraph("Yield grew by 12 percent. It was a good year.")
    table = document.add_table(rows=3, cols=2)
    for row, cells in enumerate([("Field", "Tons"), ("North", "10"), ("South | low", "20")]):
        for column, text in enumerate(cells):
            table.cell(row, column).text = text
    document.add_paragraph("After the table.")
    return saved(document)


def slides(notes: Sequence[str] = ("A note for the speaker", "", ""), *, hidden: Sequence[int] = ()) -> bytes:
    """A deck of as many slides as there are notes (empty: none is written); the second has a table."""
    deck = pptx.Presentation()
    deck.core_properties.title = "PowerPoint Presentation"
    for number, note in enumerate(notes, start=1):
        slide = deck.slides.add_slide(deck.slide_layouts[1])
        slide.shapes.title.text = f"Slide {number} on sieves"
        slide.placeholders[1].text = f"Point {number} of the talk"
        if note:
            slide.notes_slide.notes_text_frame.text = note
        if number == 2:
            table = slide.shapes.add_table(2, 2, 0, 0, 914400, 914400).table
            for index, text in enumerate(("mesh", "loss", "fine", "3")):
                table.cell(index // 2, index % 2).text = text
        if number in hidden:
            slide._element.set("show", "0")
    return saved(deck)


def workbook() -> bytes:
    book = openpyxl.Workbook()
    book.active.title = "Cities"
    for row in (["city", "people"], ["Paris", 2100000], [None, None], ["Rome", 2.8]):
        book.active.append(row)
    book.create_sheet("Empty")
    book.create_sheet("Rivers").append(["Po", "a | b"])
    return saved(book)


def mail(html: str = "") -> bytes:
    message = EmailMessage()
    message["From"] = "Ann <ann@example.com>"
    message["To"] = "bo@example.com"
    message["Subject"] = "Threshing on Monday"
    message["Date"] = "Mon, 02 Mar 2020 10:00:00 +0100"
    if html:
        message.set_content(html, subtype="html")
    else:
        message.set_content("Hello Bo,\n\nshall we start at noon?\n")
    message.add_attachment(b"x", maintype="text", subtype="plain", filename="plan.txt")
    return bytes(message)


def archive(entries: dict[str, bytes], *, compression: int = zipfile.ZIP_DEFLATED) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", compression) as file:
        for name, data in entries.items():
            file.writestr(name, data)
    return buffer.getvalue()


def members(data: bytes) -> dict[str, bytes]:
    with zipfile.ZipFile(io.BytesIO(data)) as file:
        return {name: file.read(name) for name in file.namelist()}


CHAPTER = (
    '<html xmlns="http://www.w3.org/1999/xhtml"><head><title>t</title></head><body><h1>Chapter {0}</h1>'
    "<p>It was <b>night</b> {0}.</p><table><tr><td>k</td><td>v</td></tr><tr><td>1</td><td>{0}</td></tr></table>"
    "</body></html>"
)


def book(*chapters: str) -> bytes:
    """An EPUB of these chapters, or of two."""
    chapters = chapters or (CHAPTER.format("one"), CHAPTER.format("two"))
    container = (
        '<container version="1.0" xmlns="urn:oasis:names:tc:opendocument:xmlns:container">'
        '<rootfiles><rootfile full-path="c.opf" media-type="application/oebps-package+xml"/></rootfiles></container>'
    )
    items = "".join(
        f'<item id="{n}" href="{n}.xhtml" media-type="application/xhtml+xml"/>' for n in range(len(chapters))
    )
    spine = "".join(f'<itemref idref="{n}"/>' for n in range(len(chapters)))
    package = (
        '<package xmlns="http://www.idpf.org/2007/opf" version="3.0" unique-identifier="i">'
        '<metadata xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:title>On Flails</dc:title>'
        "<dc:creator>Zed</dc:creator><dc:date>1999-05-05</dc:date></metadata>"
        f"<manifest>{items}</manifest><spine>{spine}</spine></package>"
    )
    parts = {"mimetype": "application/epub+zip", "META-INF/container.xml": container, "c.opf": package}
    parts |= {f"{number}.xhtml": chapter for number, chapter in enumerate(chapters)}
    return archive({name: text.encode() for name, text in parts.items()})
