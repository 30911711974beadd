"""`thresher serve` and `thresher keys`, as processes."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import httpx
import pytest

from thresher_server.security.keys import Keys, Scope

THRESHER = Path(sys.executable).with_name("thresher")


def ran(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([THRESHER, *arguments], capture_output=True, text=True, timeout=60)


def test_a_server_beyond_loopback_does_not_start_without_a_key(tmp_path: Path) -> None:
    told = ran("serve", "--host", "0.0.0.0", "--home", str(tmp_path))
    assert told.returncode == 2
    assert "thresher keys add" in told.stderr


def test_a_file_of_expectations_is_looked_at_before_the_server_says_that_it_answers(tmp_path: Path) -> None:
    (tmp_path / "knowledge.yaml").write_text("questions: [{question: 1}]")
    wrong = {"knowledge.yaml": "is missing", "none/knowledge.yaml": "is not there"}
    for file, why in wrong.items():
        told = ran("serve", "--port", "0", "--home", str(tmp_path), "--set", f"server.knowledge={tmp_path / file}")
        assert told.returncode == 2
        assert why in told.stderr
        assert "answers at" not in told.stdout


def test_other_words_for_making_a_key_name_the_command_for_it() -> None:
    assert "Did you mean 'add'?" in ran("keys", "create", "mara").stderr


def test_a_port_that_is_taken_is_told(served: object, tmp_path: Path) -> None:
    port = str(served.url.rsplit(":", 1)[1])  # type: ignore[attr-defined]
    told = ran("serve", "--home", str(tmp_path), "--port", port)
    assert told.returncode == 2
    assert "cannot be listened on" in told.stderr


@pytest.mark.slow
def test_a_key_is_made_listed_rotated_and_revoked(tmp_path: Path) -> None:
    home = ("--home", str(tmp_path))
    made = ran("keys", "add", "support desk", "--scope", "ask", "--collection", "faq", *home).stdout.strip()
    keys = Keys(tmp_path)
    caller = keys.caller(made)
    assert caller is not None
    assert (caller.name, caller.may(Scope.ASK, "faq"), caller.may(Scope.ASK, "other")) == ("support desk", True, False)
    assert made.rsplit("_", 1)[1] not in (tmp_path / "server" / "keys.json").read_text(encoding="utf-8")
    assert "support desk: ask in faq" in ran("keys", "list", *home).stdout
    rotated = ran("keys", "rotate", "support desk", *home).stdout.strip()
    assert keys.caller(made) is None
    assert keys.caller(rotated) == caller
    assert ran("keys", "revoke", "support desk", *home).returncode == 0
    assert keys.caller(rotated) is None
    assert ran("keys", "revoke", "support desk", *home).returncode == 2


@pytest.mark.slow
@pytest.mark.parametrize("workers", ["1", "2"])
def test_a_server_that_is_interrupted_ends_well(indexed_home: Path, workers: str) -> None:
    command = [THRESHER, "serve", "--home", str(indexed_home), "--port", "0", "--workers", workers]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, process_group=0)
    try:
        assert process.stdout is not None
        address = re.search(r"(http://\S+/)#token=(\S+)", process.stdout.readline())
        assert address is not None
        assert httpx.get(f"{address[1]}health", timeout=60).status_code == 200
        asked = [httpx.get(f"{address[1]}api/session", headers=own) for own in ({}, {"X-API-Key": address[2]})]
        assert [reply.status_code for reply in asked] == [401, 200]
        process.send_signal(signal.SIGINT)
        printed, complained = process.communicate(timeout=60)
        assert (process.returncode, printed, complained) == (0, "", "")
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
