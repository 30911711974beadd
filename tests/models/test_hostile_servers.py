"""A model's server is a stranger: whatever it sends, and however, a call ends in time, within bounds, in words."""

from __future__ import annotations

import json
import socket
import threading
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from time import monotonic

import pytest

from thresher.errors import BudgetSpent, Cancelled, ProviderError
from thresher.models.chat import ChatModel
from thresher.models.endpoints import EndpointCrossEncoder, EndpointEncoder, QuestionEncoder
from thresher.models.replies import most_characters
from thresher.models.usage import Exchanges, Meter
from thresher_testing.llm_server import Reply, ScriptedServer

Serve = Callable[..., ScriptedServer]
Deed = Callable[["Hostile"], Iterator[bytes]]
Call = Callable[..., object]

SECONDS = 0.3
"""What a call may take where time is what is tested."""
PATIENT_SECONDS = 60.0
"""What it may take elsewhere."""
BUSY_SECONDS = 30.0
"""What it takes on a machine with much else to do at most; the servers here would go on for ever."""
BUFFERED = 16_000_000
"""Bytes that lie in the buffers of a loopback connection at most, sent by the server and never read."""

# --- a server that does what it wants with a connection


class Hostile:
    """Reads each request and sends what its deed yields, until the other side has enough."""

    def __init__(self, deed: Deed) -> None:
        self.deed = deed
        self.sent = 0
        """Bytes sent over all connections."""
        self.requests = 0
        self.stopped = threading.Event()
        self._listening = socket.create_server(("127.0.0.1", 0))
        self._thread = threading.Thread(target=self._serve, daemon=True)

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self._listening.getsockname()[1]}"

    def __enter__(self) -> Hostile:
        self._thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        self.stopped.set()
        with suppress(OSError):
            self._listening.shutdown(socket.SHUT_RDWR)
        self._listening.close()
        self._thread.join()

    def drip(self, text: bytes = b"a") -> Iterator[bytes]:
        """A few bytes, again and again, each well before a silence would be noticed."""
        while not self.stopped.wait(SECONDS / 10):
            yield text

    def _serve(self) -> None:
        with suppress(OSError):
            while True:
                connection, _ = self._listening.accept()
                with closing(connection), suppress(OSError):
                    self._answer(connection)

    def _answer(self, connection: socket.socket) -> None:
        with connection.makefile("rb") as request:
            length = 0
            while line := request.readline().strip():
                if line.lower().startswith(b"content-length:"):
                    length = int(line.split(b":")[1])
            request.read(length)
        self.requests += 1
        for piece in self.deed(self):
            connection.sendall(piece)
            self.sent += len(piece)


HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: %s\r\n"
JSON, EVENTS = HEAD % b"application/json", HEAD % b"text/event-stream"
MEGABYTE = 1_000_000


def dripped_head(server: Hostile) -> Iterator[bytes]:
    yield JSON + b"X-Padding: "
    yield from server.drip()


def dripped_body(server: Hostile) -> Iterator[bytes]:
    yield JSON + b"Content-Length: 100000\r\n\r\n"
    yield from server.drip(b" ")


def endless_comments(server: Hostile) -> Iterator[bytes]:
    yield EVENTS + b"\r\n"
    yield from server.drip(b": still at it\n\n")


def endless_body(server: Hostile) -> Iterator[bytes]:
    yield JSON + b"\r\n"
    while True:
        yield b" " * MEGABYTE


def endless_head(server: Hostile) -> Iterator[bytes]:
    yield JSON + b"X-Padding: "
    while True:
        yield b"a" * MEGABYTE


def endless_bomb(server: Hostile) -> Iterator[bytes]:
    """A kilobyte that unpacks to a megabyte, again and again."""
    packer = zlib.compressobj(9, zlib.DEFLATED, zlib.MAX_WBITS + 16)
    yield JSON + b"Content-Encoding: gzip\r\n\r\n" + packer.compress(b" ") + packer.flush(zlib.Z_FULL_FLUSH)
    block = packer.compress(b" " * MEGABYTE) + packer.flush(zlib.Z_FULL_FLUSH)
    while True:
        yield block


def endless_words(server: Hostile) -> Iterator[bytes]:
    yield EVENTS + b"\r\n"
    while True:
        yield b"".join(event({"content": f" word{number}"}) for number in range(1000))


def event(delta: dict[str, str]) -> bytes:
    return b"data: %s\n\n" % json.dumps({"choices": [{"index": 0, "delta": delta}]}).encode()


# --- who asks


@contextmanager
def chatting(address: str, meter: Meter | None = None, **settings: object) -> Iterator[ChatModel]:
    settings = {"pauses": (), "timeout_seconds": PATIENT_SECONDS, **settings}
    model = ChatModel(f"{address}/v1", "m", meter or Meter(), **settings)  # type: ignore[arg-type]
    try:
        yield model
    finally:
        model.close()


def asking(name: str, ask: Callable[[ChatModel], object]) -> Call:
    def call(address: str, meter: Meter, seconds: float = PATIENT_SECONDS) -> object:
        with chatting(address, meter, timeout_seconds=seconds) as model:
            return ask(model)

    call.__name__ = name
    return call


chat = asking("chat", lambda model: model.complete("s", "u"))
stream = asking("stream", lambda model: model.stream("s", "u", lambda piece: None))
weigh = asking("weigh", lambda model: model.weigh("s", "u", ("yes", "no")))


def embed(address: str, meter: Meter, seconds: float = PATIENT_SECONDS) -> object:
    url = f"{address}/v1"
    encoder = EndpointEncoder("m", base_url=url, dimension=3, timeout_seconds=seconds, pauses=())
    return QuestionEncoder(encoder, url, meter, Exchanges()).encode(["a"])


def rank(address: str, meter: Meter, seconds: float = PATIENT_SECONDS) -> object:
    return EndpointCrossEncoder(f"{address}/rerank", meter, timeout_seconds=seconds)("q", ["a", "b"])


CALLS = [chat, stream, weigh, embed, rank]


@contextmanager
def quick() -> Iterator[None]:
    started = monotonic()
    yield
    assert monotonic() - started < BUSY_SECONDS


# --- time and size


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("deed", [dripped_head, dripped_body, endless_comments])
def test_an_answer_without_an_end_is_waited_for_no_longer_than_the_timeout(call: Call, deed: Deed) -> None:
    with Hostile(deed) as server, quick(), pytest.raises(ProviderError, match=r"no reply within|in time"):
        call(server.address, Meter(), SECONDS)
    assert server.requests <= 1  # a busy machine may not even come to read it


@pytest.mark.parametrize("call", CALLS)
def test_the_budget_of_a_question_ends_a_dripped_answer(call: Call) -> None:
    with Hostile(dripped_body) as server, quick(), pytest.raises((ProviderError, BudgetSpent)):
        call(server.address, Meter(max_seconds=2 * SECONDS))


@pytest.mark.parametrize("call", [chat, stream, weigh, rank])
def test_a_cancelled_question_ends_its_call_at_once(call: Call) -> None:
    meter = Meter()
    threading.Timer(SECONDS, meter.cancel).start()
    with Hostile(dripped_body) as server, quick(), pytest.raises((ProviderError, Cancelled)):
        call(server.address, meter, 2 * BUSY_SECONDS)


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("deed", [endless_body, endless_bomb, endless_head])
def test_an_answer_of_any_size_is_read_up_to_what_it_can_mean(call: Call, deed: Deed) -> None:
    with (
        Hostile(deed) as server,
        quick(),
        pytest.raises(ProviderError, match=r"larger than [\d,]+ bytes|cannot be reached"),
    ):
        call(server.address, Meter())
    assert server.sent < BUFFERED
    assert server.requests == 1


def test_a_stream_without_an_end_is_cut_where_its_tokens_end_and_counted_as_all_of_them() -> None:
    told: list[str] = []
    meter = Meter()
    with Hostile(endless_words) as server, quick(), chatting(server.address, meter, max_tokens=50) as model:
        reply = model.stream("s", "u", told.append)
    assert "".join(told) == reply
    assert most_characters(50) - 10 < len(reply) <= most_characters(50)
    assert meter.usage.completion_tokens == 50
    assert server.sent < BUFFERED


# --- where it goes


@pytest.mark.parametrize("status", [301, 302, 307, 308])
@pytest.mark.parametrize("call", CALLS)
def test_nothing_is_sent_where_a_redirect_leads(serve: Serve, call: Call, status: int) -> None:
    other, meter = serve("stolen"), Meter()
    place = f"http://me:s3cret@{other.host}/v1/chat/completions"
    with Hostile(lambda server: iter([_redirect(status, place)])) as server:
        with pytest.raises(ProviderError, match=rf"status {status}, which leads to http://{other.host}/") as raised:
            call(server.address, meter)
        assert meter.usage.hosts == (server.address.removeprefix("http://"),)
    assert "s3cret" not in str(raised.value)
    assert not raised.value.retryable
    assert other.requests == []


def _redirect(status: int, location: str) -> bytes:
    return f"HTTP/1.1 {status} Elsewhere\r\nLocation: {location}\r\nContent-Length: 0\r\n\r\n".encode()


@pytest.mark.parametrize("call", CALLS)
def test_it_is_reached_through_the_proxy_of_the_environment(call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    with Hostile(lambda server: iter([b"HTTP/1.1 401 Who?\r\nContent-Length: 0\r\n\r\n"])) as proxy:
        for address in (proxy.address, proxy.address.removeprefix("http://")):
            monkeypatch.setenv("http_proxy", address)
            with pytest.raises(ProviderError, match="status 401"):
                call("http://model.invalid", Meter())


# --- what it says


def body(**more: object) -> str:
    usual: dict[str, object] = {"choices": [{"message": {"content": "Twelve."}, "finish_reason": "stop"}]}
    return json.dumps({**usual, **more})


DEEP = "[" * 100_000
NO_REPLIES: Sequence[str | bytes] = [
    *(DEEP, DEEP + "]" * 100_000, '{"choices": [{"message": {"content": ' + "[" * 900 + "]" * 900 + "}}]}"),
    *(b'{"choices": [{"message": {"content": "\xff\xfe"}}]}', b"\xff\xfe\x00", "Infinity", "9" * 5_000, '"Twelve."'),
    *(body(choices=7), body(choices="abc"), body(choices={"0": 1}), body(choices=[[]])),
    *(body(choices=[{"message": "Twelve."}]), body(choices=[{"message": {"content": {"text": "Twelve."}}}])),
]


@pytest.mark.parametrize("said", NO_REPLIES, ids=lambda said: str(said[:40]))
@pytest.mark.parametrize("call", [chat, stream, embed, rank])
def test_what_is_no_reply_is_an_error_in_words(serve: Serve, call: Call, said: str | bytes) -> None:
    sent = said if isinstance(said, bytes) else said.encode()
    reply = JSON + b"Content-Length: %d\r\n\r\n" % len(sent) + sent
    if call is stream:
        reply = EVENTS + b"\r\ndata: " + sent + b"\n\ndata: [DONE]\n\n"
    with Hostile(lambda server: iter([reply])) as server, quick(), pytest.raises(ProviderError, match="answered with"):
        call(server.address, Meter())


NO_NUMBERS = ["Infinity", "NaN", "1" + "0" * 400, "true", '"0.5"', "null", "[]", DEEP]


@pytest.mark.parametrize("value", NO_NUMBERS, ids=lambda value: value[:20])
@pytest.mark.parametrize("call", [weigh, embed, rank])
def test_what_is_no_number_is_an_error_in_words(call: Call, value: str) -> None:
    sent = {
        weigh: '{"choices": [{"logprobs": {"content": [{"top_logprobs": [{"token": "yes", "logprob": %s}]}]}}]}',
        embed: '{"data": [{"index": 0, "embedding": [%s, 1, 1]}]}',
        rank: '{"results": [{"index": 0, "relevance_score": %s}, {"index": 1, "relevance_score": 0}]}',
    }[call] % value
    reply = JSON + b"Content-Length: %d\r\n\r\n" % len(sent) + sent.encode()
    with Hostile(lambda server: iter([reply])) as server, pytest.raises(ProviderError, match="answered with"):
        call(server.address, Meter())


@pytest.mark.parametrize("charset", ["punycode", "hex", "nonsense"])
def test_the_character_set_a_server_names_does_not_matter(charset: str) -> None:
    refusal = b'{"error": {"message": "' + b"a-" * 50_000 + b'"}}'
    head = f"HTTP/1.1 400 No\r\nContent-Type: application/json; charset={charset}\r\n"
    head += f"Content-Length: {len(refusal)}\r\n\r\n"
    told = pytest.raises(ProviderError, match="status 400: a-a-")
    with Hostile(lambda server: iter([head.encode() + refusal])) as server, quick(), told:
        chat(server.address, Meter())


# --- what it says that it cost


STATED: list[tuple[object, int, int]] = [
    ({"prompt_tokens": -1_000_000, "completion_tokens": -5}, 1_002, 30),
    ({"prompt_tokens": [1], "completion_tokens": "many"}, 0, 0),
    ({"prompt_tokens": 3.0, "completion_tokens": 2}, 3, 2),
    ({"prompt_tokens": 10**400, "completion_tokens": float("inf")}, 1_002, 30),
    ("a lot", 0, 0),
]


@pytest.mark.parametrize(("told", "prompt", "completion"), STATED, ids=str)
@pytest.mark.parametrize("streamed", [False, True])
def test_usage_is_no_less_than_nothing_and_no_more_than_it_can_be(
    serve: Serve, told: object, prompt: int, completion: int, streamed: bool
) -> None:
    whole = body(usage=told)
    server = serve(
        Reply(body=f"data: {whole}\n\ndata: [DONE]\n\n", headers={"Content-Type": "text/event-stream"})
        if streamed
        else Reply(body=whole)
    )
    meter = Meter()
    with chatting(server.address, meter, max_tokens=10, thinking_tokens=20) as model:
        assert (model.stream("s", "u", lambda piece: None) if streamed else model.complete("s", "u")) == "Twelve."
    assert (meter.usage.prompt_tokens, meter.usage.completion_tokens) == (prompt, completion)


# --- its text


TEXTS = [
    ("Twelve\t" + "\t" * 300_000 + "[1].", "Twelve" + "\t" * 8 + "[1]."),
    ("One.\n" + "\n" * 9 + "Two.", "One.\n\nTwo."),
    ("\t" * 1_000 + "Twelve.", "Twelve."),
    ("Half \ude00\ud83d", "Half \ufffd\ufffd"),
]


@pytest.mark.parametrize("streamed", [False, True])
@pytest.mark.parametrize(("said", "reply"), TEXTS, ids=lambda text: repr(text[:9]))
def test_the_text_of_a_reply_is_made_harmless(serve: Serve, said: str, reply: str, streamed: bool) -> None:
    pieces = [said[at : at + 5_000] for at in range(0, len(said), 5_000)]
    sent = b"".join(event({"content": piece}) for piece in pieces) + b"data: [DONE]\n\n"
    server = serve(
        Reply(body=sent, headers={"Content-Type": "text/event-stream"})
        if streamed
        else Reply(body=body(choices=[{"message": {"content": said}}]))
    )
    told: list[str] = []
    with chatting(server.address) as model, quick():
        came = model.stream("s", "u", told.append) if streamed else model.complete("s", "u")
    assert came == reply
    assert not streamed or "".join(told) == reply
    came.encode()
