"""Calls made in other processes, several at the same time: of a cluster, or of this machine.

A process of this machine (`python -m thresher.indexing.processes`) is started anew, not forked, gets calls as pickles
on standard input and answers on standard output. It runs our own functions: what a stranger wrote is read by a further
process (`documents.reading_process`). One that ends in the middle of a call costs that call, which is made once more in
a fresh process.
"""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import AbstractContextManager, suppress
from queue import SimpleQueue
from typing import IO, Any, BinaryIO, Protocol, Self, TypeVar, cast

from thresher.errors import Cancelled, MissingExtra, UsageError, WorkerDied, WrongType
from thresher.plugins import brought, loaded

Result = TypeVar("Result")

CLUSTERS = "thresher.clusters"
"""The entry points in which a distribution names what opens a cluster by its address."""

TRIES = 2
"""A call whose process ends is made once more: the cause may have been another's, and twice is its own."""

STANDARD_OUTPUT, STANDARD_ERROR = 1, 2


class Pool(Protocol):
    """Processes, of this machine or of others, that make calls."""

    @property
    def number(self) -> int:
        """How many calls are made at the same time."""
        ...

    def submit(self, call: Callable[..., Any], *arguments: Any) -> Future[Any]:
        """Have a call made; WorkerDied comes of one whose process ended, and ended again."""
        ...


def pool(processes: int, on: str | None) -> AbstractContextManager[Pool] | None:
    """So many processes of this machine, or the cluster at an address; None for this process alone."""
    if isinstance(processes, bool) or not isinstance(processes, int) or processes < 1:
        raise WrongType("processes", processes, "a whole number from 1")
    if on is not None:
        if processes > 1:
            raise UsageError("not both", subject="`processes` and `on`", next_step="leave one of them out")
        return _cluster(on)
    if processes == 1:
        return None
    from thresher.models.running import SHARE, usable_cores

    return Processes(processes, {SHARE: str(max(1, usable_cores() // processes))})


def _cluster(address: str) -> AbstractContextManager[Pool]:
    cluster = next(iter(brought(CLUSTERS).values()), None)
    if cluster is None:
        raise MissingExtra("thresher-ray", distribution="thresher-ray")
    return cast("AbstractContextManager[Pool]", loaded(cluster)(address))


# --- of this machine --------------------------------------------------------------------------------------------------


class Processes:
    """A number of processes that make calls; each is started with the first call that finds no other free."""

    def __init__(self, number: int, environment: Mapping[str, str] | None = None) -> None:
        """`environment` are variables that they get besides those of this process."""
        self.number = number
        self._environment = dict(environment or {})
        self._threads = ThreadPoolExecutor(number, thread_name_prefix="processes")
        self._own = threading.local()
        """The process of each thread."""
        self._running: set[subprocess.Popen[bytes]] = set()
        self._closing = threading.Lock()
        self._closed = False

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    @property
    def pids(self) -> list[int]:
        """The processes that run."""
        return sorted(process.pid for process in self._running)

    def submit(self, call: Callable[..., Result], *arguments: Any) -> Future[Result]:
        """Have `call(*arguments)` made, all of it picklable; an error of it is raised by the result.

        Raises WorkerDied, by the result, where the process that makes it ends, and the next one too.
        """
        return self._threads.submit(self._made, pickle.dumps((call, arguments)))

    def close(self) -> None:
        """End the processes, whatever they are doing."""
        with self._closing:
            self._closed = True
            for process in self._running:
                process.kill()
        self._threads.shutdown(cancel_futures=True)
        for process in self._running:
            _let_go(process)

    def _made(self, call: bytes) -> Any:
        for _ in range(TRIES):
            process = self._process()
            with suppress(OSError):
                write(process.stdin, call)
            answer = read(process.stdout)
            if answer is not None:
                error, result = pickle.loads(answer)
                if error is not None:
                    raise error
                return result
            status = self._ended(process)
        ending = f"signal {-status}" if status < 0 else f"exit status {status}"
        raise WorkerDied(
            f"the process that worked on it ended ({ending}), and so did the one that tried again",
            next_step="try it alone to see whether it is the cause; free memory, or take fewer processes",
        )

    def _process(self) -> subprocess.Popen[bytes]:
        """The process of this thread, started if it has none."""
        process: subprocess.Popen[bytes] | None = getattr(self._own, "process", None)
        if process is None:
            folders = dict.fromkeys(os.path.abspath(folder) for folder in sys.path if folder)
            with self._closing:
                if self._closed:
                    raise Cancelled("the processes were ended")
                process = self._own.process = subprocess.Popen(
                    [sys.executable or "python", "-P", "-m", "thresher.indexing.processes"],
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    env={**os.environ, "PYTHONPATH": os.pathsep.join(folders), **self._environment},
                    start_new_session=True,  # Ctrl-C is for who asks
                )
                self._running.add(process)
        return process

    def _ended(self, process: subprocess.Popen[bytes]) -> int:
        """The exit status of a process that answers no more."""
        self._own.process = None
        with self._closing:
            self._running.discard(process)
        return _let_go(process)


def _let_go(process: subprocess.Popen[bytes]) -> int:
    """End a process whose answer nobody waits for, and close its pipes; its exit status."""
    process.kill()
    for pipe in (process.stdin, process.stdout):
        with suppress(OSError):  # it ended before it read all
            cast("BinaryIO", pipe).close()
    return process.wait()


# --- what both sides say ----------------------------------------------------------------------------------------------


def write(stream: IO[bytes] | None, content: bytes) -> None:
    """Send some bytes."""
    assert stream is not None
    pickle.dump(content, stream)
    stream.flush()


def read(stream: IO[bytes] | None) -> bytes | None:
    """The next that was sent; None where it is cut off, or nothing comes."""
    assert stream is not None
    try:
        return cast("bytes", pickle.load(stream))
    except (EOFError, pickle.UnpicklingError):
        return None


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
