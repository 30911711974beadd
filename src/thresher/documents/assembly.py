"""What a reader of one format returns, and the builder that keeps page and table spans true to the text."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import accumulate, groupby, pairwise
from typing import Any

from thresher.documents.cleaning import HIDDEN, SHOWN, clean_inline, clean_text, unmarked
from thresher.errors import DocumentError
from thresher.types import Mark, MarkKind, Metadata, Page, Table

PARAGRAPH = "\n\n"
QUOTE = "quote"
"""The kind of a document that another one quotes, which is the file that holds it."""
HIDDEN_TEXT, HIDDEN_ROW = "hidden text", "hidden row"


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
    beside: Mapping[str, bytes] = field(default_factory=dict)
    """Other files of the archive that its reader wants, by their paths from its folder."""


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
        self._marks.append(Mark(self._next() + ahead, kind, unmarked(name)))

    def paragraph(self, *texts: str) -> None:
        """Add each text as a block, cleaned; blank ones are left out."""
        for text in texts:
            if unmarked(cleaned := clean_text(text)):
                self._append(self._showing(cleaned))

    def table(
        self,
        rows: Sequence[Sequence[str]],
        *,
        number: int = 0,
        name: Callable[[int], tuple[MarkKind, str]] | None = None,
        at: Sequence[int] = (),
        hidden: Collection[int] = (),
    ) -> None:
        """Add a table, one line a row, the header first; rows without any text are left out.

        `number` is that of the table in its file, 0 where it has none. `at` are the positions of the rows in the file,
        from 0, where they are not those in `rows`, and `hidden` those that a program does not show. `name` says what a
        row is in the file, from its position; a row is its number from 1 where it has no name.
        """
        numbered = zip(at or range(len(rows)), rows, strict=True)
        kept = [(position, pipe_row(row)) for position, row in numbered if any(map(clean_inline, row))]
        if not kept:
            return
        text = self._showing("\n".join(line for _, line in kept))
        lines = text.split("\n")
        start = self._append(text)
        table = table_over(lines, start)
        self._tables.append(table)
        if number:
            self._marks.append(Mark(start, "table", str(number)))
        before = -2
        for (position, _), (begin, _) in zip(kept, table.rows, strict=True):
            kind, called = name(position) if name else ("row", str(position + 1))
            if position != before + 1 or kind == "path":
                self._marks.append(Mark(begin, kind, called))
            if (position in hidden) != (before in hidden):
                self._marks.append(Mark(begin, "hidden", HIDDEN_ROW if position in hidden else ""))
            before = position
        if before in hidden:
            self.mark("hidden", "")

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

    def end(self, at: int) -> None:
        """Drop what stands from an offset of the text on."""
        text = self.text[:at].rstrip()
        self._parts, self._length = [text] if text else [], len(text)
        self._tables = [table for table in self._tables if table.end <= at]

    def _showing(self, text: str) -> str:
        """A block without the marks of what is hidden, which become marks of the document."""
        if HIDDEN not in text:
            return text
        shown = 0
        for piece in re.split(f"([{HIDDEN}{SHOWN}])", text):
            if piece in (HIDDEN, SHOWN):
                self._marks.append(Mark(self._next() + shown, "hidden", HIDDEN_TEXT if piece == HIDDEN else ""))
            else:
                shown += len(piece)
        return unmarked(text)

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


# --- tables as formats write them - cells that span rows and columns, headers of several rows - to rows of plain cells


MOST_CELLS = 2_000_000  # of a table, those that stand for spans included
MOST_HEADS = 4  # rows of a header; a table of nothing but header cells is none


@dataclass(frozen=True, slots=True)
class Cell:
    """A cell as it is written, with the columns and rows it spans."""

    text: str = ""
    columns: int = 1
    rows: int = 1
    head: bool = False  # whether the format says that it is one of a header


def add_grid(
    assembly: Assembly,
    full: Sequence[Sequence[Cell]],
    *,
    number: int = 0,
    name: Callable[[int], tuple[MarkKind, str]] | None = None,
    hidden: Collection[int] = (),
) -> None:
    """Add a table whose rows have a cell in each column that it spans, its titles before it; see `Assembly.table`."""
    titles, rows = grid_rows(full)
    assembly.paragraph(*titles)
    if rows:
        behind = range(len(full) - len(rows) + 1, len(full))
        assembly.table(rows, number=number, name=name, at=(len(titles), *behind), hidden=hidden)


def grid_rows(full: Sequence[Sequence[Cell]]) -> tuple[list[str], list[Sequence[str]]]:
    """Titles and rows of a table whose rows have a cell in each column that it spans.

    Rows above the header that are one cell over the whole width are titles, header rows are joined from the top, and a
    cell over the whole width stands once.
    """
    width = max(map(len, full), default=0)
    first = 0
    while first < len(full) - 1 and _across(full[first], width) and full[first][0].rows == 1:
        first += 1
    depth = _header_rows(full[first:])
    texts = [[cell.text for cell in (row[:1] if _across(row, width) else row)] for row in full[first + depth :]]
    header = [_joined(full[first : first + depth])] if depth else []
    return [full[at][0].text for at in range(first) if full[at]], [*header, *texts]


def spread(rows: Sequence[Sequence[Cell]]) -> list[list[Cell]]:
    """The rows with a cell for each column, the same one where it spans several."""
    laid: list[dict[int, Cell]] = [{} for _ in rows]
    total = 0
    for at, row in enumerate(rows):
        column = 0
        for cell in row:
            while column in laid[at]:
                column += 1
            for covered in range(column, column + max(1, cell.columns)):
                reached = laid[at : at + max(1, cell.rows)]
                for line in reached:
                    line[covered] = cell
                total += len(reached)
                if total > MOST_CELLS:
                    what = f"a table has more than {MOST_CELLS:,} cells"
                    raise DocumentError(what, next_step="split it, or leave it out")
            column += max(1, cell.columns)
    return [[line.get(column) or Cell() for column in range(max(line, default=-1) + 1)] for line in laid]


def _across(row: Sequence[Cell], width: int) -> bool:
    """Whether a row is one cell over the whole width of a table of several columns."""
    return width > 1 and len(row) == width and all(cell is row[0] for cell in row)


def _header_rows(rows: Sequence[Sequence[Cell]]) -> int:
    """How many rows name the columns: those that the format says, else one, and those below a name over several."""
    if not rows:
        return 0
    stated = 0
    while stated < len(rows) and rows[stated] and all(cell.head or not cell.text for cell in rows[stated]):
        stated += 1
    if 1 < stated < len(rows) and stated <= MOST_HEADS:
        return stated
    depth = 1
    while depth < min(len(rows) - 1, MOST_HEADS) and _names(rows[depth]):
        if not any(one is other and one.text for one, other in pairwise(rows[depth - 1])):
            break
        depth += 1
    return depth


def _names(row: Sequence[Cell]) -> bool:
    """Whether no cell of a row is a number other than a year."""
    numbers = [cell.text for cell in row if re.fullmatch(r"[\W\d]*\d[\W\d]*", cell.text)]
    return all(re.fullmatch(r"(?:19|20)\d\d", text.strip()) for text in numbers)


def _joined(rows: Sequence[Sequence[Cell]]) -> tuple[str, ...]:
    """The names of the columns: what stands above each, from the top, each once."""
    names = []
    for column in range(max(map(len, rows), default=0)):
        above = [clean_inline(row[column].text) for row in rows if column < len(row)]
        names.append(" / ".join(dict.fromkeys(text for text in above if text)))
    return tuple(names)


def add_table(assembly: Assembly, rows: Sequence[Sequence[Cell]], *, number: int = 0) -> None:
    """Add a table, its titles before it; one of a single column is layout, and its cells are paragraphs."""
    kept = [[replace(cell, text=clean_inline(cell.text)) for cell in row] for row in rows]
    if max((sum(cell.columns for cell in row) for row in kept), default=0) < 2:
        assembly.paragraph(*(cell.text for row in kept for cell in row))
        return
    add_grid(assembly, spread(kept), number=number)


def add_tabbed(assembly: Assembly, lines: Sequence[str]) -> None:
    """Lines that follow each other, some with tabs: as tables where tabs part columns, else as paragraphs."""

    def columns_of(line: str) -> int:
        return 0 if "\n" in line else line.strip("\t").count("\t") + 1

    for columns, group in groupby((line.strip("\n ") for line in lines), columns_of):
        run = list(group)
        if columns > 1 and is_tabbed_table(run):
            assembly.table([line.split("\t") for line in run])
        else:
            assembly.paragraph(*run)


def is_tabbed_table(lines: Sequence[str]) -> bool:
    """Whether lines of as many cells each are a table: two lines or more, and, of two columns, numbers below a name.

    Two columns are as often "label: value", where the first line names nothing.
    """
    cells = [[cell.strip() for cell in line.strip("\t").split("\t")] for line in lines]
    if len(cells) < 2 or any(cell.endswith(":") for row in cells for cell in row[:-1]):
        return False
    if len(cells[0]) > 2:
        return all(cells[0]) or sum(map(bool, cells[0])) >= 2
    return not re.search(r"\d", cells[0][1]) and all(re.search(r"\d", row[1]) for row in cells[1:])
