"""A collection packed into one file, and a collection made of such a file, which a stranger may have written.

Only the record of the store and the tables of the default store are taken, under plain names, up to a bound of bytes.
`doctor` checks all of it; a finding that cannot be mended refuses the file. A file record counts only where the same
bytes are on this machine, or it would make any file here the original of a document.
"""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import os
import re
import tarfile
import zlib
from pathlib import Path, PurePosixPath

from thresher.errors import ThresherError, UsageError
from thresher.home import folders
from thresher.home.places import COLLECTIONS, Home
from thresher.indexing.doctor import examine
from thresher.indexing.records import RECORD_TABLES
from thresher.indexing.store import DocumentStore
from thresher.stores import registry

MANIFEST = "thresher-collection.json"
"""First in a packed file: what it is, and what the collection was called."""

FORMAT = 1

TAKEN = (registry.RECORD, registry.DEFAULT)
"""What is read of a packed file. Calibrations are not: they say how sure an answer is, and could be forged."""

MALFORMED = (tarfile.TarError, gzip.BadGzipFile, zlib.error, EOFError, ValueError, KeyError, TypeError, RecursionError)
"""What reading a file raises that `pack` did not write."""

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
    beside = file.with_name(f".{file.name}.{os.getpid()}")
    try:
        with folders.changing(home, name) as folder:
            registry.check_in_folder(folder)
            with tarfile.open(beside, "w:gz", compresslevel=3) as packed:
                manifest = json.dumps({"format": FORMAT, "name": name}).encode()
                header = tarfile.TarInfo(MANIFEST)
                header.size = len(manifest)
                packed.addfile(header, io.BytesIO(manifest))
                for path in (folder / one for one in TAKEN):
                    if path.exists():
                        packed.add(path, f"{COLLECTIONS}/{path.name}")
            os.replace(beside, file)
    finally:
        beside.unlink(missing_ok=True)
    return file.stat().st_size


def unpack(home: Home, file: Path, name: str | None = None) -> str:
    """Make a collection of a packed file, under its own name or another; returns the name. UsageError for a bad one."""
    home = folders.on_this_machine(home, name or file.name)
    try:
        with _Bounded(file) as opened, tarfile.open(fileobj=opened, mode="r:") as packed:
            first = packed.extractfile(packed.next() or MANIFEST)
            manifest = json.loads(first.read(10_000)) if first is not None else {}
            if manifest["format"] != FORMAT:
                raise ValueError(manifest["format"])
            own = str(manifest["name"])
            target = folders.free(home, name or own)
            with folders.unfinished(target.parent, target.name) as beside:
                _extract(packed, beside)
                _prove(beside)
                folders.moved(beside, target)
    except FileNotFoundError as error:
        raise UsageError("no such file", subject=str(file), next_step="check the path") from error
    except UsageError:
        raise
    except MALFORMED as error:
        what = "is not a collection that was exported, or is cut short"
        raise UsageError(what, subject=str(file), next_step="export it again") from error
    return target.name


class _Bounded(gzip.GzipFile):
    """A packed file that gives so many bytes and no more. ValueError beyond."""

    def __init__(self, file: Path) -> None:
        super().__init__(file, "rb")
        self._most = max(SMALLEST_BOUND, MOST_TIMES * file.stat().st_size)

    def read(self, size: int | None = -1) -> bytes:
        if size is None or not 0 <= size <= PIECE or self.tell() + size > self._most:
            raise ValueError("unpacks to more than a collection of its size has")
        return super().read(size)


def _extract(packed: tarfile.TarFile, folder: Path) -> None:
    """What is taken of the members, by plain names. ValueError for a link, a device, or a name that is none of ours."""
    for member in packed:
        top, *parts = PurePosixPath(member.name).parts
        if top != COLLECTIONS or not parts or parts[0] not in TAKEN:
            continue
        plain = all(NAME.fullmatch(part) and ".." not in part for part in parts) and len(parts) <= DEEPEST
        if not plain or not (member.isfile() or member.isdir()):
            raise ValueError(member.name)
        member.name = "/".join(parts)
        packed.extract(member, folder, filter="data")


def _prove(folder: Path) -> None:
    """Read everything as `doctor` does and mend what can be. UsageError for what is left."""
    if registry.recorded(folder) != registry.DEFAULT:
        raise ValueError("a store that keeps nothing in the file")
    store = DocumentStore(folder)
    try:
        tables = [*map(store.record_table, RECORD_TABLES), *(store.open(row["name"]) for row in store.known_tables())]
        if any(getattr(table, "is_foreign", False) for table in tables):
            raise ValueError("a table whose data lie elsewhere")
        findings = [finding for finding in examine(store, (), repair=True) if not finding.mended]
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
