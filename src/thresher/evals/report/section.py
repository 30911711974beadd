"""What a report is made of, whoever measured it: sections of words, tables and figures."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Cell = str | int | float | None
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
    """Questions behind it; printed in the figure where it is below 30."""
    note: str = ""


@dataclass(frozen=True, slots=True)
class Section:
    """One part of a report, in the order: words, tables, figures."""

    title: str
    text: Sequence[str] = ()
    """Paragraphs."""
    tables: Sequence[Table] = ()
    figures: Sequence[Figure] = field(default=())
