"""The chat model against a scripted server on the loopback address."""

from __future__ import annotations

import json
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest

from thresher.errors import BudgetSpent, ProviderError
from thresher.models.chat import ChatModel
from thresher.models.meter import Meter
from thresher.models.scripted_server import CHAT, Reply, ScriptedServer

Serve = Callable[..., ScriptedServer]


@contextmanager
def chatting(server: ScriptedServer, *, meter: Meter | None = None, **settings: object) -> Iterator[ChatModel]:
    """A model with no pauses between its tries, its connections closed in the end."""
    settings = {"pauses": (0.0, 0.0), **settings}
    model = ChatModel(server.base_url, "m", meter or Meter(), **settings)  # type: ignore[arg-type]
    try:
        yield model
    finally:
        model.close()


def test_a_reply_is_its_text_and_everything_is_counted(serve: Serve) -> None:
    server = serve("Two words")
    meter = Meter()
    with chatting(server, meter=meter, api_key="k3y", temperature=0.1, max_tokens=9) as model:
        assert model.complete("be brief", "why is it so") == "Two words"
    (request,) = server.requests
    assert request.path == CHAT
    assert request.headers["authorization"] == "Bearer k3y"
    assert request.body["messages"] == [
        {"role": "system", "content": "be brief"},
        {"role": "user", "content": "why is it so"},
    ]
    assert (request.body["model"], request.body["temperature"], request.body["max_tokens"]) == ("m", 0.1, 9)
    assert meter.usage.to_dict() == {
        "llm_calls": 1,
        "prompt_tokens": 6,
        "completion_tokens": 2,
        "web_requests": 0,
        "hosts": [server.host],
    }


@pytest.mark.parametrize(
    "failure",
    [
        Reply(status=429),
        Reply(status=500),
        Reply(status=503),
        Reply(dropped=True),
        Reply(body="{not json"),
        Reply(body="[]"),
        Reply(body="{}"),
        Reply(body='{"choices": null}'),
        Reply(body='{"choices": [{"message": {"content": 7}}]}'),
        Reply(""),
        Reply("   "),
    ],
    ids=str,
)
def test_what_may_pass_is_tried_again(serve: Serve, failure: Reply) -> None:
    server = serve(failure, failure, "At last")
    meter = Meter()
    with chatting(server, meter=meter) as model:
        assert model.complete("s", "u") == "At last"
    assert len(server.requests) == 3
    assert meter.usage.llm_calls == 1


@pytest.mark.parametrize(
    ("failure", "what"),
    [
        (Reply(status=429), "answered with status 429"),
        (Reply(status=500), "answered with status 500"),
        (Reply(dropped=True), "cannot be reached"),
        (Reply(body="{not json"), "not a chat completion"),
        (Reply(""), "answered with no text"),
    ],
    ids=str,
)
def test_what_does_not_pass_is_a_retryable_error_that_names_the_model(serve: Serve, failure: Reply, what: str) -> None:
    server = serve(failure)
    with chatting(server) as model, pytest.raises(ProviderError, match=what) as caught:
        model.complete("s", "u")
    assert len(server.requests) == 3
    assert caught.value.retryable
    assert caught.value.subject == f"m at {server.base_url}"


@pytest.mark.parametrize("status", [400, 401, 403, 404, 422])
def test_a_refusal_is_not_tried_again(serve: Serve, status: int) -> None:
    server = serve(Reply(status=status))
    with chatting(server) as model, pytest.raises(ProviderError, match=str(status)) as caught:
        model.complete("s", "u")
    assert len(server.requests) == 1
    assert not caught.value.retryable


def test_a_late_reply_is_not_waited_for_and_not_asked_again(serve: Serve) -> None:
    server = serve(Reply("late", seconds=60))
    with chatting(server, timeout_seconds=0.2) as model, pytest.raises(ProviderError, match=r"no reply within 0\.2 s"):
        model.complete("s", "u")
    assert len(server.requests) == 1


def test_a_server_that_asks_for_a_long_pause_is_not_waited_for(serve: Serve) -> None:
    server = serve(Reply(status=429, headers={"Retry-After": "3600"}), "never")
    with chatting(server) as model, pytest.raises(ProviderError, match="429"):
        model.complete("s", "u")
    assert len(server.requests) == 1


def test_a_pause_longer_than_the_seconds_that_are_left_ends_the_call(serve: Serve) -> None:
    server = serve(Reply(status=500), "never")
    with chatting(server, meter=Meter(max_seconds=5), pauses=(6.0,)) as model, pytest.raises(ProviderError):
        model.complete("s", "u")
    assert len(server.requests) == 1


def test_the_budget_shortens_the_wait_for_a_reply(serve: Serve) -> None:
    server = serve(Reply("late", seconds=60))
    with chatting(server, meter=Meter(max_seconds=0.3)) as model, pytest.raises(ProviderError, match="no reply within"):
        model.complete("s", "u")


@pytest.mark.parametrize("meter", [Meter(max_calls=0), Meter(max_seconds=0)])
def test_a_spent_budget_sends_nothing(serve: Serve, meter: Meter) -> None:
    server = serve("never")
    with chatting(server, meter=meter) as model, pytest.raises(BudgetSpent):
        model.complete("s", "u")
    assert server.requests == []
    assert meter.usage.hosts == ()


def test_a_failed_call_counts_and_its_host_is_told(serve: Serve) -> None:
    server = serve(Reply(status=500))
    meter = Meter(max_calls=1)
    with chatting(server, meter=meter) as model:
        with pytest.raises(ProviderError):
            model.complete("s", "u")
        with pytest.raises(BudgetSpent):
            model.complete("s", "u")
    assert (meter.usage.llm_calls, meter.usage.hosts) == (1, (server.host,))


def test_nobody_listening_is_an_error_in_words() -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{unused.getsockname()[1]}/v1"
        model = ChatModel(url, "m", Meter(), pauses=())
        with pytest.raises(ProviderError, match=r"cannot be reached; check llm\.base_url"):
            model.complete("s", "u")
        model.close()


@pytest.mark.parametrize(
    ("said", "text"),
    [
        ("<think>Hm, [3]?</think>\n\nTwelve [1].", "Twelve [1]."),
        ("Twelve <think> is a tag [1].", "Twelve <think> is a tag [1]."),
        ("  Twelve.\n", "Twelve."),
    ],
)
def test_thoughts_are_no_part_of_the_answer(serve: Serve, said: str, text: str) -> None:
    with chatting(serve(said)) as model:
        assert model.complete("s", "u") == text


def test_thoughts_that_never_end_are_no_answer(serve: Serve) -> None:
    with chatting(serve("<think>and so on and on")) as model, pytest.raises(ProviderError, match="no text"):
        model.complete("s", "u")


def test_a_reply_that_tells_no_usage_costs_a_call_and_no_tokens(serve: Serve) -> None:
    body = json.dumps({"choices": [{"message": {"content": "Hello"}}]})
    meter = Meter()
    with chatting(serve(Reply(body=body)), meter=meter) as model:
        assert model.complete("s", "u") == "Hello"
    assert (meter.usage.llm_calls, meter.usage.prompt_tokens) == (1, 0)


def test_a_password_in_the_address_is_never_shown(serve: Serve) -> None:
    model = ChatModel("http://me:s3cret@127.0.0.1:9/v1", "m", Meter())
    assert model.name == "m at http://127.0.0.1:9/v1"
