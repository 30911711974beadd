"""Unanswered questions, for deciding which documents to add."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request
from pydantic import Field

from thresher import recipes
from thresher.collection import Collection
from thresher.errors import StoreError, UsageError
from thresher.file_names import file_name
from thresher.indexing.store import DocumentStore
from thresher.links import address
from thresher_server.askers import Askers
from thresher_server.asking import worked
from thresher_server.gaps import gaps, missed
from thresher_server.naming import Opened, Served
from thresher_server.problems import replies
from thresher_server.searching import address_of
from thresher_server.security.access import Asker
from thresher_server.security.keys import Caller
from thresher_server.service import Service
from thresher_server.shapes import Told

router = APIRouter(prefix="/api/collections/{collection}", tags=["traces"])


MISSED = ("question", "standalone", "trace", "asked", "reason")


class MissedReply(Told):
    """A question that left a gap."""

    question: str = Field(examples=["Who is the mayor?"], description="as typed")
    standalone: str | None = Field(None, description="a follow-up question as it was understood")
    trace: str
    asked: str
    reason: str = Field(examples=["refused"])


class NearReply(Told):
    """A near document."""

    title: str
    source: str
    url: str
    score: float = Field(description="cosine of its nearest passage to a question, or its best score from 0 to 1")


class GapReply(Told):
    """Questions about the same thing."""

    questions: list[MissedReply]
    terms: list[str] = Field(description="words shared by most of the questions")
    nearest: list[NearReply]


class GapList(Told):
    """Gaps, the largest first."""

    gaps: list[GapReply]


@router.get("/gaps", summary="List gaps", responses=replies(404))
async def listed(
    caller: Asker,
    collection: Opened,
    service: Served,
    request: Request,
    limit: Annotated[int, Query(ge=1, le=200)] = 50,
) -> GapList:
    """Questions that were refused or whose answer was marked as wrong, grouped by subject.

    The caller's own, or everybody's for an admin. Only the last answer to a repeated question counts.
    """
    here = address_of(service, request)
    return await worked(service, lambda: _found(service, caller, collection, here, limit))


def _found(service: Service, caller: Caller, collection: Collection, here: str, limit: int) -> GapList:
    questions = missed(_stored(service, caller, collection))
    if not questions:
        return GapList(gaps=[])
    settings = recipes.get(service.front.recipe).configured({}, home=service.home)
    encoder = service.engine.models.encoder(settings.encoder, settings.embeddings)
    found = gaps(questions, encoder.encode)[:limit]
    records = {record.source: record for record in DocumentStore(collection.folder).records()}

    def near(source: str, score: float) -> NearReply:
        record = records[source]
        url = address(here, collection.name, record.id, 0, 0, None)
        return NearReply(title=record.title, source=file_name(source), url=url, score=round(score, 4))

    return GapList(
        gaps=[
            GapReply(
                questions=[MissedReply(**{name: getattr(one, name) for name in MISSED}) for one in gap.questions],
                terms=list(gap.terms),
                nearest=[near(source, score) for source, score in gap.nearest if source in records],
            )
            for gap in found
        ]
    )


def _stored(service: Service, caller: Caller, collection: Collection) -> Iterator[dict[str, Any]]:
    """Stored answers that the caller may see, newest first; damaged ones are skipped."""
    askers, traces = Askers(service.home), collection.traces
    said = {label.trace: {"right": label.right} for label in collection.labels.labels()}
    for trace, asked in reversed(traces.asked()):
        if askers.may_see(caller, collection.name, trace):
            with suppress(UsageError, StoreError):
                yield {**traces.load(trace), "asked": asked.isoformat(), "feedback": said.get(trace)}
