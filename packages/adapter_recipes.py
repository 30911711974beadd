"""What the tests of the adapters share: a collection to look in, and the recipes of docs/adapters.md, to be run."""

from __future__ import annotations

import contextlib
import io
import os
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import thresher

ROOT = Path(__file__).resolve().parent.parent
QUESTION = "When was the Kõpu lighthouse built?"
UNANSWERABLE = "Who composed the opera Aida?"
NOTES = {
    "lighthouse.md": "# Lighthouses\n\nThe Kõpu lighthouse was built in 1531. It stands on the island of Hiiumaa.\n",
    "hiiumaa.md": "# Hiiumaa\n\nThe island's oldest tower is Kõpu. Merchants of the Hansa had the lighthouse at Kõpu\n"
    "built from 1504 on, and it was lit for the first time in 1531. Its limestone was carried there by hand.\n",
    "baltic.txt": "Of the lighthouses of the Baltic Sea that are still lit, the Kõpu lighthouse of 1531 is the\n"
    "oldest. Its building was finished in that year, after a plague had stopped the work for a decade.\n",
    "railway.txt": "The Semmering railway was opened in 1854. It was designed by Carl von Ghega.\n",
    "cheese.txt": "Cheese notes. Gouda ripens for twelve months.\n",
}


def write_notes(folder: Path) -> Path:
    """A folder of small files: three of them answer `QUESTION`, none `UNANSWERABLE`."""
    folder.mkdir()
    for name, text in NOTES.items():
        (folder / name).write_text(text, encoding="utf-8")
    return folder


def indexed_home(folder: Path) -> Path:
    """A home folder whose collection `default` holds the notes."""
    with thresher.open(folder / ".thresher") as collection:
        report = collection.add(write_notes(folder / "notes"))
    assert report.added == len(NOTES)
    return folder / ".thresher"


def recipes_of(distribution: str) -> list[str]:
    """The Python that docs/adapters.md and the README of a distribution show for it; at least one of each."""
    block = re.compile(rf'^```python title="{distribution}"\n(.*?)^```$', re.MULTILINE | re.DOTALL)
    shown = block.findall((ROOT / "docs" / "adapters.md").read_text(encoding="utf-8"))
    own = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)
    readme = own.findall((ROOT / "packages" / distribution / "README.md").read_text(encoding="utf-8"))
    assert shown
    assert readme
    return [*shown, *readme]


def run_recipe(code: str, folder: Path) -> None:
    """Run Python in a folder; what a line is said to print in a comment at its end (`# prints ...`) is compared."""
    printed = io.StringIO()
    with _within(folder), contextlib.redirect_stdout(printed):
        exec(compile(code, "recipe", "exec", dont_inherit=True), {"__name__": "__main__"})
    shown = re.findall(r"# prints (.*)", code)
    assert shown, "a recipe shows what it prints"
    assert printed.getvalue().splitlines() == shown


@contextlib.contextmanager
def _within(folder: Path) -> Iterator[None]:
    before = Path.cwd()
    os.chdir(folder)
    try:
        yield
    finally:
        os.chdir(before)


# --- collected by the pytest of every adapter beside its own tests, see `testpaths` in its pyproject.toml -------------


@pytest.fixture(scope="session")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home folder whose collection holds the notes; look, do not change."""
    return indexed_home(tmp_path_factory.mktemp("indexed"))


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """The recipes of the distribution whose folder pytest runs in."""
    if "code" in metafunc.fixturenames:
        metafunc.parametrize("code", recipes_of(metafunc.config.rootpath.name))


def test_every_recipe_runs_and_prints_what_it_says(code: str, home: Path) -> None:
    """A shown program prints what it says it prints."""
    run_recipe(code, home.parent)
