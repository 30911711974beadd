"""A report as one HTML page: nothing is fetched, nothing is run, and what was answered is shown as text."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from html import escape

from thresher_evals.report.blocks import Cell, Figure, Folded, Measured, Part, Section, Table, number
from thresher_evals.report.data import LACKS

STYLE = """
:root { color-scheme: light dark; --ink: #1c2128; --paper: #fff; --soft: #5b6470; --line: #d5dae1; --band: #f5f7f9;
  --mark: #fff4d6; }
@media (prefers-color-scheme: dark) { :root { --ink: #dfe4ea; --paper: #15181c; --soft: #9aa4b0; --line: #353c45;
  --band: #1d2126; --mark: #3a3115; } }
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 70rem; padding: 1rem; font: 16px/1.5 system-ui, sans-serif; color: var(--ink);
  background: var(--paper); overflow-wrap: anywhere; }
h1 { font-size: 1.6rem; line-height: 1.2; } h2 { margin-top: 3rem; border-bottom: 2px solid var(--line); }
h3 { margin-top: 2rem; } h4 { margin: 1.5rem 0 .3rem; }
.summary { background: var(--mark); padding: .2rem 1rem .7rem; border-radius: .4rem; margin-bottom: 1rem; }
.summary ul { margin: .6rem 0 0; padding-left: 1.2rem; }
.summary th { background: none; white-space: normal; vertical-align: bottom; }
.summary td { white-space: normal; } .summary td.long { min-width: 8rem; }
nav { background: var(--band); padding: .5rem 1rem; border-radius: .4rem; } nav ul { margin: .2rem 0; }
nav li summary { font-size: .85rem; color: var(--soft); } nav li details { border: 0; padding: 0; }
.wide { overflow-x: auto; } table { border-collapse: collapse; font-size: .85rem; overflow-wrap: normal; }
th, td { text-align: left; vertical-align: top; padding: .25rem .6rem; border-bottom: 1px solid var(--line); }
td { white-space: nowrap; } td.long { min-width: 14rem; white-space: normal; overflow-wrap: anywhere; }
th { background: var(--band); white-space: nowrap; }
td.number { font-variant-numeric: tabular-nums; }
td small, .note { color: var(--soft); } td small { display: block; } .note { font-size: .85rem; margin: .3rem 0; }
figure { margin: 1.5rem 0; } figcaption { font-weight: 600; } svg { max-width: 100%; width: 44rem; height: auto; }
details { border-bottom: 1px solid var(--line); padding: .3rem 0; } summary { cursor: pointer; }
dl { margin: .4rem 0 .4rem 1rem; display: grid; gap: .2rem .8rem;
  grid-template-columns: minmax(6rem, max-content) 1fr; }
dt { color: var(--soft); } dd { margin: 0; } code { font-size: .85em; background: var(--band); padding: .1rem .3rem; }
@media (max-width: 40rem) { dl { grid-template-columns: 1fr; } dd { margin: 0 0 .3rem .6rem; } }
"""

LONG = 30
"""Characters from which a cell may be broken into lines."""


def page(title: str, top: Section, parts: Sequence[Part], draw: Callable[[Figure], str]) -> str:
    """The whole page, `top` first; `draw` gives the `<svg>` of a figure."""
    said = "".join(table(shown) for shown in top.tables)
    said += f"<ul>{''.join(f'<li>{escape(sentence)}</li>' for sentence in top.text)}</ul>" if top.text else ""
    return (
        f'<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(title)}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n<h1>{escape(title)}</h1>\n"
        f'<div class="summary">{said}</div>\n{contents(parts)}\n'
        + "".join(
            f'<h2 id="part-{place}">{escape(part.title)}</h2>\n'
            + "".join(section(one, f"part-{place}-{number}", draw) for number, one in enumerate(part.sections))
            for place, part in enumerate(parts)
        )
        + "</body>\n</html>\n"
    )


def contents(parts: Sequence[Part]) -> str:
    """The table of contents."""
    listed = "".join(
        f'<li><a href="#part-{place}">{escape(part.title)}</a>{subsections(part, place)}</li>'
        for place, part in enumerate(parts)
    )
    return f"<nav><details open><summary>Contents</summary><ul>{listed}</ul></details></nav>"


def subsections(part: Part, place: int) -> str:
    """The sections of a part to open, where it has more than one."""
    if len(part.sections) < 2:
        return ""
    listed = "".join(
        f'<li><a href="#part-{place}-{number}">{escape(one.title)}</a></li>' for number, one in enumerate(part.sections)
    )
    return f"<details><summary>sections</summary><ul>{listed}</ul></details>"


def section(one: Section, anchor: str, draw: Callable[[Figure], str]) -> str:
    """Words, tables, figures, questions to open."""
    return "".join(
        [
            f'<h3 id="{anchor}">{escape(one.title)}</h3>\n',
            *(f"<p>{words(paragraph)}</p>\n" for paragraph in one.text),
            *(table(shown) for shown in one.tables),
            *(figure(shown, draw) for shown in one.figures),
            *(folded(shown) for shown in one.folded),
        ]
    )


def words(paragraph: str) -> str:
    """A paragraph; what stands between backticks is code."""
    pieces = escape(paragraph).split("`")
    if len(pieces) % 2 == 0:
        return escape(paragraph)
    return "".join(f"<code>{piece}</code>" if place % 2 else piece for place, piece in enumerate(pieces))


def table(shown: Table) -> str:
    """A table that scrolls sideways where the page is narrow."""
    heads = "".join(f"<th>{escape(column)}</th>" for column in shown.columns)
    rows = "".join(f"<tr>{''.join(map(cell, row))}</tr>\n" for row in shown.rows)
    return (
        f"<h4>{escape(shown.title)}</h4>\n{note(shown.note)}"
        f'<div class="wide"><table><thead><tr>{heads}</tr></thead><tbody>\n{rows}</tbody></table></div>\n'
    )


def cell(told: Cell) -> str:
    """One cell: an interval below its number."""
    match told:
        case None:
            return '<td class="number">–</td>'
        case Measured():
            below = " ".join(part for part in (told.interval, "" if told.n is None else f"n={told.n}") if part)
            small = f"<small>{escape(below)}</small>" if below and told.value is not None else ""
            return f'<td class="number">{escape(told.shown)}{small}</td>'
        case int() | float():
            return f'<td class="number">{written(told)}</td>'
        case _:
            kind = ' class="long"' if len(told) > LONG else ""
            return f"<td{kind}>{escape(told)}</td>"


def written(told: float) -> str:
    """A number that has no interval; counts are whole."""
    return str(told) if isinstance(told, int) else number(told)


def note(text: str) -> str:
    """Small print, or nothing."""
    return f'<p class="note">{words(text)}</p>\n' if text else ""


def figure(shown: Figure, draw: Callable[[Figure], str]) -> str:
    """A drawing with its title and note."""
    return (
        f"<figure>\n<figcaption>{escape(caption(shown))}</figcaption>\n{draw(shown)}\n{note(shown.note)}"
        f"{legend(shown)}</figure>\n"
    )


def legend(shown: Figure) -> str:
    """What short names in a drawing stand for, or nothing."""
    rows = "".join(f"<tr><td>{escape(short)}</td><td>{escape(long)}</td></tr>" for short, long in shown.legend)
    return f'<div class="wide"><table class="legend"><tbody>{rows}</tbody></table></div>\n' if rows else ""


def caption(shown: Figure) -> str:
    """Title and number of questions."""
    return shown.title if shown.n is None else f"{shown.title} (n = {shown.n})"


def folded(shown: Folded) -> str:
    """One question to open."""
    return (
        f"<details><summary>{escape(shown.title)}</summary><dl>{''.join(facts(shown))}</dl>"
        + "".join(f"<p><code>{escape(command)}</code></p>" for command in shown.commands)
        + "</details>\n"
    )


def facts(shown: Folded) -> Iterator[str]:
    """What is known of the question."""
    return (f"<dt>{escape(name)}</dt><dd>{escape(text)}</dd>" for name, text in shown.facts)


# --- A report as Markdown: the same words and tables, figures as files beside it --------------------------------------


MEANING = re.compile(r"[\\`*|]|\](?=\()|^(?=[#>+-])")
"""What Markdown would take for its own where it stands in data."""


def markdown(title: str, top: Section, parts: Sequence[Part], figures: str) -> str:
    """The whole document; `figures` is the folder of the drawings as seen from it."""
    lines = [f"# {plain(title)}", ""]
    for shown in top.tables:
        lines += table_of_markdown(shown)
    lines += [*(f"- {plain(sentence)}" for sentence in top.text), ""]
    for part in parts:
        lines += [f"## {plain(part.title)}", ""]
        for one in part.sections:
            lines += section_of_markdown(one, figures)
    return "\n".join(lines).rstrip() + "\n"


def section_of_markdown(one: Section, figures: str) -> Iterator[str]:
    """Words, tables, figures, questions."""
    yield from (f"### {plain(one.title)}", "")
    for paragraph in one.text:
        yield from (words_of_markdown(paragraph), "")
    for shown in one.tables:
        yield from table_of_markdown(shown)
    for drawn in one.figures:
        yield from figure_of_markdown(drawn, figures)
    for question in one.folded:
        yield from folded_of_markdown(question)
    if one.folded:
        yield ""


def plain(text: str) -> str:
    """Text that Markdown and HTML leave as it is, on one line."""
    line = " ".join(text.split()).replace("&", "&amp;").replace("<", "&lt;")
    return MEANING.sub(lambda found: f"\\{found[0]}", line)


def words_of_markdown(paragraph: str) -> str:
    """A paragraph; what stands between backticks is code, and left as it is."""
    pieces = paragraph.split("`")
    if len(pieces) % 2 == 0:
        return plain(paragraph)
    return "".join(f"`{piece}`" if place % 2 else spaced(piece) for place, piece in enumerate(pieces))


def spaced(piece: str) -> str:
    """A piece of a paragraph with the spaces at its ends."""
    start, end = piece[: len(piece) - len(piece.lstrip())], piece[len(piece.rstrip()) :]
    return f"{start}{plain(piece)}{end}" if piece.strip() else piece


def table_of_markdown(shown: Table) -> Iterator[str]:
    """A table with its title and note."""
    yield from (f"**{plain(shown.title)}**", "")
    if shown.note:
        yield from (words_of_markdown(shown.note), "")
    yield f"| {' | '.join(plain(column) or ' ' for column in shown.columns)} |"
    yield f"|{'|'.join('---' for _ in shown.columns)}|"
    yield from (f"| {' | '.join(map(cell, row))} |" for row in shown.rows)
    yield ""


def cell_of_markdown(told: Cell) -> str:
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


def figure_of_markdown(shown: Figure, figures: str) -> Iterator[str]:
    """A drawing by its file."""
    yield from (f"![{plain(caption(shown))}]({figures}/{shown.name}.svg)", "", f"*{plain(caption(shown))}*", "")
    if shown.note:
        yield from (words_of_markdown(shown.note), "")
    if shown.legend:
        yield from (*(f"- {plain(short)}: {plain(long)}" for short, long in shown.legend), "")


def folded_of_markdown(shown: Folded) -> Iterator[str]:
    """One question, everything listed below it."""
    yield f"- **{plain(shown.title)}**"
    yield from (f"  - {plain(name)}: {plain(text)}" for name, text in shown.facts)
    yield from (f"  - `{command}`" for command in shown.commands)


# --- tables without columns that say nothing: calls that were not made and failures that were not there ---------------


RARE = re.compile(r"llm_calls|\w+_tokens|web_requests|failed|judge_failed|timed.out|unreadable|unparsed|degraded")
"""Columns that may go where all is nothing; elsewhere a nothing is a result."""
SEPARATOR = " / "


def without_zeros(table: Table) -> Table:
    """The same table; what none of its rows has is said in its note."""
    table = split_lacks(table)
    empty = [
        place
        for place, column in enumerate(table.columns)
        if table.rows and RARE.fullmatch(column) and all(nothing(row[place]) for row in table.rows)
    ]
    if not empty:
        return table
    kept = [place for place in range(len(table.columns)) if place not in empty]
    columns = table.columns
    names = ", ".join(dict.fromkeys(columns[place].replace("_", " ") for place in empty))
    return replace(
        table,
        columns=[columns[place] for place in kept],
        rows=[[row[place] for place in kept] for row in table.rows],
        note=f"{table.note} None in any row: {names}.".strip(),
    )


def split_lacks(table: Table) -> Table:
    """The column that counts what was refused, failed, late and unreadable as four, where only refusals are there."""
    if LACKS not in table.columns or any(str(row[at(table)]).split(SEPARATOR)[1:] != ["0"] * 3 for row in table.rows):
        return table
    place = at(table)
    names = LACKS.split(SEPARATOR)
    rows: list[Sequence[Cell]] = [
        [*row[:place], *map(int, str(row[place]).split(SEPARATOR)), *row[place + 1 :]] for row in table.rows
    ]
    return replace(table, columns=[*table.columns[:place], *names, *table.columns[place + 1 :]], rows=rows)


def at(table: Table) -> int:
    """Where that column stands."""
    return list(table.columns).index(LACKS)


def nothing(cell: Cell) -> bool:
    """Whether a cell says none."""
    match cell:
        case None:
            return True
        case Measured():
            return not cell.value
        case _:
            return cell == 0
