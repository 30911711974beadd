"""The folders of a home's collections: listed, found, worked in under a lock, and moved into place.

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
from thresher.home.places import COLLECTIONS, check_collection_name, make_folder
from thresher.indexing.store import DocumentStore
from thresher.protocols import Home
from thresher.stores import registry

WORKING = ".working-"
"""What the name of a folder that is not finished begins with."""


@dataclass(frozen=True, slots=True)
class Summary:
    """A collection and its size."""

    name: str
    documents: int
    bytes: int
    """On disk, traces included."""


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


def on_this_machine(home: Home, name: str) -> Path:
    """A home on this machine. UsageError for a remote one: nothing there is renamed, copied or packed as a whole."""
    if not isinstance(home, Path):
        registry.check_in_folder(home / COLLECTIONS / name)
        raise AssertionError("a collection in a remote folder is refused")
    return home


def free(home: Path, name: str) -> Path:
    """The folder of a collection that is not there yet."""
    check_collection_name(name)
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
    folder = existing(home, name)
    assert isinstance(folder, Path)
    for left in folder.parent.glob(f"{WORKING}*"):
        if not _alive(left):
            shutil.rmtree(left, ignore_errors=True)
    with DocumentStore(folder).locked():
        yield folder


def existing(home: Home, name: str) -> Home:
    """The folder of a collection. Raises StoreError where there is none, naming those there are."""
    check_collection_name(name)
    folder = home / COLLECTIONS / name
    if registry.recorded(folder) is None:
        there = ", ".join(names(home)) or "none"
        raise StoreError("is not there", subject=f"collection {name} in {home}", next_step=f"there are: {there}")
    return folder


@contextmanager
def unfinished(above: Path, name: str) -> Iterator[Path]:
    """A new folder to work in, gone at the end unless it was renamed."""
    beside = working(above, name)
    make_folder(beside)
    try:
        yield beside
    finally:
        shutil.rmtree(beside, ignore_errors=True)


def working(above: Path, name: str) -> Path:
    """A folder beside others that is no collection, and names this process."""
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
