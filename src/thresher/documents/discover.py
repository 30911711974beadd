"""Arguments of a person to the inputs they mean: files, folders, URLs, standard input."""

from __future__ import annotations

import hashlib
import os
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import BinaryIO

from thresher.documents.limits import Limits


@dataclass(frozen=True, slots=True)
class Item:
    """One input that was found; nothing of a file or URL has been read yet."""

    source: str
    """Absolute POSIX path, URL, or `stdin:` and twelve digits of a hash of the bytes."""
    root: str
    """The argument it came from, made absolute; what lies under a root can be compared with what lay there before."""
    path: Path | None = None
    data: bytes | None = None


@dataclass(frozen=True, slots=True)
class Failure:
    """One input, or one row of one, that could not be read; the others go on."""

    source: str
    error: str
    next: str

    def to_dict(self) -> dict[str, str]:
        """JSON form of the public contract."""
        return {"source": self.source, "error": self.error, "next": self.next}


def discover(
    arguments: Sequence[str],
    *,
    include: Sequence[str] = (),
    exclude: Sequence[str] = (),
    stdin: BinaryIO | None = None,
) -> Iterator[Item | Failure]:
    """The inputs the arguments mean, each once, in the order of the arguments and sorted within a folder.

    `include` and `exclude` are globs on the path within the folder or on the bare name; they do not touch files that
    are named outright. Hidden files and folders (`.thresher` among them) are skipped; files of kinds that cannot be
    read are not, so that they are reported.
    """
    seen: set[str] = set()
    for argument in arguments:
        for found in _inputs_of(argument, include, exclude, stdin):
            if isinstance(found, Failure) or found.source not in seen:
                seen.add(found.source)
                yield found


def _inputs_of(
    argument: str, include: Sequence[str], exclude: Sequence[str], stdin: BinaryIO | None
) -> Iterator[Item | Failure]:
    if argument == "-":
        yield _read_stdin(stdin or sys.stdin.buffer)
        return
    if is_url(argument):
        yield Item(source=argument, root=argument)
        return
    if "\0" in argument or not argument:
        yield Failure(argument.replace("\0", "\\0"), "not a path", "give a file, a folder, a URL or -")
        return
    path = Path(argument).expanduser()
    try:
        path = path.resolve()
        is_folder = path.is_dir()
        exists = is_folder or path.exists()
    except (OSError, RuntimeError) as error:
        yield Failure(path.as_posix(), f"cannot be reached ({_reason(error)})", "check the path")
        return
    if not exists:
        yield Failure(path.as_posix(), "no such file or folder", "check the path")
    elif is_folder:
        yield from _files_in(path, include, exclude)
    else:
        yield Item(source=path.as_posix(), root=path.as_posix(), path=path)


def is_url(argument: str) -> bool:
    """Whether the argument is an address rather than a path."""
    return argument.lower().startswith(("http://", "https://"))


def _read_stdin(stream: BinaryIO) -> Item | Failure:
    limit = Limits().max_bytes
    data = stream.read(limit + 1)
    if len(data) > limit:
        return Failure("stdin", f"more than {limit:,} bytes", "save it to files and index those")
    return Item(source=f"stdin:{hashlib.sha256(data).hexdigest()[:12]}", root="-", data=data)


def _files_in(root: Path, include: Sequence[str], exclude: Sequence[str]) -> Iterator[Item | Failure]:
    visited: set[tuple[int, int]] = set()
    waiting = [root]
    while waiting:
        folder = waiting.pop()
        try:
            status = folder.stat()
            if (status.st_dev, status.st_ino) in visited:
                continue  # a symbolic link back up, or the same folder twice
            visited.add((status.st_dev, status.st_ino))
            with os.scandir(folder) as entries:
                found = sorted(entries, key=lambda entry: entry.name)
        except OSError as error:
            yield Failure(folder.as_posix(), f"folder cannot be opened ({_reason(error)})", "check its permissions")
            continue
        folders = []
        for entry in found:
            path = folder / entry.name
            relative = path.relative_to(root).as_posix()
            if entry.name.startswith(".") or _matches(relative, entry.name, exclude):
                continue
            if _is_folder(entry):
                folders.append(path)
            elif not include or _matches(relative, entry.name, include):
                yield Item(source=path.as_posix(), root=root.as_posix(), path=path)
        waiting.extend(reversed(folders))


def _is_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir()
    except OSError:
        return False  # a link that leads nowhere is reported when it is read


def _matches(relative: str, name: str, globs: Sequence[str]) -> bool:
    return any(fnmatchcase(relative, glob.rstrip("/")) or fnmatchcase(name, glob.rstrip("/")) for glob in globs)


def _reason(error: BaseException) -> str:
    return (getattr(error, "strerror", None) or type(error).__name__).lower()
