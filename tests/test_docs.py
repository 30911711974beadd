"""The documentation is true: its commands run, its Python runs, its generated pages are up to date."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
FENCE = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
LEFT_OUT = "…"
"""In an output that is shown, stands for anything within its line; alone on a line, for any lines."""


def blocks(*languages: str) -> list[tuple[str, str, str]]:
    """(page, language, code) of every fenced block of these languages, in the order a reader meets them."""
    return [
        (page.name, named, code)
        for page in PAGES
        for named, code in FENCE.findall(page.read_text(encoding="utf-8"))
        if named in languages
    ]


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder as the documentation supposes it: this project's README.md and docs/, papers/ and notes.md, indexed."""
    folder = tmp_path_factory.mktemp("desk")
    for place in (folder / "docs", folder / "papers"):
        place.mkdir()
        for page in PAGES:
            (place / page.name).write_bytes(page.read_bytes())
    (folder / "docs" / "README.md").replace(folder / "README.md")
    (folder / "notes.md").write_text("# Notes\n\nBring a lamp, because the cellar has no light.\n", encoding="utf-8")
    run("thresher index papers/ notes.md", folder)
    return folder


def run(command: str, folder: Path) -> str:
    """Run a line of shell in a folder; what it printed on stdout. Fails with what it printed."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    environment = {**os.environ, "PATH": path}
    line = ["bash", "-euo", "pipefail", "-c", command]
    done = subprocess.run(line, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
    return done.stdout


def check_session(session: str, folder: Path) -> None:
    """Run the lines after `$ ` and compare what they print with what is shown; `LEFT_OUT` stands for anything."""
    for part in re.split(r"^\$ ", session, flags=re.MULTILINE)[1:]:
        command, _, shown = part.partition("\n")
        printed = run(command, folder)
        assert re.fullmatch(pattern_of(shown), printed), f"$ {command}\nprints\n{printed}\nand the page shows\n{shown}"


def pattern_of(shown: str) -> str:
    """The outputs that an output as it is shown stands for."""
    lines = [
        r"(?:.*\n)*?" if line == LEFT_OUT else ".*".join(map(re.escape, line.split(LEFT_OUT))) + r"\n"
        for line in shown.splitlines()
    ]
    return "".join(lines)


def run_python(code: str, folder: Path) -> None:
    """Run Python in a folder; what a line is said to print in a comment at its end (`# prints ...`) is compared."""
    done = subprocess.run([sys.executable, "-c", code], cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    told = re.findall(r"# prints (.*)", code)
    assert not told or done.stdout.splitlines() == told


@pytest.mark.parametrize(("page", "language", "code"), blocks("sh", "console", "python"))
def test_every_block_of_the_documentation_runs_in_its_turn(page: str, language: str, code: str, desk: Path) -> None:
    match language:
        case "python":
            run_python(code, desk)
        case "console":
            check_session(code, desk)
        case _:
            for line in code.splitlines():
                if not line.startswith(("make ", "#")):  # make would run this test again
                    run(line, desk)


@pytest.mark.parametrize(
    ("shown", "same"),
    [("one\ntwo", True), ("o…\n…o", True), ("…\ntwo", True), ("one\n…", True), ("one", False), ("…\none", False)],
)
def test_a_session_is_compared_with_what_is_printed(shown: str, same: bool, tmp_path: Path) -> None:
    session = f"$ printf 'one\\ntwo\\n'\n{shown}\n"
    if same:
        check_session(session, tmp_path)
    else:
        with pytest.raises(AssertionError):
            check_session(session, tmp_path)


def test_the_documentation_has_blocks_to_run() -> None:
    assert len(blocks("sh")) >= 3
    assert len(blocks("console")) >= 3
    assert len(blocks("python")) >= 3


def test_generated_pages_are_up_to_date() -> None:
    done = subprocess.run(
        [sys.executable, str(ROOT / "docs" / "generate.py"), "--check"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout


def test_every_link_between_pages_leads_somewhere() -> None:
    for page in PAGES:
        for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", page.read_text(encoding="utf-8")):
            assert (page.parent / target).exists(), f"{page.name} links to {target}"
