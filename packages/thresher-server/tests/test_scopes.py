"""Which scope each operation asks for: every one of the OpenAPI description has its line here."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.servers.own import Running, filled, running
from tests.servers.own_api import with_key
from thresher_server.security.keys import Scope

HERE = "/api/collections/{collection}"
DOCUMENT, TRACE, TALK = f"{HERE}/documents/{{document}}", f"{HERE}/traces/{{trace}}", f"{HERE}/conversations"

PUBLIC = {"GET /health", "GET /ready"}

ANY_KEY = {
    "GET /api/session",
    "POST /api/session",
    "DELETE /api/session",
    "GET /api/collections",
    "GET /api/jobs",
    "GET /api/recipes",
    "GET /api/recipes/{name}",
    "GET /api/jobs/{job}",
    "GET /api/jobs/{job}/events",
    "POST /api/jobs/{job}/cancel",
}
"""They show what the key may see; see `test_worker` for jobs."""

NEEDED = {
    Scope.READ: {
        f"GET {HERE}",
        f"GET {HERE}/documents",
        f"GET {DOCUMENT}",
        f"GET {DOCUMENT}/text",
        f"GET {DOCUMENT}/file",
        f"POST {HERE}/search",
        "GET /api/expectations",
        "GET /api/expectations/last",
        "GET /metrics",
        "POST /dify/retrieval",
        "POST /retrieval",
        "POST /search",
        "POST /v1/vector_stores/{vector_store_id}/search",
    },
    Scope.ASK: {
        f"POST {HERE}/ask",
        f"POST {HERE}/check",
        f"GET {HERE}/gaps",
        f"GET {TALK}",
        f"POST {TALK}",
        f"GET {TALK}/{{conversation}}",
        f"DELETE {TALK}/{{conversation}}",
        f"GET {HERE}/traces",
        f"GET {TRACE}",
        f"POST {TRACE}/replay",
        f"POST {TRACE}/feedback",
        "GET /v1/models",
        "GET /v1/models/{model}",
        "POST /rerank",
        "POST /v1/chat/completions",
        "POST /v1/check",
        "POST /v1/embeddings",
        "POST /v1/rerank",
        "POST /v1/responses",
        "POST /v2/rerank",
        "PUT /process",
    },
    Scope.WRITE: {
        f"POST {HERE}/documents",
        f"DELETE {HERE}/documents",
        f"DELETE {DOCUMENT}",
        f"POST {DOCUMENT}/reindex",
        f"POST {HERE}/calibrate",
        f"POST {TRACE}/expectation",
    },
    Scope.ADMIN: {"POST /api/collections", f"PATCH {HERE}", f"DELETE {HERE}", f"POST {HERE}/copy"},
}


@pytest.fixture(scope="module")
def keyed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """A server with two collections, `ferry` and `rail`; a list of names in a path is filled with `ferry`."""
    home = filled(tmp_path_factory.mktemp("scopes") / "home", "ferry.md", "rail.md")
    with running(home, server__require_key=True) as one:
        yield one


def status(one: Running, operation: str, headers: dict[str, str]) -> int:
    """The status of an operation on `ferry`, with a body that no operation takes."""
    method, path = operation.split(" ")
    for name in ("collection", "vector_store_id", "model"):
        path = path.replace(f"{{{name}}}", "ferry")
    for name in ("document", "trace", "conversation", "job", "name"):
        path = path.replace(f"{{{name}}}", "0" * 16)
    more: dict[str, Any] = {"content": b"{}"} if method in ("POST", "PUT", "PATCH") else {}
    return one.client.request(method, path, headers={"Content-Type": "application/json", **headers}, **more).status_code


def test_every_operation_is_listed_here(keyed: Running) -> None:
    paths = keyed.client.get("/openapi.json").json()["paths"]
    described = {f"{method.upper()} {path}" for path, methods in paths.items() for method in methods}
    assert described == PUBLIC.union(ANY_KEY, *NEEDED.values())


def test_an_operation_is_refused_to_a_key_without_its_scope_and_to_no_other(keyed: Running) -> None:
    home = keyed.service.home
    lacking = {needed: with_key(home, f"no {needed}", *(set(Scope) - {needed, Scope.ADMIN})) for needed in Scope}
    having = {needed: with_key(home, f"only {needed}", needed) for needed in Scope}
    for needed, operations in NEEDED.items():
        for operation in sorted(operations):
            dify = operation.endswith("/retrieval")  # which knows no 401
            assert status(keyed, operation, {}) == (403 if dify else 401), operation
            assert status(keyed, operation, lacking[needed]) == 403, operation
            if needed is not Scope.ADMIN:  # which would drop the collection
                assert status(keyed, operation, having[needed]) not in (401, 403, 500), operation
    for operation in sorted(ANY_KEY):
        assert status(keyed, operation, {}) == 401, operation
    for operation in PUBLIC:
        assert status(keyed, operation, {}) == 200, operation


def test_a_collection_of_others_is_not_there_whatever_is_asked_of_it(keyed: Running) -> None:
    other = with_key(keyed.service.home, "of rail", Scope.READ, Scope.ASK, Scope.WRITE, collections=["rail"])
    for needed in (Scope.READ, Scope.ASK, Scope.WRITE):
        for operation in sorted(one for one in NEEDED[needed] if "{collection}" in one):
            assert status(keyed, operation, other) == 404, operation


def test_names_of_collections_in_the_formats_of_other_tools_are_bound_to_the_key(keyed: Running) -> None:
    other = with_key(keyed.service.home, "of rail alone", Scope.READ, Scope.ASK, collections=["rail"])
    query = "When does the ferry leave?"
    asked: list[tuple[str, dict[str, Any]]] = [
        ("/v1/chat/completions", {"model": "ferry", "messages": [{"role": "user", "content": query}]}),
        ("/v1/responses", {"model": "ferry", "input": query}),
        ("/v1/check", {"answerCandidate": query, "collection": "ferry"}),
        ("/v1/vector_stores/ferry/search", {"query": query}),
        ("/search?collection=ferry", {"query": query, "count": 1}),
        ("/retrieval", {"knowledge_id": "ferry", "query": query, "retrieval_setting": {"top_k": 1}}),
    ]
    for path, body in asked:
        reply = keyed.client.post(path, json=body, headers=other)
        assert reply.status_code == 404, (path, reply.text)
        assert "06:40" not in reply.text
    asks = {"question": query, "outside": "collection:ferry"}
    assert keyed.client.post("/api/collections/rail/ask", json=asks, headers=other).status_code == 404
