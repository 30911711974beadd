"""The collections of a home as folders: listed, renamed, dropped, copied; of a remote home listed and dropped.

Each change ends in one rename, so that an interruption leaves the old state or the new one; its working folder begins
with a dot, is no collection, and is cleared away by the next change.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from thresher.errors import StoreError, UsageError
from thresher.home import places
from thresher.home.files import make_folder
from thresher.home.places import COLLECTIONS
from thresher.indexing.store import DocumentStore
from thresher.protocols import Home
from thresher.stores import registry

WORKING = ".working-"
"""What the name of a folder that is not finished begins with."""

NOT_COPIED = ("commit.lock", "upkeep.lock", "traces", "training", "feedback.jsonl", "feedback.lock", "uploads")
"""Stays with the first: questions, feedback, training data, and files that were sent to a server."""


@dataclass(frozen=True, slots=True)
class Summary:
    """A collection and its size."""

    name: str
    documents: int
    bytes: int
    """On disk, traces included."""


def check_name(name: str) -> None:
    """Raise UsageError for what cannot be the name of a collection."""
    if not name.isprintable() or not name or name.startswith(".") or any(mark in name for mark in "/\\"):
        raise UsageError("is not a collection name", subject=repr(name), next_step="use letters, digits, - and _")


def names(home: Home) -> list[str]:
    """The collections of a home that hold a store, sorted."""
    folder = home / COLLECTIONS
    here = set(places.folders(folder))
    if isinstance(home, Path) and (together := places.shared(home)) is not None:
        here |= {file.name.split("/")[0] for file in together.below(COLLECTIONS).list()}
    return sorted(name for name in here if registry.recorded(folder / name) is not None)


def home_above(home: Home) -> Path | None:
    """The nearest home of the same name in a folder above, which a person in a subfolder may mean."""
    if not isinstance(home, Path):
        return None
    above = (folder / home.name for folder in home.absolute().parent.parents)
    return next((one for one in above if names(one)), None)


def summaries(home: Home) -> list[Summary]:
    """The collections of a home with their sizes, by name."""
    stores = {name: DocumentStore(home / COLLECTIONS / name) for name in names(home)}
    return [Summary(name, len(store.records()), store.size()[1]) for name, store in stores.items()]


def rename(home: Home, name: str, new: str) -> None:
    """Give a collection another name."""
    home = on_this_machine(home, name)
    target = free(home, new)
    with changing(home, name) as folder:
        registry.check_in_folder(folder)
        moved(folder, target)


def drop(home: Home, name: str) -> None:
    """Remove a collection with its traces."""
    if not isinstance(home, Path):
        _existing(home, name)
        remote = home / COLLECTIONS / name
        with DocumentStore(remote).locked():
            # First: an interruption leaves files of no collection, which the next one clears away.
            registry.forget(remote)
        remote.remove_all()
        return
    with changing(home, name) as folder:
        registry.drop_tables(folder)
        dropped = _working(home / COLLECTIONS, name)
        if folder.exists():  # not where another machine made it
            folder.rename(dropped)
    shutil.rmtree(dropped, ignore_errors=True)


def copy(home: Home, name: str, new: str) -> None:
    """Make a second collection of the same documents and chunk tables; the traces stay with the first."""
    home = on_this_machine(home, name)
    target = free(home, new)
    with changing(home, name) as folder, unfinished(home / COLLECTIONS, new) as beside:
        registry.check_in_folder(folder)
        left_out = {os.fspath(folder): NOT_COPIED}
        shutil.copytree(folder, beside, ignore=lambda here, _: left_out.get(here, ()), dirs_exist_ok=True)
        moved(beside, target)


def on_this_machine(home: Home, name: str) -> Path:
    """A home on this machine. UsageError for a remote one: nothing there is renamed, copied or packed as a whole."""
    if not isinstance(home, Path):
        registry.check_in_folder(home / COLLECTIONS / name)
        raise AssertionError("a collection in a remote folder is refused")
    return home


def free(home: Path, name: str) -> Path:
    """The folder of a collection that is not there yet."""
    check_name(name)
    folder = home / COLLECTIONS / name
    if registry.recorded(folder) is not None:
        raise UsageError("is there already", subject=f"collection {name}", next_step="choose another name, or drop it")
    return folder


def moved(folder: Path, target: Path) -> None:
    """Rename; an empty folder of that name (a question asked of nothing) gives way, another does not."""
    if target.is_dir():
        shutil.rmtree(target)  # `free` saw that it holds no store
    make_folder(target.parent)
    folder.rename(target)


@contextmanager
def changing(home: Path, name: str) -> Iterator[Path]:
    """The folder of a collection, under its lock; what earlier changes left behind is cleared away."""
    folder = _existing(home, name)
    assert isinstance(folder, Path)
    for left in (home / COLLECTIONS).glob(f"{WORKING}*"):
        if not _alive(left):
            shutil.rmtree(left, ignore_errors=True)
    with DocumentStore(folder).locked():
        yield folder


def _existing(home: Home, name: str) -> Home:
    """The folder of a collection. Raises StoreError where there is none, naming those there are."""
    check_name(name)
    folder = home / COLLECTIONS / name
    if registry.recorded(folder) is None:
        there = ", ".join(names(home)) or "none"
        raise StoreError("is not there", subject=f"collection {name} in {home}", next_step=f"there are: {there}")
    return folder


@contextmanager
def unfinished(above: Path, name: str) -> Iterator[Path]:
    """A new folder to work in, gone at the end unless it was renamed."""
    beside = _working(above, name)
    make_folder(beside)
    try:
        yield beside
    finally:
        shutil.rmtree(beside, ignore_errors=True)


def _working(above: Path, name: str) -> Path:
    return above / f"{WORKING}{os.getpid()}-{name}"


def _alive(left: Path) -> bool:
    number = left.name.removeprefix(WORKING).partition("-")[0]
    try:
        os.kill(int(number), 0)
    except ProcessLookupError:
        return False
    except (ValueError, PermissionError):
        return True
    return True
