"""Compares the words of a file, counted independently of its reader, with the words of its document.

The count knows nothing of tables, notes or headings. It takes every text node of an archive's XML, every text of a page
of HTML outside scripts and menus, the text runs of a PDF, the parts of a mail. A word that the file has more often than
the document is missing: lost, or altered.
"""

from __future__ import annotations

import re
import zipfile
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from html.parser import HTMLParser
from xml.etree import ElementTree

from thresher.documents.assembly import Parsed
from thresher.documents.cleaning import normalise, word_set
from thresher.documents.formats.archives import Part, descendants, local, opened
from thresher.documents.registry import RawFile
from thresher.errors import DocumentError
from thresher.types import Metadata

WORD = re.compile(r"[^\W_]+|[<>&%€$£¥§±×÷=≤≥≠≈+°]")
"""A run of letters and digits, or a sign whose loss reverses the meaning."""
_JOINING = re.compile(
    r"(?<=\d)(?:\^(?=[-−+]?\d)| (?=\d+[/⁄]))|(?<=[^\W_]) \[(?=\d{1,3}\])|~~"
    r"|(?<=[^\W\d_])[-‐\x02]\n?(?=[^\W\d_])"
)
LOST_SHARE, LOST_WORDS = 0.25, 20
"""A file that loses more than this share of its words, and at least this number, counts as not read."""

Piece = tuple[str, str]  # what kind of place a text stands in, and the text


@dataclass(frozen=True, slots=True)
class Account:
    """The number of words of a file, the number of missing ones, and the kinds of places where these stand."""

    words: int
    missing: int
    places: tuple[str, ...] = ()

    def to_metadata(self) -> Metadata:
        """The remarks on missing words; empty if none is missing."""
        if not self.missing:
            return {}
        return {"words_in_file": self.words, "words_not_read": self.missing, "not_read": ", ".join(self.places)}

    def refuse_a_loss(self) -> None:
        """Raise DocumentError if too many words are missing."""
        if self.missing > LOST_WORDS and self.missing > LOST_SHARE * self.words:
            raise DocumentError(
                f"{self.missing:,} of its {self.words:,} words could not be read ({', '.join(self.places)})",
                next_step="save it again or in another format, or leave it out",
            )


def account(file: RawFile, parsed: Parsed) -> Account | None:
    """The account of one file; None for kinds whose text is kept unchanged, and for others' that say nothing `seen`."""
    counted = file.kind.name in PIECES and str(file.kind.reader).startswith(".")
    pieces = parsed.seen or (PIECES[file.kind.name](file) if counted else ())
    there: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for place, text in pieces:
        there[place].update(words_of(text))
    if not there:
        return None
    left = Counter(words_of("\n".join([parsed.text, parsed.title, *map(str, parsed.metadata.values())])))
    missing: Counter[str] = Counter()
    for place, words in there.items():
        missing[place] = (words - left).total()
        left -= words
    places = tuple(place for place, count in missing.most_common(3) if count)
    return Account(sum(words.total() for words in there.values()), missing.total(), places)


def accounted(file: RawFile, parsed: Parsed) -> Parsed:
    """The parsed document with the number of missing words. Raises DocumentError for too many."""
    found = account(file, parsed)
    if found is None:
        return parsed
    found.refuse_a_loss()
    return replace(parsed, metadata={**parsed.metadata, **found.to_metadata()}, seen=())


def words_of(text: str) -> list[str]:
    """The words and signs of a text; hyphens inside a word or at a line end are removed.

    A power, note or fraction is its digits, as most formats hold it: `106` for `10^6`, `48 [2]`, `51/2` for `5 1/2`.
    """
    return WORD.findall(_JOINING.sub("", normalise(text)))


# --- archives of XML --------------------------------------------------------------------------------------------------

PLACES = (
    *(("footnotes", "footnotes"), ("endnotes", "endnotes"), ("comments", "comments"), ("threadedComments", "comments")),
    *(("header", "page headers"), ("footer", "page footers"), ("charts/", "charts"), ("diagrams/data", "diagrams")),
    *(("notesSlides/", "notes"), ("slides/slide", "slides"), ("sharedStrings", "cells"), ("worksheets/", "cells")),
    *(("drawings/drawing", "drawings"), ("word/document", "body")),
)
"""The label of a part of an archive, by a piece of its name."""
SKIPPED_PARTS = ("theme", "slideLayout", "slideMaster", "notesMaster", "handoutMaster", "glossaryDocument", "settings")
SKIPPED_TAGS = word_set(
    "del moveFrom delText instrText Fallback rPh rt pPr rPr numCache numLit f formula1 formula2 sldNum desc"
)
"""Elements whose text is not shown on a page, or is shown in another form."""
BREAKING = word_set("p tab br cr ptab noBreakHyphen si c pt footnoteReference sym")


def archive_pieces(file: RawFile) -> Iterator[Piece]:
    """The texts of all parts of an Office file that the first part refers to; none if hidden text is left out."""
    if not file.limits.hidden:  # counted by the readers
        return
    with opened(file.data, limits=file.limits) as archive:
        met, waiting = {""}, [Part(archive, "")]
        while waiting:
            part = waiting.pop()
            lists_slides = part.name.endswith("presentation.xml")
            slides = descendants(part.root, "sldId") if lists_slides else ()
            shown = {value for entry in slides for value in entry.attrib.values()}
            threaded = bool(part.related("threadedComment"))
            for identifier, (kind, target) in part.targets.items():
                if threaded and kind == "comments":
                    continue  # says that an old program cannot show the thread
                if kind == "slide" and lists_slides and identifier not in shown:
                    continue  # a slide that was taken out
                if target.name not in met and not kind.startswith(SKIPPED_PARTS):
                    met.add(target.name)
                    waiting.append(target)
        for name in sorted(met & archive.NameToInfo.keys()):
            place = next((called for says, called in PLACES if says in name), "")
            if place and name.endswith(".xml"):
                yield place, xml_text(archive, name)


def xml_text(archive: zipfile.ZipFile, part: str) -> str:
    """The visible text nodes of a part, separated where the page separates them."""
    pieces: list[str] = []
    skipping, blank = 0, False
    unfilled = set[ElementTree.Element]()  # content controls that show what to enter
    sheet = "worksheets/" in part
    with archive.open(part) as source:
        for event, element in ElementTree.iterparse(source, events=("start", "end")):
            tag = local(element)
            if tag == "sdtContent" and event == "start" and blank:
                unfilled.add(element)
            blank = tag == "showingPlcHdr" or (blank and tag != "sdtContent")
            skipped = tag in SKIPPED_TAGS or (tag == "fld" and "notesSlides/" in part) or (tag == "v" and sheet)
            skipped = skipped or element in unfilled
            if event == "start":
                skipping += skipped
                continue
            if not skipping and tag in ("t", "v"):
                pieces.append(element.text or "")
            skipping -= skipped
            if tag in BREAKING:
                pieces.append("\n")
            if tag in ("p", "si", "row"):
                element.clear()
    return "".join(pieces)


# --- HTML -------------------------------------------------------------------------------------------------------------

UNSEEN = word_set(
    "script style noscript template iframe object canvas audio video nav datalist annotation annotation-xml head "
    "button option defs desc"
)
VOID = word_set("area base br col embed hr img input link meta source track wbr")
INLINE = word_set(
    "a abbr b bdi bdo cite code data del dfn em font i ins kbd mark q s samp small span strike strong sub sup time tt "
    "u var wbr mi mn mo"
)
NAMED = {"aside": "asides", "form": "forms", "table": "tables", "figure": "figures", "dl": "definitions", "pre": "code"}


class _Page(HTMLParser):
    """Collects all text of a page."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.found: dict[str, list[str]] = {}
        self._open: list[tuple[str, bool]] = []
        self._unseen = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag not in INLINE:
            self._add("\n")
        if tag in VOID:
            return
        if tag in ("option", "p", "li") and self._open and self._open[-1][0] == tag:
            self.handle_endtag(tag)
        hidden = tag in UNSEEN or ("aria-hidden", "true") in attrs
        self._open.append((tag, hidden))
        self._unseen += hidden

    def handle_endtag(self, tag: str) -> None:
        if tag not in INLINE:
            self._add("\n")
        if any(name == tag for name, _ in self._open):
            name = ""
            while name != tag:
                name, hidden = self._open.pop()
                self._unseen -= hidden

    def handle_data(self, data: str) -> None:
        if not self._unseen:
            self._add(data)

    def _add(self, text: str) -> None:
        place = next((NAMED[name] for name, _ in self._open if name in NAMED), "body")
        self.found.setdefault(place, []).append(text)


def page_pieces(text: str) -> Iterator[Piece]:
    """The texts of a page of HTML by their element."""
    page = _Page()
    page.feed(text)
    page.close()
    yield from ((place, "".join(texts)) for place, texts in page.found.items())


def html_pieces(file: RawFile) -> Iterator[Piece]:
    """Those of a file."""
    from thresher.documents.formats.html import decode_html

    if file.limits.hidden:
        yield from page_pieces(decode_html(file.data, file.content_type)[0])


def book_pieces(file: RawFile) -> Iterator[Piece]:
    """Those of the chapters of a book."""
    from thresher.documents.formats.html import book_of, decode_html

    if file.limits.hidden:
        with opened(file.data, limits=file.limits) as archive:
            for name in book_of(archive)[1]:
                yield from page_pieces(decode_html(archive.read(name))[0])


PIECES: Mapping[str, Callable[[RawFile], Iterator[Piece]]] = {
    **dict.fromkeys(("docx", "pptx", "xlsx"), archive_pieces),
    "html": html_pieces,
    "epub": book_pieces,
}
