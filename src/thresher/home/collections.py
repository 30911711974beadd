"""The collections of a home: listed, renamed, dropped, copied; packed into one file, and made of such a file.

for one in thresher.collections("notes"):
    print(one.name, one.documents, one.bytes)

A stranger may have written the file of a collection. Only the record of the store and the tables of the default store
are taken, under plain names, up to a bound of bytes. `doctor` checks all of it; a finding that cannot be mended refuses
the file. A file record counts only where the same bytes are on this machine, or it would make any file here the
original of a document.

A backup of a home is made while others ask and write: each collection is linked aside under its locks, which takes
milliseconds, and packed later; a table's files never change, every other file is replaced whole. It holds keys, traces
and conversations: keep it as secret as the home, and restore only the file of somebody you trust.
"""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import os
import re
import shutil
import tarfile
import zlib
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from thresher.errors import StoreError, ThresherError, UsageError, check_type
from thresher.home import folders
from thresher.home.folders import Summary
from thresher.home.places import COLLECTIONS, UNFINISHED, Home, make_folder
from thresher.indexing.catalog import RECORD_TABLES
from thresher.indexing.doctor import Finding, examine
from thresher.indexing.store import DocumentStore
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
        return pack(self.home, name, Path(file))

    def read(self, file: str | Path, name: str | None = None) -> str:
        """Make one of a file that `write` wrote, under its own name or another; returns the name."""
        check_type("file", file, (str, Path), "a path")
        return unpack(self.home, Path(file), name)


# --- packed into one file ---------------------------------------------------------------------------------------------

COLLECTION, HOME = "thresher-collection.json", "thresher-home.json"
"""First in a packed file: what it is, and what the collection was called."""

FORMAT = 1

TOP = "home"
"""Of the path of every other member of a packed home."""

TAKEN = (registry.RECORD, registry.DEFAULT)
"""What is read of a packed collection. Calibrations are not: they say how sure an answer is, and could be forged."""

DATA_ALONE = getattr(tarfile, "data_filter", None)
"""How members are unpacked; a Python before 3.11.4 has no filter."""

MALFORMED = (tarfile.TarError, gzip.BadGzipFile, zlib.error, EOFError, ValueError, KeyError, TypeError, RecursionError)
"""What reading a file raises that `_write` did not write."""

NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._-]{0,200}")
"""Of every file and folder of the tables."""

DEEPEST = 8
"""Folders in one another; the tables have five."""

SMALLEST_BOUND, MOST_TIMES = 64 * 1024 * 1024, 100
"""Bytes that any file may unpack to, and how many times its own size a larger one may: texts and vectors take four."""

PIECE = 1024 * 1024
"""Bytes that are unpacked at once; a header that would have more is none of ours."""


def pack(home: Home, name: str, file: Path) -> int:
    """Write a collection into one file, whole or not at all; returns its bytes. Traces are left out."""
    home = folders.on_this_machine(home, name)
    with folders.changing(home, name) as folder:
        registry.check_in_folder(folder)
        taken = [(folder / one, f"{COLLECTIONS}/{one}") for one in TAKEN if (folder / one).exists()]
        return _write(file, COLLECTION, {"name": name}, taken, level=3)


def backup(home: Home, file: Path) -> int:
    """Write all of a home into one file, whole or not at all; returns its bytes."""
    home = folders.on_this_machine(home, file.name)
    if not home.is_dir():
        raise UsageError("no such home", subject=str(home), next_step="give the folder of one as `home`")
    names = folders.names(home)
    for name in names:
        registry.check_in_folder(home / COLLECTIONS / name)
    with folders.unfinished(home, "backup") as copy:
        for name in names:
            folder = home / COLLECTIONS / name
            with DocumentStore(folder).upkeep(), DocumentStore(folder).locked():
                _link(folder, copy / COLLECTIONS / name)
        for one in home.iterdir():
            if one.name != COLLECTIONS and not one.name.startswith("."):
                _link(one, copy / one.name)
        return _write(file, HOME, {}, [(copy, TOP)], level=1)


def _write(file: Path, kind: str, manifest: Mapping[str, str], members: Iterable[tuple[Path, str]], level: int) -> int:
    """Pack files and folders, each under the name that goes with it; for their user alone if they are a home."""
    beside = file.with_name(f".{file.name}.{os.getpid()}")
    try:
        mode = 0o600 if kind == HOME else 0o666
        with (
            open(beside, "wb", opener=lambda path, flags: os.open(path, flags, mode)) as opened,
            tarfile.open(fileobj=opened, mode="w:gz", compresslevel=level) as packed,
        ):
            content = json.dumps({"format": FORMAT, **manifest}).encode()
            header = tarfile.TarInfo(kind)
            header.size = len(content)
            packed.addfile(header, io.BytesIO(content))
            for path, name in members:
                packed.add(path, name, filter=lambda member: member if member.isfile() or member.isdir() else None)
        os.replace(beside, file)
    finally:
        beside.unlink(missing_ok=True)
    return file.stat().st_size


def _link(source: Path, target: Path) -> None:
    """The same files under another name, or copies where the disk has no links; what goes meanwhile is left out."""
    if source.is_dir() and not source.is_symlink():
        make_folder(target)
        for one in source.iterdir():
            if not one.name.startswith((UNFINISHED, ".incoming-")):
                _link(one, target / one.name)
    elif source.is_file() and not source.is_symlink():
        with suppress(FileNotFoundError):
            try:
                os.link(source, target)
            except OSError:
                shutil.copy2(source, target)


def unpack(home: Home, file: Path, name: str | None = None) -> str:
    """Make a collection of a packed file, under its own name or another; returns the name. UsageError for a bad one."""
    home = folders.on_this_machine(home, name or file.name)
    with (
        _words(file, "is not a collection that was exported, or is cut short", "export it again"),
        _Bounded(file) as opened,
        tarfile.open(fileobj=opened, mode="r:") as packed,
    ):
        packed.extraction_filter = DATA_ALONE
        own = str(_manifest(packed, COLLECTION)["name"])
        target = folders.free(home, name or own)
        with folders.unfinished(target.parent, target.name) as beside:
            for member in packed:
                top, *parts = PurePosixPath(member.name).parts
                if top != COLLECTIONS or not parts or parts[0] not in TAKEN:
                    continue
                plain = all(NAME.fullmatch(part) and ".." not in part for part in parts) and len(parts) <= DEEPEST
                if not plain or not (member.isfile() or member.isdir()):
                    raise ValueError(member.name)
                member.name = "/".join(parts)
                packed.extract(member, beside)
            _prove(beside)
            folders.moved(beside, target)
    return target.name


def restore(home: Home, file: Path) -> list[Finding]:
    """Make a home of a backup, where none is yet; returns what `doctor` finds in it that cannot be mended."""
    home = folders.on_this_machine(home, file.name)
    if home.exists() and any(home.iterdir()):
        raise UsageError("is there already", subject=f"home {home}", next_step="give another folder as `home`")
    beside = home.absolute().with_name(f".{home.absolute().name}.{os.getpid()}")
    try:
        make_folder(beside)
        with (
            _words(file, "is no backup of a home, or is cut short", "make the backup again"),
            tarfile.open(file, "r:gz") as packed,
        ):
            packed.extraction_filter = DATA_ALONE
            _manifest(packed, HOME)
            for member in packed:
                top, *parts = PurePosixPath(member.name).parts
                if top == TOP and parts and ".." not in parts and (member.isfile() or member.isdir()):
                    member.name = "/".join(parts)
                    packed.extract(member, beside)
        found: list[Finding] = []
        for name in folders.names(beside):
            try:
                found += _unmended(DocumentStore(beside / COLLECTIONS / name))
            except StoreError as error:
                found.append(Finding(name, str(error), mended=False))
        if home.exists():
            home.rmdir()
        beside.replace(home)
    finally:
        shutil.rmtree(beside, ignore_errors=True)
    return found


@contextmanager
def _words(file: Path, what: str, advice: str) -> Iterator[None]:
    """UsageError for a file that is not there, or is not what it should be."""
    try:
        yield
    except FileNotFoundError as error:
        raise UsageError("no such file", subject=str(file), next_step="check the path") from error
    except UsageError:
        raise
    except MALFORMED as error:
        raise UsageError(what, subject=str(file), next_step=advice) from error


def _manifest(packed: tarfile.TarFile, kind: str) -> dict[str, Any]:
    """The first member, which says what the file is. ValueError and KeyError for another."""
    first = packed.next()
    opened = packed.extractfile(first) if first is not None and first.name == kind else None
    manifest: dict[str, Any] = {} if opened is None else json.loads(opened.read(10_000))
    if manifest["format"] != FORMAT:
        raise ValueError(manifest["format"])
    return manifest


class _Bounded(gzip.GzipFile):
    """A packed file that gives so many bytes and no more. ValueError beyond."""

    def __init__(self, file: Path) -> None:
        super().__init__(file, "rb")
        self._most = max(SMALLEST_BOUND, MOST_TIMES * file.stat().st_size)

    def read(self, size: int | None = -1) -> bytes:
        if size is None or not 0 <= size <= PIECE or self.tell() + size > self._most:
            raise ValueError("unpacks to more than a collection of its size has")
        return super().read(size)


def _unmended(store: DocumentStore) -> list[Finding]:
    """What `doctor` finds and cannot mend."""
    return [finding for finding in examine(store, (), repair=True) if not finding.mended]


def _prove(folder: Path) -> None:
    """Read everything as `doctor` does and mend what can be. UsageError for what is left."""
    if registry.recorded(folder) != registry.DEFAULT:
        raise ValueError("a store that keeps nothing in the file")
    store = DocumentStore(folder)
    try:
        tables = [*map(store.record_table, RECORD_TABLES), *(store.open(row["name"]) for row in store.known_tables())]
        if any(getattr(table, "is_foreign", False) for table in tables):
            raise ValueError("a table whose data lie elsewhere")
        findings = _unmended(store)
    except ThresherError as error:
        raise ValueError(str(error)) from error
    if findings:
        what = f"holds a damaged or forged collection ({findings[0].where}: {findings[0].what})"
        raise UsageError(what, subject="the file", next_step="export it again")
    foreign = [source for source, row in store.files().items() if _digest(Path(source)) != row["sha256"]]
    store.remove([], files=foreign)


def _digest(path: Path) -> str | None:
    """SHA-256 of a file on this machine; None where there is none that can be read."""
    try:
        if not path.is_file():
            return None
        with open(path, "rb") as opened:
            return hashlib.file_digest(opened, "sha256").hexdigest()
    except (OSError, ValueError):
        return None
