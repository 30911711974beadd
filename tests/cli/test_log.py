"""`--log-level` shows what the engine logs, wherever it stands, on stderr alone."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.conftest import Run
from thresher_testing.llm_server import Reply, ScriptedServer

QUESTION = "When was the Kõpu lighthouse built?"


@pytest.mark.parametrize("words", [["ask", QUESTION, "--log-level=info"], ["--json", "--log-level", "info", QUESTION]])
def test_the_log_goes_to_stderr_wherever_the_option_stands_and_ends_with_the_command(
    run: Run, indexed: Path, words: list[str]
) -> None:
    more = ("--recipe", "rag", "--home", indexed)
    ran = run(*words, *more)
    assert (ran.code, "INFO" in ran.out) == (0, False)
    assert "INFO thresher.tracing.traces: retrieve: " in ran.err
    if "--json" in words:
        assert "1531" in json.loads(ran.out)["text"]
    assert "INFO" not in run("ask", QUESTION, *more).err
    assert "INFO" not in run("--log-level", "error", "ask", QUESTION, *more).err


def test_what_is_indexed_and_asked_of_a_server_is_logged_without_its_key(
    run: Run, tmp_path: Path, serve: Callable[..., ScriptedServer]
) -> None:
    server = serve(Reply("1531 [1]."))
    (tmp_path / "note.txt").write_text("The Kõpu lighthouse was built in 1531.", encoding="utf-8")
    home = tmp_path / "home"
    told = run("index", tmp_path / "note.txt", "--recipe", "rag", "--home", home, "--log-level", "debug").err
    assert "INFO thresher.indexing.ingest: committed 1 new and 0 changed documents" in told
    assert "DEBUG thresher.stores.lance_table: documents: compacting" in told
    settings = [f"llm.base_url={server.base_url}", "llm.model=m", "llm.api_key=sk-secret"]
    given = [word for setting in settings for word in ("--set", setting)]
    told = run("ask", QUESTION, "--recipe", "rag", "--home", home, "--log-level", "debug", *given).err
    assert "DEBUG thresher.net: POST 127.0.0.1: 200" in told
    assert "sk-secret" not in told


def test_a_level_that_there_is_not_is_refused(run: Run) -> None:
    ran = run("recipes", "--log-level", "loud")
    assert ran.code == 2
    assert "'loud' is not one of 'debug', 'info', 'warning', 'error'" in ran.error
