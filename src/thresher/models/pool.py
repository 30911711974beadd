"""One pool of threads for all models of the process: work of many callers shares the cores, in turns.

Each caller queues at most `threads` turns, and a turn does one item and queues again behind the others. So a caller
with 10 items does not wait for one with 10,000, and any number of callers keeps no more threads busy than there are
cores. The threads start with the first call; a process that was forked starts its own.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from typing import Generic, TypeVar

from thresher.models.onnx import usable_cores
from thresher.protocols import Progress

Item = TypeVar("Item")
Result = TypeVar("Result")


def run_each(
    work: Callable[[Item], Result], items: Sequence[Item], *, threads: int, progress: Progress | None = None
) -> list[Result]:
    """What `work` gives for each item, in their order, at most `threads` of them at the same time.

    `progress` gets the number of items just finished, in the caller's thread. After an error no further item begins;
    it is raised (the first in the order of the items, if several raise) once the items that had begun have ended.
    """
    if threads > 1 and len(items) > 1 and not getattr(_thread, "is_of_pool", False):
        return Batch(work, items).run(shared_pool(), threads, progress)
    results = []
    for item in items:
        results.append(work(item))
        if progress is not None:
            progress(1)
    return results


class Batch(Generic[Item, Result]):
    """The items of one call; the threads of an executor take them in their order."""

    def __init__(self, work: Callable[[Item], Result], items: Sequence[Item]) -> None:
        self._work = work
        self._items = items
        self._changed = threading.Condition()
        self._begun = 0
        self._stopped = False
        self._results: dict[int, Result] = {}
        self._errors: dict[int, BaseException] = {}

    def run(self, pool: Executor, threads: int, progress: Progress | None = None) -> list[Result]:
        """Do all items in `pool` and wait for them; see `run_each`."""
        try:
            for _ in range(min(threads, len(self._items))):
                pool.submit(self._take_turn, pool)
            self._wait(progress)
        finally:  # interrupted, or the caller's progress raised: wait for what runs, and for nothing else
            with self._changed:
                self._stopped = True
                self._changed.wait_for(lambda: self._running == 0)
        if self._errors:
            raise self._errors.pop(min(self._errors))
        return [self._results[index] for index in range(len(self._items))]

    @property
    def _finished(self) -> int:
        return len(self._results) + len(self._errors)

    @property
    def _running(self) -> int:
        return self._begun - self._finished

    def _wait(self, progress: Progress | None) -> None:
        """Until all items are done, or one failed."""
        told = 0
        while told < len(self._items):
            with self._changed:
                while not self._stopped and len(self._results) == told:
                    self._changed.wait()
                if self._stopped:
                    return
                done = len(self._results)
            if progress is not None:
                progress(done - told)
            told = done

    def _take_turn(self, pool: Executor) -> None:
        """Do the next item, then queue for another turn."""
        with self._changed:
            if self._stopped or self._begun == len(self._items):
                return
            index = self._begun
            self._begun += 1
        try:
            result = self._work(self._items[index])
            if self._begun < len(self._items):
                pool.submit(self._take_turn, pool)
        except BaseException as error:  # whatever it is, it belongs to the caller, who is waiting
            with self._changed:
                self._errors[index] = error
                self._stopped = True
                self._changed.notify_all()
        else:
            with self._changed:
                self._results[index] = result
                self._changed.notify_all()


# --- the threads ------------------------------------------------------------------------------------------------------

_thread = threading.local()
_making = threading.Lock()
_pool: ThreadPoolExecutor | None = None


def shared_pool() -> ThreadPoolExecutor:
    """The threads of this process, as many as the cores it may use."""
    global _pool
    with _making:
        if _pool is None:
            _pool = ThreadPoolExecutor(usable_cores(), thread_name_prefix="models", initializer=_mark_thread)
        return _pool


def _mark_thread() -> None:
    """Work that calls `run_each` itself is done in its own thread: waiting for others might leave none to do it."""
    _thread.is_of_pool = True


def _forget_threads() -> None:
    """In a forked process: it has the pool without the threads, and perhaps a lock that nobody will release."""
    global _pool, _making, _thread
    _pool, _making, _thread = None, threading.Lock(), threading.local()


if hasattr(os, "register_at_fork"):  # not on Windows, which does not fork
    os.register_at_fork(after_in_child=_forget_threads)
