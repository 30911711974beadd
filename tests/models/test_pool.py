from __future__ import annotations

import os
import signal
import threading
import warnings
from time import sleep

import pytest

from thresher.models.onnx import usable_cores
from thresher.models.pool import in_parallel, run_each

SECONDS = 20.0  # how long a test waits for another thread before it fails


def test_results_are_in_the_order_of_the_items() -> None:
    second_done = threading.Event()

    def work(item: int) -> int:
        if item == 0:
            assert second_done.wait(SECONDS)
        else:
            second_done.set()
        return item * item

    assert run_each(work, [0, 1, 2, 3], threads=2) == [0, 1, 4, 9]


def test_a_short_call_does_not_wait_for_a_long_one() -> None:
    long = threading.Thread(target=run_each, args=(lambda _: sleep(0.002), range(200)), kwargs={"threads": 99})
    long.start()
    assert run_each(str, range(10), threads=2) == [str(number) for number in range(10)]
    assert long.is_alive()
    long.join(SECONDS)


def test_after_an_error_nothing_begins_and_what_runs_is_waited_for() -> None:
    begun: list[int] = []
    first_runs, failed = threading.Event(), threading.Event()

    def work(item: int) -> int:
        begun.append(item)
        if item == 0:
            first_runs.set()
            assert failed.wait(SECONDS)
        else:
            assert first_runs.wait(SECONDS)
            failed.set()
            raise KeyError(item)
        return item

    with pytest.raises(KeyError, match="1"):
        run_each(work, list(range(50)), threads=2)
    assert begun == [0, 1]


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


def test_many_callers_share_the_same_few_threads() -> None:
    names: set[str] = set()
    callers = [
        threading.Thread(
            target=run_each,
            args=(lambda _: names.add(threading.current_thread().name), range(20)),
            kwargs={"threads": 2},
        )
        for _ in range(16)
    ]
    for caller in callers:
        caller.start()
    for caller in callers:
        caller.join(SECONDS)
    assert 0 < len(names) <= usable_cores()


def test_waiting_tasks_run_at_once_and_after_an_error_no_more_begin() -> None:
    begun: list[int] = []
    both = threading.Barrier(2)

    def task(number: int) -> int:
        begun.append(number)
        both.wait(SECONDS)
        if number == 1:
            raise KeyError(number)
        return number

    assert in_parallel([lambda: 7], workers=8) == [7]
    with pytest.raises(KeyError, match="1"):
        in_parallel([lambda n=n: task(n) for n in range(100)], workers=2)
    assert sorted(begun) == [0, 1]
    assert not [thread for thread in threading.enumerate() if thread.name.startswith("calls")]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
@pytest.mark.filterwarnings(
    "ignore:lance is not fork-safe"
)  # the pool is, and other tests of this process import lance
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
