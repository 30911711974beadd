from __future__ import annotations

from collections.abc import Sequence
from math import exp

import pytest

from thresher.judging.scorers import LocalRelevance, LocalScorer, TrainedScorer
from thresher.testing.fakes import HashEncoder
from thresher.text.sentences import sentence_spans
from thresher.text.terms import index_terms
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


def local() -> LocalScorer:
    return LocalScorer(
        LocalRelevance(HashEncoder(64), index_terms, lambda q: dict.fromkeys(index_terms(q), 1.0), sentence_spans)
    )


def hit(text: str) -> Hit:
    return Hit(Chunk("c", "d", "d.txt", "", 0, len(text), text), Score(0.5, COSINE), 1)


def test_the_score_is_the_logistic_of_the_three_parts() -> None:
    hits = [hit("The lighthouse was built in 1531."), hit("Cheese ripens in a cellar for a year.")]
    scored = TrainedScorer(local(), Fixed(2.0))(QUESTION, hits)
    for score, parts in zip(scored.scores, scored.others, strict=True):
        assert score is not None
        value = 0.32 * 2.0 + 6.54 * parts["sentence"].value + 1.77 * parts["terms"].value - 5.83
        assert score == Score(pytest.approx(1 / (1 + exp(-value))), UNIT)
        assert parts["answers"] == Score(2.0, LOGIT)


def test_a_higher_logit_is_a_higher_score() -> None:
    hits = [hit("The lighthouse was built in 1531.")]
    low, high = (TrainedScorer(local(), Fixed(logit))(QUESTION, hits).scores[0] for logit in (-3.0, 3.0))
    assert low is not None
    assert high is not None
    assert low.value < high.value


def test_nothing_to_judge_gives_no_scores() -> None:
    assert TrainedScorer(local(), Fixed(0.0))(QUESTION, []).scores == ()


FOUND = [hit(f"The lighthouse was built in {year}.") for year in range(1530, 1535)]
BESIDE = [hit(f"Cheese ripens in cellar {number} for a year.") for number in range(5)]


def test_hits_that_are_not_expected_to_win_are_not_read() -> None:
    reader = Fixed(4.0)
    scored = TrainedScorer(local(), reader)(QUESTION, [*BESIDE, *FOUND])
    assert set(reader.texts) == {found.chunk.text for found in FOUND}
    assert ["answers" in others for others in scored.others] == [False] * 5 + [True] * 5
    values = [score.value for score in scored.scores if score is not None]
    assert max(values[:5]) < min(values[5:])


def test_hits_are_read_on_while_an_unread_one_may_be_the_best() -> None:
    reader = Fixed(-12.0)
    TrainedScorer(local(), reader)(QUESTION, [*FOUND, *FOUND, *BESIDE])
    assert len(reader.texts) > len(FOUND)


def test_every_hit_is_read_where_all_are_asked_for() -> None:
    reader = Fixed(4.0)
    TrainedScorer(local(), reader, read_at_least=None)(QUESTION, [*BESIDE, *FOUND])
    assert len(reader.texts) == 10
