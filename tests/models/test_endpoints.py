"""Encoders and cross-encoders behind an address, against servers on this machine's loopback address."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from thresher.errors import BudgetSpent, NotRecorded, ProviderError
from thresher.models.endpoints import BATCH_TEXTS, EndpointCrossEncoder, EndpointEncoder, QuestionEncoder
from thresher.models.usage import Exchanges, Meter
from thresher.testing.fakes import HashEncoder
from thresher.types import LOGIT, UNIT, Score
from thresher_testing.llm_server import Reply, ScriptedServer

Serve = Callable[..., ScriptedServer]

TEXTS = ["one red light", "two"]


def vectors(*rows: list[float]) -> str:
    """A reply, the last row first."""
    return json.dumps({"data": [{"index": at, "embedding": row} for at, row in enumerate(rows)][::-1]})


def pointing(body: Any) -> str:
    """A vector of three numbers for each text, which points to its length."""
    return vectors(*[[float(len(text)), 1.0, 2.0] for text in body["input"]])


def embedding(serve: Serve, reply: Any = pointing) -> ScriptedServer:
    return serve(posts={"/v2/embeddings": reply})


def encoder(server: ScriptedServer, **settings: Any) -> EndpointEncoder:
    given: dict[str, Any] = {"dimension": 3, "api_key": "secret", "pauses": (), **settings}
    return EndpointEncoder("some-model", base_url=f"{server.address}/v2", **given)


def test_rows_are_put_back_in_order_and_scaled_to_unit_length(serve: Serve) -> None:
    found = encoder(embedding(serve)).encode(["a", "bbbb"])
    expected = np.array([[1, 1, 2], [4, 1, 2]], np.float32)
    np.testing.assert_allclose(found, expected / np.linalg.norm(expected, axis=1, keepdims=True), rtol=1e-6)
    assert found.dtype == np.float32


def test_the_server_is_sent_the_model_the_key_and_texts_that_it_takes(serve: Serve) -> None:
    server = embedding(serve)
    asking = encoder(server)
    assert asking.encode_query("why?").shape == (3,)
    assert asking.encode(["", "a\ud800"]).shape == (2, 3)
    assert asking.encode([]).shape == (0, 3)
    first, second = server.requests
    assert (first.body["model"], first.body["input"], first.headers["authorization"]) == (
        "some-model",
        ["why?"],
        "Bearer secret",
    )
    assert second.body["input"] == [" ", "a?"]
    assert asking.name == f"some-model at {server.address}/v2"
    assert (asking.dimension, asking.max_tokens) == (3, 512)


def test_many_texts_are_asked_in_batches_and_progress_sums_to_them(serve: Serve) -> None:
    server, finished = embedding(serve), list[int]()
    texts = ["x" * (1 + number % 7) for number in range(BATCH_TEXTS + 5)]
    assert encoder(server).encode(texts, progress=finished.append).shape == (len(texts), 3)
    assert [len(request.body["input"]) for request in server.requests] == finished == [BATCH_TEXTS, 5]


@pytest.mark.parametrize("status", [500, 429, 401, 404])
def test_an_error_status_says_whether_trying_again_can_help(serve: Serve, status: int) -> None:
    server = serve(posts={"/v2/embeddings": Reply(status=status)}, rerank=[Reply(status=status)])
    ranking = EndpointCrossEncoder(server.rerank_url, Meter())
    for call in (lambda: encoder(server).encode(["a"]), lambda: ranking("q", ["a"])):
        with pytest.raises(ProviderError, match=f"answered with status {status}") as raised:
            call()
        assert raised.value.retryable is (status in (500, 429))


@pytest.mark.parametrize(
    ("body", "what"),
    [
        *((body, "answered with") for body in ("{", "[]", "null", "{}", '{"data": []}', "<html>a proxy's page</html>")),
        ('{"data": [{"index": 0, "embedding": null}, {"index": 1}]}', "not a list of embeddings"),
        ('{"data": [{"index": 0, "embedding": ["a", "b", "c"]}]}', "not a list of embeddings"),
        ('{"data": [{"index": 5, "embedding": [1, 2, 3]}]}', "1 vectors for 2 texts"),
        (vectors([1, 2], [1, 2]), "vectors of 2 numbers, expected 3"),
        (vectors([1, 2, 3], [1, 2, 3, 4]), "vectors of 4 numbers, expected 3"),
        (vectors([1, 1, 1], [0, 0, 0]), "no direction"),
        (vectors([1, 1, 1], [1e300, 1, 1]), "no direction"),
    ],
)
def test_vectors_of_another_form_are_refused(serve: Serve, body: str, what: str) -> None:
    with pytest.raises(ProviderError, match=what):
        encoder(embedding(serve, body)).encode(["a", "b"])


def test_the_first_reply_decides_a_dimension_that_was_not_given(serve: Serve) -> None:
    replies = [vectors([1, 2]), vectors([1, 2, 3])]
    asking = encoder(embedding(serve, lambda body: replies.pop(0)), dimension=None)
    assert asking.dimension == 2
    with pytest.raises(ProviderError, match="vectors of 3 numbers, expected 2"):
        asking.encode(["a"])


def test_a_server_that_restarts_is_asked_again_as_long_as_the_budget_lasts(serve: Serve) -> None:
    answers: list[str | Reply] = [Reply(status=503), vectors([3, 4, 0])]
    found = encoder(embedding(serve, lambda body: answers.pop(0)), pauses=(0.1, 0.2)).encode_query("a")
    assert found.tolist() == pytest.approx([0.6, 0.8, 0])
    down = embedding(serve, Reply(status=503))
    asking = QuestionEncoder(encoder(down, pauses=(0.5,)), down.address, Meter(max_seconds=0.8), Exchanges())
    with pytest.raises((ProviderError, BudgetSpent)):
        asking.encode(["a"])
    assert len(down.requests) == 1


# --- during a question ------------------------------------------------------------------------------------------------


def recorded(exchanges: Exchanges, meter: Meter | None = None) -> QuestionEncoder:
    return QuestionEncoder(HashEncoder(), "http://here:1/v1", meter or Meter(), exchanges)


def test_vectors_are_the_encoders_own_and_played_back_with_the_host(monkeypatch: pytest.MonkeyPatch) -> None:
    first, meter, again = Exchanges(), Meter(), Meter()
    recording = recorded(first, meter)
    assert recording.encode([]).shape == (0, 64)
    assert (meter.usage.hosts, first.stored()) == ((), {})
    rows, query = recording.encode(TEXTS), recording.encode_query("red")
    assert np.array_equal(rows, HashEncoder().encode(TEXTS))
    assert (recording.name, recording.dimension, recording.max_tokens) == ("hash-64", 64, 1_000_000)
    playing = recorded(Exchanges(first.stored()), again)
    monkeypatch.setattr(HashEncoder, "encode", None)
    monkeypatch.setattr(HashEncoder, "encode_query", None)
    assert np.array_equal(playing.encode(TEXTS), rows)
    assert np.array_equal(playing.encode_query("red"), query)
    assert again.usage.hosts == meter.usage.hosts == ("here:1",)
    with pytest.raises(NotRecorded):
        playing.encode(TEXTS[:1])


# --- rankings ---------------------------------------------------------------------------------------------------------


def ranking(*pairs: tuple[int, float]) -> Reply:
    return Reply(body=json.dumps({"results": [{"index": at, "relevance_score": score} for at, score in pairs]}))


@pytest.mark.parametrize(
    ("reply", "scores"),
    [
        (ranking((2, 0.9), (0, 0.5), (1, 0.1)), [Score(0.5, UNIT), Score(0.1, UNIT), Score(0.9, UNIT)]),
        (ranking((0, -4.5), (1, 3.25), (2, 0.5)), [Score(-4.5, LOGIT), Score(3.25, LOGIT), Score(0.5, LOGIT)]),
    ],
)
def test_scores_stand_in_the_order_of_the_texts_and_beyond_zero_to_one_are_logits(
    serve: Serve, reply: Reply, scores: list[Score]
) -> None:
    assert EndpointCrossEncoder(serve(rerank=[reply]).rerank_url, Meter())("q", ["a", "b", "c"]) == scores


def test_the_request_has_coheres_form_and_nothing_is_sent_without_texts_or_time(serve: Serve) -> None:
    server, meter = serve(), Meter()
    asking = EndpointCrossEncoder(server.rerank_url, meter, model="r", api_key="k3y")
    asking("red", ["red", "blue"])
    assert asking("red", []) == []
    with pytest.raises(BudgetSpent):
        EndpointCrossEncoder(server.rerank_url, Meter(max_seconds=0))("q", ["a"])
    (request,) = server.requests
    assert request.body == {"model": "r", "query": "red", "documents": ["red", "blue"], "top_n": 2}
    assert request.headers["authorization"] == "Bearer k3y"
    assert (meter.usage.hosts, meter.usage.llm_calls) == ((server.host,), 0)


@pytest.mark.parametrize(
    ("reply", "what"),
    [
        *((ranking(*pairs), "not a ranking of all texts") for pairs in ([(0, 0.5)], [(0, 0.5), (0, 0.5)])),
        (ranking((0, 0.5), (1, 0.5), (2, 0.1)), "not a ranking of all texts"),
        (ranking((0, float("nan")), (1, 0.5)), "not a ranking of all texts"),
        *((Reply(body=body), "not a ranking of all texts") for body in ("{}", "[]", "oops", '{"results": [{}]}')),
        (Reply(dropped=True), "cannot be reached"),
        (Reply(seconds=60), "no reply within"),
    ],
    ids=str,
)
def test_what_is_no_ranking_of_all_texts_is_an_error_in_words(serve: Serve, reply: Reply, what: str) -> None:
    with pytest.raises(ProviderError, match=what):
        EndpointCrossEncoder(serve(rerank=[reply]).rerank_url, Meter(), timeout_seconds=0.3)("q", ["a", "b"])


@pytest.mark.parametrize("reply", [ranking((1, 2.5), (0, -3.25)), Reply(status=500)], ids=["scores", "failure"])
def test_a_ranking_is_played_back_with_its_scale_and_costs_the_same(serve: Serve, reply: Reply) -> None:
    server, first, meter, again = serve(rerank=[reply]), Exchanges(), Meter(), Meter()

    def outcome(asking: EndpointCrossEncoder) -> object:
        try:
            return asking("red", TEXTS)
        except ProviderError as error:
            return str(error)

    found = outcome(EndpointCrossEncoder(server.rerank_url, meter, exchanges=first))
    played = Exchanges(first.stored())
    assert outcome(EndpointCrossEncoder(server.rerank_url, again, exchanges=played)) == found
    assert (len(server.requests), again.usage) == (1, meter.usage)
