"""What servers tell of how much their models read."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from thresher.errors import TooLong
from thresher.models.chat import ChatModel, refused_context
from thresher.models.usage import Exchanges, Meter
from thresher_testing.llm_server import Reply, ScriptedServer
from thresher_testing.real_model import RealModel

Serve = Callable[..., ScriptedServer]


def listing(*models: dict[str, Any]) -> Reply:
    return Reply(json.dumps({"object": "list", "data": list(models)}))


def length(server: ScriptedServer, model: str = "m", meter: Meter | None = None) -> int | None:
    return ChatModel(server.base_url, model, meter or Meter()).context_tokens


ENTRIES = [
    ({"meta": {"n_ctx": 8192, "n_ctx_train": 131072}}, 8192),
    ({"max_model_len": 4096}, 4096),
    ({"max_context_length": 131072, "loaded_context_length": 4096}, 4096),
    ({"context_length": "many"}, None),
    ({"id": "/models/another.gguf", "meta": {"n_ctx": 4096}}, 4096),
]


@pytest.mark.parametrize(("entry", "tokens"), ENTRIES, ids=str)
def test_the_length_is_read_in_the_words_of_each_server(
    serve: Serve, entry: dict[str, Any], tokens: int | None
) -> None:
    assert length(serve(pages={"/v1/models": listing({"id": "m", **entry})})) == tokens


def test_an_older_llama_cpp_tells_it_elsewhere(serve: Serve) -> None:
    props = json.dumps({"default_generation_settings": {"n_ctx": 4096}})
    models = listing({"id": "m", "meta": {"n_ctx_train": 131072}})
    assert length(serve(pages={"/v1/models": models, "/props": props})) == 4096


def test_of_several_models_only_the_named_one_counts(serve: Serve) -> None:
    server = serve(
        pages={"/v1/models": listing({"id": "a", "max_model_len": 1024}, {"id": "b", "max_model_len": 2048})}
    )
    assert [length(server, model) for model in ("b", "m")] == [2048, None]


@pytest.mark.parametrize("reply", [Reply(status=401), Reply("no list"), Reply("[]"), Reply('{"data": 7}')], ids=str)
def test_a_server_that_does_not_tell_is_asked_once(serve: Serve, reply: Reply) -> None:
    server = serve(pages={"/v1/models": reply})
    assert [length(server) for _ in range(2)] == [None, None]
    assert len(server.requests) == 1


def test_a_server_that_still_loads_its_model_is_asked_again(serve: Serve) -> None:
    pages = {"/v1/models": Reply(status=503)}
    server = serve(pages=pages)
    assert length(server) is None
    pages["/v1/models"] = listing({"id": "m", "max_model_len": 4096})
    assert length(server) == 4096


def test_a_server_that_a_cancelled_question_left_is_asked_again(serve: Serve) -> None:
    server, cancelled = serve(pages={"/v1/models": listing({"id": "m", "max_model_len": 4096})}), Meter()
    cancelled.cancel()
    assert length(server, meter=cancelled) is None
    assert length(server) == 4096


def test_a_question_that_is_cancelled_while_the_server_is_asked_hides_nothing(serve: Serve) -> None:
    meter = Meter()

    def cancelling(_: Any) -> Reply:
        meter.cancel()
        return Reply(listing({"id": "m", "max_model_len": 4096}).text, seconds=0.2)

    server = serve(pages={"/v1/models": cancelling})
    assert length(server, meter=meter) is None
    assert length(server) == 4096


def test_it_is_part_of_a_questions_record(serve: Serve) -> None:
    server = serve(pages={"/v1/models": listing({"id": "m", "max_model_len": 4096})})
    record = Exchanges()
    assert ChatModel(server.base_url, "m", Meter(), exchanges=record).context_tokens == 4096
    played, meter = Exchanges(record.stored()), Meter()
    assert ChatModel("http://127.0.0.1:9/v1", "m", meter, exchanges=played).context_tokens == 4096
    assert meter.usage.hosts == (server.host,)


REFUSALS = [
    ("This model's maximum context length is 8192 tokens. However, you requested 9031 tokens.", 8192),
    ("request (9031 tokens) exceeds the available context size (8192 tokens), try increasing it", 8192),
    ("Trying to keep the first 9031 tokens when the model is loaded with context length of only 4096 tokens", 4096),
    ("prompt is too long: 9031 tokens > 8192 maximum", 8192),
    ("prompt too long; exceeded context length by 1024 tokens", None),
    ("Please reduce the length of the messages: they fill the context window.", None),
    ('litellm.BadRequestError: {"type": "exceed_context_size_error", "n_prompt_tokens": 9031, "n_ctx": 8192}', 8192),
    ({"message": "the request exceeds the available context size.", "n_prompt_tokens": 9031, "n_ctx": 8192}, 8192),
]


@pytest.mark.parametrize(("refusal", "tokens"), REFUSALS, ids=str)
def test_a_refusal_for_length_is_one_and_states_the_length(serve: Serve, refusal: Any, tokens: int | None) -> None:
    body = {"error": refusal if isinstance(refusal, dict) else {"message": refusal}}
    assert refused_context(body) == tokens
    server = serve(Reply(status=400, body=json.dumps(body)))
    with pytest.raises(TooLong):
        ChatModel(server.base_url, "m", Meter()).complete("s", "u")
    assert length(server) == tokens
    assert len(server.asked()) == 1


def test_a_limit_of_tokens_per_minute_is_none_of_length(serve: Serve) -> None:
    server = serve(Reply(status=429, body='{"error": {"message": "too many tokens per minute"}}'), "yes")
    assert ChatModel(server.base_url, "m", Meter(), pauses=(0,)).complete("s", "u") == "yes"


def test_a_real_server_tells_its_context(real_model: RealModel) -> None:
    assert ChatModel(real_model.base_url, real_model.model, Meter()).context_tokens == real_model.context_tokens
