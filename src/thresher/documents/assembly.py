"""What a reader of one format returns, and the builder that keeps page and table spans true to the text."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from itertools import accumulate
from typing import Any

from thresher.documents.cleaning import clean_inline, clean_text
from thresher.types import Mark, MarkKind, Metadata, Page, Table

PARAGRAPH = "\n\n"


@dataclass(frozen=True, slots=True)
class Parsed:
    """The text of one document and what its format says about it; `read` makes the Document of it."""

    text: str
    pages: tuple[Page, ...] = ()
    tables: tuple[Table, ...] = ()
    title: str = ""
    """As the format's metadata states it."""
    heading: str = ""
    """The first heading of the text, for documents whose metadata has no title."""
    date: str | None = None
    """ISO 8601, as far as it is known."""
    metadata: Metadata = field(default_factory=dict)
    source: str = ""
    """What a file that holds many documents calls this one."""
    kind: str = ""
    """What such a document is; empty for what the file is."""
    marks: tuple[Mark, ...] = ()
    figures: tuple[tuple[int, int], ...] = ()
    seen: tuple[tuple[str, str], ...] = ()
    """What stands in the file, by kind of place, if only the reader knows; `account` counts what was not kept."""


@dataclass(frozen=True, slots=True)
class Member:
    """A file in a file, to be read as a document of its own: an attachment, what is in an archive."""

    name: str
    """Different from those of the others in the same file."""
    data: bytes
    content_type: str = ""


def pipe_row(cells: Iterable[str]) -> str:
    """One table row on one line, as Markdown writes it."""
    return "| " + " | ".join(clean_inline(cell).replace("|", "\\|") for cell in cells) + " |"


class Assembly:
    """Text that grows block by block; every span is an offset into the finished `text`."""

    def __init__(self) -> None:
        self._parts: list[str] = []
        self._length = 0
        self._pages: list[tuple[int, int]] = []
        self._tables: list[Table] = []
        self._marks: list[Mark] = []

    def __bool__(self) -> bool:
        return self._length > 0

    def page(self, number: int) -> None:
        """What is added from now on lies on this page."""
        self._pages.append((number, self._next()))

    def mark(self, kind: MarkKind, name: str, *, ahead: int = 0) -> None:
        """What is added from now on stands there in the file, or what begins `ahead` characters on."""
        self._marks.append(Mark(self._next() + ahead, kind, name))

    def paragraph(self, *texts: str) -> None:
        """Add each text as a block, cleaned; blank ones are left out."""
        for text in texts:
            if cleaned := clean_text(text):
                self._append(cleaned)

    def table(
        self,
        rows: Sequence[Sequence[str]],
        *,
        number: int = 0,
        name: Callable[[int], tuple[MarkKind, str]] | None = None,
        at: Sequence[int] = (),
    ) -> None:
        """Add a table, one line a row, the header first; rows without any text are left out.

        `number` is that of the table in its file, 0 where it has none. `at` are the positions of the rows in the file,
        from 0, where they are not those in `rows`. `name` says what a row is in the file, from its position; a row is
        its number from 1 where it has no name.
        """
        numbered = zip(at or range(len(rows)), rows, strict=True)
        kept = [(position, pipe_row(row)) for position, row in numbered if any(map(clean_inline, row))]
        if not kept:
            return
        lines = [line for _, line in kept]
        start = self._append("\n".join(lines))
        table = table_over(lines, start)
        self._tables.append(table)
        if number:
            self._marks.append(Mark(start, "table", str(number)))
        before = -2
        for (position, _), (begin, _) in zip(kept, table.rows, strict=True):
            kind, called = name(position) if name else ("row", str(position + 1))
            if position != before + 1 or kind == "path":
                self._marks.append(Mark(begin, kind, called))
            before = position

    def tables_in(self, tables: Iterable[Table], text: str) -> None:
        """Tables that stand in the block that was added last; offsets are in its text."""
        start = self._length - len(text)
        self._tables += [_moved(table, start) for table in tables]

    def add(self, other: Assembly) -> None:
        """Add everything that another one holds."""
        if not other:
            return
        start = self._append(other.text)
        self._tables += [_moved(table, start) for table in other.tables]
        self._marks += [replace(mark, start=mark.start + start) for mark in other.marks]

    def _append(self, text: str) -> int:
        start = self._next()
        self._parts.append(text)
        self._length = start + len(text)
        return start

    def _next(self) -> int:
        """Where the next block begins."""
        return self._length + len(PARAGRAPH) if self._parts else 0

    def parsed(self, **facts: Any) -> Parsed:
        """Everything added so far as a document; `facts` are its other fields."""
        return Parsed(self.text, self.pages, self.tables, marks=self.marks, **facts)

    @property
    def text(self) -> str:
        """Everything added so far, blocks apart by a blank line."""
        return PARAGRAPH.join(self._parts)

    @property
    def tables(self) -> tuple[Table, ...]:
        """The tables added so far, in order."""
        return tuple(self._tables)

    @property
    def marks(self) -> tuple[Mark, ...]:
        """The marks set so far that text follows on, in order."""
        return tuple(mark for mark in self._marks if mark.start < self._length)

    @property
    def pages(self) -> tuple[Page, ...]:
        """The pages begun so far: contiguous, the blank line between two pages belongs to the first."""
        starts = [min(start, self._length) for _, start in self._pages]
        ends = [*starts, self._length][1:]
        return tuple(Page(page[0], *span) for page, *span in zip(self._pages, starts, ends, strict=True))


def _moved(table: Table, by: int) -> Table:
    return Table(table.start + by, table.end + by, tuple((low + by, high + by) for low, high in table.rows))


def table_over(lines: Sequence[str], start: int) -> Table:
    """The table whose rows are these lines, joined by line breaks, beginning at `start`."""
    starts = accumulate((len(line) + 1 for line in lines), initial=start)
    rows = tuple((begin, begin + len(line)) for begin, line in zip(starts, lines, strict=False))
    return Table(start, rows[-1][1], rows)
