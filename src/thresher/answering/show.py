"""What is shown of a choice: its text, the days of a version, what contradicts it, and two others."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import PurePath

from thresher.answering.choose import Choice
from thresher.answering.citations import beside, cite, same_place
from thresher.answering.passage import Proposal
from thresher.answering.spans import AnswerSpan
from thresher.structure.versions import Timed
from thresher.text.markup import EMPHASIS
from thresher.types import HERE, IN_DOUBT, Alternative, Citation, Generation, Notes
from thresher.verification.conflicts import SHARED, SHARED_WITHIN, are_rivals

MOST_NEAREST = 3
"""Sentences that a refusal shows."""

RIVAL_FROM, RIVAL_SHARE = 0.2, 0.4
"""Least probability, absolute and relative to the best span's, of a span elsewhere that is shown as contradicting it.
Chosen on the half of benchmarks/planted_conflicts.py that is for choosing."""


def shown(
    question: str,
    choice: Choice,
    time: Timed,
    *,
    rivals: Sequence[Proposal],
    past: Sequence[Proposal],
    notes: Notes,
) -> Generation:
    """The answer; `rivals` are what may contradict it, `past` what versions say that are not in force."""
    best, doubt = choice.best, choice.doubt
    hedge = IN_DOUBT if doubt else HERE if best.passage is not None or best.signs is not None else ""
    text, citations = text_of(best, choice.copies)
    text = f"{hedge.rstrip()}{text}" if text.startswith("\n") else f"{hedge}{text}"
    text, citations = _of_version(question, best, time, past, text, citations)
    conflicts: tuple[tuple[int, int], ...] = ()
    if (rival := _rival(question, best, rivals)) is not None:
        same = rival.document_id == citations[0].document_id
        where = "Another place of the document" if same else "Another document"
        quote, marker = " ".join(rival.sentence.text.split()), len(citations) + 1
        text = f"{text}\n{where} says {rival.words}: “{quote}” [{marker}]"
        conflicts, citations = ((1, marker),), (*citations, cite(marker, rival.sentence))
    return Generation(
        text,
        citations,
        reason=doubt,
        conflicts=conflicts,
        certainty=choice.certainty,
        doubtful=doubt is not None,
        notes=notes,
        exact=True,
        alternatives=beside(_others(choice), citations),
    )


def nearest(proposals: Sequence[Proposal]) -> tuple[Alternative, ...]:
    """The sentences of a refusal that came nearest, each of another passage, with its place."""
    found = list[Alternative]()
    for one in proposals:
        if (
            one.passage is None
            or one.marked is None
            or any(same_place(one.citations[0], each.citation) for each in found)
        ):
            continue
        (start, end), low, marker = one.marked, one.passage.start, len(found) + 1
        quote = one.passage.quote[start:end]
        cited = replace(one.citations[0], marker=marker, start=low + start, end=low + end, quote=quote)
        text = EMPHASIS.sub(r"\1", " ".join(quote.split()))
        found.append(Alternative(f"“{text}” [{marker}]", cited, one.probability))
    return tuple(found[:MOST_NEAREST])


def text_of(proposal: Proposal, copies: Sequence[Proposal]) -> tuple[str, tuple[Citation, ...]]:
    """The text with markers from [1], and the citations; of a passage what is marked in it is bold."""
    passage, marked = proposal.passage, proposal.marked
    if passage is None:
        return proposal.text, proposal.citations
    (cited,) = proposal.citations
    if marked is not None and len(passage.sentences) > 1:
        cited = replace(cited, mark=(passage.start + marked[0], passage.start + marked[1]))
    quote = passage.shown(marked)
    text = f"{quote}[1]" if quote.endswith("\n") else f"{quote} [1]"
    names = dict.fromkeys(PurePath(one.citations[0].source).name for one in copies)
    return (f"{text}\nThe same in {', '.join(names)}." if names else text), (cited,)


def _of_version(
    question: str,
    best: Proposal,
    time: Timed,
    past: Sequence[Proposal],
    text: str,
    citations: tuple[Citation, ...],
) -> tuple[str, tuple[Citation, ...]]:
    """The answer with the days on which its version is in force, and what another version says instead."""
    if (version := time.versions.get(citations[0].document_id)) is None:
        return text, citations
    text = f"{text.rstrip()}\nIn force {version.days}"
    if version.where is not None:
        (start, end), document, marker = version.where, version.document, len(citations) + 1
        cited = replace(citations[0], marker=marker, start=start, end=end, quote=document.text[start:end])
        text, citations = f"{text} [{marker}]", (*citations, replace(cited, page=document.page_at(start)))
    text = f"{text}."
    if (other := _rival(question, best, past)) is None:
        return text, citations
    quote, whose, marker = " ".join(other.sentence.text.split()), time.versions[other.document_id], len(citations) + 1
    opening = "Superseded" if whose.since < version.since else "Replaced since"
    text = f"{text}\n{opening}, in force {whose.days}: {other.words}: “{quote}” [{marker}]"
    return text, (*citations, cite(marker, other.sentence))


def _rival(question: str, best: Proposal, others: Sequence[Proposal]) -> AnswerSpan | None:
    """The likeliest span outside the best passage that cannot be right where that of the passage is."""
    own = best.place
    if own is None or own.certainty < RIVAL_FROM:
        return None
    least = max(RIVAL_FROM, RIVAL_SHARE * own.certainty)
    places = [one.place for one in others if one.place is not None and not best.shows(one.place)]
    for place in sorted(places, key=lambda place: -place.certainty):
        share = SHARED_WITHIN if place.document_id == own.document_id else SHARED
        if place.certainty >= least and are_rivals(question, own.in_sentence, place.in_sentence, share=share):
            return place
    return None


def _others(choice: Choice) -> Iterator[Alternative]:
    """The passages that are likeliest behind the best one."""
    for one, *copies in choice.others:
        text, (cited,) = text_of(one, copies)
        yield Alternative(text.strip(), cited, one.probability)
