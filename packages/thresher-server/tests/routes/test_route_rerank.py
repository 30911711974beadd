"""Reranking as the real clients of Cohere ask it, and as Open WebUI, Jina's and TEI's clients do."""

from __future__ import annotations

import json
import random
import time
from pathlib import Path
from typing import Any

import cohere
import httpx
import pytest

from tests.servers.own import Running, running

QUESTION = "When does the ferry to Gull Island leave?"
TEXTS = [
    "The railway from Fernby to Harrow was opened in 1871.",
    "It is windy on most days. The ferry to Gull Island leaves at 06:40. Tickets cost four euros.",
    "",
    "Grüße aus Zürich 🎉: die Fähre ist rot.",
    "The railway from Fernby to Harrow was opened in 1871.",
]
FERRY = 1


def ranked(served: Running, texts: list[Any], path: str = "/v1/rerank", **more: Any) -> list[dict[str, Any]]:
    reply = served.client.post(path, json={"model": "any", "query": QUESTION, "documents": texts, **more})
    assert reply.status_code == 200, reply.text
    results: list[dict[str, Any]] = reply.json()["results"]
    return results


# --- Cohere's own clients


def test_cohere_v2_ranks_every_document(served: Running) -> None:
    with httpx.Client() as http:
        client = cohere.ClientV2("any", base_url=served.url, httpx_client=http)
        reply = client.rerank(model="rerank-v5.0-pro", query=QUESTION, documents=TEXTS)
    assert reply.results[0].index == FERRY
    assert sorted(one.index for one in reply.results) == list(range(len(TEXTS)))
    assert all(0 <= one.relevance_score <= 1 for one in reply.results)
    assert reply.results[0].relevant_spans is None
    assert reply.id
    assert reply.meta is not None
    assert reply.meta.api_version is not None
    assert reply.meta.api_version.version == "2"
    assert reply.meta.tokens is not None
    assert reply.meta.tokens.input_tokens


def test_cohere_v2_is_told_the_spans_that_answer(served: Running) -> None:
    with httpx.Client() as http:
        client = cohere.ClientV2("any", base_url=served.url, httpx_client=http)
        spans = cohere.RerankRelevantSpans(mode="enabled", threshold=0.2)
        reply = client.rerank(model="any", query=QUESTION, documents=TEXTS, top_n=2, relevant_spans=spans)
    best, other = reply.results
    assert best.relevant_spans is not None
    (span,) = best.relevant_spans
    assert TEXTS[best.index][span.start : span.end] == "The ferry to Gull Island leaves at 06:40."
    assert span.score >= 0.2
    assert other.relevant_spans is None


def test_cohere_v1_is_given_its_documents_back(served: Running) -> None:
    with httpx.Client() as http:
        client = cohere.Client("any", base_url=served.url, httpx_client=http)
        documents = [{"text": text, "id": str(at)} for at, text in enumerate(TEXTS)]
        reply = client.rerank(query=QUESTION, documents=documents, return_documents=True, top_n=3)
        plain = client.rerank(query=QUESTION, documents=TEXTS, return_documents=True)
        without = client.rerank(query=QUESTION, documents=TEXTS)
        fields = [{"title": "Railway", "body": "opened in 1871"}, {"title": QUESTION, "body": TEXTS[FERRY]}]
        named = client.rerank(query=QUESTION, documents=fields, rank_fields=["title", "body"])
    assert len(reply.results) == 3
    first = reply.results[0]
    assert first.document is not None
    assert first.document.text == TEXTS[FERRY]
    assert first.document.model_dump()["id"] == str(FERRY)
    assert plain.results[0].document is not None
    assert plain.results[0].document.text == TEXTS[FERRY]
    assert without.results[0].document is None
    assert named.results[0].index == 1


# --- the other shapes


def test_open_webui_reads_every_score_by_position(served: Running) -> None:
    body = {"model": "reranker", "query": QUESTION, "documents": TEXTS, "top_n": len(TEXTS)}
    reply = served.client.post("/v1/rerank", json=body, headers={"Authorization": "Bearer any"})
    by_position = [one["relevance_score"] for one in sorted(reply.json()["results"], key=lambda one: one["index"])]
    assert len(by_position) == len(TEXTS)
    assert by_position[FERRY] == max(by_position)
    assert by_position[0] == by_position[4]
    assert by_position[2] < 0.05


def test_tei_is_given_a_plain_list(served: Running) -> None:
    told = served.client.post("/rerank", json={"query": QUESTION, "texts": TEXTS, "raw_scores": True}).json()
    assert [set(one) for one in told] == [{"index", "score"}] * len(TEXTS)
    assert told[0]["index"] == FERRY
    assert all(0 <= one["score"] <= 1 for one in told)
    told = served.client.post("/rerank", json={"query": QUESTION, "texts": TEXTS, "return_text": True}).json()
    assert [one["text"] for one in told] == [TEXTS[one["index"]] for one in told]


# --- scores, order and spans


def test_a_score_is_the_same_whatever_else_is_sent(served: Running) -> None:
    words = [word for text in TEXTS for word in text.split()]
    chosen = random.Random(7)
    texts = [" ".join(chosen.sample(words, 12)) + ". " + chosen.choice(TEXTS) for _ in range(25)]
    together = {texts[one["index"]]: one["relevance_score"] for one in ranked(served, texts)}
    for size in (1, 2, 7):
        some = chosen.sample(texts, size)
        assert all(one["relevance_score"] == together[some[one["index"]]] for one in ranked(served, some))


def test_spans_are_verbatim_code_points_of_any_script(served: Running) -> None:
    text = "🎉🎉 Grüße! Ось відповідь 👩‍👩‍👧. " + TEXTS[FERRY] + " Ende — 完。"
    (one,) = ranked(served, [text], "/v2/rerank", relevant_spans={"mode": "enabled", "threshold": 0})
    told = [text[span["start"] : span["end"]] for span in one["relevant_spans"]]
    assert told[0] == "The ferry to Gull Island leaves at 06:40."
    scores = [span["score"] for span in one["relevant_spans"]]
    assert scores == sorted(scores, reverse=True)
    (one,) = ranked(served, [text], "/v2/rerank", relevant_spans={"mode": "enabled", "threshold": 0, "max_spans": 1})
    assert len(one["relevant_spans"]) == 1


# --- limits


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ({"query": QUESTION}, "documents: is not given"),
        ({"query": QUESTION, "documents": [{"body": "x"}]}, "document 0: has no text"),
        ({"query": "x" * 8001, "documents": TEXTS}, "longer than 8,000"),
    ],
)
def test_a_bad_request_is_told_what_is_wrong(served: Running, body: dict[str, Any], said: str) -> None:
    reply = served.client.post("/v1/rerank", content=json.dumps(body), headers={"Content-Type": "application/json"})
    assert reply.status_code == 422
    assert said in reply.json()["error"]["message"]


def test_more_documents_than_allowed_are_refused(indexed_home: Path) -> None:
    with running(indexed_home, server__max_documents=3) as one:
        body = {"query": QUESTION, "documents": TEXTS}
        reply = one.client.post("/v1/rerank", json=body)
        assert reply.status_code == 422
        assert "5 documents: are more than 3" in reply.json()["error"]["message"]
        assert one.client.post("/v1/rerank", json={**body, "documents": TEXTS[:3]}).status_code == 200


def test_work_that_nobody_waits_for_ends(indexed_home: Path) -> None:
    texts = [f"{at}. " + "The weather of Fernby is described here at length. " * 40 for at in range(800)]
    with running(indexed_home, server__concurrency=1) as one:
        with httpx.Client(base_url=one.url, timeout=0.5) as hasty, pytest.raises(httpx.ReadTimeout):
            hasty.post("/v1/rerank", json={"query": QUESTION, "documents": texts})
        started = time.monotonic()
        assert ranked(one, TEXTS[:2])[0]["index"] == FERRY
        assert time.monotonic() - started < 20  # all 800 would take half a minute on an idle core


def test_work_that_takes_too_long_is_told_so(indexed_home: Path) -> None:
    texts = [f"{at}. " + "The weather of Fernby is described here at length. " * 40 for at in range(800)]
    with running(indexed_home, server__timeout_seconds=0.5) as one:
        reply = one.client.post("/v1/rerank", json={"query": QUESTION, "documents": texts})
    assert (reply.status_code, "0.5 seconds" in reply.json()["error"]["message"]) == (504, True)
