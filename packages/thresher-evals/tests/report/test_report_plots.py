"""Names in drawings are data, files are small, numbers are short."""

from __future__ import annotations

import pytest

from thresher_evals.report.blocks import Figure, Number, shown
from thresher_evals.report.plots import render, small


def test_names_are_data_and_no_formulas_or_markup() -> None:
    element = render(Figure("a", "a", lambda axes: axes.set_xlabel("$x$ <b> & 日本"), n=4))
    assert "$x$ &lt;b&gt; &amp; 日本" in element
    assert "n = 4: too few to conclude from" in element


def test_a_drawing_keeps_its_words_and_what_it_points_at() -> None:
    element = small(
        '<?xml?><svg width="9" viewBox="0 0 9 9"><!-- a --><g id="one"><path clip-path="url(#cut)" '
        'd="M 0.123456 10.98765 \nL 2 3 \nz\n" style="fill: #fff"/>\n </g>\n'
        '<text x="1.23456">a 1.23456</text><clipPath id="cut"/></svg>',
        "name",
    )
    assert element.endswith(
        '<g><path clip-path="url(#name-0)" d="M 0.1 11 L 2 3 z " style="fill: #fff"/></g>'
        '<text x="1.2">a 1.23456</text><clipPath id="name-0"/></svg>'
    )
    assert 'viewBox="0 0 9 9"' in element


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.59333, "0.593"),
        (1.0, "1"),
        (0.04, "0.04"),
        (12.345, "12.3"),
        (1411.4, "1411"),
        (-1224.0, "-1224"),
        (-0.0001, "0"),
    ],
)
def test_numbers_have_three_digits(value: float, text: str) -> None:
    assert shown(value) == text


def test_a_number_tells_what_is_known_of_it() -> None:
    assert str(Number(0.5, 0.4, 0.6, n=7, mark=True)) == "0.5 ★ [0.4, 0.6] n = 7"
    assert str(Number(-0.1, -0.2, 0.0, p=0.0001, signed=True)) == "−0.1 [−0.2, 0] p < 0.001"
    assert str(Number(0.549, claimed=True)) == "0.549"
