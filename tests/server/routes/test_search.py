"""Searches and checks over HTTP."""

from __future__ import annotations

import pytest

from tests.server.conftest import Running
from tests.server.own_api import DEFAULT, QUESTION


def test_a_search_tells_passages_with_addresses(served: Running) -> None:
    told = served.client.post(f"{DEFAULT}/search", json={**QUESTION, "limit": 2}).json()
    assert (told["question"], told["recipe"], len(told["hits"])) == (QUESTION["question"], "corrective", 2)
    assert "built in 1849" in told["hits"][0]["text"]
    assert told["hits"][0]["url"].startswith(f"{served.url}/d/default/")


def test_a_filter_restricts_a_search(served: Running) -> None:
    told = served.client.post(f"{DEFAULT}/search", json={**QUESTION, "where": "title = 'Tides'"}).json()
    assert {hit["title"] for hit in told["hits"]} <= {"Tides"}


def test_a_budget_of_tokens_gives_spans_and_a_verdict(served: Running) -> None:
    told = served.client.post(f"{DEFAULT}/search", json={**QUESTION, "max_tokens": 40}).json()
    assert told["hits"] == []
    assert "1849" in told["spans"][0]["text"]
    assert 0 < told["tokens"] <= 40
    assert told["verdict"] == "correct"


@pytest.mark.parametrize(
    ("body", "what"),
    [
        ({"question": "   "}, "empty"),
        ({"question": "x" * 9000}, "longer than 8,000"),
        ({**QUESTION, "recipe": "correctiv"}, "corrective"),
        ({**QUESTION, "where": "nothing ="}, ""),
        ({**QUESTION, "limit": 0}, "greater than or equal to 1"),
        ({**QUESTION, "k": 3}, "Extra inputs"),
        ({**QUESTION, "settings": {"answer.nothing": 1}}, "unknown setting"),
        ({}, "required"),
    ],
)
def test_what_cannot_be_searched_is_said(served: Running, body: dict[str, object], what: str) -> None:
    told = served.client.post(f"{DEFAULT}/search", json=body)
    assert told.status_code == 422
    assert what in told.json()["error"]["message"]


def test_half_a_surrogate_pair_breaks_nothing(served: Running) -> None:
    headers = {"Content-Type": "application/json"}
    for body in (
        b'{"question": "\\ud800 x"}',
        b'{"question": "x", "settings": {"\\ud800": "\\udfff"}}',
        b'{"question":',
    ):
        assert served.client.post(f"{DEFAULT}/search", content=body, headers=headers).status_code == 422


def test_a_text_is_held_against_the_documents(served: Running) -> None:
    text = "The lighthouse of Fernby was built in 1850. The ferry to Gull Island leaves at 06:40."
    told = served.client.post(f"{DEFAULT}/check", json={"text": text}).json()
    assert [claim["state"] for claim in told["claims"]] == ["contradicted", "supported"]
    assert told["claims"][1]["citations"][0]["url"].startswith(served.url)
    assert served.client.post(f"{DEFAULT}/check", json={"text": " "}).status_code == 422
