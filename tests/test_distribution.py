"""What is distributed: its version, how it is cited, and which extra brings what."""

from __future__ import annotations

import importlib.util
import re
import subprocess
import tomllib
from importlib import metadata
from pathlib import Path
from types import ModuleType

import pytest
import yaml
from packaging.requirements import Requirement

import thresher
from tests.conftest import Run
from thresher.errors import BROUGHT_BY, missing

ROOT = Path(__file__).resolve().parent.parent

# --- version ----------------------------------------------------------------------------------------------------------


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


def test_a_commit_is_counted_in_the_version_and_a_tag_is_one(
    module: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    git(tmp_path, "init", "-q")
    assert module.version(tmp_path) == f"{module.NEXT}.dev0"
    git(tmp_path, "commit", "-q", "--allow-empty", "-m", "one")
    git(tmp_path, "commit", "-q", "--allow-empty", "-m", "two")
    assert module.version(tmp_path) == f"{module.NEXT}.dev2"
    below = tmp_path / "unpacked"
    below.mkdir()
    assert module.version(below) == f"{module.NEXT}.dev0"  # the folder above is another project's
    git(tmp_path, "tag", "v1.2.3")
    assert module.version(tmp_path) == "1.2.3"
    monkeypatch.setenv("PATH", "")
    assert module.version(tmp_path) == f"{module.NEXT}.dev0"


def test_the_command_tells_the_version_that_is_installed(run: Run) -> None:
    assert thresher.__version__ == metadata.version("thresher")
    assert run("--version").out == f"thresher {metadata.version('thresher')}\n"


# --- CITATION.cff -----------------------------------------------------------------------------------------------------

KEYS = {"cff-version", "message", "title", "abstract", "type", "authors", "version", "license", "keywords"}
"""Of the format 1.2.0, those that are used; the first three and the authors are required."""


def test_the_citation_file_is_of_the_format_and_says_what_the_project_does() -> None:
    told = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert {"cff-version", "message", "title", "authors"} <= set(told) <= KEYS
    assert (told["cff-version"], told["type"], told["license"]) == ("1.2.0", "software", project(ROOT)["license"])
    assert all(set(author) == {"name"} and author["name"] for author in told["authors"])
    assert "](CITATION.cff)" in (ROOT / "README.md").read_text(encoding="utf-8")


# --- what every distribution states ----------------------------------------------------------------------------------

FOLDERS = [ROOT, *sorted(file.parent for file in ROOT.glob("packages/*/pyproject.toml"))]


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_a_distribution_has_the_one_version_and_wants_its_siblings_in_it(folder: Path, module: ModuleType) -> None:
    told = tomllib.loads((folder / "pyproject.toml").read_text(encoding="utf-8"))
    path = folder / told["tool"]["hatch"]["version"]["path"]
    assert (told["project"]["dynamic"], path.resolve()) == (["version", "readme"], ROOT / "version.py")
    extras = told["project"].get("optional-dependencies", {})
    wanted = [Requirement(line) for lines in (told["project"]["dependencies"], *extras.values()) for line in lines]
    siblings = {str(one.specifier) for one in wanted if one.name.startswith("thresher")}
    assert siblings == {f"~={module.NEXT}.dev0"}, "make next TO=VERSION"


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_a_distribution_has_an_author_addresses_and_words_to_be_found_by(folder: Path) -> None:
    told, engine = project(folder), project(ROOT)
    assert [told[name] for name in ("authors", "urls", "requires-python", "license")] == [
        engine[name] for name in ("authors", "urls", "requires-python", "license")
    ]
    assert told["keywords"]
    assert "Typing :: Typed" in told["classifiers"]  # type: ignore[operator]
    assert list(folder.glob("src/**/py.typed"))


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_each_upper_bound_of_a_library_has_its_reason_beside_it(folder: Path) -> None:
    lines = (folder / "pyproject.toml").read_text(encoding="utf-8").splitlines()
    assert [line for line in lines if re.search(r'"[\w.\[\]-]+[^" ;]*(?:==|<)\d', line) and "#" not in line] == []


# --- extras -----------------------------------------------------------------------------------------------------------


def project(folder: Path) -> dict[str, object]:
    return dict(tomllib.loads((folder / "pyproject.toml").read_text(encoding="utf-8"))["project"])


@pytest.mark.parametrize(("group", "name"), [(group, name) for group in BROUGHT_BY for name in BROUGHT_BY[group]])
def test_each_name_is_brought_by_the_distribution_of_its_extra(group: str, name: str) -> None:
    extra = BROUGHT_BY[group][name]
    assert project(ROOT)["optional-dependencies"][extra][0].split("~")[0] == f"thresher-{extra}"  # type: ignore[index]
    assert name in project(ROOT / "packages" / f"thresher-{extra}")["entry-points"][group]  # type: ignore[index]


def test_the_error_says_what_to_install() -> None:
    told = "the package 'thresher-bucket' is not installed; in a checkout: pip install ./packages/thresher-bucket"
    assert str(missing("thresher.homes", "s3")) == told
    assert missing("thresher.homes", "ftp") is None
