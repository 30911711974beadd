"""What token budgets keep of the answers: of made questions, of labelled ones, and from the command line."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.conftest import Run
from tests.test_max_tokens import indexed_manuals
from thresher.collection import Collection
from thresher.errors import UsageError
from thresher_evals.answerer_worth import Share
from thresher_evals.token_budgets import BudgetPoint


@pytest.fixture(scope="module")
def pumps(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Collection]:
    with indexed_manuals(tmp_path_factory.mktemp("pumps"), 16) as collection:
        yield collection


@pytest.mark.slow
def test_made_questions_say_what_budgets_keep(pumps: Collection) -> None:
    seen: list[int] = []
    curve = pumps.measure_budget(number=12, budgets=(5, 60, 2000), progress=seen.append)
    assert curve.source == "questions made of the collection"
    assert sum(seen) == curve.found.n == 12
    kept = [point.kept.right for point in curve.points]
    assert kept == sorted(kept)
    assert curve.points[-1].kept.value > 0.9
    assert [point.tokens <= point.max_tokens for point in curve.points] == [True] * 3
    assert curve.points[-1].of_chunks < 1


def test_without_an_answer_nothing_is_measured(pumps: Collection) -> None:
    with pytest.raises(UsageError, match="have no answers"):
        pumps.measure_budget([("Who is the mayor?", [])])
    with pytest.raises(UsageError, match="`max_tokens` 0"):
        pumps.measure_budget(budgets=(0,))


def test_a_point_is_told_in_a_sentence() -> None:
    told = "800 tokens keep 98.4 % [95.4, 99.5] of the answers, 14 % of the chunks"
    assert str(BudgetPoint(800, Share(185, 188), 500.0, 0.14)) == told


def test_the_command_line_measures_budgets_on_labelled_questions(pumps: Collection, run: Run, tmp_path: Path) -> None:
    file = tmp_path / "labelled.jsonl"
    rows = [
        {"question": "When was the seal of pump P17 replaced?", "answers": ["1987"]},
        {"question": "Who is the mayor?", "answerable": False},
    ]
    file.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    ran = run("calibrate", "--budget", "--home", pumps.home, "--questions", file)
    assert "of 1 the answer is in the chunks" in ran.out
    assert "  800 tokens keep 100.0 % [" in ran.out
    assert not (pumps.folder / "calibrations.json").exists()
