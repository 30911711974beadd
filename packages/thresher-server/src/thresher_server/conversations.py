"""Conversations and their routes: a file for each in `server/conversations` of the home, in a folder for its caller."""

from __future__ import annotations

import re
import secrets
from collections.abc import Callable, Iterator, Mapping
from collections.abc import Collection as Several
from dataclasses import asdict, dataclass, replace
from typing import Annotated, Any

from fastapi import APIRouter, Path
from pydantic import Field

from thresher.home.places import home_files
from thresher.links import file_name, renamed
from thresher.protocols import Files, Home
from thresher_server.jobs.store import now, read_stored, write_stored
from thresher_server.naming import READING, Opened, Served
from thresher_server.problems import Problem, replies
from thresher_server.security.access import Asker
from thresher_server.security.keys import Caller
from thresher_server.shapes import AnswerReply, Reply

MOST_TURNS = 200
"""Turns of one conversation; an answer takes 10 to 50 kB."""

MOST_KEPT = 200
"""Conversations kept for one caller; the oldest are removed first."""

HISTORY = 10
"""Turns that a follow-up question refers to: its meaning depends on the last few."""

TURN_CHARACTERS = 4000
"""Characters of each question and answer of an earlier turn that are read: clients may send any number."""

LOCK_SECONDS = 60.0
"""Longest wait while another turn of the conversation is stored, which takes milliseconds."""

_ID = re.compile(r"[0-9a-f]{16}")


@dataclass(frozen=True, slots=True)
class Conversation:
    """Questions and answers, the oldest first."""

    id: str
    collection: str
    made: str
    """ISO 8601 time."""
    turns: tuple[Mapping[str, Any], ...] = ()
    """Answers as JSON."""

    def history(self, shows: Callable[[Mapping[str, Any]], bool]) -> list[tuple[str, str]]:
        """Earlier questions and answers for a follow-up question, of those that the caller may still see."""
        seen = [turn for turn in self.turns if shows(turn)]
        return [(turn.get("standalone") or turn["question"], turn["text"]) for turn in seen[-HISTORY:]]


class Conversations:
    """Conversations of one caller."""

    def __init__(self, home: Home, caller: Caller) -> None:
        self._files = _files(home).below(caller.folder)

    def begin(self, collection: str) -> Conversation:
        """Begin a conversation; the oldest ones beyond `MOST_KEPT` are removed."""
        self._files.remove(_names(self._files)[: -MOST_KEPT + 1])
        made = Conversation(secrets.token_hex(8), collection, now())
        _write(self._files, f"{made.id}.json", made)
        return made

    def of(self, collection: str) -> list[Conversation]:
        """The conversations about a collection, the last changed first."""
        found = (_read(self._files, name) for name in reversed(_names(self._files)))
        return [one for one in found if one is not None and one.collection == collection]

    def get(self, collection: str, id_: str) -> Conversation:
        """A conversation by its id. Raises Problem 404 if the caller has none of this id."""
        found = _read(self._files, f"{id_}.json") if _ID.fullmatch(id_) else None
        if found is None or found.collection != collection:
            raise Problem(404, "is not there", subject=f"conversation {id_}", next_step="begin another one")
        return found

    def add(self, collection: str, id_: str, answer: Mapping[str, Any]) -> None:
        """Add a turn. Raises Problem 404, and 409 for a full conversation."""
        self.get(collection, id_)
        with self._files.lock(f"{id_}.lock", LOCK_SECONDS):
            found = self.get(collection, id_)
            check_room(found)
            _write(self._files, f"{id_}.json", replace(found, turns=(*found.turns, answer)))

    def drop(self, collection: str, id_: str) -> None:
        """Remove a conversation. Raises Problem 404."""
        self.get(collection, id_)
        self._files.remove([f"{id_}.json", f"{id_}.lock"])


def check_room(conversation: Conversation) -> None:
    """Raise Problem 409 for a conversation that is full."""
    if len(conversation.turns) >= MOST_TURNS:
        raise Problem(409, "is full", subject=f"conversation {conversation.id}", next_step="begin another one")


def forget_sources(home: Home, collection: str, sources: Several[str]) -> None:
    """Remove every caller's conversations about a collection that cite a source with the file name of one of these."""
    names = set(map(file_name, sources))
    for name, one in _all(home, collection):
        others = (other["citation"] for turn in one.turns for other in turn.get("alternatives", ()))
        cited = {file_name(citation["source"]) for turn in one.turns for citation in (*turn["citations"], *others)}
        if cited & names:
            _files(home).remove([name])


def forget_collection(home: Home, collection: str) -> None:
    """Remove every caller's conversations about a collection."""
    _files(home).remove([name for name, _ in _all(home, collection)])


def rename_collection(home: Home, collection: str, new: str) -> None:
    """Move every caller's conversations about a collection to its new name."""
    for name, one in _all(home, collection):
        _write(_files(home), name, replace(one, collection=new))


def _files(home: Home) -> Files:
    return home_files(home).below("server").below("conversations")


def _names(files: Files) -> list[str]:
    return [file.name for file in files.list() if file.name.endswith(".json")]


def _all(home: Home, collection: str) -> Iterator[tuple[str, Conversation]]:
    files = _files(home)
    for name in _names(files):
        one = _read(files, name)
        if one is not None and one.collection == collection:
            yield name, one


def _read(files: Files, name: str) -> Conversation | None:
    """A stored conversation; None if it is missing or damaged."""
    return read_stored(files, name, lambda stored: Conversation(**{**stored, "turns": tuple(stored["turns"])}))


def _write(files: Files, name: str, conversation: Conversation) -> None:
    write_stored(files, name, asdict(conversation))


# --- routes

router = APIRouter(prefix="/api/collections/{collection}/conversations", tags=["conversations"], responses=replies(404))

ConversationId = Annotated[str, Path(max_length=100, examples=["0f3a5c7e9b1d2f40"])]


class Begun(Reply):
    """A new conversation."""

    id: str


class ConversationLine(Reply):
    """Summary of a conversation."""

    id: str
    made: str
    turns: int
    question: str | None = Field(description="the first one; null where nothing was asked yet")


class ConversationList(Reply):
    """The caller's conversations, the last changed first."""

    conversations: list[ConversationLine]


class ConversationReply(Reply):
    """A conversation with its answers, the oldest first."""

    id: str
    collection: str
    made: str
    turns: list[AnswerReply]


@router.post("", summary="Begin a conversation", status_code=201, responses=replies(507))
def begin(caller: Asker, collection: Opened, service: Served) -> Begun:
    """Begins an empty conversation. A question that names it follows up on its last turns and is added to it."""
    return Begun(id=Conversations(service.home, caller).begin(collection.name).id)


@router.get("", summary="List conversations", dependencies=[READING])
def listed(caller: Asker, collection: Opened, service: Served) -> ConversationList:
    """The caller's own conversations."""
    found = Conversations(service.home, caller).of(collection.name)
    lines = [
        ConversationLine(
            id=one.id, made=one.made, turns=len(one.turns), question=one.turns[0]["question"] if one.turns else None
        )
        for one in found
    ]
    return ConversationList(conversations=lines)


@router.get("/{conversation}", summary="One conversation", response_model_exclude_unset=True)
def one(caller: Asker, collection: Opened, conversation: ConversationId, service: Served) -> ConversationReply:
    """A conversation with its answers."""
    found, shows = Conversations(service.home, caller).get(collection.name, conversation), collection.opened.showing()
    turns = [AnswerReply.model_validate(renamed(turn, file_name)) for turn in filter(shows, found.turns)]
    return ConversationReply(id=found.id, collection=found.collection, made=found.made, turns=turns)


@router.delete("/{conversation}", summary="Remove a conversation", status_code=204)
def drop(caller: Asker, collection: Opened, conversation: ConversationId, service: Served) -> None:
    """Removes a conversation; its answers stay as traces."""
    Conversations(service.home, caller).drop(collection.name, conversation)
