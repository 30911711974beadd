"""What contradicts an answer is shown beside it: a reader who sees one side only is misled."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from thresher.answering.citations import cite, is_quoted_from
from thresher.answering.sentence_support import Sentence
from thresher.protocols import Verifier, about
from thresher.structure.versions import are_versions
from thresher.text.sentences import sentence_spans
from thresher.types import Citation, Document, Evidence, Generation, Query, Refined
from thresher.verification.conflicts import find_conflicts


@dataclass(frozen=True, slots=True)
class ConflictCiter:
    """Another verifier's answer, with evidence that contradicts a cited piece cited behind the others."""

    verify: Verifier
    placed: Callable[[Citation], Citation]
    """Says where in its file the quote of a citation stands."""
    documents: Callable[[Sequence[str]], Mapping[str, Document]] = lambda ids: {}
    """The documents of some ids: versions of one document do not contradict each other."""

    @property
    def about(self) -> str:
        """What the verifier says of itself."""
        return about(self.verify)

    def __call__(self, query: Query, draft: Generation, refined: Refined) -> Generation:
        """The verified draft with the citations of both sides, and the pairs of their markers, behind its own pairs."""
        verified = self.verify(query, draft, refined)
        citations = list(verified.citations)
        markers = {citation.marker for citation in citations}
        pairs = dict.fromkeys(pair for pair in verified.conflicts if markers.issuperset(pair))
        for positions in refined.conflicts:
            one, other = (refined.evidence[position - 1] for position in positions)
            known = self.documents([one.hit.chunk.document_id, other.hit.chunk.document_id])
            if len(known) > 1 and are_versions(*known.values()):
                continue
            for side, against in ((one, other), (other, one)):
                for citation in [citation for citation in verified.citations if is_quoted_from(side, citation)]:
                    for sentence in _contradicting(side, citation, against):
                        marker = _marker(sentence, citations)
                        if marker is None:
                            marker = len(citations) + 1
                            citations.append(self.placed(cite(marker, sentence)))
                        pairs[min(citation.marker, marker), max(citation.marker, marker)] = None
        return replace(verified, citations=tuple(citations), conflicts=tuple(pairs))


def _contradicting(side: Evidence, citation: Citation, other: Evidence) -> list[Sentence]:
    """The sentences of other evidence that contradict what is cited from a piece: they may agree in all the rest."""
    quote = replace(side, start=citation.start, end=citation.end, text=citation.quote)
    spans = sentence_spans(other.text) or [(0, len(other.text))]
    sentences = [replace(other, start=other.start + a, end=other.start + b, text=other.text[a:b]) for a, b in spans]
    found = find_conflicts([quote, *sentences]).pairs
    return [Sentence.whole(sentences[position - 2], other.hit.score) for first, position in found if first == 1]


def _marker(sentence: Sentence, citations: Sequence[Citation]) -> int | None:
    own = (one for one in citations if one.document_id == sentence.evidence.hit.chunk.document_id)
    return next((one.marker for one in own if one.start < sentence.end and sentence.start < one.end), None)
