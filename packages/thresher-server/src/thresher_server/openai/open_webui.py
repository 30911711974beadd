"""Events for Open WebUI: steps as they end, and the passages behind the markers.

Its middleware passes on the key `event` of a chunk (`utils/middleware.py`, 0.9 to 0.11) and stores a `source` with the
message. Markers number the sources by their `metadata.source`, so each passage has its own.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from fastapi import Request

from thresher.answer import Answer
from thresher.answering.citations import SUPPORT
from thresher.types import PROBABILITY, Citation, Decision, Judged, Query, Step, Verdict
from thresher_server.openai.answer_text import name_of
from thresher_server.service import Service

Payload = dict[str, Any]

HEADERS = "x-openwebui-"
"""Prefix of the headers that name its user, sent where ENABLE_FORWARD_USER_INFO_HEADERS is set."""

VERDICTS: Mapping[Verdict | None, str] = {
    Verdict.CORRECT: "The documents answer it",
    Verdict.AMBIGUOUS: "The documents may answer it",
    Verdict.INCORRECT: "The documents do not answer it",
    Verdict.UNSURE: "Whether the documents answer it is not clear",
}


def wants_events(request: Request, service: Service) -> bool:
    """Whether to send events: to Open WebUI, and to every client if `server.chat_events` is set."""
    return service.settings.chat_events or any(name.startswith(HEADERS) for name in request.headers)


def status(description: str, *, done: bool = False) -> Payload:
    """A status line above the answer; the last one has `done`."""
    return {"type": "status", "data": {"description": description, "done": done}}


def step_status(step: Step) -> Payload | None:
    """A step as a status line; None for a step that does not interest people."""
    kept, considered = step.kept, step.considered
    match step.name:
        case "rewrite" if isinstance(step.value, Query) and step.value.asked:
            told = f"Understood as: {step.value.question}"
        case "retrieve" if kept:
            told = f"{_passages(kept)} found"
        case "judge" if considered:
            waiting = _waiting(step.value)
            told = f"{_passages(considered - waiting)} judged, {kept - waiting} kept"
        case "decide" if isinstance(step.value, Decision) and step.value.verdict is not None:
            told = VERDICTS[step.value.verdict] + _percent(step.value.confidence)
        case "correct" if kept:
            told = f"{_passages(kept)} found outside"
        case "refine" if kept:
            told = f"Answering from {_passages(kept)}"
        case _:
            return None
    return status(told)


def _waiting(judged: object) -> int:
    """How many passages follow those that were judged, without a score, where others have one."""
    scores = [one.score for one in judged.judgements if one.keep] if isinstance(judged, Judged) else []
    return scores.count(None) if any(scores) else 0


def last_status(answer: Answer) -> Payload:
    """The result, and how a follow-up question was understood."""
    asked = f"; understood as: {answer.standalone}" if answer.standalone else ""
    if answer.abstained:
        return status(f"No answer: the documents do not give one{asked}", done=True)
    if answer.state == "doubtful":
        return status(f"In doubt: the nearest passages{asked}", done=True)
    if not answer.citations:
        return status("Answered without passages", done=True)
    unverified = sum(not one.state.holds for one in answer.sentences)
    remark = f", {unverified} of {len(answer.sentences)} sentences not verified" if unverified else ""
    return status(f"Answered from {_passages(len(answer.citations))}{remark}{asked}", done=True)


def sources(answer: Answer) -> Iterator[Payload]:
    """The passage behind each marker, in the order of the markers."""
    used: set[str] = set()
    cited = (*answer.citations, *(one.citation for one in answer.alternatives))
    for citation in sorted(cited, key=lambda one: one.marker):
        key = f"{citation.document_id}:{citation.page or ''}:{citation.start}-{citation.end}"
        key = f"{key}:{citation.marker}" if key in used else key
        used.add(key)
        yield _source(answer, citation, key)


def _source(answer: Answer, citation: Citation, key: str) -> Payload:
    name = name_of(citation)
    metadata: Payload = {"source": key, "name": name, "quote": citation.quote, "locator": citation.locator}
    if citation.page is not None:
        metadata["page"] = citation.page - 1  # Open WebUI counts from 0 and shows one more
    if citation.url:
        metadata["url"] = citation.url
    source = {"id": key, "name": name} | ({"url": citation.url} if citation.url else {})
    data: Payload = {"source": source, "document": [_passage(answer, citation)], "metadata": [metadata]}
    if citation.score.scale in (PROBABILITY, SUPPORT):
        data["distances"] = [citation.score.value]  # shown as per cent, and 1 is best
    return {"type": "source", "data": data}


def _passage(answer: Answer, citation: Citation) -> str:
    """The evidence that contains the quote, else the quote."""
    for piece in answer.evidence:
        inside = piece.start <= citation.start and citation.end <= piece.end
        if inside and piece.hit.chunk.document_id == citation.document_id:
            return piece.text
    return citation.quote


def _passages(number: int) -> str:
    return f"{number} passage{'' if number == 1 else 's'}"


def _percent(confidence: float | None) -> str:
    return "" if confidence is None else f" ({confidence:.0%})"
