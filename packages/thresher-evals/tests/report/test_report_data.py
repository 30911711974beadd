"""The numbers of a run: blocks of one generator, who is better than whom, and which recipe the report is about."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from thresher_evals.report.data import Run, read_measured
from thresher_evals.report.questions import telling
from thresher_evals.rows import Row

Write = Callable[..., Path]
Answered = Callable[..., list[Row]]
FAIR = "crag[judge=calibrated,upper=0.665,lower=0.283]"


def test_nothing_of_one_generator_is_compared_with_another(write_run: Write, answered: Answered) -> None:
    rows = {
        "rag": answered("rag", 10),
        "corrective": answered("corrective", 10, generator="model-b"),
        "no-retrieval": answered("no-retrieval", 0, refused=True),
    }
    run = read_measured(write_run(rows=rows), "run")
    assert [block.recipes for block in run.blocks] == [["rag", "no-retrieval"], ["corrective"]]
    assert {(line["recipe"], line["against"]) for block in run.blocks for line in block.difference_lines()} == {
        ("no-retrieval", "rag")
    }
    assert all(one.p is None for one in run.blocks[1].measurements.values())


def test_the_best_recipe_is_significantly_better_than_each_other_one(measured: Callable[..., Run]) -> None:
    block = measured(rag=0, crag=8, corrective=20).blocks[0]
    assert (block.leading("match"), block.best("match")) == ("corrective", "corrective")


def test_differences_are_ours_minus_the_others_with_wins_and_losses(write_run: Write, answered: Answered) -> None:
    rows = {name: answered(name, right) for name, right in (("rag", 4), (FAIR, 12), ("corrective", 10))}
    run = read_measured(write_run(rows=rows), "run")
    lines = list(run.blocks[0].difference_lines())
    (line,) = (one for one in lines if (one["recipe"], one["against"], one["measure"]) == ("corrective", FAIR, "f1"))
    assert (line["difference"], line["better"], line["worse"]) == (pytest.approx(-0.1), 0, 2)
    told = run.blocks[0].rivals("corrective", "match")
    assert {name: (one.better, one.worse) for name, one in told.items()} == {"rag": (6, 0), FAIR: (0, 2)}
    assert told["rag"].difference == pytest.approx(0.3)


def test_a_fair_rival_is_no_ablation_and_variants_of_one_recipe_are(write_run: Write, answered: Answered) -> None:
    mixed = {name: answered(name, 9) for name in ("rag", "crag", FAIR, "corrective")}
    varied = {name: answered(name, 9) for name in ("crag", FAIR, "crag[decompose=selection]", "rag")}
    first, second = (read_measured(write_run(f"run{n}", rows=of), f"run{n}") for n, of in enumerate((mixed, varied)))
    assert (first.blocks[0].ablated, second.blocks[0].ablated) == (None, "crag")


def test_the_most_telling_losses_are_those_where_the_others_are_right(write_run: Write, answered: Answered) -> None:
    """rag is right on the first ten, ours on 5 to 14: it lost q0 to q4 and gained q10 to q14; hybrid has 0 to 1."""
    ours = answered("corrective", 15)
    wrong = answered("corrective", 0)
    rows = {
        "rag": answered("rag", 10),
        "corrective": [*wrong[:5], *ours[5:]],
        "hybrid": answered("hybrid", 2),
    }
    block = read_measured(write_run(rows=rows), "run").blocks[0]
    told = telling(block, "corrective", 4)
    assert [(one.first.question.id, one.gained) for one in told] == [
        ("q0", False),
        ("q10", True),
        ("q1", False),
        ("q11", True),
    ]
    assert len(telling(block, "corrective", 99)) == 10
