"""requirements.lock, held against what the engine and the server declare; `.ci/wheels` installs it."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parents[2]
LOCK = (ROOT / "requirements.lock").read_text(encoding="utf-8")
PINNED = dict(re.findall(r"^([a-z0-9.-]+)==(\S+)", LOCK, re.MULTILINE))


def declared() -> list[str]:
    engine, server = (
        tomllib.loads((ROOT / folder / "pyproject.toml").read_text(encoding="utf-8"))["project"]
        for folder in ("", "packages/thresher-server")
    )
    extras = engine["optional-dependencies"]
    return [*engine["dependencies"], *extras["large"], *extras["web"], *server["dependencies"]]


@pytest.mark.parametrize("line", [line for line in declared() if not line.startswith("thresher~")])
def test_what_is_declared_is_locked_in_a_version_that_fits(line: str) -> None:
    wanted = Requirement(line)
    pinned = PINNED.get(canonicalize_name(wanted.name), "nothing")
    assert pinned != "nothing", "make lock"
    assert wanted.specifier.contains(pinned), f"is locked as {pinned}: make lock"


def test_every_pin_has_a_hash() -> None:
    pins = re.split(r"^(?=[a-z0-9])", LOCK, flags=re.MULTILINE)[1:]
    assert len(pins) >= len(PINNED) > 50
    assert [pin for pin in pins if "--hash=sha256:" not in pin] == []
