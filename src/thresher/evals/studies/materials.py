"""What a kind of study is given to measure with."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Set
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from thresher.evals.labels import Dataset, Question


@dataclass(frozen=True, slots=True)
class Materials:
    """Questions, a collection and settings; a kind uses what it needs of them."""

    settings: Any
    """The kind's own, as its model."""
    given: Mapping[str, Any]
    """Settings that count for the recipes which have them."""
    seed: int
    home: Path
    collection: str
    dataset: Dataset

    def left(self, done: Set[str]) -> Iterator[Question]:
        """The questions that have no row yet, in their order."""
        return (question for question in self.dataset.questions if question.id not in done)
