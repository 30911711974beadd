"""A text checked against documents: every claim of an answer, a draft or a report, with the spans that show it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace

from thresher.answering.citations import SUPPORT, Sentence, cite
from thresher.deadline import watch
from thresher.errors import UsageError, check_type
from thresher.text.sentences import sentence_spans
from thresher.text.terms import term_share
from thresher.types import UNIT, Check, CheckedClaim, Chunk, Citation, ClaimState, Evidence, Hit, Score
from thresher.verification.check import Checker
from thresher.verification.claims import Cited, Finding, claim_spans, without_markers
from thresher.verification.contradiction import contradiction
from thresher.verification.rules import SAME_MATTER, SAME_SENTENCE

GivenPassage = str | Mapping[str, str] | Hit | Evidence
"""A text may be checked against a text; a mapping with `text`, perhaps `title` and `source`; a search hit."""


def checked(
    text: str, check: Checker, evidence_for: Callable[[str], Sequence[Evidence]], placed: Callable[[Citation], Citation]
) -> Check:
    """The claims of a text, each against the evidence that is found for it; `placed` sets page and locator."""
    claims = []
    allow = watch()
    for start, end, _ in claim_spans(text):
        words = without_markers(text[start:end])
        if re.match(r"#{1,6} |[-=|: ]*$|```", words):  # headings, rules, lines of tables and fences state nothing
            continue
        allow()
        evidence = evidence_for(words)
        (found,) = check("", [Cited(words)], evidence).each
        cited = [placed(one) for one in _cited(words, check, found)]
        reason = found.reason
        if found.holds and (other := _otherwise(words, evidence)):
            sentence, why = other
            cited.append(placed(cite(len(cited) + 1, sentence)))
            reason = f"[{len(cited)}] says otherwise: {why}"
        support = round(found.support, 4)
        claims.append(CheckedClaim(start, end, text[start:end], found.state, support, tuple(cited), reason))
    held = [claim.state.holds for claim in claims]
    return Check(text, sum(held) / len(held) if held else None, tuple(claims))


def _otherwise(claim: str, evidence: Sequence[Evidence]) -> tuple[Sentence, str] | None:
    """A sentence on the matter of a supported claim that contradicts it, of the same document or another; and why."""
    for piece in evidence:
        for start, end in sentence_spans(piece.text):
            share = term_share(claim, piece.text[start:end])
            if share >= SAME_SENTENCE and (why := contradiction(claim, piece.text[start:end])):
                return _sentence(piece, start, end, share), why
    return None


def _cited(claim: str, check: Checker, found: Finding) -> Iterator[Citation]:
    """The sentence of each place that is nearest to a claim; of an unverified one, if it speaks of the matter."""
    sure = found.support if found.holds else found.denial
    for number, place in enumerate(found.places, start=1):
        start, end, _ = check.nearest(claim, place)
        sentence = _sentence(place, start, end, sure)
        if found.state is not ClaimState.UNVERIFIED or term_share(claim, sentence.text) >= SAME_MATTER:
            yield cite(number, sentence)


def _sentence(piece: Evidence, start: int, end: int, support: float) -> Sentence:
    return Sentence(piece, piece.start + start, piece.start + end, piece.text[start:end], Score(support, SUPPORT))


def passages(given: Sequence[GivenPassage]) -> list[Evidence]:
    """Given passages as evidence. Raises UsageError for anything else."""
    check_type("evidence", given, Sequence, "a list of passages")
    return [_evidence(one, number) for number, one in enumerate([given] if isinstance(given, str) else given, start=1)]


def _evidence(given: GivenPassage, number: int) -> Evidence:
    match given:
        case Evidence():
            return given
        case Hit():
            return Evidence(given, given.chunk.start, given.chunk.end, given.chunk.text, given.chunk.page)
        case str():
            text, title, source = given, "", f"passage {number}"
        case Mapping() if isinstance(given.get("text"), str):
            text, title = given["text"], str(given.get("title") or "")
            source = str(given.get("source") or f"passage {number}")
        case _:
            next_step = "give texts, or mappings with text, title and source"
            raise UsageError("is no passage", subject=f"evidence {number}, {type(given).__name__}", next_step=next_step)
    chunk = Chunk(source, source, source, title, 0, len(text), text)
    return Evidence(Hit(chunk, Score(1.0, UNIT), number), 0, len(text), text)


def unplaced(citation: Citation) -> Citation:
    """The citation of a given passage, whose pages are not known."""
    return replace(citation, page=None)
