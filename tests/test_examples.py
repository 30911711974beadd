"""The four scripts and the three notebooks of examples/ run, and show what they are there to show."""

from __future__ import annotations

import ast
import json
import re
import runpy
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from thresher.recipes.registry import RECIPES

pytestmark = pytest.mark.slow

EXAMPLES = Path(__file__).resolve().parent.parent / "examples"
DESK = EXAMPLES / "desk"


@pytest.fixture
def main_of() -> Callable[[str], Callable[..., Any]]:
    """The `main` of a script."""
    return lambda name: runpy.run_path(str(EXAMPLES / name))["main"]  # type: ignore[no-any-return]


@pytest.fixture(autouse=True)
def recipes_as_they_were() -> Iterator[None]:
    """What a notebook registers is taken out again."""
    before = dict(RECIPES)
    yield
    RECIPES.clear()
    RECIPES.update(before)


def test_a_researcher_gets_answers_with_places_a_doubt_and_a_refusal(
    main_of: Callable[[str], Callable[..., Any]], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    notes = main_of("researcher.py")(DESK, tmp_path)
    told = capsys.readouterr().out
    assert "3 documents, 0 that could not be read" in told
    assert "[1] tides.md" in told
    assert re.search(r"Eastport\?\n  In doubt, the nearest passage:", told)
    assert "Which mammals live in the harbour?\n  No answer found in your documents.\n  because: " in told
    assert "And Northquay? (And Northquay? (What was the mean tidal range at Saltby?))" in told
    assert "> The present wall" not in notes
    assert "6 December 2013" in notes


def test_an_analyst_sees_how_a_figure_was_reckoned(
    main_of: Callable[[str], Callable[..., Any]], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    main_of("analyst.py")(DESK, tmp_path)
    told = capsys.readouterr().out
    assert "Fennmouth: 6120 thousand euros" in told
    assert "1185 + 575 + 2105 = 3865 tonnes" in told
    assert "  3420 thousand euros [1]" in told


def test_a_developer_puts_a_judge_in_and_is_told_of_mistakes(
    main_of: Callable[[str], Callable[..., Any]], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    main_of("developer.py")(DESK, tmp_path)
    told = capsys.readouterr().out
    assert re.search("newest: (?s:.*)6.8 metres", told)
    assert "dropped by judge: tides.md" in told
    assert re.search("told: (?s:.*)6 December 2013", told)
    assert "did you mean 'corrective'?" in told
    assert "did you mean 'judge'?" in told


def test_an_evaluator_gets_advice_and_a_report(
    main_of: Callable[[str], Callable[..., Any]], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page = main_of("evaluator.py")(DESK, DESK / "questions.csv", tmp_path)
    told = capsys.readouterr().out
    assert "Use rag (not certain)" in told or "Use corrective" in told
    assert "Every question and every answer" in page.read_text(encoding="utf-8")


# --- notebooks --------------------------------------------------------------------------------------------------------

PROMISED = {
    "first_steps": ["### What was the mean tidal range", "4.1 metres", "chunks: "],
    "own_judge": ["judge: 2; `--all` lists them", "corrective+judge"],
    "comparing": ["Use ", "value"],
}
"""What a notebook shows, in a word or two."""


def cells_of(notebook: Path) -> list[str]:
    """The code of a notebook, cell by cell; none has an output that somebody typed."""
    cells = [cell for cell in json.loads(notebook.read_text(encoding="utf-8"))["cells"] if cell["cell_type"] == "code"]
    assert not any(cell["outputs"] for cell in cells)
    return ["".join(cell["source"]) for cell in cells]


def run_cell(code: str, names: dict[str, Any]) -> str:
    """Run a cell as a notebook does; what its last expression shows, as Markdown where it can."""
    tree = ast.parse(code)
    last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
    exec(compile(tree, "cell", "exec"), names)
    if last is None:
        return ""
    value = eval(compile(ast.Expression(last.value), "cell", "eval"), names)  # type: ignore[attr-defined]
    return str(value._repr_markdown_()) if hasattr(value, "_repr_markdown_") else repr(value)


@pytest.mark.parametrize("notebook", PROMISED)
def test_a_notebook_runs_from_its_first_cell_to_its_last(
    notebook: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(EXAMPLES / "notebooks")
    names: dict[str, Any] = {"__name__": "__main__"}
    shown = "\n".join(run_cell(code, names) for code in cells_of(Path(f"{notebook}.ipynb"))) + capsys.readouterr().out
    for promised in PROMISED[notebook]:
        assert promised in shown
