from __future__ import annotations

import threading

import pytest

from thresher.errors import BudgetSpent
from thresher.models.pool import in_parallel
from thresher.models.usage import Rate, shared_rate


class Clock:
    """Time that passes only by sleeping."""

    def __init__(self) -> None:
        self.now = 100.0
        self.slept: list[float] = []

    def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.now += seconds

    def rate(self, per_minute: int) -> Rate:
        return Rate(per_minute, clock=lambda: self.now, sleep=self.sleep)


def test_the_first_calls_of_a_minute_do_not_wait_and_the_next_waits_for_the_minute_to_end() -> None:
    clock = Clock()
    rate = clock.rate(3)
    for _ in range(3):
        rate.wait()
        clock.now += 1
    assert clock.slept == []
    rate.wait()
    assert clock.slept == [57.0]
    rate.wait()
    assert clock.slept == [57.0, 1.0]


def test_no_minute_holds_more_calls_than_allowed() -> None:
    clock = Clock()
    rate = clock.rate(4)
    begun = []
    for number in range(40):
        rate.wait()
        begun.append(clock.now)
        clock.now += number % 7
    assert all(later - earlier >= 60 for earlier, later in zip(begun, begun[4:], strict=False))


def test_a_turn_that_comes_too_late_is_refused_at_once_and_not_taken() -> None:
    clock = Clock()
    rate = clock.rate(1)
    rate.wait(0.0)
    with pytest.raises(BudgetSpent, match="1 calls per minute"):
        rate.wait(59.9)
    assert clock.slept == []
    rate.wait(60.0)
    assert clock.slept == [60.0]


def test_threads_that_come_together_get_turns_of_their_own() -> None:
    slept: list[float] = []
    lock = threading.Lock()

    def sleep(seconds: float) -> None:
        with lock:
            slept.append(seconds)

    rate = Rate(2, clock=lambda: 0.0, sleep=sleep)
    in_parallel([rate.wait] * 8, workers=8)
    assert sorted(slept) == [60.0, 60.0, 120.0, 120.0, 180.0, 180.0]


def test_one_server_has_one_limiter() -> None:
    rate = shared_rate("http://me:s3cret@Host:1/v1", 7)
    assert shared_rate("http://host:1/other", 7) is rate
    assert shared_rate("http://host:2/v1", 7) is not rate
    assert shared_rate("http://host:1/v1", 8).per_minute == 8
