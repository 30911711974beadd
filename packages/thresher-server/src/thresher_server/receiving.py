"""Receives a form with files straight to disk: no file is held in memory or exceeds the size limit."""

from __future__ import annotations

import asyncio
import errno
import shutil
import tempfile
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from fastapi import Request
from filelock import FileLock, Timeout
from python_multipart.exceptions import FormParserError
from python_multipart.multipart import MultipartParser, parse_options_header

from thresher.errors import StoreError
from thresher.home.files import make_folder
from thresher_server.problems import Problem

if TYPE_CHECKING:
    from python_multipart.multipart import MultipartCallbacks

MOST_FILES = 1000
"""Files of one form; a larger folder is sent in several."""

MOST_HEADER = 16_384
"""Bytes of the headers of one part."""

MOST_FIELD = 65_536
"""Bytes of a field that is not a file."""

INCOMING, LOCK, NEW_SECONDS = ".incoming-", "lock", 60.0
"""Prefix of the folder of an incoming form, its lock file, and how long the folder may lack the lock."""

NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


@dataclass(slots=True)
class Form:
    """Files with the names they were sent under, and the other fields."""

    files: list[tuple[str, Path]] = field(default_factory=list)
    fields: dict[str, str] = field(default_factory=dict)


@asynccontextmanager
async def received(request: Request, folder: Path) -> AsyncIterator[Form]:
    """The form of a request. Its files lie below `folder` inside the block and are removed at its end unless moved.

    Raises Problem 422 for a body that is not a form, 507 if the disk is full.
    """
    kind, options = parse_options_header(request.headers.get("content-type", ""))
    boundary = options.get(b"boundary")
    if kind != b"multipart/form-data" or not boundary:
        raise _malformed("is no form with files")
    with on_disk():
        make_folder(folder)
        here = Path(tempfile.mkdtemp(prefix=INCOMING, dir=folder))
    lock = FileLock(here / LOCK)
    lock.acquire()
    try:
        parts = _Parts(here)
        try:
            with on_disk():
                parser = MultipartParser(boundary, parts.callbacks)
                async for data in request.stream():
                    await asyncio.to_thread(parser.write, data)  # writes to disk
                parser.finalize()
        except FormParserError as error:
            raise _malformed("cannot be read as a form") from error
        finally:
            parts.close()
        if not parts.is_whole:
            raise _malformed("is incomplete")
        yield parts.form
    finally:
        lock.release()
        await asyncio.to_thread(shutil.rmtree, here, ignore_errors=True)


def clear_away(folder: Path) -> None:
    """Remove forms that killed processes left below a folder: their locks are free."""
    for left in folder.rglob(f"{INCOMING}*"):
        with suppress(OSError, Timeout):
            if time.time() - left.stat().st_mtime > NEW_SECONDS:
                with FileLock(left / LOCK, timeout=0):
                    shutil.rmtree(left, ignore_errors=True)


@contextmanager
def on_disk() -> Iterator[None]:
    """Raise Problem 507 if the disk is full inside the block."""
    try:
        yield
    except (OSError, StoreError) as error:
        cause = error if isinstance(error, OSError) else error.__cause__
        if isinstance(cause, OSError) and cause.errno in NO_ROOM:
            raise Problem(
                507, "is full", subject="the disk of the server", next_step="make room, then send it again"
            ) from error
        raise


class _Parts:
    def __init__(self, folder: Path) -> None:
        self.form = Form()
        self.is_whole = False
        self._folder = folder
        self._header = bytearray()
        self._value = bytearray()
        self._disposition = b""
        self._name = ""
        self._file: BinaryIO | None = None
        self._data = bytearray()
        self.callbacks: MultipartCallbacks = {
            "on_part_begin": self._begin,
            "on_header_field": self._on_header,
            "on_header_value": self._on_value,
            "on_header_end": self._header_end,
            "on_headers_finished": self._headers_finished,
            "on_part_data": self._on_data,
            "on_part_end": self._end,
            "on_end": self._whole,
        }

    def close(self) -> None:
        """Close the open file."""
        if self._file is not None:
            self._file.close()
            self._file = None

    def _begin(self) -> None:
        self._header.clear()
        self._value.clear()
        self._data.clear()
        self._disposition, self._name = b"", ""

    def _on_header(self, data: bytes, start: int, end: int) -> None:
        self._grow(self._header, data[start:end], MOST_HEADER)

    def _on_value(self, data: bytes, start: int, end: int) -> None:
        self._grow(self._value, data[start:end], MOST_HEADER)

    def _header_end(self) -> None:
        if bytes(self._header).lower() == b"content-disposition":
            self._disposition = bytes(self._value)
        self._header.clear()
        self._value.clear()

    def _headers_finished(self) -> None:
        _, options = parse_options_header(self._disposition)
        if b"name" not in options:
            raise _malformed("has a part without a name")
        self._name = options[b"name"].decode("utf-8", "replace")
        if not options.get(b"filename"):
            return
        if len(self.form.files) >= MOST_FILES:
            raise _malformed(f"holds more than {MOST_FILES:,} files")
        path = self._folder / str(len(self.form.files))
        self.form.files.append((options[b"filename"].decode("utf-8", "replace"), path))
        self._file = open(path, "wb")  # noqa: SIM115 - closed at the end of the part, or by `close`

    def _on_data(self, data: bytes, start: int, end: int) -> None:
        if self._file is not None:
            self._file.write(data[start:end])
        else:
            self._grow(self._data, data[start:end], MOST_FIELD)

    def _end(self) -> None:
        if self._file is None:
            self.form.fields[self._name] = self._data.decode("utf-8", "replace")
        self.close()

    def _whole(self) -> None:
        self.is_whole = True

    def _grow(self, buffer: bytearray, data: bytes, most: int) -> None:
        if len(buffer) + len(data) > most:
            raise _malformed(f"has a header or field of more than {most:,} bytes")
        buffer += data


def _malformed(what: str) -> Problem:
    return Problem(422, what, subject="the body", next_step="send multipart/form-data with `files`")
