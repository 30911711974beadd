"""A judge trained further on somebody's labels: what its logits are worth, and what its training came to."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from thresher.errors import ModelError, UsageError
from thresher.judging.calibration import Calibration
from thresher.judging.scorers import LogOdds
from thresher.types import Public

FILE = "judge.json"
"""In the folder of a judge that was trained further, beside its weights."""

Interval = tuple[float, float]


@dataclass(frozen=True, slots=True)
class TunedJudge:
    """What a judge is besides its weights. Its name is `calibration.judge`."""

    odds: LogOdds
    calibration: Calibration

    @classmethod
    def read(cls, folder: Path) -> TunedJudge:
        """Of a folder that `thresher train-judge` wrote. Raises UsageError for another one, ModelError for damage."""
        file = folder / FILE
        try:
            stored = json.loads(file.read_text(encoding="utf-8"))
            return cls(LogOdds(**stored["odds"]), Calibration.from_dict(stored["calibration"]))
        except OSError as error:
            next_step = "give `judge_model` a folder that `thresher train-judge` wrote, or 'bundled'"
            raise UsageError("holds no trained judge", subject=str(folder), next_step=next_step) from error
        except (ValueError, TypeError, KeyError, UsageError) as error:
            next_step = "train the judge again"
            raise ModelError("is damaged, or of an older version", subject=str(file), next_step=next_step) from error

    def to_dict(self) -> dict[str, Any]:
        """JSON form."""
        return {"odds": asdict(self.odds), "calibration": self.calibration.to_dict()}


@dataclass(frozen=True, slots=True)
class Measured(Public):
    """One measure of both judges on the same questions, with 95 % intervals (bootstrap over questions)."""

    name: str
    before: float
    before_interval: Interval
    after: float
    after_interval: Interval
    difference: float
    difference_interval: Interval


@dataclass(frozen=True, slots=True)
class Comparison(Public):
    """Two judges on questions that neither was trained on; `better` says whether the second may take the place."""

    questions: int
    measured: tuple[Measured, ...]
    better: bool


@dataclass(frozen=True, slots=True)
class Trained(Public):
    """What came of a training: the questions of each part, the comparison, and where the judge is, if it is better."""

    questions: Mapping[str, int]
    passages: int
    comparison: Comparison
    installed: Path | None
    report: Path


Counting = Callable[[int, str], AbstractContextManager[Callable[[int], None]]]
"""Shows progress: how many there are, of what; gives what is called with the number just done."""
