"""HTML to text: the words a reader sees, block by block, tables as rows; no scripts, styles or menus."""

from __future__ import annotations

import json
import posixpath
import re
import zipfile
from collections.abc import Mapping
from dataclasses import replace
from html import escape
from html.parser import HTMLParser
from urllib.parse import unquote
from xml.etree.ElementTree import Element

from thresher.documents.assembly import Assembly, Cell, Parsed, add_table
from thresher.documents.cleaning import (
    RAISED,
    STRUCK,
    clean_inline,
    clean_text,
    decode,
    hidden,
    iso_date,
    unmarked,
    with_marks,
    word_set,
)
from thresher.documents.formats.archives import child, children, descendants, opened, xml_of
from thresher.documents.registry import RawFile
from thresher.errors import DocumentError
from thresher.text.marks import TICKED, UNTICKED

SKIPPED = word_set(
    "script style noscript template iframe object canvas audio video nav datalist annotation annotation-xml desc defs"
)
SHOWN_INPUTS = frozenset({"", "text", "email", "tel", "url", "number", "search", "date", "time", "month"})
"""Kinds of input fields whose value a page shows."""
BOXES = ("checkbox", "radio")
STRIKING = word_set("del s strike")
STRIKING_STYLE = re.compile(r"(?:^|;)\s*text-decoration(?:-line)?\s*:[^;]*\bline-through\b", re.IGNORECASE)
OPENERS = ("aria-expanded", "aria-controls")  # of a button that is the heading of a panel
BLOCKS = word_set(
    "address article blockquote body caption dd details div dl dt fieldset figcaption figure footer h1 h2 h3 h4 h5 h6 "
    "header hr legend li main ol option p pre section select summary table tbody td text textarea tfoot th thead title "
    "tr ul"
)
HEADINGS = word_set("h1 h2 h3 h4 h5 h6")
CELLS = word_set("td th")
NAMES = HEADINGS | word_set("summary dt legend")
CLOSES = {
    "li": word_set("li p"),
    **dict.fromkeys(("dt", "dd"), word_set("dt dd p")),
    **dict.fromkeys(("td", "th"), word_set("td th p")),
    "tr": word_set("td th tr p"),
    **dict.fromkeys(("tbody", "tfoot"), word_set("td th tr thead tbody p")),
    "option": word_set("option"),
}
VOID = word_set("area base br col embed hr img input link meta source track wbr")
DATE_NAMES = (
    *("article:published_time", "datepublished", "date", "dc.date", "dcterms.date", "dc.date.issued"),
    *("citation_publication_date", "pubdate", "publish-date", "article:modified_time", "last-modified"),
)
DESCRIBING = {"author": "author", "description": "description", "keywords": "keywords", "dc.creator": "author"}
CHARSET = re.compile(rb"<meta[^>]{0,200}?charset\s*+=\s*+[\"']?+\s*+([\w.:-]+)", re.IGNORECASE)
CHARSET_BYTES = 2048  # browsers look no further than 1,024
HIDING_STYLE = re.compile(r"(?:^|;)\s*(?:display\s*:\s*none|visibility\s*:\s*hidden)\b", re.IGNORECASE)
CDATA = re.compile(r"<!\[CDATA\[(.*?)\]\]>", re.DOTALL)
CODE, PARAMETER = "ac:plain-text-body", "ac:parameter"
"""Confluence's code macro; of its parameters only the title is visible."""
MAX_DEPTH = 2000  # no page nests deeper; browsers stop at 512
MAX_UNCLOSED = 200  # marks of a page's end that are tried once more as text; each try reads on to the end


class PageReader(HTMLParser):
    """Walks the page once and fills an `Assembly`."""

    def __init__(self, tables: int = 0, *, hidden: bool = True) -> None:
        """`tables` are those that the file has before this page; with `hidden`, folded panels are read."""
        super().__init__(convert_charrefs=True)
        self.assembly = Assembly()
        self.title = ""
        self.heading = ""
        self.fields: dict[str, str] = {}
        self.dates: dict[str, str] = {}
        self._open: list[str] = []
        self._skipping: list[str] = []
        self._words: list[str] = []
        self._rows: list[list[Cell]] = []
        self._cell: list[str] = []
        self._spans = Cell()
        self.tables = tables
        self.hidden_words = 0
        self._keeps_hidden = hidden
        self._hiding = 0  # how deep the outermost hidden element lies; 0 where none is open
        self._striking = 0  # how deep the outermost element lies whose text is struck
        self._tables = 0  # open ones
        self._numbers: list[int | None] = []
        self._marked = (0, 0)
        self._linked_data: list[str] | None = None

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Open an element."""
        tag = "pre" if tag == CODE else tag
        attributes = {name: value or "" for name, value in attrs}
        if tag == "meta":
            self._describe(attributes)
        if tag == "time" and attributes.get("datetime"):
            self.dates.setdefault("time", attributes["datetime"])
        if tag == "script" and attributes.get("type") == "application/ld+json":
            self._linked_data = []
        if tag in BLOCKS and not self._skipping:
            self._close_implied(CLOSES.get(tag, frozenset({"p"})))
        if self._skipping or self._is_skipped(tag, attributes):
            if tag == "option" and self._skipping == ["option"]:
                self._skipping = []  # its end may be left out
                self.handle_starttag(tag, attrs)
            else:
                self._enter(tag, self._skipping)
            return
        if tag == "input" and attributes.get("type", "").lower() in SHOWN_INPUTS and attributes.get("value"):
            self._words += [" ", attributes["value"], " "]
        if tag == "input" and attributes.get("type", "").lower() in BOXES:
            self._words += [" ", TICKED if "checked" in attributes else UNTICKED, " "]
        if tag == "br":
            self._words.append("\n")
        if tag == "sup":
            self._words.append(RAISED)
        if tag in BLOCKS:
            self._end_block()
        if tag in ("ol", "ul"):
            self._numbers.append(_number(attributes.get("start", ""), 1) - 1 if tag == "ol" else None)
            self._marked = (0, 0)
        elif tag == "li" and self._numbers and (last := self._numbers[-1]) is not None:
            self._numbers[-1] = _number(attributes.get("value", ""), last + 1)
        if tag == "table":
            self._tables += 1
            self.tables += self._tables == 1
        elif self._tables == 1 and (tag == "tr" or (tag in CELLS and not self._rows)):
            self._rows.append([])
        if tag in CELLS and self._tables == 1:
            columns, rows = (_span(attributes.get(name, "")) for name in ("colspan", "rowspan"))
            self._spans = Cell("", columns, rows, tag == "th" or "thead" in self._open)
        strikes = tag in STRIKING or STRIKING_STYLE.search(attributes.get("style", ""))
        if strikes and tag not in VOID and not self._striking:
            self._striking = len(self._open) + 1
        self._enter(tag, self._open)

    def handle_endtag(self, tag: str) -> None:
        """Close an element; end tags that close nothing are ignored, as browsers do."""
        tag = "pre" if tag == CODE else tag
        if tag == "script" and self._linked_data is not None:
            self._read_linked_data("".join(self._linked_data))
            self._linked_data = None
        if tag in ("select", "optgroup") and self._skipping == ["option"]:
            self._skipping = []
        elements = self._skipping or self._open
        if tag not in elements:
            return
        if tag in BLOCKS and elements is self._open:
            while (innermost := self._open[-1]) != tag:
                if innermost in BLOCKS:
                    self._end_block(innermost)
                self._open.pop()
            self._end_block(tag)
        del elements[len(elements) - 1 - elements[::-1].index(tag) :]
        if len(self._open) < self._striking:
            self._striking = 0
        if len(self._open) < self._hiding and not self._skipping:
            self._hiding = 0
        if tag in ("ol", "ul") and elements is self._open:
            self._numbers.pop()
        if tag == "table" and elements is self._open:
            self._tables -= 1
            if not self._tables:
                self._end_table()

    def handle_data(self, data: str) -> None:
        """Text between tags."""
        if self._linked_data is not None:
            self._linked_data.append(data)
        elif not self._skipping:
            self.hidden_words += len(data.split()) if self._hiding else 0
            text = data if "pre" in self._open else re.sub(r"\s+", " ", data)
            words = hidden(text) if self._hiding else [text]
            self._words += [STRUCK, *words, STRUCK] if self._striking else words

    def close(self) -> None:
        """The end of the page: what is still open is complete."""
        few = self.rawdata.count("<") <= MAX_UNCLOSED
        while self.rawdata.startswith("<"):  # a comment or tag that never ends; newer Pythons drop the rest
            start, mark, rest = self.rawdata.partition(">")
            self.rawdata = ""
            if few:  # else as in a browser, nothing of it is seen
                self.handle_data(start + mark)
                self.feed(rest)
        super().close()
        self._end_block()
        self._end_table()

    def _enter(self, tag: str, elements: list[str]) -> None:
        if tag not in VOID:
            if len(elements) >= MAX_DEPTH:
                raise DocumentError("the HTML is nested too deeply", next_step="leave it out")
            elements.append(tag)

    def _is_skipped(self, tag: str, attributes: dict[str, str]) -> bool:
        """Whether an element is not content: a menu, an unselected option, decoration; folded panels are content."""
        if tag == "button":
            is_opener = any(name in attributes for name in OPENERS) or attributes.get("role") == "tab"
            return not is_opener and NAMES.isdisjoint(self._open)
        if tag == "option":
            return "selected" not in attributes
        if tag == PARAMETER:
            return attributes.get("ac:name") != "title"
        if tag == "title" and "svg" in self._open:
            return True
        hides = "hidden" in attributes or HIDING_STYLE.search(attributes.get("style", ""))
        if hides and tag not in VOID and not self._hiding:
            self._hiding = len(self._open) + 1
        if self._hiding and not self._keeps_hidden:
            return True
        return tag in SKIPPED or (attributes.get("aria-hidden") == "true" and tag not in BLOCKS)

    def _close_implied(self, closed: frozenset[str]) -> None:
        """Close what HTML lets an author leave open: a paragraph before a block, a cell before a cell."""
        while innermost := next((tag for tag in reversed(self._open) if tag in closed or tag in BLOCKS), None):
            if innermost not in closed:
                return
            self.handle_endtag(innermost)

    def _end_block(self, closing: str = "") -> None:
        text = with_marks("".join(self._words))
        self._words = []
        if "pre" in self._open or closing == "pre":
            text = clean_text(text)
        else:
            text = "\n".join(line for line in (clean_inline(part) for part in text.split("\n")) if unmarked(line))
        if closing in CELLS and self._tables == 1 and self._rows:
            cell_text = " ".join(part for part in (*self._cell, text) if part)
            self._rows[-1].append(replace(self._spans, text=cell_text))
            self._cell = []
        elif not text:
            return
        elif closing == "title" or "title" in self._open:
            self.title = self.title or unmarked(clean_inline(text))
        elif self._tables and self._rows and not CELLS.isdisjoint(self._open):
            self._cell.append(text)
        elif "head" not in self._open:
            if closing in HEADINGS or (self._open and self._open[-1] in HEADINGS):
                self.heading = self.heading or unmarked(clean_inline(text))
                self.assembly.mark("heading", clean_inline(text))
            self.assembly.paragraph(self._mark() + text if "li" in self._open and "\n" not in text else text)

    def _mark(self) -> str:
        """What stands before a block of a list item; only the first block of a numbered one has its number."""
        number = self._numbers[-1] if self._numbers else None
        before, self._marked = self._marked, (len(self._numbers), number or 0)
        return "- " if number is None else "" if before == self._marked else f"{number}. "

    def _end_table(self) -> None:
        rows, self._rows = self._rows, []
        if len(rows) == 1:
            self.assembly.paragraph(*(cell.text for cell in rows[0]))  # one row is layout, not data, as is one column
        else:
            add_table(self.assembly, rows, number=self.tables)

    def _describe(self, attributes: dict[str, str]) -> None:
        name = (attributes.get("name") or attributes.get("property") or attributes.get("itemprop") or "").lower()
        content = clean_inline(attributes.get("content", ""))
        if not content:
            return
        if name in DATE_NAMES:
            self.dates.setdefault(name, content)
        if name in DESCRIBING:
            self.fields.setdefault(DESCRIBING[name], content)
        if name == "og:title":
            self.fields.setdefault("og:title", content)

    def _read_linked_data(self, text: str) -> None:
        try:
            data = json.loads(text)
        except (ValueError, RecursionError):
            return
        for entry in data if isinstance(data, list) else [data]:
            if isinstance(entry, dict) and isinstance(entry.get("datePublished"), str):
                self.dates.setdefault("datepublished", entry["datePublished"])


def read_html(file: RawFile) -> Parsed:
    """An HTML page."""
    text, notes = decode_html(file.data, file.content_type)
    reader = read_markup(text, hidden=file.limits.hidden)
    if not reader.assembly:
        raise DocumentError("the HTML has no text", next_step="if a script fills the page, save it from a browser")
    return reader.assembly.parsed(
        title=reader.fields.pop("og:title", "") or reader.title,
        heading=reader.heading,
        date=next((date for name in (*DATE_NAMES, "time") if (date := iso_date(reader.dates.get(name, "")))), None),
        metadata={**reader.fields, **notes, **({"hidden_words": reader.hidden_words} if reader.hidden_words else {})},
    )


def _number(text: str, other: int) -> int:
    return int(text) if re.fullmatch(r"-?[0-9]{1,9}", text.strip()) else other


def _span(text: str) -> int:
    return max(1, int(text)) if re.fullmatch(r"\d{1,4}", text.strip()) else 1


def read_markup(text: str, *, tables: int = 0, hidden: bool = True) -> PageReader:
    """The reader after it has read the whole page; `tables` are those of the file before it."""
    reader = PageReader(tables, hidden=hidden)
    reader.feed(CDATA.sub(lambda found: escape(found[1]), text))
    reader.close()
    return reader


def decode_html(data: bytes, content_type: str = "") -> tuple[str, Mapping[str, str | int]]:
    """By the mark, the server, the page itself, as UTF-8, or as what fits; at last as Windows-1252, as browsers do."""
    declared = re.search(rb"charset=[\"']?([\w.:-]+)", content_type.encode()) or CHARSET.search(data[:CHARSET_BYTES])
    try:
        return decode(data, encoding=declared[1].decode("ascii") if declared else "")
    except DocumentError:
        return data.decode("windows-1252", errors="replace"), {"encoding": "windows-1252"}


# --- epub books -------------------------------------------------------------------------------------------------------


CONTAINER = "META-INF/container.xml"
PAGES = ("application/xhtml+xml", "text/html")


def read_epub(file: RawFile) -> Parsed:
    """A book: its pages in reading order, those that a reader is led to from others (notes) where they stand."""
    assembly, heading, tables = Assembly(), "", 0
    with opened(file.data, limits=file.limits) as archive:
        package, chapters = book_of(archive)
        for name in chapters:
            page = read_markup(decode_html(archive.read(name))[0], tables=tables, hidden=file.limits.hidden)
            tables = page.tables
            heading = heading or page.heading
            assembly.add(page.assembly)
    if not assembly:
        raise DocumentError("the epub file has no text", next_step="check that it is not protected or only pictures")
    stated = {name: _stated(package, name) for name in ("title", "date", "creator", "subject", "publisher")}
    named = {"author": stated["creator"], "subject": stated["subject"], "publisher": stated["publisher"]}
    return assembly.parsed(
        title="".join(stated["title"][:1]),
        heading=heading,
        date=iso_date("".join(stated["date"][:1])),
        metadata={name: ", ".join(texts) for name, texts in named.items() if texts},
    )


def book_of(archive: zipfile.ZipFile) -> tuple[Element, list[str]]:
    """What a book says of itself, and the names of its pages in reading order."""
    path = next((each.get("full-path", "") for each in descendants(xml_of(archive, CONTAINER), "rootfile")), "")
    package, folder = xml_of(archive, path), posixpath.dirname(path)
    items = {item.get("id", ""): item for item in descendants(child(package, "manifest"), "item")}
    entries = (items.get(entry.get("idref", "")) for entry in children(child(package, "spine"), "itemref"))
    pages = (item for item in entries if item is not None and item.get("media-type", PAGES[0]) in PAGES)
    names = (posixpath.normpath(posixpath.join(folder, unquote(item.get("href", "")))) for item in pages)
    return package, [name for name in names if name in archive.NameToInfo]


def _stated(package: Element, name: str) -> list[str]:
    texts = (clean_inline(each.text or "") for each in children(child(package, "metadata"), name))
    return [text for text in texts if text]
