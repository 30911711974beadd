"""What is known about a question before it is asked: the values every dataset is read into."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from thresher.evals.corpora import Corpus
from thresher.types import Origin

Task = Literal["search", "ask"]
"""What a dataset's questions are put to: the ranking alone, or the whole path to an answer."""


@dataclass(frozen=True, slots=True)
class Gold:
    """A place that answers a question; `start` and `end` are offsets in the document, pages count from 1."""

    source: str
    page: int | None = None
    start: int | None = None
    end: int | None = None
    origin: Origin = Origin.INSIDE
    """Outside for a place that is not in the collection that is asked."""

    def to_dict(self) -> dict[str, Any]:
        """JSON form, as in a question file; where it lies is said of places outside only."""
        told = {"source": self.source, "page": self.page, "start": self.start, "end": self.end}
        return told if self.origin is Origin.INSIDE else {**told, "origin": str(self.origin)}


@dataclass(frozen=True, slots=True)
class Question:
    """One question and its labels."""

    id: str
    question: str
    answers: tuple[str, ...] = ()
    """Any of these is right."""
    answerable: bool = True
    gold: tuple[Gold, ...] = ()
    grades: Mapping[str, float] = field(default_factory=dict)
    """Source to graded relevance (BEIR qrels); a grade of 0 or less is a document judged not relevant."""
    category: str | None = None
    options: tuple[str, ...] = ()
    """The labels or option letters that may be answered, one of which `answers` holds; empty for free answers."""
    topic: str = ""
    """What a long answer is about, where every fact of it is checked (FActScore); or nothing."""
    group: str = ""
    """What the question shares with others (its subject, its article), so that they stay in one split; or nothing."""

    @property
    def relevance(self) -> dict[str, float]:
        """Source to grade: the graded judgements where there are any, otherwise 1 for every gold source inside."""
        return dict(self.grades) or {gold.source: 1.0 for gold in self.gold if gold.origin is Origin.INSIDE}


@dataclass(frozen=True, slots=True)
class Dataset:
    """Questions to ask, where they came from, and how they were chosen."""

    kind: str
    name: str
    spec: str
    """As it was given: `KIND:PATH`."""
    path: Path
    sha256: str
    """Of the question files' bytes, whatever subset is asked."""
    questions: tuple[Question, ...]
    task: Task
    corpus: Path | None = None
    """The file of the documents that belong to the questions, where the dataset is a folder that has one."""
    corpora: Mapping[Origin, Corpus] = field(default_factory=dict)
    """The documents that belong to the questions, where the dataset makes them: the collection that is asked and,
    where answers were taken out of it, the collection they were put in."""
    references: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Question id to the texts that the facts of a long answer are checked against (FActScore's knowledge source)."""
    note: str = ""
    """How the questions were chosen, for people."""
    split: str = "all"
    sample: int | None = None
    limit_questions: int | None = None
    available: int = 0
    """Questions there are in the split, of which a sample may be asked; 0 where that is not known."""
    seed: int = 0

    @property
    def categories(self) -> dict[str, int]:
        """How many questions there are of each category, by name."""
        counted = Counter(question.category for question in self.questions if question.category)
        return dict(sorted(counted.items()))
