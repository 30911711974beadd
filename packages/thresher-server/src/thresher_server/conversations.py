"""Conversations: a file each in `server/conversations` of the home, in a folder of whoever began it."""

from __future__ import annotations

import hashlib
import json
import os
import re
import secrets
from collections.abc import Collection as Several
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from filelock import FileLock

from thresher_server.jobs.store import now
from thresher_server.problems import Problem

MOST_TURNS = 200
"""Of one conversation; an answer takes 10 to 50 kB."""

MOST_KEPT = 200
"""Conversations of one caller; the oldest go first."""

HISTORY = 10
"""Turns that a question may follow up on: what it means is in the last few."""

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
        """What the next question may follow up on."""
        return [(turn.get("standalone") or turn["question"], turn["text"]) for turn in self.turns[-HISTORY:]]


class Conversations:
    """Those of one caller."""

    def __init__(self, home: Path, caller: str) -> None:
        self._folder = home / "server" / "conversations" / hashlib.sha256(caller.encode()).hexdigest()[:16]

    def begin(self, collection: str) -> Conversation:
        """A new one without turns."""
        self._folder.mkdir(parents=True, exist_ok=True)
        for old in _by_age(self._folder)[: -MOST_KEPT + 1]:
            old.unlink(missing_ok=True)
        made = Conversation(secrets.token_hex(8), collection, now())
        _write(self._folder / f"{made.id}.json", made)
        return made

    def of(self, collection: str) -> list[Conversation]:
        """Those about a collection, the one that was last added to first."""
        found = filter(None, map(_read, reversed(_by_age(self._folder))))
        return [one for one in found if one.collection == collection]

    def get(self, collection: str, id_: str) -> Conversation:
        """One by its id. Problem 404 for one that is not there, or somebody else's."""
        found = _read(self._folder / f"{id_}.json") if _ID.fullmatch(id_) else None
        if found is None or found.collection != collection:
            raise Problem(404, "is not there", subject=f"conversation {id_}", next_step="begin another one")
        return found

    def add(self, collection: str, id_: str, answer: Mapping[str, Any]) -> None:
        """Add a turn. Problem 404, and 409 for one that is full."""
        file = self._folder / f"{id_}.json"
        with FileLock(f"{file}.lock"):
            found = self.get(collection, id_)
            check_room(found)
            _write(file, replace(found, turns=(*found.turns, answer)))

    def drop(self, collection: str, id_: str) -> None:
        """Remove one. Problem 404."""
        self.get(collection, id_)
        for name in (f"{id_}.json", f"{id_}.json.lock"):
            (self._folder / name).unlink(missing_ok=True)


def check_room(conversation: Conversation) -> None:
    """Raise Problem 409 for a conversation that is full."""
    if len(conversation.turns) >= MOST_TURNS:
        raise Problem(409, "is full", subject=f"conversation {conversation.id}", next_step="begin another one")


def forget_sources(home: Path, collection: str, sources: Several[str]) -> None:
    """Remove every caller's conversations about a collection that quote one of the sources."""
    for file, one in _all(home, collection):
        cited = {citation["source"] for turn in one.turns for citation in turn["citations"]}
        if cited & set(sources):
            file.unlink(missing_ok=True)


def forget_collection(home: Path, collection: str) -> None:
    """Remove every caller's conversations about a collection."""
    for file, _ in _all(home, collection):
        file.unlink(missing_ok=True)


def rename_collection(home: Path, collection: str, new: str) -> None:
    """Let every caller's conversations about a collection be about it under its new name."""
    for file, one in _all(home, collection):
        _write(file, replace(one, collection=new))


def _all(home: Path, collection: str) -> Iterator[tuple[Path, Conversation]]:
    for file in sorted((home / "server" / "conversations").glob("*/*.json")):
        one = _read(file)
        if one is not None and one.collection == collection:
            yield file, one


def _by_age(folder: Path) -> list[Path]:
    aged = []
    for file in folder.glob("*.json"):
        with suppress(FileNotFoundError):
            aged.append((file.stat().st_mtime_ns, file))
    return [file for _, file in sorted(aged)]


def _read(file: Path) -> Conversation | None:
    """None where it is gone, or damaged."""
    try:
        stored = json.loads(file.read_text(encoding="utf-8"))
        return Conversation(**{**stored, "turns": tuple(stored["turns"])})
    except (OSError, ValueError, TypeError, KeyError):
        return None


def _write(file: Path, conversation: Conversation) -> None:
    beside = file.with_name(f".{file.name}.{os.getpid()}.{secrets.token_hex(4)}")
    try:
        beside.write_text(json.dumps(asdict(conversation), ensure_ascii=False), encoding="utf-8")
        beside.replace(file)
    finally:
        beside.unlink(missing_ok=True)
