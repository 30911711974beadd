"""The evidence that supports a claim: what it cites, another piece, several by clause, the whole cited document."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from thresher.text.entities import missing_details, names_in
from thresher.text.injection import is_command
from thresher.text.language import foreign_language
from thresher.text.numbers import quantities
from thresher.text.sentences import between_figures, sentence_spans
from thresher.text.terms import term_set
from thresher.types import ClaimState, Document, Evidence
from thresher.verification.claims import Cited, Finding, is_value
from thresher.verification.rules import NOT_STATED, NOTHING, asks_whether, is_bare_verdict
from thresher.verification.windows import Rows, Window, nearest_windows, of_named_rows, windows_of

QUOTED_SUPPORT = 0.99
"""Probability that a quoted claim is supported, of as many supported ones as others (`quoting`)."""

PROBABLY = 0.5
"""Support by one piece from which another one that says otherwise contradicts nothing."""

CLAUSE_TERMS = 2
"""A clause with fewer terms states nothing of its own."""

OBEYS = "it follows an order that stands in the evidence"

A_TITLE = "the title of the document says so, and its text does not"

_BETWEEN_CLAUSES = re.compile(
    r"\s*;\s+|,\s+(?:and|but|while|whereas|although|which|whilst)\s+|\s+(?:while|whereas|but)\s+|\s+and\s+(?=[A-Z])"
)
_ASKS = re.compile(r"(?:\w+ )?(?:who|whom|whose|what|when|where|which|why|how)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Attribution:
    """The evidence that the claims of one answer are attributed to."""

    question: str
    evidence: Sequence[Evidence]
    against: Callable[[str, Sequence[Window], str], Finding]
    """Checks a claim against some windows together; names may also stand in the last text."""
    documents: Callable[[Sequence[str]], Mapping[str, Document]]
    rows: Rows
    windows: tuple[Window, ...] = field(init=False)
    _known: dict[tuple[str, ...], str] = field(init=False, default_factory=dict)

    def __post_init__(self) -> None:
        documents = self.documents(list(dict.fromkeys(piece.hit.chunk.document_id for piece in self.evidence)))
        every: list[Window] = []
        for at, piece in enumerate(self.evidence):
            document = documents.get(piece.hit.chunk.document_id)
            rows = self.rows(document, piece.start, piece.end) if document else []
            every += windows_of(piece, at, rows)
        object.__setattr__(self, "windows", tuple(every))

    def find(self, claim: Cited) -> Finding:
        """What supports a claim; nothing verifies one that rests on a document in which what was asked about is not."""
        question, evidence = self.question, self.evidence
        if question and repeats(question, claim.text):
            return Finding(ClaimState.UNVERIFIED, 0.0, reason="it is the question again")
        if is_bare_verdict(claim.text) and not asks_whether(question):
            return Finding(ClaimState.UNVERIFIED, 0.0, reason="it says nothing by itself")
        found = self._supported(claim)
        if found.holds and self._rests_on_a_title(claim.text, found):
            return replace(found, state=ClaimState.UNVERIFIED, reason=A_TITLE, bounded=True)
        if not found.holds or not question or foreign_language(question):
            return found
        several = len(names_in(question)) > 1
        pieces = range(len(evidence)) if several else found.pieces  # of two things each may have a document of its own
        known = " ".join([self._documents_of(pieces), *(evidence[at].text for at in pieces)])
        measures = {value for quantity in quantities(question) if quantity.unit for value in quantity.values}
        # 45 days are between 30 and 60
        absent = [one for one in missing_details(question, known) if one not in measures]
        if not absent:
            return found
        why = f"the cited document does not speak of {absent[0]}"
        return replace(found, state=ClaimState.UNVERIFIED, reason=why, bounded=True)

    def _rests_on_a_title(self, claim: str, found: Finding) -> bool:
        """Whether what a claim adds to the question stands in titles alone: they name a document and state nothing."""
        chunks = [self.evidence[at].hit.chunk for at in found.pieces]
        known = self.documents([chunk.document_id for chunk in chunks])
        texts = [document.text[: document.card] for document in known.values()] + [one.text for one in found.places]
        added = term_set(claim) - term_set(self.question)
        titled = added & term_set(" ".join(chunk.title for chunk in chunks))
        return bool(titled) and added.isdisjoint(term_set(" ".join(texts)))

    def _supported(self, claim: Cited) -> Finding:
        """The support of a claim: a quote, what it cites, another piece, several pieces, the whole document.

        A value answers its question or does not: that the words stand somewhere is no quote.
        """
        if not (self.question and is_value(claim.text)) and (quoted := self._quoted(claim)) is not None:
            return quoted
        own = self._cited(claim)
        if own is not None and own.holds:
            return own
        other = self._elsewhere(claim)
        if other is not None and other.holds:
            return other
        if (found := self._clauses(claim) or self._whole_document(claim)) is not None:
            return found
        tried = [finding for finding in (own, other) if finding is not None]
        if not tried:
            return Finding(ClaimState.UNVERIFIED, 0.0, reason=NOTHING)
        if obeys(claim.text, self.question, self.evidence):
            return replace(tried[0], state=ClaimState.CONTRADICTED, support=0.0, reason=OBEYS)
        if own is not None and not own.reason.startswith(NOT_STATED):
            return own  # its numbers stand where it says: that another piece has others denies nothing
        denied = (one for one in tried if one.state is ClaimState.CONTRADICTED)
        stated = (one for one in tried if not one.reason.startswith(NOT_STATED))  # not where it says
        return next(denied, next(stated, tried[0]))

    def _quoted(self, claim: Cited) -> Finding | None:
        """The finding of a sentence that says a claim in the same words, of what it cites before all others."""
        for window in sorted(self.windows, key=lambda window: window.piece not in claim.pieces):
            for place in window.quotes(claim.text):
                return Finding(ClaimState.QUOTED, QUOTED_SUPPORT, pieces=(window.piece,), places=(place,))
        return None

    def _cited(self, claim: Cited) -> Finding | None:
        """The finding of the pieces that it cites; None where it cites none."""
        windows = [window for window in self.windows if window.piece in claim.pieces]
        return self._against(claim.text, windows, claim.pieces) if windows else None

    def _elsewhere(self, claim: Cited) -> Finding | None:
        """The finding of one other piece alone: one that supports or probably does, else one that says otherwise."""
        near = nearest_windows(claim.text, [window for window in self.windows if window.piece not in claim.pieces])
        found = [
            self._against(claim.text, [window for window in near if window.piece == piece], (piece,))
            for piece in dict.fromkeys(window.piece for window in near)
        ]
        best = max(found, key=lambda one: (one.holds, one.support), default=None)
        if best is None or best.holds or best.support >= PROBABLY:
            return best
        return next((one for one in found if one.state is ClaimState.CONTRADICTED), best)

    def _clauses(self, claim: Cited) -> Finding | None:
        """Every clause supported by some piece; None where there is one clause or one is not supported."""
        clauses = clauses_of(claim.text)
        found: list[Finding] = []
        for clause in clauses if len(clauses) > 1 else ():
            part = Cited(clause, claim.pieces)
            tried = self._cited(part)
            if tried is None or not tried.holds:
                tried = self._elsewhere(part)
            if tried is None or not tried.holds:
                return None
            found.append(tried)
        if not found:
            return None
        places = {piece: place for one in found for piece, place in zip(one.pieces, one.places, strict=True)}
        remarks = tuple(dict.fromkeys(remark for one in found for remark in one.remarks))
        weakest = min(found, key=lambda one: one.support)
        return replace(weakest, pieces=tuple(places), places=tuple(places.values()), remarks=remarks)

    def _whole_document(self, claim: Cited) -> Finding | None:
        """The windows of a cited document that are nearest to the claim, where they support it."""
        for piece in dict.fromkeys(claim.pieces):
            document_id = self.evidence[piece].hit.chunk.document_id
            document = self.documents([document_id]).get(document_id)
            if document is None:
                continue
            rows = self.rows(document, 0, len(document.text))
            windows: list[Window] = []
            for start, end in between_figures(document):
                stretch = replace(self.evidence[piece], start=start, end=end, text=document.text[start:end])
                windows += windows_of(stretch, piece, rows)
            found = self._against(claim.text, windows, (piece,))
            if found.holds:
                return found
        return None

    def _against(self, claim: str, windows: Sequence[Window], pieces: Sequence[int]) -> Finding:
        known = self._documents_of(pieces)
        return self.against(claim, of_named_rows(claim, windows), known)

    def _documents_of(self, pieces: Sequence[int]) -> str:
        ids = tuple(dict.fromkeys(self.evidence[at].hit.chunk.document_id for at in pieces))
        if ids not in self._known:
            documents = self.documents(ids)
            known = (documents[id_] for id_ in ids if id_ in documents)
            self._known[ids] = " ".join(f"{document.title} {document.text}" for document in known)
        return self._known[ids]


def obeys(claim: str, question: str, evidence: Sequence[Evidence]) -> bool:
    """Whether what a claim adds to the question stands only in orders to the reader, which state nothing."""
    added = term_set(claim) - term_set(question)
    texts = [piece.text[a:b] for piece in evidence for a, b in sentence_spans(piece.text)]
    texts += [piece.hit.chunk.title for piece in evidence]
    stated = {term for text in texts if not is_command(text) for term in term_set(text)}
    ordered = {term for text in texts if is_command(text) for term in term_set(text)}
    return bool(added & (ordered - stated))


def clauses_of(sentence: str) -> list[str]:
    """The clauses of a sentence that state something each; one without a subject has the sentence's beginning."""
    parts = [part.strip(" ,") for part in _BETWEEN_CLAUSES.split(sentence)]
    parts = [part for part in parts if len(term_set(part)) >= CLAUSE_TERMS]
    return parts if len(parts) > 1 else [sentence]


def repeats(question: str, claim: str) -> bool:
    """Whether a claim is the question again, with a full stop behind it."""
    return _ASKS.match(claim) is not None and term_set(claim) <= term_set(question)
