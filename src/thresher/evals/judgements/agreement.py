"""How far people who rated the same things agree, beyond what chance would make them."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Callable, Sequence
from itertools import permutations
from typing import Literal

from thresher.errors import MissingExtra

try:
    from sklearn.metrics import cohen_kappa_score  # type: ignore[import-untyped, unused-ignore]
except ModuleNotFoundError as error:
    if error.name != "sklearn":
        raise
    raise MissingExtra("scikit-learn", extra="evals") from error

Level = Literal["interval", "ordinal"]
"""Whether a step from 1 to 2 is as wide as one from 4 to 5, or the ranks alone count."""

GRADES = range(1, 6)
"""All that can be given: a weight depends on how far two grades are apart, also where those between were not given."""

Unit = Sequence[int]
"""The ratings that one thing got, of those who rated it."""


def weighted_kappa(first: Sequence[int], second: Sequence[int]) -> float | None:
    """Cohen's kappa with quadratic weights (Cohen 1968) of two people's ratings, 1 to 5, of the same things; at most 1.

    None where it is not defined: nothing was rated by both, or both gave one and the same rating throughout.
    """
    if not first or len({*first, *second}) == 1:
        return None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of divisions that the line above leaves out
        return float(cohen_kappa_score(first, second, labels=list(GRADES), weights="quadratic"))


def krippendorff_alpha(units: Sequence[Unit], level: Level = "interval") -> float | None:
    """1 - observed disagreement / expected disagreement (Krippendorff 2011); any number of people, gaps allowed.

    1 is full agreement, 0 what chance would give. None where it is not defined: nothing was rated twice, or every
    rating is the same.
    """
    pairable = [unit for unit in units if len(unit) > 1]
    coincidences: dict[tuple[int, int], float] = {}
    for unit in pairable:
        for pair in permutations(unit, 2):
            coincidences[pair] = coincidences.get(pair, 0.0) + 1 / (len(unit) - 1)
    totals = Counter(rating for unit in pairable for rating in unit)
    distance = distance_of(level, totals)
    n = totals.total()
    expected = sum(totals[one] * totals[other] * distance(one, other) for one in totals for other in totals)
    if not expected:
        return None
    observed = sum(share * distance(*pair) for pair, share in coincidences.items())
    return 1 - (n - 1) * observed / expected


def distance_of(level: Level, totals: Counter[int]) -> Callable[[int, int], float]:
    """The squared difference of two ratings.

    Of intervals it is that of the numbers; of ranks that of the ratings between the two, half of each end counted.
    """
    if level == "interval":
        return lambda one, other: float((one - other) ** 2)

    def between(one: int, other: int) -> float:
        low, high = sorted((one, other))
        inside = sum(count for rating, count in totals.items() if low <= rating <= high)
        return float((inside - (totals[low] + totals[high]) / 2) ** 2)

    return between
