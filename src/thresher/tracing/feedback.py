"""Feedback on answers: one line of JSON for each label, in one file of the collection.

A label outlives its trace, since it quotes its passages; `forget` drops those that quote a deleted source.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from thresher.errors import UsageError
from thresher.types import Public

if TYPE_CHECKING:
    from thresher.protocols import Files

FILE, LOCK = "feedback.jsonl", "feedback.lock"

LOCK_SECONDS = 60.0
"""To wait for another process that keeps a label or drops some, which takes milliseconds."""

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class LabelledPassage(Public):
    """A chunk that an answer cited; offsets in its document."""

    source: str
    title: str
    start: int
    end: int
    text: str
    inside: bool = True
    """Whether it is from the collection itself."""


@dataclass(frozen=True, slots=True)
class Label(Public):
    """A person's feedback on one answer."""

    trace: str
    question: str
    """As it stood alone."""
    right: bool
    answer: str | None
    """The right one, as the person gave it."""
    abstained: bool
    passages: tuple[LabelledPassage, ...]
    labelled: str
    """ISO 8601 time of the label."""
    by: str = ""
    """Who gave it, as the server knows callers; empty for a user of the collection itself."""

    @property
    def answerable(self) -> bool | None:
        """Whether the collection answers the question; None where the label does not tell.

        It does after a right answer from it, a wrong refusal or a given right answer, not after a right refusal.
        """
        if self.right:
            return False if self.abstained else (any(passage.inside for passage in self.passages) or None)
        return True if self.abstained or self.answer is not None else None

    @classmethod
    def from_dict(cls, stored: Mapping[str, Any]) -> Label:
        """What `to_dict` gave, also after a trip through JSON. Raises KeyError and TypeError for anything else."""
        passages = tuple(LabelledPassage(**passage) for passage in stored["passages"])
        return cls(**{**stored, "passages": passages})


def label_of(answered: Mapping[str, Any], *, right: bool, answer: str | None = None, by: str = "") -> Label:
    """The label of an `Answer.to_dict(chunks=True)`. Raises UsageError for an empty right answer or a missing trace."""
    if not answered["trace"]:
        raise UsageError("was not stored, so it has no id", subject="the answer", next_step="ask again")
    if answer is not None and not answer.strip():
        raise UsageError("is empty", subject="`answer`", next_step="give the right answer, or leave it out")
    return Label(
        trace=answered["trace"],
        question=answered.get("standalone") or answered["question"],
        right=right,
        answer=answer,
        abstained=answered["abstained"],
        passages=tuple(_cited(answered)),
        labelled=datetime.now(UTC).isoformat(timespec="seconds"),
        by=by,
    )


def _cited(answer: Mapping[str, Any]) -> Iterable[LabelledPassage]:
    """Each chunk that a citation stands in, once; the quote itself where its chunk is not known."""
    found: dict[tuple[str, int], LabelledPassage] = {}
    for cited in answer["citations"]:
        quote = {"start": cited["start"], "end": cited["end"], "text": cited["quote"]}
        chunks = (one for one in answer["chunks"] if one["kept"] and one["source"] == cited["source"])
        holding = (one for one in chunks if one["start"] < cited["end"] and cited["start"] < one["end"])
        place = next(holding, quote)
        span = place["start"], place["end"], place["text"]
        passage = LabelledPassage(cited["source"], cited["title"], *span, cited["origin"] == "inside")
        found.setdefault((passage.source, passage.start), passage)
    return found.values()


class Feedback:
    """A file of labels; absent until the first one is kept. Safe to use from several threads and processes."""

    def __init__(self, files: Files) -> None:
        self._files = files

    def add(self, label: Label) -> None:
        """Keep a label: on disk when this returns, whole or not at all. Raises StoreError."""
        line = json.dumps(label.to_dict(), ensure_ascii=False).encode("utf-8", "replace")
        with self._files.lock(LOCK, LOCK_SECONDS):
            self._write([*self._lines(), line])

    def labels(self) -> list[Label]:
        """The last label of each person for each answer; damaged lines are logged and passed over."""
        read: dict[tuple[str, str], Label] = {}
        for line in self._lines():
            try:
                label = Label.from_dict(json.loads(line))
            except (ValueError, KeyError, TypeError):
                _log.warning("%s: a line is damaged and is passed over", self._files.where(FILE))
                continue
            read[label.trace, label.by] = label
        return list(read.values())

    def forget(self, sources: Iterable[str]) -> int:
        """Drop the labels that quote any of the sources, and damaged lines; returns how many lines went."""
        wanted = set(sources)
        if not self._lines():
            return 0
        with self._files.lock(LOCK, LOCK_SECONDS):
            lines = self._lines()
            kept = [line for line in lines if not _quotes(line, wanted)]
            if len(kept) < len(lines):
                self._write(kept)
        return len(lines) - len(kept)

    def _lines(self) -> Sequence[bytes]:
        return [line for line in (self._files.read(FILE) or b"").split(b"\n") if line.strip()]

    def _write(self, lines: Iterable[bytes]) -> None:
        self._files.write(FILE, b"".join(line + b"\n" for line in lines), durable=True)


def _quotes(line: bytes, sources: Set[str]) -> bool:
    """Whether a line quotes a source; a damaged line counts as quoting any."""
    try:
        return any(passage.source in sources for passage in Label.from_dict(json.loads(line)).passages)
    except (ValueError, KeyError, TypeError):
        return True
