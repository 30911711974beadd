"""The kept text of a question, document by document: what is shown or cited lies inside one stretch of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from thresher.types import Document, Evidence


@dataclass(frozen=True, slots=True)
class Stretch:
    """Evidence of one document without a gap; `start` and `end` are offsets in the document."""

    piece: Evidence
    """The piece of it that was ranked best."""
    document: Document | None
    """None for a page of the web."""
    start: int
    end: int
    text: str
    """`document.text[start:end]`, where there is a document."""

    @property
    def title(self) -> str:
        """Of its document."""
        return self.piece.hit.chunk.title

    def holds(self, document_id: str, start: int, end: int) -> bool:
        """Whether a span of a document lies inside."""
        return self.piece.hit.chunk.document_id == document_id and self.start <= start and end <= self.end


def stretches_of(evidence: Sequence[Evidence], documents: Mapping[str, Document]) -> list[Stretch]:
    """The evidence with pieces that touch or overlap joined, in the order of the best piece of each.

    Two pieces touch where nothing but white space of their document lies between them.
    """
    rank = {id(piece): at for at, piece in enumerate(evidence)}
    found: list[Stretch] = []
    for piece in sorted(evidence, key=lambda piece: (piece.hit.chunk.document_id, piece.start)):
        document = documents.get(piece.hit.chunk.document_id)
        last = found[-1] if found else None
        if last is not None and _touches(last, piece):
            best = min(last.piece, piece, key=lambda one: rank[id(one)])
            end = max(last.end, piece.end)
            text = last.text + _beyond(last, piece)
            found[-1] = replace(last, piece=best, end=end, text=text)
        else:
            found.append(Stretch(piece, document, piece.start, piece.end, piece.text))
    return sorted(found, key=lambda stretch: rank[id(stretch.piece)])


def _touches(stretch: Stretch, piece: Evidence) -> bool:
    if stretch.piece.hit.chunk.document_id != piece.hit.chunk.document_id:
        return False
    if piece.start <= stretch.end:
        return True
    document = stretch.document
    return document is not None and not document.text[stretch.end : piece.start].strip()


def _beyond(stretch: Stretch, piece: Evidence) -> str:
    """What a piece adds behind a stretch, with the white space between them."""
    if piece.start <= stretch.end:
        return piece.text[stretch.end - piece.start :]
    assert stretch.document is not None
    return stretch.document.text[stretch.end : piece.start] + piece.text
