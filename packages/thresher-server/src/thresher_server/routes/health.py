"""Liveness, readiness and metrics."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Depends, Response
from pydantic import BaseModel, Field

import thresher
from thresher_server import metrics
from thresher_server.problems import Problem, replies
from thresher_server.security.access import Reader
from thresher_server.security.keys import Scope
from thresher_server.service import Service, service_of

router = APIRouter(tags=["health"])


class Health(BaseModel):
    """The state of a process."""

    status: str = Field(examples=["ok"])
    version: str = Field(examples=["0.1.0"])


@router.get("/health", summary="Whether the process lives")
async def health() -> Health:
    """Always `ok` while the process answers; needs no key."""
    return Health(status="ok", version=thresher.__version__)


@router.get("/ready", summary="Whether a question would be taken", responses=replies())
async def ready(service: Annotated[Service, Depends(service_of)], response: Response) -> Health:
    """`ok`, or 503 while its queue is full; needs no key."""
    if service.admission.inside >= service.settings.concurrency + service.settings.queue:
        response.status_code = 503
        return Health(status="busy", version=thresher.__version__)
    return Health(status="ok", version=thresher.__version__)


@router.get("/metrics", summary="Counters for Prometheus", response_class=Response, responses=replies())
def counters(caller: Reader) -> Response:
    """Seconds per step, verdicts, abstentions, states of sentences, calls, tokens, open questions: of all callers."""
    if caller.collections is not None and not caller.may(Scope.ADMIN):
        raise Problem(403, "is for a few collections only", subject="the key", next_step="use one for all of them")
    return Response(metrics.exposition(), media_type="text/plain; version=0.0.4; charset=utf-8")
