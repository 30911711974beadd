"""Dify's external knowledge, with the bodies of its documentation."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

import thresher
from tests.servers.own import Running, running
from thresher_server.security.keys import Keys, Scope

QUESTION = "When was the lighthouse of Fernby built?"


def body(*conditions: dict[str, Any], operator: str | None = None, top_k: int = 10, **more: Any) -> dict[str, Any]:
    setting = {"top_k": top_k, "score_threshold": 0.0}
    asked: dict[str, Any] = {"knowledge_id": "default/rag", "query": QUESTION, "retrieval_setting": setting, **more}
    if conditions:
        condition: dict[str, Any] = {"conditions": list(conditions)}
        asked["metadata_condition"] = condition if operator is None else {**condition, "logical_operator": operator}
    return asked


def condition(name: str | list[str], operator: str, value: Any = None) -> dict[str, Any]:
    told = {"name": name, "comparison_operator": operator}
    return told if value is None else {**told, "value": value}


def titles(served: Running, *conditions: dict[str, Any], operator: str | None = None) -> list[str]:
    reply = served.client.post("/retrieval", json=body(*conditions, operator=operator))
    assert reply.status_code == 200, reply.text
    return sorted(one["title"].removeprefix("The ") for one in reply.json()["records"])


@pytest.mark.parametrize("path", ["/retrieval", "/dify/retrieval"])
def test_records_are_as_dify_reads_them(served: Running, path: str) -> None:
    asked = body(top_k=2, knowledge_id="default")
    reply = served.client.post(path, json=asked, headers={"Authorization": "Bearer any"})
    records = reply.json()["records"]
    assert 1 <= len(records) <= 2
    assert "built in 1849" in records[0]["content"]
    assert records[0]["title"] == "The lighthouse"
    for one in records:
        assert set(one) == {"content", "score", "title", "metadata"}
        assert 0 <= one["score"] <= 1
        assert one["metadata"]["url"].startswith("http")
        assert None not in one["metadata"].values()
    assert [one["score"] for one in records] == sorted((one["score"] for one in records), reverse=True)


def test_a_threshold_leaves_out_what_is_below(served: Running) -> None:
    every = served.client.post("/retrieval", json=body()).json()["records"]
    setting = {"top_k": 10, "score_threshold": every[0]["score"]}
    some = served.client.post("/retrieval", json=body(retrieval_setting=setting)).json()["records"]
    assert len(some) == 1 < len(every)


@pytest.mark.parametrize(
    ("conditions", "expected"),
    [
        ([condition("title", "contains", "light")], ["lighthouse"]),
        ([condition("title", "start with", "The r")], ["railway"]),
        ([condition("title", "is", "Tides")], ["Tides"]),
        ([condition("title", "in", ["Tides", "The ferry"])], ["Tides", "ferry"]),
        ([condition("title", "in", "Tides, The ferry")], ["Tides", "ferry"]),
        ([condition("title", "not in", ["Tides", "The ferry"])], ["lighthouse", "railway"]),
        ([condition("date", "empty")], ["Tides", "ferry", "lighthouse", "railway"]),
        ([condition("date", "not empty")], []),
        ([condition("added", "after", "2020-01-01")], ["Tides", "ferry", "lighthouse", "railway"]),
        ([condition("added", "before", "2020-01-01")], []),
        ([condition("title", "is", "'; DROP TABLE x; --")], []),
        ([condition(["kind", "title"], "is", "Tides")], ["Tides"]),
    ],
)
def test_each_comparison_means_what_dify_says(
    served: Running, conditions: list[dict[str, Any]], expected: list[str]
) -> None:
    assert titles(served, *conditions) == expected


def test_conditions_are_joined(served: Running) -> None:
    both = (condition("title", "is", "Tides"), condition("title", "contains", "ferry"))
    assert titles(served, *both) == titles(served, *both, operator="and") == []
    assert titles(served, *both, operator="or") == ["Tides", "ferry"]


def test_numbers_of_the_documents_own_metadata_are_compared(tmp_path: Path) -> None:
    with thresher.open(tmp_path / "home") as collection:
        for year in (2019, 2021):
            (tmp_path / f"{year}.md").write_text(f"# Report {year}\n\nThe harbour grew in {year}.\n", encoding="utf-8")
            collection.add(tmp_path / f"{year}.md", metadata={"year": year, "half": "first % half"})
    with running(tmp_path / "home") as one:

        def found(operator: str, value: Any, name: str = "year") -> list[str]:
            return titles(one, condition(name, operator, value))

        assert found("≥", 2021) == found(">", "2020") == found("=", 2021) == ["Report 2021"]
        assert found("≤", 2019) == found("<", 2020.5) == found("≠", 2021) == ["Report 2019"]
        assert found("contains", "t % h", "half") == ["Report 2019", "Report 2021"]
        assert found("contains", "t_", "half") == []


@pytest.mark.parametrize(
    ("changes", "status", "code", "said"),
    [
        ({"knowledge_id": "nothing"}, 404, 2001, "collection 'nothing': is not here"),
        ({"knowledge_id": "default/nothing"}, 404, 2001, "recipe 'nothing': is not here"),
        ({"knowledge_id": "\ud800"}, 404, 2001, "is not here"),
        ({"query": "  "}, 422, 422, "question is empty"),
        ({"query": "x" * 8001}, 422, 422, "8,000"),
        ({"metadata_condition": {"conditions": [condition("colour", "is", "red")]}}, 422, 422, "colour"),
        ({"metadata_condition": {"conditions": [condition("title", "like", "x")]}}, 422, 422, "is no comparison"),
        ({"metadata_condition": {"conditions": [condition("title", "is")]}}, 422, 422, "needs one value"),
        ({"metadata_condition": {"conditions": [condition("title", "in", [])]}}, 422, 422, "no value"),
        ({"metadata_condition": {"conditions": [condition([], "is", "x")]}}, 422, 422, "names no field"),
        ({"metadata_condition": {"conditions": [condition("page", "is", "four")]}}, 422, 422, "whole number"),
    ],
)
def test_errors_have_the_shape_that_dify_shows(
    served: Running, changes: dict[str, Any], status: int, code: int, said: str
) -> None:
    headers = {"Content-Type": "application/json"}
    reply = served.client.post("/retrieval", content=json.dumps({**body(), **changes}), headers=headers)
    told = reply.json()
    assert (reply.status_code, told["error_code"]) == (status, code), told
    assert said in told["error_msg"]
    assert told["error"]["status"] == status


def test_a_key_is_told_apart_as_dify_does(indexed_home: Path, tmp_path: Path) -> None:
    home = tmp_path / "home"
    shutil.copytree(indexed_home, home)
    keys = Keys(home)
    reader, other = keys.make("reader", [Scope.READ], ["default"]), keys.make("other", [Scope.READ], ["papers"])
    asker = keys.make("asker", [Scope.ASK], None)
    with running(home, server__require_key=True) as one:

        def ask(header: str | None) -> tuple[int, int | None]:
            headers = {} if header is None else {"Authorization": header}
            reply = one.client.post("/retrieval", json=body(), headers=headers)
            return reply.status_code, reply.json().get("error_code")

        assert ask(None) == (403, 1001)
        assert ask(f"Basic {reader}") == (403, 1001)
        assert ask("Bearer thr_0_0") == (403, 1002)
        # Entering an address, Dify sends nothing but the key, and takes all but 403, 404 and 502 for a good one.
        tried = [one.client.post("/retrieval", headers={"Authorization": f"Bearer {key}"}) for key in ("x", reader)]
        assert [reply.status_code for reply in tried] == [403, 422]
        assert ask(f"Bearer {asker}") == (403, 1002)
        assert ask(f"Bearer {other}") == (404, 2001)
        assert ask(f"Bearer {reader}") == (200, None)
    lines = [json.loads(line) for line in (home / "server" / "audit.jsonl").read_text(encoding="utf-8").splitlines()]
    told = [(line["caller"], line["did"], line["collection"]) for line in lines if "collection" in line]
    assert told[-1] == ("reader", "search", "default")
