"""What every `thresher eval` command has in common."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Run = Callable[..., Any]
OLD_RUN = Path(__file__).with_name("old_run")


@pytest.mark.parametrize(
    "command",
    [
        ("run", "--dataset", "qa:{qa}", "--recipe", "rag", "--out", "{out}"),
        ("compare", "--questions", "{qa}", "--out", "{out}"),
        ("make-questions", "--out", "{out}"),
        ("study", "redundancy", "--questions", "{qa}", "--out", "{out}"),
        ("judge", str(OLD_RUN)),
        ("judge", str(OLD_RUN), "--judge", "llm"),
    ],
)
def test_a_setting_that_nobody_has_is_refused_by_every_command_before_anything_is_written(
    run: Run, indexed: Path, qa: Path, tmp_path: Path, command: tuple[str, ...]
) -> None:
    out = tmp_path / "out"
    before = sorted(OLD_RUN.rglob("*"))
    given = [word.format(qa=qa, out=out) for word in command]
    home = () if given[0] == "judge" else ("--home", indexed)
    refused = run("eval", *given, *home, "--set", "chunk.sise=3")
    assert refused.code == 2
    assert "chunk.sise" in refused.error
    assert not out.exists()
    assert sorted(OLD_RUN.rglob("*")) == before


def test_an_error_of_the_library_is_told_in_flags(run: Run, qa: Path, indexed: Path, tmp_path: Path) -> None:
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "mine.txt").touch()
    given = ("eval", "run", "--dataset", f"qa:{qa}", "--recipe", "rag", "--home", indexed)
    refused = run(*given, "--out", tmp_path / "full")
    assert refused.code == 2
    assert "already holds something; give another --out, or --resume to go on with it" in refused.err


def test_scores_are_a_table_and_say_what_is_left_out(run: Run) -> None:
    shown = run("eval", "score", OLD_RUN, "--measure", "match", "--measure", "right").out.splitlines()
    assert shown[0] == "measure\trag\tcorrective"
    assert [line.split("\t")[0] for line in shown[1:3]] == ["match", "right"]
    assert "outcome\trag\tcorrective" in shown
    assert any("asked in turn, question by question" in line for line in shown)
