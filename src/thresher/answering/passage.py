"""What may be shown of a piece of evidence, and how it is quoted."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Any

from thresher.answering.citations import Sentence, cite, same_place
from thresher.answering.spans import AnswerSpan, Signs
from thresher.text.boilerplate import asks, is_heading_line, says_nothing
from thresher.text.injection import is_command
from thresher.text.markup import EMPHASIS, LISTED, RULE, Block, blocks, cells, table
from thresher.text.passages import LONGEST, cut_around
from thresher.text.sentences import Span, line_spans, sentence_spans, spans_of, trim
from thresher.types import Citation, Document, Evidence

SHOWN = 450
"""Characters that are shown around a marked sentence; a list, table or code that it stands in is shown whole."""

_BLANK = re.compile(r"\s*")
_BLOCK_LINE = re.compile(r"\n(?:[ \t|*•-]|\s*\n)")
"""A line that stands for itself: empty, indented, of a list or a table."""


@dataclass(frozen=True, slots=True)
class Stretch:
    """Evidence of one document without a gap; `start` and `end` are offsets in the document."""

    piece: Evidence
    """The piece of it that was ranked best."""
    document: Document | None
    """None for a page of the web."""
    start: int
    end: int
    text: str
    """`document.text[start:end]`, where there is a document."""

    @property
    def title(self) -> str:
        """Of its document."""
        return self.piece.hit.chunk.title

    def holds(self, document_id: str, start: int, end: int) -> bool:
        """Whether a span of a document lies inside."""
        return self.piece.hit.chunk.document_id == document_id and self.start <= start and end <= self.end


def stretches_of(evidence: Sequence[Evidence], documents: Mapping[str, Document]) -> list[Stretch]:
    """The evidence, pieces joined that overlap or have only white space between, in the order of their best pieces."""
    rank = {id(piece): at for at, piece in enumerate(evidence)}
    found: list[Stretch] = []
    for piece in sorted(evidence, key=lambda piece: (piece.hit.chunk.document_id, piece.start)):
        last = found[-1] if found else None
        if last is not None and _touches(last, piece):
            best, end = min(last.piece, piece, key=lambda one: rank[id(one)]), max(last.end, piece.end)
            found[-1] = replace(last, piece=best, end=end, text=last.text + _beyond(last, piece))
        else:
            document = documents.get(piece.hit.chunk.document_id)
            found.append(Stretch(piece, document, piece.start, piece.end, piece.text))
    return sorted(found, key=lambda stretch: rank[id(stretch.piece)])


def _touches(stretch: Stretch, piece: Evidence) -> bool:
    if stretch.piece.hit.chunk.document_id != piece.hit.chunk.document_id:
        return False
    if piece.start <= stretch.end:
        return True
    document = stretch.document
    return document is not None and _BLANK.match(document.text, stretch.end).end() >= piece.start  # type: ignore[union-attr]


def _beyond(stretch: Stretch, piece: Evidence) -> str:
    """The text that a piece adds behind a stretch, with the white space between."""
    if piece.start <= stretch.end:
        return piece.text[stretch.end - piece.start :]
    assert stretch.document is not None
    return stretch.document.text[stretch.end : piece.start] + piece.text


@dataclass(frozen=True, slots=True)
class Passage:
    """A span of a document that is shown whole; offsets are in the document."""

    stretch: Stretch
    start: int
    end: int
    quote: str
    entry: bool = False
    """Whether it is the whole entry under an identifier that the question names."""

    @property
    def document_id(self) -> str:
        """Of its document."""
        return self.stretch.piece.hit.chunk.document_id

    @property
    def heading(self) -> str:
        """Of its section, where the quote does not have it; "" for none."""
        document = self.stretch.document
        marks = () if document is None else document.marks
        headings = [mark.name for mark in marks if mark.kind == "heading" and mark.start <= self.start]
        return headings[-1] if headings and headings[-1] not in self.quote else ""

    @property
    def sentences(self) -> list[Span]:
        """Of the quote: the rows of a table, the sentences of text."""
        return [span for span, _ in self._headed_sentences()]

    @property
    def readable(self) -> list[tuple[Span, str]]:
        """Its sentences, each as it is read: below its heading or the question above it, a row below its header."""
        above, found, headings = self.heading, list[tuple[Span, str]](), self._headings
        for span, header in self._headed_sentences():
            text = self.quote[slice(*span)]
            if any(start <= span[0] and span[1] <= end for start, end in headings):
                above = text
                continue
            found.append((span, f"{header}\n{text}" if header else f"{above} {text}".strip()))
            above = text if asks(text) or is_heading_line(text) else "" if asks(above) else above
        return found

    @property
    def _headings(self) -> list[Span]:
        """The lines of the quote that are headings of the document."""
        marks = () if self.stretch.document is None else self.stretch.document.marks
        starts = [mark.start - self.start for mark in marks if mark.kind == "heading"]
        lines = [(at, self.quote[at:].partition("\n")[0]) for at in starts if 0 <= at < len(self.quote)]
        return [(at, at + len(line)) for at, line in lines]

    def _headed_sentences(self) -> Iterator[tuple[Span, str]]:
        """Each sentence, and each row of a table with the names of its columns, if these stand in the quote."""
        found = blocks(self.quote)
        if not any(block.kind == "table" for block in found):
            for span in spans_of(self.quote, table=self.stretch.piece.hit.chunk.kind == "table"):
                yield span, ""
            return
        for block in found:
            text, header = self.quote[block.start : block.end], ""
            within = _rows(text) if block.kind == "table" else sentence_spans(text)
            if block.kind == "table" and self._headed(block):
                header, within = text[slice(*within[0])], within[1:]
            elif block.kind == "table":
                header = self._header
            for start, end in within:
                yield (block.start + start, block.start + end), header

    def touches(self, document_id: str, start: int, end: int) -> bool:
        """Whether it shows some of a span of a document."""
        return self.document_id == document_id and self.start < end and start < self.end

    def around(self, span: Span) -> Passage:
        """What of its section is shown around a sentence, which is given in offsets of the quote."""
        headings = self._headings
        first = max((end for _, end in headings if end <= span[0]), default=0)
        last = min((start for start, _ in headings if start >= span[1]), default=len(self.quote))
        first, last = trim(self.quote, first, last)
        low, high = (first + at for at in cut_around(self.quote[first:last], span[0] - first, span[1] - first, SHOWN))
        return replace(self, start=self.start + low, end=self.start + high, quote=self.quote[low:high])

    def citation(self, marker: int) -> Citation:
        """The place of the passage."""
        piece = self.stretch.piece
        return cite(marker, Sentence(piece, self.start, self.end, self.quote, piece.hit.score))

    def shown(self, marked: Span | None) -> str:
        """The quote in quotation marks, a span of it in bold; running text on one line, lists with their lines.

        `marked` is in offsets of the quote and ignored where it covers all of it or crosses lines of a list. Tables,
        headings and code are Markdown between blank lines. What the document has in bold is not, so that the mark is.
        """
        within_code = len(_FENCE.findall(self._above)) % 2 == 1
        quote = self.quote
        for block in blocks(quote, within_code=within_code):
            if block.kind != "code":
                text = EMPHASIS.sub(rf"{2 * _GONE}\1{2 * _GONE}", quote[block.start : block.end])
                quote = quote[: block.start] + text + quote[block.end :]
        found = blocks(quote, within_code=within_code)
        start, end = marked or (0, 0)
        parted = start < end and bool(quote[:start].strip() or quote[end:].strip())
        mark = marked if parted and "**" not in quote else None
        if all(block.kind == "prose" for block in found):
            return _quoted(quote, mark)
        laid = [
            _laid_out(quote, block, mark, header=None if self._headed(block) else self._header)
            for block in _joined(found)
        ]
        return "\n\n" + "\n\n".join(laid).replace(_GONE, "") + "\n\n"

    @property
    def _above(self) -> str:
        document = self.stretch.document
        return document.text[: self.start] if document is not None else ""

    def _headed(self, block: Block) -> bool:
        """Whether a table of it begins with the names of its columns."""
        return block.start > 0 or not self._above.rstrip(" ").endswith("|\n")

    @property
    def _header(self) -> str:
        """The line with the names of the columns, of the table in whose rows it begins; "" where it is not known."""
        document = self.stretch.document
        tables = () if document is None else document.tables_over(self.start, self.start + 1)
        return document.text[slice(*tables[0].rows[0])] if document is not None and tables else ""


_FENCE = re.compile(r"^[ \t]*(?:```|~~~)", re.MULTILINE)


def _quoted(quote: str, marked: Span | None) -> str:
    quote = _unwrapped(quote)
    lines = quote.strip("\n").splitlines()
    running = all(line.strip() for line in lines) and not any(line[0] in " \t-*•|" for line in lines)
    if marked is not None and (running or not _BLOCK_LINE.search(quote[slice(*marked)])):
        start, end = marked
        quote = f"{quote[:start]}**{quote[start:end]}**{quote[end:]}"
    lines = [line.rstrip() for line in quote.replace(_GONE, "").strip("\n").splitlines()]
    return f"“{' '.join(line.strip() for line in lines)}”" if running else "“" + "\n".join(lines) + "”"


_GONE = "\0"
"""In place of what is not shown, so that offsets hold: an indent, the signs of bold words."""

_STOPS = (".", "!", "?", ";", ":", ")", "”", '"')


def _unwrapped(quote: str) -> str:
    """The text, character for character, with a space in place of the line breaks within items and paragraphs.

    A line goes on with its item where it is indented behind the mark, but no deeper than the text there; with another
    line that is indented no less where its first word was too long for that and the paragraph ends in a stop.
    """
    lines = quote.split("\n")
    width, shown = max(map(len, lines)), lines[:1]
    # The indent of the first line stands before the quote: its text begins where that of the next line does.
    mark = LISTED.match(lines[0])
    begin = _indent(lines[1]) - (mark.end() if mark else 0) if lines[1:] and lines[0][:1].strip() else 0
    above = " " * begin + lines[0]
    item = _item(above)
    for line, stops in zip(lines[1:], _stop(lines)[1:], strict=True):
        indent, wraps = _indent(line), line.strip() and above.strip() and not above.endswith((":", "  "))
        if wraps and not LISTED.match(line) and (indent in item or (stops and _fills(above, line, width))):
            shown.append(f" {_GONE * indent}{line[indent:]}")
        else:
            shown.append(f"\n{line}")
            item = _item(line)
        above = line
    return "".join(shown)


def _stop(lines: Sequence[str]) -> list[bool]:
    """Whether the paragraph that each line is of ends in a stop; items are paragraphs of their own."""
    found: list[bool] = []
    below = ""
    for line in reversed(lines):
        last = not below.strip() or LISTED.match(below)
        found.append(line.rstrip().endswith(_STOPS) if last else found[-1])
        below = line
    return found[::-1]


def _item(line: str) -> range:
    """The indents of the lines that go on with an item; none for another line."""
    mark = LISTED.match(line)
    return range(_indent(line) + 1, mark.end() + 1) if mark else range(0)


def _fills(above: str, line: str, width: int) -> bool:
    """Whether a line of a paragraph begins with what was too long for the line above."""
    return len(above) + 1 + len(line.split()[0]) > width and _indent(line) <= _indent(above)


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip(" \t"))


def _joined(found: Iterable[Block]) -> Iterator[Block]:
    """The same blocks, neighbouring paragraphs as one: they stand in one pair of quotation marks."""
    for kind, group in groupby(found, lambda block: block.kind):
        first, *others = group
        if kind == "prose" and others:
            yield replace(first, end=others[-1].end)
        else:
            yield from (first, *others)


def _laid_out(quote: str, block: Block, marked: Span | None, *, header: str | None) -> str:
    """A block of a quote as Markdown, what is marked of it in bold; `header` stands above rows without one."""
    start, end = marked or (0, 0)
    inside = (max(start, block.start) - block.start, min(end, block.end) - block.start)
    match block.kind:
        case "table":
            lines = _rows(block.text)
            bold = [one < inside[1] and inside[0] < other for one, other in lines]
            rows = [
                [f"**{cell}**" if cell and strong and not all(bold) else cell for cell in cells(block.text[one:other])]
                for (one, other), strong in zip(lines, bold, strict=True)
            ]
            above = [cells(header)] if header else []
            return table([*above, *rows], headed=bool(above) or header is None)
        case "heading":
            return f"#### {block.text}"
        case "code":
            return f"```\n{block.text}\n```"
        case _:
            return _quoted(quote[block.start : block.end], inside if inside[0] < inside[1] else None)


def passage_of(stretch: Stretch, piece: Evidence, place: Span) -> Passage | None:
    """A piece of evidence as it is shown: whole where it is short, or else what stands around a place of it.

    None without content.
    """
    text, start, end = piece.text, place[0] - piece.start, place[1] - piece.start
    apart = [span for span in sentence_spans(text) if is_command(text[slice(*span)])]
    low, high = trim(text, *_without(apart, cut_around(text, start, end), start))
    low = _behind_headings(text, low, min(start, high), stretch)
    quote = text[low:high] + _items_behind(stretch.document, piece.start + high, text[low:high])
    if all(says_nothing(quote[slice(*span)]) for span in sentence_spans(quote)):
        return None
    return Passage(stretch, piece.start + low, piece.start + low + len(quote), quote)


def _items_behind(document: Document | None, end: int, quote: str) -> str:
    """The list of a document that a quote which ends there in a colon leads to, as far as no item is an order."""
    if document is None or not quote.endswith(":"):
        return ""
    behind, shown = document.text[end : end + LONGEST], 0
    if end + LONGEST < len(document.text):
        behind = behind[: behind.rfind("\n") + 1]
    for line in re.finditer(r"(\n\s*)([^\n]+)", behind):
        item = LISTED.match(line[0].lstrip("\n")) or (shown and (line[1].count("\n") == 1 or line[1][-1:] in " \t"))
        if not item or is_command(line[2]):
            break
        shown = line.end()
    return behind[:shown].rstrip()


def _behind_headings(text: str, low: int, at: int, stretch: Stretch) -> int:
    """Where a passage begins that begins with headings before a place: its citation names them."""
    marks = stretch.document.marks if stretch.document is not None else ()
    headings = {stretch.title.strip(), *(mark.name.strip() for mark in marks if mark.kind == "heading")}
    while (line := text.find("\n", low)) >= 0 and line <= at and text[low:line].strip(" #*") in headings:
        low = len(text) - len(text[line:].lstrip("\n"))
    return low


def _without(apart: Iterable[Span], passage: Span, at: int) -> Span:
    """A passage without orders to the reader and the like, as far as these separate it from a place."""
    low, high = passage
    for start, end in sorted(apart):
        if start < high and low < end:
            if end > at:
                return low, max(low, start)
            low = end
    return low, high


def _rows(text: str) -> list[Span]:
    """The lines of a table, without the rule below its header."""
    return [span for span in line_spans(text) if not RULE.fullmatch(text[slice(*span)])]


@dataclass(frozen=True, slots=True)
class Proposal:
    """A passage, an entry or a cell that may be shown."""

    probability: float
    text: str
    """Of a cell with its markers, which count on from [1]; of a passage its quote."""
    citations: tuple[Citation, ...]
    passage: Passage | None = None
    """None for a cell."""
    marked: Span | None = None
    """The sentence of the passage that answers, in offsets of its quote; None for an entry."""
    place: AnswerSpan | None = None
    """The most probable span of the passage."""
    signs: Signs | None = None
    """What the judge read of the marked sentence; None for a cell, an entry and what is not in force."""
    order: float | None = None
    """Log odds by which the marked sentence is put in order; None where there is none."""
    doubt: str = ""
    """Why it is shown and never asserted, however probable it is; "" where nothing speaks against it."""

    def shows(self, place: AnswerSpan) -> bool:
        """Whether a span stands in its passage: a contradiction within a passage is read there."""
        passage = self.passage
        return passage is not None and passage.touches(place.document_id, place.start, place.end)

    def overlaps(self, other: Proposal) -> bool:
        """Whether both cite the same place."""
        return any(same_place(mine, theirs) for mine in self.citations for theirs in other.citations)

    def to_dict(self) -> dict[str, Any]:
        """As the trace has it."""
        kind = "cell" if self.passage is None else "entry" if self.passage.entry else "passage"
        shown: dict[str, Any] = {"kind": kind, "text": self.text, "probability": round(self.probability, 3)}
        if self.signs is not None:
            shown |= self.signs.to_dict()
        if self.place is not None:
            shown |= {"words": self.place.words, "span": round(self.place.certainty, 3)}
        return shown


def in_order(proposals: Iterable[Proposal]) -> list[Proposal]:
    """The likeliest first, those as likely as they came."""
    return sorted(proposals, key=lambda one: -one.probability)
