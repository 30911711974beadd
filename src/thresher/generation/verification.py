"""The last look at an answer: each sentence must be supported by what it cites, otherwise it is repaired or removed."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

from thresher.generation.claims import Claim, claims_of, joined
from thresher.generation.extractive import abstention, cite
from thresher.generation.quotes import quoted
from thresher.generation.support import Sentence, Spans
from thresher.types import Citation, Draft, Evidence, Query

UNSUPPORTED = "No sentence of the answer is supported by its evidence."


@dataclass(frozen=True, slots=True)
class Cited:
    """A sentence of an answer and the positions in the evidence, from 0, of what it cites."""

    text: str
    pieces: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Finding:
    """What a check found out about one sentence."""

    supported: bool
    contradicted: bool
    score: float
    """Support from 0 to 1."""
    reason: str = ""
    """Why it is not supported."""
    pieces: tuple[int, ...] = ()
    """Positions of the evidence that supports it: what it cites, where that does."""


@dataclass(frozen=True, slots=True)
class Findings:
    """A finding for each sentence, in their order."""

    each: tuple[Finding, ...]
    detail: Mapping[str, Any] = field(default_factory=dict)
    """Facts for the trace; `unreadable` (int) and `degraded` (list of str) as in `types.Scored`."""


class ClaimCheck(Protocol):
    """Looks for the support of sentences, first in what they cite, then in the rest of the evidence."""

    def __call__(self, query: Query, claims: Sequence[Cited], evidence: Sequence[Evidence]) -> Findings:
        """One finding for each claim."""
        ...


@dataclass(frozen=True, slots=True)
class ClaimVerifier:
    """Keeps the sentences that hold, cites other evidence where only that supports them, removes and counts the rest.

    A draft that is nothing but quotes of the evidence is supported by construction: it is handed on as it is and
    counted as `quoted`, apart from what was found to be supported.
    """

    check: ClaimCheck
    nearest: Callable[[str, Evidence], Sentence]
    """The sentence of a piece of evidence that is nearest to a claim; quoted where a new citation is needed."""
    spans: Spans

    def __call__(self, query: Query, draft: Draft, evidence: Sequence[Evidence]) -> Draft:
        """The draft with its supported sentences, or an abstention when none is."""
        if draft.abstained:
            return draft
        if _only_quotes(draft, evidence):
            counts = _counts(sentences=len(draft.citations), quoted=len(draft.citations))
            return replace(draft, detail={**draft.detail, **counts})
        claims = claims_of(draft.text, self.spans)
        places = {citation.marker: _piece(citation, evidence) for citation in draft.citations}
        cited = [Cited(claim.text, _pieces(claim, places)) for claim in claims]
        found = self.check(query, cited, evidence)
        kept = [(claim, finding) for claim, finding in zip(claims, found.each, strict=True) if finding.supported]
        detail = {**draft.detail, **found.detail, **_summary(cited, found.each)}
        if not kept:
            return abstention(UNSUPPORTED, detail)
        book = _Book()
        sentences = []
        for claim, finding in kept:
            own = [c for c in draft.citations if c.marker in claim.numbers and places[c.marker] in finding.pieces]
            covered = {places[citation.marker] for citation in own}
            new = [cite(0, self.nearest(claim.text, evidence[at])) for at in finding.pieces if at not in covered]
            sentences.append((claim, list(dict.fromkeys(book.marker(citation) for citation in [*own, *new]))))
        return replace(draft, text=joined(sentences), citations=tuple(book.citations), detail=detail)


@dataclass(slots=True)
class _Book:
    """The citations that sentences refer to, numbered as they come."""

    citations: list[Citation] = field(default_factory=list)

    def marker(self, citation: Citation) -> int:
        """The number of a citation; the same place is cited once."""
        for known in self.citations:
            if (known.document_id, known.start, known.end) == (citation.document_id, citation.start, citation.end):
                return known.marker
        self.citations.append(replace(citation, marker=len(self.citations) + 1))
        return len(self.citations)


def _only_quotes(draft: Draft, evidence: Sequence[Evidence]) -> bool:
    """Whether the draft is quotes and nothing else, and each stands in the evidence word for word."""
    rest = draft.text
    for citation in draft.citations:
        rest = rest.replace(quoted(citation), "", 1)
    return bool(draft.citations) and not rest.strip() and all(_piece(c, evidence) is not None for c in draft.citations)


def _piece(citation: Citation, evidence: Sequence[Evidence]) -> int | None:
    """The position of the evidence that has the quote at the citation's place; None where none has it."""
    for position, piece in enumerate(evidence):
        at = citation.start - piece.start
        same = piece.hit.chunk.document_id == citation.document_id and at >= 0
        if same and piece.text[at : citation.end - piece.start] == citation.quote:
            return position
    return None


def _pieces(claim: Claim, places: Mapping[int, int | None]) -> tuple[int, ...]:
    found = (places.get(number) for number in claim.numbers)
    return tuple(dict.fromkeys(position for position in found if position is not None))


def _summary(cited: Sequence[Cited], findings: Sequence[Finding]) -> dict[str, Any]:
    supported = repaired = contradicted = 0
    for was, finding in zip(cited, findings, strict=True):
        held = finding.supported and set(finding.pieces) <= set(was.pieces)
        supported += held
        repaired += finding.supported and not held
        contradicted += not finding.supported and finding.contradicted
    removed = len(findings) - supported - repaired
    return {
        **_counts(
            sentences=len(findings),
            supported=supported,
            repaired=repaired,
            removed=removed,
            contradicted=contradicted,
            unsupported=removed - contradicted,
        ),
        "removed_sentences": [
            {"text": was.text, "reason": finding.reason}
            for was, finding in zip(cited, findings, strict=True)
            if not finding.supported
        ],
    }


def _counts(**counted: int) -> dict[str, int]:
    """All counts, those not given being 0; `removed` = `contradicted` + `unsupported`."""
    names = ("sentences", "supported", "repaired", "removed", "contradicted", "unsupported", "quoted")
    return {name: counted.get(name, 0) for name in names}
