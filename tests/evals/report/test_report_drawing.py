"""What is drawn: measured bars are filled and have intervals, claimed ones are hollow and have none."""

from __future__ import annotations

import pytest
from matplotlib.colors import to_rgba
from matplotlib.figure import Figure as Canvas
from matplotlib.patches import Rectangle

from thresher_evals.report.blocks import Figure, Measured, number
from thresher_evals.report.cost import power
from thresher_evals.report.plots import bars, render, standing_alone

CLEAR = to_rgba("none")


def drawn() -> list[Rectangle]:
    axes = Canvas().add_subplot()
    bars(axes, [("crag", {"match": Measured(0.6, 0.5, 0.7, 20)})], ["match"], claimed=[("CRAG", {"match": 0.549})])
    return [patch for patch in axes.patches if isinstance(patch, Rectangle)]


def test_a_measured_bar_is_filled_and_a_claimed_one_is_not() -> None:
    measured, claimed = drawn()
    assert measured.get_facecolor() != CLEAR
    assert claimed.get_facecolor() == CLEAR
    assert claimed.get_linestyle() == "--"
    assert (measured.get_width(), claimed.get_width()) == (0.6, 0.549)


def test_a_measured_bar_has_its_interval() -> None:
    axes = Canvas().add_subplot()
    bars(axes, [("crag", {"match": Measured(0.6, 0.5, 0.7, 20)})], ["match"])
    (segments,) = axes.collections
    ((start, end),) = segments.get_segments()  # type: ignore[attr-defined]
    assert (start[0], end[0]) == pytest.approx((0.5, 0.7))


def test_names_are_data_and_no_formulas_or_markup() -> None:
    figure = Figure("a", "a", lambda axes: axes.set_xlabel("$x$ <b> & 日本"), n=4)
    element = render(figure)
    assert "$x$ &lt;b&gt; &amp; 日本" in element
    assert "n = 4: too few to conclude from" in element


def test_thirty_questions_are_printed_without_the_warning() -> None:
    element = render(Figure("a", "a", lambda axes: None, n=30))
    assert "n = 30<" in element
    assert "too few" not in element


def test_a_drawing_has_the_colours_of_its_page_and_is_dark_on_white_alone() -> None:
    element = render(Figure("a", "a", lambda axes: None, n=30))
    assert "currentColor" in element
    assert "background" not in element
    assert 'style="background:#fff;color:#1c2128"' in standing_alone(element)


def test_powers_raise_the_ends_of_the_interval() -> None:
    assert power(Measured(0.5, 0.4, 0.6, 7), 3) == Measured(0.5**3, 0.4**3, 0.6**3, 7)


@pytest.mark.parametrize(("value", "shown"), [(0.59333, "0.593"), (1.0, "1"), (1411.4, "1411"), (-1224.0, "-1224")])
def test_numbers_have_three_digits(value: float, shown: str) -> None:
    assert number(value) == shown


def test_a_missing_number_is_a_dash() -> None:
    assert str(Measured(None)) == "–"
    assert str(Measured(0.5, 0.4, 0.6, 7, best=True)) == "0.5 ★ [0.4, 0.6] n=7"
