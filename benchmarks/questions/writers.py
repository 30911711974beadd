"""One document as blocks, written as Word, HTML, Markdown, plain text, EPUB, slides, workbook, CSV, JSON or e-mail.

The same call writes the same bytes: archives carry one fixed date.
"""

from __future__ import annotations

import csv
import io
import json
import re
import zipfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from email.message import EmailMessage
from html import escape
from pathlib import Path
from typing import Any

import docx
import openpyxl
import pptx

WHEN = datetime(2025, 3, 3, 9, 0, tzinfo=UTC)
"""Every archive says it was made then."""

SAVED = re.compile(rb"(?<=dcterms:W3CDTF\">)[^<]+(?=</dcterms:modified>)")

Row = Sequence[str | int | float]


@dataclass(frozen=True, slots=True)
class Heading:
    """A section's heading."""

    text: str


@dataclass(frozen=True, slots=True)
class Items:
    """A list with the sentence that leads it in."""

    lead: str
    items: Sequence[str]
    numbered: bool = False


@dataclass(frozen=True, slots=True)
class Grid:
    """A table: the caption names its unit, the first row is the header."""

    caption: str
    rows: Sequence[Row]


Block = Heading | Items | Grid | str


@dataclass(frozen=True, slots=True)
class Paper:
    """A title, who wrote it (empty: nobody says), and what it holds; a string is a paragraph."""

    title: str
    blocks: Sequence[Block]
    author: str = ""


def word(paper: Paper) -> bytes:
    """A Word file with real headings, lists and tables."""
    made = docx.Document()
    made.core_properties.title, made.core_properties.author = paper.title, paper.author
    made.core_properties.created = made.core_properties.modified = WHEN.replace(tzinfo=None)
    made.add_heading(paper.title, 0)
    for block in paper.blocks:
        match block:
            case Heading(text):
                made.add_heading(text, 1)
            case Items(lead, items, numbered):
                made.add_paragraph(lead)
                for item in items:
                    made.add_paragraph(item, style="List Number" if numbered else "List Bullet")
            case Grid(caption, rows):
                made.add_paragraph(caption)
                table = made.add_table(len(rows), len(rows[0]))
                for cells, values in zip(table.rows, rows, strict=True):
                    for cell, value in zip(cells.cells, values, strict=True):
                        cell.text = str(value)
            case str():
                made.add_paragraph(block)
    return _saved(made.save)


def html(paper: Paper) -> bytes:
    """A web page."""
    author = f'<meta name="author" content="{escape(paper.author)}">' if paper.author else ""
    head = f"<!doctype html><html lang='en'><head><meta charset='utf-8'>{author}<title>{escape(paper.title)}</title>"
    return f"{head}</head><body>{_body(paper)}</body></html>".encode()


def markdown(paper: Paper) -> bytes:
    """Markdown with pipe tables."""
    parts = [f"# {paper.title}", *([f"Author: {paper.author}"] if paper.author else [])]
    for block in paper.blocks:
        match block:
            case Heading(text):
                parts.append(f"## {text}")
            case Items(lead, items, numbered):
                marks = [f"{at}." if numbered else "-" for at in range(1, len(items) + 1)]
                parts += [lead, "\n".join(f"{mark} {item}" for mark, item in zip(marks, items, strict=True))]
            case Grid(caption, rows):
                lines = [f"| {' | '.join(map(str, row))} |" for row in rows]
                parts += [caption, "\n".join([lines[0], "|---" * len(rows[0]) + "|", *lines[1:]])]
            case str():
                parts.append(block)
    return ("\n\n".join(parts) + "\n").encode()


def text(paper: Paper) -> bytes:
    """Plain text: headings in capitals, tables in columns."""
    parts = [paper.title.upper(), *([f"Written by {paper.author}"] if paper.author else [])]
    for block in paper.blocks:
        match block:
            case Heading(heading):
                parts.append(heading.upper())
            case Items(lead, items, numbered):
                marks = [f"{at}." if numbered else "*" for at in range(1, len(items) + 1)]
                lines = [f"  {mark} {item}" for mark, item in zip(marks, items, strict=True)]
                parts.append("\n".join([lead, *lines]))
            case Grid(caption, rows):
                widths = [max(len(str(cell)) for cell in column) for column in zip(*rows, strict=True)]
                lines = ["  ".join(str(cell).ljust(w) for cell, w in zip(row, widths, strict=True)) for row in rows]
                parts.append("\n".join([caption, *(line.rstrip() for line in lines)]))
            case str():
                parts.append(block)
    return ("\n\n".join(parts) + "\n").encode()


def book(title: str, author: str, chapters: Sequence[Paper]) -> bytes:
    """An EPUB of chapters."""
    kind, xhtml = "application/oebps-package+xml", "application/xhtml+xml"
    names = [f"chapter{at}.xhtml" for at in range(1, len(chapters) + 1)]
    manifest = "".join(f'<item id="c{at}" href="{name}" media-type="{xhtml}"/>' for at, name in enumerate(names))
    spine = "".join(f'<itemref idref="c{at}"/>' for at in range(len(names)))
    dublin = 'xmlns:dc="http://purl.org/dc/elements/1.1/"'
    package = (
        f'<package xmlns="http://www.idpf.org/2007/opf" version="3.0" unique-identifier="u"><metadata {dublin}>'
        f'<dc:identifier id="u">{escape(title)}</dc:identifier><dc:title>{escape(title)}</dc:title>'
        f"<dc:creator>{escape(author)}</dc:creator><dc:language>en</dc:language>"
        f"</metadata><manifest>{manifest}</manifest><spine>{spine}</spine></package>"
    )
    container = (
        '<container xmlns="urn:oasis:names:tc:opendocument:xmlns:container" version="1.0"><rootfiles>'
        f'<rootfile full-path="OEBPS/book.opf" media-type="{kind}"/></rootfiles></container>'
    )
    pages = {
        f"OEBPS/{name}": f'<html xmlns="http://www.w3.org/1999/xhtml"><head><title>{escape(chapter.title)}</title>'
        f"</head><body>{_body(chapter)}</body></html>"
        for name, chapter in zip(names, chapters, strict=True)
    }
    files = {"mimetype": "application/epub+zip", "META-INF/container.xml": container, "OEBPS/book.opf": package}
    return _packed({name: content.encode() for name, content in {**files, **pages}.items()})


def slides(paper: Paper, notes: Sequence[str]) -> bytes:
    """A slide for each heading, with what follows it; `notes` are the speaker's, one for each slide."""
    made = pptx.Presentation()
    made.core_properties.title, made.core_properties.author = paper.title, paper.author
    made.core_properties.created = made.core_properties.modified = WHEN.replace(tzinfo=None)
    slide: Any = None
    for block in paper.blocks:
        match block:
            case Heading(heading):
                slide = made.slides.add_slide(made.slide_layouts[1])
                slide.shapes.title.text = heading
                slide.notes_slide.notes_text_frame.text = notes[len(made.slides) - 1]
            case Grid(caption, rows):
                slide.placeholders[1].text_frame.text = caption
                table = slide.shapes.add_table(len(rows), len(rows[0]), 914400, 2743200, 7315200, 1828800).table
                for at, row in enumerate(rows):
                    for column, value in enumerate(row):
                        table.cell(at, column).text = str(value)
            case Items(lead, items, _):
                slide.placeholders[1].text_frame.text = "\n".join([lead, *items])
            case str():
                slide.placeholders[1].text_frame.text = block
    return _saved(made.save)


def workbook(sheets: Sequence[tuple[str, Grid]]) -> bytes:
    """A sheet for each grid: the caption in the first row, the table below it."""
    made = openpyxl.Workbook()
    made.remove(made.active)
    made.properties.created = made.properties.modified = WHEN.replace(tzinfo=None)
    for name, grid in sheets:
        sheet = made.create_sheet(name)
        sheet.append([grid.caption])
        for row in grid.rows:
            sheet.append(list(row))
    return _saved(made.save)


def separated(rows: Sequence[Row]) -> bytes:
    """A CSV file."""
    into = io.StringIO()
    csv.writer(into, lineterminator="\n").writerows(rows)
    return into.getvalue().encode()


def records(value: Any) -> bytes:
    """A JSON file."""
    return (json.dumps(value, indent=1, ensure_ascii=False) + "\n").encode()


def mail(sender: str, to: str, subject: str, sent: str, body: str) -> bytes:
    """An e-mail; `sent` as RFC 5322 writes dates."""
    made = EmailMessage()
    made["From"], made["To"], made["Subject"], made["Date"] = sender, to, subject, sent
    made.set_content(body)
    return made.as_bytes()


def _body(paper: Paper) -> str:
    parts = [f"<h1>{escape(paper.title)}</h1>", *([f"<p>By {escape(paper.author)}</p>"] if paper.author else [])]
    for block in paper.blocks:
        match block:
            case Heading(heading):
                parts.append(f"<h2>{escape(heading)}</h2>")
            case Items(lead, items, numbered):
                tag = "ol" if numbered else "ul"
                inside = "".join(f"<li>{escape(item)}</li>" for item in items)
                parts.append(f"<p>{escape(lead)}</p><{tag}>{inside}</{tag}>")
            case Grid(caption, rows):
                header = "".join(f"<th>{escape(str(cell))}</th>" for cell in rows[0])
                below = "".join(
                    f"<tr>{''.join(f'<td>{escape(str(cell))}</td>' for cell in row)}</tr>" for row in rows[1:]
                )
                parts.append(f"<table><caption>{escape(caption)}</caption><tr>{header}</tr>{below}</table>")
            case str():
                parts.append(f"<p>{escape(block)}</p>")
    return "\n".join(parts)


def _saved(save: Callable[[Any], None]) -> bytes:
    """What an Office library writes, packed again with one date: openpyxl states the time of saving."""
    into = io.BytesIO()
    save(into)
    with zipfile.ZipFile(into) as archive:
        files = {name: archive.read(name) for name in archive.namelist()}
    files["docProps/core.xml"] = SAVED.sub(WHEN.strftime("%Y-%m-%dT%H:%M:%SZ").encode(), files["docProps/core.xml"])
    return _packed(files)


def _packed(files: dict[str, bytes]) -> bytes:
    into = io.BytesIO()
    with zipfile.ZipFile(into, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            stored = zipfile.ZIP_STORED if name == "mimetype" else zipfile.ZIP_DEFLATED
            archive.writestr(zipfile.ZipInfo(name, WHEN.timetuple()[:6]), content, compress_type=stored)
    return into.getvalue()


def written(folder: Path, files: dict[str, bytes]) -> None:
    """Put files in a folder, which is made."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in files.items():
        (folder / name).write_bytes(content)
