"""Agreement of raters, against published and hand-worked examples."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from thresher_evals.judges.human import krippendorff_alpha, weighted_kappa

OBSERVERS = (
    (1, 2, 3, 3, 2, 1, 4, 1, 2, None, None, None),
    (1, 2, 3, 3, 2, 2, 4, 1, 2, 5, None, 3),
    (None, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, None),
    (1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, None),
)
"""Krippendorff 2011, "Computing Krippendorff's Alpha-Reliability", section E: four observers, twelve units."""


def test_alpha_of_four_observers_is_what_krippendorff_prints() -> None:
    units = [[rating for rating in unit if rating is not None] for unit in zip(*OBSERVERS, strict=True)]
    assert krippendorff_alpha(units, "interval") == pytest.approx(0.849, abs=0.0005)
    assert krippendorff_alpha(units, "ordinal") == pytest.approx(0.815, abs=0.0005)


def test_quadratic_kappa_by_hand() -> None:
    # Disagreements: observed (0 + 1 + 0 + 4) / 4 = 1.25; expected over all 16 pairs of (1, 2, 3, 5) and (1, 3, 3, 3):
    # (0+4+4+4 + 1+1+1+1 + 4+0+0+0 + 16+4+4+4) / 16 = 3.
    assert weighted_kappa([1, 2, 3, 5], [1, 3, 3, 3]) == pytest.approx(1 - 1.25 / 3)


@pytest.mark.parametrize("units", [[], [[3]], [[4, 4], [4, 4, 4]]])
def test_alpha_says_nothing_where_nothing_can_differ(units: list[list[int]]) -> None:
    assert krippendorff_alpha(units) is None


@pytest.mark.parametrize(("first", "second"), [([], []), ([4, 4], [4, 4])])
def test_kappa_says_nothing_where_nothing_can_differ(first: list[int], second: list[int]) -> None:
    assert weighted_kappa(first, second) is None


ratings = st.integers(1, 5)


@given(
    st.lists(ratings, min_size=2).filter(lambda values: len(set(values)) > 1), st.sampled_from(["interval", "ordinal"])
)
def test_people_who_say_the_same_agree_fully(values: list[int], level: str) -> None:
    assert krippendorff_alpha([[one, one] for one in values], level) == pytest.approx(1)  # type: ignore[arg-type]
    assert weighted_kappa(values, values) == pytest.approx(1)


@given(st.lists(st.lists(ratings, min_size=1, max_size=4), max_size=8), st.sampled_from(["interval", "ordinal"]))
def test_alpha_is_at_most_one_and_does_not_know_who_said_what(units: list[list[int]], level: str) -> None:
    alpha = krippendorff_alpha(units, level)  # type: ignore[arg-type]
    turned = krippendorff_alpha([unit[::-1] for unit in units][::-1], level)  # type: ignore[arg-type]
    assert (alpha is None) == (turned is None)
    assert alpha is None or (alpha == pytest.approx(turned) and alpha <= 1 + 1e-12)
