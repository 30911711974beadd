"""What three recipes answer, what a run scores and what `--help` says stays as it was recorded beside this file."""

from __future__ import annotations

import json
from collections.abc import Iterator
from importlib.metadata import distributions
from itertools import zip_longest
from pathlib import Path

import pytest

from tests.conftest import Run
from tests.golden.behaviour import DATA, HERE, RECIPES, collections, explained, helped, machine, scored
from thresher.cli.app import EXTENSIONS

SHARE_OF_ANOTHER_PROCESSOR = 0.15
"""Of the rows that may differ, in what `outline` keeps of them, on a kind of processor whose int8 arithmetic rounds
otherwise than the recorder's: scores differ in the last digit everywhere, and what is nearly alike changes places."""

needs_data = pytest.mark.skipif(not (DATA / "papers").is_dir(), reason=f"no papers in {DATA}; set THRESHER_DATA")


def recorded(name: str) -> list[str]:
    return (HERE / name).read_text(encoding="utf-8").splitlines()


def test_help_is_what_was_recorded(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    now = helped(lambda arguments: run(*arguments).out)
    assert installed(pages(now.splitlines())) == installed(pages(recorded("help.txt")))


def installed(told: dict[str, list[str]]) -> dict[str, list[str]]:
    """The pages of commands whose distribution is installed: `make test` needs fewer than `make dev` brings."""
    there = {one.metadata["Name"] for one in distributions()}
    absent = {name for name, (_, needed) in EXTENSIONS.items() if needed not in there}
    return {line: page for line, page in told.items() if line.split()[2] not in absent}


def pages(lines: list[str]) -> dict[str, list[str]]:
    """The help of each command by its command line; commands of a group may stand in another order."""
    told: dict[str, list[str]] = {}
    for line in lines:
        if line.startswith("$ "):
            page = told[line] = []
        elif line:
            page.append(line)
    return {line: sorted(page) if "Commands:" in page else page for line, page in told.items()}


@pytest.fixture(scope="module")
def home() -> Iterator[Path]:
    with collections() as home:
        yield home


@pytest.mark.slow
@needs_data
@pytest.mark.parametrize("recipe", RECIPES)
def test_a_recipe_answers_as_was_recorded(recipe: str, home: Path) -> None:
    before, now = recorded(f"explain-{recipe}.jsonl"), explained(home, recipe).splitlines()
    seen = str if same_processor() else outline
    rows = list(zip_longest(before, now))
    different = [row for row in rows if None in row or seen(row[0]) != seen(row[1])]
    allowed = 0 if same_processor() else SHARE_OF_ANOTHER_PROCESSOR * len(rows)
    assert len(different) <= allowed, "\n".join(f"- {before}\n+ {now}" for before, now in different)


def outline(row: str) -> str:
    """Of a recorded row whether it was answered, with which verdict, from which documents."""
    told = json.loads(row)
    cited = sorted({one[1] for one in told["citations"]})
    return json.dumps([told["question"], told["abstained"], told["verdict"], cited])


@pytest.mark.slow
@needs_data
def test_a_run_scores_as_was_recorded(home: Path) -> None:
    before, now = (json.loads(text) for text in ("\n".join(recorded("score.json")), scored(home)))
    if same_processor():
        assert now == before
    else:
        assert {recipe: set(measures) for recipe, measures in now.items()} == {
            recipe: set(measures) for recipe, measures in before.items()
        }


def same_processor() -> bool:
    return machine().splitlines() == recorded("machine.json")
