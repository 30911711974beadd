"""Whether the documents support a sentence: supported, unverified or contradicted, with a probability and a place.

A claim is held against windows of what it cites, then of the rest of the evidence, then of the whole cited document;
clause by clause where no single piece supports it. The trained model reads each window, the rules add what they are
exact at (`thresher.verification.rules`), and one fitted table weighs both (`thresher.verification.weights`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from thresher.protocols import SupportReader
from thresher.text.entities import lacking
from thresher.text.injection import is_command
from thresher.text.language import foreign_language
from thresher.text.options import is_option
from thresher.text.questions import Kind, asked_for, parts_of
from thresher.text.sentences import sentence_spans
from thresher.text.terms import term_set, term_share
from thresher.types import ClaimState, Document, Evidence, Notes, SupportReading
from thresher.verification.findings import Cited, Finding, Findings
from thresher.verification.rules import FRAGMENT_TERMS, NOTHING, RuleCheck, Signs
from thresher.verification.weights import EVEN, ClaimSigns, weighed

WINDOW_CHARACTERS = 800
"""About 180 tokens: with a claim, what the model read at once in its training."""

WINDOWS_READ = 4
"""Windows nearest to a claim that are read, of what it cites and again of everything else."""

SENTENCES_READ = 3
"""Sentences nearest to a claim that are read alone: short texts, a tenth of a window's time each."""

SUPPORTED_FROM = 0.5
"""Calibrated probability from which a claim is supported: as many supported claims as others are then mistaken."""

CONTRADICTED_FROM = 0.7
"""Calibrated probability from which a claim that is not supported is contradicted, and may be removed: on the cases for
fitting at most 1 % of CLAPnq's, SQuAD's and Wikipedia's true sentences reach it, 5 % reach 0.5."""

SURE_FROM = 0.7
"""Support from which nothing else is looked at: below it, another piece that says otherwise wins."""

SHOWN_FROM = 0.4
"""The same where a rule shows what is said instead: the opposite, or another number in a sentence about the matter."""

CLAUSE_TERMS = 2
"""A clause with fewer terms states nothing of its own."""

IN_ANOTHER_LANGUAGE = 0.75
"""Support of a sentence in another language than the evidence's whose numbers all stand there and which is about the
same as the encoder sees it: the model reads English."""

OBEYS = "it follows an order that stands in the evidence"

_BETWEEN_CLAUSES = re.compile(
    r"\s*;\s+|,\s+(?:and|but|while|whereas|although|which|whilst)\s+|\s+(?:while|whereas|but)\s+|\s+and\s+(?=[A-Z])"
)
_ASKS = re.compile(r"(?:\w+ )?(?:who|whom|whose|what|when|where|which|why|how)\b", re.IGNORECASE)
_REFERS = re.compile(r"(?:it|he|she|they|this|these|that|those|its|his|her|their)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Window:
    """Some sentences of a piece that are read at once."""

    piece: int
    place: Evidence
    sentences: tuple[str, ...]

    @property
    def title(self) -> str:
        """Of its document, unless it tells the reader what to answer."""
        title = self.place.hit.chunk.title
        return "" if is_command(title) else title

    @property
    def text(self) -> str:
        """Its sentences on one line."""
        return " ".join(self.sentences)


@dataclass(frozen=True, slots=True)
class Reads:
    """The texts that are read for a claim: the windows, the sentences nearest to it together, and the nearest alone."""

    texts: tuple[str, ...]
    titles: tuple[str, ...]
    windows: int
    """How many of the texts are windows; they come first."""

    @classmethod
    def of(cls, claim: str, windows: Sequence[Window]) -> Reads:
        """What is read for a claim beside some windows, which are not none."""
        every = dict.fromkeys((window.title, sentence) for window in windows for sentence in window.sentences)
        near = sorted(every, key=lambda one: -term_share(claim, f"{one[0]} {one[1]}"))
        chosen: set[tuple[str, str]] = set()
        length = 0
        for one in near:
            length += len(one[1])
            if chosen and length > WINDOW_CHARACTERS:
                break
            chosen.add(one)
        alone, together = near[:SENTENCES_READ], " ".join(one[1] for one in every if one in chosen)
        return cls(
            (*(window.text for window in windows), together, *(text for _, text in alone)),
            (*(window.title for window in windows), windows[0].title, *(title for title, _ in alone)),
            len(windows),
        )

    def rest(self, readings: Sequence[SupportReading]) -> tuple[SupportReading, SupportReading]:
        """Of the sentences together, and of the one that supports the claim most."""
        together, *alone = readings[self.windows :]
        return together, max(alone, key=_supported)


@dataclass(frozen=True, slots=True)
class Observation:
    """What is seen of a claim beside some windows."""

    signs: ClaimSigns
    rules: Signs
    supporting: tuple[Window, ...]
    """The window that supports it most, as the model reads it, and one of every other piece that does."""
    nearest: Window
    """The window that shares most terms with it."""


@dataclass(frozen=True, slots=True)
class Checker:
    """The trained model and the rules, weighed together."""

    read: SupportReader
    rules: RuleCheck
    documents: Callable[[Sequence[str]], Mapping[str, Document]] = field(default=lambda ids: {})
    """The whole documents of some ids: a name may stand anywhere in the one that is cited."""
    prior: float = EVEN
    """Share of such claims that are supported, before anything is read."""

    def __call__(self, question: str, claims: Sequence[Cited], evidence: Sequence[Evidence]) -> Findings:
        """One finding for each claim."""
        windows = [window for at, piece in enumerate(evidence) for window in windows_of(piece, at)]
        found = tuple(self._find(question, claim, evidence, windows) for claim in claims)
        return Findings(found, Notes(facts={"check": self.read.name}))

    def nearest(self, claim: str, piece: Evidence) -> tuple[int, int, float]:
        """Begin and end in the piece of its sentence that is nearest to a claim, and how near it is, 0 to 1."""
        return self.rules.nearest(claim, piece)

    def against(self, claim: str, windows: Sequence[Window], *, question: str = "", known: str = "") -> Finding:
        """What some windows together say to a claim; `known` is what else names may stand in."""
        seen = self.observe(claim, windows, question=question, known=known)
        if seen is None:
            return Finding(ClaimState.UNVERIFIED, 0.0, reason=NOTHING)
        if seen.rules.language:
            return self._abroad(seen.rules, seen.nearest)
        found = weighed(seen.signs, self.prior)
        return _finding(found, seen.rules, seen.supporting if found.supported >= SUPPORTED_FROM else (seen.nearest,))

    def observe(
        self, claim: str, windows: Sequence[Window], *, question: str = "", known: str = ""
    ) -> Observation | None:
        """What model and rules see, not yet weighed; None without windows."""
        windows = sorted(windows, key=lambda window: -_shared(claim, window))[:WINDOWS_READ]
        if not windows:
            return None
        titles = " ".join(dict.fromkeys(window.title for window in windows))
        sentences = [sentence for window in windows for sentence in window.sentences]
        rules = self.rules(claim, sentences, titles=titles, question=question, known=known)
        read = Reads.of(claim, windows)
        readings = self.read.check(statement(claim, question), read.texts, read.titles)
        if question and _REFERS.match(claim):  # the evidence may say it of the same thing that the question names
            alone = self.read.check(claim, read.texts, read.titles)
            readings = [max(both, key=_supported) for both in zip(readings, alone, strict=True)]
        if rules.turned:
            readings = [SupportReading(one.contradicted, one.supported) for one in readings]
        of_windows = readings[: len(windows)]
        best = max(range(len(windows)), key=lambda at: (of_windows[at].supported, -at))
        each: dict[int, Window] = {windows[best].piece: windows[best]}
        together = of_windows[best].supported < SUPPORTED_FROM  # none alone
        for window, reading in zip(windows, of_windows, strict=True):
            if together or reading.supported >= SUPPORTED_FROM:
                each.setdefault(window.piece, window)
        supporting = tuple(each[piece] for piece in sorted(each))
        return Observation(signs_of(rules, of_windows[best], *read.rest(readings)), rules, supporting, windows[0])

    def _abroad(self, rules: Signs, place: Window) -> Finding:
        """Of a sentence in another language the numbers are checked, and what it is about."""
        reason = rules.number
        remark = f"in {rules.language}: only its numbers were checked"
        state = ClaimState.UNVERIFIED if reason else ClaimState.SUPPORTED
        return Finding(
            state,
            0.0 if reason else IN_ANOTHER_LANGUAGE,
            0.0,
            reason,
            (place.piece,),
            (place.place,),
            () if reason else (remark,),
        )

    def _find(self, question: str, claim: Cited, evidence: Sequence[Evidence], windows: Sequence[Window]) -> Finding:
        """What supports a claim; nothing verifies one that rests on a document in which what was asked about is not."""
        if question and repeats(question, claim.text):
            return Finding(ClaimState.UNVERIFIED, 0.0, reason="it is the question again")
        found = self._supported(question, claim, evidence, windows)
        if found.state is not ClaimState.SUPPORTED or not question or foreign_language(question):
            return found
        several = asked_for(question).kind is Kind.COMPARISON or len(parts_of(question)) > 1
        pieces = range(len(evidence)) if several else found.pieces  # of two things each may have a document of its own
        absent = lacking(question, " ".join([self._known(evidence, pieces), *(evidence[at].text for at in pieces)]))
        if not absent:
            return found
        reason = f"the cited document does not speak of {absent[0]}"
        return replace(found, state=ClaimState.UNVERIFIED, reason=reason)

    def _supported(
        self, question: str, claim: Cited, evidence: Sequence[Evidence], windows: Sequence[Window]
    ) -> Finding:
        """What supports a claim, whatever was asked: what it cites, another piece, several, the whole document."""
        cited = [window for window in windows if window.piece in claim.pieces]
        known = self._known(evidence, claim.pieces)
        own = self.against(claim.text, cited, question=question, known=known) if cited else None
        holds = own is not None and own.state is ClaimState.SUPPORTED
        if own is not None and holds and own.support >= SURE_FROM:
            return own
        other = self._elsewhere(claim, question, evidence, windows)
        if other is not None and (other.state is ClaimState.SUPPORTED or (holds and _denies(other))):
            return other
        if own is not None and holds:
            return own
        together = self._clauses(claim, question, evidence, windows)
        if together is not None:
            return together
        whole = self._whole_document(claim, question, evidence)
        if whole is not None:
            return whole
        tried = [finding for finding in (own, other) if finding is not None]
        if not tried:
            return Finding(ClaimState.UNVERIFIED, 0.0, reason=NOTHING)
        if obeys(claim.text, question, evidence):
            return replace(tried[0], state=ClaimState.CONTRADICTED, support=0.0, reason=OBEYS)
        denied = [finding for finding in tried if finding.state is ClaimState.CONTRADICTED]
        return (denied or tried)[0]

    def _elsewhere(
        self, claim: Cited, question: str, evidence: Sequence[Evidence], windows: Sequence[Window]
    ) -> Finding | None:
        """The finding of one other piece alone: one that supports, else one that says otherwise, else any."""
        others = [window for window in windows if window.piece not in claim.pieces]
        near = sorted(others, key=lambda window: -_shared(claim.text, window))[:WINDOWS_READ]
        found = []
        for piece in dict.fromkeys(window.piece for window in near):
            own = [window for window in near if window.piece == piece]
            found.append(self.against(claim.text, own, question=question, known=self._known(evidence, (piece,))))
        order = (ClaimState.SUPPORTED, ClaimState.CONTRADICTED, ClaimState.UNVERIFIED)
        return min(found, key=lambda finding: (order.index(finding.state), -finding.support), default=None)

    def _clauses(
        self, claim: Cited, question: str, evidence: Sequence[Evidence], windows: Sequence[Window]
    ) -> Finding | None:
        """Every clause supported by some piece; None where there is one clause or one is not supported."""
        clauses = clauses_of(claim.text)
        found: list[Finding] = []
        for clause in clauses if len(clauses) > 1 else ():
            part = Cited(clause, claim.pieces)
            cited = [window for window in windows if window.piece in claim.pieces]
            known = self._known(evidence, claim.pieces)
            own = self.against(clause, cited, question=question, known=known) if cited else None
            if own is None or own.state is not ClaimState.SUPPORTED:
                own = self._elsewhere(part, question, evidence, windows)
            if own is None or own.state is not ClaimState.SUPPORTED:
                return None
            found.append(own)
        if not found:
            return None
        places = {piece: place for one in found for piece, place in zip(one.pieces, one.places, strict=True)}
        remarks = tuple(dict.fromkeys(remark for one in found for remark in one.remarks))
        weakest = min(found, key=lambda one: one.support)
        return replace(weakest, pieces=tuple(places), places=tuple(places.values()), remarks=remarks)

    def _whole_document(self, claim: Cited, question: str, evidence: Sequence[Evidence]) -> Finding | None:
        """The windows of a cited document, beyond its pieces, that are nearest to the claim, where they support it."""
        for piece in dict.fromkeys(claim.pieces):
            document_id = evidence[piece].hit.chunk.document_id
            document = self.documents([document_id]).get(document_id)
            if document is None:
                continue
            whole = replace(evidence[piece], start=0, end=len(document.text), text=document.text)
            near = sorted(windows_of(whole, piece), key=lambda window: -_shared(claim.text, window))[:WINDOWS_READ]
            found = self.against(claim.text, near, question=question, known=document.text)
            if found.state is ClaimState.SUPPORTED:
                return found
        return None

    def _known(self, evidence: Sequence[Evidence], pieces: Sequence[int]) -> str:
        """Titles and whole texts of the documents of some pieces."""
        ids = list(dict.fromkeys(evidence[at].hit.chunk.document_id for at in pieces))
        documents = self.documents(ids)
        return " ".join(f"{documents[id_].title} {documents[id_].text}" for id_ in ids if id_ in documents)


def windows_of(piece: Evidence, at: int = 0) -> Iterator[Window]:
    """The sentences of a piece in windows of some `WINDOW_CHARACTERS`, the last sentence of one the first of the next.

    Sentences that tell the reader what to answer are left out.
    """
    spans = [span for span in sentence_spans(piece.text) if not is_command(piece.text[span[0] : span[1]])]
    held: list[tuple[int, int]] = []
    for span in spans:
        if held and span[1] - held[0][0] > WINDOW_CHARACTERS:
            yield _window(piece, at, held)
            held = held[-1:] if span[1] - held[-1][0] <= WINDOW_CHARACTERS else []
        held.append(span)
    if held:
        yield _window(piece, at, held)


def _window(piece: Evidence, at: int, spans: Sequence[tuple[int, int]]) -> Window:
    start, end = spans[0][0], spans[-1][1]
    place = replace(piece, start=piece.start + start, end=piece.start + end, text=piece.text[start:end])
    return Window(at, place, tuple(" ".join(piece.text[a:b].split()) for a, b in spans))


def statement(claim: str, question: str) -> str:
    """A claim as the model reads it: what says nothing without its question has the question in front."""
    leans = len(term_set(claim)) < FRAGMENT_TERMS or _REFERS.match(claim) or is_option(question, claim)
    return f"{question.rstrip(' ?')}? {claim}" if question and leans else claim


def obeys(claim: str, question: str, evidence: Sequence[Evidence]) -> bool:
    """Whether what a claim adds to the question stands only in sentences that tell the reader what to answer.

    Such a sentence states nothing: a claim that repeats it is neither shown by the documents nor left open by them.
    """
    added = term_set(claim) - term_set(question)
    texts = [piece.text[a:b] for piece in evidence for a, b in sentence_spans(piece.text)]
    texts += [piece.hit.chunk.title for piece in evidence]
    stated = {term for text in texts if not is_command(text) for term in term_set(text)}
    ordered = {term for text in texts if is_command(text) for term in term_set(text)}
    return bool(added & (ordered - stated))


def clauses_of(sentence: str) -> list[str]:
    """The clauses of a sentence that state something each; one that names nobody has the sentence's beginning."""
    parts = [part.strip(" ,") for part in _BETWEEN_CLAUSES.split(sentence)]
    parts = [part for part in parts if len(term_set(part)) >= CLAUSE_TERMS]
    return parts if len(parts) > 1 else [sentence]


def signs_of(rules: Signs, window: SupportReading, selected: SupportReading, alone: SupportReading) -> ClaimSigns:
    """What the table weighs."""
    return ClaimSigns(
        window.supported,
        selected.supported,
        alone.supported,
        selected.contradicted,
        bool(rules.number or rules.namesake),
        bool(rules.name),
        bool(rules.denial),
        bool(rules.misplaced),
        rules.share,
        rules.added,
        rules.score,
    )


def _finding(found: SupportReading, rules: Signs, windows: Sequence[Window]) -> Finding:
    if found.supported >= SUPPORTED_FROM:
        state, reason = ClaimState.SUPPORTED, ""
    else:
        shown = bool(rules.denial or rules.namesake) or bool(rules.number and rules.misplaced)
        contradicted = found.contradicted >= (SHOWN_FROM if shown else CONTRADICTED_FROM)
        state = ClaimState.CONTRADICTED if contradicted else ClaimState.UNVERIFIED
        said = "the evidence says otherwise" if contradicted else "the evidence neither shows nor denies it"
        reason = rules.denial or rules.number or rules.namesake or rules.name or rules.misplaced or said
    pieces, places = tuple(window.piece for window in windows), tuple(window.place for window in windows)
    return Finding(state, found.supported, found.contradicted, reason, pieces, places, rules.computations)


def _denies(finding: Finding) -> bool:
    return finding.state is ClaimState.CONTRADICTED


def _supported(reading: SupportReading) -> float:
    return reading.supported


def repeats(question: str, claim: str) -> bool:
    """Whether a claim is the question again, with a full stop behind it."""
    return _ASKS.match(claim) is not None and term_set(claim) <= term_set(question)


def _shared(claim: str, window: Window) -> float:
    return term_share(claim, f"{window.title} {window.text}")
