"""The documentation is true: its commands run, its Python runs, its generated pages are up to date."""

from __future__ import annotations

import contextlib
import inspect
import pydoc
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from importlib import import_module
from operator import attrgetter
from pathlib import Path
from typing import Any

import pytest

import thresher
from tests.shell import Shell, within
from thresher.correction.providers import PROVIDERS
from thresher.documents.registry import KINDS
from thresher.recipes.judges import JUDGES
from thresher.recipes.registry import RECIPES
from thresher.stores.registry import STORES
from thresher_evals.datasets.registry import KINDS as LOADERS
from thresher_evals.metrics.registry import MEASURES

ROOT = Path(__file__).resolve().parent.parent
PAGES = [
    ROOT / "README.md",
    *sorted((ROOT / "docs").glob("*.md")),
    *sorted((ROOT / "docs" / "recipes").glob("*.md")),
]
FENCE = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
ON_THE_DESK = ("documents.md", "concepts.md", "start.md")
"""Pages that the commands are about: all of them would take half a minute to index."""
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


def test_the_image_copies_all_that_the_wheel_is_made_of() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    wheel = project["tool"]["hatch"]["build"]["targets"]["wheel"]
    needed = {
        "pyproject.toml",
        project["tool"]["hatch"]["version"]["path"],
        "README.md",
        *project["project"]["license-files"],
    }
    needed |= {*wheel["packages"], *wheel["force-include"]}
    lines = (ROOT / "Dockerfile").read_text(encoding="utf-8").splitlines()
    copying = [line for line in lines if line.startswith("COPY ") and "--from" not in line]
    copied = {name for line in copying for name in line.split()[1:-1]}
    assert not {name for name in needed if name.split("/")[0] not in copied}
    assert all((ROOT / name).exists() for name in copied)


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shell]:
    """A shell in a folder as the pages suppose it: README.md, docs/, papers/ and notes.md, indexed but for docs/."""
    folder = tmp_path_factory.mktemp("desk")
    for place in ("docs", "papers"):
        (folder / place).mkdir()
    shutil.copy(ROOT / "README.md", folder)
    for name in ON_THE_DESK:
        shutil.copy(ROOT / "docs" / name, folder / "docs")
    shutil.copy(ROOT / "docs" / "documents.md", folder / "papers")
    (folder / "notes.md").write_text("# Notes\n\nBring a lamp, because the cellar has no light.\n", encoding="utf-8")
    shell = Shell(folder)
    shell.run("thresher index papers/ notes.md")
    yield shell
    shell.close()


def check_session(session: str, shell: Shell) -> None:
    """Run the lines after `$ ` and compare what they print with what is shown; `LEFT_OUT` stands for anything."""
    for part in re.split(r"^\$ ", session, flags=re.MULTILINE)[1:]:
        command, _, shown = part.partition("\n")
        printed = shell.run(command)
        assert re.fullmatch(pattern_of(shown), printed), f"$ {command}\nprints\n{printed}\nand the page shows\n{shown}"


def pattern_of(shown: str) -> str:
    """The outputs that an output as it is shown stands for."""
    lines = [
        r"(?:.*\n)*?" if line == LEFT_OUT else ".*".join(map(re.escape, line.split(LEFT_OUT))) + r"\n"
        for line in shown.splitlines()
    ]
    return "".join(lines)


@contextlib.contextmanager
def registries_as_they_were() -> Iterator[None]:
    """What a page adds to a registry is taken out again: other tests count what is there."""
    registries: tuple[dict[str, Any], ...] = (JUDGES, KINDS, LOADERS, MEASURES, PROVIDERS, RECIPES, STORES)
    before = [(registry, dict(registry)) for registry in registries]
    try:
        yield
    finally:
        for registry, entries in before:
            registry.clear()
            registry.update(entries)


def run_python(code: str, folder: Path) -> None:
    """Run Python in a folder; what a line is said to print in a comment at its end (`# prints ...`) is compared."""
    for framework in re.findall(r"^from (fastapi|langchain_core)\b", code, re.MULTILINE)[:1]:
        pytest.importorskip(framework, reason=f"{framework} is not installed; the extra `dev` brings it")
    with registries_as_they_were(), within(folder) as (out, _):
        exec(compile(code, "documentation", "exec", dont_inherit=True), {"__name__": "__main__"})
    shown = re.findall(r"# prints (.*)", code)
    assert not shown or out.getvalue().splitlines() == shown


@pytest.mark.parametrize(("page", "language", "code"), blocks("sh", "console", "python"))
def test_every_block_of_the_documentation_runs_in_its_turn(page: str, language: str, code: str, desk: Shell) -> None:
    match language:
        case "python":
            run_python(code, desk.folder)
        case "console":
            check_session(code, desk)
        case _:
            for line in code.splitlines():
                if not line.startswith(("make ", "#")):  # make would run this test again
                    desk.run(line)


def test_generated_pages_are_up_to_date() -> None:
    done = subprocess.run(
        [sys.executable, str(ROOT / "docs" / "generate.py"), "--check"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout


def documented() -> list[str]:
    """What the reference describes from its docstring."""
    pages = sorted((ROOT / "docs" / "reference").glob("*.md"))
    return [name for page in pages for name in re.findall(r"^::: (\S+)$", page.read_text(encoding="utf-8"), re.M)]


@pytest.mark.parametrize("name", documented())
def test_the_reference_describes_what_there_is(name: str) -> None:
    described = pydoc.locate(name)
    assert described is not None
    assert inspect.getdoc(described)


def test_the_reference_has_every_name_of_the_front() -> None:
    names = {name.rpartition(".")[2] for name in documented()}
    errors = {name for name, one in vars(thresher.errors).items() if inspect.isclass(one)}
    modules = {"errors", "protocols", "recipes", "types"}
    of_types = {"Chunk", "Document", "Evidence", "Verdict"}  # thresher.types is described whole
    assert set(thresher.__all__) <= names | errors | modules | of_types | {"__version__"}


def test_every_link_between_pages_leads_somewhere() -> None:
    for page in PAGES:
        for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", page.read_text(encoding="utf-8")):
            assert (page.parent / target).exists(), f"{page.name} links to {target}"


def test_every_file_that_a_page_names_is_there() -> None:
    """But for the decisions, which name what was removed."""
    for page in PAGES:
        if page.name != "decisions.md":
            for file in re.findall(r"`((?:tests|benchmarks|research|packages)/[\w./-]+\.py)`", page.read_text("utf-8")):
                assert (ROOT / file).exists(), f"{page.name} names {file}"


def test_the_walk_of_a_question_and_a_document_names_what_there_is() -> None:
    page = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    walk = page[page.index("A question passes these files") : page.index("`src/thresher_methods`")]
    named = re.findall(r"`([\w/]+\.py)`: ((?:`[\w.]+`(?:, )?)+)", walk)
    assert len(named) > 20
    for file, functions in named:
        module = import_module(f"thresher.{file.removesuffix('.py').replace('/', '.')}")
        for function in re.findall(r"`([\w.]+)`", functions):
            assert attrgetter(function)(module), (file, function)
