"""Caches answers of a database until it changes: versions, counts, how many chunks contain a term.

Questions repeat these queries. Every change sends a notification (NOTIFY, by triggers of the schema), and a listening
thread empties the cache. Without a listener nothing is cached.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Hashable
from threading import Event, Lock, Thread
from time import monotonic
from typing import TypeVar, cast

import psycopg
from psycopg.rows import TupleRow

from thresher.errors import ThresherError

T = TypeVar("T")

CHANNEL = "thresher"
"""As in the script with the triggers."""

WARM = 100
"""Queries after which listening pays off: two questions; a command asks one and ends."""

BEAT_SECONDS = 5.0
"""Interval of heartbeats of the listener; each empties the cache."""

FRESH_SECONDS = 2 * BEAT_SECONDS
"""Validity of a heartbeat; without another one the connection hangs, and nothing is cached."""

AGAIN_SECONDS = 1.0
"""Before a reconnect if the database is unavailable."""

MOST = 10_000
"""Cached answers."""

_log = logging.getLogger(__name__)


class Changes:
    """Caches answers while it receives notifications of changes. Safe to use from several threads."""

    def __init__(self, opened: Callable[[], psycopg.Connection[TupleRow]]) -> None:
        self._opened = opened
        self._lock = Lock()
        self._known: dict[Hashable, object] = {}
        self._forgotten = 0
        self._asked = 0
        self._fresh_until = 0.0
        self._stopping: Event | None = None

    @property
    def is_listening(self) -> bool:
        """Whether answers are cached now."""
        return monotonic() < self._fresh_until

    def known(self, key: Hashable, ask: Callable[[], T]) -> T:
        """The cached value of a key, else the result of `ask`."""
        with self._lock:
            self._asked += 1
            self._listen_if_worth()
            if not self.is_listening:
                forgotten = -1
            elif key in self._known:
                return cast(T, self._known[key])
            else:
                forgotten = self._forgotten
        answer = ask()
        with self._lock:
            if forgotten == self._forgotten and self.is_listening:  # nothing changed during the query
                if len(self._known) >= MOST:
                    self._known.clear()
                self._known[key] = answer
        return answer

    def forget(self) -> None:
        """Empty the cache after a change."""
        with self._lock:
            self._forgotten += 1
            self._known.clear()

    def close(self) -> None:
        """Stop listening; a later query may start again."""
        with self._lock:
            if self._stopping is not None:
                self._stopping.set()
            self._stopping, self._asked, self._fresh_until = None, 0, 0.0
        self.forget()

    def _listen_if_worth(self) -> None:
        if self._stopping is None and self._asked > WARM:
            self._stopping = Event()
            Thread(target=self._listen, args=[self._stopping], name="thresher-changes", daemon=True).start()

    def _listen(self, stopping: Event) -> None:
        while not stopping.is_set():
            try:
                with self._opened() as connection:
                    connection.execute(f"LISTEN {CHANNEL}".encode())
                    self._follow(connection, stopping)
            except (psycopg.Error, ThresherError) as error:
                _log.info("nobody listens to changes (%s)", type(error).__name__)
            if not stopping.is_set():
                self._fresh_until = 0.0
                self.forget()
                stopping.wait(AGAIN_SECONDS)

    def _follow(self, connection: psycopg.Connection[TupleRow], stopping: Event) -> None:
        while not stopping.is_set():
            connection.execute("SELECT 1")
            self.forget()
            with self._lock:
                if not stopping.is_set():
                    self._fresh_until = monotonic() + FRESH_SECONDS
            for _ in connection.notifies(timeout=BEAT_SECONDS):
                self.forget()
                if stopping.is_set():
                    break
