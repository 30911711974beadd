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


def blocks(language: str) -> list[tuple[str, str]]:
    """(page, code) of every fenced block of a language."""
    return [
        (page.name, code)
        for page in PAGES
        for named, code in FENCE.findall(page.read_text(encoding="utf-8"))
        if named == language
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


def run(command: str, folder: Path) -> None:
    """Run a line of shell in a folder; fails with what it printed."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    environment = {**os.environ, "PATH": path}
    line = ["bash", "-euo", "pipefail", "-c", command]
    done = subprocess.run(line, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"


@pytest.mark.parametrize(("page", "code"), blocks("sh"))
def test_every_command_of_the_documentation_runs(page: str, code: str, desk: Path) -> None:
    for line in code.splitlines():
        if not line.startswith(("make ", "#")):  # make installs and tests: running it here would run this test again
            run(line, desk)


@pytest.mark.parametrize(("page", "code"), blocks("python"))
def test_every_python_block_of_the_documentation_runs(page: str, code: str, desk: Path) -> None:
    done = subprocess.run([sys.executable, "-c", code], cwd=desk, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_the_documentation_has_blocks_to_run() -> None:
    assert len(blocks("sh")) >= 3
    assert len(blocks("python")) >= 1


def test_generated_pages_are_up_to_date() -> None:
    done = subprocess.run(
        [sys.executable, str(ROOT / "tools" / "write_docs.py"), "--check"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout


def test_every_link_between_pages_leads_somewhere() -> None:
    for page in PAGES:
        for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", page.read_text(encoding="utf-8")):
            assert (page.parent / target).exists(), f"{page.name} links to {target}"
