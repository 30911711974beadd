"""Fits what a judge's scores are worth, and how much a chat model's judgement counts beside it.

On labelled questions of which our judge is unsure, a logistic regression weighs the log odds of both; the model counts
where this predicts questions it was not fitted on better than our judge alone.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from thresher.errors import UsageError
from thresher.judging.calibration import Calibration, Interval, ModelWeight, Numbers, Source, curve, log_odds, sigmoid
from thresher.types import UNIT

Labels = NDArray[np.bool_]
"""Whether each question is answerable."""

Folds = NDArray[np.int64]
"""Number of the fold of each question."""

FOLDS = 5
RESAMPLES = 1000

LEAST_QUESTIONS = 20
"""Answerable and unanswerable questions needed of each: below that the intervals span most of the scale."""

NPV_TARGET = 0.9
"""LOWER: of the questions below it at most 1 - NPV_TARGET are answerable, so that little is lost by not reading on."""

SEPARATED = 0.8
"""A judge whose AUROC may be lower than this does not separate: its verdict is `unsure`."""

BINS = 10

FALSE_POSITIVE_COST = 2.0
"""Needless looks outside that calling insufficient evidence sufficient is worth; UPPER is where both together cost
least. With 1.5 it is the same for the shipped calibration, with 1 it is 0.459."""

LEAST_BEYOND = 10
"""Questions below LOWER without which it is not drawn: of fewer, one in ten says nothing."""

LEAST_UNSURE = 20
"""Questions our judge is unsure of, answerable and unanswerable ones, needed of each: as for a calibration."""

PRECISION = 0.1
"""Of the weights' normal prior around 0 (a standard deviation of 3): a model that is always right has no finite one."""


def check_enough(answerable: int, unanswerable: int) -> None:
    """Raise UsageError for numbers of questions that are too few to calibrate on."""
    if min(answerable, unanswerable) < LEAST_QUESTIONS:
        raise UsageError(
            f"{answerable} answerable and {unanswerable} unanswerable questions are too few to calibrate on",
            next_step=f"give at least {LEAST_QUESTIONS} of each",
        )


def fit(
    positives: Sequence[float],
    negatives: Sequence[float],
    *,
    judge: str,
    encoder: str,
    source: Source,
    elsewhere: Calibration | None = None,
    seed: int = 0,
) -> Calibration:
    """The calibration of a judge from the best raw scores, 0 to 1, of answerable and of unanswerable questions.

    `elsewhere` is what such scores are worth in other collections; made questions say how this one differs, people's
    how people ask, so the curve is halfway between the two. From where little is lost only people's questions say:
    made ones never raise LOWER.
    """
    check_enough(len(positives), len(negatives))
    raw = np.array([*positives, *negatives], np.float64)
    if not np.all((raw >= UNIT.low) & (raw <= UNIT.high)):
        raise UsageError("raw scores to calibrate must lie between 0 and 1", subject=judge)
    answerable = np.arange(len(raw)) < len(positives)
    generator = np.random.default_rng(seed)
    folds = even_folds(answerable, generator)
    other = elsewhere if source != "labels" else None
    usually = None if other is None else other.parameters[0]
    highest = 1.0 if other is None else other.lower

    def line(raw: Numbers, answerable: Labels) -> tuple[float, float]:
        slope, intercept = _fitted(raw, answerable)
        return (slope, intercept) if usually is None else ((slope + usually[0]) / 2, (intercept + usually[1]) / 2)

    fitted = line(raw, answerable)
    probabilities = curve(fitted, raw)
    unseen = out_of_fold(lambda known, labels, unseen: curve(line(known, labels), unseen), raw, answerable, folds)
    lower, upper = decision_bounds(probabilities, answerable)
    kinds = (np.flatnonzero(answerable), np.flatnonzero(~answerable))  # a sample has as many questions of each kind
    drawn = [np.concatenate([generator.choice(kind, len(kind)) for kind in kinds]) for _ in range(RESAMPLES)]
    areas = [auroc(raw[rows], answerable[rows]) for rows in drawn]
    bounds = np.array([decision_bounds(probabilities[rows], answerable[rows]) for rows in drawn])
    lower, bounds[:, 0] = min(lower, highest), np.minimum(bounds[:, 0], highest)
    area = interval(areas)
    return Calibration(
        judge=judge,
        encoder=encoder,
        method="logistic",
        parameters=(fitted,),
        lower=lower,
        upper=upper,
        lower_interval=interval(bounds[:, 0]),
        upper_interval=interval(bounds[:, 1]),
        auroc=auroc(raw, answerable),
        auroc_interval=area,
        ece=calibration_error(unseen, answerable),
        n_positive=len(positives),
        n_negative=len(negatives),
        source=source,
        separated=area[0] >= SEPARATED,
    )


def auroc(scores: Numbers, answerable: Labels) -> float:
    """Probability that an answerable question scores higher than an unanswerable one; a tie counts half."""
    negatives, positives = np.sort(scores[~answerable]), scores[answerable]
    below = np.searchsorted(negatives, positives, "left") + np.searchsorted(negatives, positives, "right")
    return float(below.mean() / 2 / len(negatives))


def calibration_error(probabilities: Numbers, answerable: Labels) -> float:
    """Expected calibration error over 10 bins of equal width (Guo et al. 2017, equation 3)."""
    bins = np.minimum((probabilities * BINS).astype(int), BINS - 1)
    return float(np.abs(np.bincount(bins, probabilities - answerable, BINS)).sum() / len(probabilities))


def decision_bounds(probabilities: Numbers, answerable: Labels) -> tuple[float, float]:
    """LOWER and UPPER, lower <= upper: see `Calibration`. A bound lies halfway between two observed probabilities."""
    order = np.argsort(probabilities, kind="stable")
    sorted_, right = probabilities[order], answerable[order]
    cuts = np.flatnonzero(np.diff(sorted_) > 0) + 1  # questions below each place where a bound can lie
    if not len(cuts):
        return 0.0, 1.0
    found = np.cumsum(right)[cuts - 1]  # answerable ones among them
    # Against calling all sufficient: unanswerable ones kept out, others lost.
    saved = FALSE_POSITIVE_COST * (cuts - found) - found
    best = cuts[np.argmax(saved)]
    low = cuts[(cuts >= LEAST_BEYOND) & (cuts - found >= NPV_TARGET * cuts)]
    upper = float(sorted_[best - 1 : best + 1].mean())
    lower = float(sorted_[low[-1] - 1 : low[-1] + 1].mean()) if len(low) else 0.0
    return min(lower, upper), upper


def _fitted(raw: Numbers, answerable: Labels) -> tuple[float, float]:
    """Slope and intercept. The prior says next to nothing, but a judge whose scores are all equal has none without."""
    slope, intercept = likeliest(np.column_stack([log_odds(raw), np.ones(len(raw))]), answerable, precision=1e-6)
    return float(slope), float(intercept)


# --- what a chat model adds -------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Opinion:
    """A question our judge is unsure of: its probability for the best chunk, and what the model made of the chunks."""

    own: float
    model: float
    """The highest of the model's scores, 0 to 1."""
    answerable: bool


def weighed(model: str, opinions: Sequence[Opinion], *, seed: int = 0) -> ModelWeight | None:
    """How much the model counts: 0 without a gain at 95 % certainty or a weight above 0; None for too few opinions."""
    answerable = np.array([one.answerable for one in opinions], bool)
    if min(answerable.sum(), (~answerable).sum()) < LEAST_UNSURE:
        return None
    own = np.array([one.own for one in opinions])
    inputs = np.column_stack([log_odds(own), log_odds(np.array([one.model for one in opinions])), np.ones(len(own))])
    generator = np.random.default_rng(seed)
    folds = even_folds(answerable, generator)
    saved = _losses(inputs[:, [0, 2]], answerable, folds) - _losses(inputs, answerable, folds)
    gains = interval(saved[generator.integers(len(saved), size=(RESAMPLES, len(saved)))].mean(axis=1))
    of_own, of_model, intercept = likeliest(inputs, answerable, precision=PRECISION).tolist()
    if gains[0] <= 0 or of_model <= 0:
        of_own, of_model, intercept = 1.0, 0.0, 0.0
    return ModelWeight(model, of_own, of_model, intercept, len(own), float(saved.mean()), gains)


def _losses(inputs: Numbers, answerable: Labels, folds: Folds) -> Numbers:
    """Log loss of each question, in nats, by weights fitted on the other folds."""

    def predicted(known: Numbers, labels: Labels, unseen: Numbers) -> Numbers:
        return sigmoid(unseen @ likeliest(known, labels, precision=PRECISION))

    probabilities = out_of_fold(predicted, inputs, answerable, folds)
    losses: Numbers = -np.log(np.where(answerable, probabilities, 1 - probabilities))
    return losses


# --- logistic regression ----------------------------------------------------------------------------------------------


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


def likeliest(inputs: Numbers, answerable: Labels, *, precision: float) -> Numbers:
    """Platt's method: targets drawn in by one example of each kind, so that no score is worth certainty (1999)."""
    positive, negative = answerable.sum(), (~answerable).sum()
    targets = np.where(answerable, (positive + 1) / (positive + 2), 1 / (negative + 2))
    return logistic_weights(inputs, targets, precision=np.full(inputs.shape[1], precision))


def even_folds(answerable: Labels, generator: np.random.Generator) -> Folds:
    """Both kinds of questions are spread evenly."""
    folds = np.empty(len(answerable), np.int64)
    for kind in (True, False):
        rows = generator.permutation(np.flatnonzero(answerable == kind))
        folds[rows] = np.arange(len(rows)) % FOLDS
    return folds


def out_of_fold(
    predicted: Callable[[Numbers, Labels, Numbers], Numbers], inputs: Numbers, answerable: Labels, folds: Folds
) -> Numbers:
    """Probability of each question by what is fitted on the other folds: known inputs, their labels, unseen inputs."""
    probabilities = np.empty(len(inputs))
    for fold in range(FOLDS):
        out = folds == fold
        probabilities[out] = predicted(inputs[~out], answerable[~out], inputs[out])
    return probabilities


def interval(values: Sequence[float] | Numbers) -> Interval:
    """95 % interval of bootstrapped values."""
    low, high = np.quantile(values, (0.025, 0.975))
    return float(low), float(high)
