"""A store of another distribution: found by its entry point, chosen by its name, held to the contract by pytest."""

from __future__ import annotations

import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import thresher

ROOT = Path(__file__).resolve().parents[1]

PROJECT = """
[project]
name = "thresher-cupboard"
version = "1.0"
dependencies = ["thresher"]

[project.entry-points."thresher.stores"]
cupboard = "cupboard:Cupboard"
sieve = "cupboard:Sieve"
broken = "cupboard:Nothing"

[tool.pytest.ini_options]
addopts = "--thresher-bm25-tolerance 1e-5"
"""

MODULE = '''
"""Two stores for Thresher: one that does what a store has to, and one that forgets the rarest word of a question."""

from thresher_testing.memory_store import MemoryChunkTable, MemoryStore


class Cupboard(MemoryStore):
    """Shelves."""


class Sieve(MemoryStore):
    """Shelves with a hole."""

    def create(self, name, *, dimension):
        self._chunks.setdefault(name, HoledTable(dimension))


class HoledTable(MemoryChunkTable):
    """What is asked is not always what is looked for."""

    def matching(self, query, *, limit, where=None):
        holding = self.document_frequencies(query)
        rarest = min(holding, key=holding.get, default="") if len(holding) > 1 else ""
        return super().matching(" ".join(term for term in holding if term != rarest), limit=limit, where=where)
'''


def install(folder: Path, project: dict[str, object]) -> None:
    """What pip leaves of a project beside its modules: its name, and its entry points."""
    name = str(project["name"])
    about = folder / f"{name.replace('-', '_')}-{project['version']}.dist-info"
    about.mkdir(parents=True)
    (about / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {project['version']}\n")
    groups: dict[str, dict[str, str]] = project["entry-points"]  # type: ignore[assignment]
    lines = [f"[{group}]\n" + "".join(f"{key} = {value}\n" for key, value in groups[group].items()) for group in groups]
    (about / "entry_points.txt").write_text("\n".join(lines))


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder where the outside package is installed, beside the pytest plugin of this working tree."""
    folder = tmp_path_factory.mktemp("site")
    (folder / "pyproject.toml").write_text(PROJECT, encoding="utf-8")
    (folder / "cupboard.py").write_text(MODULE, encoding="utf-8")
    install(folder, tomllib.loads(PROJECT)["project"])
    ours = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["entry-points"]
    install(folder, {"name": "working-tree", "version": "0", "entry-points": ours})
    return folder


def run(site: Path, *arguments: str, **more: str) -> subprocess.CompletedProcess[str]:
    """Python where the package is installed."""
    path = os.pathsep.join(
        [str(site), str(Path(thresher.__file__).parents[1]), str(ROOT / "src"), os.environ.get("PYTHONPATH", "")]
    )
    environment = {**os.environ, "PYTEST_ADDOPTS": "", "PYTHONPATH": path, **more}
    command = [sys.executable, *arguments]
    return subprocess.run(command, cwd=site, env=environment, capture_output=True, text=True, timeout=300)


def held_to_the_contract(site: Path, *options: str, **more: str) -> subprocess.CompletedProcess[str]:
    """The contract, run as an author of a store runs it."""
    config = ["-c", "pyproject.toml", "-p", "no:cacheprovider"]
    return run(site, "-m", "pytest", *config, "--pyargs", "thresher_testing.store_contract", *options, **more)


@pytest.mark.slow
def test_pytest_holds_an_outside_store_to_the_contract_by_its_name(site: Path) -> None:
    done = held_to_the_contract(site, "--thresher-store", "cupboard")
    assert done.returncode == 0, done.stdout
    assert " passed" in done.stdout
    assert "skipped" not in done.stdout


@pytest.mark.slow
def test_a_store_that_ranks_otherwise_than_the_reference_fails(site: Path) -> None:
    options = ["--thresher-store", "sieve", "-k", "bm25_and_its_order or kept_and_counted"]
    alone = ["-p", "thresher_testing.pytest_plugin"]  # and none of the other plugins, which take long to begin
    done = held_to_the_contract(site, *options, *alone, PYTEST_DISABLE_PLUGIN_AUTOLOAD="1")
    assert done.returncode == 1, done.stdout
    assert "FAILED" in done.stdout
    assert "test_bm25_and_its_order_are_those_of_the_reference" in done.stdout
    assert "1 failed, 1 passed" in done.stdout


def test_a_collection_is_made_with_an_outside_store_by_its_name(site: Path, tmp_path: Path) -> None:
    (tmp_path / "notes.md").write_text("Bring a lamp, because the cellar has no light.", encoding="utf-8")
    code = f"""
import sys, thresher
from thresher.testing.fakes import HashEncoder
with thresher.open({str(tmp_path / "home")!r}, encoder=HashEncoder()) as collection:
    print("cupboard" in sys.modules)
    collection.add({str(tmp_path / "notes.md")!r}, recipe="rag", settings={{"store": "cupboard"}})
    print(len(collection.search("lamp", recipe="rag").hits), type(collection.opened.store._store).__name__)
    try:
        thresher.open({str(tmp_path / "other")!r}).add("x", recipe="rag", settings={{"store": "broken"}})
    except thresher.UsageError as error:
        print(error)
"""
    done = run(site, "-c", code)
    assert done.returncode == 0, done.stderr
    before, found, broken = done.stdout.splitlines()
    assert (before, found) == ("False", "1 Cupboard")
    assert broken.startswith("entry point broken = cupboard:Nothing: could not be loaded (AttributeError")
