"""Work on several threads: models share those of the process in turns, calls that wait for others have their own.

A caller queues no more than it may have running, and the next item when one has ended. So a caller with 10 items does
not wait for one with 10,000, and no more threads than cores are busy with models. The threads start with the first
call; a process that was forked starts its own.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, Executor, Future, ThreadPoolExecutor, wait
from itertools import islice
from typing import TypeVar

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
        return _in_turns(_shared_pool(), work, items, min(threads, usable_cores()), progress)
    results = []
    for item in items:
        results.append(work(item))
        if progress is not None:
            progress(1)
    return results


def in_parallel(tasks: Sequence[Callable[[], Result]], *, workers: int) -> list[Result]:
    """The results of tasks that wait, in their order, at most `workers` of them running at once; errors as above."""
    if workers < 2 or len(tasks) < 2:
        return [task() for task in tasks]
    with ThreadPoolExecutor(min(workers, len(tasks)), thread_name_prefix="calls") as pool:
        return _in_turns(pool, lambda task: task(), tasks, workers)


def _in_turns(
    pool: Executor,
    work: Callable[[Item], Result],
    items: Sequence[Item],
    most: int,
    progress: Progress | None = None,
) -> list[Result]:
    waiting = iter(enumerate(items))
    running: dict[Future[Result], int] = {}
    results: dict[int, Result] = {}
    errors: dict[int, BaseException] = {}
    try:
        while len(results) < len(items):
            if not errors:
                running |= {pool.submit(work, item): at for at, item in islice(waiting, most - len(running))}
            elif not running:
                raise errors[min(errors)]
            for future in wait(running, return_when=FIRST_COMPLETED).done:
                at, error = running.pop(future), future.exception()
                if error is None:
                    results[at] = future.result()
                    if progress is not None:
                        progress(1)
                else:
                    errors[at] = error
    finally:  # interrupted, or the caller's progress raised: wait for what runs, and for nothing else
        for future in running:
            future.cancel()
        wait(running)
    return [results[at] for at in range(len(items))]


# --- the threads of this process --------------------------------------------------------------------------------------

_thread = threading.local()
_making = threading.Lock()
_pool: Executor | None = None


def _shared_pool() -> Executor:
    """As many threads as the cores that this process may use."""
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
