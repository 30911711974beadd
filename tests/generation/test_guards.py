"""What keeps the answer path as it is drawn: siblings that know no other, one table, one place that decides."""

from __future__ import annotations

import ast
import json
from collections.abc import Iterator
from dataclasses import fields, replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as some

import thresher.generation
from thresher.collection import Collection
from thresher.generation.answerers.documents import DocumentAnswerer
from thresher.generation.candidates import Signs
from thresher.generation.panel import Panel
from thresher.generation.select import CERTAINTY, ENOUGH, AnswerThresholds, Row, Selector
from thresher.pipeline import Pipeline
from thresher.types import Query

GENERATION = Path(thresher.generation.__file__).parent
FILES = sorted(GENERATION.rglob("*.py"))
ANSWERERS = [file for file in FILES if file.parent.name == "answerers" and file.stem != "__init__"]
ROWS = json.loads(CERTAINTY.read_text(encoding="utf-8"))["answerers"]
SELECTOR = Selector.load(AnswerThresholds(0.3, 0.6))


def named(file: Path) -> str:
    return str(file.relative_to(GENERATION))


def nodes(file: Path) -> Iterator[ast.AST]:
    return ast.walk(ast.parse(file.read_text(encoding="utf-8")))


def imported(file: Path) -> Iterator[str]:
    """The whole names of everything that a file imports."""
    for node in nodes(file):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def names_of(node: ast.AST) -> Iterator[str]:
    """The names that a node gives or reads."""
    for attribute in ("id", "attr", "arg", "name", "asname"):
        if isinstance(name := getattr(node, attribute, None), str):
            yield name


# --- files ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("file", ANSWERERS, ids=named)
def test_an_answerer_knows_no_other(file: Path) -> None:
    of_others = ("thresher.generation.answerers", "thresher.generation.select", "thresher.generation.panel")
    assert [name for name in imported(file) if name.startswith(of_others)] == []


@pytest.mark.parametrize("file", [file for file in FILES if file not in ANSWERERS], ids=named)
def test_what_answers_around_them_knows_no_answerer_and_the_panel_alone_selects(file: Path) -> None:
    assert [name for name in imported(file) if name.startswith("thresher.generation.answerers")] == []
    selecting = [name for name in imported(file) if name.startswith("thresher.generation.select")]
    assert not selecting or file.stem == "panel"


@pytest.mark.parametrize("file", FILES, ids=named)
def test_nothing_that_answers_writes_a_verdict(file: Path) -> None:
    assert {name.rpartition(".")[2] for name in imported(file)}.isdisjoint({"Verdict", "Decision"})
    called = {name for node in nodes(file) if isinstance(node, ast.Call) for name in names_of(node.func)}
    assert "Decision" not in called


@pytest.mark.parametrize("file", FILES, ids=named)
def test_nothing_that_answers_hands_a_question_on(file: Path) -> None:
    assert "otherwise" not in {name for node in nodes(file) for name in names_of(node)}


def test_every_answerer_is_a_file_of_its_own_with_a_name_of_its_own() -> None:
    assert len(ANSWERERS) > 5
    given_names = {}
    for file in ANSWERERS:
        classes = [node for node in ast.parse(file.read_text(encoding="utf-8")).body if isinstance(node, ast.ClassDef)]
        (answerer,) = (one for one in classes if one.name.endswith("Answerer"))
        (name,) = (
            line.value.value
            for line in answerer.body
            if isinstance(line, ast.AnnAssign)
            and isinstance(line.value, ast.Constant)
            and ast.unparse(line.target) == "name"
        )
        given_names[name] = file.stem
    assert all(name == stem for name, stem in given_names.items())
    assert len(given_names) == len(ANSWERERS)


# --- the table of certainties -----------------------------------------------------------------------------------------


def made(collection: Collection, recipe: str) -> Pipeline:
    return collection._pipeline(recipe, collection._configured(recipe, None), collection._parts())


def panel_of(pipeline: Pipeline) -> Panel:
    assert isinstance(pipeline.generate, Panel)
    return pipeline.generate


@pytest.mark.parametrize("recipe", ["corrective", "rag", "hybrid"])
def test_every_answerer_of_a_recipes_panel_has_a_row(collection: Collection, recipe: str) -> None:
    names = [answerer.name for answerer in panel_of(made(collection, recipe)).answerers]
    assert len(names) == len(set(names)) > 1
    assert set(names) <= ROWS.keys()
    assert set(names) <= {file.stem for file in ANSWERERS}


def test_the_largest_panel_has_every_answerer_and_the_table_no_other(collection: Collection) -> None:
    names = {answerer.name for answerer in panel_of(made(collection, "corrective")).answerers}
    assert names == {file.stem for file in ANSWERERS} == ROWS.keys()
    assert DocumentAnswerer.name in names


@pytest.mark.parametrize("name", ROWS)
def test_a_row_counts_what_was_read_to_fit_it(name: str) -> None:
    row = ROWS[name]
    assert type(row["n"]) is type(row["right"]) is int
    assert 0 <= row["right"] <= row["n"]
    assert row["n"] > 0
    assert set(row["weights"]) <= {sign.name for sign in fields(Signs)}


NUMBER = some.none() | some.floats(-20, 20)
SIGNS = some.builds(Signs, **{sign.name: NUMBER for sign in fields(Signs) if sign.name != "rival"})


@pytest.mark.parametrize("name", ROWS)
@given(SIGNS)
def test_no_row_of_few_observations_counts_with_more_than_the_lower_bound_of_its_interval(
    name: str, signs: Signs
) -> None:
    row: Row = SELECTOR.table[name]
    probability = row.probability(signs)
    assert 0.0 <= probability <= 1.0
    if row.n < ENOUGH:
        assert probability <= row.lower_bound <= row.right / row.n


# --- order ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "question",
    [
        "When was the Kõpu lighthouse built?",
        "What is the Kõpu lighthouse?",
        "Was the Semmering railway designed by Carl von Ghega?",
        "Who designed the Semmering railway and when was it opened?",
        "Compare the Kõpu lighthouse and the Semmering railway",
        "How many documents are there?",
        "Which documents mention a railway?",
        "Summarize the lighthouse document",
        "Which year was the railway opened in? (A) 1854 (B) 1531",
        "What is the price of the harbour crane in Oslo?",
        "lighthouse",
    ],
)
@pytest.mark.parametrize("recipe", ["corrective", "rag"])
def test_a_panel_and_its_reverse_give_the_same_answer(collection: Collection, recipe: str, question: str) -> None:
    pipeline = made(collection, recipe)
    panel = panel_of(pipeline)
    turned = replace(pipeline, generate=replace(panel, answerers=panel.answerers[::-1]))
    one, other = (each.answer(Query(question, question)) for each in (pipeline, turned))
    assert (one.text, one.abstained, one.reason, one.certainty) == (
        other.text,
        other.abstained,
        other.reason,
        other.certainty,
    )
    assert (one.citations, one.conflicts, one.verdict) == (other.citations, other.conflicts, other.verdict)
