"""The collections of a home: listed, renamed, dropped, copied, written into one file and read from it.

for one in thresher.collections("notes"):
    print(one.name, one.documents, one.bytes)
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from thresher.errors import check_type
from thresher.home import folders, packed
from thresher.home.folders import Summary
from thresher.home.places import Home


@dataclass(frozen=True, slots=True)
class Collections:
    """The collections of a home, read at each use. Close one before it is changed; every change is atomic.

    Raises StoreError for a collection that is not there, UsageError for a name that is taken or invalid.
    """

    home: Home

    def __iter__(self) -> Iterator[Summary]:
        return iter(folders.summaries(self.home))

    def __len__(self) -> int:
        return len(self.names)

    def __contains__(self, name: object) -> bool:
        return name in self.names

    @property
    def names(self) -> list[str]:
        """Their names, sorted."""
        return folders.names(self.home)

    def rename(self, name: str, new: str) -> None:
        """Give one another name."""
        _check(name, new)
        folders.rename(self.home, name, new)

    def drop(self, name: str) -> None:
        """Remove one with its documents, chunk tables and traces."""
        _check(name)
        folders.drop(self.home, name)

    def copy(self, name: str, new: str) -> None:
        """Make a second one of the same documents; the traces stay with the first."""
        _check(name, new)
        folders.copy(self.home, name, new)

    def write(self, name: str, file: str | Path) -> int:
        """Write one into a file, whole or not at all, without its traces; returns the bytes of the file."""
        _check(name)
        check_type("file", file, (str, Path), "a path")
        return packed.pack(self.home, name, Path(file))

    def read(self, file: str | Path, name: str | None = None) -> str:
        """Make one of a file that `write` wrote, under its own name or another; returns the name."""
        _check(name or "")
        check_type("file", file, (str, Path), "a path")
        return packed.unpack(self.home, Path(file), name)


def _check(*names: object) -> None:
    for name in names:
        check_type("name", name, str, "the name of a collection")
