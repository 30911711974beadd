"""The cells of the row and column that a question names, with their unit."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar

from thresher.generation.candidates import Candidate
from thresher.generation.citations import cite
from thresher.generation.material import Material
from thresher.generation.sentence_support import Sentence
from thresher.structure.answers import answered, form_near
from thresher.structure.forms import Form
from thresher.structure.grid import Cell, Found, Grid
from thresher.types import Citation, Document, Evidence, Generation, Query

MOST_DOCUMENTS = 4
"""That say different things and are told one below the other, each behind its title; of more none is told."""

Answer = tuple[Evidence, Document, Found]
"""What a table or form says, and where it was found."""


@dataclass(frozen=True, slots=True)
class TableAnswerer:
    """Proposes what the tables and forms of the evidence say, where a question maps onto one."""

    name: ClassVar[str] = "tables"

    def __call__(self, query: Query, material: Material) -> Sequence[Candidate]:
        """The cell with its unit, and citations of its row and of the line that states the unit; of each document."""
        whole: list[tuple[Evidence, Document, Grid | Form]] = [*material.tables, *_forms(material)]
        found = _once(
            [
                (piece, document, answer)
                for piece, document, grid in whole
                if (answer := answered(grid, query.question)) is not None
            ]
        )
        if len({answer.text for _, _, answer in found}) == 1:
            found = found[:1]
        titles = {document.title for _, document, _ in found}
        if query.intent.choice is not None or not 1 <= len(found) == len(titles) <= MOST_DOCUMENTS:
            return ()
        lines, citations = list[str](), list[Citation]()
        for piece, document, answer in found:
            sentences = [
                Sentence(piece, start, end, document.text[start:end], piece.hit.score)
                for start, end in _lines(document.text, answer.cells)
            ]
            cited = [cite(marker, sentence) for marker, sentence in enumerate(sentences, start=len(citations) + 1)]
            subject = f"{document.title}: " if len(found) > 1 else ""
            lines.append(subject + answer.text + "".join(f" [{citation.marker}]" for citation in cited))
            citations += cited
        return [Candidate(Generation("\n".join(lines), tuple(citations), exact=True), self.name)]


def _forms(material: Material) -> Iterator[tuple[Evidence, Document, Form]]:
    """Each form that evidence stands in, once, with the best piece of evidence for it."""
    best = {piece.hit.chunk.document_id: piece for piece in reversed(material.evidence)}
    for piece in best.values():
        document = material.document(piece)
        if document is not None and (form := form_near(document, piece.start, piece.end)) is not None:
            yield piece, document, form


def _once(found: Sequence[Answer]) -> list[Answer]:
    """Without what another answer of the same document says too: a table, and the form around it with the unit."""
    fullest = sorted(found, key=lambda one: -len(one[2].text))
    kept: list[Answer] = []
    for one in fullest:
        if not any(one[1].id == other[1].id and one[2].text in other[2].text for other in kept):
            kept.append(one)
    return [one for one in found if any(one is other for other in kept)]


def _lines(text: str, cells: Sequence[Cell]) -> list[tuple[int, int]]:
    """The lines of the document that the cells stand in, joined where they touch; the first cell's lines first."""
    found: list[tuple[int, int]] = []
    for cell in sorted(cells, key=lambda cell: cell.start):
        end = text.find("\n", cell.end)
        start, end = text.rfind("\n", 0, cell.start) + 1, len(text) if end < 0 else end
        if found and start <= found[-1][1] + 1:
            start = found.pop()[0]
        found.append((start, end))
    return sorted(found, key=lambda span: not span[0] <= cells[0].start <= span[1])
