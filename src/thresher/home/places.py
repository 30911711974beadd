"""Where a home is, on this machine or elsewhere, and where it and its collections keep their small files."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, suppress
from pathlib import Path
from typing import cast

from thresher.errors import UsageError, check_type, missing
from thresher.home.files import LocalFiles
from thresher.plugins import brought, loaded
from thresher.protocols import Files, RemoteFolder, StoredFile
from thresher.protocols import Home as Home

COLLECTIONS = "collections"
"""The folder of a home that holds its collections, a folder each."""

STORES = "thresher.stores"
"""The entry points of stores that other distributions bring: a name, and a callable that takes a folder."""

SCHEMES = "thresher.homes"
"""The entry points of homes elsewhere: the scheme of their addresses, and what makes a `RemoteFolder` of one."""


def home_of(given: str | Path | RemoteFolder) -> Home:
    """What a person gave as a home: a path, or an address such as s3://BUCKET/PREFIX. Raises UsageError."""
    check_type("home", given, (str, Path, RemoteFolder), "a folder, or an address of one")
    if not isinstance(given, str):
        return given
    scheme, sign, _ = given.partition("://")
    if not sign:
        return Path(given)
    if entry := brought(SCHEMES).get(scheme):
        return cast(RemoteFolder, loaded(entry)(given))
    known = "".join(f", or an address that begins with {one}://" for one in sorted(brought(SCHEMES)))
    raise missing(SCHEMES, scheme) or UsageError("is not a home", subject=given, next_step=f"give a folder{known}")


def files_at(folder: Home) -> Files:
    """The files of a home, or of a folder in it, the records of its collections among them."""
    return LocalFiles(folder) if isinstance(folder, Path) else folder.files()


def shared(home: Path) -> Files | None:
    """The files that a home shares with other homes, by `home_files` of the entry point of its store; None alone."""
    from thresher.home.settings import of_home

    entry = brought(STORES).get(of_home(home).store)
    keeps: Callable[[Path], Files | None] | None = None if entry is None else getattr(loaded(entry), "home_files", None)
    return None if keeps is None else keeps(home)


def home_files(home: Home) -> Files:
    """The files of a home: replies, and what the server keeps. Which they are is asked at each use."""
    alone = files_at(home)
    return ChosenFiles(lambda: shared(home) or alone) if isinstance(home, Path) else alone


def record_files(folder: Home) -> Files:
    """Where a collection's own record is kept that is not beside its tables; its home is two above its folder."""
    together = shared(folder.absolute().parents[1]) if isinstance(folder, Path) else None
    return files_at(folder) if together is None else together.below(COLLECTIONS).below(folder.name)


def files_asked(files: Files) -> Files:
    """The same files for what every question reads: those far away are asked for again only after a while."""
    remembered: Callable[[], Files] | None = getattr(files, "remembered", None)
    return files if remembered is None else remembered()


def working_folder(folder: Home, environment: Mapping[str, str] = os.environ) -> Path:
    """Where this machine keeps what is its own, such as checkpoints of a training: the home, unless it is remote."""
    if isinstance(folder, Path):
        return folder
    caches = Path(environment.get("XDG_CACHE_HOME") or Path(environment.get("HOME", "~")).expanduser() / ".cache")
    return caches / "thresher" / hashlib.sha256(str(folder).encode()).hexdigest()[:16]


def folders(folder: Home) -> list[str]:
    """The names of the folders in a folder, sorted, those that begin with a dot left out."""
    if isinstance(folder, Path):
        found = sorted(one.name for one in folder.iterdir() if one.is_dir()) if folder.is_dir() else []
    else:
        found = list(folder.folders())
    return [name for name in found if not name.startswith(".")]


def purge_remark(folder: Home) -> str:
    """What a purge cannot reach, in words; the empty text where it reaches everything."""
    return "" if isinstance(folder, Path) else folder.purge_remark()


def size(folder: Home) -> tuple[int, int]:
    """Files in a folder and below it, and their bytes."""
    if not isinstance(folder, Path):
        return folder.size()
    files = bytes_ = 0
    for above, _, names in os.walk(folder):
        for name in names:
            with suppress(FileNotFoundError):  # upkeep of another process takes files away
                bytes_ += os.stat(os.path.join(above, name)).st_size
                files += 1
    return files, bytes_


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

    def find(self, name: str) -> StoredFile | None:
        """Its size and age; None where there is no such file."""
        return self._choose().find(name)

    def list(self, prefix: str = "") -> Sequence[StoredFile]:
        """The files whose names begin with the prefix, the oldest first."""
        return self._choose().list(prefix)

    def remove(self, names: Iterable[str]) -> None:
        """Remove files; those that are not there are passed over."""
        self._choose().remove(names)

    def lock(self, name: str, seconds: float) -> AbstractContextManager[None]:
        """Inside it no other process holds the lock of that name."""
        return self._choose().lock(name, seconds)

    def below(self, name: str) -> ChosenFiles:
        """The files in a folder."""
        return ChosenFiles(lambda: self._choose().below(name))

    def where(self, name: str) -> str:
        """Where a file is, for a person."""
        return self._choose().where(name)
