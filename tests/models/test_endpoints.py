"""The endpoint encoder against a real server on this machine's loopback address."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import numpy as np
import pytest

from thresher.errors import ProviderError
from thresher.models.endpoints import BATCH_TEXTS, EndpointEncoder


@dataclass
class Server:
    """What the loopback server answers, and what it was asked."""

    port: int
    status: int = 200
    body: str | None = None
    width: int = 3
    requests: list[dict[str, Any]] = field(default_factory=list)

    @property
    def url(self) -> str:
        """What a user would give as base URL."""
        return f"http://127.0.0.1:{self.port}/v1"

    def reply(self, texts: list[str]) -> str:
        """Rows in reverse order, each pointing to the length of its text."""
        if self.body is not None:
            return self.body
        rows = [
            {"object": "embedding", "index": index, "embedding": [float(len(text)), 1.0, 2.0, 3.0][: self.width]}
            for index, text in enumerate(texts)
        ]
        return json.dumps({"object": "list", "model": "m", "data": rows[::-1], "usage": {}})

    def encoder(self) -> EndpointEncoder:
        return EndpointEncoder("some-model", base_url=self.url, dimension=3, api_key="secret", max_retries=0)


@pytest.fixture
def server() -> Iterator[Server]:
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            state.requests.append({**asked, "path": self.path, "key": self.headers["Authorization"]})
            body = state.reply(asked["input"]).encode()
            self.send_response(state.status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:
            pass

    listening = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    state = Server(listening.server_address[1])
    thread = threading.Thread(
        target=listening.serve_forever, args=(0.01,), daemon=True
    )  # polls every 10 ms to stop soon
    thread.start()
    yield state
    listening.shutdown()
    listening.server_close()
    thread.join()


def test_rows_are_put_back_in_order_and_scaled_to_unit_length(server: Server) -> None:
    vectors = server.encoder().encode(["a", "bbbb"])
    expected = np.array([[1, 1, 2], [4, 1, 2]], np.float32)
    np.testing.assert_allclose(vectors, expected / np.linalg.norm(expected, axis=1, keepdims=True), rtol=1e-6)
    assert vectors.dtype == np.float32


def test_a_query_is_asked_with_the_model_and_the_key(server: Server) -> None:
    vector = server.encoder().encode_query("why?")
    assert vector.shape == (3,)
    (request,) = server.requests
    assert request["path"] == "/v1/embeddings"
    assert (request["model"], request["input"], request["key"]) == ("some-model", ["why?"], "Bearer secret")


def test_many_texts_are_asked_in_batches_and_progress_sums_to_them(server: Server) -> None:
    finished: list[int] = []
    texts = ["x" * (1 + number % 7) for number in range(BATCH_TEXTS + 5)]
    vectors = server.encoder().encode(texts, progress=finished.append)
    assert vectors.shape == (len(texts), 3)
    assert [len(request["input"]) for request in server.requests] == [BATCH_TEXTS, 5]
    assert sum(finished) == len(texts)


def test_the_empty_text_is_asked_as_a_space(server: Server) -> None:
    assert server.encoder().encode([""]).shape == (1, 3)
    assert server.requests[0]["input"] == [" "]


def test_half_a_surrogate_pair_is_sent_as_a_question_mark(server: Server) -> None:
    server.encoder().encode(["a\ud800"])
    assert server.requests[0]["input"] == ["a?"]


def test_nothing_is_asked_for_no_texts(server: Server) -> None:
    assert server.encoder().encode([]).shape == (0, 3)
    assert server.requests == []


@pytest.mark.parametrize(("status", "retryable"), [(500, True), (503, True), (429, True), (401, False), (404, False)])
def test_an_error_status_says_whether_trying_again_can_help(server: Server, status: int, retryable: bool) -> None:
    server.status, server.body = status, '{"error": {"message": "no"}}'
    with pytest.raises(ProviderError, match=f"answered with status {status}") as raised:
        server.encoder().encode(["a"])
    assert raised.value.retryable is retryable


@pytest.mark.parametrize(
    "body",
    [
        "{",
        "[]",
        "null",
        "{}",
        '{"data": null}',
        '{"data": []}',
        '{"data": [{"index": 0}]}',
        '{"data": [{"index": 0, "embedding": null}]}',
        '{"data": [{"index": 0, "embedding": ["a", "b", "c"]}]}',
        '{"data": [{"index": 5, "embedding": [1, 2, 3]}]}',
        "<html>a proxy's page</html>",
    ],
)
def test_a_malformed_reply_is_a_provider_error(server: Server, body: str) -> None:
    server.body = body
    with pytest.raises(ProviderError, match="answered with"):
        server.encoder().encode(["a"])


def test_a_reply_with_too_few_vectors_is_refused(server: Server) -> None:
    server.body = '{"data": [{"index": 0, "embedding": [1, 2, 3]}]}'
    with pytest.raises(ProviderError, match="1 vectors for 2 texts"):
        server.encoder().encode(["a", "b"])


@pytest.mark.parametrize("width", [2, 4])
def test_a_wrong_dimension_is_refused_and_named(server: Server, width: int) -> None:
    server.width = width
    with pytest.raises(ProviderError, match=f"vectors of {width} numbers, expected 3") as raised:
        server.encoder().warm_up()
    assert not raised.value.retryable


@pytest.mark.parametrize("values", ["0, 0, 0", "1e300, 1, 1"])
def test_a_vector_without_direction_is_refused(server: Server, values: str) -> None:
    server.body = f'{{"data": [{{"index": 0, "embedding": [{values}]}}]}}'
    with pytest.raises(ProviderError, match="no direction"):
        server.encoder().encode(["a"])


def test_a_server_that_is_not_there_cannot_be_reached() -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        port = unused.getsockname()[1]
    encoder = EndpointEncoder("m", base_url=f"http://127.0.0.1:{port}/v1", dimension=3, max_retries=0)
    with pytest.raises(ProviderError, match="cannot be reached") as raised:
        encoder.encode(["a"])
    assert raised.value.retryable


def test_the_first_reply_decides_a_dimension_that_was_not_told(server: Server) -> None:
    encoder = EndpointEncoder("some-model", base_url=server.url, max_retries=0)
    assert encoder.dimension == 3
    server.width = 2
    with pytest.raises(ProviderError, match="vectors of 2 numbers, expected 3"):
        encoder.encode(["a"])


def test_rows_of_different_length_are_refused(server: Server) -> None:
    server.body = '{"data": [{"index": 0, "embedding": [1, 2]}, {"index": 1, "embedding": [1]}]}'
    with pytest.raises(ProviderError, match="vectors of 1 numbers, expected 2"):
        EndpointEncoder("some-model", base_url=server.url, max_retries=0).encode(["a", "b"])


def test_the_name_is_model_and_server(server: Server) -> None:
    encoder = server.encoder()
    assert encoder.name == f"some-model at http://127.0.0.1:{server.port}/v1"
    assert (encoder.dimension, encoder.max_tokens) == (3, 512)
