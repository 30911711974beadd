"""The passage around a span of the kept text, as it is quoted: whole sentences inside what the recipe kept."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, replace

from thresher.answering.citations import Sentence, cite
from thresher.text.boilerplate import asks, is_bibliography, is_contents, says_nothing
from thresher.text.injection import is_command
from thresher.text.markup import RULE, Block, blocks, cells, table
from thresher.text.sentences import Span, line_spans, sentence_spans, spans_of
from thresher.types import Citation, Document, Evidence

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
    return document is not None and not document.text[stretch.end : piece.start].strip()


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
    def asked(self) -> str:
        """The question that is the heading of its section, where the quote does not begin with it; "" for none."""
        document = self.stretch.document
        marks = () if document is None else document.marks
        headings = [mark.name for mark in marks if mark.kind == "heading" and mark.start <= self.start]
        return headings[-1] if headings and asks(headings[-1]) and headings[-1] not in self.quote else ""

    @property
    def sentences(self) -> list[Span]:
        """Of the quote: the rows of a table, the sentences of text."""
        found = blocks(self.quote)
        if not any(block.kind == "table" for block in found):
            return spans_of(self.quote, table=self.stretch.piece.hit.chunk.kind == "table")
        spans: list[Span] = []
        for block in found:
            text = self.quote[block.start : block.end]
            within = _rows(text)[self._headed(block) :] if block.kind == "table" else sentence_spans(text)
            spans += [(block.start + start, block.start + end) for start, end in within]
        return spans

    @property
    def name_end(self) -> int:
        """Where the name ends that the quote begins with, a heading or an option above its text; 0 for none."""
        name, *below = _paragraphs(self.quote)
        parted = below and _is_name(self.quote[slice(*name)]) and self.quote[slice(*below[0])].endswith((*".!?:",))
        return name[1] if parted else 0

    def touches(self, document_id: str, start: int, end: int) -> bool:
        """Whether it shows some of a span of a document."""
        return self.document_id == document_id and self.start < end and start < self.end

    def overlaps(self, other: Passage) -> bool:
        """Whether both show the same text, at one place or as copies."""
        return self.touches(other.document_id, other.start, other.end) or self.quote == other.quote

    def citation(self, marker: int) -> Citation:
        """The place of the passage."""
        piece = self.stretch.piece
        return cite(marker, Sentence(piece, self.start, self.end, self.quote, piece.hit.score))

    def shown(self, marked: Span | None) -> str:
        """The quote in quotation marks, a span of it in bold; running text on one line, lists with their lines.

        `marked` is in offsets of the quote and ignored where it covers all of it or crosses lines of a list. Tables,
        headings and code are Markdown between blank lines.
        """
        found = blocks(self.quote, within_code=len(_FENCE.findall(self._above)) % 2 == 1)
        start, end = marked or (0, 0)
        parted = start < end and bool(self.quote[:start].strip() or self.quote[end:].strip())
        mark = marked if parted and "**" not in self.quote else None
        if all(block.kind == "prose" for block in found):
            return _quoted(self.quote, mark)
        laid = [_laid_out(self.quote, block, mark, headed=self._headed(block)) for block in found]
        return "\n\n" + "\n\n".join(laid) + "\n\n"

    @property
    def _above(self) -> str:
        document = self.stretch.document
        return document.text[: self.start] if document is not None else ""

    def _headed(self, block: Block) -> bool:
        """Whether a table of it begins with the names of its columns."""
        return block.start > 0 or not self._above.rstrip(" ").endswith("|\n")


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
"""In place of an indent that is not shown, so that offsets hold."""

_STOPS = (".", "!", "?", ";", ":", ")", "”", '"')


def _unwrapped(quote: str) -> str:
    """The text, character for character, with a space in place of the line breaks within items and paragraphs.

    A line goes on with its item where it is indented behind the mark, but no deeper than the text there; with another
    line that is indented no less where its first word was too long for that and the paragraph ends in a stop.
    """
    lines = quote.split("\n")
    width, shown = max(map(len, lines)), lines[:1]
    # The indent of the first line stands before the quote: its text begins where that of the next line does.
    mark = _LISTED.match(lines[0])
    begin = _indent(lines[1]) - (mark.end() if mark else 0) if lines[1:] and lines[0][:1].strip() else 0
    above = " " * begin + lines[0]
    item = _item(above)
    for line, stops in zip(lines[1:], _stop(lines)[1:], strict=True):
        indent, wraps = _indent(line), line.strip() and above.strip() and not above.endswith((":", "  "))
        if wraps and not _LISTED.match(line) and (indent in item or (stops and _fills(above, line, width))):
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
        last = not below.strip() or _LISTED.match(below)
        found.append(line.rstrip().endswith(_STOPS) if last else found[-1])
        below = line
    return found[::-1]


def _item(line: str) -> range:
    """The indents of the lines that go on with an item; none for another line."""
    mark = _LISTED.match(line)
    return range(_indent(line) + 1, mark.end() + 1) if mark else range(0)


def _fills(above: str, line: str, width: int) -> bool:
    """Whether a line of a paragraph begins with what was too long for the line above."""
    return len(above) + 1 + len(line.split()[0]) > width and _indent(line) <= _indent(above)


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip(" \t"))


def _laid_out(quote: str, block: Block, marked: Span | None, *, headed: bool) -> str:
    """A block of a quote as Markdown, what is marked of it in bold."""
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
            return table(rows, headed=headed)
        case "heading":
            return f"#### {block.text}"
        case "code":
            return f"```\n{block.text}\n```"
        case _:
            return _quoted(quote[block.start : block.end], inside if inside[0] < inside[1] else None)


def passage_of(
    stretch: Stretch, start: int, end: int, *, references: bool = False, questions: bool = False
) -> Passage | None:
    """The passage around a span that a stretch holds; None without content, or for a list not asked for."""
    text, at = (stretch.document.text, 0) if stretch.document is not None else (stretch.text, stretch.start)
    marks = stretch.document.marks if stretch.document is not None else ()
    # the citation names the title and the heading already
    headings = {stretch.title.strip(), *(mark.name.strip() for mark in marks if mark.kind == "heading")}
    # short lines of a PDF are labels of a figure as often as names
    named = None if stretch.document is not None and stretch.document.kind == "pdf" else headings
    block = passage_around(text, start - at, end - at, named)
    kept = (stretch.start - at, stretch.end - at)
    table = stretch.piece.hit.chunk.kind == "table"
    low, high = _whole_sentences(text, block, kept, (start - at, end - at), table=table)
    high = high if table else _sentence_end(text, low, high, end - at)
    low, high = _without_orders(text, (low, high), start - at)
    low = _behind_headings(text, low, min(start - at, high), headings)
    quote = text[low:high]
    nothing = all(says_nothing(quote[slice(*span)]) for span in sentence_spans(quote))
    if nothing or (is_contents(quote) and not questions) or (is_bibliography(quote) and not references):
        return None
    return Passage(stretch, at + low, at + high, quote)


def _rows(text: str) -> list[Span]:
    """The lines of a table, without the rule below its header."""
    return [span for span in line_spans(text) if not RULE.fullmatch(text[slice(*span)])]


def _whole_sentences(text: str, block: Span, kept: Span, place: Span, *, table: bool) -> Span:
    """The part of a block that was kept, without sentences that are kept in part, but for those of the place."""
    low, high = max(block[0], kept[0]), min(block[1], kept[1])
    if (low, high) == block:
        return block
    first, last = place[0], max(place[1], place[0] + 1)
    spans = [(block[0] + one, block[0] + other) for one, other in spans_of(text[slice(*block)], table=table)]
    whole = [(a, b) for a, b in spans if (low <= a and b <= high) or (a < last and b > first)]
    return (max(low, whole[0][0]), min(high, whole[-1][1])) if whole else (low, high)


_ENDS = re.compile(r"[.!?:;…][\"'”’)\]]*$")


def _sentence_end(text: str, low: int, high: int, end: int) -> int:
    """Where a passage ends that breaks off in a sentence, as at the end of a page: before it, if `end` lies before."""
    spans = sentence_spans(text[low:high])
    if len(spans) < 2 or _ENDS.search(text[low:high]) or "\n\n" in text[low + spans[-2][1] : low + spans[-1][0]]:
        return high
    behind = low + spans[-2][1]
    return behind if end <= behind and _ENDS.search(text[low:behind]) else high


def _behind_headings(text: str, low: int, at: int, headings: set[str]) -> int:
    """Where a passage begins that begins with headings, as far as these stand before a place."""
    while (line := text.find("\n", low)) >= 0 and line <= at and text[low:line].strip(" #*") in headings:
        low = len(text) - len(text[line:].lstrip())
    return low


def _without_orders(text: str, passage: Span, at: int) -> Span:
    """A passage without orders to the reader, as far as these separate it from a place."""
    low, high = passage
    for start, end in sentence_spans(text[low:high]):
        if is_command(text[passage[0] + start : passage[0] + end]):
            if passage[0] + end > at:
                return low, passage[0] + start
            low = passage[0] + end
    return low, high


# --- what blank lines part -------------------------------------------------------------------------------------------

# A manual parts an option from its description by a blank line, a list from its lead-in, code from the sentence that
# announces it. What is quoted holds all of these.

LONGEST_PASSAGE = 900
"""Characters of a passage; a longer paragraph is cut to whole sentences around the place."""

SHORT_PASSAGE = 300
"""Characters from which a passage takes no further paragraph in."""

NAME_LINE = 80
"""A block whose lines are shorter and end without a full stop is a name: a heading, an option, a term."""

QUESTION = 200
"""A block that is no longer and ends in a question mark asks what follows it answers."""

_BLANK = re.compile(r"\n[ \t]*\n\s*")
_LISTED = re.compile(r"[ \t]*(?:[-*•‣◦–]|\(?\d{1,2}[.)]|\(?[a-z][.)])\s")


def passage_around(text: str, start: int, end: int, headings: Set[str] | None = frozenset()) -> Span:
    """The block of a place, 0 <= start <= end <= len(text), with the name above it and what it leads in to.

    Names in `headings` are shown with a passage anyway; None where names are not told from other short lines.
    """
    paragraphs = _paragraphs(text)
    first = last = next((at for at, (_, behind) in enumerate(paragraphs) if start < behind), len(paragraphs) - 1)
    while last + 1 < len(paragraphs) and end > paragraphs[last][1]:
        last += 1
    if paragraphs[last][1] - paragraphs[first][0] > LONGEST_PASSAGE:
        return _sentences_around(text, paragraphs[first][0], paragraphs[last][1], start, end)
    first = _with_lead_in(text, paragraphs, first, last)
    while last + 1 < len(paragraphs) and _goes_on(text, paragraphs, first, last):
        last += 1
    if headings is not None:
        first = _under_name(text, paragraphs, first, last, headings)
    return paragraphs[first][0], paragraphs[last][1]


def _under_name(text: str, paragraphs: list[Span], first: int, last: int, headings: Set[str]) -> int:
    """The first block of a passage that ends the description of an option: the name of that, where it is near.

    "The default value is three" says nothing without it.
    """
    ends = last + 1 < len(paragraphs) and _is_name(text[slice(*paragraphs[last + 1])])
    if not ends or paragraphs[last][1] - paragraphs[first][0] >= SHORT_PASSAGE:
        return first
    for at in range(first, -1, -1):
        block = text[slice(*paragraphs[at])]
        if paragraphs[last][1] - paragraphs[at][0] > LONGEST_PASSAGE or block.strip(" #*") in headings:
            break
        if _is_name(block):
            return at
    return first


def _paragraphs(text: str) -> list[Span]:
    """What blank lines part, without the white space around it."""
    found: list[Span] = []
    at = 0
    for gap in (*_BLANK.finditer(text), None):
        behind = gap.start() if gap else len(text)
        piece = text[at:behind]
        if piece.strip():
            found.append((at + len(piece) - len(piece.lstrip("\n")), at + len(piece.rstrip())))
        at = text.rfind("\n", 0, gap.end()) + 1 if gap else behind  # with the indent of code behind the gap
    return found or [(0, len(text))]


def _with_lead_in(text: str, paragraphs: list[Span], first: int, last: int) -> int:
    """The first block of a passage, with the items, lead-in and name that stand above it."""
    while first and paragraphs[last][1] - paragraphs[first - 1][0] <= LONGEST_PASSAGE:
        above, block = text[slice(*paragraphs[first - 1])], text[slice(*paragraphs[first])]
        item, code = _LISTED.match(block), block[0] in " \t"
        leads = (
            above.rstrip().endswith(":")
            or _is_question(above)
            or (item and _LISTED.match(above))
            or code
            or _is_name(above)
        )
        if not leads or (_is_name(above) and _is_name(block) and not item):
            break
        first -= 1
        if _is_question(above) or (_is_name(above) and not above.rstrip().endswith(":")):
            break
    return first


def _goes_on(text: str, paragraphs: list[Span], first: int, last: int) -> bool:
    """Whether the next block belongs to a passage: what it leads in to, further items, the neighbour of a short one."""
    begin, behind = paragraphs[first][0], paragraphs[last + 1][1]
    block, following = text[slice(*paragraphs[last])], text[slice(*paragraphs[last + 1])]
    if behind - begin > LONGEST_PASSAGE:
        return False
    items = _LISTED.match(block) and _LISTED.match(following)
    if items or block.rstrip().endswith(":") or _is_name(block) or following[0] in " \t":
        return True
    return paragraphs[last][1] - begin < SHORT_PASSAGE and not _is_name(following) and not _LISTED.match(following)


def _is_name(block: str) -> bool:
    """Whether a block is a heading, an option or a term."""
    lines = block.splitlines()
    short = len(lines) <= 3 and all(len(line) <= NAME_LINE for line in lines)
    return short and block.rstrip()[-1:] not in ".!?:;,|" and not _LISTED.match(block)


def _is_question(block: str) -> bool:
    """Whether a block is a question that what follows answers."""
    return asks(block) and len(block) <= QUESTION


def _sentences_around(text: str, low: int, high: int, start: int, end: int) -> Span:
    """Whole sentences of a long block around a place, or words where a sentence is too long itself."""
    spans = [(low + one, low + other) for one, other in sentence_spans(text[low:high])] or [(low, high)]
    first = last = next((at for at, (_, behind) in enumerate(spans) if start < behind), len(spans) - 1)
    while last + 1 < len(spans) and end > spans[last][1]:
        last += 1
    while True:
        before = spans[last][1] - spans[first - 1][0] if first else LONGEST_PASSAGE + 1
        behind = spans[last + 1][1] - spans[first][0] if last + 1 < len(spans) else LONGEST_PASSAGE + 1
        if spans[last][1] - spans[first][0] >= SHORT_PASSAGE or min(before, behind) > LONGEST_PASSAGE:
            break
        first, last = (first, last + 1) if behind <= LONGEST_PASSAGE else (first - 1, last)
    low, high = spans[first][0], spans[last][1]
    if high - low <= 2 * LONGEST_PASSAGE:
        return low, high
    begin, stop = max(low, start - LONGEST_PASSAGE // 2), min(high, end + LONGEST_PASSAGE // 2)
    while begin > low and not text[begin - 1].isspace():
        begin -= 1
    while stop < high and not text[stop].isspace():
        stop += 1
    return begin, stop
