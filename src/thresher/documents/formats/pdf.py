"""PDF to text: pages, paragraphs, tables as lines, the title and the date.

Tables: kreuzberg's own table finder is not used. On 41 papers it reported 25 tables: 11 real ones, their columns run
together, and 14 of prose, references, contents or figures; and it repeats text that the page has already. PDFium's
lines hold each table row on one line in reading order, so runs of such lines are marked as tables where they stand:
nothing is moved and nothing is doubled.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import takewhile
from typing import Any

from thresher.documents.assembly import PARAGRAPH, Parsed, table_over
from thresher.documents.cleaning import (
    ARXIV_STAMP,
    BOILERPLATE,
    BREAK,
    FIRST_ROW,
    HEAD,
    PLAIN,
    ROW,
    clean_inline,
    iso_date,
    join_broken_word,
    normalise,
    strip_arxiv_stamp,
    strip_running_lines,
    vocabulary,
)
from thresher.documents.formats.pdf_corrected import with_places
from thresher.documents.formats.pdf_layout import Block, across_pages, around_floats, goes_on_with, reflow
from thresher.documents.formats.pdf_lines import Line, has_ended
from thresher.documents.formats.pdf_pages import check_streams, extract, fill_blank_pages, page_texts, with_fields
from thresher.documents.registry import RawFile
from thresher.errors import DocumentError
from thresher.text.sentences import Span, trim
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
    result = extract(file.data, limits=file.limits)
    raw, notes = fill_blank_pages(page_texts(result), file.data, file.alive)
    raw, written = with_places(file.data, raw)
    filled = with_fields(file.data, raw) if written else raw
    stated: dict[str, str] = {}
    for name, key in (("author", "authors"), ("subject", "subject"), ("keywords", "keywords")):
        value = result.metadata.get(key) or ""
        text = clean_inline(", ".join(value) if isinstance(value, list) else value)
        if not _is_junk(text):
            stated[name] = text
    title = clean_inline(str(result.metadata.get("title") or ""))
    parsed = parse_pages(
        filled,
        title="" if _is_junk(title) else title,
        saved=iso_date(str(result.metadata.get("created_at") or "")),
        headings=large_headings(result.document),
        form=filled != raw,
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


# --- the front: the title, where it and the authors end, and the day or year that the first page states ---------------

# A file's metadata is believed where the first page says the same. Many have the name of a template, the day of a print
# or nothing; then the largest heading of the page is the title, and without one the lines that read like a title.

TITLE_LINES = 3
MOST_TITLE_LINES = 5  # of a title set large
TITLE_CHARACTERS = 200
TITLE_WITHIN = 15  # lines from the top: permissions, a journal's name, a date and a report's number stand above it
TALLEST = 100  # points; a line that measures more runs from top to bottom, as a stamp in the margin does
FRONT_LINES = 60  # names and addresses above the abstract
ABSTRACT = re.compile(r"(?:abstract|summary|contents|(?:1|I)?\.?\s*introduction)\s*[:.]?", re.IGNORECASE)
FOOTNOTE_MARKS = "∗†‡§*"  # behind a title and behind a name they lead to a footnote
UNFINISHED = re.compile(r"(?:[:,–-]|\b(?:and|for|of|the|a|an|in|on|to|with|by|via|from|as))$", re.IGNORECASE)
MEETING = re.compile(
    r"\b(?:conference|proceedings|proc\.|workshop|symposium|meeting of)\b.*?\b((?:19|20)\d\d)\b", re.IGNORECASE
)
NOTICE = re.compile(
    r"proper attribution|permission|hereby|licen[cs]ed? |to appear in|accepted (?:at|to|by|for)|technical report|"
    r"working paper|this (?:paper|article|version|document|work) (?:is|was|has)|received|revised",
    re.IGNORECASE,
)
"""Lines above a title that say by whose leave, for what or in what state a text appears."""
STANDING = 0.8  # of the words of a title; one of five may be spelt otherwise, all of a template's name are not


@dataclass(frozen=True, slots=True)
class Front:
    """What the first page says of its document, and its lines taken apart."""

    title: str  # empty where the page begins with a sentence
    blocks: tuple[Block, ...]  # title and authors, a line each
    body: tuple[str, ...]  # the other lines of the first page
    date: str | None  # ISO 8601, where a line above the abstract is one
    year: str | None  # of the conference that a line of the first page names


def read_front(lines: Sequence[str], *, stated: str, headings: Iterable[str], lower: Mapping[str, int]) -> Front:
    """The front of the page with these lines; `stated` is the metadata's title, `headings` are set large."""
    text = [*takewhile(lambda line: not line.startswith((FIRST_ROW, ROW)), lines)]
    tidy = [clean_inline(line.lstrip(HEAD + PLAIN).replace(BREAK, "-")) for line in text]
    confirmed = bool(stated) and _stands_in(stated, tidy[:TITLE_WITHIN])
    wanted = (stated, *headings) if confirmed else tuple(headings)
    span = next((span for each in wanted if (span := _lines_of(each, tidy))), None) or _by_words(tidy, lower)
    year = next((named[1] for line in tidy if (named := MEETING.search(line))), None)
    if span is None:
        return Front(stated if confirmed else "", (), tuple(lines), None, year)
    first, last = span
    title = re.sub(rf"[\s{FOOTNOTE_MARKS}]+$", "", " ".join(tidy[first : last + 1]))
    abstract = next((i for i, line in enumerate(tidy[:FRONT_LINES]) if ABSTRACT.fullmatch(line)), last + 1)
    above, below = tidy[:first], tidy[last + 1 : abstract]
    blocks = [*(Block(Line.LABEL, line) for line in above)]
    blocks += [Block(Line.HEADING, " ".join(tidy[first : last + 1])), *(Block(Line.LABEL, line) for line in below)]
    date = next((date for line in (*above, *below) if (date := iso_date(line))), None)
    longer = confirmed and _letters(stated) in _letters(title) and len(_letters(stated)) < len(_letters(title))
    title = stated if confirmed and not longer else title
    return Front(title, tuple(blocks), tuple(lines[max(abstract, last + 1) :]), date, year)


def large_headings(document: Mapping[str, Any] | None) -> list[str]:
    """Headings of the first page, those of the highest level first: kreuzberg tells levels by the size of the font."""
    found: list[tuple[int, str]] = []
    for node in (document or {}).get("nodes", ()):
        content = node["content"]
        text = ARXIV_STAMP.sub("", normalise(str(content.get("text") or ""))).strip()
        if node.get("page") != 1 or content.get("node_type") != "heading" or not text:
            continue
        box = node.get("bbox") or {"y0": 0, "y1": 0}
        tall = (box["y1"] - box["y0"]) / (text.count("\n") + 1) > TALLEST
        if not tall and not ABSTRACT.fullmatch(text):
            found.append((int(content.get("level") or 0), text))
    return [text for _, text in sorted(found, key=lambda one: (_says_no_title(one[1]), one[0]))]


def _letters(text: str) -> str:
    return re.sub(r"[\W_]+", "", unicodedata.normalize("NFKC", text).casefold())


def _stands_in(title: str, lines: Sequence[str]) -> bool:
    """Whether nearly all words of the title are in these lines: signs and breaks may be in others."""
    words = [_letters(word) for word in re.findall(r"\w{2,}", title)]
    there = _letters("".join(lines))
    return bool(words) and sum(word in there for word in words) >= STANDING * len(words)


def _lines_of(heading: str, lines: Sequence[str]) -> tuple[int, int] | None:
    """First and last of the lines near the top that the heading is made of, without names set as large as it."""
    kept = heading.split("\n")
    names = next((at for at, line in enumerate(kept) if at and re.search(rf"[@{FOOTNOTE_MARKS}]", line)), len(kept))
    wanted = _letters("".join(kept[:names]))
    if not re.search(r"[^\W\d_]{2}", wanted) or len(heading) > TITLE_CHARACTERS:
        return None
    for first in range(min(TITLE_WITHIN, len(lines))):
        joined = ""
        for last in range(first, min(first + MOST_TITLE_LINES, len(lines))):
            joined += _letters(lines[last])
            if joined == wanted:
                return first, _last_of(lines, last)
            if not wanted.startswith(joined):
                break
    return None


def _last_of(lines: Sequence[str], last: int) -> int:
    """The line on which a title ends that ends here by its font: no title ends in "by"."""
    while UNFINISHED.search(lines[last]) and last + 1 < len(lines) and len(lines[last + 1]) <= TITLE_CHARACTERS // 2:
        last += 1
    return last


def _says_no_title(line: str) -> bool:
    """Whether a line above a title says when, where or by what permission it appears."""
    return bool(BOILERPLATE.search(line) or NOTICE.search(line) or iso_date(clean_inline(line)))


def _by_words(lines: Sequence[str], lower: Mapping[str, int]) -> tuple[int, int] | None:
    """First and last line of what reads like a title; None where the page begins with a sentence."""
    first = next((i for i, line in enumerate(lines[:TITLE_LINES]) if not _says_no_title(line)), 0)
    if first >= len(lines):
        return None
    last = first
    while last + 1 < min(len(lines), first + TITLE_LINES) and _continues_title(lines[last], lines[last + 1], lower):
        last += 1
    title = " ".join(lines[first : last + 1])
    full = last - first + 1 == TITLE_LINES
    too_many = full and last + 1 < len(lines) and _continues_title(title, lines[last + 1], lower)
    after = lines[last + 1] if last + 1 < len(lines) else ""
    prose = after[:1].islower() and min(len(lines[last]), len(after)) > TITLE_CHARACTERS // 4
    sentence = too_many or prose or len(title) > TITLE_CHARACTERS or title.endswith((".", ",", "-"))
    return None if sentence or not title else (first, last)


def _continues_title(before: str, line: str, lower: Mapping[str, int]) -> bool:
    """Whether the line belongs to the title too: its words stand in lower case in the text, as names do not."""
    if re.search(rf"[@{FOOTNOTE_MARKS}]|\d", line) or ABSTRACT.fullmatch(line) or len(line) > 100:
        return False
    if UNFINISHED.search(before):
        return True
    if re.search(r"\b(?:with|of|for|and|in|on|to|by|via|from|the|using)\b", line) and "," not in line:
        return True
    parts = [part for part in re.findall(r"[^\W\d_]+", line.lower()) if len(part) >= 4]
    return bool(parts) and "," not in line and all(lower.get(part, 0) >= 2 for part in parts)


def lower_case_words(pages: Sequence[Sequence[str]]) -> Counter[str]:
    """How often each word stands in lower case; names do not."""
    return Counter(
        word
        for page in pages
        for line in page
        for word in re.findall(r"(?<![\w@./-])[a-zß-öø-ÿ]{4,}\b(?![@.]\w)", line)
    )


# --- who wrote it -----------------------------------------------------------------------------------------------------

FRONT_CHARACTERS = 4_000
"""Names, addresses and the heading of the abstract are within so many; a paper of a hundred authors has more."""

_ABSTRACT = re.compile(
    r"^[#*\s]*(?:abstract|summary|executive summary|overview)[*\s:.—-]*$", re.IGNORECASE | re.MULTILINE
)
_RUN_IN = re.compile(r"^[#*\s]*abstract[*\s]*[:.—–-]\s*", re.IGNORECASE | re.MULTILINE)
_STATED = re.compile(
    r"^[#*\s]*(?:authors?|written by|prepared by|by|from|drafted by|minutes (?:taken )?by|compiled by|editors?)"
    r"[*\s]*(?::[*\s]*|\s(?=[A-Z]))(?P<names>\S.{2,120})$",
    re.IGNORECASE | re.MULTILINE,
)


def author_lines(text: str, title: str = "") -> Span | None:
    """Where the authors are named: in a line that says so, or between the title and the abstract."""
    front = text[:FRONT_CHARACTERS]
    heading = _ABSTRACT.search(front) or _RUN_IN.search(front)
    title_end = front.find("\n", max(0, front.casefold().find(title.casefold())) + len(title) if title else 0)
    if heading and title_end > 0 and heading.start() - title_end > 3:
        return trim(text, title_end, heading.start())
    stated = _STATED.search(front)
    return trim(text, *stated.span("names")) if stated else None


_FOOTNOTE_MARKS = re.compile(r"[\d?∗†‡§¶*♠♣♥♦⋆★˘◦◇□△α-ω¹²³⁴-⁹⁰]+(?:\s*,\s*[\d∗†‡§¶*]+)*")
"""Behind a name they lead to an affiliation; between two names without a comma they part them."""
_NO_NAMES = re.compile(
    r"[@{}:]|https?|www\.|\d{4}|\b(?:univ|institut|research|lab(?:s|orator)?\b|department|dept|school|college|faculty|"
    r"cent(?:er|re)\b|academy|hospital|inc\b|ltd|llc|gmbh|corp|compan|group|team|ministry|bank|foundation|brain|google|"
    r"microsoft|facebook|meta\b|nvidia|openai|deepmind|amazon|apple|ibm|baidu|alibaba|tencent|huawei|adobe|ai\b|uc\b|"
    r"equal|contribut|advis|correspond|abstract|version|draft|report)",
    re.IGNORECASE,
)
"""In lines between title and abstract that name a place of work, an address or a contribution, and no people."""
_PARTICLES = frozenset("de del della den der di da dos du el la las le los ten ter van von bin ibn al y zu".split())  # noqa: SIM905


def authors_of(text: str, *, title: str, stated: str = "") -> str:
    """The stated authors where the page has them, else those of the page, else the stated; "" for none."""
    stated = ", ".join(name for part in stated.split(",") if (name := part.strip(" *∗†‡§")))
    span = author_lines(text, title)
    lines = text[span[0] : span[1]] if span else ""
    surnames = [words[-1] for name in stated.split(",") if (words := name.split())]
    if surnames and sum(surname in lines for surname in surnames) * 2 >= len(surnames):
        return stated
    return ", ".join(author_names(lines)) or stated


def author_names(lines: str) -> list[str]:
    """The people named in the lines between title and abstract; a group where nobody else is."""
    tidy = [line.strip() for line in lines.split("\n") if line.strip()]
    once = [line for line in tidy if tidy.count(line) == 1]  # a place of work stands under each of its people
    names = [name for line in once if not _NO_NAMES.search(line) for name in _names_in(line)]
    group = [line for line in tidy[:1] if re.fullmatch(r"[A-Z][\w-]+(?: [A-Z][\w-]+){0,3}", line)]
    return list(dict.fromkeys(names)) or group


def _names_in(line: str) -> list[str]:
    """The names on one line; none where most of its parts are no names."""
    if _FOOTNOTE_MARKS.match(line):
        return []  # what a mark stands before is an affiliation or a note
    parts = [part for part in re.split(r"[,;|·•]|\band\b|&", _FOOTNOTE_MARKS.sub(",", line)) if part.strip()]
    found = [_split_run(part.split()) for part in parts]
    most = sum(map(bool, found)) * 2 > len(parts)
    return [name for names in found for name in names] if most else []


def _split_run(words: list[str]) -> list[str]:
    """The name that the words are, or the names where first and last names follow each other; none where it is none."""
    if not all(word[:1].isupper() or word in _PARTICLES for word in words) or len(words) < 2:
        return []
    tied: list[str] = []  # initials and particles belong to what stands next to them
    for word in words:
        if tied and (re.fullmatch(r"[A-Z]\.?", word) or tied[-1].split()[-1] in _PARTICLES):
            tied[-1] += f" {word}"
        else:
            tied.append(word)
    if len(tied) >= 4 and len(tied) % 2 == 0:
        return [" ".join(pair) for pair in zip(tied[::2], tied[1::2], strict=True)]
    return [" ".join(words)]
