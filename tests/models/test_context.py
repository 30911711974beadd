"""What servers tell of how much their models read."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from thresher.models.transport import Server, context_tokens
from thresher_testing.llm_server import Reply, ScriptedServer
from thresher_testing.real_model import RealModel


def listing(*models: dict[str, Any]) -> Reply:
    return Reply(json.dumps({"object": "list", "data": list(models)}))


def length(server: ScriptedServer, model: str = "m") -> int | None:
    return context_tokens(Server(server.base_url), server.base_url, model)


ENTRIES = [
    ({"meta": {"n_ctx": 8192, "n_ctx_train": 131072}}, 8192),
    ({"max_model_len": 4096}, 4096),
    ({"max_context_length": 131072, "loaded_context_length": 4096}, 4096),
    ({"context_length": "many"}, None),
    ({"id": "/models/another.gguf", "meta": {"n_ctx": 4096}}, 4096),
]


@pytest.mark.parametrize(("entry", "tokens"), ENTRIES, ids=str)
def test_the_length_is_read_in_the_words_of_each_server(
    serve: Callable[..., ScriptedServer], entry: dict[str, Any], tokens: int | None
) -> None:
    assert length(serve(pages={"/v1/models": listing({"id": "m", **entry})})) == tokens


def test_of_several_models_only_the_named_one_counts(serve: Callable[..., ScriptedServer]) -> None:
    server = serve(
        pages={"/v1/models": listing({"id": "a", "max_model_len": 1024}, {"id": "b", "max_model_len": 2048})}
    )
    assert [length(server, model) for model in ("b", "m")] == [2048, None]


@pytest.mark.parametrize("reply", [Reply(status=401), Reply("no list"), Reply("[]"), Reply('{"data": 7}')], ids=str)
def test_a_server_that_does_not_tell_is_asked_once(serve: Callable[..., ScriptedServer], reply: Reply) -> None:
    server = serve(pages={"/v1/models": reply})
    assert [length(server) for _ in range(2)] == [None, None]
    assert len(server.requests) == 1


def test_a_server_that_a_cancelled_question_left_is_asked_again(serve: Callable[..., ScriptedServer]) -> None:
    server = serve(pages={"/v1/models": listing({"id": "m", "max_model_len": 4096})})
    left = Server(server.base_url)
    left.end()
    assert context_tokens(left, server.base_url, "m") is None
    assert length(server) == 4096


def test_a_real_server_tells_its_context(real_model: RealModel) -> None:
    assert (
        context_tokens(Server(real_model.base_url), real_model.base_url, real_model.model) == real_model.context_tokens
    )
