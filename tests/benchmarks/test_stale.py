"""A number that is older than what it measures is told."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from benchmarks.machine import ROOT
from benchmarks.stale import Unreadable, footing, main, measured, stale


def git(root: Path, *arguments: str, when: str = "2026-11-23T12:00:00Z") -> str:
    who = ("-c", "user.name=A", "-c", "user.email=a@b.c", "-c", "commit.gpgsign=false")
    command, on = ["git", "-C", str(root), *who, *arguments], {**os.environ, "GIT_COMMITTER_DATE": when}
    return subprocess.run(command, capture_output=True, text=True, check=True, env=on).stdout


def commit(root: Path, when: str = "2026-11-23T12:00:00Z", **files: str) -> str:
    """Write files (`a__b` is a/b.md for pages, else a/b) and commit them on a day; the commit."""
    for name, text in files.items():
        path = root / name.replace("__", "/").replace("_md", ".md")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    git(root, "add", "-A")
    git(root, "commit", "-qm", "change", when=when)
    return git(root, "rev-parse", "--short", "HEAD").strip()


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    git(tmp_path, "init", "-q")
    commit(tmp_path, engine__fast="1", engine__slow="1", README_md="# Engine\n", docs__page_md="# Page\n")
    return tmp_path


def table(commit: str, of: str) -> str:
    return f"# Engine\n\n<!-- measured: {commit} 2026-11-23; by: python -m speed; of: {of} -->\n\n| a |\n|---|\n| 1 |\n"


def test_a_number_is_stale_once_what_it_measures_has_changed(
    checkout: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    first = commit(checkout, engine__fast="2")
    commit(checkout, README_md=table(first, "engine/fast"), docs__page_md=table(first, "engine"))
    assert stale(checkout) == []
    assert main(["--strict", "--root", str(checkout)]) == 0
    last = commit(checkout, engine__slow="2")
    (one,) = stale(checkout)
    assert (one.measured.page, one.measured.line, one.changes) == ("docs/page.md", 3, 1)
    assert one.last.startswith(f"{last} of ")
    capsys.readouterr()
    assert main(["--root", str(checkout)]) == 0
    assert main(["--root", str(checkout), "--strict"]) == 1
    told = capsys.readouterr().out
    assert "docs/page.md:3: of 2026-11-23" in told
    assert "again: python -m speed" in told
    assert "1 of 2 measured tables are older than what they measure, 1 too old" in told


def test_a_dated_number_shows_its_state_and_bears_four_landings(
    checkout: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    first = commit(checkout, engine__fast="2")
    dated = table(first, "engine").replace("; by", "; dated; by")
    commit(checkout, README_md=dated.replace("<!--", f"Measured on 2026-11-23 at `{first}`.\n\n<!--"))
    commit(checkout, engine__slow="the same day")
    for day in (24, 25, 26, 27):
        commit(checkout, f"2026-11-{day}T23:30:00Z", engine__slow=f"{day}")
        commit(checkout, f"2026-11-{day}T23:50:00Z", engine__slow=f"{day}, later")
    assert main(["--strict", "--root", str(checkout)]) == 0
    told = capsys.readouterr().out
    assert "older README.md:5" in told
    assert "9 commits since in 4 landings" in told
    commit(checkout, "2026-11-28T23:30:00Z", engines_of_others="1")
    assert main(["--strict", "--root", str(checkout)]) == 0
    commit(checkout, "2026-11-29T01:00:00+02:00", engine__slow="a fifth day in UTC")
    capsys.readouterr()
    assert main(["--root", str(checkout)]) == 0
    assert main(["--strict", "--root", str(checkout)]) == 1
    told = capsys.readouterr().out
    assert "too old README.md:5" in told
    assert "1 of 1 measured tables are older than what they measure, 1 too old" in told
    commit(checkout, README_md=dated)
    assert main(["--root", str(checkout)]) == 2
    assert f"write above it: Measured on 2026-11-23 at `{first}`." in capsys.readouterr().out


def test_what_a_command_writes_below_its_tables_can_be_read_again(checkout: Path) -> None:
    first = commit(checkout, engine__fast="2")
    below = footing(first, "2026-11-23", "python -m speed", ("engine/fast", "engine/slow"))
    commit(checkout, README_md=f"# Engine\n\n| a |\n|---|\n| 1 |\n\n{below}\n")
    (one,) = measured(checkout)
    assert (one.commit, one.date, one.by, one.of) == (
        first,
        "2026-11-23",
        "python -m speed",
        ("engine/fast", "engine/slow"),
    )
    assert one.dated


def test_a_number_of_a_path_that_is_gone_is_told(checkout: Path) -> None:
    first = commit(checkout, engine__fast="2")
    commit(checkout, README_md=table(first, "engine/fast"))
    git(checkout, "mv", "engine/fast", "engine/quick")
    git(checkout, "commit", "-qm", "move")
    with pytest.raises(Unreadable, match="engine/fast is gone"):
        stale(checkout)


def test_without_the_history_nothing_is_said_of_numbers(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "README.md").write_text(table("0123abc", "engine"), encoding="utf-8")
    assert main(["--root", str(tmp_path), "--strict"]) == 0
    assert "the history is not here" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("<!-- measured: yesterday; by: me; of: engine -->", "README.md:1: write"),
        ("<!-- measured: 0123abc 2026-11-23; by: me; of: engine -->", "is no commit before this one"),
        ("<!-- measured: {head} 2026-11-23; by: me; of: engines -->", "no commit ever changed engines"),
    ],
)
def test_a_comment_that_cannot_be_held_against_the_history_is_told(
    checkout: Path, line: str, why: str, capsys: pytest.CaptureFixture[str]
) -> None:
    head = git(checkout, "rev-parse", "--short", "HEAD").strip()
    commit(checkout, README_md=line.format(head=head))
    with pytest.raises(Unreadable, match=why):
        stale(checkout)
    assert main(["--root", str(checkout)]) == 2
    assert why in capsys.readouterr().out


def test_the_comments_of_this_project_can_be_read_and_stand_beside_tables() -> None:
    told = list(measured(ROOT))
    assert {one.page for one in told} >= {"docs/running.md", "docs/results/models.md"}
    for one in told:
        lines = (ROOT / one.page).read_text(encoding="utf-8").splitlines()
        below = next((line for line in lines[one.line :] if line.strip()), "")
        above = [line for line in lines[: one.line] if line.strip()]
        assert below.startswith("|") or any(line.startswith("|") for line in above), f"{one.page}:{one.line}"
