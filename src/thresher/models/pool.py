"""One pool of threads for all models of the process: work of many callers shares the cores, in turns.

Each caller queues at most `threads` turns; beside other callers, a turn does one item and queues again behind them. So
a caller with 10 items does not wait for one with 10,000, and no more threads than cores are busy. The threads start
with the first call; a process that was forked starts its own.
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
    """`work(item)` for each item, in their order, at most `threads` of them at the same time.

    `progress` gets the number of items just finished, in the caller's thread. After an error no further item begins;
    it is raised (the first in the order of the items, if several raise) once the items that had begun have ended.
    """
    if threads > 1 and len(items) > 1 and not getattr(_thread, "is_of_pool", False):
        return shared_pool().run_each(work, items, threads, progress)
    results = []
    for item in items:
        results.append(work(item))
        if progress is not None:
            progress(1)
    return results


class Pool:
    """The threads of an executor, shared by the callers that are here at the same time."""

    def __init__(self, executor: Executor) -> None:
        self._executor = executor
        self._callers = 0
        self._counting = threading.Lock()

    @property
    def is_shared(self) -> bool:
        """Whether more than one caller is here."""
        return self._callers > 1

    def run_each(
        self, work: Callable[[Item], Result], items: Sequence[Item], threads: int, progress: Progress | None = None
    ) -> list[Result]:
        """See the function `run_each`."""
        with self._counting:
            self._callers += 1
        try:
            return _Batch(self, work, items, tell_each=progress is not None).run(threads, progress)
        finally:
            with self._counting:
                self._callers -= 1

    def queue(self, turn: Callable[[], None]) -> None:
        """Have a turn taken once those that were queued before have been."""
        self._executor.submit(turn)


class _Batch(Generic[Item, Result]):
    """The items of one call; the threads of a pool take them in their order."""

    def __init__(self, pool: Pool, work: Callable[[Item], Result], items: Sequence[Item], *, tell_each: bool) -> None:
        self._pool = pool
        self._work = work
        self._items = items
        self._tell_each = tell_each
        self._changed = threading.Condition(threading.Lock())
        self._begun = 0
        self._stopped = False
        self._results: dict[int, Result] = {}
        self._errors: dict[int, BaseException] = {}

    def run(self, threads: int, progress: Progress | None) -> list[Result]:
        """Have all items done and wait for them."""
        try:
            for _ in range(min(threads, len(self._items))):
                self._pool.queue(self._take_turn)
            self._wait(progress)
        finally:  # interrupted, or the caller's progress raised: wait for what runs, and for nothing else
            with self._changed:
                self._stopped = True
                self._changed.wait_for(lambda: self._begun == len(self._results) + len(self._errors))
        if self._errors:
            raise self._errors.pop(min(self._errors))
        return [self._results[index] for index in range(len(self._items))]

    def _wait(self, progress: Progress | None) -> None:
        reported = 0
        while reported < len(self._items):
            with self._changed:
                wanted = reported + 1 if self._tell_each else len(self._items)
                while not self._stopped and len(self._results) < wanted:
                    self._changed.wait()
                if self._stopped:
                    return
                done = len(self._results)
            if progress is not None:
                progress(done - reported)
            reported = done

    def _take_turn(self) -> None:
        """Do the next item, then queue for another turn; with no other caller here, go on with the one after it."""
        with self._changed:
            index = self._next()
        while index is not None:
            index = self._do(index)

    def _do(self, index: int) -> int | None:
        """Do an item that was begun; gives the next one, if it is to be done in the same turn."""
        try:
            result = self._work(self._items[index])
            go_on = not self._pool.is_shared
            if not go_on and self._begun < len(self._items):
                self._pool.queue(self._take_turn)
        except BaseException as error:  # whatever it is, it belongs to the caller, who is waiting
            with self._changed:
                self._errors[index] = error
                self._stopped = True
                self._changed.notify_all()
            return None
        with self._changed:
            self._results[index] = result
            if self._tell_each or self._stopped or len(self._results) == len(self._items):
                self._changed.notify_all()
            return self._next() if go_on else None

    def _next(self) -> int | None:
        """The number of the item that is begun now; call with the lock held."""
        if self._stopped or self._begun == len(self._items):
            return None
        self._begun += 1
        return self._begun - 1


# --- the threads ------------------------------------------------------------------------------------------------------

_thread = threading.local()
_making = threading.Lock()
_pool: Pool | None = None


def shared_pool() -> Pool:
    """The threads of this process, as many as the cores it may use."""
    global _pool
    with _making:
        if _pool is None:
            _pool = Pool(ThreadPoolExecutor(usable_cores(), thread_name_prefix="models", initializer=_mark_thread))
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
