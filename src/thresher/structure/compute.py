"""Computations on a table: highest and lowest, differences, sums and averages, counts and lists of rows.

Each answers only where the question names what it is about with certainty and every cell used is a number; the answer
shows the computation.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal

from thresher.structure.grid import Cell, Found, Grid, with_unit
from thresher.structure.lookup import Look, is_period, look, terms_of

_TOTAL = re.compile(r"(?:sub-?|grand )?totals?|sum|average|mean|overall|all|altogether", re.IGNORECASE)
_HIGHEST = "highest most largest biggest greatest maximum max top expensive dearest longest"
_LOWEST = "lowest least smallest fewest minimum min cheapest shortest"
_BEST = frozenset(terms_of("best"))
_LESS_IS_BETTER = re.compile(
    r"\b(?:costs?|price|fee|rate|error|loss|perplexity|times?|rank|age|delay|complaints?)\b", re.IGNORECASE
)
"""Of these the best is not the highest."""
_PRICE = re.compile(r"\b(?:price|cost|fare|fee|amount|charge)", re.IGNORECASE)
_PRICED = re.compile(r"\b(?:expensive|dearest|cheapest)\b", re.IGNORECASE)
_DIFFERENCE = """difference differ more less fewer higher lower larger smaller greater increase increased decrease
decreased grow grew growth rise rose risen fall fell fallen drop dropped change changed than compare compared between
percent percentage"""
_SUM = "total totals sum altogether combined overall together all whole"
_MEAN = "average mean"
_PERIODS = "quarter month year half"
_ANYTHING = "item items thing things one ones product products article articles"
_FIRST = re.compile(r"(?:is|are|was|were|did|does|do|has|have)\b", re.IGNORECASE)
MOST_SHOWN = 12
"""Numbers of a sum that are written out."""


@dataclass(frozen=True, slots=True)
class Series:
    """Numbers of one kind: a column of a table, or of its rows exchanged with its columns."""

    names: tuple[str, ...]
    cells: tuple[Cell, ...]
    unit: str
    stated: Cell | None
    """The line that states the unit."""

    @property
    def values(self) -> list[Decimal]:
        """The numbers, exact."""
        return [value for cell in self.cells if (value := cell.number) is not None]

    def formatted(self, value: Decimal) -> str:
        """A number of this kind with its unit."""
        grouped = any("," in cell.text and not cell.decimal_comma for cell in self.cells)
        ends = {re.sub(r"[\d.,\s+−–-]", "", cell.text) for cell in self.cells}
        return with_unit(written(value, grouped=grouped), self.unit or (ends.pop() if len(ends) == 1 else ""))

    def found(self, text: str, first: Sequence[Cell] = ()) -> Found:
        """An answer made from these numbers."""
        stated = () if self.stated is None else (self.stated,)
        return Found(text, tuple(dict.fromkeys((*first, *self.cells, *stated))))


def worked_out(grid: Grid, question: str) -> Found | None:
    """The computed answer to a question; None where it is not certain."""
    ways = (extreme, difference, total, rows_named)
    found = (way(side, question) for side in (grid, grid.transposed) for way in ways)
    return next((answer for answer in found if answer is not None), None)


def extreme(grid: Grid, question: str) -> Found | None:
    """The row with the highest or lowest number of the column that is named."""
    asked = set(terms_of(question))
    more_is_best = frozenset() if _LESS_IS_BETTER.search(question) else _BEST
    highest, lowest = asked & (set(terms_of(_HIGHEST)) | more_is_best), asked & set(terms_of(_LOWEST))
    if bool(highest) == bool(lowest):
        return None
    periods = terms_of(_PERIODS) if all(is_period(row[0].text) for row in grid.rows) else ()
    any_row = asked & {*terms_of(_ANYTHING), *periods}
    seen = look(grid, question, frozenset(highest | lowest | any_row))
    if seen.unexplained:
        return None
    measure = _measure(seen, question)
    if measure is None:
        return _in_every_column(seen, max if highest else min)
    series = _series(seen, measure, _rows(seen))
    if series is None or len(series.cells) < 2:
        return None
    best = max(series.values) if highest else min(series.values)
    winners = [at for at, value in enumerate(series.values) if value == best]
    names = " and ".join(series.names[at] for at in winners)
    return series.found(f"{names}: {series.formatted(best)}", [series.cells[at] for at in winners])


def _in_every_column(seen: Look, choose: Callable[[list[Decimal]], Decimal]) -> Found | None:
    """The one row that is extreme in every column, where the caption names the measure and no column does.

    Where rows differ and the columns are periods, the row with the extreme sum.
    """
    grid = seen.grid
    columns = [at for at in range(1, len(grid.header)) if _counts(grid, at)]
    captions = {term for cell in grid.around for term in terms_of(cell.text)} - set(terms_of(grid.header[0].text))
    named = any(match.column in columns for match in seen.columns)
    if named or seen.named or len(columns) < 2 or captions.isdisjoint(seen.words.tokens):
        return None
    rows = _rows(seen)
    found = [_series(seen, at, rows) for at in columns]
    series = [one for one in found if one is not None and len(one.cells) == len(rows)]
    if len(series) < len(columns) or len({one.unit for one in series}) > 1 or len(rows) < 2:
        return None
    winners = {tuple(at for at, value in enumerate(one.values) if value == choose(one.values)) for one in series}
    sums = [sum((one.values[at] for one in series), Decimal(0)) for at in range(len(rows))]
    summed = len(winners) > 1 and all(is_period(grid.header[at].text) for at in columns)
    if summed:
        winners = {tuple(at for at, value in enumerate(sums) if value == choose(sums))}
    if len(winners) > 1 or len(winner := winners.pop()) > 1:
        return None
    row = winner[0]
    if summed:
        shown = f"{' + '.join(map(written, (one.values[row] for one in series)))} = {series[0].formatted(sums[row])}"
    else:
        heads = (grid.header[at].text for at in columns)
        shown = ", ".join(f"{head} {one.formatted(one.values[row])}" for head, one in zip(heads, series, strict=True))
    stated = [series[0].stated] if series[0].stated is not None else []
    return Found(f"{series[0].names[row]}: {shown}", (*(one.cells[row] for one in series), *stated))


def difference(grid: Grid, question: str) -> Found | None:
    """The difference of two numbers that are named, in the order in which the question compares them."""
    besides = frozenset(terms_of(_DIFFERENCE)) & set(terms_of(question))
    seen = look(grid, question, besides)
    measure = _measure(seen, question)
    if not besides or seen.unexplained or measure is None or len(seen.rows) != 2:
        return None
    one_of, other_of = (seen.reach[at] for at in seen.rows)
    apart = one_of ^ other_of  # "ViT" of ViT-Base stands in ViT-Huge too
    rows = sorted(seen.rows, key=lambda at: min(seen.reach[at] & apart or seen.reach[at]))
    series = _series(seen, measure, rows)
    if series is None or len(series.cells) != 2:
        return None
    (one, other), shown = series.values, [written(value) for value in series.values]
    if re.search(r"\bfrom\b.*\bto\b", question) or ("than" not in besides and other > one):
        one, other, shown = other, one, shown[::-1]
    if {"percent", "percentag"} & besides or "%" in question:
        if not other:
            return None
        share = (one - other) / other * 100
        return series.found(f"({shown[0]} - {shown[1]}) / {shown[1]} = {share:.1f}%")
    text = f"{shown[0]} - {shown[1]} = {series.formatted(one - other)}"
    if re.search(r"\bor\b", question):
        text = f"{series.names[series.values.index(max(one, other))]}: {text}"
    if _FIRST.match(question.strip()) and "than" in besides:
        less = re.search(r"\b(?:less|fewer|lower|smaller)\b", question, re.IGNORECASE)
        holds = one < other if less else one > other
        text = f"{'Yes' if holds else 'No'}: {text}"
    return series.found(text)


def total(grid: Grid, question: str) -> Found | None:
    """The sum or the average of a column, or of those of its rows that are named."""
    asked = set(terms_of(question))
    mean = asked & set(terms_of(_MEAN))
    besides = mean or asked & set(terms_of(_SUM))
    seen = look(grid, question, frozenset(besides))
    measure = _measure(seen, question)
    if not besides or seen.unexplained or measure is None:
        return None
    rows = _rows(seen)
    series = _series(seen, measure, rows)
    whole = series is not None and len(series.cells) == len(rows)
    # Revenue and costs are not added up: rows have to be named one by one, or to be months or quarters, or the
    # column what is counted of things in the rows.
    periods = all(is_period(grid.rows[at][0].text) for at in rows)
    counted = not grid.turned and not any(is_period(head.text) for head in grid.header)
    if series is None or not whole or len(rows) < 2 or not (set(rows) <= set(seen.rows) or periods or counted):
        return None
    numbers = f"the sum of {len(rows)} numbers"
    shown = numbers if len(rows) > MOST_SHOWN else " + ".join(map(written, series.values))
    if mean:
        return series.found(f"({shown}) / {len(rows)} = {series.formatted(_mean(series))}")
    return series.found(f"{shown} = {series.formatted(sum(series.values, Decimal(0)))}")


def rows_named(grid: Grid, question: str) -> Found | None:
    """How many rows a condition holds for, or which: the condition is a cell that the question names."""
    many = re.match(r"\s*how many\b", question, re.IGNORECASE)
    which = re.match(r"\s*(?:which|what|who|list|name)\b", question, re.IGNORECASE)
    seen = look(grid, question)
    conditions = {match.column for match in seen.named}
    one_kind = len({seen.reach[at] for at in seen.rows}) == 1
    if not (many or which) or seen.unexplained or not conditions or 0 in conditions or not one_kind:
        return None
    asked = [match.column for match in seen.columns if match.column not in conditions]
    cells = [grid.rows[at][asked[0] if asked else 0] for at in seen.rows]
    about_rows = bool(asked) or any(match.column == 0 for match in seen.columns)
    several = many or len(cells) > 1
    if not about_rows or not several or len(asked) > 1 or any(cell.number is not None for cell in cells):
        return None
    named = ", ".join(dict.fromkeys(cell.text for cell in cells))
    return Found(f"{len(cells)}: {named}" if many else named, tuple(cells))


def _measure(seen: Look, question: str) -> int | None:
    """The one column of numbers that is named; that of prices for what is expensive."""
    conditions = {match.column for match in seen.named}
    named = [match.column for match in seen.columns if match.column not in conditions]
    if _PRICED.search(question):
        named = [at for at, head in enumerate(seen.grid.header) if _PRICE.search(head.text)]
    named = [at for at in named if _counts(seen.grid, at)]
    return named[0] if len(named) == 1 else None


def _counts(grid: Grid, column: int) -> bool:
    """Whether a column holds numbers that are no names of rows."""
    return column > 0 and sum(row[column].number is not None for row in grid.rows) * 2 >= len(grid.rows)


def _rows(seen: Look) -> tuple[int, ...]:
    """The rows that are named, or all where none is; those of totals never."""
    rows = seen.grid.rows
    named = tuple(at for at in seen.rows if not _TOTAL.fullmatch(rows[at][0].text))
    return named or tuple(at for at, row in enumerate(rows) if not _TOTAL.fullmatch(row[0].text))


def _series(seen: Look, column: int, rows: Sequence[int]) -> Series | None:
    """The numbers of a column; None where one of them is something else, or of another unit than the others."""
    grid = seen.grid
    filled = [at for at in rows if grid.rows[at][column].text not in ("", "-", "–", "—")]
    cells = tuple(grid.rows[at][column] for at in filled)
    units = [grid.unit(grid.header[column].text, grid.rows[at][0].text) for at in filled]
    if not cells or any(cell.number is None for cell in cells) or len(set(units)) > 1:
        return None
    return Series(tuple(_name(grid, at) for at in filled), cells, *units[0])


def _name(grid: Grid, row: int) -> str:
    """The name of a row; behind a number or code what it stands for."""
    key = grid.rows[row][0].text
    if grid.turned or is_period(key) or not re.search(r"\d", key):
        return key
    for column in range(1, len(grid.header)):
        texts = [other[column].text for other in grid.rows]
        if len(set(texts)) == len(texts) and all(re.search(r"[^\W\d_]{3}", text) for text in texts):
            return f"{key}, {texts[row]}"
    return key


def written(value: Decimal, *, grouped: bool = False) -> str:
    """A number without an exponent; with commas where the table has them."""
    return f"{value:,f}" if grouped else f"{value:f}"


def _mean(series: Series) -> Decimal:
    """The average, with one place more than the numbers have."""
    exponents = [value.as_tuple().exponent for value in series.values]
    places = 1 + max(-exponent for exponent in exponents if isinstance(exponent, int))
    mean = sum(series.values, Decimal(0)) / len(series.cells)
    return mean if mean == mean.to_integral() else mean.quantize(Decimal(1).scaleb(-places), ROUND_HALF_UP)
