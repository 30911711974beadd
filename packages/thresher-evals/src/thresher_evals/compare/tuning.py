"""Tunes `corrective`: bounds and a calibration, each checked on questions that were not used to choose it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Any

import numpy as np

from thresher.collection import Collection
from thresher.home.places import LocalFiles
from thresher.judging.calibration import LEAST_QUESTIONS, Calibrations
from thresher_evals.asker import CollectionAsker
from thresher_evals.compare.plan import Plan
from thresher_evals.compare.recommend import Recommendation, values_of
from thresher_evals.dataset import Question, sha1_number
from thresher_evals.rows import Row
from thresher_evals.stats import shared_difference

TUNED = "corrective"
"""The recipe whose bounds only decide; bounds of the published recipes also choose chunks and sentences."""

MIN_HALF = 20
"""Least questions in each half: below, one question moves the mean by 5 points or more."""

Say = Callable[[str], None]
Half = Sequence[Question]


def tuned(plan: Plan, asker: CollectionAsker, rows: Mapping[str, Sequence[Row]], say: Say) -> dict[str, Any]:
    """Effect of own bounds and an own calibration on `corrective`, checked on questions that were not used to choose
    them.

    Each is {"tried", "why"}, and if it was tried also "settings", "chosen_on", "checked_on", "check" and "adopt".
    """
    first, second = halves([row.question for row in rows.get(TUNED, ())])
    why = ""
    if not plan.tune:
        why = "it was not asked for"
    elif TUNED not in rows:
        why = f"{TUNED} is not among the recipes"
    elif all(asker.settings_of(TUNED)[f"llm.{key}"] for key in ("base_url", "model")):
        why = "a chat model is configured: its judgements depend on the bounds, so stored rows do not tell about others"
    elif min(len(first), len(second)) < MIN_HALF:
        why = f"half of {len(first) + len(second)} questions is too few: at least {MIN_HALF} are needed in each half"
    if why:
        return {"bounds": untried(why), "calibration": untried(why)}
    return {
        "bounds": chosen_bounds(plan, asker, rows[TUNED], first, second, say),
        "calibration": calibrated(plan, rows[TUNED], first, second, say),
    }


def halves(questions: Iterable[Question]) -> tuple[list[Question], list[Question]]:
    """The half to choose on and the half to check on, by sha1 of `compare:` and the question's group or id."""
    parts: tuple[list[Question], list[Question]] = ([], [])
    for question in questions:
        parts[sha1_number(f"compare:{question.group or question.id}") % 2].append(question)
    return parts


def untried(why: str) -> dict[str, Any]:
    """The result of a choice that was not tried."""
    return {"tried": False, "adopt": False, "why": why}


def checked(plan: Plan, usual: Sequence[Row], other: Sequence[Row], first: Half) -> dict[str, Any]:
    """The result of `other` against the recipe as it is, on the questions of `other`."""
    before, after = (values_of(rows, plan.wrong_costs) for rows in (usual, other))
    compared = shared_difference(before, after, seed=plan.seed)
    return {
        "tried": True,
        "chosen_on": len(first),
        "checked_on": compared.n,
        "check": compared.to_dict(),
        "certain": compared.direction > 0,
    }


def with_tuning(found: dict[str, Any], tuning: Mapping[str, Any]) -> dict[str, Any]:
    """The comparison with the tuned bounds if `corrective` is recommended and they are adopted."""
    found["tuning"] = dict(tuning)
    bounds, recommended = tuning["bounds"], found["recommend"]
    if recommended["recipe"] == TUNED and bounds["adopt"]:
        found["recommend"] = Recommendation(
            TUNED,
            f"{recommended['why']}; the bounds were chosen on {bounds['chosen_on']} questions, and {bounds['why']}",
            recommended["certain"] and bounds["certain"],
            bounds["settings"],
        ).to_dict()
    return found


# --- the calibration --------------------------------------------------------------------------------------------------


def calibrated(plan: Plan, rows: Sequence[Row], first: Half, second: Half, say: Say) -> dict[str, Any]:
    """The recipe calibrated on the first half; the collection's own calibration is neither used nor changed."""
    labelled = [(question.question, question.answerable) for question in first]
    fewest = min(sum(answerable == kind for _, answerable in labelled) for kind in (True, False))
    if fewest < LEAST_QUESTIONS:
        return untried(
            f"half of the questions has {fewest} of one kind: at least {LEAST_QUESTIONS} that can be answered and "
            f"{LEAST_QUESTIONS} that cannot are needed in it"
        )
    say(f"calibrating {TUNED} on {len(first)} of the questions, and checking it on the other {len(second)}")
    with Collection(plan.collection.home, plan.collection.name) as apart:
        apart.calibrations = Calibrations(LocalFiles(plan.out), "calibration.json")
        asker = plan.asker(apart)
        fitting = {key: given for key, given in (plan.settings or {}).items() if key in asker.settings_of(TUNED)}
        apart.calibrate(labelled, seed=plan.seed, settings=fitting)
        asked = plan.ask(asker, second, [TUNED], plan.out / "calibrated")[TUNED]
    found = checked(plan, rows, asked, first)
    adopt = found["check"]["difference"] is not None and found["check"]["difference"] > 0
    why = "on the half that it was not fitted on it did " + ("better" if adopt else "no better")
    return {**found, "adopt": adopt, "why": why}


# --- bounds: outcomes with other ones ---------------------------------------------------------------------------------

ABSTAIN = "answer.abstain_below"
"""The setting: least certainty of an answer."""

INSIDE, BOTH, ELSEWHERE = "inside", "both", "outside"

OPEN: Mapping[str, str] = {
    INSIDE: f"{TUNED}[lower=0,upper=0.000001,answer.abstain_below=0]",
    BOTH: f"{TUNED}[lower=0,upper=1,answer.abstain_below=0]",
    ELSEWHERE: f"{TUNED}[lower=0.999999,upper=1,answer.abstain_below=0]",
}
"""Variants whose verdict is always correct, always ambiguous or always incorrect, and that always answer."""

STEP = 0.05
"""Distance of the bounds that are tried: finer ones fit single questions."""


@dataclass(frozen=True, slots=True)
class Bounds:
    """Bounds of `corrective`; `upper` is None without an outside, where it decides nothing."""

    lower: float
    upper: float | None
    abstain_below: float

    @property
    def settings(self) -> dict[str, float]:
        """As settings of the recipe."""
        upper = {} if self.upper is None else {"upper": self.upper}
        return {"lower": self.lower, **upper, ABSTAIN: self.abstain_below}

    @property
    def variant(self) -> str:
        """The recipe with these bounds, by name."""
        return f"{TUNED}[{','.join(f'{name}={number:g}' for name, number in self.settings.items())}]"

    def distance(self, other: Bounds) -> float:
        """Sum of the absolute differences of the bounds."""
        return sum(abs(mine - other.settings[name]) for name, mine in self.settings.items())


def chosen_bounds(
    plan: Plan, asker: CollectionAsker, rows: Sequence[Row], first: Half, second: Half, say: Say
) -> dict[str, Any]:
    """Bounds chosen on rows of the first half in which nothing was withheld, then asked on the second half."""
    outside = plan.outside != "none"
    usual = usual_bounds(rows, asker.settings_of(TUNED)[ABSTAIN], outside=outside)
    if usual is None:
        return untried("the rows do not tell the bounds they were decided with")
    say(f"looking for bounds of {TUNED} on {len(first)} of the questions, asked with nothing withheld")
    alone = replace(plan, outside="none")  # no second opinion either
    opened = alone.ask(alone.asker(), first, [OPEN[INSIDE]], plan.out / "open")
    if outside:
        opened |= plan.ask(asker, first, [OPEN[BOTH], OPEN[ELSEWHERE]], plan.out / "open-outside")
    parts = {part: opened[variant] for part, variant in OPEN.items() if variant in opened}
    bounds, gain = Replay(parts, plan.wrong_costs).best(usual)
    if gain <= 0:
        return {**untried("no other bounds would have done better than the usual ones"), "tried": True}
    say(f"checking {bounds.variant} on the other {len(second)}")
    asked = plan.ask(asker, second, [bounds.variant], plan.out / "chosen")[bounds.variant]
    found = checked(plan, rows, asked, first)
    adopt = found["check"]["difference"] is not None and found["check"]["difference"] >= 0
    did = "not do worse" if adopt else "worse than the usual ones"
    return {
        **found,
        "adopt": adopt,
        "settings": bounds.settings,
        "usual": usual.settings,
        "gain": gain,
        "why": f"on the half that they were not chosen on they did {did}",
    }


def usual_bounds(rows: Sequence[Row], abstain_below: float, *, outside: bool) -> Bounds | None:
    """The bounds that stored rows were decided with; None if no row has them."""
    for row in rows:
        lower, upper = number(row, "decide", "lower", -1.0), number(row, "decide", "upper", -1.0)
        if min(lower, upper) >= 0:
            return Bounds(lower, upper if outside else None, abstain_below)
    return None


def number(row: Row, step: str, name: str, otherwise: float) -> float:
    """A number in a step of the answer, or `otherwise`."""
    found = None if row.reply is None else row.reply.told(step, name)
    return otherwise if found is None else float(found)


class Replay:
    """The values of stored rows under any bounds; arrays are (n,), one entry for each question.

    `opened` has the rows of `INSIDE` and, with an outside, of `BOTH` and `ELSEWHERE`, on the same questions.
    """

    def __init__(self, opened: Mapping[str, Sequence[Row]], wrong_costs: float) -> None:
        rows = {part: {row.question.id: row for row in found} for part, found in opened.items()}
        shared = [id for id in rows[INSIDE] if all(id in found for found in rows.values())]
        values = {part: values_of(found, wrong_costs) for part, found in opened.items()}
        self._best = np.array([number(rows[INSIDE][id], "decide", "best", 0.0) for id in shared])
        self._values = {part: np.array([of_part[id] for id in shared]) for part, of_part in values.items()}
        # An answer without a certainty is never withheld.
        self._certainty = {
            part: np.array([number(found[id], "generate", "certainty", 1.0) for id in shared])
            for part, found in rows.items()
        }

    def mean(self, bounds: Bounds) -> float:
        """Mean value with these bounds; a withheld answer counts 0."""
        gated = {
            part: np.where(self._certainty[part] >= bounds.abstain_below, values, 0.0)
            for part, values in self._values.items()
        }
        low = self._best < bounds.lower
        if bounds.upper is None:
            return float(np.where(low, 0.0, gated[INSIDE]).mean())
        high = self._best >= bounds.upper
        return float(np.where(low, gated[ELSEWHERE], np.where(high, gated[INSIDE], gated[BOTH])).mean())

    def best(self, usual: Bounds) -> tuple[Bounds, float]:
        """The bounds of the highest mean value, of ties the nearest to the `usual` bounds, and the gain over these."""
        grid = [round(STEP * step, 2) for step in range(round(1 / STEP))]
        uppers: list[float | None] = [None] if usual.upper is None else [*grid[1:], 1.0]
        tried = [
            Bounds(lower, upper, certainty)
            for lower, upper, certainty in product(grid, uppers, grid)
            if upper is None or lower <= upper
        ]
        best = max((usual, *tried), key=lambda bounds: (round(self.mean(bounds), 9), -bounds.distance(usual)))
        return best, self.mean(best) - self.mean(usual)
