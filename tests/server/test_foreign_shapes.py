"""Requests in the shapes of other APIs: clients send null for what they leave out."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from fastapi.routing import APIRoute

from tests.server.conftest import Running
from thresher_server.openai import chat, conversation, responses
from thresher_server.routes import check, dify, embeddings, open_webui, rerank, vector_stores
from thresher_server.shapes import Foreign

LEAST: dict[type[Foreign], dict[str, Any]] = {
    conversation.Part: {"type": "text"},
    conversation.Message: {"role": "user"},
    chat.ChatRequest: {"messages": [{"role": "user", "content": "When?"}]},
    responses.Item: {},
    responses.ResponseRequest: {"input": "When?"},
    embeddings.EmbeddingsRequest: {"input": "When?"},
    rerank.RelevantSpans: {},
    rerank.RerankRequest: {"query": "When?"},
    dify.Condition: {"name": "kind", "comparison_operator": "empty"},
    dify.MetadataCondition: {},
    dify.RetrievalSetting: {},
    dify.Retrieval: {"knowledge_id": "default", "query": "When?"},
    vector_stores.ComparisonFilter: {"type": "eq", "key": "kind", "value": "pdf"},
    vector_stores.CompoundFilter: {"type": "and", "filters": [{"type": "eq", "key": "kind", "value": "pdf"}]},
    vector_stores.RankingOptions: {},
    vector_stores.VectorStoreSearch: {"query": "When?"},
    open_webui.WebSearch: {"query": "When?"},
    check.Fact: {"fact_text": "Now."},
    check.GroundingSpec: {},
    check.CheckRequest: {"answer_candidate": "Now."},
}


@pytest.mark.parametrize("shape", LEAST, ids=lambda shape: shape.__name__)
def test_every_optional_field_may_be_null(shape: type[Foreign]) -> None:
    least = LEAST[shape]
    given = {**dict.fromkeys(shape.model_fields), **least}
    assert shape.model_validate(given) == shape.model_validate(least)


def all_below(shape: type[Foreign]) -> Iterator[type[Foreign]]:
    for one in shape.__subclasses__():
        yield one
        yield from all_below(one)


def test_every_shape_is_tested() -> None:
    assert set(all_below(Foreign)) == set(LEAST)


@pytest.mark.parametrize("module", [embeddings, rerank, dify, vector_stores, open_webui, check])
def test_every_body_of_another_api_is_such_a_shape(module: Any) -> None:
    routes = [route for route in module.router.routes if isinstance(route, APIRoute)]
    bodies = [one.field_info.annotation for route in routes for one in route.dependant.body_params]
    assert all(issubclass(body, Foreign) for body in bodies if isinstance(body, type))


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/v1/embeddings", {"input": "a", "model": None, "encoding_format": None, "dimensions": None, "user": None}),
        (
            "/v1/rerank",
            {"query": "a", "documents": ["b"], "return_documents": None, "return_text": None, "top_n": None},
        ),
        ("/v1/chat/completions", {"model": None, "messages": [{"role": "user", "content": "Hello", "name": None}]}),
        ("/v1/responses", {"model": None, "input": [{"type": None, "role": "user", "content": "Hello"}]}),
    ],
)
def test_a_client_that_sends_null_is_answered(served: Running, path: str, body: dict[str, Any]) -> None:
    reply = served.client.post(path, json=body)
    assert reply.status_code == 200, reply.text
