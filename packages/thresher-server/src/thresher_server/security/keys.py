"""Keys of the server: shown once, stored as hashes in `server/keys.json` of the home.

A key is `thr_ID_SECRET`: the id is looked up, and the SHA-256 of the secret compared in constant time. A plain hash
suffices for 256 random bits; only passwords need a slow one.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import secrets
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any

from thresher.errors import UnknownSetting, UsageError
from thresher.filters import of_documents
from thresher.home.places import files_asked, home_files
from thresher.protocols import Home

FILE = "keys.json"
PREFIX = "thr"
ID_BYTES, SECRET_BYTES = 6, 32
LOCK_SECONDS = 10.0
"""Longest wait for another process that changes the keys, which takes milliseconds."""


class Scope(StrEnum):
    """Rights of a key."""

    READ = "read"
    """Search, list and open documents."""
    ASK = "ask"
    """Ask, check, rerank, encode; see the own traces."""
    WRITE = "write"
    """Add, change and delete documents; calibrate."""
    ADMIN = "admin"
    """Everything, in every collection: make and drop collections, see everybody's questions."""


@dataclass(frozen=True, slots=True)
class Caller:
    """The sender of a request: name in the log, scopes, collections (None: all), and the documents of these."""

    name: str
    scopes: frozenset[Scope]
    collections: frozenset[str] | None = None
    id: str = ""
    """Of the key; empty without one. Two keys with one name, one after the other, are two callers."""
    where: str | None = None
    """The filter that documents must pass to be there for the caller; None for all."""

    @property
    def identity(self) -> str:
        """The caller's data is stored under this; no name can equal another's identity."""
        if self.id:
            return f"key {self.id}"
        return f"own {self.name}" + ("" if self.where is None else f" where {self.where}")

    @property
    def folder(self) -> str:
        """Name of the folder of the caller's data."""
        return _hash(self.identity)[:16]

    def may(self, scope: Scope, collection: str | None = None) -> bool:
        """Whether the scope is granted, in that collection."""
        if Scope.ADMIN in self.scopes:
            return True
        here = collection is None or self.collections is None or collection in self.collections
        return scope in self.scopes and here


OPERATOR = Caller("operator", frozenset(Scope))
"""The caller with the key of the setting `server.admin_key`."""

ANYBODY = Caller("loopback", frozenset(Scope))
"""Any caller of a server that only this machine reaches and that needs no key."""


RESERVED = frozenset({OPERATOR.name, ANYBODY.name, "agent"})
"""Names in the audit log of callers without a key of `thresher keys`."""


class Profile(StrEnum):
    """A set of tools."""

    DEFAULT = "default"
    CHATGPT = "chatgpt"
    """`search` and `fetch`, as ChatGPT's connectors and deep research call them."""


READ_ONLY = frozenset({Scope.READ, Scope.ASK})


@dataclass(frozen=True, slots=True)
class Offer:
    """Tools by profile and scope; `collections` and `where` None mean all."""

    profile: Profile = Profile.DEFAULT
    scopes: frozenset[Scope] = READ_ONLY
    collections: frozenset[str] | None = None
    where: str | None = None
    """The filter that documents must pass to be there; with one nobody writes."""

    def to(self, caller: Caller) -> Caller:
        """The caller with the rights that are also offered here; without a key it may not write."""
        scopes = frozenset(scope for scope in self.scopes if caller.may(scope))
        own = None if Scope.ADMIN in caller.scopes else caller.collections
        both = [one for one in (own, self.collections) if one is not None]
        collections = frozenset.intersection(*both) if both else None
        filters = [one for one in (caller.where, self.where) if one is not None]
        where = " AND ".join(f"({one})" for one in dict.fromkeys(filters)) if filters else None
        limited = scopes & READ_ONLY if caller is ANYBODY or self.where is not None else scopes
        return replace(caller, scopes=limited, collections=collections, where=where)


@dataclass(frozen=True, slots=True)
class Key:
    """A stored key."""

    id: str
    name: str
    hash: str
    scopes: tuple[str, ...]
    collections: tuple[str, ...] | None
    made: str
    """ISO 8601 time."""
    expires: str | None = None
    """ISO 8601 time after which it is refused; None for never."""
    where: str | None = None
    """A filter; such a key may read alone."""

    @property
    def caller(self) -> Caller:
        """The caller who has it."""
        allowed = None if self.collections is None else frozenset(self.collections)
        scopes = frozenset(map(Scope, self.scopes))
        return Caller(
            self.name, scopes if self.where is None else scopes & READ_ONLY, allowed, self.id, where=self.where
        )

    def has_expired(self, now: datetime) -> bool:
        """Whether it has expired."""
        return self.expires is not None and datetime.fromisoformat(self.expires) <= now


class Keys:
    """The keys of a home. Changes by another process apply at the next request, in a bucket some seconds later."""

    def __init__(self, home: Home) -> None:
        self._files = files_asked(home_files(home).below("server"))
        self._seen: tuple[bytes | None, dict[str, Key]] = (None, {})

    def __iter__(self) -> Iterator[Key]:
        return iter(sorted(self._current().values(), key=lambda key: key.made))

    def __len__(self) -> int:
        return len(self._current())

    def make(
        self,
        name: str,
        scopes: Iterable[Scope],
        collections: Iterable[str] | None,
        *,
        expires: str | None = None,
        where: str | None = None,
    ) -> str:
        """A new key, shown only now. Raises UsageError for a name that is taken or invalid, and for no scope.

        With a filter `where` also for a scope beyond `read` and `ask`: whoever writes would change what is not seen.
        """
        wanted = tuple(sorted({scope.value for scope in scopes}))
        if where is not None:
            of_documents(where)
            if beyond := sorted(set(wanted) - READ_ONLY):
                step = "give read and ask alone, or a collection of its own to write to"
                raise UsageError(f"cannot have the scope {beyond[0]}", subject="a key with a filter", next_step=step)
        if not wanted:
            raise UsageError("has no scope", subject=f"key {name}", next_step="give some of read, ask, write, admin")
        if not name.strip():
            raise UsageError("has no name", subject="a key", next_step="say whose it is")
        if name.strip().casefold() in RESERVED:
            raise UsageError("is a name of the server's own", subject=f"key {name}", next_step="give another name")
        if not name.isprintable():
            raise UsageError("is not printable", subject=f"key {name!r}", next_step="give another name")
        with self._changing() as keys:
            if any(key.name == name for key in keys.values()):
                raise UsageError("is taken", subject=f"key {name}", next_step="give another name, or rotate it")
            id_, secret = secrets.token_hex(ID_BYTES), secrets.token_urlsafe(SECRET_BYTES)
            limited = None if collections is None else tuple(sorted(collections))
            keys[id_] = Key(
                id_, name, _hash(secret), wanted, limited, _now().isoformat(timespec="seconds"), expires, where
            )
        return f"{PREFIX}_{id_}_{secret}"

    def rotate(self, name: str) -> str:
        """A new secret for the key of that name; the old one is refused from now on."""
        with self._changing() as keys:
            old = _named(keys, name)
            secret = secrets.token_urlsafe(SECRET_BYTES)
            keys[old.id] = replace(old, hash=_hash(secret), made=_now().isoformat(timespec="seconds"))
        return f"{PREFIX}_{old.id}_{secret}"

    def revoke(self, name: str) -> None:
        """Refuse the key of that name from now on."""
        with self._changing() as keys:
            del keys[_named(keys, name).id]

    def caller(self, given: str) -> Caller | None:
        """The caller of a key; None if it is unknown, revoked or expired."""
        prefix, _, rest = given.partition("_")
        id_, _, secret = rest.partition("_")
        key = self._current().get(id_)
        expected = key.hash if key else _hash("")
        fits = hmac.compare_digest(_hash(secret), expected)  # takes as long for an unknown id
        if key is None or prefix != PREFIX or not fits or key.has_expired(_now()):
            return None
        return key.caller

    def valid(self, id_: str) -> tuple[Caller, str] | None:
        """The caller of the key with this id, and the hash of its secret; None if it is revoked or expired."""
        key = self._current().get(id_)
        return None if key is None or key.has_expired(_now()) else (key.caller, key.hash)

    def _current(self) -> dict[str, Key]:
        content = self._files.read(FILE)
        before, keys = self._seen
        if content != before:
            keys = _keys_of(content, self._files.where(FILE))
            self._seen = (content, keys)  # one assignment: other threads see both old or both new
        return keys

    @contextmanager
    def _changing(self) -> Iterator[dict[str, Key]]:
        """The keys for a change, locked and written atomically."""
        with self._files.lock(f"{FILE}.lock", LOCK_SECONDS):
            keys = dict(self._current())
            yield keys
            rows = json.dumps([asdict(key) for key in keys.values()], indent=2)
            self._files.write(FILE, rows.encode(), durable=True)


def _keys_of(content: bytes | None, where: str) -> dict[str, Key]:
    try:
        return {row["id"]: _key(row) for row in json.loads(content or b"[]")}
    except (ValueError, TypeError, KeyError) as error:
        raise UsageError(f"cannot be read ({error})", subject=where, next_step="mend or remove it") from error


def _key(row: Mapping[str, Any]) -> Key:
    collections = None if row["collections"] is None else tuple(row["collections"])
    return Key(**{**row, "scopes": tuple(row["scopes"]), "collections": collections})


def _named(keys: dict[str, Key], name: str) -> Key:
    for key in keys.values():
        if key.name == name:
            return key
    raise UnknownSetting(name, {key.name for key in keys.values()}, kind="key")


def _hash(secret: str) -> str:
    return hashlib.sha256(secret.encode()).hexdigest()


def _now() -> datetime:
    return datetime.now(UTC)
