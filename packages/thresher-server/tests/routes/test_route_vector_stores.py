"""Search of a vector store as the real client of OpenAI asks for it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import openai
import pytest

from tests.servers.own import Running

QUESTION = "When was the lighthouse of Fernby built?"


@pytest.fixture
def client(served: Running) -> Iterator[openai.OpenAI]:
    """OpenAI's client, asking the shared server."""
    with openai.OpenAI(api_key="any", base_url=f"{served.url}/v1", max_retries=0) as one:
        yield one


def titles(page: Any) -> list[str]:
    return [row.attributes["title"] for row in page.data]


def test_passages_come_best_first_with_scores_from_0_to_1(client: openai.OpenAI) -> None:
    page = client.vector_stores.search("default", query=QUESTION)
    best = page.data[0]
    assert best.filename == "lighthouse.md"
    assert "built in 1849" in best.content[0].text
    assert best.attributes is not None
    assert len(best.attributes) <= 16
    assert str(best.attributes["url"]).startswith("http://127.0.0.1")
    scores = [row.score for row in page.data]
    assert scores == sorted(scores, reverse=True)
    assert 0 <= scores[-1] <= scores[0] <= 1
    assert page.object == "vector_store.search_results.page"


def test_several_queries_share_one_list(client: openai.OpenAI) -> None:
    page = client.vector_stores.search("default", query=[QUESTION, "When does the ferry leave?"], max_num_results=2)
    assert sorted(titles(page)) == ["The ferry", "The lighthouse"]


def test_filters_restrict_the_search(client: openai.OpenAI) -> None:
    def found(filters: Any) -> list[str]:
        page = client.vector_stores.search("default/rag", query=QUESTION, filters=filters, max_num_results=10)
        return sorted(titles(page))

    ferry: Any = {"type": "eq", "key": "title", "value": "The ferry"}
    tides: Any = {"type": "in", "key": "title", "value": ["Tides"]}
    assert found(ferry) == ["The ferry"]
    assert found({"type": "or", "filters": [ferry, tides]}) == ["The ferry", "Tides"]
    assert found({"type": "and", "filters": [ferry, tides]}) == []
    assert found({"type": "nin", "key": "title", "value": ["Tides", "The ferry"]}) == ["The lighthouse", "The railway"]
    assert found({"type": "ne", "key": "kind", "value": "pdf"}) == found(
        {"type": "eq", "key": "kind", "value": "markdown"}
    )
    assert found({"type": "eq", "key": "title", "value": "' OR 1=1 --"}) == []


@pytest.mark.parametrize(
    ("body", "status", "said"),
    [
        ({"query": " "}, 422, "question is empty"),
        ({"query": "x", "filters": {"type": "eq", "key": "colour", "value": 1}}, 422, "colour"),
        ({"query": "x", "filters": {"type": "in", "key": "title", "value": "Tides"}}, 422, "list of values"),
        ({"query": "x", "filters": {"type": "eq", "key": "title", "value": ["Tides"]}}, 422, "one value"),
        ({"query": "x", "filters": {"type": "in", "key": "title", "value": []}}, 422, "no value at all"),
        ({"query": "x", "filters": {"type": "eq", "key": "title", "value": float("nan")}}, 200, ""),
        ({"query": "x", "filters": {"type": "eq", "key": 'a"; --', "value": float("inf")}}, 422, "filter"),
    ],
)
def test_a_bad_search_is_told_what_is_wrong(served: Running, body: dict[str, Any], status: int, said: str) -> None:
    headers = {"Content-Type": "application/json"}
    reply = served.client.post("/v1/vector_stores/default/search", content=json.dumps(body), headers=headers)
    assert reply.status_code == status, reply.text
    assert said in reply.text


@pytest.mark.parametrize("depth", [30, 300, 3000])
def test_filters_that_are_nested_too_deep_are_refused(served: Running, depth: int) -> None:
    tides = '{"type": "eq", "key": "title", "value": "Tides"}'
    nested = "".join(f'{{"type": "{("and", "or")[at % 2]}", "filters": [{tides}, ' for at in range(depth))
    body = f'{{"query": "x", "filters": {nested}{tides}{"]}" * depth}}}'
    headers = {"Content-Type": "application/json"}
    reply = served.client.post("/v1/vector_stores/default/search", content=body, headers=headers)
    assert reply.status_code in (400, 422)


@pytest.mark.parametrize("name", ["nothing", "default/nothing", "../default", "%2e%2e", "default%00", "a" * 300])
def test_what_is_not_there_is_not_found(served: Running, name: str) -> None:
    reply = served.client.post(f"/v1/vector_stores/{name}/search", json={"query": QUESTION})
    assert reply.status_code == 404
    assert reply.json()["error"]["message"]
