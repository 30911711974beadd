"""What stands on the summary and on the pages: who is beaten, who is not, and what keeps a run from being evidence."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from thresher_evals.report.blocks import Number
from thresher_evals.report.data import Run, labels, read_measured
from thresher_evals.report.pages import dataset_pages, small_print, standing_in_words, summary, warnings
from thresher_evals.rows import Row

Write = Callable[..., Path]
Answered = Callable[..., list[Row]]
Tables = Mapping[str, list[dict[str, str]]]
FAIR = "crag[judge=calibrated,upper=0.665,lower=0.283]"


def said(runs: list[Run]) -> str:
    return "\n".join(text for section in summary(runs) for text in section.text)


# --- the summary ------------------------------------------------------------------------------------------------------


def test_the_summary_has_a_row_for_each_run_and_a_column_for_each_rival(measured: Callable[..., Run]) -> None:
    runs = [measured("clear", rag=0, crag=8, corrective=20), measured("shared", rag=0, crag=11, corrective=10)]
    (table,) = summary(runs)[0].tables
    assert table.columns[-3:] == ["− rag", "− crag", "− the best of the others"]
    first, second = table.rows
    assert isinstance(first[-3], Number)
    assert isinstance(second[-2], Number)
    assert (first[-3].value, first[-3].mark) == (1.0, True)
    assert (second[-2].value, second[-2].mark) == (pytest.approx(-0.05), False)
    assert second[4] == "10 / 10 / 0 / 0 / 0 / 0 / 0"


def test_costs_are_told_of_runs_that_say_what_an_answer_took(write_run: Write) -> None:
    alone, in_turn = (read_measured(write_run(f"{together}", together=together), "run") for together in (False, True))
    assert "Median seconds a question on run, n = 5: rag 3" in said([alone])
    assert "seconds" not in said([in_turn]).lower()
    assert "Calls of a language model a question on run" in said([in_turn])


def test_a_run_of_several_generators_warns(write_run: Write) -> None:
    told = read_measured(write_run(generators={"crag": "model-b"}), "run")
    assert "The answers have different generators: they stand apart and are not compared." in [*warnings(told)]
    (page,) = dataset_pages([told], 0)
    assert [section.title for section in page.sections] == ["run, answers of model-a", "run, answers of model-b"]


# --- a page -----------------------------------------------------------------------------------------------------------


def test_the_sentence_names_who_is_beaten_who_is_not_and_who_is_better(measured: Callable[..., Run]) -> None:
    run = measured(rag=0, hybrid=9, crag=20, corrective=10)
    assert standing_in_words(run.blocks[0]) == (
        "In match, corrective is significantly better than rag; not distinguishable from hybrid; significantly worse "
        "than crag (p < 0.05 after Holm's correction for 3 comparisons)."
    )


def test_ablations_are_one_table_with_the_printed_ones_apart(
    write_run: Write, answered: Answered, tables_of: Callable[..., Tables]
) -> None:
    names = ("crag", "crag[decompose=selection]", "crag[actions=only-correct]")
    rows = {name: answered(name, right) for name, right in zip(names, (10, 10, 2), strict=True)}
    tables = tables_of(write_run(kind="routing", rows=rows))
    assert list(tables) == ["Ablations of crag", "Ablations of CRAG as printed"]
    base, same, worse = tables["Ablations of crag"]
    assert (base["match, difference"], same["match, difference"]) == ("–", "0 [0, 0] p = 1")
    assert worse["match, difference"].startswith("−0.4 ★ [")
    assert worse["right / wrong / refused / unchecked / unreadable / late / failed"] == "2 / 18 / 0 / 0 / 0 / 0 / 0"
    assert tables["Ablations of CRAG as printed"][0]["claimed"] == "*0.549*"


@pytest.fixture
def worse(write_run: Write, answered: Answered) -> list[Path]:
    """Two runs of one dataset with retrieval made worse, and one that was not."""
    folders = []
    for name, share, right in (("low", 0.1, 4), ("high", 0.6, 16), ("whole", None, 20)):
        folder = write_run(name, rows={recipe: answered(recipe, right) for recipe in ("rag", "corrective")})
        described = json.loads((folder / "run.json").read_text(encoding="utf-8"))
        if share is not None:
            for settings in described["settings"].values():
                settings["degraded"] = share
        (folder / "run.json").write_text(json.dumps(described), encoding="utf-8")
        folders.append(folder)
    return folders


def test_runs_made_worse_are_one_table_from_the_highest_share(
    worse: list[Path], tables_of: Callable[..., Tables]
) -> None:
    tables = tables_of(*worse)
    assert "What became of the questions" in tables, "the run that was not made worse has its own section"
    rows = tables["match by share"]
    assert [(row["share"], row["run"]) for row in rows] == [("0.6", "high"), ("0.1", "low")]
    assert rows[1]["corrective"].startswith("0.2 [")
    assert rows[1]["corrective − rag"] == "0 [0, 0] p = 1"


def test_what_people_rated_stands_beside_what_judges_said(write_run: Write, tables_of: Callable[..., Tables]) -> None:
    mean = {"value": 4.5, "low": 4.0, "high": 5.0, "n": 3}
    agreed = {"n": 3, "same": 0.5, "alpha": 0.25}
    told = {"raters": ["ann", "bob"], "recipes": {"crag": {"correctness": mean}}, "agreement": {"correctness": agreed}}
    rated = write_run("rated")
    (rated / "ratings").mkdir()
    (rated / "ratings" / "ratings.json").write_text(json.dumps(told), encoding="utf-8")
    (rag, crag, _) = tables_of(rated)["What judges and people said"]
    assert (rag["rated_correctness, n = 3"], crag["rated_correctness, n = 3"]) == ("–", "4.5 [4, 5]")
    agreement = "2 people rated correctness without a recipe's name: n 3, same 0.5, alpha 0.25."
    assert agreement in [*small_print(read_measured(rated, "rated"))]


def test_long_names_are_cut_where_that_leaves_them_apart() -> None:
    assert labels(["rag", FAIR]) == {"rag": "rag", FAIR: "crag[judge=calibrated…]"}
    one, other = ("ecrag[kdm.cosine_weight=0.25,kdm.cut=0.1]", "ecrag[kdm.cosine_weight=0.25,kdm.cut=0.7]")
    assert list(labels([one, other]).values()) == ["ecrag (1)", "ecrag (2)"]
