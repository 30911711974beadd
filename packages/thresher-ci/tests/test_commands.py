from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from thresher_ci.knowledge import read

Run = Callable[..., Any]
EXAMPLE = Path(__file__).parents[3] / "examples" / "knowledge"


@pytest.fixture
def example(tmp_path: Path, bundled_models: object) -> Path:
    """A copy of the example repository."""
    shutil.copytree(EXAMPLE, tmp_path / "example", ignore=shutil.ignore_patterns(".thresher"))
    return tmp_path / "example"


def options(folder: Path) -> tuple[str, ...]:
    return ("--home", str(folder / ".thresher"), "--knowledge", str(folder / "knowledge.yaml"))


def test_the_example_is_as_expected(example: Path, run: Run) -> None:
    ran = run("ci", "--documents", str(example / "handbook"), *options(example))
    assert ran.code == 0
    assert "0 broken, 0 contradicted, 0 qualified, 0 newly answered, 0 moved, 4 unchanged" in ran.out


def test_a_break_is_exit_1_in_every_format(example: Path, run: Run) -> None:
    asking = ("ci", "--documents", str(example / "handbook"), *options(example))
    (example / "handbook" / "travel.md").write_text("# Travel\n\nThe train is red.\n", encoding="utf-8")
    text = run(*asking)
    assert (text.code, "knowledge.yaml:8: What may a hotel cost a night?" in text.out) == (1, True)
    as_json = run(*asking, "--json")
    assert (as_json.code, json.loads(as_json.out)["passed"]) == (1, False)
    suite = ElementTree.fromstring(run(*asking, "--format", "junit").out)
    assert (suite.get("tests"), suite.get("failures")) == ("4", "1")
    assert {case.get("classname") for case in suite} == {str(example / "knowledge.yaml")}
    assert "### Thresher: answers broke" in run(*asking, "--format", "markdown").out


def test_wrong_usage_is_exit_2_and_names_the_line(example: Path, run: Run) -> None:
    (example / "knowledge.yaml").write_text("questions:\n  - question: Who?\n", encoding="utf-8")
    ran = run("ci", "--documents", str(example / "handbook"), *options(example))
    assert ran.code == 2
    assert 'knowledge.yaml, line 2: "expect" is missing' in ran.err


def test_only_a_confirmed_answer_is_recorded(example: Path, run: Run) -> None:
    home, file = options(example)[:2], example / "knowledge.yaml"
    run("index", str(example / "handbook"), *home)
    trace = json.loads(run("ask", "When does the office open?", "--json", *home).out)["trace"]
    refused = run("ci", "record", trace, *options(example))
    assert (refused.code, "nobody confirmed this answer" in refused.err) == (2, True)
    assert len(read(file)) == 4
    folder = ("--documents", str(example / "handbook"))
    assert run("ci", "record", trace, "--accept", *folder, "--asked-by", "Jo", *options(example)).code == 0
    added = read(file)[4]
    assert (added.question, added.asked_by) == ("When does the office open?", "Jo")
    assert (added.expected.source, added.expected.quote) == ("office.md", "The office opens at 7:30.")


def test_answers_that_were_called_right_are_recorded_once(example: Path, run: Run) -> None:
    home = options(example)[:2]
    run("index", str(example / "handbook"), *home)
    trace = json.loads(run("ask", "When does the office open?", "--json", *home).out)["trace"]
    run("feedback", trace, "right", *home)
    assert "1 expectation written" in run("ci", "record", *options(example)).out
    assert "0 expectations written" in run("ci", "record", *options(example)).out


def test_answers_that_rest_on_a_document_are_listed(example: Path, run: Run) -> None:
    home = options(example)[:2]
    run("index", str(example / "handbook"), *home)
    run("ask", "When does the office open?", *home)
    assert "When does the office open?" in run("holding", "office.md", *home).out
    assert "no stored answer rests on" in run("holding", "travel.md", *home).out


def test_what_cannot_be_asked_is_exit_2_and_breaks_nothing(example: Path, run: Run) -> None:
    asking = ("ci", "--documents", str(example / "handbook"), *options(example))
    assert run(*asking).code == 0
    last = example / ".thresher" / "ci" / "runs" / "last.json"
    last.write_text(last.read_text(encoding="utf-8").replace('"format": 2', '"format": 1'), encoding="utf-8")
    ran = run(*asking, "--against", "last")
    assert (ran.code, "was recorded by another version" in ran.err) == (2, True)
    (example / "empty" / "collections").mkdir(parents=True)
    ran = run(*asking, "--against", str(example / "empty"))
    assert (ran.code, "holds no documents yet" in ran.err) == (2, True)


def test_a_field_that_is_also_an_option_is_named_as_it_stands_in_the_file(example: Path, run: Run) -> None:
    (example / "knowledge.yaml").write_text(
        "questions:\n  - question: Who?\n    recipe: ''\n    expect: refused\n", "utf-8"
    )
    ran = run("ci", "--documents", str(example / "handbook"), *options(example))
    assert (ran.code, 'line 3: "recipe" must be a text' in ran.err) == (2, True)
