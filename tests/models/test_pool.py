from __future__ import annotations

import os
import signal
import threading
import warnings
from collections.abc import Callable, Sequence
from functools import partial
from time import sleep

import pytest

from thresher.models.running import in_parallel, run_each, usable_cores

SECONDS = 20.0  # how long a test waits for another thread before it fails


Each = Callable[[Callable[[int], int], Sequence[int]], list[int]]


def on_the_pool(work: Callable[[int], int], items: Sequence[int]) -> list[int]:
    return run_each(work, items, threads=2)


def in_calls(work: Callable[[int], int], items: Sequence[int]) -> list[int]:
    return in_parallel([partial(work, item) for item in items], workers=2)


one_core = pytest.mark.skipif(usable_cores() < 2, reason="the pool has as many threads as there are cores, here one")
AT_ONCE = [pytest.param(on_the_pool, marks=one_core), in_calls]


@pytest.mark.parametrize("each", AT_ONCE)
def test_work_runs_at_once_and_results_are_in_the_order_of_the_items(each: Each) -> None:
    second_done = threading.Event()

    def work(item: int) -> int:
        if item == 0:
            assert second_done.wait(SECONDS)
        else:
            second_done.set()
        return item * item

    assert each(work, [0, 1, 2, 3]) == [0, 1, 4, 9]
    assert (each(work, [3]), each(work, [])) == ([9], [])


@pytest.mark.parametrize("each", AT_ONCE)
def test_after_an_error_nothing_begins_and_what_runs_is_waited_for(each: Each) -> None:
    begun, ended = list[int](), list[int]()
    both = threading.Barrier(2)

    def work(item: int) -> int:
        begun.append(item)
        both.wait(SECONDS)
        if item == 1:
            raise KeyError(item)
        sleep(0.1)
        ended.append(item)
        return item

    with pytest.raises(KeyError, match="1"):
        each(work, list(range(50)))
    assert (sorted(begun), ended) == ([0, 1], [0])
    assert not [thread for thread in threading.enumerate() if thread.name.startswith("calls")]


def test_a_short_call_does_not_wait_for_a_long_one() -> None:
    long = threading.Thread(target=run_each, args=(lambda _: sleep(0.002), range(200)), kwargs={"threads": 99})
    long.start()
    assert run_each(str, range(10), threads=2) == [str(number) for number in range(10)]
    assert long.is_alive()
    long.join(SECONDS)


def test_progress_is_told_of_every_item_in_the_callers_thread() -> None:
    told: list[tuple[int, str]] = []
    run_each(str, range(100), threads=2, progress=lambda done: told.append((done, threading.current_thread().name)))
    assert sum(done for done, _ in told) == 100
    assert {name for _, name in told} == {threading.current_thread().name}


def test_an_interrupt_of_the_caller_ends_the_work() -> None:
    begun: list[int] = []

    def interrupt(done: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_each(begun.append, range(100_000), threads=2, progress=interrupt)
    ended = len(begun)
    assert ended < 100_000
    assert run_each(str, [1, 2], threads=2) == ["1", "2"]
    assert len(begun) == ended


def test_one_item_or_one_thread_is_done_by_the_caller() -> None:
    def name(_: int) -> str:
        return threading.current_thread().name

    own = threading.current_thread().name
    assert run_each(name, [1], threads=2) == [own]
    assert run_each(name, [1, 2], threads=1) == [own, own]
    assert run_each(name, [], threads=2) == []
    assert all(name.startswith("models") for name in run_each(name, [1, 2], threads=2))


def test_work_of_the_pool_may_have_items_of_its_own() -> None:
    def outer(item: int) -> list[int]:
        return run_each(lambda inner: item * inner, [1, 2, 3], threads=2)

    assert run_each(outer, range(20), threads=2) == [[item, 2 * item, 3 * item] for item in range(20)]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
@pytest.mark.filterwarnings("ignore:lance is not fork-safe")  # the pool is
def test_a_forked_process_has_threads_of_its_own() -> None:
    run_each(str, [1, 2], threads=2)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # from Python 3.12 on: threads do not go along
        child = os.fork()
    if child == 0:
        signal.alarm(int(SECONDS))  # without threads it would wait for ever
        os._exit(0 if run_each(str, [1, 2, 3], threads=2) == ["1", "2", "3"] else 1)
    _, status = os.waitpid(child, 0)
    assert os.waitstatus_to_exitcode(status) == 0
