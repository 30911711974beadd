"""What a check reads of the evidence for a claim: windows of some sentences, and the sentences nearest to it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import NamedTuple

from thresher.structure.answers import grids_near
from thresher.structure.grid import Grid
from thresher.text.boilerplate import asks
from thresher.text.injection import is_command
from thresher.text.numbers import agree, quantities
from thresher.text.sentences import sentence_spans
from thresher.text.terms import term_set, term_share
from thresher.types import Document, Evidence
from thresher.verification.quoting import is_quoted

WINDOW_CHARACTERS = 800
"""About 180 tokens: with a claim, what the model read at once in its training."""

WINDOWS_READ = 4
"""Windows nearest to a claim that are read, of what it cites and again of everything else."""

SENTENCES_READ = 3
"""Sentences nearest to a claim that are read alone: short texts, a tenth of a window's time each."""

MOST_COLUMNS = 12
"""A row with more is read as it stands: in words it is longer than a window."""

CELL_WORDS = 12
"""A cell with more is a statement."""

_SHORT = re.compile(r"(?<![\w.-])(\d+(?:[.,]\d+)*)(K|M|B|T)\b")
_SCALES = {"K": "thousand", "M": "million", "B": "billion", "T": "trillion"}


@dataclass(frozen=True, slots=True)
class Window:
    """Some sentences of a piece that are read at once."""

    piece: int
    place: Evidence
    read: tuple[ReadSentence, ...]

    @property
    def document(self) -> str:
        """The id of its document."""
        return self.place.hit.chunk.document_id

    @property
    def sentences(self) -> tuple[str, ...]:
        """Its sentences as they are read."""
        return tuple(one.text for one in self.read)

    @property
    def title(self) -> str:
        """Of its document, unless it is an order to the reader."""
        title = self.place.hit.chunk.title
        return "" if is_command(title) else title

    @property
    def text(self) -> str:
        """Its sentences on one line."""
        return " ".join(self.sentences)

    def quotes(self, claim: str) -> Iterator[Evidence]:
        """The places of the sentences that say a claim in the same words."""
        for one in self.read:
            if is_quoted(claim, one.text, self.title):
                start, end = one.start - self.read[0].start, one.end - self.read[0].start
                place = self.place
                yield replace(place, start=place.start + start, end=place.start + end, text=place.text[start:end])


@dataclass(frozen=True, slots=True)
class Reads:
    """The texts that are read for a claim: the sentences nearest to it together, and the nearest of them alone."""

    together: str
    title: str
    """Of the nearest window."""
    alone: tuple[tuple[Window, str], ...]
    """Sentences, each with its window."""

    @classmethod
    def of(cls, claim: str, windows: Sequence[Window]) -> Reads:
        """What is read for a claim beside at least one window, the nearest first."""
        every: dict[tuple[str, str], Window] = {}
        for window in windows:
            for sentence in window.sentences:
                every.setdefault((window.title, sentence), window)
        near = sorted(every, key=lambda one: -term_share(claim, f"{one[0]} {one[1]}"))
        chosen: set[tuple[str, str]] = set()
        length = 0
        for one in near:
            length += len(one[1])
            if chosen and length > WINDOW_CHARACTERS:
                break
            chosen.add(one)
        together = " ".join(one[1] for one in every if one in chosen)
        return cls(together, windows[0].title, tuple((every[one], one[1]) for one in near[:SENTENCES_READ]))

    @property
    def texts(self) -> tuple[str, ...]:
        """Together, then alone."""
        return (self.together, *(sentence for _, sentence in self.alone))

    @property
    def titles(self) -> tuple[str, ...]:
        """Of the texts."""
        return (self.title, *(window.title for window, _ in self.alone))


@dataclass(frozen=True, slots=True)
class RowInWords:
    """A row of a table as sentences; offsets are in the document."""

    start: int
    end: int
    text: str
    table: int
    """Where its table begins: what stands from there to the first row are names of columns."""
    name: str
    """The text of its first cell."""


Rows = Callable[[Document, int, int], Sequence[RowInWords]]
"""The rows of tables that overlap a span of a document."""


def no_rows(document: Document, start: int, end: int) -> Sequence[RowInWords]:
    """Tables are read as they stand."""
    return ()


def windows_of(piece: Evidence, at: int = 0, rows: Sequence[RowInWords] = ()) -> Iterator[Window]:
    """The sentences of a piece in windows of some `WINDOW_CHARACTERS`; neighbours share a sentence.

    Orders to the reader and questions are left out; rows of tables are read in words.
    """
    held: list[ReadSentence] = []
    for one in _read(piece, rows):
        if held and sum(len(other.text) + 1 for other in held) + len(one.text) > WINDOW_CHARACTERS:
            yield _window(piece, at, held)
            held = held[-1:] if len(held[-1].text) + len(one.text) <= WINDOW_CHARACTERS else []
        held.append(one)
    if held:
        yield _window(piece, at, held)


class ReadSentence(NamedTuple):
    """A sentence where it stands in its piece, and how it is read."""

    start: int
    end: int
    text: str
    row: RowInWords | None = None


def _read(piece: Evidence, rows: Sequence[RowInWords]) -> Iterator[ReadSentence]:
    last: RowInWords | None = None
    for start, end in sentence_spans(piece.text):
        cursor = start
        for row in rows:
            first, behind = row.start - piece.start, row.end - piece.start
            if not (first < end and start < behind):
                continue
            if row != last:
                yield from _plain(piece, cursor, min(first, row.table - piece.start))
                if not is_command(row.text):
                    yield ReadSentence(max(start, first), min(end, behind), row.text, row)
            last, cursor = row, max(cursor, behind)
        yield from _plain(piece, cursor, end)


def _plain(piece: Evidence, start: int, end: int) -> Iterator[ReadSentence]:
    """A span of a piece, verbatim, if it states anything."""
    text = " ".join(piece.text[start:end].split()) if start < end else ""
    if any(character.isalnum() for character in text) and not is_command(text) and not asks(text):
        yield ReadSentence(start, end, spelled_out(text))


def spelled_out(text: str) -> str:
    """236B as 236 billion: the model takes them for different numbers (support .06, and .88 spelled out)."""
    return _SHORT.sub(lambda found: f"{found[1]} {_SCALES[found[2]]}", text)


def _window(piece: Evidence, at: int, read: Sequence[ReadSentence], begin: int = 0) -> Window:
    """A window of a piece that begins at `begin` in the offsets of what is read."""
    start, end = read[0].start - begin, read[-1].end - begin
    place = replace(piece, start=piece.start + start, end=piece.start + end, text=piece.text[start:end])
    return Window(at, place, tuple(read))


def of_named_rows(claim: str, windows: Sequence[Window]) -> list[Window]:
    """The windows with the rows that a claim names apart, to be cited alone, and without the others of their tables."""
    words = term_set(claim)
    rows = {(window.document, one.row) for window in windows for one in window.read if one.row is not None}
    named = {(of, row) for of, row in rows if (name := term_set(row.name)) and name <= words}
    tables = {(of, row.table) for of, row in named}
    others = {(of, row) for of, row in rows - named if (of, row.table) in tables}
    rest = [(window, [one for one in window.read if (window.document, one.row) not in others]) for window in windows]
    parts = [
        (window, [one for one in read if ((window.document, one.row) in named) is apart])
        for window, read in rest
        for apart in (True, False)
    ]
    return [_window(window.place, window.piece, read, window.read[0].start) for window, read in parts if read]


def nearest_windows(claim: str, windows: Sequence[Window]) -> list[Window]:
    """Those that share most terms with a claim, as many as are read, best first."""
    return sorted(windows, key=lambda window: -term_share(claim, f"{window.title} {window.text}"))[:WINDOWS_READ]


# --- rows of tables as sentences: the model that checks claims learnt to read sentences -------------------------------


def rows_in_words(document: Document, start: int, end: int) -> list[RowInWords]:
    """The rows, each of one piece, of the tables that overlap a span of a document, as sentences as in training."""
    found = []
    for grid in grids_near(document, start, end):
        spans = [(min(c.start for c in row), max(c.end for c in row)) for row in grid.rows]
        apart = all(one[1] <= other[0] for one, other in pairwise(spans))
        if apart and not grid.turned and len(grid.header) <= MOST_COLUMNS and not _is_prose(grid):
            for at, span in enumerate(spans):
                found.append(RowInWords(*span, grid.row_sentences(at), grid.start, grid.rows[at][0].text))
    return found


def _is_prose(grid: Grid) -> bool:
    """Whether what was read as a table is a list of statements under labels, which are read as they stand."""
    cells = [cell.text for row in grid.rows for cell in row]
    return any(len(text.split()) > CELL_WORDS or re.search(r"[.!?]\s+\S", text) is not None for text in cells) or any(
        cell.text.startswith(("- ", "* ")) for cell in grid.header
    )


def cell_instead(claim: str, windows: Sequence[Window]) -> str:
    """Why the one row that a claim names contradicts it: its cell on the matter has another number; "" for none.

    The cell on the matter shares most words with the claim, the name of the row aside.
    """
    words = term_set(claim)
    read = {one.row for window in windows for one in window.read if one.row is not None}
    rows = [row for row in read if term_set(row.name) <= words]
    if len(rows) != 1:
        return ""
    row = rows[0]
    wanted = [one for one in quantities(claim) if not term_set(row.name) & set(one.values) and not one.is_article]
    cells = [row.text[start:end] for start, end in sentence_spans(row.text)]
    shared = {cell: len((term_set(cell) - term_set(row.name)) & words) for cell in cells}
    about = [cell for cell, number in shared.items() if number and number == max(shared.values())]
    stated = [one for cell in about for one in quantities(cell.replace(row.name, " "))]
    if len(wanted) != 1 or len(stated) != 1 or wanted[0].unit != stated[0].unit or agree(wanted[0], stated[0]):
        return ""
    return f"the row of {row.name} says {stated[0].values[0]} where the sentence says {wanted[0].values[0]}"
