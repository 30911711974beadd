"""Content of a page, for both templates: sections with words, tables, figures and questions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(frozen=True, slots=True)
class Number:
    """A number with its 95 % interval, p, and n if it differs from the table's."""

    value: float
    low: float | None = None
    high: float | None = None
    n: int | None = None
    p: float | None = None
    signed: bool = False
    """Whether it is a difference."""
    mark: bool = False
    """Whether it is significant: better than every other number, or a difference beyond chance."""
    claimed: bool = False
    """Whether it is a published number."""

    @property
    def shown(self) -> str:
        """The number without details."""
        return shown(self.value, signed=self.signed)

    @property
    def details(self) -> list[str]:
        """`[0.533, 0.653]`, `p < 0.001` and `n = 141`, if known."""
        bounds = [shown(end, signed=self.signed) for end in (self.low, self.high) if end is not None]
        details = [f"[{', '.join(bounds)}]"] if bounds else []
        details += [] if self.p is None else [f"p {probability(self.p)}"]
        return details if self.n is None else [*details, f"n = {self.n}"]

    def __str__(self) -> str:
        """The number with its details, and a star if it is significant."""
        return " ".join([self.shown, *["★"] * self.mark, *self.details])


def shown(value: float, *, signed: bool = False) -> str:
    """Three significant digits, at most three decimals, no powers of ten."""
    digits = 0 if abs(value) >= 100 else 1 if abs(value) >= 10 else 2 if abs(value) >= 1 else 3
    text = f"{value:{'+' if signed else ''}.{digits}f}"
    text = text.rstrip("0").rstrip(".") if "." in text else text
    return "0" if text in ("-0", "+0", "0") else text.replace("-", "−") if signed else text


def probability(p: float) -> str:
    """A p value in words."""
    return "< 0.001" if p < 0.001 else f"= {p:.2g}"


@dataclass(frozen=True, slots=True)
class Link:
    """A link to the page of that title."""

    text: str
    page: str


Cell = str | int | float | Number | Link | None
"""Content of a table cell; None is shown as a dash."""


@dataclass(frozen=True, slots=True)
class Figure:
    """A drawing: `draw` fills the given axes."""

    name: str
    """Unique on a page."""
    title: str
    draw: Callable[[Axes], None]
    n: int | None = None
    """Number of questions, the smallest if they differ; printed in the figure."""
    note: str = ""
    legend: Sequence[tuple[str, str]] = ()
    """Short names in the drawing, with the long ones."""


@dataclass(frozen=True, slots=True)
class Table:
    """Rows under columns; `note` explains n and the numbers."""

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[Cell]]
    note: str = ""
    figures: Sequence[Figure] = ()
    """The same numbers as drawings."""


@dataclass(frozen=True, slots=True)
class Example:
    """A question, the answer of each recipe, and where to look further."""

    title: str
    facts: Sequence[tuple[str, str]]
    rows: Path
    """The file with its row."""
    id: str
    """Id of the question in that file."""
    commands: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class Section:
    """A run or study: words, tables, figures, questions, and details to unfold."""

    title: str
    text: Sequence[str] = ()
    tables: Sequence[Table] = ()
    examples: Sequence[Example] = ()
    details: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class Page:
    """The page of one dataset or study."""

    title: str
    sections: Sequence[Section]
    key: str
    """Text of links to it."""
