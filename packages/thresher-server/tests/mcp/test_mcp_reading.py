"""The tools that read, in memory, with both forms of the protocol."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from mcp import Client, MCPError
from mcp_agents import BUILT, MODES, UNKNOWN, acted, called, structure_of, text_of
from mcp_types import CallToolResult

import thresher
from tests.servers.own import DOCUMENTS
from thresher_server.mcp import wording
from thresher_server.mcp.shapes import AnswerResult
from thresher_server.mcp.wording import tokens_at_most
from thresher_server.security.keys import Offer, Scope

READING = {"search_documents", "list_documents", "ask", "check", "explain"}


@pytest.mark.parametrize("mode", MODES)
def test_an_agent_is_offered_tools_that_only_read(mode: str, indexed_home: Path) -> None:
    async def listed(client: Client) -> None:
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
        assert set(tools) == READING
        for tool in tools.values():
            assert tool.annotations is not None
            assert tool.annotations.read_only_hint
            assert tool.annotations.open_world_hint is False
            assert tool.output_schema is not None
            assert "Do not call" in (tool.description or "")

    acted(indexed_home, listed, mode=mode)


@pytest.mark.parametrize("mode", MODES)
def test_a_search_gives_passages_with_their_places_and_what_was_dropped(mode: str, indexed_home: Path) -> None:
    result = called(indexed_home, "search_documents", mode=mode, question=BUILT)
    told = structure_of(result)
    assert (told["verdict"], told["collection"]) == ("correct", "default")
    assert told["confidence"] > 0.85
    first = told["passages"][0]
    assert first["source"].endswith("lighthouse.md")
    assert DOCUMENTS["lighthouse.md"][first["start"] : first["end"]] == first["text"]
    assert first["url"].startswith("file://")
    assert first["document"].startswith("thresher://default/")
    assert told["dropped_in_all"] == len(told["dropped"]) > 0
    assert all(one["why"] for one in told["dropped"])
    assert f"[1] {first['text']}" in text_of(result)


@pytest.mark.parametrize("mode", MODES)
def test_that_there_is_no_evidence_is_a_result(mode: str, indexed_home: Path) -> None:
    result = called(indexed_home, "search_documents", mode=mode, question=UNKNOWN)
    told = structure_of(result)
    assert (told["verdict"], told["passages"]) == ("incorrect", [])
    assert "below" in told["reason"]
    assert "do not answer from these documents" in text_of(result)


@pytest.mark.parametrize("nothing", [None, ""])
def test_query_is_taken_for_question_and_null_or_nothing_for_what_is_left_out(
    nothing: str | None, indexed_home: Path
) -> None:
    plain = called(indexed_home, "search_documents", question=BUILT)
    meant = called(indexed_home, "search_documents", query=BUILT, where=nothing, recipe=nothing, collection=nothing)
    assert not meant.is_error
    assert structure_of(meant)["passages"] == structure_of(plain)["passages"]


def test_an_answer_has_citations_and_a_trace_that_explains_it(indexed_home: Path) -> None:
    async def asked(client: Client) -> tuple[CallToolResult, CallToolResult]:
        answer = await client.call_tool("ask", {"question": BUILT})
        return answer, await client.call_tool("explain", {"trace": structure_of(answer)["trace"]})

    answer, explained = acted(indexed_home, asked)
    told = structure_of(answer)
    assert "1849" in told["answer"]
    assert told["citations"][0]["quote"].startswith("The lighthouse of Fernby was built in 1849. Its lamp")
    assert told["sentences"][0]["state"] == "quoted"
    assert "[1] lighthouse.md" in text_of(answer)
    why = structure_of(explained)
    assert [step["name"] for step in why["steps"]][:3] == ["rewrite", "retrieve", "judge"]
    assert {chunk["kept"] for chunk in why["chunks"]} == {True, False}
    assert why["chunks"][0]["kept"]
    assert "dropped" in text_of(explained)


def test_a_doubt_has_its_reason_below_the_passage(indexed_home: Path) -> None:
    told = structure_of(called(indexed_home, "ask", question=BUILT))
    reason = "The passage does not name Seal Rock."
    text = wording.answer(AnswerResult(**{**told, "state": "doubtful", "certainty": 0.95, "reason": reason}))
    assert text.startswith(f"{told['answer']}\nWhy: {reason}\nAnswer: ")
    assert "Answer: in doubt, 19 of 20 such answers are right." in text


def test_a_text_is_checked_claim_by_claim_the_worst_first(indexed_home: Path) -> None:
    text = "The railway is 24 kilometres long. The lighthouse of Fernby was built in 1848."
    told = structure_of(called(indexed_home, "check", text=text))
    assert [claim["state"] for claim in told["claims"]] == ["contradicted", "quoted"]
    worst = told["claims"][0]
    assert text[worst["start"] : worst["end"]] == worst["text"]
    assert "1849" in worst["citations"][0]["quote"]
    assert told["support"] == 0.5


def test_documents_are_listed_by_words_and_in_parts(indexed_home: Path) -> None:
    told = structure_of(called(indexed_home, "list_documents", limit=3))
    assert (len(told["documents"]), told["total"], told["next_offset"]) == (3, 4, 3)
    assert told["collections"] == [{"name": "default", "documents": 4}]
    rest = called(indexed_home, "list_documents", limit=3, offset=3)
    assert structure_of(rest)["next_offset"] is None
    assert "4 to 4 of 4 documents" in text_of(rest)
    by_word = structure_of(called(indexed_home, "list_documents", words="lighthouse"))
    assert [one["title"] for one in by_word["documents"]] == ["The lighthouse"]
    assert "0 documents" in text_of(called(indexed_home, "list_documents", words="nothing"))


@pytest.mark.parametrize("mode", MODES)
def test_documents_are_resources(mode: str, indexed_home: Path) -> None:
    async def read(client: Client) -> list[str]:
        listed = {one.name: one.uri for one in (await client.list_resources()).resources}
        assert set(listed) == set(DOCUMENTS)
        addresses = [listed["ferry.md"], "thresher://default/texts/ferry.md"]
        return [_text((await client.read_resource(one)).contents[0]) for one in addresses]

    assert acted(indexed_home, read, mode=mode) == [DOCUMENTS["ferry.md"].strip()] * 2


def _text(content: Any) -> str:
    return str(content.text)


@pytest.mark.parametrize(
    ("uri", "words"),
    [
        ("thresher://default/nothing.md", "see list_documents"),
        ("thresher://others/ferry.md", "there are: default"),
        ("thresher://default/../../etc/passwd", ""),
    ],
)
def test_a_resource_that_is_not_there_says_so(uri: str, words: str, indexed_home: Path) -> None:
    async def read(client: Client) -> None:
        with pytest.raises(MCPError) as caught:
            await client.read_resource(uri)
        assert caught.value.error.code == -32602
        assert words in caught.value.error.message

    acted(indexed_home, read, mode="legacy")


def test_a_prompt_tells_how_to_answer(indexed_home: Path) -> None:
    async def told(client: Client) -> tuple[list[str], str]:
        given = {"question": "Why {braces}?", "collection": "papers"}
        names = [one.name for one in (await client.list_prompts()).prompts]
        return names, (await client.get_prompt("answer_from_documents", given)).model_dump_json() if names else ""

    names, text = acted(indexed_home, told)
    assert names == ["answer_from_documents"]
    assert all(part in text for part in ("Why {braces}?", "search_documents", "verdict", "check", "papers"))
    assert acted(indexed_home, told, Offer(scopes=frozenset({Scope.READ})))[0] == []  # it calls check


# --- what goes wrong --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("tool", "arguments", "words"),
    [
        ("search_documents", {"question": BUILT, "collection": "papers"}, "there are: default"),
        ("ask", {"question": BUILT, "recipe": "best"}, "there are: corrective"),
        ("search_documents", {"question": BUILT, "where": "kind ="}, "write it like"),
        ("search_documents", {"question": "  "}, "the question is empty"),
        ("search_documents", {"question": "x" * 9000}, "longer than 8,000 characters"),
        ("search_documents", {"question": BUILT, "max_tokens": 10**6}, "less than or equal to 4000"),
        ("explain", {"trace": "../../x"}, "`ask` returns one"),
        ("explain", {"trace": "0123456789ab"}, "`ask` returns one"),
        ("check", {"text": " "}, "the text is empty"),
    ],
)
def test_an_error_says_what_to_do_next(tool: str, arguments: dict[str, object], words: str, indexed_home: Path) -> None:
    result = called(indexed_home, tool, **arguments)
    assert result.is_error
    assert words in text_of(result)


def test_a_broken_index_is_an_error_and_no_empty_result(indexed_home: Path, tmp_path: Path) -> None:
    home = tmp_path / "home"
    shutil.copytree(indexed_home, home)
    for file in home.rglob("*.lance"):
        if file.is_file():
            file.write_bytes(b"damaged")
    for tool, arguments in (
        ("search_documents", {"question": BUILT}),
        ("ask", {"question": BUILT}),
        ("list_documents", {}),
    ):
        result = called(home, tool, **arguments)
        assert result.is_error
        assert "tell the operator" in text_of(result)

    async def listed(client: Client) -> None:
        with pytest.raises(MCPError, match="cannot be listed"):
            await client.list_resources()

    acted(home, listed)


# --- any text, any size -----------------------------------------------------------------------------------------------

LIMIT = 25_000
"""Tokens of a result that agents refuse."""

NASTY = {
    "unicode.md": "# Übersicht 概要 🚢\n\nDie Fähre nach Gåsøy fährt um 06:40 Uhr. 渡し船は06:40に出ます。\n\n"
    "الساعة 🕰️ \u202e\u0007 e\u0301.\n",
    "long_word.txt": "The harbour code is " + "AbC9+/" * 8000 + ".\n",
    "symbols.txt": "The harbour signs are " + '🚢⚓|{}\\"' * 5000 + ".\n",
    "many.txt": "".join(f"The harbour of town {n} opens at {n % 24} o'clock.\n\n" for n in range(300)),
}


@pytest.fixture(scope="module")
def nasty_home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("nasty")
    (folder / "texts").mkdir()
    for name, text in NASTY.items():
        (folder / "texts" / name).write_text(text, encoding="utf-8")
    with thresher.open(folder / "home") as collection:
        collection.add(folder / "texts", recipe=["corrective", "hybrid"])
    return folder / "home"


@pytest.mark.slow
def test_no_result_is_longer_than_agents_take(nasty_home: Path) -> None:
    async def everything(client: Client) -> list[tuple[str, CallToolResult]]:
        results = []
        for question in ("What is the harbour code?", "What are the harbour signs?", "When does town 5 open?"):
            for recipe in ("corrective", "hybrid"):
                given = {"question": question, "recipe": recipe, "max_tokens": 4000}
                results.append(("search_documents", await client.call_tool("search_documents", {**given, "limit": 50})))
                results.append(("ask", answer := await client.call_tool("ask", given)))
                trace = {"trace": structure_of(answer)["trace"]}
                results.append(("explain", await client.call_tool("explain", trace)))
        text = " ".join(f"The harbour of town {n} opens at {n % 23} o'clock." for n in range(20))
        results.append(("check", await client.call_tool("check", {"text": text})))
        results.append(("list_documents", await client.call_tool("list_documents", {"limit": 200})))
        return results

    for tool, result in acted(nasty_home, everything):
        whole = text_of(result) + json.dumps(structure_of(result), ensure_ascii=False)
        assert tokens_at_most(whole) < LIMIT, tool


def test_a_long_document_is_cut_and_says_so(nasty_home: Path) -> None:
    async def read(client: Client) -> str:
        return _text((await client.read_resource("thresher://default/long_word.txt")).contents[0])

    text = acted(nasty_home, read)
    assert text.endswith("search_documents reads the whole)")
    assert tokens_at_most(text) < LIMIT


def test_what_was_left_out_is_told(indexed_home: Path) -> None:
    text = " ".join(f"Town {n} is called {'Ñandú' * 60}{n}." for n in range(30))
    told = structure_of(called(indexed_home, "check", text=text))
    assert told["claims_in_all"] == 30
    assert len(told["claims"]) < 30
    assert "were left out" in told["omitted"]
