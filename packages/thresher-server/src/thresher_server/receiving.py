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
from typing import Any

from fastapi import Request
from filelock import FileLock, Timeout
from python_multipart.exceptions import FormParserError
from starlette.formparsers import MultiPartException, MultiPartParser

from thresher.errors import StoreError
from thresher.home.places import make_folder
from thresher_server.problems import Problem

MOST_FILES = 1000
"""Files of one form; a larger folder is sent in several."""

MOST_FIELDS, MOST_FIELD = 20, 65_536
"""Fields that are no files, and bytes of one."""

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
    with on_disk():
        make_folder(folder)
        here = Path(tempfile.mkdtemp(prefix=INCOMING, dir=folder))
    lock = FileLock(here / LOCK)
    lock.acquire()
    try:
        parser = _Parser(request, here)
        try:
            with on_disk():
                fields = await parser.parse()
        except (MultiPartException, FormParserError) as error:  # the latter of older Starlettes
            raise _malformed(f"cannot be read as a form ({error})") from error
        finally:
            parser.close()
        if not parser.is_whole:
            raise _malformed("is incomplete")
        texts = {name: value for name, value in fields.items() if isinstance(value, str)}
        yield Form([(name, path) for name, path in parser.files if name], texts)
    finally:
        lock.release()
        await asyncio.to_thread(shutil.rmtree, here, ignore_errors=True)


class _Parser(MultiPartParser):
    """Starlette's parser, with each file on disk from its first byte; `is_whole` once the form came to its end."""

    def __init__(self, request: Request, folder: Path) -> None:
        bounds = {"max_files": MOST_FILES, "max_fields": MOST_FIELDS, "max_part_size": MOST_FIELD}
        super().__init__(request.headers, request.stream(), **bounds)
        self.files: list[tuple[str, Path]] = []
        self.is_whole = False
        self._folder = folder

    def on_headers_finished(self) -> None:
        super().on_headers_finished()
        sent = self._current_part.file
        if sent is not None:
            path = self._folder / str(len(self.files))
            self.files.append((sent.filename or "", path))
            file: Any = _OnDisk(path)
            sent.file.close()  # of memory
            sent.file = file
            self._files_to_close_on_error.append(file)

    def on_end(self) -> None:
        self.is_whole = True

    def close(self) -> None:
        """Close every file, also that of a part that broke off."""
        for file in self._files_to_close_on_error:
            file.close()


class _OnDisk:
    """A file that is written, and closed when the parser returns to its beginning."""

    def __init__(self, path: Path) -> None:
        self._file = open(path, "wb")  # noqa: SIM115 - closed by `seek` or `close`

    def write(self, data: bytes) -> int:
        return self._file.write(data)

    def seek(self, at: int) -> None:
        self._file.close()

    def close(self) -> None:
        self._file.close()


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


def _malformed(what: str) -> Problem:
    return Problem(422, what, subject="the body", next_step="send multipart/form-data with `files`")
