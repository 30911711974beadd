"""The tools that change documents, where the operator lets agents write."""

from __future__ import annotations

from pathlib import Path

import pytest
from mcp import Client
from mcp_agents import acted, structure_of, text_of, tool_names
from mcp_types import CallToolResult

import thresher
from tests.servers.own import filled
from thresher_server.security.keys import READ_ONLY, Offer, Scope

WRITABLE = Offer(scopes=READ_ONLY | {Scope.WRITE})
MAYOR = "# The mayor\n\nThe mayor of Fernby is Ida Skov, 市長.\n"


def test_without_the_scope_no_tool_that_writes_is_there(tmp_path: Path) -> None:
    async def tried(client: Client) -> CallToolResult:
        assert not {"add_document", "delete_document"} & set(await tool_names(client))
        return await client.call_tool("add_document", {"text": MAYOR, "name": "mayor.md"})

    result = acted(tmp_path, tried)
    assert result.is_error
    assert "Unknown tool" in text_of(result)
    assert not list(tmp_path.iterdir())


def test_a_text_is_added_changed_found_and_forgotten(tmp_path: Path) -> None:
    async def lived(client: Client) -> None:
        states = []
        for text in (MAYOR, MAYOR, MAYOR.replace("Ida Skov", "Otto Lind")):
            told = structure_of(await client.call_tool("add_document", {"text": text, "name": "mayor"}))
            states.append((told["name"], told["state"]))
        assert states == [("mayor.md", "added"), ("mayor.md", "unchanged"), ("mayor.md", "updated")]
        found = await client.call_tool("search_documents", {"question": "Who is the mayor of Fernby?"})
        assert "Otto Lind, 市長" in text_of(found)
        assert "Ida Skov" not in text_of(found)
        document = structure_of(found)["passages"][0]["document"]
        gone = structure_of(await client.call_tool("delete_document", {"document": document}))
        assert [Path(one).name for one in gone["deleted"]] == ["mayor.md"]
        again = await client.call_tool("delete_document", {"document": document})
        assert "see list_documents" in text_of(again)

    acted(tmp_path, lived, WRITABLE)
    assert not list((tmp_path / "server" / "uploads").rglob("*.md"))


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"url": "http://169.254.169.254/latest/meta-data"}, "not on the public internet"),
        ({"url": "http://127.0.0.1:1/x"}, "refused"),
        ({"url": "file:///etc/passwd"}, "String should match pattern"),
        ({"url": "/etc/passwd"}, "String should match pattern"),
        ({"text": "some words"}, "a `name` such as"),
        ({"text": " ", "name": "empty.md"}, "a `name` such as"),
        ({}, "give either `text`"),
        ({"text": "a", "name": "b", "url": "https://example.org"}, "give either `text`"),
    ],
)
def test_what_cannot_be_added_is_an_error(arguments: dict[str, str], words: str, tmp_path: Path) -> None:
    result = acted(tmp_path, lambda client: client.call_tool("add_document", arguments), WRITABLE)
    assert result.is_error
    assert words in text_of(result)


def test_a_name_never_leads_out_of_the_home(tmp_path: Path) -> None:
    home = tmp_path / "home"
    given = {"text": MAYOR, "name": "../../../escaped.md"}
    structure_of(acted(home, lambda client: client.call_tool("add_document", given), WRITABLE))
    [kept] = tmp_path.rglob("escaped.md")
    assert kept.is_relative_to(home / "server" / "uploads")


def test_an_agent_writes_only_where_it_may(tmp_path: Path) -> None:
    filled(tmp_path / "home", secret="The vault opens at nine.")
    offer = Offer(scopes=WRITABLE.scopes, collections=frozenset({"notes"}))

    async def tried(client: Client) -> None:
        made = await client.call_tool("add_document", {"text": MAYOR, "name": "m.md", "collection": "notes"})
        assert structure_of(made)["collection"] == "notes"
        for tool, given in (
            ("add_document", {"text": MAYOR, "name": "m.md"}),
            ("delete_document", {"document": "secret.txt"}),
        ):
            refused = await client.call_tool(tool, {**given, "collection": "secret"})
            assert "there are: notes" in text_of(refused)

    acted(tmp_path / "home", tried, offer)
    with thresher.open(tmp_path / "home", "secret") as collection:
        assert [Path(one.source).name for one in collection.documents()] == ["secret.txt"]
