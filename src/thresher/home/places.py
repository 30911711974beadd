"""Where a home, and each of its collections, keeps its small files."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager
from pathlib import Path

from thresher.home.files import LocalFiles
from thresher.protocols import Files, StoredFile

COLLECTIONS = "collections"
"""The folder of a home that holds its collections, a folder each."""


def _by_itself(home: Path) -> Files | None:
    return None


shared: Callable[[Path], Files | None] = _by_itself
"""What a home keeps together with other homes, as the settings around it say; None for a home by itself.

The settings are read by `thresher.recipes`, which puts its own here.
"""


def home_files(home: Path) -> Files:
    """The files of a home: replies, and what the server keeps. Which they are is asked at each use."""
    return ChosenFiles(lambda: shared(home) or LocalFiles(home))


def files_at(folder: Path) -> Files:
    """Where a collection's own record is kept; its home's settings are those two above its folder."""
    together = shared(folder.absolute().parents[1])
    return LocalFiles(folder) if together is None else together.below(COLLECTIONS).below(folder.name)


class ChosenFiles:
    """Files that are chosen when they are used (implements `Files`): by then the settings around them are known."""

    def __init__(self, choose: Callable[[], Files]) -> None:
        self._choose = choose

    def read(self, name: str) -> bytes | None:
        """The content; None where there is no such file."""
        return self._choose().read(name)

    def write(self, name: str, content: bytes, *, durable: bool = False) -> None:
        """Whole or not at all."""
        self._choose().write(name, content, durable=durable)

    def create(self, name: str, content: bytes) -> bool:
        """Write a file that is not there yet; False where it is."""
        return self._choose().create(name, content)

    def list(self, prefix: str = "") -> Sequence[StoredFile]:
        """The files whose names begin with the prefix, the oldest first."""
        return self._choose().list(prefix)

    def remove(self, names: Iterable[str]) -> None:
        """Remove files; those that are not there are passed over."""
        self._choose().remove(names)

    def lock(self, name: str, seconds: float) -> AbstractContextManager[None]:
        """While inside, nobody else holds the lock of that name."""
        return self._choose().lock(name, seconds)

    def below(self, name: str) -> ChosenFiles:
        """The files in a folder."""
        return ChosenFiles(lambda: self._choose().below(name))

    def where(self, name: str) -> str:
        """Where a file is, as a person is told."""
        return self._choose().where(name)
