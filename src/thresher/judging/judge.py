"""A scorer and a threshold: what most recipes put in the judge slot.

A threshold says which scores are enough. Hits without a score are never kept by it: what becomes of them is the judge's
policy.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import inf, log
from typing import ClassVar

from thresher.protocols import Judge, Scorer, about
from thresher.question.intent import enough_for
from thresher.types import (
    NO_NOTES,
    Hit,
    Judged,
    Judgement,
    Notes,
    Query,
    Scale,
    Score,
    Scores,
    log_odds,
    logistic,
    ranked_judgements,
)

DIGITS = 12
"""What is computed from scores is rounded to this many before it is compared: the variance of 0.4 and 0.6 is 0.01, and
the mean of three times 0.7 is 0.7, not the binary number just below."""


@dataclass(frozen=True, slots=True)
class ThresholdResult:
    """Which hits stay, and the value that decided; None where nothing was compared."""

    value: float | None
    keep: tuple[bool, ...]
    notes: Notes = NO_NOTES
    inclusive: bool = True
    """Whether a score that equals the value stays."""

    def compared(self, keep: bool) -> str:
        """How a score compares with the value, for people; empty where nothing was compared."""
        sign = (">=" if keep else "<") if self.inclusive else (">" if keep else "<=")
        return "" if self.value is None else f" {sign} {self.value:.3g}"


Threshold = Callable[[Query, Sequence[Score | None]], ThresholdResult]
"""Which of the scores are enough; None never is."""


@dataclass(frozen=True, slots=True)
class KeepAll:
    """Every score is enough."""

    about: ClassVar[str] = "none"

    def __call__(self, query: Query, scored: Sequence[Score | None]) -> ThresholdResult:
        """All that have a score."""
        return ThresholdResult(None, tuple(score is not None for score in scored))


@dataclass(frozen=True, slots=True)
class Fixed:
    """The same value for every query; `inclusive=False` keeps what is strictly above."""

    value: float
    inclusive: bool = True

    @property
    def about(self) -> str:
        """For people, in a few words."""
        return f"{self.value:g}" if self.inclusive else f"above {self.value:g}"

    def __call__(self, query: Query, scored: Sequence[Score | None]) -> ThresholdResult:
        """All that reach the value."""
        return cut(scored, self.value, inclusive=self.inclusive)


def cut(
    scored: Sequence[Score | None], value: float, *, inclusive: bool = True, notes: Notes = NO_NOTES
) -> ThresholdResult:
    """All scores that reach a value, or are above it."""
    keep = tuple(
        score is not None and (score.value > value or (inclusive and score.value == value)) for score in scored
    )
    return ThresholdResult(value, keep, notes, inclusive)


def value_of(score: Score | None) -> float:
    """The value of a score, to order by; no score is below every other."""
    return float("-inf") if score is None else score.value


def parts_of(scored: Scores) -> Sequence[Mapping[str, Score]]:
    """What each score is made of; nothing where the scorer does not say."""
    return scored.others or ({},) * len(scored.scores)


# --- judges -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class ScoringJudge:
    """Keeps the hits whose score is enough; a chunk whose score could not be read is kept, and counted.

    Where the scorer failed, `otherwise` scores; without it the chunk is kept.
    """

    scorer: Scorer
    threshold: Threshold
    name: str = "judge"
    order: bool = True
    """Kept hits by their score, best first, which becomes the score they are ranked by; otherwise as they came."""
    otherwise: Scorer | None = None

    @property
    def floor(self) -> float | None:
        """The score below which its threshold keeps nothing, for a threshold that has a `floor`."""
        return getattr(self.threshold, "floor", None)

    @property
    def about(self) -> str:
        """For people, in a few words."""
        return f"{about(self.scorer)}, threshold {about(self.threshold)}"

    def __call__(self, query: Query, hits: Sequence[Hit]) -> Judged:
        """Kept hits first, then the others, each with its score and the reason."""
        if not hits:
            return Judged(())
        first = self.scorer(query, hits)
        scores, names = list(first.scores), [self.scorer.name] * len(hits)
        notes, left = first.notes, first.missing
        if left and self.otherwise is not None:
            second = self.otherwise(query, [hits[at] for at in left])
            for at, score in zip(left, second.scores, strict=True):
                scores[at], names[at] = score, self.otherwise.name
            helped = len(left) - second.scores.count(None)
            lack = f"judge: {self.otherwise.name} scored {helped} of these chunks instead"
            notes += second.notes.without_facts + Notes((lack,))
        cut = self.threshold(query, scores)
        judged: list[Judgement] = []
        for at, (hit, parts) in enumerate(zip(hits, parts_of(first), strict=True)):
            score, keep, given = scores[at], cut.keep[at], {**hit.scores, **parts}
            if score is None:
                why = "not scored, kept" if at in left else "unreadable, kept"
                judged.append(Judgement(replace(hit, scores=given), keep=True, reason=why))
                continue
            found = replace(hit, scores={**given, names[at]: score}, score=score if self.order else hit.score)
            judged.append(Judgement(found, keep, f"{names[at]} {score.value:.3g}{cut.compared(keep)}", score))
        judged.sort(key=lambda one: (not one.keep, -value_of(one.score) if self.order else 0.0))
        facts = {
            "threshold": cut.value,
            "unreadable": (notes + cut.notes).unreadable,  # stated also if there was none
            "unscored": scores.count(None),
        }
        notes = Notes(facts={"scorer": self.scorer.name}) + notes + cut.notes + Notes(facts=facts)
        return Judged(tuple(ranked_judgements(judged)) if self.order else tuple(judged), notes)


JOINED = Scale("judge and rank", 0.0, 1.0)
ORDER = "order"
"""Name of the score that a hit is ordered by, inside and outside alike."""
RETRIEVED = Scale("rank of retrieval", 1.0, inf)

LEAST_PROBABILITY = 1e-4
"""A probability nearer to 0 or 1 is taken for it, so that its log odds are bounded."""


@dataclass(frozen=True, slots=True)
class RankedJudge:
    """Orders what `judge` keeps by its log odds less `weight` times the logarithm of the rank. Not published.

    `judge` scores from 0 to 1 and leaves the order alone. Only the best `most` are judged, for speed; the others
    follow, kept. `stages` are numbers of hits, each with a probability: so many are judged, and those behind them only
    where none so far has the probability. More results than the last stage has, and a question of two parts, are judged
    without stages.
    """

    judge: Judge
    weight: float
    most: int
    stages: Sequence[tuple[int, float]] = ()
    added: tuple[str, float] = ("", 0.0)
    """A score of a hit, and the log odds that are added for each of its units."""

    @property
    def about(self) -> str:
        """For people, in a few words."""
        return f"{about(self.judge)}; ordered by log odds - {self.weight:g} log(rank)"

    def __call__(self, query: Query, hits: Sequence[Hit]) -> Judged:
        """Kept hits by both, best first, then those that were not judged, then the dropped ones."""
        judged, at = Judged(()), 0
        for upto, enough in (*enough_for(query, self.stages), (self.most, 0.0)):
            more = self.judge(query, hits[at:upto])
            judged = Judged((*judged.judgements, *more.judgements), judged.notes + more.notes)
            at = upto
            if any(one.keep and value_of(one.score) >= enough for one in judged.judgements):
                break
        kept = self._kept(judged, hits)
        follow = [Judgement(hit, keep=True, reason=f"not judged: behind the best {at}") for hit in hits[at:]]
        dropped = [one for one in judged.judgements if not one.keep]
        return Judged(ranked_judgements((*kept, *follow, *dropped)), judged.notes)

    def _kept(self, judged: Judged, hits: Sequence[Hit]) -> list[Judgement]:
        """What was kept, by both, best first."""
        rank = {hit.chunk.id: at for at, hit in enumerate(hits, start=1)}
        kept = [self._joined(one, rank[one.hit.chunk.id]) for one in judged.judgements if one.keep]
        return sorted(kept, key=lambda one: -one.hit.score.value)

    def _joined(self, judgement: Judgement, rank: int) -> Judgement:
        """With the score it is ranked by; a hit that could not be judged is as good as not."""
        value = 0.5 if judgement.score is None else judgement.score.value
        odds, (name, each) = log_odds(value, LEAST_PROBABILITY) - self.weight * log(rank), self.added
        if (other := judgement.hit.scores.get(name)) is not None:
            odds += each * other.value
        score = Score(logistic(odds), JOINED)
        scores = {**judgement.hit.scores, "rank": Score(float(rank), RETRIEVED), ORDER: score}
        return replace(judgement, hit=replace(judgement.hit, score=score, scores=scores))
