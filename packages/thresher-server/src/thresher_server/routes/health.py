"""The process: liveness, readiness, metrics, and what it offers its caller."""

from __future__ import annotations

from fastapi import APIRouter, Response
from pydantic import BaseModel, Field

import thresher
from thresher import recipes
from thresher_server import telemetry
from thresher_server.naming import Served
from thresher_server.problems import Problem, replies
from thresher_server.security.access import Known, Reader
from thresher_server.security.guard import MEBIBYTE
from thresher_server.security.keys import Scope
from thresher_server.shapes import Reply

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
async def ready(service: Served, response: Response) -> Health:
    """`ok`, or 503 while its queue is full; needs no key."""
    if service.admission.inside >= service.settings.concurrency + service.settings.queue:
        response.status_code = 503
        return Health(status="busy", version=thresher.__version__)
    return Health(status="ok", version=thresher.__version__)


@router.get("/metrics", summary="Counters for Prometheus", response_class=Response, responses=replies())
def counters(caller: Reader) -> Response:
    """Seconds per step, verdicts, abstentions, states of sentences, calls, tokens, open questions: of all callers."""
    if (caller.collections is not None or caller.where is not None) and not caller.may(Scope.ADMIN):
        what, step = "is for a few collections or documents only", "use one for all of them"
        raise Problem(403, what, subject="the key", next_step=step)
    return Response(telemetry.exposition(), media_type="text/plain; version=0.0.4; charset=utf-8")


class Session(Reply):
    """A caller and its server."""

    caller: str
    scopes: list[str]
    collections: list[str] | None
    """Collections of the key; null for all."""
    needs_key: bool
    version: str
    collection: str
    """The default one."""
    recipe: str
    chat_model: str | None
    """The model that writes answers; null if none is configured."""
    max_upload_bytes: int
    max_question_characters: int
    web: bool
    """Whether a question may look on the web."""
    everyones_questions: bool
    """Whether the page shows what everybody asked before, as far as the caller may see it."""
    expects: bool
    """Whether confirmed answers can be written to a file of expectations."""


@router.get("/api/session", summary="The caller, and what the server offers", responses=replies())
def session(caller: Known, service: Served) -> Session:
    """The name and scopes of the key, the defaults, and the limits."""
    configured = recipes.get(service.front.recipe).configured({}, home=service.home)
    web = getattr(configured, "web", None)
    return Session(
        caller=caller.name,
        scopes=sorted(caller.scopes),
        collections=None if caller.collections is None else sorted(caller.collections),
        needs_key=service.needs_key or bool(service.token),
        version=thresher.__version__,
        collection=service.front.collection,
        recipe=service.front.recipe,
        chat_model=configured.llm.model if configured.llm.configured else None,
        max_upload_bytes=int(service.settings.max_upload_megabytes * MEBIBYTE),
        max_question_characters=service.settings.max_question_characters,
        web=web is not None and web.provider not in (None, "", "none"),
        everyones_questions=service.settings.everyones_questions,
        expects=bool(service.settings.knowledge),
    )
