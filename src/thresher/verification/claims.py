"""A written answer: taken apart into its sentences, what a check finds of each, and put together again."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol

from thresher.text.markup import RULE
from thresher.text.sentences import line_spans, sentence_spans, trim
from thresher.text.terms import FRAGMENT_TERMS, term_set
from thresher.types import NO_NOTES, AnswerSentence, Citation, ClaimState, Evidence, Notes

_ONE = r"(?:(?:evidence|source|piece)\s*)?\d{1,3}"
_MARKER = re.compile(rf"[ \t]*[\[【]\s*({_ONE}(?:\s*(?:,|;|-|–|and|&)\s*{_ONE})*)\s*[\]】]", re.IGNORECASE)
_ENDING = re.compile(_MARKER.pattern + r"$", re.IGNORECASE)
_BULLET = re.compile(r"\s*(?:[-*•–]|\d{1,2}[.)])\s+")
_RANGE = re.compile(r"(\d{1,3})(?:\s*[-–]\s*(\d{1,3}))?")

_ENDS_AS_SENTENCE = re.compile(r"[.!?:]\W*$")


@dataclass(frozen=True, slots=True)
class Claim:
    """One sentence of a reply without its markers, and the numbers that stood in or right behind it."""

    text: str
    gap: str
    """What stands between the sentence before and this one: a space, or a line break of a list."""
    numbers: list[int]
    head: str = ""
    """Of a row of a table the lines with the names of its columns, which state nothing."""

    @property
    def closing(self) -> str:
        """What stands behind its markers: the last bar of a row."""
        return " |" if self.head else ""


def is_value(claim: str) -> bool:
    """Whether a claim states something only as the answer to its question: a few terms, no sentence and no item."""
    few = len(term_set(claim)) < FRAGMENT_TERMS
    return few and not (_BULLET.match(claim) or _ENDS_AS_SENTENCE.search(claim))


@dataclass(slots=True)
class ClaimReader:
    """Takes a reply in pieces and gives its sentences, each once the next one has begun: a marker may follow it."""

    _rest: str = ""
    _gap: str = "\n"
    _head: str = ""

    def feed(self, piece: str) -> Iterator[Claim]:
        """The sentences that are known to be whole with this piece."""
        self._rest += piece
        # the last words are not known to be whole, and what a full stop ends is known by what follows it
        return self._whole(settled=UNSETTLED)

    def end(self) -> Iterator[Claim]:
        """The sentences that are left when nothing follows."""
        yield from self._whole(settled=0)
        yield from self._claim(self._rest)

    def _whole(self, *, settled: int) -> Iterator[Claim]:
        while at := _next_sentence(self._rest, settled=settled):
            whole, self._rest = self._rest[:at], self._rest[at:]
            yield from self._claim(whole)
            self._gap = "\n" if whole.rstrip(" \t").endswith("\n") else " "

    def _claim(self, text: str) -> Iterator[Claim]:
        lines = text.strip().splitlines()
        if len(lines) > 1 and all(line.startswith("|") for line in lines) and RULE.fullmatch(lines[1]):
            self._head = "\n".join([*lines[:2], ""])
            text = "\n".join(lines[2:])
        elif not text.lstrip().startswith("|"):
            self._head = ""
        numbers = [number for group in _MARKER.findall(text) for number in numbers_of(group)]
        bare = " ".join(_MARKER.sub("", text).split())
        if self._head:
            bare = bare.removesuffix("|").rstrip()
        if any(character.isalnum() for character in bare):
            yield Claim(bare, self._gap, numbers, self._head)


UNSETTLED = 20
"""Characters behind a sentence that must have come before it is taken to have ended there."""


def _next_sentence(text: str, *, settled: int) -> int:
    """Where the second sentence of a text begins; 0 where none does or too little of it has come."""
    begun = False
    for line_start, line_end in line_spans(text):
        for at, (start, _) in enumerate(spans := sentence_spans(text[line_start:line_end])):
            start += line_start
            piece = text[start : line_start + spans[at][1]]
            leading = _MARKER.match(piece) if begun and at else None
            start += leading.end() if leading else 0
            bare = _MARKER.sub("", piece[leading.end() :] if leading else piece)
            if not any(character.isalnum() for character in bare):
                continue
            if begun:
                return start if len(text) - start >= settled else 0
            begun = True
    return 0


@dataclass
class CitedText:
    """An answer as it grows: its sentences with citations, numbered as they come.

    A place is cited once, with the highest score of the sentences that cite it.
    """

    text: str = ""
    _citations: dict[tuple[str, int, int], Citation] = field(default_factory=dict)
    _head: str = ""
    """Of the table whose rows were added last."""

    @property
    def citations(self) -> tuple[Citation, ...]:
        """In the order of their markers."""
        return tuple(self._citations.values())

    def add(self, claim: Claim, citations: Iterable[Citation], remark: str = "", opening: str = "") -> Added:
        """Take a sentence in, with a remark in brackets behind its markers; `opening` stands before the first one."""
        markers: list[int] = []
        for citation in citations:
            numbered = replace(citation, marker=len(self._citations) + 1)
            place = (citation.document_id, citation.start, citation.end)
            known = self._citations.setdefault(place, numbered)
            if citation.score.value > known.score.value:
                self._citations[place] = replace(known, score=citation.score)
            markers.append(known.marker)
        markers = list(dict.fromkeys(markers))
        gap = claim.gap if self.text else opening
        if claim.head and claim.head != self._head:
            gap = f"{gap.rstrip()}\n\n{claim.head}" if self.text or opening else claim.head
        elif self._head and not claim.head:
            gap = "\n\n"
        self._head = claim.head
        start = len(self.text) + len(gap)
        marked = claim.text + "".join(f" [{marker}]" for marker in markers)
        added = gap + marked + (f" ({remark})" if remark else "") + claim.closing
        self.text += added
        return Added(added, start, tuple(markers))


@dataclass(frozen=True, slots=True)
class Added:
    """Where a sentence is in the text of an answer, and its state."""

    text: str
    """What was added, with gap, markers and remark."""
    start: int
    """Where the sentence itself begins in the whole text."""
    markers: tuple[int, ...]


# --- the check of its sentences ---------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Cited:
    """A sentence of an answer and the positions in the evidence, from 0, of what it cites."""

    text: str
    pieces: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Finding:
    """What a check found out about one sentence."""

    state: ClaimState
    support: float
    """Probability that the evidence supports it, 0 to 1."""
    denial: float = 0.0
    """Probability that the evidence says otherwise, 0 to 1."""
    reason: str = ""
    """Why it is not supported."""
    pieces: tuple[int, ...] = ()
    """Positions of the evidence that supports it, what it cites first; of another state those it was compared with."""
    places: tuple[Evidence, ...] = ()
    """The windows of `pieces`, in their order, that support it or say otherwise."""
    remarks: tuple[str, ...] = ()
    """Why only its numbers were checked."""
    bounded: bool = False
    """Whether an exact rule finds otherwise, so that no second reader may say that it is supported."""

    @property
    def holds(self) -> bool:
        """Whether the sentence is supported."""
        return self.state.holds


@dataclass(frozen=True, slots=True)
class Findings:
    """A finding for each sentence, in their order."""

    each: tuple[Finding, ...]
    notes: Notes = NO_NOTES


class ClaimCheck(Protocol):
    """Looks for the support of sentences, first in what they cite, then in the rest of the evidence."""

    def __call__(self, question: str, claims: Sequence[Cited], evidence: Sequence[Evidence]) -> Findings:
        """One finding for each claim."""
        ...

    def nearest(self, claim: str, piece: Evidence) -> tuple[int, int, float]:
        """Begin and end in the piece of its sentence that is nearest to a claim, and how near it is, 0 to 1."""
        ...


@dataclass(slots=True)
class CheckedSentences:
    """Sentences as they are checked, one after the other."""

    shown: list[AnswerSentence] = field(default_factory=list)
    removed: list[AnswerSentence] = field(default_factory=list)
    notes_of_check: Notes = NO_NOTES
    _counts: Counter[str] = field(default_factory=Counter)

    def take(self, claim: Claim, finding: Finding, added: Added, cited: Sequence[int], *, wrong: int) -> None:
        """A sentence that is shown; `cited` is what it cited itself, `wrong` counts markers that were moved."""
        end = added.start + len(claim.text)
        state, support = finding.state, round(finding.support, 4)
        self.shown.append(AnswerSentence(added.start, end, claim.text, state, support, added.markers, finding.reason))
        self._count(finding, wrong)
        if added.markers and not cited:
            self._counts["markers_set"] += 1
        elif added.markers and finding.holds and not set(finding.pieces) <= set(cited):
            self._counts["repaired"] += 1

    def remove(self, claim: Claim, finding: Finding, markers: int) -> None:
        """A sentence that is not shown, which had so many markers."""
        support = round(finding.support, 4)
        self.removed.append(AnswerSentence(0, 0, claim.text, finding.state, support, (), finding.reason))
        self._count(finding, markers)

    def _count(self, finding: Finding, wrong: int) -> None:
        self._counts[str(finding.state)] += 1
        self._counts["markers_removed"] += wrong

    @property
    def notes(self) -> Notes:
        """For the trace: how many sentences have each state, were repaired, removed, and what was removed, with why."""
        counts = {
            "sentences": len(self.shown) + len(self.removed),
            **{str(state): self._counts[str(state)] for state in ClaimState},
            **{name: self._counts[name] for name in ("repaired", "markers_set", "markers_removed")},
            "removed": len(self.removed),
            "removed_sentences": [{"text": one.text, "reason": one.reason} for one in self.removed],
        }
        return self.notes_of_check + Notes(facts=counts)


# --- an answer made of quotes -----------------------------------------------------------------------------------------


def sentences_of(text: str, citations: Sequence[Citation]) -> tuple[AnswerSentence, ...]:
    """The sentences of an answer made of quotes, each with what it quotes.

    Words between the quotes (a yes, a heading) belong to their sentence. A sentence of a quote has the markers of the
    citations it is copied from, a quote that no citation holds those of the sentence before.
    """
    known = {citation.marker: _words(citation.quote) for citation in citations}
    found: list[AnswerSentence] = []
    for start, end, numbers in claim_spans(text):
        markers = tuple(dict.fromkeys(number for number in numbers if number in known))
        if not markers and text.count("“", 0, end) > text.count("”", 0, start):
            copied = _words(text[start:end].rpartition("“")[2])
            markers = tuple(marker for marker, quote in known.items() if copied and copied in quote)
        if not markers and found and text[start] == "“":
            markers = found[-1].citations
        state = ClaimState.QUOTED if markers else ClaimState.UNVERIFIED
        found.append(AnswerSentence(start, end, text[start:end], state, float(bool(markers)), markers))
    return tuple(found)


def _words(quote: str) -> str:
    """A quote on one line, without bold and closing marks."""
    return " ".join(quote.replace("**", "").replace("”", "").split())


def claim_spans(text: str) -> Iterator[tuple[int, int, list[int]]]:
    """Begin, end and markers of each sentence but questions; the span is without markers at its ends."""
    start = 0
    while start < len(text):
        behind = start + (_next_sentence(text[start:], settled=0) or len(text) - start)
        whole = text[start:behind]
        numbers = [number for group in _MARKER.findall(whole) for number in numbers_of(group)]
        bullet = _BULLET.match(whole)
        first, last = start + (bullet.end() if bullet else 0), behind
        for marker in _MARKER.finditer(whole):
            if not text[first : start + marker.start()].strip():
                first = start + marker.end()
        while (bare := text[first:last].rstrip()) and (ending := _ENDING.search(bare)):
            last = first + ending.start()
        first, last = trim(text, first, last)
        bare = _MARKER.sub("", text[first:last])
        if any(character.isalnum() for character in bare) and not bare.endswith("?"):
            yield first, last, numbers
        start = behind


def without_markers(text: str) -> str:
    """A sentence on one line, without its markers."""
    return " ".join(_MARKER.sub("", text).split())


def numbers_of(marker: str) -> list[int]:
    """What stands between the brackets of a marker: `2`, `1, 3`, `1-3`, `evidence 2`."""
    numbers: list[int] = []
    for first, last in _RANGE.findall(marker):
        numbers.extend(range(int(first), int(last) + 1) if last else [int(first)])
    return numbers
