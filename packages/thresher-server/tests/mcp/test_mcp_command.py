"""`thresher mcp` as a person's agent runs it: the real command, over stdio and over HTTP."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from mcp import Client
from mcp_agents import BUILT, MODES, THRESHER, acted_at, over_stdio, structure_of, text_of, tool_names

DISTRIBUTION = Path(__file__).parents[2]


@pytest.mark.slow
@pytest.mark.parametrize("mode", MODES)
def test_an_agent_searches_and_asks_over_stdio(mode: str, indexed_home: Path, tmp_path: Path) -> None:
    async def asked(client: Client) -> tuple[str, str]:
        assert not {"add_document", "delete_document"} & set(await tool_names(client))
        found = await client.call_tool("search_documents", {"question": BUILT})
        answer = await client.call_tool("ask", {"question": BUILT})
        return structure_of(found)["verdict"], structure_of(answer)["answer"]

    verdict, answer = over_stdio(asked, indexed_home, mode=mode, errors=tmp_path / "errors")
    assert verdict == "correct"
    assert "1849" in answer
    assert (tmp_path / "errors").read_text().startswith("thresher answers MCP on stdin and stdout")


@pytest.mark.slow
def test_options_choose_what_is_offered(indexed_home: Path, tmp_path: Path) -> None:
    errors = tmp_path / "errors"
    assert over_stdio(tool_names, indexed_home, "--profile", "chatgpt", errors=errors) == ["search", "fetch"]
    names = over_stdio(tool_names, indexed_home, "--scope", "read", "--writable", errors=errors)
    assert names == ["search_documents", "list_documents", "add_document", "delete_document"]

    async def settings(client: Client) -> str:
        return text_of(await client.call_tool("ask", {"question": "x" * 60}))

    given = ("--set", "server.max_question_characters=50")
    assert "longer than 50 characters" in over_stdio(settings, indexed_home, *given, errors=errors)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--collection", "papers"), "there are: default"),
        (("--port", "1"), "give --http"),
        (("--scope", "write"), "read"),
        (("--where", "page = 3"), "whole documents"),
        (("--where", "title = "), "filter"),
        (("--where", "title = 'x'", "--writable"), "leave out --where or --writable"),
        (("--set", "no.such=1"), "unknown setting"),
        (("--http", "--host", "0.0.0.0"), "thresher keys add"),
    ],
)
def test_options_that_cannot_be_are_told(arguments: tuple[str, ...], words: str, indexed_home: Path) -> None:
    command = [str(THRESHER), "mcp", "--home", str(indexed_home), *arguments]
    done = subprocess.run(command, capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=60, check=False)
    assert done.returncode == 2
    assert words in done.stderr


@contextmanager
def over_http(home: Path, *arguments: str) -> Iterator[str]:
    """The address at which the command answers, until the end of the block."""
    command = [str(THRESHER), "mcp", "--http", "--open", "--port", "0", "--home", str(home), *arguments]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        found = re.search(r"http://\S+/mcp", process.stdout.readline())
        assert found
        yield found[0]
    finally:
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=60)
        assert process.returncode == 0, errors


@pytest.mark.slow
def test_the_command_answers_over_http_too(indexed_home: Path) -> None:
    with over_http(indexed_home, "--scope", "read") as url:
        assert acted_at(url, tool_names) == ["search_documents", "list_documents"]
        found = acted_at(url, lambda client: client.call_tool("search_documents", {"question": BUILT}))
        assert structure_of(found)["passages"][0]["url"].startswith("thresher://default/")


def test_the_entry_of_the_registry_is_of_this_version_and_runs_this_command() -> None:
    entry = json.loads((DISTRIBUTION / "server.json").read_text(encoding="utf-8"))
    project = tomllib.loads((DISTRIBUTION / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert re.fullmatch(r"[a-zA-Z0-9.-]+/[a-zA-Z0-9._-]+", entry["name"])
    assert 1 <= len(entry["description"]) <= 100
    [package] = entry["packages"]
    found = re.search(r'^NEXT = "(.+)"$', (DISTRIBUTION.parents[1] / "version.py").read_text(encoding="utf-8"), re.M)
    assert found is not None
    assert entry["version"] == package["version"] == found[1]
    assert package["runtimeArguments"][0]["value"] == f"{project['name']}=={found[1]}"
    assert package["packageArguments"][0] == {"type": "positional", "value": "mcp"}
    assert "mcp" in project["entry-points"]["thresher.commands"]
