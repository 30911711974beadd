"""The tools that read, in memory, with both forms of the protocol."""

from __future__ import annotations

import asyncio
import json
import shutil
from pathlib import Path

import pytest
from mcp import Client, MCPError
from mcp_types import CallToolResult

import thresher
from tests.server.conftest import DOCUMENTS
from tests.server.mcp.agents import (
    BUILT,
    MODES,
    UNKNOWN,
    acted,
    agent,
    called,
    structure_of,
    text_of,
    tool_names,
)
from thresher_server.mcp.fitting import tokens_at_most
from thresher_server.mcp.offer import Offer
from thresher_server.security.keys import Scope

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


def test_a_search_stays_within_its_budget(indexed_home: Path) -> None:
    told = structure_of(called(indexed_home, "search_documents", question=BUILT, max_tokens=20))
    assert [one["marker"] for one in told["passages"]] == [1]
    assert told["tokens"] <= 20


@pytest.mark.parametrize("nothing", [None, ""])
def test_query_is_taken_for_question_and_null_or_nothing_for_what_is_left_out(
    nothing: str | None, indexed_home: Path
) -> None:
    plain = called(indexed_home, "search_documents", question=BUILT)
    meant = called(indexed_home, "search_documents", query=BUILT, where=nothing, recipe=nothing, collection=nothing)
    assert not meant.is_error
    assert structure_of(meant)["passages"] == structure_of(plain)["passages"]


def test_a_filter_and_a_recipe_are_heeded(indexed_home: Path) -> None:
    found = called(indexed_home, "search_documents", question=BUILT, where="title = 'Tides'", recipe="hybrid")
    told = structure_of(found)
    assert told["recipe"] == "hybrid"
    assert {one["title"] for one in told["passages"]} <= {"Tides"}


def test_an_answer_has_citations_and_a_trace_that_explains_it(indexed_home: Path) -> None:
    async def asked(client: Client) -> tuple[CallToolResult, CallToolResult]:
        answer = await client.call_tool("ask", {"question": BUILT})
        return answer, await client.call_tool("explain", {"trace": structure_of(answer)["trace"]})

    answer, explained = acted(indexed_home, asked)
    told = structure_of(answer)
    assert "1849" in told["answer"]
    assert (
        told["citations"][0]["quote"]
        == "The lighthouse of Fernby was built in 1849. Its lamp was rebuilt in 1902 by Ada Holm."
    )
    assert told["sentences"][0]["state"] == "supported"
    assert "[1] lighthouse.md" in text_of(answer)
    why = structure_of(explained)
    assert [step["name"] for step in why["steps"]][:3] == ["rewrite", "retrieve", "judge"]
    assert {chunk["kept"] for chunk in why["chunks"]} == {True, False}
    assert why["chunks"][0]["kept"]
    assert "dropped" in text_of(explained)


def test_an_abstention_is_a_result_with_its_reason(indexed_home: Path) -> None:
    told = structure_of(called(indexed_home, "ask", question=UNKNOWN))
    assert told["abstained"]
    assert told["citations"] == []
    assert told["reason"].startswith("Nothing in your documents answers this. Nearest: ")


def test_the_steps_of_an_answer_are_told_as_they_end(indexed_home: Path) -> None:
    steps: list[str] = []

    async def heard(progress: float, total: float | None, message: str | None) -> None:
        steps.append(f"{progress:g} {message}")

    acted(indexed_home, lambda client: client.call_tool("ask", {"question": BUILT}, progress_callback=heard))
    assert steps[0].startswith("1 rewrite")
    assert steps[-1].startswith("8 verify")


def test_a_text_is_checked_claim_by_claim_the_worst_first(indexed_home: Path) -> None:
    text = "The railway is 24 kilometres long. The lighthouse of Fernby was built in 1848."
    told = structure_of(called(indexed_home, "check", text=text))
    assert [claim["state"] for claim in told["claims"]] == ["contradicted", "supported"]
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


def _text(content: object) -> str:
    text = getattr(content, "text", None)
    assert isinstance(text, str)
    return text


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
    async def prompted(client: Client) -> str:
        given = {"question": "Why {braces}?", "collection": "papers"}
        return json.dumps((await client.get_prompt("answer_from_documents", given)).model_dump(mode="json"))

    told = acted(indexed_home, prompted)
    assert "Why {braces}?" in told
    assert "search_documents" in told
    assert "papers" in told


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


def test_an_empty_home_is_an_error_that_says_how_to_fill_it(tmp_path: Path) -> None:
    for tool, arguments in (("search_documents", {"question": BUILT}), ("list_documents", {})):
        result = called(tmp_path, tool, **arguments)
        assert result.is_error
        assert "thresher index" in text_of(result)


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


def test_too_many_at_once_are_told_to_come_back(indexed_home: Path) -> None:
    async def crowd(client: Client) -> list[CallToolResult]:
        return await asyncio.gather(*(client.call_tool("search_documents", {"question": BUILT}) for _ in range(8)))

    results = acted(indexed_home, crowd, server__concurrency=1, server__queue=1)
    refused = [text_of(one) for one in results if one.is_error]
    assert 1 <= len(refused) <= 6
    assert all("too many questions at once; come back in a moment" in one for one in refused)


# --- scopes -----------------------------------------------------------------------------------------------------------


def test_the_operator_chooses_what_an_agent_may_do(indexed_home: Path) -> None:
    names = acted(indexed_home, tool_names, Offer(scopes=frozenset({Scope.READ})))
    assert names == ["search_documents", "list_documents"]
    assert acted(indexed_home, tool_names, Offer(scopes=frozenset({Scope.ASK}))) == ["ask", "check", "explain"]


def test_an_agent_sees_the_collections_it_was_given_and_no_other(tmp_path: Path) -> None:
    home = tmp_path / "home"
    for name, text in (("public", "The harbour opens at six."), ("secret", "The vault opens at nine.")):
        file = tmp_path / f"{name}.txt"
        file.write_text(text, encoding="utf-8")
        with thresher.open(home, name) as collection:
            collection.add(file)

    async def asked(client: Client) -> None:
        listed = structure_of(await client.call_tool("list_documents", {}))
        assert listed["collections"] == [{"name": "public", "documents": 1}]
        refused = await client.call_tool("search_documents", {"question": "When?", "collection": "secret"})
        assert refused.is_error
        assert text_of(refused).endswith("there are: public")
        found = structure_of(await client.call_tool("search_documents", {"question": "When does the harbour open?"}))
        assert found["collection"] == "public"
        assert [one.name for one in (await client.list_resources()).resources] == ["public.txt"]

    acted(home, asked, Offer(collections=frozenset({"public"})))

    async def unsure(client: Client) -> None:
        result = await client.call_tool("search_documents", {"question": "When does the harbour open?"})
        assert "say which collection; there are: public, secret" in text_of(result)

    acted(home, unsure)


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
        collection.add(folder / "texts")
    return folder / "home"


def test_unicode_comes_back_as_it_stands_in_the_document(nasty_home: Path) -> None:
    result = called(
        nasty_home, "search_documents", question="Wann fährt die Fähre nach Gåsøy? 🚢", where="title LIKE '%bersicht%'"
    )
    told = structure_of(result)
    assert any("Gåsøy fährt um 06:40" in one["text"] for one in told["passages"])
    checked = structure_of(called(nasty_home, "check", text="Die Fähre nach Gåsøy 🚢 fährt um 06:40 Uhr. 猫は眠る。"))
    assert "".join(sorted(one["text"] for one in checked["claims"])).count("🚢") == 1


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


def test_two_agents_at_once_are_both_answered(indexed_home: Path) -> None:
    async def both() -> list[list[bool]]:
        async with agent(indexed_home) as one, agent(indexed_home, mode="legacy") as other:
            return await asyncio.gather(_five(one), _five(other))

    async def _five(client: Client) -> list[bool]:
        results = await asyncio.gather(*(client.call_tool("search_documents", {"question": BUILT}) for _ in range(5)))
        return ["1849" in text_of(result) for result in results]

    assert asyncio.run(both()) == [[True] * 5] * 2
