"""A whole home in one file while others ask and write, and a home made of such a file.

Each collection is linked aside under its locks, which takes milliseconds, and packed later: a table's files never
change, every other file is replaced whole. A backup holds keys, traces and conversations: keep it as secret as the
home, and restore only the file of somebody you trust.
"""

from __future__ import annotations

import io
import json
import os
import shutil
import tarfile
from contextlib import suppress
from pathlib import Path, PurePosixPath

import thresher
from thresher.errors import StoreError, UsageError
from thresher.home import folders
from thresher.home.files import UNFINISHED, make_folder
from thresher.home.packed import MALFORMED
from thresher.home.places import COLLECTIONS, Home
from thresher.indexing.doctor import Finding, examine
from thresher.indexing.store import DocumentStore
from thresher.stores import registry

MANIFEST = "thresher-home.json"
"""First in a backup."""

FORMAT = 1

TOP = "home"
"""Of every other member's path."""


def backup(home: Home, file: Path) -> int:
    """Write all of a home into one file, whole or not at all; returns its bytes."""
    home = folders.on_this_machine(home, file.name)
    if not home.is_dir():
        raise UsageError("no such home", subject=str(home), next_step="give the folder of one as `home`")
    names = folders.names(home)
    for name in names:
        registry.check_in_folder(home / COLLECTIONS / name)
    beside = file.with_name(f".{file.name}.{os.getpid()}")
    try:
        with folders.unfinished(home, "backup") as copy, tarfile.open(beside, "w:gz", compresslevel=1) as packed:
            content = json.dumps({"format": FORMAT, "thresher": thresher.__version__}).encode()
            header = tarfile.TarInfo(MANIFEST)
            header.size = len(content)
            packed.addfile(header, io.BytesIO(content))
            for name in names:
                folder = home / COLLECTIONS / name
                with DocumentStore(folder).upkeep(), DocumentStore(folder).locked():
                    _link(folder, copy / COLLECTIONS / name)
            for one in home.iterdir():
                if one.name != COLLECTIONS and not one.name.startswith("."):
                    _link(one, copy / one.name)
            packed.add(copy, TOP, filter=lambda member: member if member.isfile() or member.isdir() else None)
        os.chmod(beside, 0o600)
        os.replace(beside, file)
    finally:
        beside.unlink(missing_ok=True)
    return file.stat().st_size


def restore(home: Home, file: Path) -> list[Finding]:
    """Make a home of a backup, where none is yet; returns what `doctor` finds in it that cannot be mended."""
    home = folders.on_this_machine(home, file.name)
    if home.exists() and any(home.iterdir()):
        raise UsageError("is there already", subject=f"home {home}", next_step="give another folder as `home`")
    beside = home.absolute().with_name(f".{home.absolute().name}.{os.getpid()}")
    try:
        make_folder(beside)
        with tarfile.open(file, "r:gz") as packed:
            first = packed.next()
            opened = packed.extractfile(first) if first is not None and first.name == MANIFEST else None
            if opened is None or json.loads(opened.read(10_000))["format"] != FORMAT:
                raise ValueError("no backup")
            for member in packed:
                top, *parts = PurePosixPath(member.name).parts
                if top == TOP and parts and (member.isfile() or member.isdir()):
                    member.name = "/".join(parts)
                    packed.extract(member, beside, filter="data")
        found = [finding for name in folders.names(beside) for finding in _examined(beside / COLLECTIONS / name)]
        if home.exists():
            home.rmdir()
        beside.replace(home)
    except FileNotFoundError as error:
        raise UsageError("no such file", subject=str(file), next_step="check the path") from error
    except MALFORMED as error:
        what = "is no backup of a home, or is cut short"
        raise UsageError(what, subject=str(file), next_step="make the backup again") from error
    finally:
        shutil.rmtree(beside, ignore_errors=True)
    return found


def _examined(folder: Path) -> list[Finding]:
    try:
        return [finding for finding in examine(DocumentStore(folder), (), repair=True) if not finding.mended]
    except StoreError as error:
        return [Finding(folder.name, str(error), mended=False)]


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
