"""What the tables and forms of the evidence say, where a question maps onto one."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from thresher.answering.citations import Sentence, cite
from thresher.question.wording import ADDED
from thresher.structure.answers import answered, form_near, grids_near
from thresher.structure.forms import Form
from thresher.structure.grid import Cell, Found, Grid
from thresher.text.sentences import Span
from thresher.types import Citation, Document, Evidence

Holds = Callable[[str, int, int], bool]
"""Whether a span of a document, by its id, was kept."""

TABLE_REACH = 400
"""Characters between a piece of evidence and a table that it leads to."""

MOST_LINES = 8
"""Stretches of a table that are cited for what is worked out from all of it."""

MOST_DOCUMENTS = 4
"""That say different things and are shown one below the other, each behind its title; of more none is shown."""


@dataclass(frozen=True)
class CellFinder:
    """Finds the cell that answers in the tables and forms that evidence stands in or near."""

    question: str
    evidence: Sequence[Evidence]
    documents: Mapping[str, Document] = field(repr=False)

    @cached_property
    def grids(self) -> Sequence[tuple[Evidence, Document, Grid]]:
        """Each table once, with the best piece of evidence for it."""
        found: dict[tuple[str, int], tuple[Evidence, Document, Grid]] = {}
        for piece in self.evidence:
            if (document := self.documents.get(piece.hit.chunk.document_id)) is not None:
                for grid in grids_near(document, piece.start - TABLE_REACH, piece.end + TABLE_REACH):
                    found.setdefault((document.id, grid.start), (piece, document, grid))
        return list(found.values())

    def answer(self, holds: Holds) -> tuple[str, tuple[Citation, ...]] | None:
        """The cell of each document with its unit, cited with its row and the line that states the unit.

        Every such line must be kept by `holds`; a header that was not is not cited. None where no table answers, or too
        many differ, and for a question with its topic in brackets, which names cells of both.
        """
        if ADDED.fullmatch(self.question):
            return None
        every: list[tuple[Evidence, Document, Grid | Form]] = [*self.grids, *self._forms()]
        answers = ((piece, document, grid, answered(grid, self.question)) for piece, document, grid in every)
        found = _once(
            [
                (piece, document, answer, lines)
                for piece, document, grid, answer in answers
                if answer is not None and (lines := _kept(document, grid, answer, holds))
            ]
        )
        if len({answer.text for _, _, answer, _ in found}) == 1:
            found = found[:1]
        if not 1 <= len(found) == len({document.title for _, document, _, _ in found}) <= MOST_DOCUMENTS:
            return None
        return _cited(found)

    def _forms(self) -> Iterator[tuple[Evidence, Document, Form]]:
        """Each form that evidence stands in, once, with the best piece of evidence for it."""
        best = {piece.hit.chunk.document_id: piece for piece in reversed(self.evidence)}
        for piece in best.values():
            document = self.documents.get(piece.hit.chunk.document_id)
            if document is not None and (form := form_near(document, piece.start, piece.end)) is not None:
                yield piece, document, form


CellAnswer = tuple[Evidence, Document, Found, list[Span]]
"""What a table or form says, where it was found, and the lines that it rests on."""


def _cited(found: Sequence[CellAnswer]) -> tuple[str, tuple[Citation, ...]]:
    """Answers one below the other, each behind the title of its document where there are several."""
    texts, citations = list[str](), list[Citation]()
    for piece, document, answer, lines in found:
        places = enumerate(lines, start=len(citations) + 1)
        cited = [cite(at, Sentence(piece, a, b, document.text[a:b], piece.hit.score)) for at, (a, b) in places]
        subject = f"{document.title}: " if len(found) > 1 else ""
        texts.append(subject + answer.text + "".join(f" [{citation.marker}]" for citation in cited))
        citations += cited
    return "\n".join(texts), tuple(citations)


def _kept(document: Document, grid: Grid | Form, found: Found, holds: Holds) -> list[Span]:
    """The lines that an answer cites, its own first; none where one of them that is no header was dropped.

    Of what is worked out from a column some of it must be kept, and the first line and those are cited.
    """
    above = set() if isinstance(grid, Form) else {cell.start for cell in (*grid.header, *grid.around)}
    if found.computed:
        held = [cell for cell in found.cells if holds(document.id, cell.start, cell.end)]
        some = any(cell.start not in above for cell in held)
        return _lines(document.text, [*found.cells[:1], *held])[:MOST_LINES] if some else []
    lines = _lines(document.text, [cell for cell in found.cells if cell.start not in above] or found.cells)
    if not all(holds(document.id, *line) for line in lines):
        return []
    return [line for line in _lines(document.text, found.cells) if holds(document.id, *line)]


def _once(found: Sequence[CellAnswer]) -> list[CellAnswer]:
    """Without what another answer of the same document says too: a table, and the form around it with the unit."""
    kept: list[CellAnswer] = []
    for one in sorted(found, key=lambda one: -len(one[2].text)):
        if not any(one[1].id == other[1].id and one[2].text in other[2].text for other in kept):
            kept.append(one)
    return [one for one in found if any(one is other for other in kept)]


def _lines(text: str, cells: Sequence[Cell]) -> list[Span]:
    """The lines of the document that the cells stand in, joined where they touch; the first cell's lines first."""
    found: list[Span] = []
    for cell in sorted(cells, key=lambda cell: cell.start):
        end = text.find("\n", cell.end)
        start, end = text.rfind("\n", 0, cell.start) + 1, len(text) if end < 0 else end
        if found and start <= found[-1][1] + 1:
            start = found.pop()[0]
        found.append((start, end))
    return sorted(found, key=lambda span: not span[0] <= cells[0].start <= span[1])
