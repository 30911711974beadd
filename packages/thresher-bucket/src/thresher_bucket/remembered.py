"""Files with a cache of some seconds, for reads of every question."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from threading import Lock
from time import monotonic

from thresher.protocols import Files, StoredFile


class RememberedFiles:
    """Files whose contents are cached for some seconds (implements `Files`); own writes are visible at once.

    Taking a lock empties the cache: content read under it is about to be written.
    """

    def __init__(self, files: Files, seconds: Callable[[], float]) -> None:
        self._files = files
        self._seconds = seconds
        self._known: dict[str, tuple[float, bytes | None]] = {}
        self._lock = Lock()

    def read(self, name: str) -> bytes | None:
        """The content, at most some seconds old; None if there is no such file."""
        with self._lock:
            known = self._known.get(name)
        began = monotonic()
        if known is not None and began - known[0] < self._seconds():
            return known[1]
        content = self._files.read(name)
        with self._lock:
            self._known[name] = began, content
        return content

    def write(self, name: str, content: bytes, *, durable: bool = False) -> None:
        """Atomic: a reader sees the old content or the new one."""
        self._files.write(name, content, durable=durable)
        self._forget([name])

    def create(self, name: str, content: bytes) -> bool:
        """Write a new file; False if it exists. Of several concurrent calls one returns True."""
        try:
            return self._files.create(name, content)
        finally:
            self._forget([name])

    def find(self, name: str) -> StoredFile | None:
        """Metadata of a file; None if there is no such file."""
        return self._files.find(name)

    def list(self, prefix: str = "") -> Sequence[StoredFile]:
        """The files whose names begin with the prefix, also in subfolders, the oldest first."""
        return self._files.list(prefix)

    def remove(self, names: Iterable[str]) -> None:
        """Remove files; missing ones are ignored."""
        gone = list(names)
        self._files.remove(gone)
        self._forget(gone)

    @contextmanager
    def lock(self, name: str, seconds: float) -> Iterator[None]:
        """The lock of that name, exclusive on all machines."""
        with self._files.lock(name, seconds):
            self._forget(list(self._known))
            yield

    def below(self, name: str) -> RememberedFiles:
        """The files in a folder."""
        return RememberedFiles(self._files.below(name), self._seconds)

    def where(self, name: str) -> str:
        """The location of a file, for people."""
        return self._files.where(name)

    def _forget(self, names: Iterable[str]) -> None:
        with self._lock:
            for name in names:
                self._known.pop(name, None)
