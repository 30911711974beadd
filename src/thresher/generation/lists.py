"""Questions for steps, rules and lists: the whole list, in order, with the line that leads to it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from thresher.generation.citations import cite
from thresher.generation.sentence_support import Sentence
from thresher.protocols import Generator, about
from thresher.text.injection import is_command
from thresher.text.lists import Listing, asks_for_list, closeness, fits, lists_of
from thresher.types import Document, Evidence, Generation, Notes, Query

RIGHT = 0.9
"""Certainty of a list whose lead-in or heading is what was asked for: all nine that answered questions of
benchmarks/questions and of those it was looked at with are right, and (9 + 1) / (9 + 2) is 0.91."""


@dataclass(frozen=True, slots=True)
class ListReader:
    """Answers with a list of the evidence that its lead-in or heading fits to the question; hands on otherwise."""

    documents: Callable[[Sequence[str]], Mapping[str, Document]]
    otherwise: Generator

    @property
    def about(self) -> str:
        """For people, in a few words."""
        return f"lists, {about(self.otherwise)}"

    def __call__(self, query: Query, evidence: Sequence[Evidence]) -> Generation:
        """The list as it stands, with one citation of all of it."""
        question = query.question
        fitting = list(self._fitting(question, evidence)) if asks_for_list(question) else []
        if not fitting:
            return self.otherwise(query, evidence)
        piece, document, listing = max(fitting, key=lambda found: closeness(question, found[2]))
        quote = document.text[listing.start : listing.end]
        citation = cite(1, Sentence(piece, listing.start, listing.end, quote, piece.hit.score))
        notes = Notes(facts={"reader": "list", "items": len(listing.items)})
        lines = [line.lstrip("# ") if line.startswith("#") else line for line in quote.splitlines() if line.strip()]
        return Generation("\n".join(lines) + " [1]", (citation,), certainty=RIGHT, notes=notes, exact=True)

    def _fitting(self, question: str, evidence: Sequence[Evidence]) -> Iterator[tuple[Evidence, Document, Listing]]:
        """The lists that a piece of evidence holds a part of, and whose lead-in or heading speaks of the question."""
        documents = self.documents(list(dict.fromkeys(piece.hit.chunk.document_id for piece in evidence)))
        seen: set[tuple[str, int]] = set()
        for piece in evidence:
            document = documents.get(piece.hit.chunk.document_id)
            if document is None:
                continue
            for listing in lists_of(document, piece.start, piece.end):
                orders = is_command(document.text[listing.start : listing.end])
                if (
                    (place := (document.id, listing.start)) not in seen
                    and not orders
                    and fits(question, document, listing)
                ):
                    seen.add(place)
                    yield piece, document, listing
