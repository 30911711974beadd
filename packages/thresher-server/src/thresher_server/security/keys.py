"""Keys of the server: made once, shown once, kept as hashes in `server/keys.json` of the home.

A key is `thr_ID_SECRET`: the id is looked up, the SHA-256 of the secret is compared in constant time. A plain hash is
enough for 256 random bits; it is passwords that need a slow one.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import os
import secrets
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path
from tempfile import NamedTemporaryFile
from threading import Lock

from filelock import FileLock

from thresher.errors import UnknownSetting, UsageError

PREFIX = "thr"
ID_BYTES, SECRET_BYTES = 6, 32
LOCK_SECONDS = 10.0
"""To wait for another process that changes the keys, which takes milliseconds."""


class Scope(StrEnum):
    """What a key lets somebody do."""

    READ = "read"
    """Search, list and open documents."""
    ASK = "ask"
    """Ask, check, rerank, encode; see the traces of it."""
    WRITE = "write"
    """Add, change and delete documents; calibrate."""
    ADMIN = "admin"
    """Everything, in every collection: make and drop collections, see everybody's questions."""


@dataclass(frozen=True, slots=True)
class Caller:
    """Who asks: a name for the log, what it may do, and in which collections (None: in all)."""

    name: str
    scopes: frozenset[Scope]
    collections: frozenset[str] | None = None

    def may(self, scope: Scope, collection: str | None = None) -> bool:
        """Whether the scope is granted, in that collection."""
        if Scope.ADMIN in self.scopes:
            return True
        here = collection is None or self.collections is None or collection in self.collections
        return scope in self.scopes and here


OPERATOR = Caller("operator", frozenset(Scope))
"""Whoever has the key of the setting `server.admin_key`."""

ANYBODY = Caller("loopback", frozenset(Scope))
"""Whoever reaches a server that listens on this machine alone and asks for no key."""


@dataclass(frozen=True, slots=True)
class Key:
    """What is kept of a key."""

    id: str
    name: str
    hash: str
    scopes: tuple[str, ...]
    collections: tuple[str, ...] | None
    made: str
    """ISO 8601 time."""
    expires: str | None = None
    """ISO 8601 time after which it is refused; None for never."""

    @property
    def caller(self) -> Caller:
        """Who has it."""
        allowed = None if self.collections is None else frozenset(self.collections)
        return Caller(self.name, frozenset(map(Scope, self.scopes)), allowed)

    def has_expired(self, now: datetime) -> bool:
        """Whether it is refused by now."""
        return self.expires is not None and datetime.fromisoformat(self.expires) <= now


class Keys:
    """The keys of a home; a change by another process is seen at the next request."""

    def __init__(self, home: Path) -> None:
        self.file = home / "server" / "keys.json"
        self._read_at: tuple[int, int] = (0, 0)
        self._keys: dict[str, Key] = {}
        self._lock = Lock()

    def __iter__(self) -> Iterator[Key]:
        return iter(sorted(self._current().values(), key=lambda key: key.made))

    def __len__(self) -> int:
        return len(self._current())

    def make(
        self, name: str, scopes: Iterable[Scope], collections: Iterable[str] | None, *, expires: str | None = None
    ) -> str:
        """A new key, which is shown this once. UsageError for a name that is taken, or no scope."""
        wanted = tuple(sorted({scope.value for scope in scopes}))
        if not wanted:
            raise UsageError("has no scope", subject=f"key {name}", next_step="give some of read, ask, write, admin")
        if not name.strip():
            raise UsageError("has no name", subject="a key", next_step="say whose it is")
        with self._changing() as keys:
            if any(key.name == name for key in keys.values()):
                raise UsageError("is taken", subject=f"key {name}", next_step="give another name, or rotate it")
            id_, secret = secrets.token_hex(ID_BYTES), secrets.token_urlsafe(SECRET_BYTES)
            limited = None if collections is None else tuple(sorted(collections))
            keys[id_] = Key(id_, name, _hash(secret), wanted, limited, _now().isoformat(timespec="seconds"), expires)
        return f"{PREFIX}_{id_}_{secret}"

    def rotate(self, name: str) -> str:
        """Another secret for the key of that name; the old one is refused from now on."""
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
        """Whose key it is; None for one that is unknown, revoked or expired."""
        prefix, _, rest = given.partition("_")
        id_, _, secret = rest.partition("_")
        key = self._current().get(id_)
        expected = key.hash if key else _hash("")
        fits = hmac.compare_digest(_hash(secret), expected)  # as long for an unknown id as for a known one
        if key is None or prefix != PREFIX or not fits or key.has_expired(_now()):
            return None
        return key.caller

    def _current(self) -> dict[str, Key]:
        with self._lock:
            try:
                stat = self.file.stat()
            except FileNotFoundError:
                self._read_at, self._keys = (0, 0), {}
                return self._keys
            stamp = (stat.st_mtime_ns, stat.st_ino)
            if stamp != self._read_at:
                self._keys, self._read_at = _read(self.file), stamp
            return self._keys

    def _changing(self) -> _Change:
        return _Change(self.file)


class _Change:
    """The keys, to be changed while nobody else changes them, and written whole or not at all."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._lock = FileLock(f"{file}.lock", timeout=LOCK_SECONDS)

    def __enter__(self) -> dict[str, Key]:
        self._file.parent.mkdir(parents=True, exist_ok=True)
        self._lock.acquire()
        with suppress(FileNotFoundError):
            self._keys = _read(self._file)
            return self._keys
        self._keys = {}
        return self._keys

    def __exit__(self, kind: type[BaseException] | None, *error: object) -> None:
        try:
            if kind is None:
                _write(self._file, self._keys)
        finally:
            self._lock.release()


def _read(file: Path) -> dict[str, Key]:
    try:
        rows = json.loads(file.read_text(encoding="utf-8"))
        return {
            row["id"]: Key(
                **{
                    **row,
                    "scopes": tuple(row["scopes"]),
                    "collections": None if row["collections"] is None else tuple(row["collections"]),
                }
            )
            for row in rows
        }
    except (ValueError, TypeError, KeyError) as error:
        raise UsageError(f"cannot be read ({error})", subject=str(file), next_step="mend or remove it") from error


def _write(file: Path, keys: dict[str, Key]) -> None:
    with NamedTemporaryFile("w", dir=file.parent, delete=False, encoding="utf-8") as new:  # of mode 600
        json.dump([asdict(key) for key in keys.values()], new, indent=2)
        new.flush()
        os.fsync(new.fileno())
    os.replace(new.name, file)


def _named(keys: dict[str, Key], name: str) -> Key:
    for key in keys.values():
        if key.name == name:
            return key
    raise UnknownSetting(name, {key.name for key in keys.values()}, kind="key")


def _hash(secret: str) -> str:
    return hashlib.sha256(secret.encode()).hexdigest()


def _now() -> datetime:
    return datetime.now(UTC)
