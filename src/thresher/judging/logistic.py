"""Logistic regression as the judges need it: a handful of weights, with what is known of them beforehand."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

Numbers = NDArray[np.float64]
Fitted = Callable[[Numbers], Numbers]
"""Inputs to probabilities."""

FOLDS = 5
RESAMPLES = 1000

CLIP = 0.01
"""Raw scores of exactly 0 and 1 have no log odds; they are taken as this far from the end."""


def log_odds(raw: Numbers) -> Numbers:
    """Log odds of scores from 0 to 1: on these the identity is a logistic curve of slope 1 (Kull et al. 2017)."""
    clipped = np.clip(raw, CLIP, 1 - CLIP)
    odds: Numbers = np.log(clipped / (1 - clipped))
    return odds


def sigmoid(odds: Numbers) -> Numbers:
    """Log odds as probabilities."""
    probabilities: Numbers = 1 / (1 + np.exp(-odds))
    return probabilities


def logistic_weights(
    inputs: Numbers, target: Numbers, *, precision: Numbers, prior: Numbers | None = None, share: Numbers | float = 1.0
) -> Numbers:
    """The likeliest weights of `inputs` (rows by weights) for `target` (0 to 1 each), under a normal prior.

    `precision` (one for each weight) is that of the prior around `prior`, by default 0; `share` is the weight of a row.
    """
    around = np.zeros(inputs.shape[1]) if prior is None else prior
    found = around.copy()
    for _ in range(50):  # Newton's method; it is done in about eight
        fitted = sigmoid(inputs @ found)
        curvature = (inputs * (share * fitted * (1 - fitted))[:, None]).T @ inputs + np.diag(precision)
        step = np.linalg.solve(curvature, inputs.T @ (share * (target - fitted)) - precision * (found - around))
        found = found + step
        if np.abs(step).max() < 1e-9:
            break
    return found


def even_folds(answerable: NDArray[np.bool_], generator: np.random.Generator) -> NDArray[np.int64]:
    """Number of the fold of each question; both kinds are spread evenly."""
    folds = np.empty(len(answerable), np.int64)
    for kind in (True, False):
        rows = generator.permutation(np.flatnonzero(answerable == kind))
        folds[rows] = np.arange(len(rows)) % FOLDS
    return folds


def drawn_in(answerable: NDArray[np.bool_]) -> Numbers:
    """Targets of 0 and 1, drawn in by one example of each kind, so that no score is worth certainty (Platt 1999)."""
    positive, negative = answerable.sum(), (~answerable).sum()
    targets: Numbers = np.where(answerable, (positive + 1) / (positive + 2), 1 / (negative + 2))
    return targets


def out_of_fold(
    fitted: Callable[[Numbers, NDArray[np.bool_]], Fitted],
    inputs: Numbers,
    answerable: NDArray[np.bool_],
    folds: NDArray[np.int64],
) -> Numbers:
    """Probability of each question by what is fitted on the other folds."""
    probabilities = np.empty(len(inputs))
    for fold in range(FOLDS):
        out = folds == fold
        probabilities[out] = fitted(inputs[~out], answerable[~out])(inputs[out])
    return probabilities


def log_losses(probabilities: Numbers, answerable: NDArray[np.bool_]) -> Numbers:
    """Log loss of each question, in nats."""
    losses: Numbers = -np.log(np.where(answerable, probabilities, 1 - probabilities))
    return losses


def interval(values: Sequence[float] | Numbers) -> tuple[float, float]:
    """95 % interval of bootstrapped values."""
    low, high = np.quantile(values, (0.025, 0.975))
    return float(low), float(high)
