"""From a judge's raw score to the probability that what was retrieved suffices, and where that probability decides.

Raw scores order chunks; they are no probabilities, and 0.7 means something else for every judge, encoder and
collection. A calibration is fitted on the best raw score of each of some questions that are known to be answerable or
not: labelled ones, or ones made of the collection's own sentences (`recipes.calibrate`).
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cache
from math import log
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray
from pydantic import TypeAdapter, ValidationError

from thresher.errors import StoreError, UsageError
from thresher.judging.logistic import (
    RESAMPLES,
    Numbers,
    drawn_in,
    even_folds,
    interval,
    log_odds,
    logistic_weights,
    out_of_fold,
    sigmoid,
)
from thresher.judging.model_weight import ModelWeight
from thresher.protocols import Files
from thresher.types import UNIT, logistic

Source = Literal["labels", "questions made of the collection", "shipped"]
Interval: TypeAlias = tuple[float, float]
"""Bounds of a 95 % interval."""

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


@dataclass(frozen=True, slots=True)
class Calibration:
    """From a raw score of one judge over one encoder's vectors to a probability, with intervals of 95 %.

    The probability is the one at the share of answerable questions it was fitted on, half where questions are made.
    """

    judge: str
    encoder: str
    method: Literal["logistic"]
    parameters: tuple[tuple[float, float]]
    """Slope and intercept over the log odds of the raw score."""
    lower: float
    """Below this probability at most one question in ten was answerable; 0 where no such bound was found."""
    upper: float
    """From this probability on the evidence is called sufficient: where errors cost least (`FALSE_POSITIVE_COST`)."""
    lower_interval: Interval
    upper_interval: Interval
    auroc: float
    auroc_interval: Interval
    ece: float
    """Expected calibration error: 10 bins of equal width, each question predicted by a curve fitted without it."""
    n_positive: int
    n_negative: int
    source: Source
    separated: bool
    """Whether the lower bound of the AUROC's interval reaches 0.8."""
    model: ModelWeight | None = None
    """How much the chat model counts beside this judge; None where none was measured."""

    def probability(self, raw: float) -> float:
        """Probability that what was retrieved suffices, when `raw` is its best score."""
        return float(_curve(self.parameters[0], np.array(raw)))

    def raw(self, probability: float) -> float | None:
        """The raw score, 0 to 1, from which on that probability is reached; None where the curve does not rise."""
        ((slope, intercept),) = self.parameters
        if slope <= 0:
            return None
        if not 0 < probability < 1:
            return probability
        return logistic((log(probability / (1 - probability)) - intercept) / slope)

    def to_dict(self) -> dict[str, Any]:
        """JSON form; without `model` where none was measured."""
        form = asdict(self)
        if self.model is None:
            del form["model"]
        return form

    @classmethod
    def from_dict(cls, stored: Any) -> Calibration:
        """What `to_dict` gave, also after a trip through JSON. Raises UsageError for anything else."""
        try:
            return _form().validate_python(stored)
        except ValidationError as error:
            first = error.errors()[0]
            what = f"not a calibration ({'.'.join(map(str, first['loc']))}: {first['msg']})"
            raise UsageError(what, next_step="calibrate the collection again") from error


@cache
def _form() -> TypeAdapter[Calibration]:
    return TypeAdapter(Calibration)


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
    how people ask, so the curve is halfway between the two.
    """
    check_enough(len(positives), len(negatives))
    raw = np.array([*positives, *negatives], np.float64)
    if not np.all((raw >= UNIT.low) & (raw <= UNIT.high)):
        raise UsageError("raw scores to calibrate must lie between 0 and 1", subject=judge)
    answerable = np.arange(len(raw)) < len(positives)
    generator = np.random.default_rng(seed)
    folds = even_folds(answerable, generator)
    usually = elsewhere.parameters[0] if elsewhere is not None and source != "labels" else None

    def line(raw: Numbers, answerable: NDArray[np.bool_]) -> tuple[float, float]:
        slope, intercept = _fitted(raw, answerable)
        return (slope, intercept) if usually is None else ((slope + usually[0]) / 2, (intercept + usually[1]) / 2)

    fitted = line(raw, answerable)
    probabilities = _curve(fitted, raw)
    unseen = out_of_fold(lambda *known: lambda raw: _curve(line(*known), raw), raw, answerable, folds)
    lower, upper = decision_bounds(probabilities, answerable)
    kinds = (np.flatnonzero(answerable), np.flatnonzero(~answerable))  # a sample has as many questions of each kind
    drawn = [np.concatenate([generator.choice(kind, len(kind)) for kind in kinds]) for _ in range(RESAMPLES)]
    areas = [auroc(raw[rows], answerable[rows]) for rows in drawn]
    bounds = np.array([decision_bounds(probabilities[rows], answerable[rows]) for rows in drawn])
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


def auroc(scores: Numbers, answerable: NDArray[np.bool_]) -> float:
    """Probability that an answerable question scores higher than an unanswerable one; a tie counts half."""
    negatives, positives = np.sort(scores[~answerable]), scores[answerable]
    below = np.searchsorted(negatives, positives, "left") + np.searchsorted(negatives, positives, "right")
    return float(below.mean() / 2 / len(negatives))


def calibration_error(probabilities: Numbers, answerable: NDArray[np.bool_]) -> float:
    """Expected calibration error over 10 bins of equal width (Guo et al. 2017, equation 3)."""
    bins = np.minimum((probabilities * BINS).astype(int), BINS - 1)
    return float(np.abs(np.bincount(bins, probabilities - answerable, BINS)).sum() / len(probabilities))


def decision_bounds(probabilities: Numbers, answerable: NDArray[np.bool_]) -> tuple[float, float]:
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


def _curve(line: tuple[float, float], raw: Numbers) -> Numbers:
    slope, intercept = line
    return sigmoid(slope * log_odds(raw) + intercept)


def _fitted(raw: Numbers, answerable: NDArray[np.bool_]) -> tuple[float, float]:
    """Platt's method: maximum likelihood against targets drawn in by one example of each kind (Platt 1999)."""
    inputs = np.column_stack([log_odds(raw), np.ones(len(raw))])
    # The prior says next to nothing: a judge that gives every question the same score has no slope without it.
    slope, intercept = logistic_weights(inputs, drawn_in(answerable), precision=np.full(2, 1e-6))
    return float(slope), float(intercept)


WEIGHTS = 2
"""Which weights of the trained judge these are: what was fitted on the scores of earlier ones does not count."""

SHIPPED: Mapping[str, Calibration] = {
    "local": Calibration(
        judge="local",
        encoder="all-MiniLM-L6-v2-int8@8fd7f1cf8e1d",
        method="logistic",
        parameters=((0.9933, 0.0019),),
        lower=0.245,
        upper=0.547,
        lower_interval=(0.162, 0.277),
        upper_interval=(0.518, 0.680),
        auroc=0.825,
        auroc_interval=(0.804, 0.846),
        ece=0.033,
        n_positive=800,
        n_negative=800,
        source="shipped",
        separated=True,
    ),
    "trained": Calibration(
        judge="trained",
        encoder="all-MiniLM-L6-v2-int8@8fd7f1cf8e1d",
        method="logistic",
        parameters=((0.9728, 0.0062),),
        lower=0.204,
        upper=0.779,
        lower_interval=(0.088, 0.223),
        upper_interval=(0.694, 0.781),
        auroc=0.821,
        auroc_interval=(0.804, 0.838),
        ece=0.049,
        n_positive=494,
        n_negative=494,
        source="shipped",
        separated=True,
    ),
}
"""For a collection that was never calibrated, by judge. The local judge: 200 training questions of PopQA, NQ, TriviaQA
and SQuAD each, asked with and without what answers them (`research/calibration.py`). The trained judge: 494 questions
that it was not trained on, the tune fifths of these sets and the dev questions of real text to papers and manuals, of
smaller sets some drawn more than once so that each weighs the same, which makes its intervals too narrow
(`research/judge`)."""


def usual(judge: str, encoder: str) -> Calibration | None:
    """What a judge's scores are worth where nothing was calibrated; None for an encoder that was not learned on."""
    shipped = SHIPPED.get(judge)
    return shipped if shipped is not None and shipped.encoder == encoder else None


@dataclass(frozen=True, slots=True)
class Calibrations:
    """A JSON file with a calibration for each judge and encoder; absent until the first one is put."""

    files: Files
    name: str = "calibrations.json"

    def get(self, judge: str, encoder: str) -> Calibration | None:
        """The calibration of a judge on vectors of an encoder. Raises StoreError for a damaged file.

        A curve of a kind that earlier versions fitted is as if there were none: the shipped one counts.
        """
        stored = self._read().get(_key(judge, encoder))
        if isinstance(stored, dict) and stored.get("method") == "isotonic":
            return None
        try:
            return None if stored is None else Calibration.from_dict(stored)
        except UsageError as error:
            raise self._damaged() from error

    def put(self, calibration: Calibration) -> None:
        """Keep one in place of an earlier one and of a damaged file; a reader sees the old or the new, never half."""
        try:
            before = self._read()
        except StoreError:
            before = {}
        stored = {**before, _key(calibration.judge, calibration.encoder): calibration.to_dict()}
        self.files.write(self.name, json.dumps(stored, indent=1).encode())

    def _read(self) -> dict[str, Any]:
        content = self.files.read(self.name)
        try:
            read = {} if content is None else json.loads(content)
        except ValueError as error:
            raise self._damaged() from error
        if not isinstance(read, dict):
            raise self._damaged()
        return read

    def _damaged(self) -> StoreError:
        where = self.files.where(self.name)
        what = "the stored calibrations are damaged"
        return StoreError(what, subject=where, next_step="call `calibrate()` again")


def _key(judge: str, encoder: str) -> str:
    return f"{judge} {WEIGHTS} | {encoder}" if judge == "trained" else f"{judge} | {encoder}"
