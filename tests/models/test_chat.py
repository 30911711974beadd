"""The chat model against a scripted server on the loopback address."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from thresher.errors import BudgetSpent, NotRecorded, ProviderError
from thresher.home.places import LocalFiles
from thresher.models.chat import ChatModel
from thresher.models.replies import scores_schema
from thresher.models.reply_cache import ReplyCache
from thresher.models.running import in_parallel
from thresher.models.transport import Rate
from thresher.models.usage import Exchanges, Meter
from thresher_testing.llm_server import CHAT, Reply, ScriptedServer

Serve = Callable[..., ScriptedServer]

SCHEMA = scores_schema(1)
EVENTS = {"Content-Type": "text/event-stream"}


@contextmanager
def chatting(server: ScriptedServer, *, meter: Meter | None = None, **settings: object) -> Iterator[ChatModel]:
    """A model with no pauses between its tries, its connections closed in the end."""
    settings = {"model": "m", "pauses": (0.0, 0.0), **settings}
    model = ChatModel(server.base_url, meter=meter or Meter(), **settings)  # type: ignore[arg-type]
    try:
        yield model
    finally:
        model.close()


def test_a_reply_is_its_text_and_everything_is_counted(serve: Serve) -> None:
    server = serve("Two words")
    meter = Meter()
    with chatting(server, meter=meter, api_key=" k3y\n", temperature=0.1, max_tokens=9) as model:
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


def test_a_stream_is_told_piece_by_piece_and_counted(serve: Serve) -> None:
    server, meter, told = serve("BERT-base has 12 layers."), Meter(), list[str]()
    with chatting(server, meter=meter) as model:
        assert model.stream("be brief", "how many layers", told.append) == "BERT-base has 12 layers."
    assert told == ["BERT-base", " has", " 12", " layers."]
    assert server.requests[0].body["stream"] is True
    assert (meter.usage.llm_calls, meter.usage.prompt_tokens, meter.usage.completion_tokens) == (1, 5, 4)


@pytest.mark.parametrize(
    "failure", [Reply(status=500), Reply(dropped=True), Reply(""), Reply(body="data: {not json\n\n", headers=EVENTS)]
)
def test_a_stream_of_which_nothing_was_told_is_asked_for_again(serve: Serve, failure: Reply) -> None:
    server, told = serve(failure, "At last"), list[str]()
    with chatting(server) as model:
        assert model.stream("s", "u", told.append) == "At last"
    assert (told, len(server.requests)) == (["At", " last"], 2)


def test_a_stream_that_breaks_off_is_not_asked_for_again(serve: Serve) -> None:
    piece = {"id": "x", "object": "chat.completion.chunk", "created": 0, "model": "m"}
    piece["choices"] = [{"index": 0, "delta": {"content": "It has"}, "finish_reason": None}]
    begun = f"data: {json.dumps(piece)}\n\n"
    server, told = serve(Reply(body=begun, headers={**EVENTS, "Content-Length": "9999", "Connection": "close"})), []
    with chatting(server) as model, pytest.raises(ProviderError, match="broke off its reply"):
        model.stream("s", "u", told.append)
    assert (told, len(server.requests)) == (["It has"], 1)


NO_CHAT = ["{not json", "[]", "{}", '{"choices": null}', '{"choices": [{"message": {"content": 7}}]}']


@pytest.mark.parametrize(
    ("failure", "what"),
    [
        *((Reply(status=status), f"answered with status {status}") for status in (429, 500, 503)),
        (Reply("<html>", status=503, headers={"Content-Encoding": "br"}), "answered with status 503"),
        (Reply("a" * 5_000_000, status=503), "answered with status 503"),
        (Reply(dropped=True), "cannot be reached"),
        *((Reply(body=body), "not a chat completion|answered with no text") for body in NO_CHAT),
        (Reply("   "), "answered with no text"),
    ],
    ids=str,
)
def test_what_may_pass_is_tried_again_and_else_an_error_that_names_the_model(
    serve: Serve, failure: Reply, what: str
) -> None:
    server, meter = serve(failure, failure, "At last", failure), Meter()
    with chatting(server, meter=meter) as model:
        assert model.complete("s", "u") == "At last"
        assert len(server.requests) == meter.usage.llm_calls == 3
        assert len(meter.usage.retries) == 2
        with pytest.raises(ProviderError, match=what) as caught:
            model.complete("s", "u")
    assert len(server.requests) == 6
    assert caught.value.retryable
    assert caught.value.subject == f"m at {server.base_url}"


@pytest.mark.parametrize("meter", [Meter(max_calls=0), Meter(max_seconds=0)])
def test_a_spent_budget_sends_nothing(serve: Serve, meter: Meter) -> None:
    server = serve("never")
    with chatting(server, meter=meter) as model, pytest.raises(BudgetSpent):
        model.complete("s", "u")
    assert (server.requests, meter.usage.hosts) == ([], ())


@pytest.mark.parametrize(
    ("failure", "what", "seconds", "settings"),
    [
        (Reply(status=400), "status 400", None, {}),
        (Reply(status=404), "status 404", None, {}),
        (Reply("late", seconds=60), r"no reply within 0\.2 s", None, {"timeout_seconds": 0.2}),
        (Reply("late", seconds=60), "no reply within", 0.5, {}),
        (Reply(status=429, headers={"Retry-After": "3600"}), "status 429", None, {}),
        (Reply(status=500), "status 500", 5, {"pauses": (6.0,)}),
    ],
)
def test_what_will_not_pass_in_time_is_not_asked_again(
    serve: Serve, failure: Reply, what: str, seconds: float | None, settings: dict[str, object]
) -> None:
    server = serve(failure, "never")
    told = pytest.raises(ProviderError, match=what)
    with chatting(server, meter=Meter(max_seconds=seconds), **settings) as model, told:
        model.complete("s", "u")
    assert len(server.requests) == 1


def test_thoughts_that_never_end_cost_one_call_and_the_next_call_has_room_for_them(serve: Serve) -> None:
    server = serve("<think>and so on and on", "<think>short</think>42")
    with chatting(server, model="thinker", max_tokens=50, thinking_tokens=400) as model:
        with pytest.raises(ProviderError, match=r"thought until its tokens were spent.*llm\.max_tokens"):
            model.complete("s", "u")
        assert len(server.requests) == 1
        assert model.complete("s", "u") == "42"
    assert [request.body["max_tokens"] for request in server.requests] == [50, 450]


def test_how_much_a_model_thinks_is_sent_where_it_is_set_and_is_another_question_to_the_cache(
    serve: Serve, tmp_path: Path
) -> None:
    server = serve("a")
    for effort in (None, "none", "none"):
        with chatting(server, reasoning_effort=effort, cache=ReplyCache(LocalFiles(tmp_path))) as model:
            model.complete("s", "u")
            model.weigh("s", "u", ("yes", "no"))
    chats = [request.body.get("reasoning_effort") for request in server.requests if "logprobs" not in request.body]
    assert chats == [None, "none"]


# --- what a server does not take

TOO_LONG = "request (9031 tokens) exceeds the available context size (8192 tokens), try increasing it"
NEWER = {
    "max_tokens": "Unsupported parameter: 'max_tokens' is not supported with this model. "
    "Use 'max_completion_tokens' instead.",
    "temperature": "Unsupported value: 'temperature' does not support 0.0 with this model. "
    "Only the default (1) value is supported.",
}


def refused(status: int, words: str) -> Reply:
    return Reply(status=status, body=json.dumps({"error": {"message": words, "type": "invalid_request_error"}}))


def newer(body: Any) -> str | Reply:
    """A model that refuses both, one after the other."""
    return next((refused(400, words) for name, words in NEWER.items() if name in body), "Yes")


def test_what_a_newer_model_refuses_is_left_out_and_remembered(serve: Serve) -> None:
    server, meter = serve(newer), Meter()
    with chatting(server, model="newer", max_tokens=9, thinking_tokens=100, meter=meter) as model:
        assert [model.complete("s", "u") for _ in range(2)] == ["Yes", "Yes"]
    sent = [set(request.body) - {"model", "messages"} for request in server.requests]
    assert sent == [
        {"max_tokens", "temperature"},
        {"max_completion_tokens", "temperature"},
        {"max_completion_tokens"},
        {"max_completion_tokens"},
    ]
    assert server.requests[-1].body["max_completion_tokens"] == 109
    assert meter.usage.retries == tuple(f"answered with status 400: {NEWER[name]}" for name in NEWER)


@pytest.mark.parametrize(
    ("status", "words", "advice"),
    [
        (401, "Incorrect API key provided: k3y", r"provided: …; check llm\.api_key"),
        (400, TOO_LONG, r"9031 tokens.*llm\.context_tokens"),
        (400, "Unrecognized request argument supplied: reasoning_effort", "leave it unset"),
        (404, "model 'm' not found", r"check llm\.model"),
        (400, "The model `m` does not exist", r"check llm\.model"),
        (400, "bad\n\x1b[31mthing " + "x" * 400, r"bad \[31mthing x+…; check llm\.base_url"),
    ],
)
def test_a_refusal_shows_the_servers_words_without_the_key_and_says_what_to_do(
    serve: Serve, status: int, words: str, advice: str
) -> None:
    server = serve(refused(status, words))
    with chatting(server, api_key="k3y\n", model=words) as model, pytest.raises(ProviderError, match=advice):
        model.complete("s", "u", schema=SCHEMA if status == 400 and "not exist" not in words else None)
    assert len(server.requests) == (2 if "bad" in words else 1)


# --- schemas


def test_a_schema_is_sent_as_the_form_of_the_reply(serve: Serve) -> None:
    server = serve('{"scores": [0.7]}')
    with chatting(server) as model:
        model.complete("s", "u", schema=SCHEMA)
        model.complete("s", "u")
    first, second = server.requests
    assert first.body["response_format"] == {
        "type": "json_schema",
        "json_schema": {"name": "reply", "strict": True, "schema": SCHEMA},
    }
    assert "response_format" not in second.body


@pytest.mark.parametrize("status", [400, 404, 422])
def test_a_server_that_refuses_schemas_is_asked_without_and_remembered(serve: Serve, status: int) -> None:
    server, meter = serve(lambda asked: Reply(status=status) if "response_format" in asked else "0.7"), Meter()
    for name in ("plain", "plain", "another"):
        with chatting(server, meter=meter, model=f"{name}{status}") as model:
            assert [model.complete("s", "u", schema=SCHEMA) for _ in range(2)] == ["0.7"] * 2
    formed = ["response_format" in request.body for request in server.requests]
    assert formed == [True, False, False, False, False, True, False, False]
    assert meter.usage.llm_calls == len(server.requests)


# --- several at once


def test_parallel_calls_send_no_more_than_the_budget(serve: Serve) -> None:
    server, meter = serve(Reply("0.5", seconds=0.02)), Meter(max_calls=5)
    with chatting(server, meter=meter) as model:
        replies = in_parallel([lambda n=n: outcomes(model, n)[0] for n in "abcdefghijklmn"], workers=8)
    assert len(server.requests) == meter.usage.llm_calls == 5
    assert sorted(replies)[:5] == ["0.5"] * 5
    assert meter.usage.hosts == (server.host,)


# --- limits of a server


def test_every_request_waits_for_its_turn_unless_that_comes_too_late(serve: Serve) -> None:
    slept: list[float] = []
    rate = Rate(2, clock=lambda: 0.0, sleep=slept.append)
    server, meter = serve("a", Reply(status=500), "b"), Meter(max_seconds=30)
    with chatting(server, rate=rate) as model:
        assert [model.complete("s", "u") for _ in range(2)] == ["a", "b"]
    assert (len(server.requests), slept) == (3, [60.0])
    with chatting(server, rate=rate, meter=meter) as model, pytest.raises(BudgetSpent, match="2 calls per minute"):
        model.complete("s", "u")
    assert (len(server.requests), meter.usage.llm_calls) == (3, 0)


# --- played back


def outcomes(model: ChatModel, users: str) -> list[str]:
    told = []
    for user in users:
        try:
            told.append(model.complete("s", user, schema=SCHEMA))
        except (ProviderError, BudgetSpent) as error:
            told.append(f"{type(error).__name__} {getattr(error, 'retryable', None)}: {error}")
    return told


def test_what_was_recorded_is_played_back_with_its_costs_and_without_a_server(serve: Serve) -> None:
    meter, again, recorded = Meter(max_calls=7), Meter(), Exchanges()
    server = serve("1", Reply(status=500), "2", "3", Reply(status=401), Reply(body="{"))
    with chatting(server, meter=meter, exchanges=recorded) as model:
        first = outcomes(model, "abacde")
    failures = ["ProviderError False", "ProviderError True", "BudgetSpent None"]
    assert [text.split(":")[0] for text in first] == ["1", "2", "3", *failures]
    played = Exchanges(json.loads(json.dumps(recorded.stored())))
    with chatting(server, meter=again, exchanges=played) as model:
        assert outcomes(model, "abacde") == first
        with pytest.raises(NotRecorded, match="the documents, the settings or Thresher itself changed"):
            model.complete("s", "a", schema=SCHEMA)
    assert again.usage == meter.usage
    assert again.usage.llm_calls == len(server.requests) == 7


# --- remembered on disk


def test_a_cached_reply_costs_nothing(serve: Serve, tmp_path: Path) -> None:
    server = serve("a", "b", "c")
    meter = Meter()
    for _ in range(2):
        with chatting(server, meter=meter, cache=ReplyCache(LocalFiles(tmp_path))) as model:
            assert (model.complete("s", "u"), model.complete("s", "u", schema=SCHEMA)) == ("a", "b")
    assert (len(server.requests), meter.usage.llm_calls, meter.cached) == (2, 2, 2)


@pytest.mark.parametrize("change", [{"temperature": 0.5}, {"model": "n"}, {"max_tokens": 9}])
def test_another_model_or_a_warm_one_is_asked_anew(serve: Serve, tmp_path: Path, change: dict[str, object]) -> None:
    server = serve("a", "b", "c")
    for settings in ({}, change, change):
        with chatting(server, cache=ReplyCache(LocalFiles(tmp_path)), **settings) as model:
            model.complete("s", "u")
    assert len(server.requests) == (3 if "temperature" in change else 2)


# --- how probable the first word is


def test_the_weight_of_an_option_is_the_share_of_its_spellings_among_the_first_tokens(serve: Serve) -> None:
    server = serve(Reply("Yes", likely={"Yes": 0.5, " yes": 0.1, "No": 0.2, "The": 0.2}), logprobs=True)
    meter = Meter()
    with chatting(server, meter=meter) as model:
        assert model.weigh("s", "u", ("yes", "no")) == pytest.approx({"yes": 0.6, "no": 0.2})
    (request,) = server.requests
    assert (request.body["max_tokens"], request.body["logprobs"], request.body["top_logprobs"]) == (1, True, 20)
    assert (meter.usage.llm_calls, meter.usage.completion_tokens) == (1, 1)


FORBIDDEN = refused(403, "You are not allowed to request logprobs from this model")


@pytest.mark.parametrize(("reply", "known"), [("Yes", True), ("Yes", False), (FORBIDDEN, True)], ids=str)
def test_a_server_that_reports_no_log_probabilities_is_asked_for_them_once(
    serve: Serve, reply: str | Reply, known: bool
) -> None:
    server = serve(reply, logprobs=known)
    with chatting(server) as model:
        assert [model.weigh("s", text, ("yes", "no")) for text in "ab"] == [None, None]
    assert len(server.requests) == 1


def test_a_server_that_tells_fewer_tokens_is_asked_for_fewer(serve: Serve) -> None:
    def five(body: Any) -> Reply:
        if body["top_logprobs"] > 5:
            return refused(400, "top_logprobs must be less than or equal to 5")
        return Reply("No", likely={"No": 1.0})

    server = serve(five, logprobs=True)
    with chatting(server) as model:
        assert [model.weigh("s", text, ("yes", "no")) for text in "ab"] == [{"yes": 0.0, "no": 1.0}] * 2
    assert [request.body["top_logprobs"] for request in server.requests] == [20, 5, 5]
