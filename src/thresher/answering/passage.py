"""What may be shown of a piece of evidence, how it is quoted, and whether it is only a part of an answer."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from thresher.answering.citations import Sentence, cite
from thresher.answering.spans import AnswerSpan, Signs, answer_in
from thresher.protocols import PairReader
from thresher.questions import asks_for_several, kind_asked, superlatives
from thresher.structure.entries import FAR
from thresher.text.answer_types import asks_for_name, is_figure, missing_answer
from thresher.text.boilerplate import asks, is_bibliography, is_contents, says_nothing, usages
from thresher.text.entities import name_places, whole_names
from thresher.text.injection import is_command
from thresher.text.language import foreign_language
from thresher.text.markup import LISTED, RULE, Block, blocks, cells, table
from thresher.text.passages import LONGEST, cut_around
from thresher.text.sentences import Span, line_spans, sentence_spans, spans_of, trim
from thresher.text.terms import among, term_set
from thresher.types import Citation, Document, Evidence
from thresher.verification.contradiction import opposite_extremes

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
    def texts(self) -> list[str]:
        """Its sentences that say something."""
        texts = (self.quote[slice(*span)] for span in self.sentences)
        return [text for text in texts if not says_nothing(text)]

    def touches(self, document_id: str, start: int, end: int) -> bool:
        """Whether it shows some of a span of a document."""
        return self.document_id == document_id and self.start < end and start < self.end

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
    stretch: Stretch, piece: Evidence, place: Span, *, contents: bool, references: bool, usage: bool
) -> Passage | None:
    """A piece of evidence as it is shown: whole where it is short, or else what stands around a place of it.

    None without content, and for contents, references and a synopsis where a question is not about these.
    """
    text, start, end = piece.text, place[0] - piece.start, place[1] - piece.start
    apart = [span for span in sentence_spans(text) if is_command(text[slice(*span)])]
    low, high = trim(text, *_without(apart if usage else [*apart, *usages(text)], cut_around(text, start, end), start))
    low = _behind_headings(text, low, min(start, high), stretch)
    quote = text[low:high] + _items_behind(stretch.document, piece.start + high, text[low:high])
    nothing = all(says_nothing(quote[slice(*span)]) for span in sentence_spans(quote))
    leads = not usage and quote.endswith(":")
    if nothing or leads or (is_contents(quote) and not contents) or (is_bibliography(quote) and not references):
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


# --- a part of an answer: one of several, what nothing compares, one of two of a name ---------------------------------


@dataclass(frozen=True, slots=True)
class Proposal:
    """A passage or a cell that may be shown, with its probability to hold the answer."""

    probability: float
    text: str
    """Of a cell with its markers, which count on from [1]; of a passage its quote."""
    citations: tuple[Citation, ...]
    leads: bool
    """Whether the words that answer stand first when it is shown."""
    passage: Passage | None = None
    """None for a cell."""
    place: AnswerSpan | None = None
    """The most probable span of the passage."""
    signs: Signs | None = None
    """What the judge read of a passage; None for a cell, an entry and what is not in force."""
    in_doubt: bool = False
    """Whether it is shown and never asserted, however probable it is."""


_COUNTED = re.compile(r"\W*(?:in |on |at |to |for )?how many\b", re.IGNORECASE)


def is_one_of_several(question: str, best: Proposal, others: Sequence[Proposal], reader: PairReader) -> bool:
    """Whether a question asks for several, and further passages or sentences answer it too, or a list is shown in part.

    Nor is a part of a table counted.
    """
    if best.passage is None:
        return False
    if not asks_for_several(question):
        return _COUNTED.match(question) is not None and _goes_on(best.passage)
    further = (one for one in others if _is_as_near(one, best) and not _is_in(one, best.passage))
    return next(further, None) is not None or _goes_on(best.passage) or _answers_twice(question, best.passage, reader)


def is_not_compared(question: str, best: Proposal) -> bool:
    """Whether a question asks for the highest, the oldest, the most, and the passage says nothing of it or the reverse.

    "The largest lake is Mirow" does not answer which is the smallest.
    """
    passage = best.passage
    asked = superlatives(question)
    if passage is None or not asked:
        return False
    said = [] if best.place is None else superlatives(best.place.sentence.text)
    if said:
        return opposite_extremes(asked, said)
    return set(asked).isdisjoint(superlatives(f"{passage.stretch.title} {passage.quote}".casefold()))


def says_of(words: str, text: str) -> bool:
    """Whether a text has one of some words, or none of them tells anything; child stands for children."""
    terms, there = term_set(words), term_set(text)
    return not terms or any(among(term, there) for term in terms)


def is_of_variant(words: str, sentence: str) -> bool:
    """Whether a sentence has the last of some words and none of those before it: the big model for the base model."""
    *before, last = [word for word in words.split() if term_set(word)] or [""]
    return bool(before) and says_of(last, sentence) and not says_of(" ".join(before), sentence)


def is_of_another(question: str, best: Proposal, others: Sequence[Proposal], reader: PairReader) -> bool:
    """Whether two paragraphs, rows or passages say different things of one who is named, and as much of the question.

    A word of the question that only one of them has tells them apart.
    """
    name = max((one for one in whole_names(question) if " " in one), key=len, default="")
    if not name or best.passage is None or best.place is None:
        return False
    if any(re.search(rf"\bthe {re.escape(name)}\b", text, re.IGNORECASE) for text in (question, best.passage.quote)):
        return False  # a person has no article
    asked = term_set(question) - term_set(name)
    near = [
        (one.passage.quote, one.place.words) for one in others if _is_as_near(one, best) and one.passage and one.place
    ]
    alone = re.compile(rf"(?<!the )\b{re.escape(name)}\b(?! [A-Z])")
    units = [(text, words) for text, words in near if alone.search(text)]
    mine = [text for text in _units(best.passage.quote) if alone.search(text)]
    if len(mine) > 1:
        title = best.passage.stretch.title
        read = list(zip(mine, reader.read(question, mine, [title] * len(mine)), strict=True))
        most = max(reading.relevance for _, reading in read)
        kept = [(text, reading) for text, reading in read if reading.relevance >= most - FAR]
        units += [(text, text[slice(*answer_in(text, reading))]) for text, reading in kept]
    else:
        units.append((best.passage.quote, best.place.words))
    most_said = max((asked & term_set(text) for text, _ in units), key=len, default=frozenset())
    told = [term_set(words) for text, words in units if asked & term_set(text) == most_said]
    return any(one - other and other - one for at, one in enumerate(told) for other in told[at + 1 :])


def is_of_another_kind(question: str, best: Proposal, others: Sequence[Proposal]) -> bool:
    """Whether passages name things of the kind that is asked for, and the words that answer are none of them.

    "Which pump was serviced?" where the Spirax boiler was, and the KSB pump stands beside it.
    """
    kind = kind_asked(question)
    if not term_set(kind) or best.passage is None or best.place is None:
        return False
    if not any(map(str.isalpha, best.place.words)):
        return False  # a number is no thing of any kind
    sentence = best.place.sentence
    start, end = best.place.start - sentence.start, best.place.end - sentence.start
    within = list(_of_kind(kind, sentence.text))
    if any(not named or (low < end and start < high) for low, high, named in within):
        return False
    if within and not any(name_places(f"- {best.place.words}")):
        return False
    if term_set(kind) == term_set("".join(best.passage.stretch.title.split()[-1:])):
        return False  # all that "Our pumps" speaks of are pumps
    texts = [best.passage.quote, *(one.passage.quote for one in others if one.passage)]
    return any(named for text in texts for *_, named in _of_kind(kind, text))


def is_of_another_type(question: str, best: Proposal) -> bool:
    """Whether a question asks who or where and the words that answer are figures, or when or how many without any.

    Of a row every cell counts but those of columns by which the question names a row.
    """
    if best.passage is None or best.place is None or foreign_language(question):
        return False
    text, at = best.place.piece.text, best.place.start - best.place.piece.start
    line = text[text.rfind("\n", 0, at) + 1 : at] + text[at:].split("\n", 1)[0]
    row = cells(line) if line.startswith("|") else ()
    if not asks_for_name(question):
        return bool(missing_answer(question, line if row else best.place.sentence.text))
    lines = text.split("\n")
    named = {
        column
        for above, below in pairwise([*lines, ""])
        if row and not RULE.fullmatch(below)
        for column, cell in enumerate(cells(above))
        if term_set(cell) and term_set(cell) <= term_set(question)
    }
    left = [cell for column, cell in enumerate(row) if column not in named]
    return all(map(is_figure, left or [best.place.words]))


_NAME_BEFORE = re.compile(r"(?:[A-Z][\w'’-]* )+$")
_NAME_BEHIND = re.compile(r"(?: [A-Z][\w'’-]*)+")


def _of_kind(kind: str, text: str) -> Iterator[tuple[int, int, bool]]:
    """Each place of a word in a text with the names beside it, and whether there are any: the KSB pump."""
    wanted = term_set(kind)
    for word in re.finditer(r"[^\W_][\w'’-]*", text):
        if term_set(word[0]) == wanted:
            before = _NAME_BEFORE.search(text, 0, word.start())
            behind = _NAME_BEHIND.match(text, word.end())
            low, high = before.start() if before else word.start(), behind.end() if behind else word.end()
            yield low, high, bool(term_set(f"{text[low : word.start()]} {text[word.end() : high]}"))


def _is_as_near(one: Proposal, best: Proposal) -> bool:
    if one.passage is None or one.signs is None or best.signs is None:
        return False
    return (one.signs.relevance or 0.0) >= (best.signs.relevance or 0.0) - FAR


def _is_in(one: Proposal, passage: Passage) -> bool:
    """Whether a passage shows the answer of another one too."""
    return one.place is not None and one.place.words in passage.quote


def _units(text: str) -> Iterator[str]:
    """Paragraphs, and of tables and of lines that each end in a stop the lines."""
    for block in text.split("\n\n"):
        lines = block.split("\n")
        yield from lines if block.startswith("|") or all(line.endswith(_STOPS) for line in lines) else [block]


def _answers_twice(question: str, passage: Passage, reader: PairReader) -> bool:
    """Whether two sentences of a passage answer alike; the items of a list are one answer."""
    said = [text for text in passage.texts if not LISTED.match(text) and not text.lstrip().startswith("|")]
    if len(said) < 2:
        return False
    read = reader.read(question, said, [passage.stretch.title] * len(said))
    *_, second, best = sorted(one.relevance for one in read)
    return second >= best - FAR


def _goes_on(passage: Passage) -> bool:
    """Whether a list or a table stands partly outside of a passage of it."""
    document = passage.stretch.document
    if document is None:
        return False
    tables = document.tables_over(passage.start, passage.end)
    if any(table.start < passage.start or passage.end < table.end for table in tables):
        return True
    last = passage.quote[passage.quote.rfind("\n") + 1 :]
    return bool(LISTED.match(last) and LISTED.match(document.text[passage.end :].lstrip("\n")[:100]))
