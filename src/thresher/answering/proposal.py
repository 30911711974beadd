"""What may be shown, with its probability to hold the answer."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from thresher.answering.passage import Passage
from thresher.answering.spans import AnswerSpan, Signs
from thresher.text.sentences import Span
from thresher.types import Citation


@dataclass(frozen=True, slots=True)
class Proposal:
    """A passage, an entry or a cell that may be shown."""

    probability: float
    text: str
    """Of a cell with its markers, which count on from [1]; of a passage its quote."""
    citations: tuple[Citation, ...]
    passage: Passage | None = None
    """None for a cell."""
    marked: Span | None = None
    """The sentence of the passage that answers, in offsets of its quote; None for an entry."""
    place: AnswerSpan | None = None
    """The most probable span of the passage."""
    signs: Signs | None = None
    """What the judge read of the marked sentence; None for a cell, an entry and what is not in force."""
    order: float | None = None
    """Log odds by which the marked sentence is put in order; None where there is none."""
    doubt: str = ""
    """Why it is shown and never asserted, however probable it is; "" where nothing speaks against it."""

    def shows(self, place: AnswerSpan) -> bool:
        """Whether a span stands in its passage: a contradiction within a passage is read there."""
        passage = self.passage
        return passage is not None and passage.touches(place.document_id, place.start, place.end)

    def overlaps(self, other: Proposal) -> bool:
        """Whether both cite the same place."""
        return any(same_place(mine, theirs) for mine in self.citations for theirs in other.citations)

    def to_dict(self) -> dict[str, Any]:
        """As the trace has it."""
        kind = "cell" if self.passage is None else "entry" if self.passage.entry else "passage"
        shown: dict[str, Any] = {"kind": kind, "text": self.text, "probability": round(self.probability, 3)}
        if self.signs is not None:
            shown |= self.signs.to_dict()
        if self.place is not None:
            shown |= {"words": self.place.words, "span": round(self.place.certainty, 3)}
        return shown


def in_order(proposals: Iterable[Proposal]) -> list[Proposal]:
    """The likeliest first, those as likely as they came."""
    return sorted(proposals, key=lambda one: -one.probability)


def same_place(one: Citation, other: Citation) -> bool:
    """Whether two citations overlap in a document."""
    return one.document_id == other.document_id and one.start < other.end and other.start < one.end
