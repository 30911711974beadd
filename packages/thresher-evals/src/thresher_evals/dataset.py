"""What is known of a question before it is asked: the values every dataset is read into, and its splits."""

from __future__ import annotations

import hashlib
import json
import re
import string
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any, Literal, cast, get_args

from pydantic.dataclasses import dataclass as model

from thresher.errors import UsageError
from thresher.types import Origin

Task = Literal["search", "ask"]
"""What a dataset's questions are put to: the ranking alone, or the whole path to an answer."""

# --- questions, as they stand in the rows of a run --------------------------------------------------------------------


@model(frozen=True)
class Gold:
    """A place that answers a question; `start` and `end` are offsets in the document, pages count from 1."""

    source: str
    page: int | None = None
    start: int | None = None
    end: int | None = None
    origin: Origin = Origin.INSIDE
    """Outside for a place that is not in the collection that is asked."""

    def to_dict(self) -> dict[str, Any]:
        """As in a question file."""
        return {"source": self.source, "page": self.page, "start": self.start, "end": self.end}


@model(frozen=True)
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
    items: tuple[str, ...] = ()
    """Of a list that is asked for: an answer is right that has all of them, in any order."""

    @property
    def relevance(self) -> dict[str, float]:
        """Source to grade: the graded judgements where there are any, otherwise 1 for every gold source inside."""
        return dict(self.grades) or {gold.source: 1.0 for gold in self.gold if gold.origin is Origin.INSIDE}


# --- the documents that belong to them --------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Passage:
    """One document of a corpus; `id` becomes its source."""

    id: str
    title: str
    text: str


@dataclass(frozen=True)
class Corpus:
    """Passages in the order in which they are indexed."""

    passages: tuple[Passage, ...]

    @cached_property
    def content(self) -> bytes:
        """The corpus.jsonl of a BEIR folder."""
        lines = ({"_id": passage.id, "title": passage.title, "text": passage.text} for passage in self.passages)
        return "".join(json.dumps(line) + "\n" for line in lines).encode()

    @cached_property
    def sha256(self) -> str:
        """Of the corpus.jsonl."""
        return hashlib.sha256(self.content).hexdigest()


def passage_id(title: str, text: str) -> str:
    """A name for a passage that is the same in every file that has it."""
    return hashlib.sha256(f"{title}\n{text}".encode("utf-8", "backslashreplace")).hexdigest()[:16]


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
    """The file or folder of the documents that belong to the questions, where they are there already."""
    collection: str = ""
    """Name of the collection of `corpus`; nothing for a pool that other question files are asked of too."""
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


# --- splits: three fifths to learn from, one to tune on, one for the number that is reported --------------------------

Split = Literal["train", "tune", "final", "all"]
FIFTHS: tuple[Split, ...] = ("train", "train", "train", "tune", "final")


def split_of(key: str) -> Split:
    """The split of a subject, an article or a question id: sha1 of "split:" and the key, modulo 5.

    Questions about one thing share a key, so that nothing tuned on some of them is measured on others.
    """
    return FIFTHS[sha1_number(f"split:{key}") % len(FIFTHS)]


def members(questions: Iterable[Question], split: Split) -> tuple[Question, ...]:
    """The questions of a split, in their order."""
    return tuple(question for question in questions if split in ("all", split_of(question.group or question.id)))


def read_split(name: str) -> Split:
    """The split of that name."""
    if name not in get_args(Split):
        raise UsageError("unknown split", subject=name, next_step=f"splits are {', '.join(get_args(Split))}")
    return cast(Split, name)


def sha1_number(text: str) -> int:
    """The sha1 of a text as a number: the same on every machine, unrelated to the order of a file."""
    return int(hashlib.sha1(text.encode("utf-8", "backslashreplace"), usedforsecurity=False).hexdigest(), 16)


# --- whether words, or names of documents, are the same ---------------------------------------------------------------

ARTICLES = re.compile(r"\b(a|an|the)\b")
PUNCTUATION = str.maketrans("", "", string.punctuation)


def normalise(text: str) -> str:
    """Lower case, without ASCII punctuation and English articles, single spaces (SQuAD's `normalize_answer`)."""
    return " ".join(ARTICLES.sub(" ", text.lower().translate(PUNCTUATION)).split())


def matches(gold: str, source: str, also: Iterable[str] = ()) -> bool:
    """Whether a gold source names the document: its source, one of its other sources, or the end of one.

    An end starts at a path component: "BERT.pdf" names "/x/papers/BERT.pdf" and not "/x/papers/RoBERT.pdf".
    """
    return matching([gold], source, also) != []


def matching(labels: Iterable[str], source: str, also: Iterable[str] = ()) -> list[str]:
    """The labels that name the document, in their order; where some equal a source, only those."""
    labels = list(labels)
    own = {source, *also}
    equal = [label for label in labels if label in own]
    if equal:
        return equal
    return [label for label in labels if any("/".join(components(label)) in path_ends(name) for name in own)]


@lru_cache(maxsize=100_000)  # a run names the same documents over and over
def path_ends(source: str) -> frozenset[str]:
    """The path and every end of it that starts at a component."""
    parts = components(source)
    return frozenset("/".join(parts[start:]) for start in range(len(parts)))


def components(path: str) -> list[str]:
    r"""Names along a path without `.`; leading `..` cannot be compared and are dropped; `\` separates too."""
    parts = [part for part in path.replace("\\", "/").split("/") if part != "."]
    while parts and parts[0] == "..":
        parts = parts[1:]
    return parts
