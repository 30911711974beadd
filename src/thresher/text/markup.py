"""Texts as people read them: blocks of Markdown (tables, headings, code), and what is safe on a terminal."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any, Literal

BAR = re.compile(r"(?<!\\)\|")
"""Between two cells; a bar that a backslash goes before belongs to its cell."""

RULE = re.compile(r"[\s|:+-]*-[\s|:+-]*")
"""The line below the header of a table."""

_ROW = re.compile(r"[ \t]*\|.*(?<!\\)\|[ \t]*")
_HEADING = re.compile(r"#{1,6}[ \t]+(?=\S)")
_FENCE = re.compile(r"[ \t]*(?:```|~~~)")

EMPHASIS = re.compile(r"(?<![\w*])\*\*(?=[^\s*])([^*]+)(?<=[^\s*])\*\*(?![\w*])")
"""Words that Markdown shows bold."""

LISTED = re.compile(r"[ \t]*(?:[-*•‣◦–]|\(?\d{1,2}[.)]|\(?[a-z][.)])\s")
"""The mark of an item of a list."""

Kind = Literal["prose", "heading", "table", "code"]


@dataclass(frozen=True, slots=True)
class Block:
    """Neighbouring lines of one kind; offsets are in the text, those of code with its fences."""

    kind: Kind
    start: int
    end: int
    text: str
    """Of a heading without its marks, of code without its fences."""

    @property
    def rows(self) -> tuple[tuple[str, ...], ...]:
        """Of a table the cells of its lines; a header without words is none."""
        lines = [line for line in self.text.splitlines() if not RULE.fullmatch(line)]
        return tuple(row for line in lines if any(row := cells(line)))

    @property
    def headed(self) -> bool:
        """Whether the first row of a table is its header: one above a line, or without a line any first row."""
        first, *others = self.text.splitlines()
        ruled = next((line for line in others if RULE.fullmatch(line)), None)
        return any(cell.strip() for cell in BAR.split(first)) or ruled is None


def cells(line: str) -> tuple[str, ...]:
    """Of a line of a table."""
    return tuple(cell.strip() for cell in BAR.split(line.strip())[1:-1])


def blocks(text: str, *, within_code: bool = False) -> list[Block]:
    """The blocks of a text in order, without blank lines; `within_code` where it begins inside a fence."""
    found: list[list[tuple[int, int]]] = []
    kinds: list[Kind] = []
    at, code, before = 0, within_code, None
    for line in text.splitlines(keepends=True):
        fence = _FENCE.match(line) is not None
        kind = "code" if code or fence else _kind(line)
        if kind is not None:
            if kind != before or kind == "heading" or (fence and not code):
                kinds.append(kind)
                found.append([])
            found[-1].append((at, at + len(line.rstrip("\n"))))
        code ^= fence
        before = kind if not (fence and not code) else None
        at += len(line)
    return [_block(text, kind, lines[0][0], lines[-1][1]) for kind, lines in zip(kinds, found, strict=True)]


def _kind(line: str) -> Kind | None:
    if not line.strip():
        return None
    if _ROW.fullmatch(line.rstrip("\n")) and len(BAR.findall(line)) > 1:
        return "table"
    return "heading" if _HEADING.match(line) else "prose"


def _block(text: str, kind: Kind, start: int, end: int) -> Block:
    lines = text[start:end].splitlines()
    match kind:
        case "heading":
            lines = [lines[0].lstrip("#").strip(" \t#")]
        case "code":
            lines = [line for line in lines if not _FENCE.match(line)]
    return Block(kind, start, end, "\n".join(lines))


def table(rows: Sequence[Sequence[str]], *, headed: bool = True) -> str:
    """Rows as a table of Markdown, the first as its header; where it is none, under an empty one.

    >>> print(table([["Oak", "1450"]], headed=False))
    |  |  |
    |---|---|
    | Oak | 1450 |
    """
    width = max(map(len, rows))
    lines = [f"| {' | '.join([*row, *[''] * (width - len(row))])} |" for row in ([] if headed else [()]) + [*rows]]
    return "\n".join([lines[0], f"|{'---|' * width}", *lines[1:]])


def plain(text: str) -> str:
    """A text without signs of Markdown for tables, headings and code, for a page of letters of one width."""

    def form(block: Block) -> str:
        match block.kind:
            case "table":
                return _columns(block)
            case "code":
                return "\n".join(f"    {line}".rstrip() for line in block.text.splitlines())
            case _:
                return block.text

    return replaced(text, form)


def replaced(text: str, form: Callable[[Block], str]) -> str:
    """A text with its blocks in another form; what stands between them stays."""
    parts, behind = list[str](), 0
    for block in blocks(text):
        parts += [text[behind : block.start], form(block)]
        behind = block.end
    return "".join([*parts, text[behind:]])


def _columns(block: Block) -> str:
    rows = [[unescaped(cell) for cell in row] for row in block.rows]
    widths = [max(map(len, column)) for column in zip_longest(*rows, fillvalue="")]
    if block.headed and len(rows) > 1:
        rows.insert(1, ["─" * width for width in widths])
    return "\n".join("  ".join(map(str.ljust, row, widths)).rstrip() for row in rows)


def flat(text: str) -> str:
    """A text on one line, without the signs of its blocks: headings end in a colon, dots part the cells of a row."""
    found = blocks(text)
    return " ".join(filter(None, (_flat(block, is_last=block is found[-1]) for block in found)))


def _flat(block: Block, *, is_last: bool) -> str:
    if block.kind == "table":
        return "; ".join(" · ".join(unescaped(cell) for cell in row if cell) for row in block.rows)
    line = " ".join(block.text.split())
    return f"{line}:" if block.kind == "heading" and line[-1:].isalnum() and not is_last else line


def unescaped(cell: str) -> str:
    """A cell of a table as it is read."""
    return cell.replace(r"\|", "|")


def words(text: str) -> str:
    """The words of a text, joined by spaces."""
    return " ".join(re.findall(r"\w+", text))


# --- on a terminal ----------------------------------------------------------------------------------------------------

_MOVES = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069]")
"""Controls of terminals (ESC, CR, C1), but for tab and line end, and marks that turn the direction of writing."""


def shown(text: str) -> str:
    r"""The text with controls as they are written in Python.

    >>> shown("a\x1b[2Jb\r\n")
    'a\\x1b[2Jb\\r\n'
    """
    return _MOVES.sub(lambda found: ascii(found[0])[1:-1], text)


def one_line(name: str) -> str:
    r"""A name, as of a file, with line ends and tabs too as they are written in Python.

    >>> one_line("minutes\nof May.md")
    'minutes\\nof May.md'
    """
    return shown(name).replace("\n", "\\n").replace("\t", "\\t")


def json_text(value: Any, *, default: Callable[[Any], Any] | None = None) -> str:
    """JSON that is safe to print: what `shown` changes stands in it as JSON writes it."""
    written = json.dumps(value, ensure_ascii=False, default=default)
    return _MOVES.sub(lambda found: f"\\u{ord(found[0]):04x}", written)
