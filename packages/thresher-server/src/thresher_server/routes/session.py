"""The caller, and what the server offers."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Depends

import thresher
from thresher import recipes
from thresher_server.naming import Served
from thresher_server.problems import replies
from thresher_server.security.access import caller_of
from thresher_server.security.guard import MEBIBYTE
from thresher_server.security.keys import Caller
from thresher_server.shapes import Told

router = APIRouter(prefix="/api", tags=["session"])


class Session(Told):
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


@router.get("/session", summary="The caller, and what the server offers", responses=replies())
def session(caller: Annotated[Caller, Depends(caller_of)], service: Served) -> Session:
    """The name and scopes of the key, the defaults, and the limits."""
    configured = recipes.get(service.front.recipe).configured({}, home=service.home)
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
    )
