"""What docs/doors.md shows of curl is what comes back."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from tests.servers.own import Running
from tests.test_docs import FENCE, pattern_of

PAGE = Path(__file__).resolve().parents[4] / "docs" / "doors.md"
SHOWN = "http://127.0.0.1:8765"
SESSIONS = [code for named, code in FENCE.findall(PAGE.read_text(encoding="utf-8")) if named == "text"]


def parts(session: str) -> tuple[str, str]:
    """The command, up to where its last quote is closed, and what it is shown to print."""
    lines = session.removeprefix("$ ").splitlines()
    upto = next(at for at in range(1, len(lines) + 1) if "\n".join(lines[:at]).count("'") % 2 == 0)
    return "\n".join(lines[:upto]), "\n".join(lines[upto:])


@pytest.mark.parametrize("session", SESSIONS)
def test_each_request_is_answered_as_the_page_shows(session: str, served: Running) -> None:
    command, shown = parts(session)
    assert SHOWN in command
    line = command.replace(SHOWN, served.url)
    printed = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", line], capture_output=True, text=True, check=True
    ).stdout
    assert re.fullmatch(pattern_of(shown).removesuffix(r"\n"), printed.replace(served.url, SHOWN)), printed


def test_the_page_shows_each_door() -> None:
    addresses = set(re.findall(SHOWN + r"(/[\w/]+)", "".join(SESSIONS)))
    assert {"/v2/rerank", "/rerank", "/process", "/search", "/retrieval", "/v1/check"} <= addresses
