"""Calls made in processes of their own on this machine, several at the same time; `python -m thresher.processes`.

A process is started anew (nothing is forked), gets calls as pickles on standard input and answers on standard output.
It runs our own functions: what a stranger wrote is read by a further process (`documents.reading_process`). One that
ends in the middle of a call costs that call, which is made once more in a fresh process.
"""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from queue import LifoQueue, SimpleQueue
from struct import Struct
from types import TracebackType
from typing import Any, BinaryIO, Self, TypeVar, cast

from thresher.errors import Cancelled, WorkerDied

Result = TypeVar("Result")

TRIES = 2
"""A call whose process ends is made once more: the cause may have been another's, and twice is its own."""

STANDARD_OUTPUT, STANDARD_ERROR = 1, 2

_LENGTH = Struct(">Q")


class Processes:
    """A number of processes that make calls; each is started with the first call that finds no other free."""

    def __init__(self, number: int, environment: Mapping[str, str] | None = None) -> None:
        """`environment` are variables that they get besides those of this process."""
        self.number = number
        self._environment = dict(environment or {})
        self._threads = ThreadPoolExecutor(number, thread_name_prefix="processes")
        self._free: LifoQueue[_Child | None] = LifoQueue()
        for _ in range(number):
            self._free.put(None)
        self._children: set[_Child] = set()
        self._closing = threading.Lock()
        self._closed = False

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @property
    def pids(self) -> list[int]:
        """The processes that run."""
        return sorted(child.pid for child in self._children)

    def submit(self, call: Callable[..., Result], *arguments: Any) -> Future[Result]:
        """Have `call(*arguments)` made, all of it picklable; an error of it is raised by the result.

        Raises WorkerDied, by the result, where the process that makes it ends, and the next one too.
        """
        return self._threads.submit(self._made, pickle.dumps((call, arguments)))

    def close(self) -> None:
        """End the processes, whatever they are doing."""
        with self._closing:
            self._closed = True
            for child in self._children:
                child.end()
        self._threads.shutdown(cancel_futures=True)
        for child in self._children:
            child.close()

    def _made(self, call: bytes) -> Any:
        for _ in range(TRIES):
            child = self._free.get() or self._started()
            answer = child.answer(call)
            if answer is not None:
                self._free.put(child)
                error, result = pickle.loads(answer)
                if error is not None:
                    raise error
                return result
            self._ended(child)
        raise WorkerDied(
            f"the process that worked on it ended ({child.ending}), and so did the one that tried again",
            next_step="try it alone to see whether it is the cause; free memory, or take fewer processes",
        )

    def _started(self) -> _Child:
        with self._closing:
            if self._closed:
                self._free.put(None)
                raise Cancelled("the processes were ended")
            child = _Child(self._environment)
            self._children.add(child)
        return child

    def _ended(self, child: _Child) -> None:
        child.end()
        child.close()
        with self._closing:
            self._children.discard(child)
        self._free.put(None)


class _Child:
    """One process, from its start to its end."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        folders = dict.fromkeys(os.path.abspath(folder) for folder in sys.path if folder)
        self._process = subprocess.Popen(
            [sys.executable or "python", "-P", "-m", "thresher.processes"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(folders), **environment},
            start_new_session=True,  # Ctrl-C is for who asks
        )
        self._calls, self._answers = (cast(BinaryIO, pipe) for pipe in (self._process.stdin, self._process.stdout))

    @property
    def pid(self) -> int:
        """The number of the process."""
        return self._process.pid

    @property
    def ending(self) -> str:
        """How it ended."""
        status = self._process.wait()
        return f"signal {-status}" if status < 0 else f"exit status {status}"

    def answer(self, call: bytes) -> bytes | None:
        """What it answers to a call; None where it ended before."""
        with suppress(OSError):
            write(self._calls, call)
        return read(self._answers)

    def end(self) -> None:
        """End it; from any thread."""
        self._process.kill()
        self._process.wait()

    def close(self) -> None:
        """Let go of its pipes, once nobody waits for an answer."""
        for pipe in (self._calls, self._answers):
            with suppress(OSError):  # it ended before it read all
                pipe.close()


# --- what both sides say ----------------------------------------------------------------------------------------------


def write(stream: BinaryIO, content: bytes) -> None:
    """Send the length of some bytes, and them."""
    stream.write(_LENGTH.pack(len(content)))
    stream.write(content)
    stream.flush()


def read(stream: BinaryIO) -> bytes | None:
    """The next that was sent; None where it is cut off, or nothing comes."""
    head = stream.read(_LENGTH.size)
    if len(head) < _LENGTH.size:
        return None
    (length,) = _LENGTH.unpack(head)
    content = stream.read(length)
    return content if len(content) == length else None


# --- the process ------------------------------------------------------------------------------------------------------


def serve(calls: BinaryIO, answers: BinaryIO) -> None:
    """Make calls until the caller has gone; then end at once, even within a call."""
    waiting: SimpleQueue[bytes] = SimpleQueue()

    def listen() -> None:
        while (call := read(calls)) is not None:
            waiting.put(call)
        os._exit(0)

    threading.Thread(target=listen, daemon=True).start()
    while True:
        write(answers, answered(waiting.get()))


def answered(call: bytes) -> bytes:
    """A call's (error, result), one of which is None."""
    try:
        function, arguments = pickle.loads(call)
        return pickle.dumps((None, function(*arguments)))
    except Exception as error:  # it belongs to who asked
        try:
            return pickle.dumps((error, None))
        except Exception:
            return pickle.dumps((RuntimeError(f"{type(error).__name__}: {error}"), None))


def main() -> None:
    """Answers go to what standard output was; whatever else is printed goes to standard error."""
    answers = os.fdopen(os.dup(STANDARD_OUTPUT), "wb")
    os.dup2(STANDARD_ERROR, STANDARD_OUTPUT)
    serve(sys.stdin.buffer, answers)


if __name__ == "__main__":
    main()
