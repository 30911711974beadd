from __future__ import annotations

import pytest

from thresher.errors import BudgetSpent
from thresher.models.fake import HashEncoder
from thresher.models.meter import Meter, MeteredEncoder, without_password


def test_hosts_are_told_once_each_in_order_and_without_passwords() -> None:
    meter = Meter()
    for url in ("http://b:1/v1", "https://me:pw@a.example/rerank", "http://b:1/other"):
        meter.visit(url)
    assert meter.usage.hosts == ("a.example", "b:1")


def test_calls_and_tokens_add_up() -> None:
    meter = Meter()
    for tokens in (3, 4):
        meter.called("http://h/v1")
        meter.used(tokens, 1)
    usage = meter.usage
    assert (usage.llm_calls, usage.prompt_tokens, usage.completion_tokens) == (2, 7, 2)


def test_a_budget_of_calls_allows_that_many() -> None:
    meter = Meter(max_calls=1)
    meter.allow()
    meter.called("http://h/v1")
    with pytest.raises(BudgetSpent, match="1 model calls"):
        meter.allow()


def test_a_budget_of_seconds_ends() -> None:
    Meter(max_seconds=60).allow()
    with pytest.raises(BudgetSpent, match="0 seconds"):
        Meter(max_seconds=0).allow()


def test_without_a_budget_everything_is_allowed() -> None:
    meter = Meter()
    meter.allow()
    assert meter.seconds_left is None


def test_an_encoder_behind_an_endpoint_leaves_its_host_on_the_meter() -> None:
    meter = Meter()
    inner = HashEncoder(16)
    encoder = MeteredEncoder(inner, meter, "http://vectors:9/v1")
    assert (encoder.name, encoder.dimension, encoder.max_tokens) == (inner.name, 16, inner.max_tokens)
    assert encoder.encode([]).shape == (0, 16)
    assert meter.usage.hosts == ()
    assert (encoder.encode_query("x") == inner.encode_query("x")).all()
    assert meter.usage.hosts == ("vectors:9",)


def test_an_address_is_shown_without_its_password() -> None:
    assert without_password("https://a:b@host:1/v1?x=1") == "https://host:1/v1?x=1"
    assert without_password("https://host/v1") == "https://host/v1"
