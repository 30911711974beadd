"""`thresher demo` tells its story in four answers, read beside a golden file."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.conftest import Run

GOLDEN = Path(__file__).parent.parent / "golden" / "demo.txt"


def told(output: str) -> str:
    """The output without what differs from machine to machine: seconds, probabilities, folders."""
    output = re.sub(r"\d+\.\d+ s\b", "N s", output)
    output = re.sub(r"\(0\.\d\d\)", "(N)", output)
    output = re.sub(r"\S*/(museum|almanac)/", r"\1/", output)
    return re.sub(r"\$ \S+ (index|ask) (FOLDER|\")", r"$ thresher \1 \2", output)


def test_the_demo_answers_makes_up_refuses_and_corrects(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    done = run("demo")
    assert done.code == 0
    assert told(done.out) == GOLDEN.read_text(encoding="utf-8")
