"""PDF to text: pages, paragraphs, tables as lines, the title and the date.

PDFium's lines hold each row of a table without ruled lines on one line in reading order, so runs of such lines are
marked as tables where they stand: nothing is moved and nothing is doubled.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import takewhile

from pypdfium2.raw import FPDF_GetMetaText

from thresher.documents.assembly import PARAGRAPH, Parsed, table_over
from thresher.documents.cleaning import (
    BREAK,
    FIRST_ROW,
    ROW,
    clean_inline,
    iso_date,
    join_broken_word,
    normalise,
    strip_arxiv_stamp,
    strip_running_lines,
    vocabulary,
)
from thresher.documents.formats.pdf.front import authors_of, lower_case_words, read_front
from thresher.documents.formats.pdf.layout import Block, across_pages, around_floats, goes_on_with, reflow
from thresher.documents.formats.pdf.lines import Line, has_ended
from thresher.documents.formats.pdf.ocr import fill_blank_pages
from thresher.documents.formats.pdf.opening import check_streams, opened, wide_text
from thresher.documents.formats.pdf.pages import read_pages, with_written
from thresher.documents.registry import RawFile
from thresher.errors import DocumentError
from thresher.text.sentences import Span
from thresher.types import Mark, Page, Table

PRIVATE_USE = re.compile("[\ue000-\uf8ff]")  # pieces of brackets, which mean nothing outside their symbol font
TEXT_LINE = re.compile(rf"^[^{FIRST_ROW}{ROW}\n].*$", re.MULTILINE)
MIN_TABLE_ROWS = 3
MAX_TABLE_GAP, MAX_TABLE_GAP_CHARACTERS = 2, 40  # lines such as "Closed / Book" between two rows
MAX_HEADER = 8  # lines of a header; narrow columns break their names
MAX_HEADER_CHARACTERS = 160
JUNK_VALUES = frozenset({"anonymous", "unspecified", "untitled", "unknown", "none", "author", ""})


def _is_junk(value: str) -> bool:
    """Whether a program wrote a value because no one stated it: `(anonymous)`."""
    return value.lower().strip("()[]<> ") in JUNK_VALUES


def read_pdf(file: RawFile) -> Parsed:
    """The document in a PDF; scanned pages are read by OCR where tesseract is installed."""
    check_streams(file.data, limits=file.limits)
    with opened(file.data) as document:
        information = {
            name: clean_inline(wide_text(FPDF_GetMetaText, document, name))
            for name in (b"Title", b"CreationDate", b"Author", b"Subject", b"Keywords")
        }
        pages, headings = read_pages(document)
        texts, notes = fill_blank_pages([page.text for page in pages], document, file.alive)
    filled = with_written(texts, pages)
    stated = {name.decode().lower(): value for name, value in information.items() if not _is_junk(value)}
    parsed = parse_pages(
        filled,
        title=stated.pop("title", ""),
        saved=iso_date(stated.pop("creationdate", "")),
        headings=headings,
        form=filled != texts or any(page.filled for page in pages),
    )
    if not parsed.text:
        raise DocumentError("the PDF has no text", next_step="check that it opens in a viewer and is not only pictures")
    authors = authors_of(parsed.text, title=parsed.title, stated=stated.pop("author", ""))
    return replace(parsed, metadata={**({"author": authors} if authors else {}), **stated, **notes})


def parse_pages(
    raw: Sequence[str], *, title: str = "", saved: str | None = None, headings: Sequence[str] = (), form: bool = False
) -> Parsed:
    """Cleaned text of raw pages, with page and table spans; pure.

    `title` and `saved` (the day it was made) are the metadata's, `headings` those set large on the first page; a `form`
    has been filled in. The stamp of arXiv, a date above the abstract and the year of a conference go before the day of
    the last re-save.
    """
    lines, date = lines_of(raw)
    words = vocabulary("\n".join(page) for page in lines)
    front = read_front(lines[0] if lines else [], stated=title, headings=headings, lower=lower_case_words(lines))
    pages = [around_floats(reflow(page, words, form=form), words) for page in (front.body, *lines[1:])][: len(lines)]
    pages[:1] = [[*front.blocks, *page] for page in pages[:1]]
    text, spans, tables, marks, figures = assemble(across_pages(pages), words)
    held_before = front.year if front.year and (saved or "9") > front.year + "~" else None
    return Parsed(
        text,
        pages=spans,
        tables=tables,
        marks=marks,
        figures=figures,
        title=front.title or title,
        heading=front.title,
        date=iso_date(date or "") or front.date or held_before or saved,
    )


def lines_of(raw: Sequence[str]) -> tuple[list[list[str]], str | None]:
    """The lines of raw pages without running heads and the stamp of arXiv, and the date of that."""
    texts, date = [], None
    for text in raw:
        marked = TEXT_LINE.sub(lambda line: re.sub(rf"{BREAK}(?!\r?\Z)", f"{BREAK}\n", line[0]), text)
        kept = normalise(PRIVATE_USE.sub("", marked).replace(BREAK, "\uf8ff"))  # it removes control characters
        text = kept.replace("\uf8ff", BREAK)
        text, stamped = strip_arxiv_stamp("\n".join(line.strip() for line in text.split("\n")))
        date = date or stamped
        texts.append(text)
    return strip_running_lines([text.split("\n") for text in texts]), date


def assemble(
    pages: Sequence[Sequence[Block]], words: Mapping[str, int]
) -> tuple[str, tuple[Page, ...], tuple[Table, ...], tuple[Mark, ...], tuple[Span, ...]]:
    """One text of all pages: contiguous page spans, and a paragraph that runs over a page end in one piece.

    With it pages, tables, headings and the text inside pictures, of which there is none where there is nothing else.
    """
    marks: list[Mark] = []
    figures: list[Span] = []
    parts: list[str] = []
    length = 0
    starts: list[int] = []
    tables: list[Table] = []
    before: Block | None = None

    def add(piece: str) -> None:
        nonlocal length
        parts.append(piece)
        length += len(piece)

    for blocks in pages:
        runs = table_runs(blocks)
        begins = {first for first, _ in runs}
        inside = {index for first, last in runs for index in range(first + 1, last + 1)}
        offsets: list[int] = []
        for index, block in enumerate(blocks):
            text = block.text.lstrip(FIRST_ROW + ROW)
            if index == 0 and before is not None and goes_on_with(before, block) and index not in begins:
                # The sentence goes on over the page end; what completes a word belongs to the page it began on.
                if parts[-1].endswith((BREAK, "-")):
                    length -= len(parts[-1])
                    stem, space, broken = parts.pop()[:-1].rpartition(" ")
                    rest, _, text = text.partition(" ")
                    add(stem + space + join_broken_word(broken, rest, words))
                add(" " if text else "")
            elif before is not None:
                add("\n" if index in inside else _between(before, block))
            offsets.append(length)
            if block.kind is Line.HEADING:
                marks.append(Mark(length, "heading", text.replace(BREAK, "-")))
            if block.kind is Line.FIGURE:
                figures.append((length, length + len(text)))
            add(text)
            before = block
        starts.append(offsets[0] if offsets else length)
        for first, last in runs:
            rows = [block.text.lstrip(FIRST_ROW + ROW) for block in blocks[first : last + 1]]
            table = table_over(rows, offsets[first])
            if blocks[first].text.startswith(ROW) and tables:
                before_it = tables.pop()
                table = Table(before_it.start, table.end, before_it.rows + table.rows)
            tables.append(table)
    text = "".join(parts).replace(BREAK, "-")
    ends = [*starts[1:], len(text)] if starts else []
    spans = tuple(Page(number, *span) for number, span in enumerate(zip(starts, ends, strict=True), start=1))
    alone = sum(len(blocks) for blocks in pages) == len(figures)
    return text, spans, tuple(tables), tuple(marks), () if alone else tuple(figures)


def _between(before: Block, block: Block) -> str:
    """Rows, items and labels follow each other line by line; everything else is apart by a blank line."""
    if block.kind is Line.CELLS:
        return "\n" if before.kind is Line.CELLS and block.text.startswith(ROW) else PARAGRAPH
    close = before.kind is block.kind and block.kind in (Line.ROW, Line.LABEL, Line.ITEM)
    tabular = {before.kind, block.kind} == {Line.ROW, Line.LABEL}
    return "\n" if close or tabular else PARAGRAPH


def table_runs(blocks: Sequence[Block]) -> list[tuple[int, int]]:
    """First and last block of each table: one of known cells; else three labelled rows or more.

    And the line above those that names the columns.
    """
    runs: list[tuple[int, int]] = []
    index = 0
    while index < len(blocks):
        if blocks[index].kind is Line.CELLS:
            further = takewhile(lambda block: block.text.startswith(ROW), blocks[index + 1 :])
            runs.append((index, index + sum(1 for _ in further)))
            index = runs[-1][1] + 1
            continue
        if blocks[index].kind is not Line.ROW:
            index += 1
            continue
        last, step = index, index + 1
        while step < len(blocks) and step - last <= MAX_TABLE_GAP + 1:
            if blocks[step].kind is Line.ROW:
                last = step
            elif blocks[step].kind not in (Line.LABEL, Line.TEXT) or len(blocks[step].text) > MAX_TABLE_GAP_CHARACTERS:
                break
            step += 1
        rows = [block.text for block in blocks[index : last + 1] if block.kind is Line.ROW]
        labelled = sum(1 for row in rows if re.search(r"[^\W\d_]{2}", row))
        if len(rows) >= MIN_TABLE_ROWS and labelled * 2 >= len(rows):
            runs.append((_header(blocks, index, after=runs[-1][1] if runs else -1), last))
        index = last + 1
    return runs


def _header(blocks: Sequence[Block], first: int, *, after: int) -> int:
    """Where the table begins: at the line above its first row that names the columns, if one is near."""
    start = first
    while start > max(after + 1, first - MAX_HEADER) and _may_name_columns(blocks[start - 1]):
        start -= 1
    return start


def _may_name_columns(block: Block) -> bool:
    if block.kind is not Line.TEXT:
        return block.kind is Line.LABEL and len(block.text) <= MAX_HEADER_CHARACTERS
    is_sentence = has_ended(block.text) and len(re.findall(r"\b[a-z]{2,}\b", block.text)) > MAX_HEADER
    return len(block.text) <= MAX_HEADER_CHARACTERS and not is_sentence
