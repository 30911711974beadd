"""Steps, rules and lists: the whole list, in order, with the line that leads to it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar

from thresher.generation.candidates import Candidate
from thresher.generation.citations import cite
from thresher.generation.material import Material
from thresher.generation.sentence_support import Sentence
from thresher.structure.lists import Listing, closeness, fits, lists_of
from thresher.text.injection import is_command
from thresher.types import Document, Evidence, Generation, Notes, Query


@dataclass(frozen=True, slots=True)
class ListAnswerer:
    """Proposes the list of the evidence whose lead-in or heading is closest to the question."""

    name: ClassVar[str] = "lists"

    def __call__(self, query: Query, material: Material) -> Sequence[Candidate]:
        """The list as it stands, with one citation of all of it."""
        question = query.question
        fitting = list(_fitting(question, material)) if query.intent.may_be_list else []
        if not fitting or query.intent.choice is not None:
            return ()
        piece, document, listing = max(fitting, key=lambda found: closeness(question, found[2]))
        quote = document.text[listing.start : listing.end]
        citation = cite(1, Sentence(piece, listing.start, listing.end, quote, piece.hit.score))
        notes = Notes(facts={"items": len(listing.items)})
        lines = [line.lstrip("# ") if line.startswith("#") else line for line in quote.splitlines() if line.strip()]
        answer = Generation("\n".join(lines) + " [1]", (citation,), notes=notes, exact=True)
        return [Candidate(answer, self.name)]


def _fitting(question: str, material: Material) -> Iterator[tuple[Evidence, Document, Listing]]:
    """The lists that a piece of evidence holds a part of, and whose lead-in or heading speaks of the question."""
    seen: set[tuple[str, int]] = set()
    for piece in material.text:
        document = material.document(piece)
        if document is None:
            continue
        for listing in lists_of(document, piece.start, piece.end):
            orders = is_command(document.text[listing.start : listing.end])
            place = (document.id, listing.start)
            if place not in seen and not orders and fits(question, document, listing):
                seen.add(place)
                yield piece, document, listing
