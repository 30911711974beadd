from __future__ import annotations

import json
import threading
from contextlib import nullcontext
from time import monotonic

import pytest

from thresher.errors import BudgetSpent, without_password
from thresher.models.pool import in_parallel
from thresher.models.usage import Meter, Prices
from thresher.types import Usage


def test_hosts_are_told_once_each_in_order_and_without_passwords() -> None:
    meter = Meter()
    for url in ("http://b:1/v1", "https://me:pw@a.example/rerank", "http://b:1/other"):
        meter.visit(url)
    assert meter.usage.hosts == ("a.example", "b:1")


def test_calls_and_tokens_add_up() -> None:
    meter = Meter()
    for tokens in (3, 4):
        meter.start("http://h/v1")
        meter.used(tokens, 1)
    usage = meter.usage
    assert (usage.llm_calls, usage.prompt_tokens, usage.completion_tokens) == (2, 7, 2)


def test_a_budget_of_calls_allows_that_many() -> None:
    meter = Meter(max_calls=1)
    meter.start("http://h/v1")
    for refused in (meter.allow, lambda: meter.start("http://h/v1")):
        with pytest.raises(BudgetSpent, match="1 model calls"):
            refused()
    assert meter.usage.llm_calls == 1


def test_threads_together_start_no_more_than_the_budget() -> None:
    meter = Meter(max_calls=50)

    def start() -> bool:
        try:
            meter.start("http://h/v1")
        except BudgetSpent:
            return False
        return True

    assert sum(in_parallel([start] * 200, workers=8)) == meter.usage.llm_calls == 50


def test_a_budget_of_tokens_ends_once_they_are_used() -> None:
    meter = Meter(max_tokens=10)
    meter.start("http://h/v1")
    meter.used(6, 3)
    meter.start("http://h/v1")
    meter.used(0, 1)
    with pytest.raises(BudgetSpent, match="10 tokens"):
        meter.start("http://h/v1")
    assert meter.usage.llm_calls == 2


def test_web_requests_are_counted_with_their_hosts_until_the_seconds_are_spent() -> None:
    meter = Meter(max_calls=0)
    meter.searched("https://search.example/find?q=red")
    meter.searched("https://page.example/red")
    assert (meter.usage.web_requests, meter.usage.llm_calls) == (2, 0)
    assert meter.usage.hosts == ("page.example", "search.example")
    late = Meter(max_seconds=0)
    with pytest.raises(BudgetSpent, match="0 seconds"):
        late.searched("https://page.example/red")
    assert late.usage == Usage()


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


def test_a_budget_of_seconds_ends() -> None:
    Meter(max_seconds=60).allow()
    with pytest.raises(BudgetSpent, match="0 seconds"):
        Meter(max_seconds=0).allow()


@pytest.mark.parametrize(("budget", "spent", "left"), [(10.0, 0.5, 6.5), (10.0, 7.5, -0.5), (1.0, 0.7, -0.2)])
def test_no_server_is_waited_for_when_only_the_time_to_answer_is_left(budget: float, spent: float, left: float) -> None:
    meter = Meter(max_seconds=budget, _started=monotonic() - spent)
    meter.allow_time()
    assert meter.seconds_left == pytest.approx(left, abs=0.1)
    with pytest.raises(BudgetSpent, match="only what the answer takes is left") if left < 0 else nullcontext():
        meter.allow()
    with pytest.raises(BudgetSpent, match="only what the answer takes is left") if left < 0 else nullcontext():
        meter.searched("http://somewhere.example/")


def test_without_a_budget_everything_is_allowed() -> None:
    meter = Meter()
    meter.allow()
    assert meter.seconds_left is None


def test_an_address_is_shown_without_its_password() -> None:
    assert without_password("https://a:b@host:1/v1?x=1") == "https://host:1/v1?x=1"
    assert without_password("https://host/v1") == "https://host/v1"
    assert without_password("ask http://a:p@ss@host/x?y=a@b or a@b") == "ask http://host/x?y=a@b or a@b"


def test_tokens_cost_what_their_prices_say_and_nothing_is_said_without_prices() -> None:
    meter, prices = Meter(), Prices(prompt=0.5, completion=2.0)
    meter.used(1000, 100)
    assert meter.usage.cost is None
    assert "cost" not in meter.usage.to_dict()
    meter.used(1_000_000, 500_000, prices)
    meter.used(0, 500_000, prices)
    assert meter.usage.cost == pytest.approx(0.5 + 1.0 + 1.0)
    assert Usage.from_dict(json.loads(json.dumps(meter.usage.to_dict()))) == meter.usage


def test_what_was_sent_again_is_told_with_its_reason() -> None:
    meter = Meter()
    assert "retries" not in meter.usage.to_dict()
    meter.retried("status 503")
    meter.retried("status 503")
    assert meter.usage.to_dict()["retries"] == ["status 503", "status 503"]
    assert Usage.from_dict(json.loads(json.dumps(meter.usage.to_dict()))) == meter.usage
