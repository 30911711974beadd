"""Arguments of a person to the inputs they mean: files, folders, URLs, standard input."""

from __future__ import annotations

import errno
import hashlib
import os
import stat
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import BinaryIO

from thresher.errors import DocumentError

MEBIBYTE = 1024 * 1024


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
    """For fetching one URL, from the first byte sent to the last received."""
    max_redirects: int = 5
    """Browsers allow 20; a document that needs more than 5 is a loop or a login page."""
    parse_seconds: int = 300
    """For turning one file into text; OCR has its own limit per page."""


RATIO_FLOOR_BYTES = 16 * MEBIBYTE
"""Below this size a high ratio is harmless: an empty spreadsheet packs 500 fold."""


# --- arguments of a person to the inputs they mean: files, folders, URLs, standard input ------------------------------


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


# --- the raw bytes of an input, within the limits ---------------------------------------------------------------------


AGENT = "thresher"


@dataclass(frozen=True, slots=True)
class Hints:
    """What is known of the bytes besides themselves."""

    content_type: str = ""
    """As the server said, with its parameters."""
    url: str = ""
    """The address after redirects."""
    modified: float | None = None
    """Modification time of the file, in seconds since 1970; tells changes, never the document's date."""
    last_modified: str = ""
    """The server's header of that name."""


def read_file(path: Path, *, limits: Limits) -> tuple[bytes, Hints]:
    """The bytes of a regular file; its size is checked before it is read."""
    try:
        # Not blocking: opening a named pipe would wait for a writer.
        descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
        with os.fdopen(descriptor, "rb") as file:
            status = os.fstat(file.fileno())
            if stat.S_ISDIR(status.st_mode):
                raise DocumentError("is a folder", next_step="name the folder itself, not a link to it")
            if not stat.S_ISREG(status.st_mode):
                raise DocumentError("is no regular file (a pipe, socket or device)", next_step="leave it out")
            _check_size(status.st_size, limits)
            data = file.read(limits.max_bytes + 1)
    except FileNotFoundError as error:
        raise DocumentError("the file is gone", next_step="check the path, or the link that leads to it") from error
    except IsADirectoryError as error:
        raise DocumentError("is a folder", next_step="name the folder itself") from error
    except PermissionError as error:
        raise DocumentError("permission denied", next_step="make the file readable (chmod +r)") from error
    except OSError as error:
        if error.errno == errno.ENXIO:
            raise DocumentError("is no regular file (a pipe, socket or device)", next_step="leave it out") from error
        reason = (error.strerror or type(error).__name__).lower()
        raise DocumentError(f"cannot be read ({reason})", next_step="check the disk and the path") from error
    _check_size(len(data), limits)
    return data, Hints(modified=status.st_mtime)


def _check_size(size: int, limits: Limits) -> None:
    if size > limits.max_bytes:
        raise DocumentError(
            f"too large ({size:,} bytes; the limit is {limits.max_bytes:,})", next_step="split it, or raise the limit"
        )


def read_url(url: str, *, limits: Limits) -> tuple[bytes, Hints]:
    """The body behind an address, streamed: size and time are checked while it comes."""
    import httpx

    deadline = time.monotonic() + limits.timeout_seconds
    slow = DocumentError(f"no complete answer within {limits.timeout_seconds:g} s", next_step="try again later")
    try:
        with (
            httpx.Client(
                follow_redirects=True,
                max_redirects=limits.max_redirects,
                timeout=limits.timeout_seconds,
                headers={"User-Agent": AGENT},
            ) as client,
            client.stream("GET", url) as response,
        ):
            if response.status_code >= 400:
                raise _status_error(response.status_code, response.reason_phrase)
            length = response.headers.get("Content-Length", "")
            _check_size(int(length) if length.isdigit() else 0, limits)
            pieces: list[bytes] = []
            size = 0
            for piece in response.iter_bytes():
                size += len(piece)
                _check_size(size, limits)
                if time.monotonic() > deadline:
                    raise slow
                pieces.append(piece)
            return b"".join(pieces), Hints(
                content_type=response.headers.get("Content-Type", ""),
                url=str(response.url),
                last_modified=response.headers.get("Last-Modified", ""),
            )
    except httpx.TimeoutException as error:
        raise slow from error
    except httpx.TooManyRedirects as error:
        raise DocumentError(
            f"more than {limits.max_redirects} redirects", next_step="open it in a browser and use the final address"
        ) from error
    except (httpx.InvalidURL, httpx.UnsupportedProtocol) as error:
        raise DocumentError("not an address that can be fetched", next_step="give an http or https URL") from error
    except httpx.HTTPError as error:
        reason = str(error) or type(error).__name__
        raise DocumentError(f"cannot be fetched ({reason})", next_step="check the address and the network") from error


def _status_error(code: int, reason: str) -> DocumentError:
    if code in (401, 403):
        next_step = "download it by hand and index the file"
    elif code in (404, 410):
        next_step = "check the address"
    else:
        next_step = "try again later"
    return DocumentError(f"the server answered {code} {reason}".strip(), next_step=next_step)
