"""PDF to text: pages, paragraphs, tables as lines, the title and the date.

Tables: kreuzberg's own table finder is not used. On 41 papers it reported 25 tables: 11 real ones, their columns run
together, and 14 of prose, references, contents or figures; and it repeats text that the page has already. PDFium's
lines hold each table row on one line in reading order, so runs of such lines are marked as tables where they stand:
nothing is moved and nothing is doubled.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import tempfile
import zlib
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from thresher.documents.assembly import PARAGRAPH, Parsed, table_over
from thresher.documents.cleaning import (
    BREAK,
    clean_inline,
    iso_date,
    join_broken_word,
    normalise,
    strip_arxiv_stamp,
    strip_running_lines,
    vocabulary,
)
from thresher.documents.formats.extractor import PDF, described, extract, loaded
from thresher.documents.formats.pdf_fields import with_fields
from thresher.documents.formats.pdf_front import large_headings, lower_case_words, read_front
from thresher.documents.formats.pdf_layout import Block, across_pages, around_floats, goes_on_with, reflow
from thresher.documents.formats.pdf_lines import Line, has_ended
from thresher.documents.registry import RawFile
from thresher.documents.sources import Limits
from thresher.errors import DocumentError
from thresher.structure.front_matter import authors_of
from thresher.text.sentences import Span
from thresher.types import Mark, Page, Table

PRIVATE_USE = re.compile("[\ue000-\uf8ff]")  # pieces of brackets, which mean nothing outside their symbol font
MIN_TABLE_ROWS = 3
MAX_TABLE_GAP, MAX_TABLE_GAP_CHARACTERS = 2, 40  # lines such as "Closed / Book" between two rows
MAX_HEADER = 8  # lines of a header; narrow columns break their names
MAX_HEADER_CHARACTERS = 160
JUNK_VALUES = frozenset({"anonymous", "unspecified", "untitled", "unknown", "none", "author", ""})


def read_pdf(file: RawFile) -> Parsed:
    """The document in a PDF; scanned pages are read by OCR where tesseract is installed."""
    check_streams(file.data, limits=file.limits)
    result = extract(file.data, PDF, limits=file.limits, elements=True)
    raw, notes = fill_blank_pages(page_texts(result), file.data, file.alive)
    filled = with_fields(file.data, raw)
    stated = described(result.metadata, junk=JUNK_VALUES)
    parsed = parse_pages(
        filled,
        title=clean_inline(str(result.metadata.get("title") or "")),
        saved=iso_date(str(result.metadata.get("created_at") or "")),
        headings=large_headings(result.document),
        form=filled != raw,
    )
    if not parsed.text:
        raise DocumentError("the PDF has no text", next_step="check that it opens in a viewer and is not only pictures")
    authors = authors_of(parsed.text, title=parsed.heading or parsed.title, stated=stated.pop("author", ""))
    return replace(parsed, metadata={**({"author": authors} if authors else {}), **stated, **notes})


def page_texts(result: Any) -> list[str]:
    """The text of each page, with `BREAK` and a line break where a word is hyphenated at a line end.

    kreuzberg's page text has such words joined already, `task-specific` as `taskspecific`. Its elements keep PDFium's
    mark, so the text is taken from them; a page whose elements do not add up to its text is taken as it is.
    """
    lines: dict[int, list[str]] = defaultdict(list)
    for element in result.elements or ():
        if element["element_type"] not in ("page_break", "table"):
            lines[element["metadata"].get("page_number") or 0].append(element["text"])
    pages = [("\n".join(lines[page["page_number"]]), page["content"]) for page in result.pages or ()]
    return [text if _letters(text) == _letters(content) else content for text, content in pages]


def _letters(text: str) -> str:
    return re.sub(r"[\W_]+", "", text)


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
        title=front.title if front.confirmed or front.title else title,
        heading=front.title,
        date=iso_date(date or "") or front.date or held_before or saved,
    )


def lines_of(raw: Sequence[str]) -> tuple[list[list[str]], str | None]:
    """The lines of raw pages without running heads and the stamp of arXiv, and the date of that."""
    texts, date = [], None
    for text in raw:
        marked = re.sub(r"\x02(?:\r?\n)?", "\uf8ff\n", text)  # `normalise` removes control characters
        text = PRIVATE_USE.sub("", normalise(marked.replace(BREAK, "")).replace("\uf8ff", BREAK))
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
            text = block.text
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
            tables.append(table_over([block.text for block in blocks[first : last + 1]], offsets[first]))
    text = "".join(parts).replace(BREAK, "-")
    ends = [*starts[1:], len(text)] if starts else []
    spans = tuple(Page(number, *span) for number, span in enumerate(zip(starts, ends, strict=True), start=1))
    alone = sum(len(blocks) for blocks in pages) == len(figures)
    return text, spans, tuple(tables), tuple(marks), () if alone else tuple(figures)


def _between(before: Block, block: Block) -> str:
    """Rows, items and labels follow each other line by line; everything else is apart by a blank line."""
    close = before.kind is block.kind and block.kind in (Line.ROW, Line.LABEL, Line.ITEM)
    tabular = {before.kind, block.kind} == {Line.ROW, Line.LABEL}
    return "\n" if close or tabular else PARAGRAPH


def table_runs(blocks: Sequence[Block]) -> list[tuple[int, int]]:
    """First and last block of each table: three labelled rows or more, and the line above that names the columns."""
    runs: list[tuple[int, int]] = []
    index = 0
    while index < len(blocks):
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


# --- what a PDF unpacks to --------------------------------------------------------------------------------------------

PIECE = 64 * 1024
MAX_FILTERS = 4  # /FlateDecode given more often than this on one stream is an attack
STREAM = re.compile(rb">>\s{0,4}stream\r?\n")
DICTIONARY_BYTES = 2000  # how far before its stream a dictionary begins; real ones take some 200


def check_streams(data: bytes, *, limits: Limits) -> None:
    """Refuse a PDF whose Flate streams unpack to too much in all; what cannot be unpacked is left to the reader."""
    total = end = 0
    for match in STREAM.finditer(data):
        before = data[max(0, match.start() - DICTIONARY_BYTES) : match.start()].rpartition(b"obj")[2]
        filters = before.count(b"/FlateDecode") + before.count(b"/Fl ")
        if not filters:
            continue
        if filters > MAX_FILTERS:
            raise DocumentError("looks like a PDF bomb (nested compression)", next_step="leave it out")
        if end < match.end():  # else the end that was found for a stream before this one is also its own
            end = data.find(b"endstream", match.end())
            end = len(data) if end < 0 else end
        body = memoryview(data)[match.end() : end]
        total += _unpacked_size(body, filters, limits.max_unpacked_bytes - total)
        if total > limits.max_unpacked_bytes:
            raise DocumentError(
                f"looks like a PDF bomb (unpacks to more than {limits.max_unpacked_bytes:,} bytes)",
                next_step="leave it out, or raise the limit if you trust it",
            )


def _unpacked_size(body: memoryview, filters: int, allowed: int) -> int:
    """Bytes that come out of the stream, counted up to a little over `allowed`."""
    layers = [zlib.decompressobj() for _ in range(filters)]
    size = 0
    with suppress(zlib.error):
        for start in range(0, len(body), PIECE):
            for piece in _through(layers, body[start : start + PIECE]):
                size += piece
                if size > allowed:
                    return size
    return size


def _through(layers: Sequence[zlib._Decompress], packed: bytes | memoryview) -> Iterator[int]:
    """Sizes of the pieces that come out of the last layer for what goes into the first."""
    first, *rest = layers
    while packed and not first.eof:
        unpacked = first.decompress(packed, PIECE * 16)
        packed = first.unconsumed_tail
        if rest:
            yield from _through(rest, unpacked)
        else:
            yield len(unpacked)


# --- text of pages that are only pictures, by the `tesseract` command where it is installed ---------------------------

DOTS_PER_INCH = 300  # what tesseract's documentation asks for
SECONDS_PER_PAGE = 60  # a dense page takes 2 to 10 s on one core


def fill_blank_pages(
    pages: Sequence[str], data: bytes, alive: Callable[[], None] = lambda: None
) -> tuple[list[str], dict[str, int]]:
    """The pages, blank ones read by OCR where possible, and how many were read so or stayed without text.

    A PDF without text raises DocumentError where OCR is not possible; the blank pages of one with text are counted.
    """
    blank = [index for index, page in enumerate(pages) if not page.strip()]
    filled = list(pages)
    if not blank:
        return filled, {}
    languages = installed_languages()
    if not languages:
        if len(blank) == len(pages):
            raise DocumentError(
                "no text layer (scanned?)", next_step="install tesseract and its language data, or run OCR on it first"
            )
        return filled, {"pages_without_text": len(blank)}
    with tempfile.TemporaryDirectory(prefix="thresher-") as folder:
        path = Path(folder, "pages.pdf")
        path.write_bytes(data)
        for index in blank:
            filled[index] = _read_page(path, index, languages)
            alive()
    without = sum(1 for page in filled if not page.strip())
    if without == len(filled):
        raise DocumentError("no text layer, and OCR found no text", next_step="check that the pages are not blank")
    counts = {"pages_by_ocr": len(blank) - without, "pages_without_text": without}
    return filled, {name: count for name, count in counts.items() if count}


def installed_languages() -> str:
    """The languages tesseract can read, as it takes them (`eng+deu`); empty where it is not installed."""
    if shutil.which("tesseract") is None:
        return ""
    try:
        listed = subprocess.run(
            ["tesseract", "--list-langs"], capture_output=True, text=True, timeout=SECONDS_PER_PAGE, check=False
        ).stdout
    except (OSError, subprocess.TimeoutExpired):
        return ""
    languages = {line.strip() for line in listed.splitlines()[1:]} - {"", "osd", "equ"}
    return "+".join(sorted(languages, key=lambda language: (language != "eng", language)))


def _read_page(path: Path, index: int, languages: str) -> str:
    kreuzberg = loaded()
    try:
        image = kreuzberg.render_pdf_page(path, index, dpi=DOTS_PER_INCH)
        read = subprocess.run(
            ["tesseract", "stdin", "stdout", "-l", languages, "--dpi", str(DOTS_PER_INCH)],
            input=image,
            capture_output=True,
            timeout=SECONDS_PER_PAGE,
            check=True,
        )
    except (OSError, subprocess.SubprocessError, kreuzberg.KreuzbergError, RuntimeError, ValueError) as error:
        raise DocumentError(
            f"OCR of page {index + 1} failed ({type(error).__name__})",
            next_step="run tesseract on it by hand to see why",
        ) from error
    return str(read.stdout, "utf-8", errors="replace")
