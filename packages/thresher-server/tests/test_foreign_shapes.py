"""Requests in the shapes of other APIs: clients send null for what they leave out."""

from __future__ import annotations

from typing import Any

import pytest
from fastapi.routing import APIRoute

from tests.servers.own import Running
from thresher_server.routes import check, dify, embeddings, open_webui, rerank, vector_stores
from thresher_server.shapes import Foreign


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
        ("/v1/vector_stores/default/search", {"query": "a", "filters": None, "ranking_options": None}),
        (
            "/retrieval",
            {"knowledge_id": "default", "query": "a", "metadata_condition": None, "retrieval_setting": None},
        ),
        ("/v1/check", {"answerCandidate": "Now.", "facts": None, "groundingSpec": None}),
        ("/search", {"query": "a", "count": None}),
        ("/v1/responses", {"model": None, "input": [{"type": None, "role": "user", "content": "Hello"}]}),
    ],
)
def test_a_client_that_sends_null_is_answered(served: Running, path: str, body: dict[str, Any]) -> None:
    reply = served.client.post(path, json=body)
    assert reply.status_code == 200, reply.text
