"""How much a chat model's judgement counts beside the trained judge: measured, not assumed.

On labelled questions of which our judge is unsure, a logistic regression weighs the log odds of both; the model counts
where this predicts questions it was not fitted on better than our judge alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from thresher.judging.logistic import (
    RESAMPLES,
    Fitted,
    Numbers,
    drawn_in,
    even_folds,
    interval,
    log_losses,
    log_odds,
    logistic_weights,
    out_of_fold,
    sigmoid,
)

LEAST_UNSURE = 20
"""Questions our judge is unsure of, answerable and unanswerable ones, needed of each: as for a calibration."""

PRECISION = 0.1
"""Of the weights' normal prior around 0 (a standard deviation of 3): a model that is always right has no finite one."""


@dataclass(frozen=True, slots=True)
class Opinion:
    """A question our judge is unsure of: its probability for the best chunk, and what the model made of the chunks."""

    own: float
    model: float
    """The highest of the model's scores, 0 to 1."""
    answerable: bool


@dataclass(frozen=True, slots=True)
class ModelWeight:
    """What a chat model's score, 0 to 1, adds to the judge's probability, and how that was found out."""

    model: str
    own_weight: float
    """Of the judge's log odds."""
    model_weight: float
    """Of the model's log odds; 0 for a model that adds nothing, which is then not asked."""
    intercept: float
    questions: int
    """Those the judge was unsure of: the model was asked about these."""
    gain: float
    """Log loss that the model saves a question, on questions the weights were not fitted on, in nats."""
    gain_interval: tuple[float, float]
    """Its 95 % interval; the model counts where all of it is above 0."""

    @property
    def counts(self) -> bool:
        """Whether the model is worth asking."""
        return self.model_weight > 0

    def probability(self, own: float, model: float) -> float:
        """The probability of both together: `own` is the judge's, `model` the chat model's score, each 0 to 1."""
        odds = log_odds(np.array([own, model])) @ np.array([self.own_weight, self.model_weight])
        return float(sigmoid(np.array(odds + self.intercept)))


def weighed(model: str, opinions: Sequence[Opinion], *, seed: int = 0) -> ModelWeight | None:
    """How much the model counts: 0 without a gain at 95 % certainty or a weight above 0; None for too few opinions."""
    answerable = np.array([one.answerable for one in opinions], bool)
    if min(answerable.sum(), (~answerable).sum()) < LEAST_UNSURE:
        return None
    own = np.array([one.own for one in opinions])
    inputs = np.column_stack([log_odds(own), log_odds(np.array([one.model for one in opinions])), np.ones(len(own))])
    generator = np.random.default_rng(seed)
    folds = even_folds(answerable, generator)
    saved = _loss(inputs[:, [0, 2]], answerable, folds) - _loss(inputs, answerable, folds)
    gains = interval(saved[generator.integers(len(saved), size=(RESAMPLES, len(saved)))].mean(axis=1))
    of_own, of_model, intercept = _weights(inputs, answerable).tolist()
    if gains[0] <= 0 or of_model <= 0:
        of_own, of_model, intercept = 1.0, 0.0, 0.0
    return ModelWeight(model, of_own, of_model, intercept, len(own), float(saved.mean()), gains)


def _weights(inputs: Numbers, answerable: NDArray[np.bool_]) -> Numbers:
    return logistic_weights(inputs, drawn_in(answerable), precision=np.full(inputs.shape[1], PRECISION))


def _loss(inputs: Numbers, answerable: NDArray[np.bool_], folds: NDArray[np.int64]) -> Numbers:
    """Log loss of each question by weights fitted on the other folds."""

    def fitted(known: Numbers, labels: NDArray[np.bool_]) -> Fitted:
        weights = _weights(known, labels)
        return lambda unseen: sigmoid(unseen @ weights)

    return log_losses(out_of_fold(fitted, inputs, answerable, folds), answerable)
