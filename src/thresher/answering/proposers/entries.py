"""Proposes the entries under the identifiers that a question names: a section, a row, a line of a list."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from thresher.answering.passage import Passage, Proposal, Stretch
from thresher.protocols import PairReader
from thresher.structure.entries import Entry, Named, entry_probability, named_in
from thresher.text.sentences import Span
from thresher.types import Document


@dataclass(frozen=True, slots=True)
class Entries:
    """The entries around the evidence of each document."""

    question: str
    stretches: Sequence[Stretch]
    named: Mapping[str, Named]

    @classmethod
    def near(cls, question: str, stretches: Sequence[Stretch], documents: Mapping[str, Document]) -> Entries:
        """Those that stand around some evidence."""
        places: dict[str, list[Span]] = {id_: [] for id_ in documents}
        for one in stretches:
            if one.document is not None:
                places[one.document.id].append((one.start, one.end))
        named = {id_: named_in(documents[id_], question, own) for id_, own in places.items()}
        return cls(question, stretches, named)

    def is_listed(self, proposal: Proposal) -> bool:
        """Whether a proposal stands under another identifier than the question names; a passage, under any."""
        for cited in proposal.citations:
            known, place = self.named.get(cited.document_id), (cited.start, cited.end)
            if known is not None and (known.is_other(*place) or (proposal.passage and known.of(*place))):
                return True
        return False

    def proposals(self, judge: PairReader) -> Iterator[Proposal]:
        """The entries under the identifiers of the question, as far as they were kept."""
        for stretch in self.stretches:
            document, known = stretch.document, self.named.get(stretch.piece.hit.chunk.document_id)
            if document is None or known is None:
                continue
            for entry in known.of(stretch.start, stretch.end):
                passage = _within(stretch, entry)
                texts = [passage.quote, *known.renamed(document, entry)]
                own, *others = judge.read(self.question, texts, [stretch.title] * len(texts))
                probability = entry_probability(self.question, own.relevance, [one.relevance for one in others])
                yield Proposal(probability, passage.quote, (passage.citation(1),), passage)


def _within(stretch: Stretch, entry: Entry) -> Passage:
    """The kept part of an entry."""
    start, end = max(entry.start, stretch.start), min(entry.end, stretch.end)
    quote = stretch.text[start - stretch.start : end - stretch.start].rstrip()
    return Passage(stretch, start, start + len(quote), quote, entry=True)
