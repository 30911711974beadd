"""Searches and checks over HTTP."""

from __future__ import annotations

import pytest

from tests.servers.own import Running
from tests.servers.own_api import DEFAULT, QUESTION


def test_a_search_tells_passages_with_addresses(served: Running) -> None:
    told = served.client.post(f"{DEFAULT}/search", json={**QUESTION, "limit": 2}).json()
    assert (told["question"], told["recipe"], len(told["hits"])) == (QUESTION["question"], "corrective", 2)
    assert "built in 1849" in told["hits"][0]["text"]
    assert told["hits"][0]["url"].startswith(f"{served.url}/d/default/")


@pytest.mark.parametrize(
    ("body", "what"),
    [
        ({"question": "   "}, "empty"),
        ({"question": "x" * 9000}, "longer than 8,000"),
        ({**QUESTION, "recipe": "correctiv"}, "corrective"),
        ({**QUESTION, "where": "nothing ="}, ""),
        ({**QUESTION, "k": 3}, "Extra inputs"),
        ({**QUESTION, "settings": {"answer.nothing": 1}}, "unknown setting"),
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
