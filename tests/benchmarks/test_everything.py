"""One command makes every table: each comment names a command that is known, and what is printed takes its place."""

from __future__ import annotations

import shlex
from importlib.util import find_spec
from pathlib import Path

import pytest

from benchmarks.everything import HOURS, STEPS, due, put
from benchmarks.machine import ROOT
from benchmarks.seeds.rows import Provenance
from benchmarks.stale import Measured, measured
from tests.benchmarks.test_stale import commit, git, table

MADE = Provenance("0123abcd", "2026-11-28", "a machine, 2 cores")
RESULTS = [one for one in measured(ROOT) if one.page == "README.md" or one.page.startswith("docs/results/")]


def test_each_table_of_readme_and_results_has_a_command_that_makes_it_and_no_other_is_planned() -> None:
    assert {one.by for one in RESULTS} == set(STEPS)


def test_each_command_is_there_and_all_of_them_fit_into_the_hours() -> None:
    for by, step in STEPS.items():
        for command in (by.removeprefix("python -m "), *step.before):
            assert find_spec(shlex.split(command)[0]), command
    assert sum(step.minutes for step in STEPS.values()) <= 60 * HOURS


def test_each_page_of_results_says_how_its_tables_were_made() -> None:
    told = {one.page for one in RESULTS}
    pages = {path.relative_to(ROOT).as_posix() for path in (ROOT / "docs" / "results").rglob("*.md")}
    assert pages - told == {"docs/results/security.md"}


@pytest.mark.parametrize("name", ["models", "operating"])
def test_each_table_of_a_page_that_people_write_has_a_comment_of_its_own(name: str) -> None:
    lines = (ROOT / "docs" / "results" / f"{name}.md").read_text(encoding="utf-8").splitlines()
    heads = [at for at, line in enumerate(lines) if line.startswith("|") and not lines[at - 1].startswith("|")]
    assert heads
    for at in heads:
        assert lines[at - 2].startswith("<!-- measured: "), lines[at]


def test_the_oldest_is_made_first_and_what_is_fresh_is_not_made(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q")
    first = commit(tmp_path, engine__fast="1", engine__slow="1")
    commit(tmp_path, engine__fast="2")
    pages = {
        "README_md": table(first, "engine/fast").replace("-m speed", "-m later").replace("11-23", "11-25"),
        "docs__results__a_md": table(first, "engine/fast"),
        "docs__results__fresh_md": table(first, "engine/slow").replace("-m speed", "-m fresh"),
        "docs__other_md": table(first, "engine/fast").replace("-m speed", "-m other"),
    }
    commit(tmp_path, **pages)
    assert list(due(tmp_path)) == ["python -m speed", "python -m later"]


@pytest.mark.parametrize(
    ("printed", "shown"),
    [
        ("a machine\n\n| a |\n|---|\n| 2 |\n\n12 s\n", "| a |\n|---|\n| 2 |"),
        ("speed 2.0\nslow 1.0\n", "```text\nspeed 2.0\nslow 1.0\n```"),
    ],
)
def test_what_is_printed_takes_the_place_of_the_table_below_the_comment(
    tmp_path: Path, printed: str, shown: str
) -> None:
    file = tmp_path / "README.md"
    text = table("0123abc", "engine").replace("; by", "; dated; by").partition("\n\n")[2] + "\nAfter.\n"
    file.write_text(f"# Engine\n\nMeasured on 2026-11-23 at `0123abc`.\n\n{text}", encoding="utf-8")
    old = Measured("README.md", 3, "0123abc", "2026-11-23", "python -m speed", ("engine",), dated=True)
    for _ in range(2):
        put(tmp_path, [old], printed, MADE)
        old = Measured("README.md", 3, MADE.commit, MADE.date, "python -m speed", ("engine",), dated=True)
        assert file.read_text(encoding="utf-8") == (
            "# Engine\n\nMeasured on 2026-11-28 at `0123abcd`.\n\n"
            "<!-- measured: 0123abcd 2026-11-28; dated; by: python -m speed; of: engine -->\n\n"
            f"{shown}\n\nAfter.\n"
        )
