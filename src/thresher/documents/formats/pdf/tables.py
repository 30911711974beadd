"""Tables of a PDF by their ruled lines: cells between lines across and upright, or between gaps where none is upright.

A table that ends a page goes on at the head of the next one where the same columns stand there.
"""

from __future__ import annotations

import re
from bisect import bisect
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise, takewhile
from statistics import median

from thresher.documents.assembly import Cell
from thresher.documents.formats.pdf.glyphs import Glyphs
from thresher.documents.formats.pdf.lines import CAPTION
from thresher.documents.formats.pdf.order import Boxes, Line, text_lines
from thresher.documents.formats.pdf.struck import Box

NEAR = 3.0  # points between lines that are one, or that meet
MIDDLE = 0.3  # of the height of a font above the base line lies the middle of small letters
GAP = 0.5  # of the size of the text; between columns there is more, between words 0.25 to 0.35
MEET = 6.0  # points that an upright line may end before one across; booktabs leaves some four
WORD_GAP = 0.15
VALUE = re.compile(r"[-−–—+±~<>]?[$€£]?\d\S*|[-−–—✓✗]+")
MOST_COLUMNS = 30
MOST_LINES_ASIDE = 2  # lines of a running head or foot beyond a table that goes on over a page
FILLED = 0.5  # of the cells of a table; a chart has more that are empty
LONGEST_CELLS = 40  # characters, in the middle of a table without upright lines; lines of columns of prose are longer
FEWEST_ROWS = 2
MOST_HEADS = 4  # lines of a header
TALL = 1.6  # times the usual row; what stands alone in such a one is a heading between two tables

Span = tuple[float, float]
Reading = Callable[[Sequence[int]], str]
"""The text of some characters."""


@dataclass(slots=True)
class Ruled:
    """A table of a page: its rows, the characters in it, and where its columns begin and end."""

    rows: list[list[Cell]]
    glyphs: set[int]
    edges: list[float]
    open: bool = False  # whether no line ends it
    goes_on: bool = False  # whether it began on a page before
    header: list[list[str]] = field(default_factory=list)  # its first rows, or those of the page on which it began


@dataclass(frozen=True, slots=True)
class Rules:
    """Lines across and upright that meet: their places, and from where to where each goes."""

    across: list[tuple[float, Span]]  # from the top
    upright: list[tuple[float, Span]]  # from the left

    @property
    def width(self) -> Span:
        """From where to where the lines across go."""
        return min(span[0] for _, span in self.across), max(span[1] for _, span in self.across)


def tables_of(glyphs: Glyphs, before: Ruled | None, reading: Reading) -> list[Ruled]:
    """The tables of a page from the top; `before` is the one that ended the page before."""
    if before is None and len(glyphs.lines) < 2:
        return []
    boxes = glyphs.boxes
    found: list[Ruled] = []
    if before is not None and before.open and (rest := _rest(glyphs, before, reading)):
        found.append(rest)
    for rules in _met(glyphs.lines):
        inside = _within(rules, boxes)
        tables = _latticed(rules, inside, boxes, reading) or _striped(rules, inside, boxes, reading)
        found += tables or _opened(rules, boxes, reading)
    found = [table for table in found if _is_whole(table, glyphs)]
    taken: set[int] = set()
    apart = []
    for table in sorted(found, key=lambda table: -max(boxes[at][3] for at in table.glyphs)):
        if not taken & table.glyphs:
            taken |= table.glyphs
            apart.append(table)
    if before is not None and apart and (apart[0].goes_on or _goes_on(before, apart[0], boxes)):
        apart[0].goes_on, apart[0].header = True, before.header
    for table in apart:
        table.header = table.header or [_texts(row) for row in table.rows[:MOST_HEADS]]
    return apart


def _texts(row: Sequence[Cell]) -> list[str]:
    return [cell.text for cell in row]


def further_rows(table: Ruled) -> list[list[str]]:
    """The rows of a table that goes on, without the header that is repeated."""
    rows = [_texts(row) for row in table.rows]
    repeated = takewhile(lambda both: both[0] == both[1], zip(rows, table.header, strict=False))
    return rows[sum(1 for _ in repeated) :]


def ends_page(table: Ruled, boxes: Boxes) -> bool:
    """Whether nothing but a running foot stands below a table."""
    bottom = min(boxes[at][1] for at in table.glyphs)
    return len(text_lines([at for at, box in boxes.items() if box[3] <= bottom + NEAR], boxes)) <= MOST_LINES_ASIDE


def _goes_on(before: Ruled, table: Ruled, boxes: Boxes) -> bool:
    """Whether nothing but a running head stands above a table, and its columns are those of the one before."""
    top = max(boxes[at][3] for at in table.glyphs)
    above = text_lines([at for at, box in boxes.items() if box[1] >= top - NEAR], boxes)
    return len(above) <= MOST_LINES_ASIDE and _same_columns(before.edges, table.edges)


def _same_columns(edges: Sequence[float], others: Sequence[float]) -> bool:
    """Whether columns are as wide as others; gaps give no more than their number and the whole width."""
    ends = abs((edges[-1] - edges[0]) - (others[-1] - others[0])) <= 2 * NEAR
    return len(edges) == len(others) and ends


# --- lines that meet --------------------------------------------------------------------------------------------------


def _met(lines: Sequence[Box]) -> list[Rules]:
    """Groups of ruled lines: those that meet, and those across that are as wide and stand below each other."""
    across = _across(lines)
    pieces = _joined((left, bottom, top) for left, bottom, right, top in lines if left == right)
    upright = _joined((x, _extended(low, x, across, -1), _extended(high, x, across, 1)) for x, (low, high) in pieces)
    groups: list[tuple[list[tuple[float, Span]], list[tuple[float, Span]]]] = []
    for line in upright:
        x, (low, high) = line
        meeting = [one for one in across if low - NEAR <= one[0] <= high + NEAR and _reaches(one[1], x)]
        if not any(left + NEAR < x < right - NEAR for _, (left, right) in meeting):
            continue  # the side of a frame parts no columns
        joined = [group for group in groups if any(one in group[0] for one in meeting)]
        groups = [group for group in groups if group not in joined]
        both = [*dict.fromkeys([*meeting, *(one for group in joined for one in group[0])])]
        groups.append((both, [*(one for group in joined for one in group[1]), line]))
    taken = {one for group in groups for one in group[0]}
    for line in across:
        if line in taken:
            continue
        alike = [group for group in groups if not group[1] and _same_columns(group[0][0][1], line[1])]
        near = [group for group in alike if abs(group[0][0][1][0] - line[1][0]) <= NEAR]
        near[0][0].append(line) if near else groups.append(([line], []))
    return [Rules(sorted(group[0], reverse=True), sorted(group[1])) for group in groups if len(group[0]) > 1]


def _extended(end: float, x: float, across: Sequence[tuple[float, Span]], way: int) -> float:
    """The end of an upright line, or the ruled line across that it is cut off before."""
    beyond = [way * (place - end) for place, span in across if _reaches(span, x)]
    nearest = min((gap for gap in beyond if gap >= -NEAR), default=MEET)
    return end + way * nearest if NEAR < nearest < MEET else end


def _across(lines: Sequence[Box]) -> list[tuple[float, Span]]:
    return _joined((bottom, left, right) for left, bottom, right, top in lines if bottom == top)


def _joined(lines: Iterable[tuple[float, float, float]]) -> list[tuple[float, Span]]:
    """Lines in one direction: place, beginning and end; pieces of one line joined."""
    found: list[tuple[float, Span]] = []
    places: list[list[tuple[float, float, float]]] = []
    for line in sorted(lines):
        if places and line[0] - places[-1][-1][0] <= NEAR / 2:
            places[-1].append(line)
        else:
            places.append([line])
    for place in places:
        middle = sum(line[0] for line in place) / len(place)
        spans: list[Span] = []
        for _, low, high in sorted(place, key=lambda line: line[1:]):
            if spans and low <= spans[-1][1] + NEAR:
                spans[-1] = (spans[-1][0], max(high, spans[-1][1]))
            else:
                spans.append((low, high))
        found += [(middle, span) for span in spans]
    return found


def _reaches(span: Span, place: float) -> bool:
    return span[0] - NEAR <= place <= span[1] + NEAR


def _distinct(places: Iterable[float]) -> list[float]:
    """The places from the lowest, those that are near each other once."""
    kept: list[float] = []
    for place in sorted(places):
        if not kept or place - kept[-1] > NEAR:
            kept.append(place)
    return kept


def _within(rules: Rules, boxes: Boxes) -> list[int]:
    """The characters between the ruled lines."""
    ends = [end for _, span in rules.upright for end in span] + [place for place, _ in rules.across]
    (left, right), low, high = rules.width, min(ends), max(ends)
    return [
        at
        for at, (x0, base, x1, top) in boxes.items()
        if left - NEAR <= (x0 + x1) / 2 <= right + NEAR and low <= base + MIDDLE * (top - base) <= high
    ]


def _is_whole(table: Ruled, glyphs: Glyphs) -> bool:
    """Whether no word is cut by an edge of the table; pictures of boxes with words over them are no tables."""
    inside = table.glyphs
    cut = sum((at in inside) != (at + 1 in inside) for at in glyphs.boxes if at + 1 in glyphs.boxes)
    return cut <= len(table.rows) // 4


def _middle(box: Box) -> tuple[float, float]:
    return (box[0] + box[2]) / 2, box[1] + MIDDLE * (box[3] - box[1])


# --- cells between lines ----------------------------------------------------------------------------------------------


def _latticed(rules: Rules, inside: Sequence[int], boxes: Boxes, reading: Reading) -> list[Ruled]:
    """The table whose cells lie between lines across and upright; a line that is missing between two makes them one."""
    left, right = rules.width
    columns = _distinct(place for place, _ in rules.upright)
    edges = _distinct([left, *columns, right])
    ends = [end for _, span in rules.upright for end in span]
    rows = _distinct([min(ends, default=0.0), *(place for place, _ in rules.across), max(ends, default=0.0)])[::-1]
    if not 2 < len(edges) <= MOST_COLUMNS or not inside:
        return []
    body = text_lines([at for at in inside if boxes[at][1] < rows[1]], boxes)
    if len(edges) > len(columns) and len(_columns(body, boxes, rules.width)) > len(edges):
        return []  # lines part some columns, gaps all
    cells: dict[tuple[int, int], list[int]] = {}
    for at in inside:
        x, y = _middle(boxes[at])
        place = (bisect([-edge for edge in rows], -y) - 1, bisect(edges, x) - 1)
        cells.setdefault(place, []).append(at)
    width, bands = len(edges) - 1, len(rows) - 1
    group = {(row, column): (row, column) for row in range(bands) for column in range(width)}

    def root(place: tuple[int, int]) -> tuple[int, int]:
        while group[place] != place:
            place = group[place]
        return place

    for row, column in group:
        x, y = (edges[column] + edges[column + 1]) / 2, (rows[row] + rows[row + 1]) / 2
        if column + 1 < width and not _parted(rules.upright, edges[column + 1], y):
            group[root((row, column + 1))] = root((row, column))
        if row + 1 < bands and not _parted(rules.across, rows[row + 1], x):
            group[root((row + 1, column))] = root((row, column))
    members: dict[tuple[int, int], list[int]] = {}
    for place, glyphs in cells.items():
        if place in group:
            members.setdefault(root(place), []).extend(glyphs)
    made = {place: Cell(reading(sorted(glyphs))) for place, glyphs in members.items()}
    empty: dict[tuple[int, int], Cell] = {}
    full: list[list[Cell]] = []
    for row in range(bands):
        roots = [root((row, column)) for column in range(width)]
        alone = all(
            root((other, column)) not in roots for other in range(bands) if other != row for column in range(width)
        )
        if alone:
            glyphs = [at for one in set(roots) for at in members.get(one, ())]
            full += _broken(text_lines(glyphs, boxes), edges, boxes, reading, roots)
        else:
            full.append([made.get(one) or empty.setdefault(one, Cell()) for one in roots])
    threes = (zip(row, row[1:], row[2:], strict=False) for row in full)
    wide = sum(any(one is other is third and one.text for one, other, third in each) for each in threes)
    if 2 * wide > len(full):
        return []  # a few lines mark cells of a table that has others
    lengths = [len(cell.text) for row in full for cell in row]
    if bands == 1 and median(lengths) > LONGEST_CELLS / 2:
        return []  # boxes side by side
    return _checked(full, set(inside), edges)


def _parted(lines: Sequence[tuple[float, Span]], place: float, at: float) -> bool:
    """Whether a line at a place goes past `at`."""
    return any(abs(line - place) <= NEAR and span[0] - 1 <= at <= span[1] + 1 for line, span in lines)


def _broken(
    lines: Sequence[Line],
    edges: Sequence[float],
    boxes: Boxes,
    reading: Reading,
    merged: Sequence[object] = (),
    *,
    parted: bool = True,
) -> list[list[Cell]]:
    """The rows of what no ruled line parts; `merged` says which columns are one.

    Text that goes on fills its column: the first word of a line had no room on the line above. Where that word had, or
    a value stands below a value, the line is a row of its own. Between ruled lines two such columns make it one. In a
    table that is not `parted` row from row every line is one, but for those that leave a column out or go on in lower
    case.
    """
    groups: list[list[list[Line]]] = []
    above: list[Line]
    for line in lines:
        cells = _between(line, edges, boxes, merged)
        above = [next(filter(None, reversed(column)), []) for column in zip(*groups[-1], strict=True)] if groups else []
        if above and _goes_on_below(above, cells, edges, boxes, reading, parted=parted):
            groups[-1].append(cells)
        else:
            groups.append([cells])
    rows: list[list[Cell]] = []
    for group in groups:
        texts = [reading(sorted(at for cells in group for at in cells[column])) for column in range(len(edges) - 1)]
        made = {one: Cell(text) for one, text in zip(merged, texts, strict=False) if text}
        rows.append([made.get(one, Cell()) for one in merged] if merged else [Cell(text) for text in texts])
    return rows


def _goes_on_below(
    above: Sequence[Line],
    below: Sequence[Line],
    edges: Sequence[float],
    boxes: Boxes,
    reading: Reading,
    *,
    parted: bool,
) -> bool:
    """Whether a line goes on with the row of the line above it."""
    own = 0
    both = [
        (first, second, right - left)
        for first, second, (left, right) in zip(above, below, pairwise(edges), strict=True)
        if first and second
    ]
    texts = [reading(sorted(second)) for _, second, _ in both]
    for (first, second, width), text in zip(both, texts, strict=True):
        word = _pieces(second, boxes, WORD_GAP)[0]
        size = boxes[word[0]][3] - boxes[word[0]][1]
        needed = boxes[first[-1]][2] - boxes[first[0]][0] + boxes[word[-1]][2] - boxes[word[0]][0] + GAP * size
        if VALUE.fullmatch(text) and VALUE.fullmatch(reading(sorted(first))):
            return False
        own += needed < width
    if parted:
        return own < FEWEST_ROWS
    left_out = sum(map(bool, below)) < sum(map(bool, above))
    return not own and (left_out or any(text[:1].islower() for text in texts))


def _between(line: Line, edges: Sequence[float], boxes: Boxes, merged: Sequence[object] = ()) -> list[Line]:
    """The characters of each column."""
    cells: list[Line] = [[] for _ in edges[1:]]
    for word in _pieces(line, boxes, WORD_GAP):
        column = bisect(edges[1:-1], (boxes[word[0]][0] + boxes[word[-1]][2]) / 2)
        cells[merged.index(merged[column]) if merged else column] += word
    return cells


def _checked(full: list[list[Cell]], glyphs: set[int], edges: list[float]) -> list[Ruled]:
    """The table, if it has rows and columns enough, and no more empty cells than others."""
    rows = [row for row in full if any(cell.text for cell in row)]
    columns = [column for column in zip(*rows, strict=True) if any(cell.text for cell in column)]
    filled = sum(bool(cell.text) for row in rows for cell in row)
    if len(rows) < FEWEST_ROWS or len(columns) < 2 or filled < FILLED * len(rows) * len(rows[0]):
        return []
    return [Ruled(rows, glyphs, edges)]


# --- cells between gaps -----------------------------------------------------------------------------------------------


def _pieces(line: Line, boxes: Boxes, gap: float = GAP) -> list[Line]:
    """A line cut where a gap is wider than between words."""
    pieces = [line[:1]]
    for before, at in pairwise(line):
        size = boxes[at][3] - boxes[at][1]
        wide = boxes[at][0] - boxes[before][2] > gap * size
        pieces.append([at]) if wide else pieces[-1].append(at)
    return pieces


def _columns(lines: Sequence[Line], boxes: Boxes, width: Span) -> list[float]:
    """Where columns begin and end: in the gaps that all lines of several pieces share."""
    several = [pieces for line in lines if len(pieces := _pieces(line, boxes)) > 1]
    if 2 * len(several) < len(lines) or not several:
        return []
    inked = sorted((boxes[piece[0]][0], boxes[piece[-1]][2]) for pieces in several for piece in pieces)
    size = median(boxes[line[0]][3] - boxes[line[0]][1] for line in lines)
    edges, reached = [width[0]], inked[0][1]
    for low, high in inked:
        if low - reached > GAP * size:
            edges.append((low + reached) / 2)
        reached = max(reached, high)
    return [*edges, width[1]]


def _striped(rules: Rules, inside: Sequence[int], boxes: Boxes, reading: Reading) -> list[Ruled]:
    """The tables between lines across alone: a header and rows, by line or, where a ruled line parts all, by band."""
    full = [place for place, span in rules.across if _same_columns(span, rules.width)]
    if len(full) < 2:
        return []
    bands = [
        text_lines([at for at in inside if low < _middle(boxes[at])[1] <= high], boxes) for high, low in pairwise(full)
    ]
    found: list[Ruled] = []
    spans = [span for _, span in rules.across if not _same_columns(span, rules.width)]
    pitch = median(high - low for high, low in pairwise(full))
    body = [line for band in bands for line in band]
    for side, low, high in ((0, full[0], full[0] + pitch), (len(bands), full[-1] - pitch, full[-1])):
        beyond = text_lines([at for at, box in boxes.items() if low < _middle(box)[1] < high], boxes)
        if len(bands) > 1 and _is_further(beyond, _columns(body, boxes, rules.width), boxes):
            bands.insert(side + (side > 0), beyond)
            full.insert(side + (side > 0), high if side == 0 else low)
    for run in _runs(bands, full, boxes, reading):
        found += _striped_run(run, rules.width, spans, boxes, reading)
    return found


def _is_further(lines: Sequence[Line], edges: Sequence[float], boxes: Boxes) -> bool:
    """Whether lines beyond the first or last ruled line are a row: pieces in most columns, none in two."""
    pieces = [piece for line in lines for piece in _pieces(line, boxes)]
    return len(lines) == 1 and len(_taken(lines, edges, boxes)) == 1 and 2 * len(pieces) > len(edges) - 1


def _runs(
    bands: Sequence[list[Line]], rules: Sequence[float], boxes: Boxes, reading: Reading
) -> list[list[list[Line]]]:
    """The bands of each table; between two is a caption, no text, or a tall one with a single piece to a line."""
    usual = median(high - low for high, low in pairwise(rules))
    runs: list[list[list[Line]]] = [[]]
    for band, (high, low) in zip(bands, pairwise(rules), strict=True):
        single = all(len(_pieces(line, boxes)) == 1 for line in band)
        captioned = any(CAPTION.match(reading(sorted(line))) for line in band)
        if captioned or (single and (not band or len(band) > 1 or high - low > TALL * usual)):
            runs.append([])
        else:
            runs[-1].append(band)
    return [run for run in runs if len(run) > 1]


def _striped_run(
    bands: list[list[Line]], width: Span, spans: Sequence[Span], boxes: Boxes, reading: Reading
) -> list[Ruled]:
    heads, body = bands[0], [line for band in bands[1:] for line in band]
    edges = _columns(body, boxes, width)
    if not 2 < len(edges) <= MOST_COLUMNS or len(heads) > MOST_HEADS:
        return []
    rows = _head_rows(heads, spans, _inks(body, edges, boxes), boxes, reading)
    by_band = median(map(len, bands[1:])) == 1 or len(bands) > MOST_HEADS
    for band in bands[1:]:
        rows += _broken(band, edges, boxes, reading, parted=by_band)
    lengths = [len(cell.text) for row in rows for cell in row if cell.text]
    if not lengths or median(lengths) > LONGEST_CELLS or len({id(cell) for cell in rows[0] if cell.text}) < 2:
        return []
    return _checked(rows, {at for band in bands for line in band for at in line}, edges)


def _head_rows(
    lines: Sequence[Line], spans: Sequence[Span], inks: Sequence[Span], boxes: Boxes, reading: Reading
) -> list[list[Cell]]:
    """The rows of a header: a piece above several columns names them all; lines of narrow names are one row.

    `spans` are short ruled lines in it, each below the name of several columns; `inks` are the columns as far as their
    cells reach.
    """
    rows: list[list[Cell]] = []
    wide = False
    for line in lines:
        row = [Cell(head=True) for _ in inks]
        for piece in _pieces(line, boxes):
            low, high = boxes[piece[0]][0], boxes[piece[-1]][2]
            low, high = next((span for span in spans if span[0] < (low + high) / 2 < span[1]), (low, high))
            over = [at for at, ink in enumerate(inks) if min(high, ink[1]) - max(low, ink[0]) > 0]
            over = over or [min(range(len(inks)), key=lambda at: abs(sum(inks[at]) - low - high))]
            wide |= len(over) > 1
            cell = Cell(" ".join(filter(None, (row[over[0]].text, reading(sorted(piece))))), head=True)
            for at in over:
                row[at] = cell
        rows.append(row)
    if wide or len(rows) < 2:
        return rows
    columns = zip(*rows, strict=True)
    return [[Cell(" ".join(cell.text for cell in column if cell.text), head=True) for column in columns]]


def _inks(lines: Sequence[Line], edges: Sequence[float], boxes: Boxes) -> list[Span]:
    """From where to where the cells of each column reach."""
    reached: list[list[Box]] = [[] for _ in edges[1:]]
    for line in lines:
        for piece in _pieces(line, boxes):
            left, right = boxes[piece[0]][0], boxes[piece[-1]][2]
            column = bisect(edges[1:-1], left)
            if column == bisect(edges[1:-1], right):
                reached[column].append((left, 0, right, 0))
    return [
        (min(box[0] for box in found), max(box[2] for box in found)) if found else span
        for found, span in zip(reached, pairwise(edges), strict=True)
    ]


# --- over the end of a page -------------------------------------------------------------------------------------------


def _opened(rules: Rules, boxes: Boxes, reading: Reading) -> list[Ruled]:
    """A header between two ruled lines, and the rows from there to the foot of the page."""
    (top, _), (bottom, _) = rules.across[0], rules.across[-1]
    if len(rules.across) != 2 or rules.upright:
        return []
    left, right = rules.width
    column = {at: box for at, box in boxes.items() if left - NEAR <= box[0] and box[2] <= right + NEAR}
    heads = text_lines([at for at, box in column.items() if bottom < _middle(box)[1] <= top], boxes)
    if not 0 < len(heads) <= MOST_HEADS or max(len(_pieces(line, boxes)) for line in heads) < 2:
        return []
    below = text_lines([at for at, box in column.items() if _middle(box)[1] < bottom], boxes)
    edges = _columns(below[:-MOST_LINES_ASIDE], boxes, rules.width)
    rows = _taken(below, edges, boxes)
    if len(rows) < FEWEST_ROWS or len(below) - len(rows) > MOST_LINES_ASIDE:
        return []
    names = _head_rows(heads, [], _inks(rows, edges, boxes), boxes, reading)
    full = [*names, *_broken(rows, edges, boxes, reading, parted=False)]
    if sum(bool(cell.text) for cell in full[0]) < 2:
        return []
    return [
        replace(table, open=True) for table in _checked(full, {at for line in (*heads, *rows) for at in line}, edges)
    ]


def _rest(glyphs: Glyphs, before: Ruled, reading: Reading) -> Ruled | None:
    """The rest of an open table at the head of the next page, down to the ruled line that ends it."""
    boxes, edges = glyphs.boxes, before.edges
    ends = [place for place, span in _across(glyphs.lines) if _same_columns(span, (edges[0], edges[-1]))]
    bottom = max(ends, default=0.0)
    lines = text_lines([at for at, box in boxes.items() if _middle(box)[1] > bottom], boxes)
    skipped = next((at for at in range(len(lines)) if _taken(lines[at : at + 1], edges, boxes)), 0)
    rows = _taken(lines[skipped:], edges, boxes)
    if not rows or skipped > MOST_LINES_ASIDE or (ends and skipped + len(rows) < len(lines)):
        return None
    cells = _broken(rows, edges, boxes, reading, parted=False)
    return Ruled(cells, {at for line in rows for at in line}, list(edges), open=not ends, goes_on=True)


def _taken(lines: Sequence[Line], edges: Sequence[float], boxes: Boxes) -> list[Line]:
    """The first lines that lie in the columns, no piece of them in two."""

    def fits(piece: Line) -> bool:
        low, high = boxes[piece[0]][0], boxes[piece[-1]][2]
        inside = edges[0] - NEAR <= low and high <= edges[-1] + NEAR
        return inside and bisect(edges[1:-1], low) == bisect(edges[1:-1], high)

    return list(takewhile(lambda line: all(map(fits, _pieces(line, boxes))), lines)) if len(edges) > 2 else []
