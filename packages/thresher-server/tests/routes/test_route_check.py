"""A text held against facts and against a collection, in the frame of check-grounding."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.servers.own import Running, running

TEXT = "Fernby – The lighthouse was built in 1849. The ferry leaves at 07:40. It snows in Peru."
ABOUT = {"author": "A. Holm", "title": "Fernby", "uri": "x:1"}
FACTS: list[dict[str, Any]] = [
    {"factText": "The railway was opened in 1871."},
    {"factText": "The lighthouse was built in 1849.", "attributes": ABOUT},
    {"factText": "The ferry leaves at 06:40."},
]


def told(served: Running, **asked: Any) -> dict[str, Any]:
    reply = served.client.post("/v1/check", json=asked)
    assert reply.status_code == 200, reply.text
    body: dict[str, Any] = reply.json()
    return body


def test_facts_are_cited_by_their_position(served: Running) -> None:
    reply = told(served, answerCandidate=TEXT, facts=FACTS, groundingSpec={"citationThreshold": 0.6})
    assert reply["supportScore"] == pytest.approx(1 / 3)
    first, *others = reply["claims"]
    assert first["citationIndices"] == [0]
    assert [claim["citationIndices"] for claim in others] == [[], []]
    (chunk,) = reply["citedChunks"]
    assert chunk["source"] == "1"
    assert chunk["chunkText"] == "The lighthouse was built in 1849."
    assert (chunk["title"], chunk["uri"], chunk["sourceMetadata"]["author"]) == ("Fernby", "x:1", "A. Holm")


def test_positions_are_bytes_there_and_code_points_in_ours(served: Running) -> None:
    reply = told(served, answerCandidate=TEXT, facts=FACTS)
    for theirs, ours in zip(reply["claims"], reply["thresher"]["claims"], strict=True):
        assert TEXT.encode()[theirs["startPos"] : theirs["endPos"]].decode() == theirs["claimText"]
        assert TEXT[ours["start"] : ours["end"]] == ours["text"] == theirs["claimText"]
        assert theirs["score"] == ours["support"]


def test_what_is_contradicted_is_shown_in_ours(served: Running) -> None:
    claims = told(served, answerCandidate=TEXT, facts=FACTS)["thresher"]["claims"]
    assert [claim["state"] for claim in claims] == ["quoted", "contradicted", "unverified"]
    (citation,) = claims[1]["citations"]
    assert (citation["source"], citation["quote"]) == ("2", "The ferry leaves at 06:40.")


def test_a_collection_stands_where_no_facts_are_given(served: Running) -> None:
    text = "The lighthouse of Fernby was built in 1849. The ferry to Gull Island leaves at 07:40."
    named, usual = told(served, answerCandidate=text, collection="default"), told(served, answerCandidate=text)
    assert named == usual
    (chunk,) = named["citedChunks"]
    assert chunk["source"].endswith("lighthouse.md")
    assert chunk["uri"].startswith("http://127.0.0.1")
    assert [claim["state"] for claim in named["thresher"]["claims"]] == ["quoted", "contradicted"]
    narrowed = told(served, answerCandidate=text, collection="default", where="title = 'Tides'")
    assert narrowed["citedChunks"] == []


def test_a_text_without_claims_has_no_score(served: Running) -> None:
    reply = told(served, answerCandidate="# Only a heading", facts=FACTS)
    assert reply["supportScore"] is None
    assert reply["claims"] == []


@pytest.mark.parametrize(
    ("asked", "status", "said"),
    [
        ({"answerCandidate": " ", "facts": FACTS}, 422, "text is empty"),
        ({"answerCandidate": TEXT, "facts": FACTS, "collection": "default"}, 422, "are both given"),
        ({"answerCandidate": TEXT, "collection": "nothing"}, 404, "is not here"),
        ({"answerCandidate": TEXT, "collection": "default", "where": "colour = 'red'"}, 422, "colour"),
        ({"answerCandidate": "x" * 100_001, "facts": FACTS}, 422, "answerCandidate"),
    ],
)
def test_a_bad_request_is_told_what_is_wrong(served: Running, asked: dict[str, Any], status: int, said: str) -> None:
    reply = served.client.post("/v1/check", json=asked)
    assert reply.status_code == status
    assert said in reply.json()["error"]["message"]


def test_facts_need_no_collection(tmp_path: Path) -> None:
    with running(tmp_path) as one:
        assert told(one, answerCandidate=TEXT, facts=FACTS)["citedChunks"]
