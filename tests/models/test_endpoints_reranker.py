"""Cross-encoders: an endpoint of Cohere's form on the loopback address, and a folder that holds no model."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from thresher.errors import BudgetSpent, ModelError, ProviderError
from thresher.models.endpoints import EndpointCrossEncoder
from thresher.models.fastembed_models import FastembedCrossEncoder
from thresher.models.usage import Meter
from thresher.types import LOGIT, UNIT, Score
from thresher_testing.llm_server import Reply, ScriptedServer

Serve = Callable[..., ScriptedServer]


def ranking(*pairs: tuple[int, float]) -> Reply:
    return Reply(body=json.dumps({"results": [{"index": at, "relevance_score": score} for at, score in pairs]}))


def test_scores_stand_in_the_order_of_the_texts_whatever_the_order_of_the_reply(serve: Serve) -> None:
    server = serve(rerank=[ranking((2, 0.9), (0, 0.5), (1, 0.1))])
    scores = EndpointCrossEncoder(server.rerank_url, Meter())("q", ["a", "b", "c"])
    assert scores == [Score(0.5, UNIT), Score(0.1, UNIT), Score(0.9, UNIT)]


def test_the_request_has_coheres_form(serve: Serve) -> None:
    server = serve()
    meter = Meter()
    EndpointCrossEncoder(server.rerank_url, meter, model="r", api_key="k3y")("red", ["red", "blue"])
    (request,) = server.requests
    assert request.body == {"model": "r", "query": "red", "documents": ["red", "blue"], "top_n": 2}
    assert request.headers["authorization"] == "Bearer k3y"
    assert meter.usage.hosts == (server.host,)
    assert meter.usage.llm_calls == 0


def test_scores_beyond_zero_to_one_are_called_logits(serve: Serve) -> None:
    server = serve(rerank=[ranking((0, -4.5), (1, 3.25))])
    assert EndpointCrossEncoder(server.rerank_url, Meter())("q", ["a", "b"]) == [Score(-4.5, LOGIT), Score(3.25, LOGIT)]


@pytest.mark.parametrize(
    "reply",
    [
        ranking((0, 0.5)),
        ranking((0, 0.5), (0, 0.5)),
        ranking((0, 0.5), (2, 0.5)),
        ranking((0, 0.5), (1, 0.5), (2, 0.1)),
        ranking((0, float("nan")), (1, 0.5)),
        Reply(body="{}"),
        Reply(body="[]"),
        Reply(body="oops"),
        Reply(body='{"results": [{"index": "x", "relevance_score": 1}, {}]}'),
    ],
    ids=str,
)
def test_a_ranking_that_is_not_of_all_texts_is_refused(serve: Serve, reply: Reply) -> None:
    server = serve(rerank=[reply])
    with pytest.raises(ProviderError, match="not a ranking of all texts"):
        EndpointCrossEncoder(server.rerank_url, Meter())("q", ["a", "b"])


@pytest.mark.parametrize(("status", "retryable"), [(429, True), (500, True), (401, False), (404, False)])
def test_an_error_status_says_whether_trying_again_can_help(serve: Serve, status: int, retryable: bool) -> None:
    server = serve(rerank=[Reply(status=status)])
    with pytest.raises(ProviderError, match=f"status {status}") as caught:
        EndpointCrossEncoder(server.rerank_url, Meter())("q", ["a"])
    assert caught.value.retryable is retryable


@pytest.mark.parametrize(
    ("reply", "what"),
    [(Reply(dropped=True), "cannot be reached"), (Reply(seconds=60), "no reply within")],
)
def test_a_server_that_does_not_answer_is_told_apart(serve: Serve, reply: Reply, what: str) -> None:
    server = serve(rerank=[reply])
    with pytest.raises(ProviderError, match=what):
        EndpointCrossEncoder(server.rerank_url, Meter(), timeout_seconds=0.2)("q", ["a"])


def test_no_texts_are_not_sent(serve: Serve) -> None:
    server = serve()
    assert EndpointCrossEncoder(server.rerank_url, Meter())("q", []) == []
    assert server.requests == []


def test_spent_seconds_send_nothing(serve: Serve) -> None:
    server = serve()
    with pytest.raises(BudgetSpent):
        EndpointCrossEncoder(server.rerank_url, Meter(max_seconds=0))("q", ["a"])
    assert server.requests == []


def test_a_folder_without_a_model_is_an_error_that_says_what_belongs_there(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match=r"give a folder with onnx/model\.onnx"):
        FastembedCrossEncoder(str(tmp_path))("q", ["a"])
