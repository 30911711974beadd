"""Numbers as they stand in the tables of studies: the value and its 95 % interval."""

from __future__ import annotations

from collections.abc import Sequence

from thresher.evals.statistics import Comparison, Interval, mean_interval, paired_difference

INTERVALS = "Intervals are 95 %, bootstrap over the questions (10,000 resamples)."


def shown(interval: Interval, digits: int = 3) -> str | None:
    """`0.42 [0.31, 0.52]`; None where nothing can be said."""
    if interval.value is None or interval.low is None or interval.high is None:
        return None
    return f"{interval.value:.{digits}f} [{interval.low:.{digits}f}, {interval.high:.{digits}f}]"


def mean_of(values: Sequence[float | None], seed: int) -> Interval:
    """Mean of the values that are there."""
    return mean_interval([value for value in values if value is not None], seed=seed)


def difference_of(first: Sequence[float | None], second: Sequence[float | None], seed: int) -> Comparison:
    """Second minus first, over the questions that have both."""
    pairs = [(one, other) for one, other in zip(first, second, strict=True) if one is not None and other is not None]
    return paired_difference([one for one, _ in pairs], [other for _, other in pairs], seed=seed)


def shown_difference(compared: Comparison, digits: int = 3) -> str | None:
    """`+0.10 [+0.02, +0.18], p = 0.01`; None where nothing was compared."""
    if compared.difference is None or compared.low is None or compared.high is None or compared.p is None:
        return None
    bounds = f"[{compared.low:+.{digits}f}, {compared.high:+.{digits}f}]"
    return f"{compared.difference:+.{digits}f} {bounds}, p = {compared.p:.2g}"


def mean(values: Sequence[float]) -> float | None:
    """Mean, or None of nothing."""
    return sum(values) / len(values) if values else None
