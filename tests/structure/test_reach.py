"""What is read of a document does not grow with the document, in characters and calls."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any, SupportsIndex

import pytest

from thresher.answering.proposers.cells import CellFinder
from thresher.structure.answers import form_near, grids_near
from thresher.structure.entries import named_in
from thresher.types import Chunk, Document, Evidence, Hit, Table

QUESTION = "What does error E-4002 mean in Oslo, and who has the highest price?"


class Counted(str):
    """A text that counts the characters which are cut out of it or searched."""

    __slots__ = ("read",)
    read: int

    def __getitem__(self, at: SupportsIndex | slice) -> str:
        """A slice, counted."""
        found = super().__getitem__(at)
        self.read += len(found)
        return found

    def rfind(self, text: str, start: Any = 0, end: Any = None) -> int:
        """The last place of a text, counted from the end to there."""
        end = len(self) if end is None else end
        found = super().rfind(text, start, end)
        self.read += end - max(start, found)
        return found

    def find(self, text: str, start: Any = 0, end: Any = None) -> int:
        """The first place of a text, counted from the start to there."""
        found = super().find(text, start, end)
        self.read += (found if found >= 0 else len(self) if end is None else end) - start
        return found


def plain(size: int) -> Document:
    line = "E-{}: the pump   stands   still\nCustomer: Dovecote\nIt costs 12 euros   and   more.\n\n"
    return made("".join(line.format(1000 + at % 9000) for at in range(size // len(line))), "text")


def data(size: int) -> Document:
    line = "staff.{0}.name: Ada {0}\nstaff.{0}.price: 12\ncodes.E-{0}: 7\n"
    return made("".join(line.format(1000 + at) for at in range(size // len(line))), "json")


def one_line(size: int) -> Document:
    return made("E-4001 is 12   and   more. " * (size // 27), "text")


def sheet(size: int) -> Document:
    row = "| E-{:07} | pump | 12 |"
    rows = [(at * 24, at * 24 + 23) for at in range(size // 24)]
    text = "\n".join(row.format(at) for at in range(len(rows)))
    return made(text, "csv", (Table(0, len(text), tuple(rows)),))


def made(text: str, kind: str, tables: tuple[Table, ...] = ()) -> Document:
    counted = Counted(text)
    counted.read = 0
    return Document("d", "d", "Pumps", counted, kind, tables=tables)


def look_at(document: Document) -> None:
    """What a question does with a document, a chunk of which is a candidate."""
    start = len(document.text) // 2
    end = start + 1_000
    list(grids_near(document, start, end))
    form_near(document, start, end)
    named_in(document, QUESTION, [(start, end), (10_000, 10_500)])
    text = document.text[start:end]
    chunk = Chunk("c", document.id, document.source, document.title, start, end, text, kind="table")
    piece = Evidence(Hit(chunk, 0.5, 1), start, end, text)
    tables = CellFinder(QUESTION, [piece], {document.id: document})
    tables.answer(lambda *_: True)


def calls_of(doing: Callable[[], None]) -> int:
    """The calls of Python and of C that something makes."""
    calls = 0

    def count(frame: object, event: str, argument: object) -> None:
        nonlocal calls
        calls += event in ("call", "c_call")

    sys.setprofile(count)
    try:
        doing()
    finally:
        sys.setprofile(None)
    return calls


@pytest.mark.parametrize("make", [plain, data, one_line, sheet])
def test_a_question_reads_of_20_megabytes_no_more_than_of_half_a_megabyte(make: Callable[[int], Document]) -> None:
    look_at(make(500_000))  # what is remembered of words and patterns is so from here on
    small, large = make(500_000), make(20_000_000)
    assert calls_of(lambda: look_at(large)) < 1.2 * calls_of(lambda: look_at(small))
    assert large.text.read < 1.2 * small.text.read  # type: ignore[attr-defined]
    assert large.text.read < len(large.text) / 5  # type: ignore[attr-defined]
