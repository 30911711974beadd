"""Questions that a table answers: the cell of the row and column that are named, with its unit, cited."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from thresher.generation.citations import abstention, cite
from thresher.generation.sentence_support import Sentence
from thresher.protocols import Generator, about
from thresher.text.forms import Form
from thresher.text.table_answers import RIGHT, answered, form_near, grids_near
from thresher.text.table_lookup import lacking
from thresher.text.tables import Cell, Found, Grid
from thresher.types import Citation, Document, Evidence, Generation, Notes, Query

Documents = Callable[[Sequence[str]], Mapping[str, Document]]

MOST_DOCUMENTS = 4
"""That say different things and are told one below the other, each behind its title; of more none is told."""
NEAR = 400
"""Characters between a piece of evidence and a table that it leads to."""


Read = tuple[Evidence, Document, Grid]
"""A table and where it was found."""
Answer = tuple[Evidence, Document, Found]
"""What one says, and where it was found."""


@dataclass(frozen=True, slots=True)
class TableReader:
    """Answers from the tables of the evidence where a question maps onto one with certainty; hands on otherwise."""

    documents: Documents
    otherwise: Generator

    @property
    def about(self) -> str:
        """For people, in a few words."""
        return f"tables, {about(self.otherwise)}"

    def __call__(self, query: Query, evidence: Sequence[Evidence]) -> Generation:
        """The cell with its unit, and citations of its row and of the line that states the unit; of each document."""
        read = list(self._grids(evidence))
        whole: list[tuple[Evidence, Document, Grid | Form]] = [*read, *self._forms(evidence)]
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
        if not 1 <= len(found) == len(titles) <= MOST_DOCUMENTS:
            return self._handed_on(query, evidence, read)
        told, citations = list[str](), list[Citation]()
        for piece, document, answer in found:
            lines = _lines(document.text, answer.cells)
            sentences = [Sentence(piece, start, end, document.text[start:end], piece.hit.score) for start, end in lines]
            cited = [cite(marker, sentence) for marker, sentence in enumerate(sentences, start=len(citations) + 1)]
            subject = f"{document.title}: " if len(found) > 1 else ""
            told.append(subject + answer.text + "".join(f" [{citation.marker}]" for citation in cited))
            citations += cited
        notes = Notes(facts={"reader": "table"})
        return Generation("\n".join(told), tuple(citations), certainty=RIGHT, notes=notes, exact=True)

    def _handed_on(self, query: Query, evidence: Sequence[Evidence], read: Sequence[Read]) -> Generation:
        """What is made of the rest: a table without the row or column that is asked for is no evidence."""
        lacks = [
            (document, grid, word)
            for _, document, grid in read
            if (word := lacking(grid, query.question, document.text))
        ]
        left = [piece for piece in evidence if not any(_within(piece, document, grid) for document, grid, _ in lacks)]
        if lacks and not left:
            return abstention(f"The table that is nearest to the question has nothing on {lacks[0][2]}.")
        return self.otherwise(query, left)

    def _forms(self, evidence: Sequence[Evidence]) -> Iterator[tuple[Evidence, Document, Form]]:
        """Each form that evidence stands in, once, with the best piece of evidence for it."""
        documents = self.documents(list(dict.fromkeys(piece.hit.chunk.document_id for piece in evidence)))
        best = {piece.hit.chunk.document_id: piece for piece in reversed(evidence)}
        for piece in best.values():
            document = documents.get(piece.hit.chunk.document_id)
            if document is not None and (form := form_near(document, piece.start, piece.end)) is not None:
                yield piece, document, form

    def _grids(self, evidence: Sequence[Evidence]) -> Iterator[Read]:
        """Each table that evidence stands in or near, once, with the best piece of evidence for it."""
        documents = self.documents(list(dict.fromkeys(piece.hit.chunk.document_id for piece in evidence)))
        seen: set[tuple[str, int]] = set()
        for piece in evidence:
            document = documents.get(piece.hit.chunk.document_id)
            if document is None:
                continue
            for grid in grids_near(document, piece.start - NEAR, piece.end + NEAR):
                if (key := (document.id, grid.start)) not in seen:
                    seen.add(key)
                    yield piece, document, grid


def _once(found: Sequence[Answer]) -> list[Answer]:
    """Without what another answer of the same document says too: a table, and the form around it with the unit."""
    fullest = sorted(found, key=lambda one: -len(one[2].text))
    kept: list[Answer] = []
    for one in fullest:
        if not any(one[1].id == other[1].id and one[2].text in other[2].text for other in kept):
            kept.append(one)
    return [one for one in found if any(one is other for other in kept)]


def _within(piece: Evidence, document: Document, grid: Grid) -> bool:
    """Whether a piece of evidence is a part of a table and nothing else."""
    same = piece.hit.chunk.document_id == document.id and piece.hit.chunk.kind == "table"
    return same and grid.start < piece.end and piece.start < grid.end


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
