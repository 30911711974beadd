"""What a reader of one format returns, and the builder that keeps page and table spans true to the text."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from thresher.documents.cleaning import clean_inline, clean_text
from thresher.types import Metadata, Page, Table

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

    def __bool__(self) -> bool:
        return self._length > 0

    def page(self, number: int) -> None:
        """What is added from now on lies on this page."""
        self._pages.append((number, self._next()))

    def paragraph(self, text: str) -> None:
        """Add a block of text, cleaned; blank ones are left out."""
        cleaned = clean_text(text)
        if cleaned:
            self._append(cleaned)

    def table(self, rows: Sequence[Sequence[str]]) -> None:
        """Add a table, one line a row, the header first; rows without any text are left out."""
        lines = [pipe_row(row) for row in rows if any(clean_inline(cell) for cell in row)]
        if not lines:
            return
        start = self._append("\n".join(lines))
        self._tables.append(table_over(lines, start))

    def _append(self, text: str) -> int:
        start = self._next()
        self._parts.append(text)
        self._length = start + len(text)
        return start

    def _next(self) -> int:
        """Where the next block begins."""
        return self._length + len(PARAGRAPH) if self._parts else 0

    @property
    def text(self) -> str:
        """Everything added so far, blocks apart by a blank line."""
        return PARAGRAPH.join(self._parts)

    @property
    def tables(self) -> tuple[Table, ...]:
        """The tables added so far, in order."""
        return tuple(self._tables)

    def shifted_tables(self, offset: int) -> tuple[Table, ...]:
        """The tables as they lie in a text that holds this one at `offset`."""
        return tuple(
            Table(
                table.start + offset,
                table.end + offset,
                tuple((start + offset, end + offset) for start, end in table.rows),
            )
            for table in self._tables
        )

    @property
    def pages(self) -> tuple[Page, ...]:
        """The pages begun so far: contiguous, the blank line between two pages belongs to the first."""
        starts = [min(start, self._length) for _, start in self._pages]
        ends = [*starts, self._length][1:]
        return tuple(Page(page[0], *span) for page, *span in zip(self._pages, starts, ends, strict=True))


def table_over(lines: Sequence[str], start: int) -> Table:
    """The table whose rows are these lines, joined by line breaks, beginning at `start`."""
    rows: list[tuple[int, int]] = []
    offset = start
    for line in lines:
        rows.append((offset, offset + len(line)))
        offset += len(line) + 1
    return Table(start, rows[-1][1], tuple(rows))
