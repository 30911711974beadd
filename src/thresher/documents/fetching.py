"""The raw bytes of an input, within the limits."""

from __future__ import annotations

import errno
import os
import stat
import time
from dataclasses import dataclass
from pathlib import Path

from thresher.documents.limits import Limits
from thresher.errors import DocumentError

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
