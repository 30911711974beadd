"""Recommends a recipe from the outcomes of the same questions, and says what so few questions cannot show."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass

import numpy as np
from scipy import stats  # type: ignore[import-untyped, unused-ignore]

from thresher_evals.metrics.answers import Outcome, outcome
from thresher_evals.rows import Row
from thresher_evals.stats import ALPHA, Comparison, corrected, shared_difference

WRONG_COSTS = 1.0
"""Default number of right answers that a wrong one cancels. With 0 a recipe that always answers cannot lose; Yang et
al. 2024 (CRAG, section 3.2) score +1, 0 and -1 too."""

POWER = 0.8  # customary (Cohen 1988): a real difference is found four times in five

Values = Mapping[str, float]
"""Question id to the value of its outcome."""


def value(came: Outcome, wrong_costs: float = WRONG_COSTS) -> float:
    """Right or uncheckable +1, wrong `-wrong_costs`, no answer and failures 0."""
    match came:
        case Outcome.RIGHT | Outcome.UNCHECKED:
            return 1.0
        case Outcome.WRONG | Outcome.UNREADABLE:
            return -wrong_costs
        case _:
            return 0.0


def values_of(rows: Sequence[Row], wrong_costs: float = WRONG_COSTS) -> dict[str, float]:
    """The value of each question."""
    return {row.question.id: value(outcome(row), wrong_costs) for row in rows}


# --- differences ------------------------------------------------------------------------------------------------------


def compare_all(values: Mapping[str, Values], baseline: str, *, seed: int = 0) -> dict[str, Comparison]:
    """Every other recipe against the baseline on their shared questions; p is corrected for multiple comparisons."""
    others = [recipe for recipe in values if recipe != baseline]
    found = corrected([shared_difference(values[baseline], values[other], seed=seed) for other in others])
    return dict(zip(others, found, strict=True))


def detectable(differences: Sequence[float], comparisons: int = 1) -> float:
    """The smallest mean difference, in value per question, that so many questions show four times in five.

    From the spread of the differences (Cohen 1988, section 2.3.4), but at least the smallest share of questions that
    must change the same way to differ from chance: six questions, more with several recipes. Above 1, no difference can
    be shown.
    """
    n = max(1, len(differences))
    level = ALPHA / comparisons
    fewest = math.ceil(math.log2(2 / level))
    deviations = stats.norm.ppf(1 - level / 2) + stats.norm.ppf(POWER)
    spread = float(np.std(differences, ddof=1)) if n > 1 else 0.0
    return max(fewest / n, float(deviations) * spread / math.sqrt(n))


# --- the rule ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Recommendation:
    """A recipe, the reason, and whether the data settle it."""

    recipe: str
    why: str
    certain: bool

    def to_dict(self) -> dict[str, object]:
        """JSON form."""
        return asdict(self)


def recommend(
    values: Mapping[str, Values], baseline: str, corrects: Mapping[str, bool], *, seed: int = 0
) -> Recommendation:
    """The recipe by the rule of docs/comparing.md; `corrects` says which recipes correct."""
    against = compare_all(values, baseline, seed=seed)
    winners = [recipe for recipe, compared in against.items() if compared.direction > 0]
    if not winners:
        return keep(against, baseline, corrects)
    best = max(winners, key=lambda recipe: against[recipe].difference or 0.0)
    gain = against[best]
    why = f"{best} is better than {baseline}: {gain.better} questions came out better and {gain.worse} worse"
    if not corrects[best]:
        rivals = [winner for winner in winners if corrects[winner]]
        words = f"; correction gains nothing beyond it that these questions show ({', '.join(rivals)} did no better)"
        return Recommendation(best, why + (words if rivals else ", and no recipe that corrects is"), not rivals)
    plain = {name: found for name, found in values.items() if not corrects[name] and name != baseline}
    unbeaten = [
        name
        for name, compared in compare_all({best: values[best], **plain}, best, seed=seed).items()
        if compared.direction >= 0
    ]
    if unbeaten:
        words = f"; but that it is better than {', '.join(unbeaten)}, which does not correct, cannot be told from them"
        return Recommendation(best, why + words, False)
    return Recommendation(best, why, True)


def keep(against: Mapping[str, Comparison], baseline: str, corrects: Mapping[str, bool]) -> Recommendation:
    """The baseline, since no recipe is better; certain if every correcting one is worse."""
    correcting = {recipe: compared for recipe, compared in against.items() if corrects[recipe]}
    if correcting and all(compared.direction < 0 for compared in correcting.values()):
        words = ", ".join(f"{name} ({one.better} better, {one.worse} worse)" for name, one in correcting.items())
        return Recommendation(baseline, f"correction makes answers worse on these questions: {words}", True)
    if not against:
        return Recommendation(baseline, "nothing else was asked", False)
    best = max(against, key=lambda recipe: against[recipe].difference or 0.0)
    compared = against[best]
    words = (
        f"nothing is shown to be better than {baseline}: the nearest is {best}, with which {compared.better} questions"
    )
    return Recommendation(baseline, f"{words} came out better and {compared.worse} worse", False)
