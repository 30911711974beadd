"""Conversations: one file each in `server/conversations` of the home, in one folder for each caller."""

from __future__ import annotations

import hashlib
import json
import re
import secrets
from collections.abc import Collection as Several
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

from thresher.home.places import Home, home_files
from thresher.links import file_name
from thresher.protocols import Files
from thresher_server.jobs.store import now
from thresher_server.problems import Problem

MOST_TURNS = 200
"""Turns of one conversation; an answer takes 10 to 50 kB."""

MOST_KEPT = 200
"""Conversations kept for one caller; the oldest are removed first."""

HISTORY = 10
"""Turns that a follow-up question refers to: its meaning depends on the last few."""

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

    @property
    def history(self) -> list[tuple[str, str]]:
        """Earlier questions and answers for a follow-up question."""
        return [(turn.get("standalone") or turn["question"], turn["text"]) for turn in self.turns[-HISTORY:]]


class Conversations:
    """Conversations of one caller."""

    def __init__(self, home: Home, caller: str) -> None:
        self._files = _files(home).below(hashlib.sha256(caller.encode()).hexdigest()[:16])

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
    content = files.read(name)
    if content is None:
        return None
    try:
        stored = json.loads(content)
        return Conversation(**{**stored, "turns": tuple(stored["turns"])})
    except (ValueError, TypeError, KeyError):
        return None


def _write(files: Files, name: str, conversation: Conversation) -> None:
    files.write(name, json.dumps(asdict(conversation), ensure_ascii=False).encode(errors="backslashreplace"))
