"""What the commands share: every one refuses a setting that does not exist, and errors are told in flags."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path

import pytest
import typer

import thresher
import thresher_evals
from tests.conftest import Run
from thresher.cli.app import Extension, app
from thresher.cli.options import in_flags
from thresher.errors import UsageError

COMMAND = typer.main.get_command(app)
PACKAGE = Path(thresher.__file__).parent
NEEDED = {"watch": ".", "index": ".", "delete": "lighthouse.md", "check": "x", "search": "x", "ask": "x"}
NEEDED |= {
    "train-judge": "labels.jsonl",
    "feedback": "last right",
    "show": "rag",
    "holding": "lighthouse.md",
    "drop": "--recipe rag",
}
"""Arguments of the commands that need some."""

TAKING = [name for name, one in COMMAND.commands.items() if any("--set" in given.opts for given in one.params)]


@pytest.mark.parametrize("command", TAKING)
def test_every_command_that_takes_settings_refuses_an_unknown_one(run: Run, indexed: Path, command: str) -> None:
    ran = run(command, *NEEDED.get(command, "").split(), "--set", "answer.min_confidense=0.4", "--home", indexed)
    assert ran.code == 2
    assert ran.error == "thresher: answer.min_confidense: unknown setting; did you mean 'answer.min_confidence'?"


@pytest.mark.parametrize(
    "command",
    [
        "run --dataset qa:q.jsonl --recipe rag --out out",
        "make-questions --out new.jsonl",
        "compare --questions q.jsonl",
        "study retrieved --questions q.jsonl --out out",
    ],
)
def test_so_does_every_command_of_the_evaluation(
    run: Run, indexed: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    (tmp_path / "q.jsonl").write_text('{"id": "1", "question": "Who built it?", "answers": ["we"]}', encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    ran = run("eval", *command.split(), "--set", "answer.min_confidense=0.4", "--home", indexed)
    assert ran.code == 2
    assert ran.err == "thresher: answer.min_confidense: unknown setting; did you mean 'answer.min_confidence'?\n"
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("told", "shown"),
    [
        ("`outside` web: no web search is configured", "--outside web: no web search is configured"),
        ("unknown field in `where`; did you mean 'kind'?", "unknown field in --where; did you mean 'kind'?"),
        ("ask without `strict`, or more `budget_calls`", "ask without --strict, or more --budget-calls"),
        ("give one with `settings` embeddings.base_url=URL", "give one with --set embeddings.base_url=URL"),
        ("holds no documents yet; call `add(PATH)`", "holds no documents yet; run thresher index PATH"),
        ("call `doctor()`", "run thresher doctor"),
        ("see `settings(RECIPE)`", "see thresher show RECIPE"),
        ("use the id that `ask` printed, or `last`", "use the id that `ask` printed, or `last`"),
        ("pass `encode`, or call `frobnicate(PATH)`", "pass `encode`, or call `frobnicate(PATH)`"),
    ],
)
def test_an_error_of_the_library_is_told_in_flags(told: str, shown: str) -> None:
    assert in_flags(told, COMMAND) == shown


@cache
def texts_of_errors(file: Path) -> list[str]:
    """Every text that an error is made of."""
    return [
        part.value
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call) and re.search(r"(Error|Setting|Spent|Recorded|Degraded|Extra)$", name_of(node))
        for part in ast.walk(node)
        if isinstance(part, ast.Constant) and isinstance(part.value, str)
    ]


def name_of(call: ast.Call) -> str:
    return getattr(call.func, "id", getattr(call.func, "attr", ""))


LIBRARY = [file for file in PACKAGE.rglob("*.py") if "cli" not in file.relative_to(PACKAGE).parts]


def test_no_error_of_the_library_speaks_of_flags_or_commands() -> None:
    told = {
        (str(file.relative_to(PACKAGE)), text)
        for file in LIBRARY
        for text in texts_of_errors(file)
        if re.search(r"(^|\s)--[a-z]|\bthresher [a-z]", text)
    }
    assert told == set()


def test_no_text_sends_anyone_to_a_command_that_does_not_exist() -> None:
    evals = Path(thresher_evals.__file__).parent
    groups = {"eval": set(Extension("eval", "", distribution="thresher-evals").group().commands)}
    named = {
        found
        for file in (*PACKAGE.rglob("*.py"), *evals.rglob("*.py"))
        for text in texts_of_errors(file)
        for found in re.findall(r"\bthresher ([a-z][a-z-]+)(?: ([a-z][a-z-]+))?", text)
    }
    assert {one for one, _ in named} <= set(COMMAND.commands)
    assert all(below in ("", *groups.get(one, [below])) for one, below in named)


def test_commands_of_a_distribution_that_is_not_installed_say_what_to_install() -> None:
    with pytest.raises(UsageError) as caught:
        Extension("never-written", "", distribution="thresher-never-written").make_context("never-written", ["run"])
    assert str(caught.value) == (
        "thresher never-written: the package 'thresher-never-written' is not installed; "
        "in a checkout: pip install ./packages/thresher-never-written"
    )
