"""From a judge's raw score to the probability that what was retrieved suffices, and where that probability decides.

Raw scores order chunks; they are no probabilities, and 0.7 means something else for every judge, encoder and
collection. A calibration is fitted (`thresher.judging.fitting`) on the best raw score of each of some questions that
are known to be answerable or not: labelled ones, or ones made of the collection's own sentences.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import cache
from math import log
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray
from pydantic import TypeAdapter, ValidationError

from thresher.errors import StoreError, UsageError
from thresher.protocols import Files
from thresher.types import logistic

Numbers = NDArray[np.float64]
Source = Literal["labels", "questions made of the collection", "shipped"]
Interval: TypeAlias = tuple[float, float]
"""Bounds of a 95 % interval."""

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


def curve(line: tuple[float, float], raw: Numbers) -> Numbers:
    """Probabilities by a slope and an intercept over the log odds of raw scores."""
    slope, intercept = line
    return sigmoid(slope * log_odds(raw) + intercept)


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
    gain_interval: Interval
    """Its 95 % interval; the model counts where all of it is above 0."""

    @property
    def counts(self) -> bool:
        """Whether the model is worth asking."""
        return self.model_weight > 0

    def probability(self, own: float, model: float) -> float:
        """The probability of both together: `own` is the judge's, `model` the chat model's score, each 0 to 1."""
        odds = log_odds(np.array([own, model])) @ np.array([self.own_weight, self.model_weight])
        return float(sigmoid(np.array(odds + self.intercept)))


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
        return float(curve(self.parameters[0], np.array(raw)))

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


# --- on disk ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Entries:
    """The entries of a JSON file, absent until the first one is put; a reader sees the old or the new, never half."""

    files: Files
    name: str
    damage: str
    """What an error says of a damaged file."""
    next_step: str

    def read(self) -> dict[str, Any]:
        """All of them by key. Raises StoreError for a damaged file."""
        content = self.files.read(self.name)
        try:
            read = {} if content is None else json.loads(content)
        except ValueError as error:
            raise self.damaged() from error
        if not isinstance(read, dict):
            raise self.damaged()
        return read

    def put(self, key: str, entry: Any) -> None:
        """Keep one in place of an earlier one and of a damaged file; None removes it."""
        try:
            before = self.read()
        except StoreError:
            before = {}
        self.write({name: one for name, one in {**before, key: entry}.items() if one is not None})

    def write(self, entries: Mapping[str, Any]) -> None:
        """Keep these in place of all."""
        self.files.write(self.name, json.dumps(entries, indent=1).encode())

    def damaged(self) -> StoreError:
        """The error for a damaged file."""
        return StoreError(self.damage, subject=self.files.where(self.name), next_step=self.next_step)


@dataclass(frozen=True, slots=True)
class Calibrations:
    """A JSON file with a calibration for each judge and encoder; absent until the first one is put."""

    files: Files
    name: str = "calibrations.json"

    def get(self, judge: str, encoder: str) -> Calibration | None:
        """The calibration of a judge on vectors of an encoder. Raises StoreError for a damaged file.

        A curve of a kind that earlier versions fitted is as if there were none: the shipped one counts.
        """
        stored = self._entries.read().get(_key(judge, encoder))
        if isinstance(stored, dict) and stored.get("method") == "isotonic":
            return None
        try:
            return None if stored is None else Calibration.from_dict(stored)
        except UsageError as error:
            raise self._entries.damaged() from error

    def put(self, calibration: Calibration) -> None:
        """Keep one in place of an earlier one and of a damaged file; a reader sees the old or the new, never half."""
        self._entries.put(_key(calibration.judge, calibration.encoder), calibration.to_dict())

    @property
    def stored(self) -> dict[str, Any]:
        """All of them as JSON. Raises StoreError for a damaged file."""
        return self._entries.read()

    @property
    def _entries(self) -> Entries:
        return Entries(self.files, self.name, "the stored calibrations are damaged", "call `calibrate()` again")


def _key(judge: str, encoder: str) -> str:
    return f"{judge} {WEIGHTS} | {encoder}" if judge == "trained" else f"{judge} | {encoder}"
