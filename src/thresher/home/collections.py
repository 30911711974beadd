"""The collections of a home: listed, renamed, dropped, copied, written into one file and read from it.

for one in thresher.collections("notes"):
    print(one.name, one.documents, one.bytes)
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from thresher.errors import check_type
from thresher.home import folders, packed
from thresher.home.folders import Summary
from thresher.home.places import COLLECTIONS
from thresher.indexing.store import DocumentStore
from thresher.protocols import Home
from thresher.stores import registry

NOT_COPIED = ("commit.lock", "upkeep.lock", "traces", "training", "feedback.jsonl", "feedback.lock", "uploads")
"""Stays with the first: questions, feedback, training data, and files that were sent to a server."""


@dataclass(frozen=True, slots=True)
class Collections:
    """The collections of a home, read at each use. Close one before it is changed; every change is atomic.

    Raises StoreError for a collection that is not there, UsageError for a name that is taken or invalid, and for a
    remote home, where they are only listed and dropped.
    """

    home: Home

    def __iter__(self) -> Iterator[Summary]:
        stores = {name: DocumentStore(self.home / COLLECTIONS / name) for name in self.names}
        return iter([Summary(name, len(store.records()), store.size()[1]) for name, store in stores.items()])

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
        home = folders.on_this_machine(self.home, name)
        target = folders.free(home, new)
        with folders.changing(home, name) as folder:
            registry.check_in_folder(folder)
            folders.moved(folder, target)

    def drop(self, name: str) -> None:
        """Remove one with its documents, chunk tables and traces."""
        folder = folders.existing(self.home, name)
        if not isinstance(folder, Path):
            with DocumentStore(folder).locked():
                # First: an interruption leaves files of no collection, which the next one clears away.
                registry.forget(folder)
            folder.remove_all()
            return
        dropped = folders.working(folder.parent, name)
        with folders.changing(folder.parents[1], name):
            registry.drop_tables(folder)
            if folder.exists():  # not where another machine made it
                folder.rename(dropped)
        shutil.rmtree(dropped, ignore_errors=True)

    def copy(self, name: str, new: str) -> None:
        """Make a second one of the same documents and chunk tables; the traces stay with the first."""
        home = folders.on_this_machine(self.home, name)
        target = folders.free(home, new)
        with folders.changing(home, name) as folder, folders.unfinished(home / COLLECTIONS, new) as beside:
            registry.check_in_folder(folder)
            left_out = {os.fspath(folder): NOT_COPIED}
            shutil.copytree(folder, beside, ignore=lambda here, _: left_out.get(here, ()), dirs_exist_ok=True)
            folders.moved(beside, target)

    def write(self, name: str, file: str | Path) -> int:
        """Write one into a file, whole or not at all, without its traces; returns the bytes of the file."""
        check_type("file", file, (str, Path), "a path")
        return packed.pack(self.home, name, Path(file))

    def read(self, file: str | Path, name: str | None = None) -> str:
        """Make one of a file that `write` wrote, under its own name or another; returns the name."""
        check_type("file", file, (str, Path), "a path")
        return packed.unpack(self.home, Path(file), name)
