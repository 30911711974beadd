"""The process that reads files: `python -m thresher.documents.worker MEMORY STACK`, both in MiB; and what it is sent.

Requests come on standard input, replies go to standard output, each a frame: its length and its content. A request is a
pickle, since who asks is trusted. A reply was made of an untrusted file, by a process that the file may have taken
over: it is JSON and is checked field by field before it is a Document.

Files are read in a thread with a stack of the given size, while the main thread waits for what comes next: when
standard input ends, whoever asked is gone, and the process ends at once, whatever it is doing.
"""

from __future__ import annotations

import json
import os
import pickle
import signal
import struct
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, fields, is_dataclass, replace
from functools import cache
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any, BinaryIO

from thresher.documents.registry import KINDS, FileKind
from thresher.documents.sources import MEBIBYTE, Hints, Item, Limits
from thresher.errors import DocumentError, ThresherError
from thresher.types import Document, Metadata

if TYPE_CHECKING:
    from pydantic import TypeAdapter

SECONDS_BETWEEN = 1.0  # rows that were read are sent as often as this, so that no wait looks like a hang
BATCH_CHARACTERS = 256 * 1024  # or as soon as they are so many
WORN_SHARE = 0.5  # of the memory: a process that holds so much between two files would fail files that are sound
LONGEST = 2**40  # a request is the caller's own: its limits on files count
_LENGTH = struct.Struct(">Q")


# --- frames -----------------------------------------------------------------------------------------------------------


class BadFrame(Exception):
    """What came is no frame, is longer than it may be, or does not say what it should."""


def write_frame(stream: BinaryIO, content: bytes) -> None:
    """Send one frame: eight bytes of its length, big end first, and the content."""
    stream.write(_LENGTH.pack(len(content)))
    stream.write(content)
    stream.flush()


def read_frame(stream: BinaryIO, *, longest: int) -> bytes | None:
    """The content of the next frame; None at the end. Raises BadFrame for one that is cut off or too long."""
    head = stream.read(_LENGTH.size)
    if not head:
        return None
    if len(head) < _LENGTH.size:
        raise BadFrame("cut off")
    (length,) = _LENGTH.unpack(head)
    if length > longest:
        raise BadFrame(f"{length:,} bytes")
    content = stream.read(length)
    if len(content) < length:
        raise BadFrame("cut off")
    return content


@dataclass(frozen=True, slots=True)
class Failure:
    """A DocumentError on its way."""

    what: str
    subject: str
    next_step: str

    @classmethod
    def of(cls, error: ThresherError) -> Failure:
        """What an error says."""
        return cls(error.what, error.subject, error.next_step)

    def error(self) -> DocumentError:
        """The error again."""
        return DocumentError(self.what, subject=self.subject, next_step=self.next_step)


@dataclass(frozen=True, slots=True)
class ReadReply:
    """Some of what is in a file; the last one of a file is `done` or `failed`."""

    found: tuple[Document | Failure, ...] = ()  # empty as a sign of life
    done: bool = False
    failed: Failure | None = None
    out_of_memory: bool = False  # whether it failed for lack of memory
    worn: bool = False  # whether the process holds on to so much memory that the next file wants a fresh one


def packed(reply: ReadReply) -> bytes:
    """A reply as JSON; half of a surrogate pair, which no file may hold, is a question mark."""
    return json.dumps(reply, default=_fields, ensure_ascii=False).encode("utf-8", "replace")


def _fields(value: Any) -> dict[str, Any]:
    if is_dataclass(value):
        return {one.name: getattr(value, one.name) for one in fields(value) if one.init}
    return dict(value)


def unpacked(content: bytes) -> ReadReply:
    """The reply in a frame; BadFrame where a field is missing, unknown or of another type."""
    try:
        return _replies().validate_json(content, strict=True)
    except ValueError as error:
        raise BadFrame("not a reply") from error


@cache
def _replies() -> TypeAdapter[ReadReply]:
    from pydantic import TypeAdapter

    return TypeAdapter(ReadReply)


ReadRequest = tuple[Item, Hints, Metadata, Limits, dict[str, FileKind]]
"""One file to read, whose bytes are the next frame, and the kinds that there are."""


def request_for(item: Item, hints: Hints, metadata: Metadata, limits: Limits) -> bytes:
    """The request to read a file in another process; a file's own path stays here, its name is all that is needed."""
    path = None if item.path is None else type(item.path)(item.path.name)
    named = replace(item, root="", address="", path=path, data=None if item.data is None else b"")
    kinds = {name: kind for name, kind in KINDS.items() if isinstance(kind.reader, str)}
    asked: ReadRequest = (named, hints, dict(metadata), limits, kinds)
    return pickle.dumps(asked)


# --- the process ------------------------------------------------------------------------------------------------------


class Worker:
    """Answers one request after the other."""

    def __init__(self, replies: BinaryIO, memory_bytes: int) -> None:
        from thresher.documents.read import parse  # not by who asks

        self._parse = parse
        self._replies = replies
        self._memory = memory_bytes
        self._seconds = 0.0

    def answer(self, asked: ReadRequest, data: bytes) -> None:
        """Send what is in a file."""
        item, hints, metadata, limits, kinds = asked
        KINDS.clear()
        KINDS.update(kinds)
        self._seconds = limits.reader_seconds
        limit_processor_seconds(self._seconds)
        item = item if item.data is None else replace(item, data=data)
        try:
            self._send_all(self._parse(item, data, hints, metadata=metadata, limits=limits, alive=self._alive))
            last = ReadReply(done=True)
        except DocumentError as error:
            cause, failed = error.__cause__, Failure.of(error)
            if isinstance(cause, RecursionError) and "Stack overflow" in str(cause):  # before Python 3.14 a SIGSEGV
                failed = replace(failed, next_step=limits.stack_step)
            last = ReadReply(failed=failed, out_of_memory=isinstance(cause, MemoryError))
        self._send(replace(last, worn=last.out_of_memory or held_bytes() > WORN_SHARE * self._memory))

    def _send_all(self, documents: Iterator[Document | DocumentError]) -> None:
        batch: list[Document | Failure] = []
        characters, sent = 0, time.monotonic()
        for found in documents:
            batch.append(Failure.of(found) if isinstance(found, DocumentError) else found)
            characters += len(found.text) if isinstance(found, Document) else 0
            if characters > BATCH_CHARACTERS or time.monotonic() - sent > SECONDS_BETWEEN:
                limit_processor_seconds(self._seconds)
                self._send(ReadReply(tuple(batch)))
                batch, characters, sent = [], 0, time.monotonic()
        if batch:
            self._send(ReadReply(tuple(batch)))

    def _alive(self) -> None:
        limit_processor_seconds(self._seconds)
        self._send(ReadReply())

    def _send(self, reply: ReadReply) -> None:
        write_frame(self._replies, packed(reply))


def main() -> None:
    """Read what is asked for until standard input ends."""
    memory, stack = (int(given) * MEBIBYTE for given in sys.argv[1:3])
    limit_process(memory)
    requests, replies = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    with open(os.devnull, "rb") as nothing:
        os.dup2(nothing.fileno(), 0)
    os.dup2(2, 1)  # what a library prints is no reply
    waiting: SimpleQueue[tuple[bytes, bytes]] = SimpleQueue()
    worker = Worker(replies, memory)

    def work() -> None:
        while True:
            request, data = waiting.get()
            worker.answer(pickle.loads(request), data)

    write_frame(replies, packed(ReadReply()))
    threading.stack_size(stack)
    threading.Thread(target=ended_by_errors(work), daemon=True).start()
    threading.stack_size(0)
    ended_by_errors(lambda: hand_on(requests, waiting))()


def hand_on(requests: BinaryIO, waiting: SimpleQueue[tuple[bytes, bytes]]) -> None:
    """Queue each request with its bytes; at their end, end this process and what it started."""
    while (request := read_frame(requests, longest=LONGEST)) is not None:
        waiting.put((request, read_frame(requests, longest=LONGEST) or b""))
    if os.name == "posix" and os.getpgrp() == os.getpid():
        os.killpg(0, signal.SIGKILL)  # OCR too
    os._exit(0)


def ended_by_errors(work: Callable[[], None]) -> Callable[[], None]:
    """The same work; where it raises, the process says so on standard error and ends without waiting for a thread."""

    def run() -> None:
        try:
            work()
        except BaseException:
            sys.excepthook(*sys.exc_info())
            os._exit(1)

    return run


def limit_process(memory_bytes: int) -> None:
    """Bound the memory of this process and of each that it starts, where the system does that, and leave no core dump.

    Linux counts what a process can write, which is what it uses; the address space that macOS could bound is no
    measure of it, and Windows has neither.
    """
    if sys.platform == "win32":
        return
    import resource

    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    if sys.platform == "linux":
        with suppress(ValueError, OSError):  # it is bounded more narrowly already
            resource.setrlimit(resource.RLIMIT_DATA, (memory_bytes, memory_bytes))


def limit_processor_seconds(seconds: float) -> None:
    """From now on so many on each processor; it ends a reader when the caller is stopped and cannot."""
    if sys.platform == "win32":
        return
    import resource

    _, most = resource.getrlimit(resource.RLIMIT_CPU)
    wanted = int(time.process_time() + seconds * (os.cpu_count() or 1)) + 1
    resource.setrlimit(resource.RLIMIT_CPU, (wanted if most == resource.RLIM_INFINITY else min(wanted, most), most))


def held_bytes() -> int:
    """Bytes of memory that this process can write; 0 if the system does not report it."""
    try:
        with open("/proc/self/statm", encoding="ascii") as statm:
            return int(statm.read().split()[5]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError, IndexError):
        return 0


if __name__ == "__main__":
    main()
