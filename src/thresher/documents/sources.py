"""Arguments of a person to the inputs they mean - files, folders, URLs, standard input - and their bytes."""

from __future__ import annotations

import errno
import hashlib
import os
import stat
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from math import ceil
from pathlib import Path, PurePosixPath
from typing import BinaryIO
from urllib.parse import unquote, urlsplit

from thresher.errors import DocumentError, ThresherError, without_password

NOT_THERE = "check the path and its drive; what was indexed from there before is kept"

MEBIBYTE = 1024 * 1024
GRACE_SECONDS = 60


@dataclass(frozen=True, slots=True)
class Limits:
    """Bounds on one input; passing one of them is an error of that input, never of the run."""

    max_bytes: int = 200 * MEBIBYTE
    """Per file or reply. The largest of our 41 papers is 3.7 MB; books and annual reports stay under 100 MB."""
    max_unpacked_bytes: int = 1024 * MEBIBYTE
    """What an archive (docx, xlsx, pptx, epub) or the streams of a PDF may unpack to; it has to fit in memory."""
    max_unpacked_ratio: int = 200
    """Unpacked over packed size of an archive. Office XML packs about 10 to 60 fold; deflate can reach 1,032."""
    timeout_seconds: float = 30.0
    """For fetching one URL, redirects included."""
    seconds: float = 300.0
    """For one file, a page of OCR, or the next rows of a corpus. Text and HTML take 1 s for 1 to 3 MB."""
    memory_megabytes: int = 2048
    """MiB, of the process that reads. A JSON file of 44 MB takes 400, our 41 papers take 130."""
    stack_megabytes: int = 64
    """MiB, of that process. Elements of XHTML nested 50,000 deep take between 8 and 32."""
    hidden: bool = True
    """Whether text is kept that a program does not show: hidden text of Word, hidden sheets and slides."""

    @property
    def reader_seconds(self) -> int:
        """After these a reader ends itself: who asks is first, and says which setting it was."""
        return ceil(self.seconds) + GRACE_SECONDS

    @property
    def stack_step(self) -> str:
        """What to do about a file that needs a larger stack."""
        return f"leave it out, or raise the setting reading.stack_megabytes ({self.stack_megabytes})"


DEFAULT_LIMITS = Limits()


@dataclass(frozen=True, slots=True)
class Item:
    """One input that was found; nothing of a file or URL has been read yet."""

    source: str
    """Absolute POSIX path, URL, or `stdin:` and twelve digits of a hash of the bytes."""
    root: str
    """The argument it came from, made absolute; what lies under a root can be compared with what lay there before."""
    path: Path | None = None
    data: bytes | None = None
    address: str = ""
    """What is asked for of a URL: it may hold a name and password, which no source shows."""


def discover(
    arguments: Sequence[str],
    *,
    include: Sequence[str] = (),
    exclude: Sequence[str] = (),
    skip: Sequence[Path] = (),
    stdin: BinaryIO | None = None,
) -> Iterator[Item | DocumentError]:
    """The inputs the arguments mean, each once, in the order of the arguments and sorted within a folder.

    `include` and `exclude` are globs on the path within the folder or on the bare name; they do not touch files that
    are named outright. Passed over in a folder are hidden files and folders, and the folders of `skip` under whatever
    name; files of kinds that cannot be read are not, so that they are reported.
    """
    seen: set[str] = set()
    for argument in arguments:
        for item in _inputs_of(argument, include, exclude, skip, stdin):
            if isinstance(item, DocumentError):
                yield item
            elif item.source not in seen:
                seen.add(item.source)
                shown = as_utf8(item.source)
                misnamed = DocumentError("its name is not valid UTF-8", subject=shown, next_step="rename it")
                yield item if shown == item.source else misnamed


def _inputs_of(
    argument: str, include: Sequence[str], exclude: Sequence[str], skip: Sequence[Path], stdin: BinaryIO | None
) -> Iterator[Item | DocumentError]:
    if argument == "-":
        yield _read_stdin(stdin or sys.stdin.buffer)
        return
    if argument.lower().startswith(("http://", "https://")):
        shown = without_password(argument)
        yield Item(source=shown, root=shown, address=argument)
        return
    if "\0" in argument or not argument:
        shown = argument.replace("\0", "\\0")
        yield DocumentError("not a path", subject=shown, next_step="give a file, a folder, a URL or -")
        return
    path = Path(argument)
    try:
        path = path.expanduser().resolve()
        is_folder = path.is_dir()
        exists = is_folder or path.exists()
    except (OSError, RuntimeError, ValueError) as error:
        yield _unreachable(path, f"cannot be reached ({_reason(error)})", "check the path")
        return
    if not exists:
        yield _unreachable(path, "no such file or folder", NOT_THERE)
    elif is_folder:
        yield from _files_in(path, include, exclude, skip)
    else:
        yield Item(source=path.as_posix(), root=path.as_posix(), path=path)


def _read_stdin(stream: BinaryIO) -> Item | DocumentError:
    limit = DEFAULT_LIMITS.max_bytes
    data = stream.read(limit + 1)
    if len(data) > limit:
        return DocumentError(
            f"more than {limit:,} bytes", subject="stdin", next_step="save it to files and index those"
        )
    return Item(source=f"stdin:{hashlib.sha256(data).hexdigest()[:12]}", root="-", data=data)


def _files_in(
    root: Path, include: Sequence[str], exclude: Sequence[str], skip: Sequence[Path]
) -> Iterator[Item | DocumentError]:
    # By what they are, not by name: a folder reached through a link, or a link back up, counts as met before.
    met = {_identity(folder) for folder in skip if folder.is_dir() and not folder.samefile(root)}
    waiting = [root]
    while waiting:
        folder = waiting.pop()
        try:
            identity = _identity(folder)
            if identity in met:
                continue
            met.add(identity)
            with os.scandir(folder) as entries:
                ordered = sorted(entries, key=lambda entry: entry.name)
        except OSError as error:
            yield _unreachable(folder, f"folder cannot be opened ({_reason(error)})", "check its permissions")
            continue
        folders = []
        for entry in ordered:
            path = folder / entry.name
            relative = path.relative_to(root).as_posix()
            if entry.name.startswith(".") or _matches(relative, entry.name, exclude):
                continue
            is_folder = _is_folder(entry)
            if not (is_folder or not include or _matches(relative, entry.name, include)):
                continue
            if _leads_out(entry, root):
                if is_folder and _identity(path) in met:  # a home that lies elsewhere is passed over under any name
                    continue
                next_step = "name what it leads to, to read that"
                yield _unreachable(path, "is a link that leads out of the folder", next_step)
            elif is_folder:
                folders.append(path)
            else:
                yield Item(source=path.as_posix(), root=root.as_posix(), path=path)
        waiting.extend(reversed(folders))


def _identity(folder: Path) -> tuple[int, int]:
    status = folder.stat()
    return status.st_dev, status.st_ino


def _is_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir()
    except OSError:
        return False  # a link that leads nowhere is reported when it is read


def _leads_out(entry: os.DirEntry[str], root: Path) -> bool:
    """Whether it is a link to something outside: who may write into a folder may not be allowed to read that."""
    return (
        entry.is_symlink()
        and os.path.exists(entry.path)
        and not Path(os.path.realpath(entry.path)).is_relative_to(os.path.realpath(root))
    )


def _matches(relative: str, name: str, globs: Sequence[str]) -> bool:
    return any(fnmatchcase(relative, glob.rstrip("/")) or fnmatchcase(name, glob.rstrip("/")) for glob in globs)


def _unreachable(path: Path, what: str, next_step: str) -> DocumentError:
    return DocumentError(what, subject=as_utf8(path.as_posix()), next_step=next_step)


def _reason(error: BaseException) -> str:
    return (getattr(error, "strerror", None) or type(error).__name__).lower()


def as_utf8(name: str) -> str:
    r"""A name that can be stored and printed: bytes of a file name that are not UTF-8 are written as `\udce9`."""
    return name.encode("utf-8", "backslashreplace").decode("utf-8")


# --- the raw bytes of an input, within the limits ---------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Hints:
    """The type that a server states; empty for a file."""

    content_type: str = ""
    """With its parameters."""
    url: str = ""
    """The address after redirects."""
    beside: Mapping[str, bytes] = field(default_factory=dict)
    """Other files of its folder that its reader wants, by their paths from there."""


def fetch(item: Item, *, limits: Limits = DEFAULT_LIMITS, public_only: bool = False) -> tuple[bytes, Hints]:
    """The bytes of an input and their hints; with `public_only` an address must be public. Raises DocumentError."""
    with errors_about(item.source):
        if item.data is not None:
            return item.data, Hints()
        if item.path is not None:
            return read_file(item.path, limits=limits), Hints()
        return read_url(item.address or item.source, limits=limits, public_only=public_only)


def file_beside(item: Item, path: str) -> bytes:
    """A file beside an input, within the folder that was named; empty where there is none."""
    if item.path is None or item.root == item.source:
        return b""
    found = (item.path.parent / path).resolve()
    return read_file(found, limits=DEFAULT_LIMITS) if found.is_relative_to(item.root) and found.is_file() else b""


def file_name(item: Item, hints: Hints) -> str:
    """The bare name of the input; empty for standard input."""
    if item.path is not None:
        return item.path.name
    if item.data is not None:
        return ""
    return PurePosixPath(unquote(urlsplit(hints.url or item.source).path)).name


@contextmanager
def errors_about(source: str) -> Iterator[None]:
    """Readers may fail: whatever is raised inside, as a DocumentError about that source."""
    try:
        yield
    except ThresherError as error:
        raise DocumentError(error.what, subject=source, next_step=error.next_step) from error
    except Exception as error:
        reason = (str(error).splitlines() or [""])[0][:120]
        raise DocumentError(
            f"reading it failed ({type(error).__name__}{f': {reason}' if reason else ''})",
            subject=source,
            next_step="save it again or convert it, or leave it out",
        ) from error


NOT_READ = {
    errno.ENOENT: ("the file is gone", "check the path, or the link that leads to it"),
    errno.EISDIR: ("is a folder", "name the folder itself, not a link to it"),
    errno.EACCES: ("permission denied", "make the file readable (chmod +r)"),
    errno.ENXIO: ("is no regular file (a pipe, socket or device)", "leave it out"),
}


def read_file(path: Path, *, limits: Limits) -> bytes:
    """The bytes of a regular file; its size is checked before it is read."""
    try:
        # Not blocking: opening a named pipe would wait for a writer.
        descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
        with os.fdopen(descriptor, "rb") as file:
            status = os.fstat(file.fileno())
            if not stat.S_ISREG(status.st_mode):
                raise OSError(errno.ENXIO, "")
            _check_size(status.st_size, limits)
            data = file.read(limits.max_bytes + 1)
    except OSError as error:
        other = f"cannot be read ({_reason(error)})", "check the disk and the path"
        what, next_step = NOT_READ.get(error.errno or 0, other)
        raise DocumentError(what, next_step=next_step) from error
    _check_size(len(data), limits)
    return data


def _check_size(size: int, limits: Limits) -> None:
    if size > limits.max_bytes:
        raise DocumentError(
            f"too large ({size:,} bytes; the limit is {limits.max_bytes:,})", next_step="split it, or raise the limit"
        )


def read_url(url: str, *, limits: Limits, public_only: bool = False) -> tuple[bytes, Hints]:
    """The body behind an address. The address is the caller's own and may be anywhere; where it leads is checked.

    With `public_only` it is a stranger's, and must be on the public internet itself.
    """
    from thresher import net

    try:
        final, reply = net.follow(
            net.parsed_address(url),
            reach=net.Reach(named=not public_only),
            bounds=net.Bounds(time.monotonic() + limits.timeout_seconds, limits.max_bytes),
            wanted=lambda head: 200 <= head.status < 300,
        )
    except net.NotFetched as error:
        raise DocumentError(str(error), next_step="check the address, or save it as a file and index that") from error
    if not 200 <= reply.status < 300:
        next_step = "check the address" if reply.status in (404, 410) else "try again later"
        if reply.status in (401, 403):
            next_step = "download it by hand and index the file"
        raise DocumentError(f"the server answered {reply.status}", next_step=next_step)
    return reply.body, Hints(reply.headers.get("content-type", ""), str(final))
