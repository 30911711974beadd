"""reStructuredText, AsciiDoc and Org: titles as headings, tables as rows, notes by name; words without their markup."""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Sequence
from textwrap import dedent

from thresher.documents.assembly import Assembly, Cell, Parsed, add_table
from thresher.documents.cleaning import clean_inline, decode, iso_date, normalise
from thresher.documents.registry import RawFile
from thresher.errors import DocumentError
from thresher.types import Metadata

Lines = Sequence[str]

# --- reStructuredText -------------------------------------------------------------------------------------------------

_RULE = re.compile(r"([=\-~^\"'#*+.:`_<>])\1{2,}\s*")
_GRID = re.compile(r"\s*\+(?:[-=]+\+)+\s*")
_COLUMNS = re.compile(r"\s*=+(?:[ \t]+=+)+\s*")
_DIRECTIVE = re.compile(r"\.\. (?:\|[^|]+\| )?(?P<name>[\w:.-]+)::(?: +(?P<said>.*))?")
_OPTION = re.compile(r"\s*:[\w-]+:(?: .*)?")
_FIELD = re.compile(r"(\s*):([\w][^:`]*): +(.*)")
NOTES = frozenset(
    ("note", "warning", "tip", "important", "caution", "danger", "hint", "attention", "error", "seealso",
     "deprecated", "versionadded", "versionchanged", "admonition", "topic", "sidebar", "rubric")
)  # fmt: skip
CODE = frozenset(("code", "code-block", "sourcecode", "parsed-literal", "literalinclude", "prompt", "math"))
UNSEEN = frozenset(
    ("toctree", "contents", "index", "image", "figure", "include", "raw", "highlight", "meta", "replace", "role",
     "default-role", "currentmodule", "module", "automodule", "autoclass", "autofunction", "sectionauthor", "unicode")
)  # fmt: skip
_RST_INLINE: tuple[tuple[re.Pattern[str], str], ...] = (
    (re.compile(r"``(.+?)``"), r"\1"),
    (re.compile(r":(?:[\w.+-]+:)?[\w.+-]+:`~?!?([^`<]+?)(?:\s*<[^`>]*>)?`"), r"\1"),
    (re.compile(r"`([^`<]+?)\s*<(https?:[^`>]+)>`__?"), r"\1 (\2)"),
    (re.compile(r"`([^`<]+?)\s*(?:<[^`>]*>)?`(?:__?)?"), r"\1"),
    (re.compile(r"\*\*(\S(?:.*?\S)?)\*\*"), r"\1"),
    (re.compile(r"(?<![\w*])\*(\S(?:[^*]*?\S)?)\*(?![\w*])"), r"\1"),
    (re.compile(r"\|([^|\s][^|]*)\|_?"), r"\1"),
    (re.compile(r"\[(#\w*|\*|\d+)\]_"), r"[\1]"),
    (re.compile(r"(\w)__?(?=[\s.,;:)]|$)(?<!__)"), r"\1"),
    (re.compile(r"\\(\W)"), r"\1"),
    (re.compile(r"::$"), ":"),
)


def read_restructured(file: RawFile) -> Parsed:
    """A reStructuredText file, as docutils and Sphinx read it."""
    return _read(file, _restructured)


def _restructured(page: _Page, lines: Lines, first: int) -> None:
    at = 0
    while at < len(lines):
        line, following = lines[at], lines[at + 1] if at + 1 < len(lines) else ""
        beneath = lines[at + 2] if at + 2 < len(lines) else ""
        if not line.strip():
            at += 1
        elif _RULE.fullmatch(line) and following.strip() and beneath.rstrip() == line.rstrip():
            page.heading(_plain(following, _RST_INLINE), first + at + 1)
            at += 3
        elif _RULE.fullmatch(line) and not following.strip():
            at += 1  # a line across the page
        elif _RULE.fullmatch(following) and len(following.rstrip()) >= len(line.rstrip()) and not line[0].isspace():
            page.heading(_plain(line, _RST_INLINE), first + at)
            at += 2
        elif _GRID.fullmatch(line):
            at = _grid(page, lines, at, first)
        elif _COLUMNS.fullmatch(line):
            at = _columns(page, lines, at, first)
        elif line.startswith(".."):
            end = _end_of_block(lines, at + 1)
            _explicit(page, lines[at:end], first + at)
            at = end
        else:
            end = next((n for n in range(at, len(lines)) if not lines[n].strip()), len(lines))
            said = (_FIELD.sub(r"\1\2: \3", each) for each in lines[at:end])
            page.paragraph([_plain(each, _RST_INLINE) for each in said], first + at)
            at = end


def _end_of_block(lines: Lines, at: int) -> int:
    """Where what is set in below a line ends."""
    while at < len(lines) and (not lines[at].strip() or lines[at][0].isspace()):
        at += 1
    return at


def _explicit(page: _Page, lines: Lines, first: int) -> None:
    """A directive with what is set in below it; targets, substitutions and remarks say nothing."""
    directive = _DIRECTIVE.match(lines[0])
    if directive is None or directive["name"] in UNSEEN:
        return
    name, said = directive["name"].rpartition(":")[2], directive["said"] or ""
    skipped = 1
    while skipped < len(lines) and _OPTION.fullmatch(lines[skipped]):
        skipped += 1
    inner = dedent("\n".join(lines[skipped:])).strip("\n").split("\n")
    first += skipped + next((n for n, line in enumerate(lines[skipped:]) if line.strip()), 0)
    if name in CODE:
        page.paragraph(inner, first)
    elif name == "csv-table":
        page.table([row for row in csv.reader(inner, skipinitialspace=True) if row], first)
    elif name == "list-table":
        rows = re.split(r"(?m)^\* ", "\n".join(inner))[1:]
        page.table([[_plain(cell, _RST_INLINE) for cell in re.split(r"(?m)^\s*- ", row)[1:]] for row in rows], first)
    else:
        if name in NOTES or said:
            called = f"{name.capitalize()}: " if name in NOTES else ""
            page.paragraph([called + _plain(said, _RST_INLINE)], first)
        _restructured(page, inner, first)


def _grid(page: _Page, lines: Lines, at: int, first: int) -> int:
    """A table drawn with signs: a row of cells between two rules, cells of several lines joined."""
    begin, rows, cells = at, list[list[str]](), list[str]()
    while at < len(lines) and lines[at].lstrip()[:1] in ("+", "|"):
        if _GRID.fullmatch(lines[at]):
            rows += [cells] if any(cells) else []
            cells = []
        else:
            parts = [part.strip() for part in re.split(r"[|+]", lines[at].strip()[1:-1])]
            cells = parts if len(parts) != len(cells) else [f"{a} {b}" for a, b in zip(cells, parts, strict=True)]
        at += 1
    page.table([[_plain(cell, _RST_INLINE) for cell in row] for row in rows], first + begin)
    return at


def _columns(page: _Page, lines: Lines, at: int, first: int) -> int:
    """A table below rules of =, whose gaps part the columns; a row that lacks the first cell goes on the one before."""
    begin, rule, rows = at, lines[at], list[list[str]]()
    edges = [found.start() for found in re.finditer(r"=+", rule)]
    rules = 1
    at += 1
    while at < len(lines):
        line = lines[at]
        if _COLUMNS.fullmatch(line):
            rules += 1
            if rules == 3 or not (lines[at + 1].strip() if at + 1 < len(lines) else ""):
                at += 1
                break
        elif line.strip() and not re.fullmatch(r"[-\s]+", line):
            cells = [line[low:high].strip() for low, high in zip(edges, [*edges[1:], None], strict=True)]
            if cells[0] or not rows:
                rows.append(cells)
            else:
                rows[-1] = [f"{a} {b}".strip() for a, b in zip(rows[-1], cells, strict=True)]
        at += 1
    page.table([[_plain(cell, _RST_INLINE) for cell in row] for row in rows], first + begin)
    return at


# --- AsciiDoc ---------------------------------------------------------------------------------------------------------

_AUTHOR = re.compile(
    r"(?P<author>[^\W\d_][\w.'-]*(?: [\w.'-]+){1,3})(?: <[^>]+>)?\n(?:v?[\d.]+,? *(?P<revdate>[^:\n]*).*|:.*|)"
)
_FENCE = re.compile(r"(-{4,}|\.{4,}|_{4,}|\*{4,}|={4,}|\+{4,}|--|```\w*)\s*")
_ATTRIBUTE = re.compile(r":!?([\w-]+)!?:(?: +(.*))?")
_LINE_BLOCK = re.compile(r"\[[^\]]*\]\s*|//(?!/).*|(?:image|include|toc|video|audio)::.*|'''|<<<")
_ADOC_INLINE: tuple[tuple[re.Pattern[str], str], ...] = (
    (re.compile(r"(?:link:|xref:)?(https?://[^\s\[]+)\[([^\]]+)\]"), r"\2 (\1)"),
    (re.compile(r"(?:link|xref|mailto):[^\s\[]+\[([^\]]+)\]"), r"\1"),
    (re.compile(r"<<[^,>]+,\s*([^>]+)>>"), r"\1"),
    (re.compile(r"<<([^>]+)>>"), r"\1"),
    (re.compile(r"footnote:\w*\[([^\]]+)\]"), r" [\1]"),
    (re.compile(r"(?:image|icon|kbd|btn|menu):[^\s\[]*\[([^\]]*)\]"), r"\1"),
    (re.compile(r"(?<![\w*])\*{1,2}(\S(?:[^*]*?\S)?)\*{1,2}(?![\w*])"), r"\1"),
    (re.compile(r"(?<![\w_])_{1,2}(\S(?:[^_]*?\S)?)_{1,2}(?![\w_])"), r"\1"),
    (re.compile(r"`{1,2}\+?([^`+]+)\+?`{1,2}"), r"\1"),
    (re.compile(r" \+$"), ""),
)


def read_asciidoc(file: RawFile) -> Parsed:
    """An AsciiDoc file, as Asciidoctor reads it; what it includes is not read."""
    return _read(file, _asciidoc)


def _asciidoc(page: _Page, lines: Lines, first: int) -> None:
    at = 0
    while at < len(lines):
        line = lines[at]
        if not line.strip() or _LINE_BLOCK.fullmatch(line):
            at += 1
        elif line.startswith("////"):
            at = _closing(lines, at) + 1
        elif attribute := _ATTRIBUTE.fullmatch(line):
            page.facts[attribute[1]] = attribute[2] or ""
            at += 1
        elif heading := re.fullmatch(r"(={1,6}) +(.*)", line):
            page.heading(_plain(heading[2], _ADOC_INLINE), first + at)
            at += 1
            if heading[1] == "=" and (author := _AUTHOR.fullmatch("\n".join(lines[at : at + 2]))):
                page.facts |= {name: text.strip() for name, text in author.groupdict("").items() if text.strip()}
        elif re.fullmatch(r"[|,:!]===\s*", line):
            end = _closing(lines, at)
            _adoc_table(page, lines, at, end, first)
            at = end + 1
        elif _FENCE.fullmatch(line):
            end = _closing(lines, at)
            inner = lines[at + 1 : end]
            if line[0] in "-.`+" and line.strip() != "--":
                page.paragraph(inner, first + at + 1)
            else:
                _asciidoc(page, inner, first + at + 1)
            at = end + 1
        else:
            end = at
            while end < len(lines) and lines[end].strip() and not _FENCE.fullmatch(lines[end]):
                if end > at and (_LINE_BLOCK.fullmatch(lines[end]) or lines[end].startswith("|===")):
                    break
                end += 1
            end = max(end, at + 1)
            said = [_plain(re.sub(r"^\.(?=\w)", "", each), _ADOC_INLINE) for each in lines[at:end] if each != "+"]
            page.paragraph(said, first + at)
            at = end


def _closing(lines: Lines, at: int) -> int:
    """Where the block that begins at a line of signs ends: at the same line."""
    return next((n for n in range(at + 1, len(lines)) if lines[n].rstrip() == lines[at].rstrip()), len(lines))


def _adoc_table(page: _Page, lines: Lines, at: int, end: int, first: int) -> None:
    """Cells begin with a bar; a row is a line, or as many cells as the first line or `cols` has."""
    inner = [line for line in lines[at + 1 : end] if line.strip()]
    given = lines[at - 1] if at and lines[at - 1].startswith("[") else ""
    stated = re.search(r'cols="?([^"\]]+)"?', given)
    cells = [_cells(line) for line in inner]
    across = len(cells[0]) if cells else 0
    if stated:
        repeated = re.fullmatch(r"(\d+)\*.*", stated[1].strip())
        across = int(repeated[1]) if repeated else len(re.split(r"[,;]", stated[1]))
    flat: list[str] = []
    for line, found in zip(inner, cells, strict=True):
        if found:
            flat += found
        elif flat:  # a cell goes on
            flat[-1] += f" {_plain(line, _ADOC_INLINE)}"
    rows = [flat[low : low + across] for low in range(0, len(flat), across)] if across else []
    page.table(rows, first + at + 1)


def _cells(line: str) -> list[str]:
    parts = re.split(r"(?:^|(?<=\s))(?:\d*\.?\d*[+*])?[<^>.]*[a-zA-Z]?\|", line)
    return [_plain(part.strip(), _ADOC_INLINE) for part in parts[1:]]


# --- Org --------------------------------------------------------------------------------------------------------------

_ORG_KEY = re.compile(r"#\+(\w+): *(.*)", re.IGNORECASE)
_ORG_HEADING = re.compile(r"\*+ +(?:([A-Z]{3,}) +)?(?:\[#\w\] +)?(.*?)(?: +:[\w@:]+:)?\s*")
_ORG_BLOCK = re.compile(r"#\+begin_(\w+).*", re.IGNORECASE)
_ORG_BREAK = re.compile(r"\s*(?:\*+ |\||#|:[\w-]+:\s*$)|\s*$")
_ORG_INLINE: tuple[tuple[re.Pattern[str], str], ...] = (
    (re.compile(r"\[\[(https?:[^\]]+)\]\[([^\]]+)\]\]"), r"\2 (\1)"),
    (re.compile(r"\[\[[^\]]+\]\[([^\]]+)\]\]"), r"\1"),
    (re.compile(r"\[\[([^\]]+)\]\]"), r"\1"),
    (re.compile(r"\[fn:\w*:([^\]]+)\]"), r" [\1]"),
    (re.compile(r"(?<![\w*/_=~])([*/_=~])(\S(?:.*?\S)?)\1(?![\w*/_=~])"), r"\2"),
    (re.compile(r"(?<![\w+])\+(\S(?:[^+]*?\S)?)\+(?![\w+])"), r"~~\1~~"),
    (re.compile(r"^(\s*(?:[-+]|\d+[.)]) +)\[[ -]\]"), r"\1☐"),
    (re.compile(r"^(\s*(?:[-+]|\d+[.)]) +)\[X\]"), r"\1☑"),
)


def read_org(file: RawFile) -> Parsed:
    """An Org file, as Emacs exports it; drawers and what is commented out say nothing."""
    return _read(file, _org)


def _org(page: _Page, lines: Lines, first: int) -> None:
    at = 0
    while at < len(lines):
        line = lines[at]
        end = at + 1
        if heading := _ORG_HEADING.fullmatch(line):
            state = f"{heading[1]} " if heading[1] else ""
            page.heading(state + _plain(heading[2], _ORG_INLINE), first + at)
        elif block := _ORG_BLOCK.fullmatch(line.strip()):
            closing = f"#+end_{block[1].lower()}"
            end = next((n for n in range(at, len(lines)) if lines[n].strip().lower() == closing), len(lines))
            if block[1].lower() == "quote":
                _org(page, lines[at + 1 : end], first + at + 1)
            elif block[1].lower() != "comment":
                page.paragraph(lines[at + 1 : end], first + at + 1)
            end += 1
        elif key := _ORG_KEY.fullmatch(line.strip()):
            page.facts[key[1].lower()] = key[2]
        elif re.fullmatch(r"\s*:[\w-]+:\s*", line):
            closed = (n for n in range(at, len(lines)) if lines[n].strip().lower() == ":end:")
            end = next(closed, at) + 1
        elif line.lstrip().startswith("|"):
            end = _while(lines, at, lambda each: each.lstrip().startswith("|"))
            rows = [each.strip().strip("|").split("|") for each in lines[at:end] if not re.match(r"\s*\|-", each)]
            page.table([[_plain(cell.strip(), _ORG_INLINE) for cell in row] for row in rows], first + at)
        elif line.strip() and not re.match(r"\s*#(?: |$)", line):
            end = max(_while(lines, at, lambda each: not _ORG_BREAK.match(each)), at + 1)
            page.paragraph([_plain(each, _ORG_INLINE) for each in lines[at:end]], first + at)
        at = end


def _while(lines: Lines, at: int, holds: Callable[[str], bool]) -> int:
    """Where a run of lines ends."""
    return next((n for n in range(at, len(lines)) if not holds(lines[n])), len(lines))


# --- all --------------------------------------------------------------------------------------------------------------


class _Page:
    """What is read of a file, each block with its line."""

    def __init__(self) -> None:
        self.assembly = Assembly()
        self.title = ""
        self.facts: dict[str, str] = {}

    def heading(self, text: str, line: int) -> None:
        """A title above what follows."""
        self.title = self.title or clean_inline(text)
        self.assembly.mark("heading", clean_inline(text))
        self.paragraph([text], line)

    def paragraph(self, lines: Lines, line: int) -> None:
        """A block of lines."""
        if any(map(str.strip, lines)):
            self.assembly.mark("line", str(line))
            self.assembly.paragraph(dedent("\n".join(lines)))

    def table(self, rows: Sequence[Sequence[str]], line: int) -> None:
        """A table, its header first."""
        self.assembly.mark("line", str(line))
        add_table(self.assembly, [[Cell(cell) for cell in row] for row in rows])


def _read(file: RawFile, read: Callable[[_Page, Lines, int], None]) -> Parsed:
    written, notes = decode(file.data)
    page = _Page()
    read(page, normalise(written).split("\n"), 1)
    page.title = clean_inline(page.facts.get("title", "")) or page.title
    if not page.assembly:
        raise DocumentError("the file has no text", next_step="check that it is not only remarks")
    facts: Metadata = {name: page.facts[name] for name in ("author", "keywords", "description") if name in page.facts}
    return page.assembly.parsed(
        heading=page.title,
        date=iso_date(page.facts.get("revdate", "") or page.facts.get("date", "").strip("<>[]")[:10]),
        metadata={**facts, **notes},
    )


def _plain(text: str, rules: Sequence[tuple[re.Pattern[str], str]]) -> str:
    for markup, words in rules:
        text = markup.sub(words, text)
    return text
