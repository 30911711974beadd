from __future__ import annotations

from collections.abc import Sequence
from math import exp

import pytest

from thresher.judging.scorers import TrainedScorer
from thresher.types import COSINE, LOGIT, UNIT, Chunk, Hit, Query, Reading, Score

QUESTION = Query("When was the lighthouse built?", "When was the lighthouse built?")


class Fixed:
    """Gives every text the same logit."""

    name = "fixed"

    def __init__(self, logit: float) -> None:
        self._logit = logit
        self.texts: list[str] = []

    def read(self, question: str, texts: Sequence[str], titles: Sequence[str] | None = None) -> list[Reading]:
        self.texts += texts
        return [Reading(self._logit, 0.0, 0, 0, 0.0) for _ in texts]


def hit(text: str) -> Hit:
    return Hit(Chunk("c", "d", "d.txt", "", 0, len(text), text), Score(0.5, COSINE), 1)


def test_the_score_is_the_logistic_of_the_logit() -> None:
    hits = [hit("The lighthouse was built in 1531."), hit("Cheese ripens in a cellar for a year.")]
    scored = TrainedScorer(Fixed(2.0))(QUESTION, hits)
    for score, others in zip(scored.scores, scored.others, strict=True):
        assert score == Score(pytest.approx(1 / (1 + exp(-(0.482 * 2.0 - 0.911)))), UNIT)
        assert others == {"answers": Score(2.0, LOGIT)}


def test_a_higher_logit_is_a_higher_score() -> None:
    hits = [hit("The lighthouse was built in 1531.")]
    low, high = (TrainedScorer(Fixed(logit))(QUESTION, hits).scores[0] for logit in (-3.0, 3.0))
    assert low is not None
    assert high is not None
    assert low.value < high.value


def test_every_hit_is_read() -> None:
    reader = Fixed(4.0)
    TrainedScorer(reader)(QUESTION, [hit(f"The lighthouse was built in {year}.") for year in range(1530, 1545)])
    assert len(reader.texts) == 15


def test_nothing_to_judge_gives_no_scores() -> None:
    assert TrainedScorer(Fixed(0.0))(QUESTION, []).scores == ()
