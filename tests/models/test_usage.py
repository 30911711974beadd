from __future__ import annotations

import json
import threading
from contextlib import nullcontext
from time import monotonic

import pytest

from thresher.errors import BudgetSpent, without_password
from thresher.models.running import in_parallel
from thresher.models.transport import Rate, shared_rate
from thresher.models.usage import Meter, Prices
from thresher.types import Usage


def test_addresses_are_shown_and_hosts_counted_once_each_without_passwords() -> None:
    assert without_password("ask http://a:p@ss@host/x?y=a@b or a@b") == "ask http://host/x?y=a@b or a@b"
    meter = Meter(max_calls=0)
    for url in ("http://b:1/v1", "https://me:pw@a.example/rerank"):
        meter.visit(url)
    for url in ("http://b:1/other", "https://c.example/find?q=red"):
        meter.searched(url)
    assert meter.usage == Usage(web_requests=2, hosts=("a.example", "b:1", "c.example"))


def test_budgets_of_tokens_and_seconds_end_once_they_are_used() -> None:
    meter, late = Meter(max_tokens=10), Meter(max_seconds=0)
    for tokens in ((6, 3), (0, 1)):
        meter.start("http://h/v1")
        meter.used(*tokens)
    with pytest.raises(BudgetSpent, match="10 tokens"):
        meter.start("http://h/v1")
    for call in (late.allow, lambda: late.searched("https://page.example/red")):
        with pytest.raises(BudgetSpent, match="0 seconds"):
            call()
    assert (meter.usage.llm_calls, late.usage) == (2, Usage())


def test_a_tab_holds_what_one_thread_spends_and_the_meter_holds_all() -> None:
    meter = Meter()
    both = threading.Barrier(2)

    def spend(calls: int) -> Usage:
        with meter.tab() as tab:
            both.wait(10)
            for _ in range(calls):
                meter.start(f"http://host{calls}")
            with meter.tab() as inner:
                meter.used(calls, 1)
            assert inner.usage == Usage(prompt_tokens=calls, completion_tokens=1)
            both.wait(10)
        return tab.usage

    assert in_parallel([lambda: spend(1), lambda: spend(2)], workers=2) == [
        Usage(1, 1, 1, 0, ("host1",)),
        Usage(2, 2, 1, 0, ("host2",)),
    ]
    assert meter.usage == Usage(3, 3, 2, 0, ("host1", "host2"))


@pytest.mark.parametrize(("budget", "spent", "left"), [(10.0, 0.5, 6.5), (10.0, 7.5, -0.5), (1.0, 0.7, -0.2)])
def test_no_server_is_waited_for_when_only_the_time_to_answer_is_left(budget: float, spent: float, left: float) -> None:
    meter = Meter(max_seconds=budget, _started=monotonic() - spent)
    meter.allow_time()
    assert meter.seconds_left == pytest.approx(left, abs=0.1)
    assert meter.seconds_within(60) == pytest.approx(max(left, 0.001), abs=0.1)
    for call in (meter.allow, lambda: meter.searched("http://somewhere.example/")):
        with pytest.raises(BudgetSpent, match="only what the answer takes is left") if left < 0 else nullcontext():
            call()


def test_tokens_cost_what_their_prices_say_and_nothing_is_said_without_prices() -> None:
    meter, prices = Meter(), Prices(prompt=0.5, completion=2.0)
    meter.used(1000, 100)
    assert meter.usage.cost is None
    assert not {"cost", "retries"} & meter.usage.to_dict().keys()
    meter.retried("status 503")
    meter.retried("status 503")
    assert meter.usage.to_dict()["retries"] == ["status 503", "status 503"]
    meter.used(1_000_000, 500_000, prices)
    meter.used(0, 500_000, prices)
    assert meter.usage.cost == pytest.approx(0.5 + 1.0 + 1.0)
    assert Usage.from_dict(json.loads(json.dumps(meter.usage.to_dict()))) == meter.usage


# --- how often a server is called -------------------------------------------------------------------------------------


def test_calls_wait_for_a_minute_to_end_and_a_turn_that_comes_too_late_is_refused_and_not_taken() -> None:
    now, slept = [100.0], list[float]()
    rate = Rate(3, clock=lambda: now[0], sleep=slept.append)
    for second in range(3):
        now[0] = 100.0 + second
        rate.wait()
    now[0] = 103.0
    with pytest.raises(BudgetSpent, match="3 calls per minute"):
        rate.wait(56.9)
    assert slept == []
    rate.wait(57.0)
    rate.wait()
    assert slept == [57.0, 58.0]


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
