"""Every commit that is built has a version of its own, and the command tells it."""

from __future__ import annotations

import importlib.util
import subprocess
from importlib import metadata
from pathlib import Path
from types import ModuleType

import pytest

import thresher
from tests.conftest import Run

ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture(scope="module")
def module() -> ModuleType:
    spec = importlib.util.spec_from_file_location("version", ROOT / "version.py")
    assert spec is not None
    assert spec.loader is not None
    loaded = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(loaded)
    return loaded


def git(root: Path, *arguments: str) -> str:
    who = ("-c", "user.name=A", "-c", "user.email=a@b.c", "-c", "commit.gpgsign=false")
    return subprocess.run(["git", "-C", str(root), *who, *arguments], capture_output=True, text=True, check=True).stdout


def test_a_commit_has_its_name_in_the_version_and_a_tag_is_one(module: ModuleType, tmp_path: Path) -> None:
    git(tmp_path, "init", "-q")
    assert module.version(tmp_path) == f"{module.NEXT}.dev0"
    git(tmp_path, "commit", "-q", "--allow-empty", "-m", "one")
    commit = git(tmp_path, "rev-parse", "--short=7", "HEAD").strip()
    assert module.version(tmp_path) == f"{module.NEXT}.dev0+g{commit}"
    git(tmp_path, "tag", "v1.2.3")
    assert module.version(tmp_path) == "1.2.3"


def test_without_git_the_source_distribution_tells_its_version(
    module: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    git(tmp_path, "init", "-q")
    below = tmp_path / "unpacked"
    below.mkdir()
    assert module.version(below) == f"{module.NEXT}.dev0"  # the folder above is another project's
    (below / "PKG-INFO").write_text("Metadata-Version: 2.4\nName: thresher\nVersion: 0.1.0.dev0+gabc1234\n")
    assert module.version(below) == "0.1.0.dev0+gabc1234"
    monkeypatch.setenv("PATH", "")
    assert module.version(tmp_path) == f"{module.NEXT}.dev0"


def test_the_command_tells_the_version_that_is_installed(run: Run) -> None:
    assert thresher.__version__ == metadata.version("thresher")
    assert run("--version").out == f"thresher {metadata.version('thresher')}\n"
