"""A lock in a bucket that ends with its holder: an object that names the holder, renewed while the lock is held.

A process that finds it unchanged for the length of a lease takes it over, by a put on the tag that it saw: of several,
one succeeds. Clocks of machines are never compared: a waiting process measures by its own clock, or asks the bucket for
the object's age. A holder checks its lease before it writes (`check`): a put on the tag of its own last renewal
succeeds only if nobody else has written since, however long it slept.
"""

from __future__ import annotations

import json
import logging
import os
import random
import socket
import time
from collections.abc import Iterable, Mapping
from contextlib import suppress
from secrets import token_hex
from threading import Event, Lock, RLock, Thread
from typing import Protocol

from thresher.errors import StoreError
from thresher.protocols import StoredFile

Tag = Mapping[str, str]
"""Version of an object's content, in its store's terms."""


class Objects(Protocol):
    """What a lease needs of the files of a bucket (`thresher_bucket.files`)."""

    def where(self, name: str) -> str:
        """The address of a file."""

    def find(self, name: str) -> StoredFile | None:
        """Metadata of a file; None if there is no such file."""

    def read_tagged(self, name: str) -> tuple[bytes, Tag] | None:
        """The content with its tag; None if there is no such file."""

    def create_tagged(self, name: str, content: bytes) -> Tag | None:
        """Write a new file and return its tag; None if it exists."""

    def swap(self, name: str, content: bytes, tag: Tag) -> Tag | None:
        """Replace a file that still has this tag, and return the new tag; None if it changed or is gone."""

    def write(self, name: str, content: bytes) -> None:
        """Write a file, old or new."""

    def remove(self, names: Iterable[str]) -> None:
        """Remove files; missing ones are ignored."""


LEASE_SECONDS = 20.0
"""Renewed four times in this time; others wait so long for a killed writer."""

SHORTEST_POLL, LONGEST_POLL = 0.05, 0.5
"""Seconds between two polls of another's lease."""

COARSE = 2.0
"""Error of an object's age by the bucket, in seconds: two times are cut to whole seconds."""

FREE = b'{"holder": null}'

_log = logging.getLogger(__name__)


def _clock() -> float:
    """Seconds that continue while the machine sleeps, if it supports that."""
    kind = getattr(time, "CLOCK_BOOTTIME", None)
    return time.monotonic() if kind is None else time.clock_gettime(kind)


class HeldObject:
    """A lock object of a bucket, shared by the threads of this process."""

    def __init__(self, files: Objects, name: str, *, seconds: float = LEASE_SECONDS) -> None:
        self._files = files
        self._name = name
        self._seconds = seconds
        self._thread = RLock()
        self._renewing = Lock()
        self._depth = 0
        self._tag: Tag | None = None
        """Of the content that this process last wrote."""
        self._holder = ""
        self._renewed = 0
        self._began = 0.0
        self._lost = False
        self._released = Event()

    @property
    def where(self) -> str:
        """Its address."""
        return self._files.where(self._name)

    def acquire(self, seconds: float) -> bool:
        """Take it; reentrant. True if this thread did not hold it. Raises `filelock.Timeout`, StoreError."""
        from filelock import Timeout

        deadline = _clock() + seconds
        if not self._thread.acquire(timeout=seconds):
            raise Timeout(self.where)
        try:
            taken = self._depth == 0
            if taken:
                self._take(deadline)
        except BaseException:
            self._thread.release()
            raise
        self._depth += 1
        return taken

    def release(self) -> None:
        """Release it once for each `acquire`."""
        self._depth -= 1
        try:
            if self._depth == 0:
                self._released.set()
                with self._renewing, suppress(StoreError):  # it will expire
                    if not self._lost and self._tag is not None:
                        self._tag = self._files.swap(self._name, FREE, self._tag)
        finally:
            self._thread.release()

    def check(self) -> None:
        """Raise StoreError if this process holds it but its lease is lost, or that cannot be verified.

        Afterwards at least half of the lease remains for the next write.
        """
        if self._depth == 0:
            return
        with self._renewing:
            if not self._lost and _clock() - self._began > self._seconds / 2:
                self._renew()
            if self._lost:
                raise StoreError(
                    "its lease was lost to another process, and nothing more is written",
                    subject=self.where,
                    next_step="run it again: what was committed is kept",
                )

    # --- taking

    def _take(self, deadline: float) -> None:
        from filelock import Timeout

        self._holder = f"{socket.gethostname()}:{os.getpid()}:{token_hex(8)}"
        self._renewed = 0
        began = _clock()
        # The last holder tries at once: it may still be free.
        tag = None if self._tag is None else self._written(self._tag)
        seen: Tag | None = None
        since = began
        pause = SHORTEST_POLL
        while tag is None:
            began = _clock()
            found = self._files.read_tagged(self._name)
            if found is None or found[0] == FREE or self._is_own(found[0]):
                tag = self._written(None if found is None else found[1])
            else:
                if found[1] != seen:
                    seen, since = found[1], began
                    pause = SHORTEST_POLL
                    gone = self._has_expired()
                else:
                    gone = began - since > self._seconds
                if gone:
                    _log.warning("%s: the lease of a process that is gone is taken over", self.where)
                    tag = self._written(found[1])
            if tag is None:
                if _clock() >= deadline:
                    raise Timeout(self.where)
                time.sleep(pause * random.uniform(0.5, 1.0))
                pause = min(2 * pause, LONGEST_POLL)
        self._tag, self._began, self._lost = tag, began, False
        self._released = Event()
        Thread(target=self._keep, args=(self._released,), name="lease", daemon=True).start()

    def _has_expired(self) -> bool:
        """Whether the object is older than a lease, by the clock of the bucket: some locks are waited for shorter."""
        held = self._files.find(self._name)
        if held is None:
            return False
        beside = f"{self._name}.{token_hex(4)}"
        self._files.write(beside, b"")
        now = self._files.find(beside)
        self._files.remove([beside])
        return now is not None and now.modified - held.modified > self._seconds + COARSE

    def _written(self, tag: Tag | None) -> Tag | None:
        """The tag after replacing the content with that tag (None: none) by ours; None if it has changed."""
        content = self._content()
        if tag is None:
            put = self._files.create_tagged(self._name, content)
        else:
            put = self._files.swap(self._name, content, tag)
        if put is None:  # A put with a lost reply is repeated, and refused because it had succeeded.
            found = self._files.read_tagged(self._name)
            if found is not None and self._is_own(found[0]):
                put = found[1] if found[0] == content else self._files.swap(self._name, content, found[1])
        return put

    def _content(self) -> bytes:
        return json.dumps({"holder": self._holder, "renewed": self._renewed}).encode()

    def _is_own(self, content: bytes) -> bool:
        try:
            return bool(self._holder) and json.loads(content)["holder"] == self._holder
        except (ValueError, KeyError, TypeError):
            return False

    # --- keeping

    def _keep(self, released: Event) -> None:
        """Renew it until it is released; failures are retried, and `check` reports a lost lease."""
        while not released.wait(self._seconds / 4):
            with self._renewing:
                if released.is_set() or self._lost:
                    return
                with suppress(StoreError):
                    self._renew()

    def _renew(self) -> None:
        assert self._tag is not None
        began = _clock()
        self._renewed += 1
        tag = self._written(self._tag)
        if tag is None:
            self._lost = True
        else:
            self._tag, self._began = tag, began


_held: dict[str, HeldObject] = {}
_finding = Lock()


def held_by(files: Objects, name: str) -> HeldObject:
    """The lock object of that name, one for the whole process."""
    with _finding:
        return _held.setdefault(files.where(name), HeldObject(files, name))
