"""The values that every dataset is read into, and its splits."""

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
"""What a dataset measures: the ranking alone, or the whole path to an answer."""

# --- questions, as in the rows of a run -------------------------------------------------------------------------------


@model(frozen=True)
class Gold:
    """A passage that answers a question; `start` and `end` are offsets in the document, pages count from 1."""

    source: str
    page: int | None = None
    start: int | None = None
    end: int | None = None
    origin: Origin = Origin.INSIDE
    """Outside for a passage that is not in the asked collection."""

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
    """Source to graded relevance (BEIR qrels); a grade of 0 or less means not relevant."""
    category: str | None = None
    options: tuple[str, ...] = ()
    """Labels or option letters, one of which is in `answers`; empty for free answers."""
    claim: str = ""
    """The claim that the options are about, without the question around it; may be empty."""
    topic: str = ""
    """Topic of a long answer whose facts are checked one by one (FActScore); may be empty."""
    group: str = ""
    """Subject or article shared with other questions, which stay in one split; may be empty."""
    items: tuple[str, ...] = ()
    """Of a list: a right answer has all of them, in any order."""

    @property
    def relevance(self) -> dict[str, float]:
        """Source to grade: the graded judgements, else 1 for every gold source inside."""
        return dict(self.grades) or {gold.source: 1.0 for gold in self.gold if gold.origin is Origin.INSIDE}


# --- the documents that belong to them --------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Passage:
    """One document of a corpus; `id` becomes its source."""

    id: str
    title: str
    text: str
    metadata: Mapping[str, str] = field(default_factory=dict, hash=False)
    """What the set says of it beside its text, which becomes the document's metadata."""


@dataclass(frozen=True)
class Corpus:
    """Passages in the order in which they are indexed."""

    passages: tuple[Passage, ...]

    @cached_property
    def content(self) -> bytes:
        """The corpus.jsonl of a BEIR folder."""
        lines = (
            {"_id": one.id, "title": one.title, "text": one.text}
            | ({"metadata": dict(one.metadata)} if one.metadata else {})
            for one in self.passages
        )
        return "".join(json.dumps(line) + "\n" for line in lines).encode()

    @cached_property
    def sha256(self) -> str:
        """Of the corpus.jsonl."""
        return hashlib.sha256(self.content).hexdigest()


def passage_id(title: str, text: str) -> str:
    """An id of a passage, the same in every file that has it."""
    return hashlib.sha256(f"{title}\n{text}".encode("utf-8", "backslashreplace")).hexdigest()[:16]


@dataclass(frozen=True, slots=True)
class Dataset:
    """Questions, their origin, and how they were chosen."""

    kind: str
    name: str
    spec: str
    """As given: `KIND:PATH`."""
    path: Path
    sha256: str
    """Of the question files' bytes, for every subset."""
    questions: tuple[Question, ...]
    task: Task
    corpus: Path | None = None
    """The file or folder of the questions' documents, if it exists already."""
    collection: str = ""
    """Name of the collection of `corpus`; empty for a pool shared with other question files."""
    corpora: Mapping[Origin, Corpus] = field(default_factory=dict)
    """The documents, if the dataset makes them: of the asked collection, and those moved to a second one."""
    references: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Question id to the texts that check the facts of a long answer (FActScore's knowledge source)."""
    note: str = ""
    """How the questions were chosen, for people."""
    split: str = "all"
    sample: int | None = None
    available: int = 0
    """Questions in the split before sampling; 0 if unknown."""
    seed: int = 0

    @property
    def categories(self) -> dict[str, int]:
        """Number of questions by category, sorted by name."""
        counted = Counter(question.category for question in self.questions if question.category)
        return dict(sorted(counted.items()))


# --- splits: three fifths to learn from, one to tune on, one for the number that is reported --------------------------

Split = Literal["train", "tune", "final", "all"]
FIFTHS: tuple[Split, ...] = ("train", "train", "train", "tune", "final")


def split_of(key: str) -> Split:
    """The split of a subject, article or question id: sha1 of "split:" and the key, modulo 5.

    Questions about one thing share a key: nothing tuned on some of them is measured on others.
    """
    return FIFTHS[sha1_number(f"split:{key}") % len(FIFTHS)]


def members(questions: Iterable[Question], split: Split) -> tuple[Question, ...]:
    """The questions of a split, in order."""
    return tuple(question for question in questions if split in ("all", split_of(question.group or question.id)))


def read_split(name: str) -> Split:
    """A split by its name. Raises UsageError."""
    if name not in get_args(Split):
        raise UsageError("unknown split", subject=name, next_step=f"splits are {', '.join(get_args(Split))}")
    return cast(Split, name)


def sha1_number(text: str) -> int:
    """The sha1 of a text as a number, the same on every machine."""
    return int(hashlib.sha1(text.encode("utf-8", "backslashreplace"), usedforsecurity=False).hexdigest(), 16)


# --- whether words, or names of documents, are the same ---------------------------------------------------------------

ARTICLES = re.compile(r"\b(a|an|the)\b")
PUNCTUATION = str.maketrans("", "", string.punctuation)


def normalise(text: str) -> str:
    """Lower case, without ASCII punctuation and English articles, single spaces (SQuAD's `normalize_answer`)."""
    return " ".join(ARTICLES.sub(" ", text.lower().translate(PUNCTUATION)).split())


def matches(gold: str, source: str, also: Iterable[str] = ()) -> bool:
    """Whether a gold source names the document: it equals, or ends, its source or one of its other sources.

    An end starts at a path component: "BERT.pdf" names "/x/papers/BERT.pdf" and not "/x/papers/RoBERT.pdf".
    """
    return matching([gold], source, also) != []


def matching(labels: Iterable[str], source: str, also: Iterable[str] = ()) -> list[str]:
    """The labels that name the document, in order; if some equal a source, only those."""
    labels = list(labels)
    own = {source, *also}
    equal = [label for label in labels if label in own]
    if equal:
        return equal
    return [label for label in labels if any("/".join(components(label)) in path_ends(name) for name in own)]


@lru_cache(maxsize=100_000)  # a run repeats the same documents
def path_ends(source: str) -> frozenset[str]:
    """The path and all its ends that start at a component."""
    parts = components(source)
    return frozenset("/".join(parts[start:]) for start in range(len(parts)))


def components(path: str) -> list[str]:
    r"""Names along a path without `.`; leading `..` cannot be compared and are dropped; `\` separates too."""
    parts = [part for part in path.replace("\\", "/").split("/") if part != "."]
    while parts and parts[0] == "..":
        parts = parts[1:]
    return parts
