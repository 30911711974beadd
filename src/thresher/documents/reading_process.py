"""Files read in a process of its own: whatever one of them does to it is that file's error, and the next is read.

The process is `thresher.documents.worker`, started at the first file and again when it ended. It has limits of memory,
stack and time, gets the bytes and nothing of the environment that could be a secret, and cannot outlive who asks.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from functools import cache
from typing import BinaryIO, cast

from thresher.documents.registry import kind_of, kinds
from thresher.documents.sources import DEFAULT_LIMITS, MEBIBYTE, Hints, Item, Limits, errors_about, file_name
from thresher.documents.worker import BadFrame, Failure, ReadReply, read_frame, request_for, unpacked, write_frame
from thresher.errors import DocumentError
from thresher.types import Document, Metadata, text_id

KEPT_VARIABLES = (
    *("PATH", "HOME", "TMPDIR", "TEMP", "TMP", "SYSTEMROOT", "TZ", "LANG", "LC_ALL", "LC_CTYPE"),
    *("LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "DYLD_FALLBACK_LIBRARY_PATH"),
    *("PYTHONHOME", "PYTHONUTF8", "PYTHONDONTWRITEBYTECODE", "PYTHONPYCACHEPREFIX"),
    *("TESSDATA_PREFIX", "OMP_THREAD_LIMIT", "OMP_NUM_THREADS"),
)
"""What Python, the libraries below it and tesseract need of the environment."""
START_SECONDS = 60.0  # a start takes 0.1 s, on a machine that swaps a hundred times as long
TAIL_BYTES = 4096  # of what the process printed before it ended
MEMORY_SIGNS = ("memory allocation of", "MemoryError", "bad_alloc", "out of memory", "cannot allocate memory")
"""What Rust, Python, C++ and the C library say when there is no more; in any case of letters."""


class ReadingProcess:
    """Reads files, one at a time, each in a process that outlives sound ones; close it at the end."""

    def __init__(self, limits: Limits = DEFAULT_LIMITS) -> None:
        self._limits = limits
        self._child: _Child | None = None

    def __enter__(self) -> ReadingProcess:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        """End the process, whatever it is doing."""
        child, self._child = self._child, None
        if child is not None:
            child.close()

    @property
    def pid(self) -> int | None:
        """The id of the process; None where none is running."""
        return None if self._child is None else self._child.pid

    def read(
        self, item: Item, data: bytes, hints: Hints, *, metadata: Metadata | None = None
    ) -> Iterator[Document | DocumentError]:
        """The documents in the bytes, as `thresher.documents.read.parse` yields them, read over there.

        A file that cannot be read raises DocumentError, and so does one that ends the process or takes more than it
        may. A kind whose reader is a function of this program is read here, without limits.
        """
        metadata = metadata or {}
        if any(callable(kind.reader) for kind in kinds().values()):
            with errors_about(item.source):
                kind = kind_of(data, name=file_name(item, hints), content_type=hints.content_type)
            if callable(kind.reader):
                from thresher.documents.read import parse

                yield from parse(item, data, hints, metadata=metadata, limits=self._limits)
                return
        asked = request_for(item, hints, metadata, self._limits)
        finished = False
        try:
            for reply in self._replies(item, asked, data):
                finished = reply.done or reply.failed is not None
                if finished and reply.worn:
                    self.close()
                if reply.out_of_memory:
                    raise self._too_much_memory(item.source)
                if reply.failed is not None:
                    raise reply.failed.error()
                for found in reply.found:
                    yield found.error() if isinstance(found, Failure) else _owned(found, item)
        finally:
            if not finished:  # what else it has to say is not for the next file
                self.close()

    def _replies(self, item: Item, request: bytes, data: bytes) -> Iterator[ReadReply]:
        """What the process says of a file, the last one included. Raises DocumentError where it ends before."""
        if self._child is not None and self._child.over:
            self.close()
        child = self._child = self._child or self._started(item.source)
        with _ends_after(self._limits.seconds, child):
            child.ask(request, data)
        while True:
            with _ends_after(self._limits.seconds, child):
                reply = child.reply(longest=self._limits.memory_megabytes * MEBIBYTE)
            if reply is None:
                self.close()
                raise self._cause(child, item.source)
            yield reply
            if reply.done or reply.failed is not None:
                return

    def _started(self, source: str) -> _Child:
        next_step = f"check that {sys.executable or 'Python'} runs, with this setting reading.memory_megabytes"
        try:
            child = _Child(self._limits)
        except OSError as error:
            what = f"the process that reads files cannot be started ({error})"
            raise DocumentError(what, subject=source, next_step=next_step) from error
        with _ends_after(START_SECONDS, child):
            ready = child.reply(longest=MEBIBYTE)
        if ready is None:
            child.close()
            what = f"the process that reads files ends at its start ({child.ending})"
            raise DocumentError(what, subject=source, next_step=next_step)
        return child

    def _cause(self, child: _Child, source: str) -> DocumentError:
        """What ended the process, and which setting would have let it go on."""
        name, limits = _signal_name(child.status), self._limits
        if child.late or name == "SIGXCPU":
            what = f"reading it took longer than {limits.seconds:g} seconds"
            next_step = f"split it, or leave it out, or raise the setting reading.seconds ({limits.seconds:g})"
        elif any(sign.lower() in child.error_text.lower() for sign in MEMORY_SIGNS):
            return self._too_much_memory(source)
        elif name in ("SIGSEGV", "SIGBUS"):
            what = f"it crashed the reading process ({name}); its elements may be nested too deeply"
            next_step = limits.stack_step
        elif name == "SIGKILL" and not child.nonsense:
            what = "the reading process was killed (SIGKILL); the machine may have run out of memory"
            smaller = f"a smaller setting reading.memory_megabytes ({limits.memory_megabytes})"
            next_step = f"index it again, with {smaller} if it is the file"
        else:
            what = f"it ended the reading process ({child.nonsense or child.ending})"
            next_step = "save it again or convert it, or leave it out"
        return DocumentError(what, subject=source, next_step=next_step)

    def _too_much_memory(self, source: str) -> DocumentError:
        memory = self._limits.memory_megabytes
        return DocumentError(
            f"reading it takes more than {memory} MB of memory",
            subject=source,
            next_step=f"split it, or leave it out, or raise the setting reading.memory_megabytes ({memory})",
        )


def _owned(document: Document, item: Item) -> Document:
    """The document under its own id and the file's name: a hostile file must not choose either."""
    id_ = text_id(document.text)
    if document.container:
        return replace(document, id=id_, container=item.source)
    return replace(document, id=id_, source=item.source)


@contextmanager
def _ends_after(seconds: float, child: _Child) -> Iterator[None]:
    """While inside, the process ends when the seconds are over."""
    timer = threading.Timer(seconds, child.end, kwargs={"late": True})
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


def _signal_name(status: int) -> str:
    """The signal that a status stands for; empty for an exit status."""
    try:
        return signal.Signals(-status).name if status < 0 else ""
    except ValueError:
        return f"signal {-status}"


@dataclass(frozen=True, slots=True)
class ReadingTask:
    """Reads one file from its bytes, in whatever process it is called; picklable."""

    item: Item
    data: bytes
    hints: Hints
    metadata: Metadata
    limits: Limits

    def __call__(self) -> Iterator[Document | DocumentError]:
        """The documents in the bytes, see `ReadingProcess.read`."""
        return _reader(self.limits).read(self.item, self.data, self.hints, metadata=self.metadata)


@cache
def _reader(limits: Limits) -> ReadingProcess:
    """What reads all files for this process, and ends with it."""
    return ReadingProcess(limits)


class _Child:
    """A process that reads, from its start to its end."""

    def __init__(self, limits: Limits) -> None:
        """Raises OSError where it cannot be started."""
        numbers = (str(limits.memory_megabytes), str(limits.stack_megabytes))
        self._process = subprocess.Popen(
            [sys.executable or "python", "-P", "-m", "thresher.documents.worker", *numbers],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=minimal_environment(os.environ),
            start_new_session=True,  # Ctrl-C is for who asks; and OCR, which it starts, ends with it
        )
        self.pid = self._process.pid
        pipes = (self._process.stdin, self._process.stdout, self._process.stderr)
        self._requests, self._replies, self._errors = (cast(BinaryIO, pipe) for pipe in pipes)
        self._error_text = b""
        self._listening = threading.Thread(target=self._listen, daemon=True)
        self._listening.start()
        self._ending = threading.Lock()
        self._ended = False
        self.late = False
        """Whether it was ended because it took too long."""
        self.nonsense = ""
        """What was wrong with a reply that was none."""

    @property
    def over(self) -> bool:
        return self._ended or self._process.poll() is not None

    @property
    def status(self) -> int:
        """How it ended: an exit status, or less than 0 for a signal."""
        return self._process.wait()

    @property
    def error_text(self) -> str:
        return self._error_text.decode("utf-8", "replace")

    @property
    def ending(self) -> str:
        """How it ended and the last line of its standard error, on one line."""
        lines = self.error_text.strip().splitlines() or [""]
        ended = _signal_name(self.status) or f"exit status {self.status}"
        return f"{ended}: {lines[-1].strip()[:120]}" if lines[-1] else ended

    def ask(self, request: bytes, data: bytes) -> None:
        with suppress(OSError):  # if the process has ended, `reply` reports it
            write_frame(self._requests, request)
            write_frame(self._requests, data)

    def reply(self, *, longest: int) -> ReadReply | None:
        """The next reply; None where the process ended, or sent what is none."""
        try:
            frame = read_frame(self._replies, longest=longest)
            return None if frame is None else unpacked(frame)
        except BadFrame as error:
            self.nonsense = str(error)
        return None

    def end(self, *, late: bool = False) -> None:
        """End it and what it started, from any thread; the first call decides."""
        with self._ending:
            if self._ended:
                return
            self._ended, self.late = True, late
            if self._process.returncode is not None:
                return
            # Nobody waited for it yet, so no other process can have its number.
            with suppress(ProcessLookupError, PermissionError):
                if os.name == "posix":
                    os.killpg(self.pid, signal.SIGKILL)
                else:
                    self._process.kill()

    def close(self) -> None:
        self.end()
        self._process.wait()
        self._listening.join(timeout=1)  # a second is for what it started and could not be ended
        for pipe in (self._requests, self._replies, self._errors):
            with suppress(OSError):  # it ended before it read all
                pipe.close()

    def _listen(self) -> None:
        while chunk := os.read(self._errors.fileno(), TAIL_BYTES):
            self._error_text = (self._error_text + chunk)[-TAIL_BYTES:]


def minimal_environment(environment: Mapping[str, str]) -> dict[str, str]:
    """The variables that are kept, and the folders that Python modules come from here."""
    folders = [*environment.get("PYTHONPATH", "").split(os.pathsep), *sys.path]
    kept = {name: environment[name] for name in KEPT_VARIABLES if name in environment}
    found = dict.fromkeys(os.path.abspath(folder) for folder in folders if folder)
    return {**kept, "PYTHONPATH": os.pathsep.join(found)}
