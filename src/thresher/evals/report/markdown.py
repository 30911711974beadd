"""A report as Markdown: the same words and tables, figures as files beside it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from thresher.evals.report.page import caption, written
from thresher.evals.report.section import Cell, Figure, Folded, Measured, Part, Section, Table

MEANING = re.compile(r"[\\`*|]|\](?=\()|^(?=[#>+-])")
"""What Markdown would take for its own where it stands in data."""


def markdown(title: str, top: Section, parts: Sequence[Part], figures: str) -> str:
    """The whole document; `figures` is the folder of the drawings as seen from it."""
    lines = [f"# {plain(title)}", ""]
    for shown in top.tables:
        lines += table(shown)
    lines += [*(f"- {plain(sentence)}" for sentence in top.text), ""]
    for part in parts:
        lines += [f"## {plain(part.title)}", ""]
        for one in part.sections:
            lines += section(one, figures)
    return "\n".join(lines).rstrip() + "\n"


def section(one: Section, figures: str) -> Iterator[str]:
    """Words, tables, figures, questions."""
    yield from (f"### {plain(one.title)}", "")
    for paragraph in one.text:
        yield from (words(paragraph), "")
    for shown in one.tables:
        yield from table(shown)
    for drawn in one.figures:
        yield from figure(drawn, figures)
    for question in one.folded:
        yield from folded(question)
    if one.folded:
        yield ""


def plain(text: str) -> str:
    """Text that Markdown and HTML leave as it is, on one line."""
    line = " ".join(text.split()).replace("&", "&amp;").replace("<", "&lt;")
    return MEANING.sub(lambda found: f"\\{found[0]}", line)


def words(paragraph: str) -> str:
    """A paragraph; what stands between backticks is code, and left as it is."""
    pieces = paragraph.split("`")
    if len(pieces) % 2 == 0:
        return plain(paragraph)
    return "".join(f"`{piece}`" if place % 2 else spaced(piece) for place, piece in enumerate(pieces))


def spaced(piece: str) -> str:
    """A piece of a paragraph with the spaces at its ends."""
    start, end = piece[: len(piece) - len(piece.lstrip())], piece[len(piece.rstrip()) :]
    return f"{start}{plain(piece)}{end}" if piece.strip() else piece


def table(shown: Table) -> Iterator[str]:
    """A table with its title and note."""
    yield from (f"**{plain(shown.title)}**", "")
    if shown.note:
        yield from (words(shown.note), "")
    yield f"| {' | '.join(plain(column) or ' ' for column in shown.columns)} |"
    yield f"|{'|'.join('---' for _ in shown.columns)}|"
    yield from (f"| {' | '.join(map(cell, row))} |" for row in shown.rows)
    yield ""


def cell(told: Cell) -> str:
    """One cell."""
    match told:
        case None:
            return "–"
        case Measured():
            return str(told)
        case int() | float():
            return written(told)
        case _:
            return plain(told)


def figure(shown: Figure, figures: str) -> Iterator[str]:
    """A drawing by its file."""
    yield from (f"![{plain(caption(shown))}]({figures}/{shown.name}.svg)", "", f"*{plain(caption(shown))}*", "")
    if shown.note:
        yield from (words(shown.note), "")
    if shown.legend:
        yield from (*(f"- {plain(short)}: {plain(long)}" for short, long in shown.legend), "")


def folded(shown: Folded) -> Iterator[str]:
    """One question, everything listed below it."""
    yield f"- **{plain(shown.title)}**"
    yield from (f"  - {plain(name)}: {plain(text)}" for name, text in shown.facts)
    yield from (f"  - `{command}`" for command in shown.commands)
