"""What a report is made of, whoever measured it: sections of words, tables and figures."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(frozen=True, slots=True)
class Measured:
    """A number, its 95 % interval and the `n` questions behind it; all None where nothing could be measured."""

    value: float | None
    low: float | None = None
    high: float | None = None
    n: int | None = None
    best: bool = False
    """Better than every other of its table, where that is significant."""

    @classmethod
    def of(cls, told: Mapping[str, Any], *, best: bool = False) -> Measured:
        """The `{"value", "low", "high", "n"}` of `eval score`."""
        return cls(told["value"], told["low"], told["high"], told["n"], best)

    @property
    def interval(self) -> str:
        """`[low, high]`, or nothing."""
        return "" if self.low is None or self.high is None else f"[{number(self.low)}, {number(self.high)}]"

    @property
    def shown(self) -> str:
        """The number, with a star where it is the best."""
        return "–" if self.value is None else number(self.value) + (" ★" if self.best else "")

    def __str__(self) -> str:
        """`0.593 [0.533, 0.653] n=141`; a dash where there is no number."""
        if self.value is None:
            return "–"
        return " ".join(part for part in (self.shown, self.interval, "" if self.n is None else f"n={self.n}") if part)


def number(value: float) -> str:
    """Three significant digits, and no powers of ten for large numbers."""
    if abs(value) >= 1000:
        return f"{value:.0f}"
    return f"{value:.3g}"


Cell = str | int | float | Measured | None
"""What stands in a table; None is shown as a dash."""


@dataclass(frozen=True, slots=True)
class Table:
    """Rows under columns; `note` says what n is and what the intervals are."""

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[Cell]]
    note: str = ""


@dataclass(frozen=True, slots=True)
class Figure:
    """A drawing: `draw` fills the axes it is given. Published numbers are drawn hollow, measured ones filled."""

    name: str
    """A file name without its ending; unique in a report."""
    title: str
    draw: Callable[[Axes], None]
    n: int | None = None
    """Questions behind it, the fewest where they differ; printed in the figure."""
    note: str = ""
    legend: Sequence[tuple[str, str]] = ()
    """Names in the drawing that stand for longer ones, and those."""


@dataclass(frozen=True, slots=True)
class Folded:
    """One question of many, which a reader opens: what was asked and what each said."""

    title: str
    facts: Sequence[tuple[str, str]]
    """What it is, and the words."""
    commands: Sequence[str] = ()
    """Where to look further."""


@dataclass(frozen=True, slots=True)
class Section:
    """One part of a report, in the order: words, tables, figures, what can be opened."""

    title: str
    text: Sequence[str] = ()
    """Paragraphs."""
    tables: Sequence[Table] = ()
    figures: Sequence[Figure] = field(default=())
    folded: Sequence[Folded] = ()


@dataclass(frozen=True, slots=True)
class Part:
    """The sections of one folder."""

    title: str
    sections: Sequence[Section]
