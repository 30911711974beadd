"""A written answer: taken apart into its sentences and their markers, what was found out about each, put together."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

from thresher.text.sentences import line_spans, sentence_spans
from thresher.types import NO_NOTES, Citation, Evidence, Notes, Query

_ONE = r"(?:(?:evidence|source|piece)\s*)?\d{1,3}"
_MARKER = re.compile(rf"[ \t]*[\[【]\s*({_ONE}(?:\s*(?:,|;|-|–|and|&)\s*{_ONE})*)\s*[\]】]", re.IGNORECASE)
_RANGE = re.compile(r"(\d{1,3})(?:\s*[-–]\s*(\d{1,3}))?")


# --- sentences and markers --------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Claim:
    """One sentence of a reply without its markers, and the numbers that stood in or right behind it."""

    text: str
    gap: str
    """What stands between the sentence before and this one: a space, or a line break of a list."""
    numbers: list[int]


def claims_of(text: str) -> list[Claim]:
    """The sentences of a reply; a marker that stands behind the full stop belongs to the sentence before it."""
    reader = ClaimReader()
    return [*reader.feed(text), *reader.end()]


@dataclass(slots=True)
class ClaimReader:
    """Takes a reply in pieces and gives its sentences, each once the next one has begun: a marker may follow it."""

    _rest: str = ""
    _gap: str = "\n"

    def feed(self, piece: str) -> Iterator[Claim]:
        """The sentences that are known to be whole with this piece."""
        self._rest += piece
        # the last words are not known to be whole, and what a full stop ends is known by what follows it
        return self._whole(settled=UNSETTLED)

    def end(self) -> Iterator[Claim]:
        """The sentences that are left when nothing follows."""
        yield from self._whole(settled=0)
        yield from _claim(self._rest, self._gap)

    def _whole(self, *, settled: int) -> Iterator[Claim]:
        while at := _next_sentence(self._rest, settled=settled):
            whole, self._rest = self._rest[:at], self._rest[at:]
            yield from _claim(whole, self._gap)
            self._gap = "\n" if whole.rstrip(" \t").endswith("\n") else " "


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


def _claim(text: str, gap: str) -> Iterator[Claim]:
    """The one sentence of a text, if there is one."""
    numbers = [number for group in _MARKER.findall(text) for number in numbers_of(group)]
    bare = " ".join(_MARKER.sub("", text).split())
    if any(character.isalnum() for character in bare):
        yield Claim(bare, gap, numbers)


def joined(sentences: Sequence[tuple[Claim, Sequence[int]]]) -> str:
    """Sentences put together again, each with its markers behind it: the inverse of `claims_of`."""
    text = ""
    for claim, markers in sentences:
        text += (claim.gap if text else "") + claim.text + "".join(f" [{marker}]" for marker in markers)
    return text


@dataclass
class CitedText:
    """An answer as it grows: sentences that hold, with citations; a place is cited once, numbered as they come."""

    text: str = ""
    _citations: dict[tuple[str, int, int], Citation] = field(default_factory=dict)

    @property
    def citations(self) -> tuple[Citation, ...]:
        """In the order of their markers."""
        return tuple(self._citations.values())

    def add(self, claim: Claim, citations: Iterable[Citation], remark: str = "") -> str:
        """Take a sentence in, with a remark in brackets behind its markers; returns what was added to the text."""
        markers: list[int] = []
        for citation in citations:
            numbered = replace(citation, marker=len(self._citations) + 1)
            place = (citation.document_id, citation.start, citation.end)
            markers.append(self._citations.setdefault(place, numbered).marker)
        added = joined([(claim, list(dict.fromkeys(markers)))]) + (f" ({remark})" if remark else "")
        added = (claim.gap if self.text else "") + added
        self.text += added
        return added


def numbers_of(marker: str) -> list[int]:
    """What stands between the brackets of a marker: `2`, `1, 3`, `1-3`, `evidence 2`."""
    numbers: list[int] = []
    for first, last in _RANGE.findall(marker):
        numbers.extend(range(int(first), int(last) + 1) if last else [int(first)])
    return numbers


# --- what a check finds out about them --------------------------------------------------------------------------------


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
    computations: tuple[str, ...] = ()
    """How its numbers follow that the evidence does not state."""
    unverified: str = ""
    """Why nothing but its numbers could be checked: the language it is in; "" for a sentence that was."""

    @property
    def remark(self) -> str:
        """What stands in brackets behind the sentence."""
        return "; ".join((*self.computations, *([f"not verified: {self.unverified}"] if self.unverified else [])))


@dataclass(frozen=True, slots=True)
class Findings:
    """A finding for each sentence, in their order."""

    each: tuple[Finding, ...]
    notes: Notes = NO_NOTES


class ClaimCheck(Protocol):
    """Looks for the support of sentences, first in what they cite, then in the rest of the evidence."""

    def __call__(self, query: Query, claims: Sequence[Cited], evidence: Sequence[Evidence]) -> Findings:
        """One finding for each claim."""
        ...


COUNTS = ("sentences", "supported", "repaired", "removed", "contradicted", "unsupported", "quoted")
"""`removed` = `contradicted` + `unsupported`."""


def counts_of(cited: Sequence[Cited], findings: Sequence[Finding]) -> dict[str, Any]:
    """`COUNTS`, and the sentences that were removed with the reason."""
    counts = dict.fromkeys(COUNTS, 0)
    counts["sentences"] = len(findings)
    removed = []
    for was, finding in zip(cited, findings, strict=True):
        if finding.supported:
            counts["supported" if set(finding.pieces) <= set(was.pieces) else "repaired"] += 1
        else:
            counts["removed"] += 1
            counts["contradicted" if finding.contradicted else "unsupported"] += 1
            removed.append({"text": was.text, "reason": finding.reason})
    return {**counts, "removed_sentences": removed}
