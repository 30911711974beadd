"""The verdict on judged hits, decided in the way of each family of recipes.

An empty retrieval is always incorrect (Z6 in docs/methods.md).
Where scores decide, a hit without one does not count; if no hit has one, the verdict is ambiguous.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from thresher.errors import UsageError
from thresher.judging.judge import Fixed
from thresher.types import UNIT, Decision, Judgement, Notes, Query, Scale, Score, Verdict

ABSOLUTE = "absolute confidence"
"""Name in `hit.scores` of a score that is compared with bounds in place of the judge's; the page shows it."""

Operators = Literal["blog", "paper", "code"]


@dataclass(frozen=True, slots=True)
class Bounds:
    """A lower and an upper bound on a scale, and how a score is compared with them."""

    lower: float
    upper: float
    operators: Operators = "blog"
    scale: Scale = UNIT

    def __post_init__(self) -> None:
        if not self.scale.low <= self.lower < self.upper <= self.scale.high:
            subject = f"bounds lower {self.lower:g} and upper {self.upper:g}"
            next_step = "give a lower bound below the upper one, both on the scale"
            raise UsageError(f"are not in order on the scale {self.scale}", subject=subject, next_step=next_step)

    def verdict(self, scores: Sequence[Score]) -> Verdict:
        """Correct if a score is above the upper bound, ambiguous above the lower one (Z3), else incorrect."""
        if any(self.reaches(score) for score in scores):
            return Verdict.CORRECT
        if any(self.keeps(score) for score in scores):
            return Verdict.AMBIGUOUS
        return Verdict.INCORRECT

    def reaches(self, score: Score) -> bool:
        """Whether a score is above the upper bound (`code`: or equals it)."""
        value = self._value(score)
        return value >= self.upper if self.operators == "code" else value > self.upper

    def keeps(self, score: Score) -> bool:
        """Whether a chunk is good enough to be used: above the lower bound (`paper`, `code`: or equal to it)."""
        value = self._value(score)
        return value > self.lower if self.operators == "blog" else value >= self.lower

    @property
    def threshold(self) -> Fixed:
        """The same as `keeps`, for a judge."""
        return Fixed(self.lower, inclusive=self.operators != "blog")

    def _value(self, score: Score) -> float:
        if (score.scale.low, score.scale.high) != (self.scale.low, self.scale.high):
            raise UsageError(
                f"are on the scale {self.scale}, and the score is on {score.scale}",
                subject=f"bounds lower {self.lower:g} and upper {self.upper:g}",
                next_step="give bounds on the scale of the judge",
            )
        return score.value


NOTHING_RETRIEVED = Decision(Verdict.INCORRECT, reason="nothing was retrieved")


@dataclass(frozen=True, slots=True)
class ThreeWay:
    """Correct, ambiguous or incorrect by the best score (CRAG, section 4.3): the judge's, or another of each hit.

    ECRAG routes by the absolute confidence; its internal is correct, its external incorrect (X10).
    """

    bounds: Bounds
    by: str = ""
    """Name of the score in `hit.scores`; empty for the judge's."""

    @property
    def bounded(self) -> ThreeWay:
        """Itself; a decider around it shows it by the same name, so that its bounds can be learned."""
        return self

    @property
    def about(self) -> str:
        """For people, in a few words."""
        return f"{f'{self.by} ' if self.by else ''}{self.bounds.upper:g} / {self.bounds.lower:g}, three verdicts"

    def scores(self, judged: Sequence[Judgement]) -> list[Score]:
        """What the bounds are compared with."""
        found = (one.hit.scores.get(self.by) if self.by else one.score for one in judged)
        return [score for score in found if score is not None]

    def __call__(self, query: Query, judged: Sequence[Judgement]) -> Decision:
        """The verdict, and why in words."""
        bounds, name, scores = self.bounds, self.by or "relevance", self.scores(judged)
        if not scores:
            return _unscored(len(judged), name)
        best = max(scores, key=lambda score: score.value)
        verdict = bounds.verdict(scores)
        match verdict:
            case Verdict.CORRECT:
                why = f"reaches {bounds.upper:g}" if bounds.operators == "code" else f"is above {bounds.upper:g}"
            case Verdict.INCORRECT:
                why = f"is not above {bounds.lower:g}" if bounds.operators == "blog" else f"is below {bounds.lower:g}"
            case _:
                why = f"is between {bounds.lower:g} and {bounds.upper:g}"
        notes = _notes(best.value, bounds.lower, bounds.upper, unscored=len(judged) - len(scores))
        return Decision(verdict, reason=f"best {name} {best.value:.3g} {why}", notes=notes)


@dataclass(frozen=True, slots=True)
class Calibrated:
    """Our own: scores are probabilities that the evidence suffices. Correct from `upper` on, incorrect below `lower`.

    In between ambiguous, or unsure when the calibration found that the judge does not separate (`separated` is False).
    A question of one word is ambiguous at most.
    """

    lower: float
    upper: float
    separated: bool
    mapping: str = ""
    """Name of the calibration that the probabilities come from, for the trace."""
    calibrated: bool = True
    """Whether that calibration is for this judge and encoder; otherwise there is no confidence."""

    def __post_init__(self) -> None:
        if not 0 <= self.lower <= self.upper <= 1:
            subject = f"bounds lower {self.lower:g} and upper {self.upper:g}"
            next_step = "give 0 <= lower <= upper <= 1, or calibrate again"
            raise UsageError("are not probabilities in order", subject=subject, next_step=next_step)

    @property
    def about(self) -> str:
        """For people, in a few words."""
        return f"calibrated bounds {self.upper:.2g} / {self.lower:.2g}, with unsure"

    def __call__(self, query: Query, judged: Sequence[Judgement]) -> Decision:
        """The verdict, with the best probability as confidence where it is calibrated, and why in words."""
        scores = [judgement.score for judgement in judged if judgement.score is not None]
        if not scores:
            return _unscored(len(judged), "probability")
        best = max(score.value for score in scores)
        stated = f"best probability {best:.3g}"
        notes = _notes(best, self.lower, self.upper, unscored=len(judged) - len(scores))
        notes += Notes(facts={"mapping": self.mapping} if self.mapping else {})
        confidence = best if self.calibrated else None
        if best >= self.upper:
            reached = f"{stated} reaches {self.upper:.3g}"
            if len(query.question.split()) > 1:
                return Decision(Verdict.CORRECT, confidence, reached, notes)
            return Decision(Verdict.AMBIGUOUS, confidence, f"{reached}, and one word is no question", notes)
        if best < self.lower:
            return Decision(Verdict.INCORRECT, confidence, f"{stated} is below {self.lower:.3g}", notes)
        between = f"{stated} is between {self.lower:.3g} and {self.upper:.3g}"
        if self.separated:
            return Decision(Verdict.AMBIGUOUS, confidence, between, notes)
        return Decision(Verdict.UNSURE, confidence, f"{between}, and the judge does not separate there", notes)


def _unscored(hits: int, name: str) -> Decision:
    if not hits:
        return NOTHING_RETRIEVED
    reason = f"cannot tell: none of {hits} chunks has a {name}"
    return Decision(Verdict.AMBIGUOUS, None, reason, Notes(facts={"unscored": hits}))


def _notes(best: float, lower: float, upper: float, *, unscored: int) -> Notes:
    return Notes(facts={"best": best, "lower": lower, "upper": upper, "unscored": unscored})
