"""Conversations of a caller about a collection."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Path
from pydantic import Field

from thresher.links import file_name, renamed
from thresher_server.conversations import Conversations
from thresher_server.naming import READING, Opened, Served
from thresher_server.problems import replies
from thresher_server.security.access import Asker
from thresher_server.shapes import AnswerReply, Told

router = APIRouter(prefix="/api/collections/{collection}/conversations", tags=["conversations"])

ConversationId = Annotated[str, Path(max_length=100, examples=["0f3a5c7e9b1d2f40"])]


class Begun(Told):
    """A new conversation."""

    id: str


class ConversationLine(Told):
    """Summary of a conversation."""

    id: str
    made: str
    turns: int
    question: str | None = Field(description="the first one; null where nothing was asked yet")


class ConversationList(Told):
    """The caller's conversations, the last changed first."""

    conversations: list[ConversationLine]


class ConversationReply(Told):
    """A conversation with its answers, the oldest first."""

    id: str
    collection: str
    made: str
    turns: list[AnswerReply]


@router.post("", summary="Begin a conversation", status_code=201, responses=replies(404, 507))
def begin(caller: Asker, collection: Opened, service: Served) -> Begun:
    """Begins an empty conversation. A question that names it follows up on its last turns and is added to it."""
    return Begun(id=Conversations(service.home, caller.identity).begin(collection.name).id)


@router.get("", summary="List conversations", responses=replies(404), dependencies=[READING])
def listed(caller: Asker, collection: Opened, service: Served) -> ConversationList:
    """The caller's own conversations."""
    found = Conversations(service.home, caller.identity).of(collection.name)
    lines = [
        ConversationLine(
            id=one.id, made=one.made, turns=len(one.turns), question=one.turns[0]["question"] if one.turns else None
        )
        for one in found
    ]
    return ConversationList(conversations=lines)


@router.get("/{conversation}", summary="One conversation", responses=replies(404), response_model_exclude_unset=True)
def one(caller: Asker, collection: Opened, conversation: ConversationId, service: Served) -> ConversationReply:
    """A conversation with its answers."""
    found = Conversations(service.home, caller.identity).get(collection.name, conversation)
    turns = [AnswerReply.model_validate(renamed(turn, file_name)) for turn in found.turns]
    return ConversationReply(id=found.id, collection=found.collection, made=found.made, turns=turns)


@router.delete("/{conversation}", summary="Remove a conversation", status_code=204, responses=replies(404))
def drop(caller: Asker, collection: Opened, conversation: ConversationId, service: Served) -> None:
    """Removes a conversation; its answers stay as traces."""
    Conversations(service.home, caller.identity).drop(collection.name, conversation)
