"""CRAG's ablations: verdicts that are not acted on (arXiv:2401.15884v3, Tables 2 and 11)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from thresher.parts.judging import Bounds, KeepAll, ThreeWay, Threshold, ThresholdResult
from thresher.protocols import Decider, about
from thresher.types import Decision, Judgement, Query, Score, Verdict
from thresher_methods.settings import Actions

INSTEAD: Mapping[Actions, Mapping[Verdict, Verdict]] = {
    "all": {},
    "without-correct": {Verdict.CORRECT: Verdict.AMBIGUOUS},
    "without-incorrect": {Verdict.INCORRECT: Verdict.AMBIGUOUS},
    "without-ambiguous": {Verdict.AMBIGUOUS: Verdict.INCORRECT},
    "only-correct": dict.fromkeys(Verdict, Verdict.CORRECT),
    "only-incorrect": dict.fromkeys(Verdict, Verdict.INCORRECT),
    "only-ambiguous": dict.fromkeys(Verdict, Verdict.AMBIGUOUS),
}
"""Which verdict stands for another. A verdict that is taken away is ambiguous; without ambiguous the upper bound is the
single threshold (the paper does not print its value)."""


@dataclass(frozen=True, slots=True)
class RestrictedDecider:
    """A decider some of whose verdicts are not acted on: CRAG's ablations (arXiv:2401.15884v3, Tables 2 and 11)."""

    decide: Decider
    actions: Actions

    @property
    def about(self) -> str:
        """For people, in a few words."""
        return about(self.decide) if self.actions == "all" else f"{about(self.decide)}, actions {self.actions}"

    @property
    def bounded(self) -> ThreeWay | None:
        """The part that compares scores with two bounds, if there is one."""
        return getattr(self.decide, "bounded", None)

    def __call__(self, query: Query, judged: Sequence[Judgement]) -> Decision:
        """The verdict, or the one that stands for it, with the reason of the first."""
        decision = self.decide(query, judged)
        verdict = decision.verdict
        instead = verdict if verdict is None else INSTEAD[self.actions].get(verdict, verdict)
        if instead is verdict:
            return decision
        reason = f"{decision.reason}: {verdict}, taken as {instead} ({self.actions})"
        return replace(decision, verdict=instead, reason=reason)


def threshold(bounds: Bounds, actions: Actions) -> Threshold:
    """Keeps what is above the lower bound; where an incorrect retrieval is used all the same, all if nothing is."""
    incorrect = INSTEAD[actions].get(Verdict.INCORRECT, Verdict.INCORRECT)
    return bounds.threshold if incorrect is Verdict.INCORRECT else _OrAll(bounds.threshold)


@dataclass(frozen=True, slots=True)
class _OrAll:
    """The cut of another threshold, or everything where that leaves nothing."""

    threshold: Threshold

    def __call__(self, query: Query, scored: Sequence[Score | None]) -> ThresholdResult:
        cut = self.threshold(query, scored)
        return cut if any(cut.keep) else KeepAll()(query, scored)
