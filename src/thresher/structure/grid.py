"""Tables of a document with what gives their cells a meaning: header, caption, lead-in, heading and unit.

Rows are cut at their bars, lines of plain text where two spaces part their cells. Rows of a PDF have neither: there the
numbers at the end of a line are its cells, and a table counts as read where as many column names stand above them.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from itertools import chain, pairwise, takewhile
from operator import attrgetter

from thresher.text.boilerplate import HEADING_CHARACTERS
from thresher.text.marks import in_force
from thresher.text.markup import BAR, RULE
from thresher.text.sentences import line_spans, sentence_spans, trim, widened, without_figures
from thresher.types import Document, Table


@dataclass(frozen=True, slots=True)
class Cell:
    """A piece of a document; offsets are in the document."""

    text: str
    start: int
    end: int
    decimal_comma: bool = False
    """Whether a comma in it begins its decimals; its column decides."""

    @property
    def number(self) -> Decimal | None:
        """Its value, a currency or unit around it aside; None for what is no single number."""
        return number_in(self.text, decimal_comma=self.decimal_comma)


@dataclass(frozen=True, slots=True)
class Grid:
    """A table as rows of cells; a row that is too short ends with empty ones."""

    header: tuple[Cell, ...]
    rows: tuple[tuple[Cell, ...], ...]
    around: tuple[Cell, ...] = ()
    """Heading, lead-in and caption, in the order of the document."""
    title: str = ""
    """Of the document."""
    turned: bool = False
    """Whether its rows are columns of the document."""
    whole: bool = True
    """Whether all its rows were read; of a large data file only those around a place are."""

    @property
    def start(self) -> int:
        """Where it begins in the document."""
        return self.header[0].start

    @property
    def end(self) -> int:
        """Where its last cell ends."""
        return max(cell.end for cell in self.rows[-1])

    @property
    def transposed(self) -> Grid:
        """The same with rows and columns exchanged."""
        first, *others = zip(self.header, *self.rows, strict=True)
        return Grid(first, tuple(others), self.around, self.title, not self.turned, self.whole)

    def unit(self, *names: str) -> tuple[str, Cell | None]:
        """The unit of the numbers under these names of column and row, or "", and the line that states it for all."""
        for name in names:
            if own := _unit_of_header(name):
                return own, None
        for cell in reversed(self.around):
            unit = stated_unit(cell.text)
            counted = any(_COUNTED.search(name) or (_MONEY.search(unit) and _SHARE.search(name)) for name in names)
            if unit and not counted:
                return unit, cell
        return "", None

    def row_form(self, number: int) -> str:
        """A row as a model of text can read it: "header: cell; header: cell"."""
        pairs = zip(self.header, self.rows[number], strict=True)
        return "; ".join(f"{head.text}: {cell.text}" if head.text else cell.text for head, cell in pairs if cell.text)

    def row_sentences(self, number: int) -> str:
        """A row as sentences behind its lead-in, no prose: "Fares in euros. The Adult of Gannet Rock is 11 euros"."""
        lead = [f"{cell.text.rstrip(' .:')}." for cell in self.around[-1:] if not is_prose(cell.text)]
        columns = range(1, len(self.header))
        return " ".join([*lead, *(sentence for column in columns if (sentence := self.cell_sentence(number, column)))])

    def cell_sentence(self, number: int, column: int) -> str:
        """A cell of a row as a sentence: "The Adult of Gannet Rock is 11 euros."; "" for an empty one."""
        head, name, cell = self.header[column], self.rows[number][0], self.rows[number][column]
        if not cell.text:
            return ""
        unit, _ = self.unit(head.text, name.text)
        value = with_unit(cell.text, unit) if cell.number is not None else cell.text
        return f"The {head.text} of {name.text} is {value}." if head.text else f"{name.text}: {value}."


@dataclass(frozen=True, slots=True)
class Found:
    """An answer and the cells it was made from, the one that is named in it first."""

    text: str
    cells: tuple[Cell, ...]
    computed: bool = False
    """Whether it is worked out from all cells of a column; then not all of them are cited."""


# --- reading ----------------------------------------------------------------------------------------------------------

MOST_CELLS = 40_000
"""Larger tables are not read: a question must not wait for a data file."""
LEAST_COLUMNS = 2


def grid_of(document: Document, table: Table) -> Grid | None:
    """The cells of a table, which is parsed once; None for one without bars, and of one column or row."""
    place = table.start, table.end  # of a table itself the hash grows with its rows
    if place not in document.grids:
        document.grids[place] = _parsed(document, table)
    grid: Grid | None = document.grids[place]
    return grid


def _parsed(document: Document, table: Table) -> Grid | None:
    if LEAST_COLUMNS * (len(table.rows) - 1) > MOST_CELLS:
        return None
    spans = [span for span in table.rows if not RULE.fullmatch(document.text[slice(*span)])]
    piped = all("|" in document.text[start:end] for start, end in spans)
    rows = [_pipe_cells(document.text, *span) for span in spans] if piped else _line_cells(document.text, spans)
    if sum(map(len, rows)) > MOST_CELLS:
        return None
    titles = []
    while len(rows) > 1 and sum(bool(cell.text) for cell in rows[0]) == 1 < len(rows[1]):
        titles.append(next(cell for cell in rows.pop(0) if cell.text))
    width = len(rows[0]) if rows else 0
    rows = [*rows[:1], *_under_labels(rows[1:])]
    body = tuple(_of_width(row, width) for row in rows[1:] if any(cell.text for cell in row))
    if width < LEAST_COLUMNS or not body:
        return None
    around = (*(_around if piped else _captioned)(document, table), *titles)
    return Grid(tuple(rows[0]), _with_commas_read(body), around, document.title)


def _under_labels(rows: Sequence[list[Cell]]) -> list[list[Cell]]:
    """Rows named by the label above them too, where the same names stand below several: North below Europe and Asia."""
    found: list[list[Cell]] = []
    label: Cell | None = None
    plain = [row for row in rows if any(cell.text for cell in row[1:])]
    names = [row[0].text for row in plain]
    if len(plain) == len(rows) or len(set(names)) == len(names):
        return list(rows)
    for row in rows:
        if not any(cell.text for cell in row[1:]):
            label = row[0] if row and row[0].text else label
        elif label is None or names.count(row[0].text) == 1:
            found.append(row)
        else:
            found.append([replace(row[0], text=f"{label.text} {row[0].text}"), *row[1:]])
    return found


def _with_commas_read(rows: tuple[tuple[Cell, ...], ...]) -> tuple[tuple[Cell, ...], ...]:
    """The rows with what a comma is in each column; where no cell of it shows that, what it is in the table."""
    columns = [comma_is_decimal(column) for column in zip(*rows, strict=True)]
    if True not in columns:
        return rows
    table = comma_is_decimal(chain.from_iterable(rows))
    decided = [bool(table if column is None else column) for column in columns]
    return tuple(
        tuple(replace(cell, decimal_comma=comma) for cell, comma in zip(row, decided, strict=True)) for row in rows
    )


_DECIMAL_COMMA = re.compile(r"0,\d+|\d+,(?:\d\d?|\d{4,})|\d{1,3}(?:[. ]\d{3})+,\d+|\d{1,3}(?:\.\d{3}){2,}")
_DECIMAL_POINT = re.compile(r"0\.\d+|\d+\.(?:\d\d?|\d{4,})|\d{1,3}(?:[, ]\d{3})+\.\d+|\d{1,3}(?:,\d{3}){2,}")


def comma_is_decimal(cells: Iterable[Cell]) -> bool | None:
    """Whether numbers have a decimal comma, by those that can be read in one way only; None where none shows it.

    >>> comma_is_decimal([Cell("1,286", 0, 5), Cell("12,5", 0, 4)])
    True
    """
    digits = [found["digits"].strip() for cell in cells if (found := _NUMBER.fullmatch(cell.text))]
    comma, point = (any(map(sign.fullmatch, digits)) for sign in (_DECIMAL_COMMA, _DECIMAL_POINT))
    return None if comma == point else comma


def _pipe_cells(text: str, start: int, end: int) -> list[Cell]:
    """Between the bars of a line; a bar that a backslash goes before belongs to its cell."""
    start, end = trim(text, start, end)
    bars = [bar.start() for bar in BAR.finditer(text, start, end)]
    first = [] if bars[:1] == [start] else [start - 1]
    last = [] if bars[-1:] == [end - 1] else [end]
    return [_cell(text, low + 1, high) for low, high in pairwise([*first, *bars, *last])]


_VALUE = re.compile(r"[~≈∼]?[+−–-]?[$€£]?\d[\d.,]*(?:[×x%KMBk]|/\d[\d.,]*)?[*†‡]?|[-–—]")
_WORD = re.compile(r"\S+")
NAME_WORDS = 3
"""Words of a column's name; more are two lines of names run together."""


def _line_cells(text: str, spans: Sequence[tuple[int, int]]) -> list[list[Cell]]:
    """Rows of names and numbers, those of the usual number of cells; nothing where the names of the columns differ."""
    words = ([Cell(found[0], *found.span()) for found in _WORD.finditer(text, *span)] for span in spans)
    lines = [line for line in words if line]
    values = [sum(1 for _ in takewhile(_is_value, reversed(line))) for line in lines]
    counts = Counter(count for count, line in zip(values, lines, strict=True) if 1 < count < len(line))
    width = counts.most_common(1)[0][0] if counts else 0
    names = [_column_names(text, line, width) for line in lines[: values.index(width) if width else 0]]
    at = next((at for at in reversed(range(len(names))) if names[at]), None)
    if at is None:
        return []
    header = names[at]
    if len({cell.text for cell in header}) < len(header):  # "EM F1 EM F1" stand below "Dev Test"
        groups = lines[at - 1][-width:] if at else []
        groups = groups[len(lines[at - 1]) % 2 :] if groups else []
        if not groups or width % len(groups):
            return []
        each = width // len(groups)
        header[1:] = [replace(one, text=f"{groups[i // each].text} {one.text}") for i, one in enumerate(header[1:])]
    below = zip(lines[at + 1 :], values[at + 1 :], strict=True)
    rows = [line for line, count in below if count == width < len(line)]
    return [header, *([_cell(text, row[0].start, row[-width - 1].end), *row[-width:]] for row in rows)]


def _column_names(text: str, line: Sequence[Cell], width: int) -> list[Cell]:
    """The names of the columns, of words with capitals each or of one word each, behind that of the rows.

    Turned down: the last names where there are more than columns. Of 6 such tables of papers one is read wrongly.
    """
    starts = [at for at, word in enumerate(line) if at == 0 or (len(word.text) > 1 and not _GOES_ON.match(word.text))]
    spans = list(zip(starts, [*starts[1:], len(line)], strict=True))
    if any(_is_value(word) or _NO_NAME.match(word.text) for word in line) or max(b - a for a, b in spans) > NAME_WORDS:
        return []
    named = [_cell(text, line[start].start, line[end - 1].end) for start, end in spans]
    found = next((names for names in (named, [*line]) if len(names) in (width, width + 1)), [])
    return [Cell("", found[0].start, found[0].start), *found] if len(found) == width else found


_GOES_ON = re.compile(r"[a-z(]")
"""Begins a word that goes on with the name of a column."""
_NO_NAME = re.compile(r"\d+\.\d|.*,$")


def _is_value(word: Cell) -> bool:
    return _VALUE.fullmatch(word.text) is not None


def _cell(text: str, start: int, end: int) -> Cell:
    start, end = trim(text, start, end)
    return Cell(in_force(text[start:end].replace("\\|", "|").strip("*_`")), start, end)


def _of_width(row: Sequence[Cell], width: int) -> tuple[Cell, ...]:
    end = row[-1].end
    return (*row[:width], *[Cell("", end, end)] * (width - len(row)))


_ALIGNED = re.compile(r"\S+(?: \S+)*")
ALIGNED_REACH = 3_000
"""Characters before and behind a place in which a table of plain text is looked for."""


_CODE = re.compile(r".*[;({[]|(?:--|//|#) [^\W\d].*|/\*.*")
"""A cell of source code: it breaks off in its middle, or is a comment."""


def _is_code(rows: Sequence[Sequence[Cell]]) -> bool:
    """Whether most lines are source code; a header may have "# of beds", a name a comma behind it."""
    of_code = [row for row in rows if row[-1].text.endswith(",") or any(_CODE.fullmatch(cell.text) for cell in row)]
    return 2 * len(of_code) > len(rows)


def aligned(document: Document, low: int, high: int) -> Iterator[Grid]:
    """Tables of plain text: a block of lines whose cells two spaces part, as many in each and below each other."""
    if document.tables or document.kind == "pdf":
        return
    text, table, before = document.text, list[tuple[Cell, ...]](), None
    low, high = widened(text, low, high, ALIGNED_REACH)
    begins, behind = True, 0
    for start, end in [*line_spans(text[low:high]), (high - low, high - low)]:
        cells = tuple(Cell(found[0], *found.span()) for found in _ALIGNED.finditer(text, low + start, low + end))
        apart = text.count("\n", low + behind, low + start) > 1
        alike = table and len(cells) == len(table[0])
        if table and not (alike and (not apart or _in_columns(text, (table[0], table[-1], cells)))):
            enough = len(table) > 1 and len(table) + len(table[0]) > 4  # two lines of two words are no table
            if begins and enough and not (_is_code(table) or _is_item(*table[:2])) and _in_columns(text, table):
                yield Grid(table[0], tuple(table[1:]), () if before is None else (before,), document.title)
            begins = apart  # just below a line of other cells stands no header
            table, before = [], None
        if len(cells) > 1:
            table.append(cells)
        else:
            begins, before = True, next(iter(cells), None)
        behind = end


_NUMBERED = re.compile(r"\W{0,2}(\d+)\b")
_DRAWN = re.compile(r"\W*[|\\]\W*")
"""A cell that is a line of a drawing: upright, or down to the right."""


def _is_item(line: Sequence[Cell], below: Sequence[Cell]) -> bool:
    """Whether a line is one of several alike and names no columns: bullets, notes, items that are numbered on."""
    numbers = (
        [found and int(found[1]) for found in (_NUMBERED.match(cell.text) for cell in row)] for row in (line, below)
    )
    steps = [other - one for one, other in zip(*numbers, strict=True) if one is not None and other is not None]
    return line[0].text == below[0].text or (bool(steps) and all(step in (1, len(line)) for step in steps))


def _in_columns(text: str, table: Sequence[Sequence[Cell]]) -> bool:
    """Whether the cells of a column begin or end alike, white space parts it from the next, and its name stands above.

    Lines of a drawing, and running text with two spaces behind its stops, do not. Single tabs part cells by themselves.
    """
    if any(_DRAWN.fullmatch(cell.text) for row in table for cell in row):
        return False
    gaps = {text[one.end : other.start] for row in table for one, other in pairwise(row)}
    if gaps == {"\t"} and all(text[row[0].start - 1 : row[0].start] in ("", "\n") for row in table):
        return True
    names, *rows = [_shown_at(text, row) for row in table]
    columns = [
        [*zip(*column, strict=True)] for column in zip(*(rows if len(rows) > 1 else (names, *rows)), strict=True)
    ]
    for (name, left), (other, (starts, ends)) in pairwise(zip(names, columns, strict=True)):
        edge, alike = max(left[1]), 1 in (len(set(starts)), len(set(ends)))
        if not alike or not edge < min(starts) or not edge < other[1] or not name[0] < min(starts):
            return False
    return True


def _shown_at(text: str, row: Sequence[Cell]) -> list[tuple[int, int]]:
    """The columns of the screen that each cell of a line begins and ends at."""
    line = text.rfind("\n", 0, row[0].start) + 1
    return [(len(text[line : cell.start].expandtabs()), len(text[line : cell.end].expandtabs())) for cell in row]


# --- what stands around a table ---------------------------------------------------------------------------------------

_CAPTION = re.compile(r"(?:Table|Tab\.|Exhibit)\s?[A-Z]?\.?\d{1,3}(?:\.\d+)?\s?[:.|–-]", re.IGNORECASE)
LONGEST_LEAD_IN = 300
"""Characters of a lead-in; of a longer paragraph its last sentence is one."""
BLOCKS_BACK, BLOCKS_REACH = 4, 8_000
"""Paragraphs, and characters, before a table in which its heading is looked for."""


def _around(document: Document, table: Table) -> list[Cell]:
    """Heading and lead-in before a table, and the caption before or behind it."""
    found: list[Cell] = []
    for block in blocks_before(document, table.start):
        if is_heading(block.text):
            found.append(Cell(block.text.strip("# "), block.start, block.end))
            break
        leads = all(_CAPTION.match(cell.text) for cell in found)
        if leads or _CAPTION.match(block.text) or stated_unit(block.text):
            found.append(block if len(block.text) <= LONGEST_LEAD_IN else last_sentence(block))
    return [*reversed(found), *_caption_behind(document, table)]


def _captioned(document: Document, table: Table) -> list[Cell]:
    """The caption of a table in a PDF, where the text before a table is seldom about it; of two neither is certain."""
    above = next(blocks_before(document, table.start), None)
    captions = [*([above] if above and _CAPTION.match(above.text) else []), *_caption_behind(document, table)]
    return captions if len(captions) == 1 else []


def _caption_behind(document: Document, table: Table) -> list[Cell]:
    line = re.compile(r"\s*([^\n]+)").match(document.text, table.end)
    return [_cell(document.text, *line.span(1))] if line and _CAPTION.match(line[1]) else []


def blocks_before(document: Document, end: int) -> Iterator[Cell]:
    """Paragraphs before a place, the nearest first, as far back as the table before it."""
    before = bisect_right(document.tables, end, key=attrgetter("end"))
    floor = max(0, end - BLOCKS_REACH, *(table.end for table in document.tables[max(0, before - 1) : before]))
    text = without_figures(document, floor, end)
    end = len(text)
    for _ in range(BLOCKS_BACK):
        low, high = trim(text, 0, end)
        if low >= high:
            return
        end = max(text.rfind("\n\n", low, high), low - 1) + 1
        block = _cell(text, end, high)
        yield replace(block, start=floor + block.start, end=floor + block.end)


def is_heading(text: str) -> bool:
    """Whether a paragraph looks like a heading: one short line that is no sentence and leads to nothing."""
    one_line = "\n" not in text and len(text) <= HEADING_CHARACTERS and not _CAPTION.match(text)
    return text.startswith("#") or (one_line and not re.search(r"[.:;,?!]$|^[-*•]\s", text))


def is_prose(text: str) -> bool:
    """Whether what stands above a table is a sentence that says something itself, and no caption, lead-in or unit."""
    return text.rstrip()[-1:] in ".!?" and not _CAPTION.match(text) and not stated_unit(text)


def last_sentence(block: Cell) -> Cell:
    """The last sentence of a paragraph, in its place."""
    start, end = sentence_spans(block.text)[-1]
    return Cell(block.text[start:end], block.start + start, block.start + end)


# --- numbers and units ------------------------------------------------------------------------------------------------

_SCALE = r"thousands?|millions?|billions?|mio\.?|mn|bn|k|m(?=\s*(?:€|eur|usd|gbp|nok|sek|dkk|chf|\b))|'?000s?"
_CURRENCY = (
    r"euros?|eur|€|(?:us[ -])?dollars?|us[d$]|\$|pounds?(?: sterling)?|gbp|£|nok|sek|dkk|chf|jpy|cny|inr|pln|cad|aud"
    r"|yen|kron(?:er|or|a|e)|francs?|rupees?"
)
_MEASURE = (
    r"%|per ?cent|percentage points?|[kmgt]?wh|[kmgt]?w|[kmgt]i?b|[kmg]?hz|kg|mg|g|t|tonnes?|tons?|km²?|m[²³23]?|cm|mm"
    r"|ha|hours?|hrs?|h|min(?:utes)?|s|sec(?:onds)?|ms|days?|weeks?|months?|years?|°[cf]|lit(?:re|er)s?|l|ml|°"
)
_WORDED_SCALE = r"thousands?|millions?|billions?|mio\.?|mn|bn"
_UNIT = (
    rf"(?:(?:(?P<worded>{_WORDED_SCALE})\s+(?:of\s+)?)?(?P<measure>{_MEASURE})"
    rf"|(?:(?P<scale>{_SCALE})\s*(?:of\s+)?)?(?P<name>{_CURRENCY})(?:\s*(?P<behind>{_SCALE}))?)"
)
"""A letter for a scale stands before a currency alone: mm are no million metres, kg no thousand grams."""
_IN_MILLIONS = re.compile(
    r"\b(?:revenues?|sales|turnover|profits?|incomes?|earnings|ebit\w*|costs?|expenses?|budgets?|spend\w*|cash|debts?|"
    r"assets?|equity|capital|loans?|deposits?|invest\w+|amounts?|prices?|fees?|population|inhabitants|people|users|"
    r"customers|visitors|passengers|subscribers)\b",
    re.IGNORECASE,
)
"""What is counted in millions where a header says `m`; of everything else it says metres."""
_WHOLE_UNIT = re.compile(rf"(?:in\s+|all\s+in\s+)?(?:{_UNIT}|(?P<only>{_SCALE}))", re.IGNORECASE)
_TITLED_IN = re.compile(rf"[\w ,'-]{{3,40}}\bin\s+(?P<unit>{_UNIT}|{_SCALE})(?!\w)", re.IGNORECASE)
_IN_UNIT = re.compile(
    rf"\b(?:in|are)\s+(?:(?P<scale>{_SCALE})\s*(?:of\s+)?)?(?P<name>{_CURRENCY}|per ?cent|%)"
    rf"(?:\s*(?P<behind>{_SCALE}))?(?!\w)",
    re.IGNORECASE,
)
_STATED_IN = re.compile(
    r"\b(?:amounts|figures|values|numbers|prices|sums|costs|quantities|weights|lengths|times|data|everything)\b"
    rf"[^.;\n]{{0,30}}?\bin\s+(?P<unit>{_UNIT}|{_SCALE})(?!\w)",
    re.IGNORECASE,
)
_UNIT_LIKE = re.compile(r"\S\s*[(\[]([a-zµ°][^\W\d]{0,6}(?:[/·^][^\s)\]]{1,6})?|[^\s)\]/]{1,6}/[^\s)\]]{1,6})[)\]]$")
_IN_BRACKETS = re.compile(r"[(\[]([^()\[\]]{1,30})[)\]]")
_SYNTAX = re.compile(r"(?<=\s)[a-z][\w-]*[(\[][^()\[\]]*[)\]]")
"""`num[ms]` behind the name of a directive: how it is written, and no unit of its value."""
_SCALES = {"t": "thousand", "k": "thousand", "'": "thousand", "0": "thousand", "m": "million", "b": "billion"}
_COUNTED = re.compile(
    r"\b(?:employees?|staff|headcount|people|persons?|number|no|count|customers?|orders?|users?|visit(?:or)?s|units|"
    r"pieces|stores?|branches|rank|year|age|hours|days|fte)\b",
    re.IGNORECASE,
)
"""Columns that are counted whatever the lead-in says of the amounts."""
_SHARE = re.compile(r"\b(?:share|rate|ratio|margin|growth|change|percent|score|index)\b|%", re.IGNORECASE)
_MONEY = re.compile(rf"\b(?:{_CURRENCY})\b|[€$£]", re.IGNORECASE)


def stated_unit(text: str) -> str:
    """The unit that a caption, lead-in or heading states for a table, as it is written after a number; "" for none."""
    for found in _IN_BRACKETS.findall(text):
        if whole := _WHOLE_UNIT.fullmatch(found.strip()):
            return _written_unit(whole)
    found = _STATED_IN.search(text) or (_TITLED_IN.match(text) if len(text) <= HEADING_CHARACTERS else None)
    if found and (len(found["unit"]) > 1 or found["unit"] in "€$£%"):
        whole = _WHOLE_UNIT.fullmatch(found["unit"])
        return _written_unit(whole) if whole else ""
    found = _IN_UNIT.search(text)
    return _written_unit(found) if found else ""


def _unit_of_header(name: str) -> str:
    """Of "Revenue (EUR m)", "Share in %", "price [NOK]", "Weight kg"; of "Pressure (bar)" what is in the brackets.

    Brackets that join a placeholder ("KeepAliveTimeout num[ms]") are syntax and give a value no unit.
    """
    name = _SYNTAX.sub("", name)
    behind = re.findall(r"\bin (\S+(?: \S+)?)$|(?<=\s)([A-Z]{3}|(?!min$)[kmc][A-Za-z]{1,2}|[MGT]\w{1,2})$|(%)$", name)
    inside = [*_IN_BRACKETS.findall(name), *("".join(found) for found in behind)]
    unit = next((_written_unit(whole) for found in inside if (whole := _WHOLE_UNIT.fullmatch(found.strip()))), "")
    if not unit and (unknown := _UNIT_LIKE.search(name)):
        return unknown[1]
    return "million" if unit == "m" and _IN_MILLIONS.search(name) else unit


def _written_unit(unit: re.Match[str]) -> str:
    groups = unit.groupdict()
    scale = next((groups[name] for name in ("worded", "scale", "behind", "only") if groups.get(name)), "").lower()
    return " ".join(filter(None, [_SCALES.get(scale[:1], ""), groups.get("name") or groups.get("measure") or ""]))


def is_money(unit: str) -> bool:
    """Whether a unit is a currency."""
    return _MONEY.search(unit) is not None


def with_unit(value: str, unit: str) -> str:
    """A cell's text with its column's unit, unless it has one of its own."""
    bare = re.fullmatch(r"[~≈∼]?[+−–-]?\d(?:[\d.,]| (?=\d{3}(?!\d)))*", value)
    if not unit or not bare:
        return value
    return f"{value}{unit}" if unit in ("%", "°") else f"{value} {unit}"


_NUMBER = re.compile(
    rf"[~≈∼]?(?:{_CURRENCY})?\s*(?P<sign>[+−–-]?)\s*(?:[$€£]\s*)?(?P<digits>\d[\d., ]*)\s*(?:{_UNIT})?[*†‡]?",
    re.IGNORECASE,
)

_IN_THE_RED = re.compile(r"\((?!(?:19|20)\d\d\))([$€£]?\d[\d., ]*)\)")
"""As accounts write what is below zero; a year is none."""


def number_in(text: str, *, decimal_comma: bool = False) -> Decimal | None:
    """The number that a text is, 1,234.5 as 1234.5, (12) as -12, 2 % as 2; None for dates, ranges, words and codes."""
    if bracketed := _IN_THE_RED.fullmatch(text.strip()):
        value = number_in(bracketed[1], decimal_comma=decimal_comma)
        return None if value is None else -value
    found = _NUMBER.fullmatch(text.strip())
    if found is None:
        return None
    digits = found["digits"].replace(" ", "").rstrip(".,")
    digits = digits.replace(".", "") if decimal_comma else re.sub(r",(?=\d{3}(?!\d))", "", digits)
    digits = digits.replace(",", ".")
    if digits.count(".") > 1:
        return None
    value = Decimal(digits)
    return -value if found["sign"] in ("-", "−", "–") else value
