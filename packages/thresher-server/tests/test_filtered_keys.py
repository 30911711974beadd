"""Keys with a filter: every operation of the server is sent in the name of two that see each their own documents.

What only the other one's documents hold (names, numbers, words) is in no reply, and a document of the other is answered
as one that does not exist.
"""

from __future__ import annotations

import json
import re
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import pytest
from mcp import Client
from mcp_agents import acted_at, over_stdio
from starlette.routing import Route
from test_scopes import ANY_KEY, NEEDED, PUBLIC

import thresher
from tests.servers.own import Running, running
from tests.servers.own_api import DEFAULT, added
from thresher.errors import UsageError
from thresher_server.security.keys import READ_ONLY, Caller, Key, Keys, Offer, Profile, Scope

CODE = "What is the gate code of the depot?"
KEEPER = "Who keeps the gate of the depot?"
WORDS = {"north": ("heron", "H4417", "Hedda"), "south": ("kestrel", "K9052", "Silas")}
"""What the documents of a team alone hold, in their texts and in the names of their files."""

ABSENT = "0" * 16


def texts(team: str) -> dict[str, str]:
    name, code, keeper = WORDS[team]
    return {
        f"{name}-gate.md": f"# The gate\n\nThe gate code of the depot is {code}. The {name} log is kept by {keeper}.\n",
        f"{name}-keeper.md": f"# The keeper\n\nThe gate of the depot is kept by {keeper}. {keeper} has a {name}.\n",
        f"{name}-rates.csv": f"item,price\ngate {name},{code}\n",
    }


@dataclass(frozen=True)
class Filtered:
    """A server with keys of two teams; what was asked before has an id for each of `north`, `south`, `operator`."""

    one: Running
    keys: dict[str, str]
    documents: dict[str, list[str]]
    traces: dict[str, str] = field(default_factory=dict)
    conversations: dict[str, str] = field(default_factory=dict)
    jobs: list[str] = field(default_factory=list)

    def headers(self, team: str) -> dict[str, str]:
        return {"Authorization": f"Bearer {self.keys[team]}"}


def made(folder: Path) -> Path:
    """A home whose collections `default` and `archive` hold both teams' files, a corpus of both, and a text of both."""
    home = folder / "home"
    for team, (name, code, _) in WORDS.items():
        below = folder / team
        below.mkdir()
        for file, text in texts(team).items():
            (below / file).write_text(text, encoding="utf-8")
        (below / f"{name}-both.txt").write_text("The depot opens at seven for both teams.", encoding="utf-8")
        row = {"_id": f"{name}-row", "text": f"The spare code of the {name} shed is {code}.", "team": team}
        with (folder / "corpus.jsonl").open("a", encoding="utf-8") as file:
            file.write(json.dumps(row) + "\n")
    for collection_name in ("default", "archive"):
        with thresher.open(home, collection_name) as collection:
            for team in WORDS:
                collection.add(folder / team, metadata={"team": team, f"badge_{WORDS[team][0]}": WORDS[team][2]})
            collection.add(folder / "corpus.jsonl")
    (home / "ci").mkdir()
    report = {"collection": "default", "finished": "", "file": "heron kestrel", "against": None, "passed": True}
    lists = {name: [] for name in ("broken", "contradicted", "newly_answered", "moved")}
    numbers = {"unchanged": 1, "answered_again": 1, "seconds": 1.0}
    (home / "ci" / "report.json").write_text(json.dumps(report | lists | numbers), encoding="utf-8")
    return home


FILTERS = {"north": "team = 'north'", "south": "source LIKE '%/south/%' OR source LIKE 'kestrel%'"}
"""By metadata, and by folder or name."""


@pytest.fixture(scope="module")
def filtered(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Filtered]:
    home = made(tmp_path_factory.mktemp("filtered"))
    ring = Keys(home)
    keys = {team: ring.make(team, [Scope.READ, Scope.ASK], None, where=where) for team, where in FILTERS.items()}
    keys["operator"] = ring.make("boss", list(Scope), None)
    with running(home, server__require_key=True) as one:
        found = Filtered(one, keys, {})
        for team in (*WORDS, "operator"):
            headers = found.headers(team)
            asked = {"question": CODE, "conversation": None}
            asked["conversation"] = one.client.post(f"{DEFAULT}/conversations", headers=headers).json()["id"]
            answer = one.client.post(f"{DEFAULT}/ask", json=asked, headers=headers).json()
            refused = {"question": "Which colour has the bell of the depot?"}
            one.client.post(f"{DEFAULT}/ask", json=refused, headers=headers)
            wrong = {"right": False, "answer": f"asked by {team}"}
            one.client.post(f"{DEFAULT}/traces/{answer['trace']}/feedback", json=wrong, headers=headers)
            found.traces[team], found.conversations[team] = answer["trace"], asked["conversation"]
            listed = one.client.get(f"{DEFAULT}/documents", headers=headers).json()["documents"]
            found.documents[team] = [document["id"] for document in listed]
        one.client.headers.update(found.headers("operator"))
        note = ("note.md", b"# Note\n\nThe kestrel and the heron meet; 4417 and 9052 are codes.\n")
        found.jobs.append(added(one, [note])["id"])
        one.client.headers.pop("Authorization")
        yield found


def test_each_key_sees_its_own_documents(filtered: Filtered) -> None:
    for team, other in (("north", "south"), ("south", "north")):
        listed = filtered.one.client.get(f"{DEFAULT}/documents", headers=filtered.headers(team)).json()
        names = {one["source"] for one in listed["documents"]}
        assert f"{WORDS[team][0]}-gate.md" in names
        assert not any(WORDS[other][0] in name for name in names)
        answer = filtered.one.client.post(
            f"{DEFAULT}/ask", json={"question": CODE}, headers=filtered.headers(team)
        ).json()
        assert WORDS[team][1] in answer["text"]
    whole = filtered.one.client.get(f"{DEFAULT}/documents", headers=filtered.headers("operator")).json()
    assert whole["total"] > 8


QUESTIONS = (CODE, KEEPER, "Which prices does the table list?", "What are the documents about?")


def bodies(operation: str, team: str) -> list[dict[str, Any]]:
    """What is sent to an operation, besides an empty object; nothing of it names what only the other team has."""
    asks = [{"question": question} for question in QUESTIONS]
    wheres = ["kind = 'csv' OR kind = 'md' OR kind = 'txt'", "team = 'north' OR team = 'south'", "NOT title = 'x'"]
    asks += [{"question": CODE, "where": where} for where in wheres]
    chat = [{"messages": [{"role": "user", "content": question}]} for question in QUESTIONS[:3]]
    models = ("default", "archive", "default/rag", "archive/crag")
    match operation.split("/", 1)[1].rpartition("}/")[2]:
        case "search" if "vector_stores" in operation:
            return [{"query": question, "max_num_results": 50} for question in QUESTIONS[:3]]
        case "search" if "collections" in operation:
            return [*asks, {"question": CODE, "max_tokens": 800, "limit": 50}, {"question": CODE, "recipe": "rag"}]
        case "ask":
            streamed = [{**one, "stream": True} for one in asks[:3]]
            outside = [{"question": CODE, "recipe": "crag", "outside": "collection:archive"}]
            return [*asks, *streamed, *outside, {"question": CODE, "recipe": "ecrag"}]
        case "check":
            return [{"text": "The gate code of the depot is 1234. The depot opens at seven."}]
        case "v1/check":
            return [{"answerCandidate": "The gate code of the depot is 1.", "collection": name} for name in models]
        case "v1/chat/completions":
            return [{**one, "model": model, "stream": on} for one in chat for model in models for on in (False, True)]
        case "v1/responses":
            return [{"model": model, "input": CODE, "stream": on} for model in models for on in (False, True)]
        case "retrieval" | "dify/retrieval":
            setting = {"top_k": 10}
            return [{"knowledge_id": name, "query": CODE, "retrieval_setting": setting} for name in models]
        case "search":
            return [{"query": question, "count": 20} for question in QUESTIONS[:3]]
        case "feedback":
            return [{"right": True}]
    return []


def requests(filtered: Filtered, operation: str, team: str) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Every request of an operation: method, path and body, for each collection and each id of anybody."""
    method, path = operation.split(" ")
    seen = set(filtered.documents[team])
    ids = {
        "document": sorted({*filtered.documents["operator"], *seen, ABSENT}),
        "trace": [*filtered.traces.values(), ABSENT],
        "conversation": [*filtered.conversations.values(), ABSENT],
        "job": filtered.jobs,
        "collection": ["default", "archive"],
        "vector_store_id": ["default", "archive/rag"],
        "model": ["default"],
        "name": ["corrective"],
    }
    paths = [path]
    for name in re.findall(r"\{(\w+)\}", path):
        paths = [one.replace(f"{{{name}}}", id_) for one in paths for id_ in ids[name]]
    for one in paths:
        if method == "DELETE" and "/conversations/" in one:
            continue  # its own would be gone; another's is 404 as in the test of scopes
        for body in bodies(operation, team) or [{}]:
            yield method, one, body


def sent(filtered: Filtered, team: str, method: str, path: str, body: dict[str, Any]) -> httpx.Response:
    given: dict[str, Any] = {} if method in ("GET", "DELETE") else {"json": body}
    return filtered.one.client.request(method, path, headers=filtered.headers(team), **given)


def assert_silent(team: str, told: str, what: object) -> None:
    """A reply that holds nothing of the other team's."""
    [other] = WORDS.keys() - {team}
    for word in WORDS[other]:
        at = told.casefold().find(word.casefold())
        assert at < 0, (team, what, told[max(0, at - 200) : at + 100])


def test_no_operation_tells_of_a_document_that_the_filter_hides(filtered: Filtered) -> None:
    paths = filtered.one.client.get("/openapi.json", headers=filtered.headers("north")).json()["paths"]
    described = {f"{method.upper()} {path}" for path, methods in paths.items() for method in methods}
    assert described == PUBLIC.union(ANY_KEY, *NEEDED.values())
    number = 0
    answered: set[str] = set()
    for team in WORDS:
        for operation in sorted(described - {"PUT /process"}):
            for method, path, body in requests(filtered, operation, team):
                reply = sent(filtered, team, method, path, body)
                number += 1
                assert reply.status_code < 500, (operation, path, body, reply.text)
                if reply.is_success:
                    answered.add(operation)
                assert_silent(team, reply.text, (method, path, body))
    assert number > 500, number
    reading = NEEDED[Scope.READ] | NEEDED[Scope.ASK]
    whole = {
        "GET /metrics",
        "GET /api/expectations",
        "GET /api/expectations/last",
    }  # of everybody's questions: not for such a key
    without = {operation for operation in reading - answered if not re.search("rerank|embeddings|process", operation)}
    assert without == whole | {operation for operation in without if operation.startswith("DELETE")}


def test_a_document_that_the_filter_hides_is_answered_as_one_that_does_not_exist(filtered: Filtered) -> None:
    below = "/api/collections/{collection}/documents/{document}"
    operations = [("GET", below), ("GET", f"{below}/text"), ("GET", f"{below}/file"), ("POST", f"{below}/reindex")]
    for team in WORDS:
        hidden = set(filtered.documents["operator"]) - set(filtered.documents[team])
        assert hidden
        for method, path in [*operations, ("DELETE", below)]:
            for id_ in sorted(hidden):
                at = path.replace("{collection}", "default")
                replies = [sent(filtered, team, method, at.replace("{document}", one), {}) for one in (id_, ABSENT)]
                told = [(one.status_code, one.text.replace(id_, "").replace(ABSENT, "")) for one in replies]
                assert told[0] == told[1], (method, path)
                assert replies[0].status_code in (403, 404)


def test_an_original_that_holds_other_documents_too_is_not_handed_out(filtered: Filtered) -> None:
    for team in WORDS:
        for id_ in filtered.documents[team]:
            reply = sent(filtered, team, "GET", f"{DEFAULT}/documents/{id_}/file", {})
            assert_silent(team, reply.content.decode(), id_)


def test_what_other_keys_asked_is_not_there(filtered: Filtered) -> None:
    for team in WORDS:
        lists = sent(filtered, team, "GET", f"{DEFAULT}/traces", {}).json()["traces"]
        assert filtered.traces[team] in {one["trace"] for one in lists}
        assert len({*filtered.traces.values()}) == 3, "the same question of three keys is three answers"
        for other in filtered.traces.keys() - {team}:
            for path in ("", "/replay", "/feedback"):
                method = "POST" if path else "GET"
                at = f"{DEFAULT}/traces/{filtered.traces[other]}{path}"
                assert sent(filtered, team, method, at, {"right": True}).status_code == 404
    replayed = sent(filtered, "operator", "POST", f"{DEFAULT}/traces/{filtered.traces['north']}/replay", {}).json()
    assert "4417" in replayed["answer"]["text"]
    assert_silent("north", json.dumps(replayed["answer"]), "a replay by the operator")


def tool_arguments(ids: list[str], traces: list[str]) -> dict[str, list[dict[str, Any]]]:
    """What each tool is called with."""
    return {
        "search_documents": [{"question": one, "collection": "default", "max_tokens": 2000} for one in QUESTIONS],
        "ask": [{"question": one, "collection": name} for one in QUESTIONS[:3] for name in ("default", "archive")],
        "check": [{"text": "The gate code of the depot is 1234.", "collection": "default"}],
        "explain": [{"trace": one, "collection": "default"} for one in traces],
        "list_documents": [{}, {"collection": "archive"}, {"where": "NOT title = 'x'"}, {"words": "gate"}],
        "search": [{"query": one} for one in QUESTIONS[:3]],
        "fetch": [{"id": f"default/{id_}"} for id_ in ids] + [{"id": "default/gate.md"}],
    }


Told = list[tuple[Any, str]]


def agent(ids: list[str], traces: list[str]) -> Callable[[Client], Awaitable[Told]]:
    """Calls every tool and reads every resource; gives what was asked and told."""
    arguments = tool_arguments(ids, traces)

    async def act(client: Client) -> Told:
        tools = (await client.list_tools()).tools
        told: Told = [("tools", json.dumps([tool.model_dump(mode="json") for tool in tools]))]
        for tool in tools:
            for given in arguments[tool.name]:  # a tool without a line here is a failure
                told.append(((tool.name, given), (await client.call_tool(tool.name, given)).model_dump_json()))
        listed = await client.list_resources()
        told.append(("resources", listed.model_dump_json()))
        for id_ in ids:
            for name in ("default", "archive"):
                try:
                    read = (await client.read_resource(f"thresher://{name}/{id_}")).model_dump_json()
                except Exception as error:  # any: its words are what counts
                    read = str(error)
                told.append((id_, read))
        return told

    return act


def test_tools_of_agents_tell_nothing_of_a_document_that_the_filter_hides(filtered: Filtered) -> None:
    paths = {route.path for route in filtered.one.app.router.routes if isinstance(route, Route)}
    doors = sorted(path for path in paths if path.startswith("/mcp"))
    assert doors == ["/mcp", "/mcp/chatgpt"]
    for team in WORDS:
        ids = sorted({*filtered.documents["operator"], *filtered.documents[team], ABSENT})
        acts = agent(ids, [*filtered.traces.values(), ABSENT])
        for door in doors:
            for what, told in acted_at(f"{filtered.one.url}{door}", acts, key=filtered.keys[team]):
                assert_silent(team, told, (door, what))


@pytest.mark.slow
def test_an_agent_started_with_a_filter_is_told_nothing_of_other_documents(tmp_path: Path) -> None:
    home = made(tmp_path)
    with thresher.open(home) as whole:
        ids = sorted(document.id for document in whole.documents())
        traces = [whole.ask(question).trace for question in (CODE, KEEPER)]
    for team in WORDS:
        for profile in Profile:
            given = ("--where", FILTERS[team], "--profile", profile.value)
            told = over_stdio(agent([*ids, ABSENT], traces), home, *given, errors=tmp_path / "errors")
            assert WORDS[team][1] in json.dumps(told)
            for what, reply in told:
                assert_silent(team, reply, (profile, what))


@pytest.mark.parametrize("own", [None, "kind = 'csv'"])
def test_an_offer_with_a_filter_narrows_what_its_caller_sees(own: str | None) -> None:
    offered = Offer(scopes=frozenset(Scope), where="team = 'north'")
    caller = offered.to(Caller("one", frozenset(Scope), where=own))
    assert caller.where == ("(team = 'north')" if own is None else "(kind = 'csv') AND (team = 'north')")
    assert caller.scopes == READ_ONLY
    assert caller.identity != Caller("one", frozenset(Scope)).identity


def test_an_answer_is_gone_once_what_it_quotes_is_hidden(tmp_path: Path) -> None:
    home = made(tmp_path)
    key = Keys(home).make("north", [Scope.READ, Scope.ASK], ["default"], where="team = 'north'")
    with running(home, server__require_key=True) as one:
        one.client.headers["Authorization"] = f"Bearer {key}"
        conversation = one.client.post(f"{DEFAULT}/conversations").json()["id"]
        answer = one.client.post(f"{DEFAULT}/ask", json={"question": CODE, "conversation": conversation}).json()
        assert "4417" in answer["text"]
        assert one.client.get(f"{DEFAULT}/traces/{answer['trace']}").status_code == 200
        with thresher.open(home) as collection:
            collection.add(tmp_path / "north" / "heron-gate.md", reread=True, metadata={"team": "south"})
        assert one.client.get(f"{DEFAULT}/traces/{answer['trace']}").status_code == 404
        assert one.client.get(f"{DEFAULT}/traces").json()["traces"] == []
        kept = one.client.get(f"{DEFAULT}/conversations/{conversation}").json()
        assert kept["turns"] == []
        again = one.client.post(f"{DEFAULT}/ask", json={"question": CODE, "conversation": conversation}).json()
        assert "heron-gate" not in json.dumps(again)


def test_a_field_that_no_document_has_is_empty_in_each(tmp_path: Path) -> None:
    home = made(tmp_path)
    with running(home, server__require_key=True) as one:
        for number, (where, total) in enumerate(
            {"secret IS NULL": 9, "secret = true": 0, "NOT secret = true": 0}.items()
        ):
            key = Keys(home).make(f"key {number}", [Scope.READ], ["default"], where=where)
            told = one.client.get(f"{DEFAULT}/documents", headers={"Authorization": f"Bearer {key}"}).json()
            assert told["total"] == total, where


@pytest.mark.parametrize(
    ("scopes", "where", "why"),
    [
        ([Scope.READ, Scope.WRITE], "team = 'north'", "scope write"),
        ([Scope.ADMIN], "team = 'north'", "scope admin"),
        ([Scope.READ], "page = 3", "whole documents"),
        ([Scope.READ], "team = ", "filter"),
    ],
)
def test_a_key_with_a_filter_is_refused_what_it_cannot_have(
    tmp_path: Path, scopes: list[Scope], where: str, why: str
) -> None:
    with pytest.raises(UsageError, match=why):
        Keys(tmp_path).make("north", scopes, None, where=where)


def test_a_stored_key_with_a_filter_writes_nothing_whatever_the_file_of_the_keys_says() -> None:
    stored = Key("1", "north", "", tuple(Scope), None, "2026-01-01", where="team = 'north'")
    assert stored.caller.scopes == READ_ONLY
    assert not stored.caller.may(Scope.WRITE)


def test_a_collection_with_a_filter_is_read_only(tmp_path: Path) -> None:
    home = made(tmp_path)
    with thresher.Engine(home) as engine:
        collection = engine.collection(within="team = 'north'")
        file = tmp_path / "north" / "heron-gate.md"
        for change in (lambda: collection.add(file, reread=True), lambda: collection.delete(str(file))):
            with pytest.raises(UsageError, match="may be read only"):
                change()
        assert engine.collection("default") is not collection
