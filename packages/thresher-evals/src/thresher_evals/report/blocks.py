"""What a page is made of, for both templates: sections of words, tables, figures and questions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(frozen=True, slots=True)
class Number:
    """A number with what is known of it: its 95 % interval, p, and n where that is not the table's."""

    value: float
    low: float | None = None
    high: float | None = None
    n: int | None = None
    p: float | None = None
    signed: bool = False
    """Whether it is a difference."""
    mark: bool = False
    """Whether it stands out significantly: a number that is better than every other, a difference that is none by
    chance."""
    claimed: bool = False
    """Whether it was printed by somebody else."""

    @property
    def shown(self) -> str:
        """The number alone."""
        return shown(self.value, signed=self.signed)

    @property
    def details(self) -> list[str]:
        """`[0.533, 0.653]`, `p < 0.001` and `n = 141`, as far as they are known."""
        bounds = [shown(end, signed=self.signed) for end in (self.low, self.high) if end is not None]
        details = [f"[{', '.join(bounds)}]"] if bounds else []
        details += [] if self.p is None else [f"p {probability(self.p)}"]
        return details if self.n is None else [*details, f"n = {self.n}"]

    def __str__(self) -> str:
        """All of it, with a star where it stands out."""
        return " ".join([self.shown, *["★"] * self.mark, *self.details])


def shown(value: float, *, signed: bool = False) -> str:
    """Three significant digits and at most three decimals, and no powers of ten."""
    digits = 0 if abs(value) >= 100 else 1 if abs(value) >= 10 else 2 if abs(value) >= 1 else 3
    text = f"{value:{'+' if signed else ''}.{digits}f}"
    text = text.rstrip("0").rstrip(".") if "." in text else text
    return "0" if text in ("-0", "+0", "0") else text.replace("-", "−") if signed else text


def probability(p: float) -> str:
    """A p value in words."""
    return "< 0.001" if p < 0.001 else f"= {p:.2g}"


@dataclass(frozen=True, slots=True)
class Link:
    """Words that lead to the page of that title."""

    text: str
    page: str


Cell = str | int | float | Number | Link | None
"""What stands in a table; None is shown as a dash."""


@dataclass(frozen=True, slots=True)
class Figure:
    """A drawing: `draw` fills the axes it is given. Published numbers are drawn hollow, measured ones filled."""

    name: str
    """Unique on a page."""
    title: str
    draw: Callable[[Axes], None]
    n: int | None = None
    """Questions behind it, the fewest where they differ; printed in the figure."""
    note: str = ""
    legend: Sequence[tuple[str, str]] = ()
    """Names in the drawing that stand for longer ones, and those."""


@dataclass(frozen=True, slots=True)
class Table:
    """Rows under columns; `note` says what n is and what the numbers mean."""

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[Cell]]
    note: str = ""
    figures: Sequence[Figure] = ()
    """The same, drawn."""


@dataclass(frozen=True, slots=True)
class Example:
    """One question: what was asked, what each recipe said of it, and where to look further."""

    title: str
    facts: Sequence[tuple[str, str]]
    rows: Path
    """The file with its row."""
    id: str
    """Of the question, in that file."""
    commands: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class Section:
    """A run, or a study: words, tables, figures, questions, and small print to unfold."""

    title: str
    text: Sequence[str] = ()
    tables: Sequence[Table] = ()
    examples: Sequence[Example] = ()
    details: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class Page:
    """All there is of one dataset, or of one study."""

    title: str
    sections: Sequence[Section]
    key: str
    """What links to it say."""
