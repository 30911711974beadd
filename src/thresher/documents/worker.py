"""The process that reads files: `python -m thresher.documents.worker MEMORY STACK`, both in MiB.

Requests come on standard input, replies go to standard output (`thresher.documents.frames`). Files are read in a thread
with a stack of the given size, while the main thread waits for what comes next: when standard input ends, whoever
asked is gone, and the process ends at once, whatever it is doing.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from queue import SimpleQueue
from typing import BinaryIO

from thresher.documents.frames import Failure, ReadElsewhere, Reply, Request, packed, read_frame, use_kinds, write_frame
from thresher.documents.read import parse
from thresher.documents.sources import MEBIBYTE, Hints, Item, Limits
from thresher.errors import DocumentError
from thresher.types import Document

SECONDS_BETWEEN = 1.0  # rows that were read are sent as often as this, so that no wait looks like a hang
BATCH_CHARACTERS = 256 * 1024  # or as soon as they are so many
WORN_SHARE = 0.5  # of the memory: a process that holds so much between two files would fail files that are sound
LONGEST = 2**40  # a request is the caller's own: its limits on files count


class Worker:
    """Answers one request after the other."""

    def __init__(self, replies: BinaryIO, memory_bytes: int) -> None:
        self._replies = replies
        self._memory = memory_bytes
        self._kinds: object = None
        self._seconds = 0.0

    def answer(self, request: Request, data: bytes) -> None:
        """Send what is in a file."""
        if request.kinds != self._kinds:
            use_kinds(request.kinds)
            self._kinds = request.kinds
        self._seconds = request.limits["parse_seconds"]
        limit_processor_seconds(self._seconds)
        # A file's own path stays with who asked: its name is all that reading needs.
        path = Path(request.name) if request.name else None
        item = Item(request.source, "", path, data if request.stdin else None)
        limits = Limits(**request.limits)  # type: ignore[arg-type]  # the fields of one
        try:
            self._send_all(item, data, Hints(request.content_type, request.url), request, limits)
            last = Reply(done=True)
        except DocumentError as error:
            cause = error.__cause__
            if isinstance(cause, ReadElsewhere):
                last = Reply(elsewhere=cause.subject)
            else:
                last = Reply(failed=Failure.of(error), out_of_memory=isinstance(cause, MemoryError))
        self._send(replace(last, worn=last.out_of_memory or held_bytes() > WORN_SHARE * self._memory))

    def _send_all(self, item: Item, data: bytes, hints: Hints, request: Request, limits: Limits) -> None:
        batch: list[Document | Failure] = []
        characters, sent = 0, time.monotonic()
        documents = parse(item, data, hints, metadata=request.metadata, limits=limits, alive=self._alive)
        for found in documents:
            batch.append(Failure.of(found) if isinstance(found, DocumentError) else found)
            characters += len(found.text) if isinstance(found, Document) else 0
            if characters > BATCH_CHARACTERS or time.monotonic() - sent > SECONDS_BETWEEN:
                limit_processor_seconds(self._seconds)
                self._send(Reply(tuple(batch)))
                batch, characters, sent = [], 0, time.monotonic()
        if batch:
            self._send(Reply(tuple(batch)))

    def _alive(self) -> None:
        limit_processor_seconds(self._seconds)
        self._send(Reply())

    def _send(self, reply: Reply) -> None:
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
            worker.answer(Request.of(request), data)

    write_frame(replies, packed(Reply()))
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
