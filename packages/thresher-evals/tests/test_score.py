"""Scores come from the rows alone and keep the contract's shape."""

from __future__ import annotations

import json
import math
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from thresher.answer import Answer
from thresher.errors import ThresherError, UnknownSetting
from thresher_evals.datasets.registry import load
from thresher_evals.judges.judgements import Judgement, answer_of, judgement_log
from thresher_evals.rows import read_rows
from thresher_evals.runner import run
from thresher_evals.score import score

Scripted = Callable[..., Any]


def test_rankings_are_scored_by_hand(scripted: Scripted, beir: Path, tmp_path: Path) -> None:
    hits = {"question 1": ["b", "x", "a", "b"], "question 2": ["x"], "question 4": ["e"]}
    run(scripted(hits), load(f"beir:{beir}"), ["rag"], tmp_path / "out")
    scored = score(tmp_path / "out")
    gains = 1 + 3 / math.log2(4)
    best = 3 + 1 / math.log2(3)
    expected = {
        "nDCG@10": (gains / best + 0 + 1) / 3,
        "P@5": (2 / 5 + 0 + 1 / 5) / 3,
        "R@5": (1 + 0 + 1) / 3,
        "F1@5": (2 * 0.4 / 1.4 + 0 + 2 * 0.2 / 1.2) / 3,
        "MRR": (1 + 0 + 1) / 3,
    }
    assert (scored["dataset"], scored["n"]) == (f"beir:{beir}", 3)
    for name, value in expected.items():
        measured = scored["recipes"]["rag"][name]
        assert measured["value"] == pytest.approx(value)
        assert measured["low"] <= measured["value"] <= measured["high"]
        assert measured["n"] == 3
    assert "categories" not in scored
    assert "match" not in scored["recipes"]["rag"]
    assert scored["degraded"] == {"rag": ["no language model"]}


def test_answers_are_scored_also_by_category(
    scripted: Scripted, failure: ThresherError, qa: Path, tmp_path: Path
) -> None:
    hits = {"Who?": ["/x/ada.pdf"], "Where?": ["y", "x"]}
    asker = scripted(hits, {"Who?": "Ada Lovelace [1]", "Where?": failure}, pages={"Who?": 2})
    run(asker, load(f"qa:{qa}"), ["rag"], tmp_path / "out")
    scored = score(tmp_path / "out")
    values = {name: (entry["value"], entry["n"]) for name, entry in scored["recipes"]["rag"].items()}
    assert values["em"] == (0.5, 2)
    assert values["gold_page"] == (1.0, 1)
    assert values["gold_source"] == (0.5, 2)
    assert values["refusal_recall"] == (1.0, 1)
    assert values["abstained"] == (pytest.approx(1 / 3), 3)
    assert values["failed"] == (pytest.approx(1 / 3), 3)
    assert values["MRR"] == (0.75, 2)
    assert set(scored["categories"]) == {"people", "places"}
    places = scored["categories"]["places"]["rag"]
    assert (places["em"]["value"], places["em"]["n"]) == (0.0, 1)
    assert places["gold_page"] == {"value": None, "low": None, "high": None, "n": 0}
    json.dumps(scored, allow_nan=False)


def test_recipes_are_compared_with_the_first_on_shared_questions(scripted: Scripted, qa: Path, tmp_path: Path) -> None:
    hits = {"Who?": ["ada.pdf"], "Where?": ["x"]}

    class Better(scripted):  # type: ignore[misc, valid-type]
        def ask(self, question: str, *, recipe: str) -> Answer:
            self.answers = {
                "Who?": "Ada Lovelace",
                "Where?": "Paris" if recipe == "hybrid" else "Rome",
                "Why not?": None,
            }
            answer: Answer = super().ask(question, recipe=recipe)
            return answer

    run(Better(hits), load(f"qa:{qa}"), ["rag", "hybrid"], tmp_path / "out")
    against = score(tmp_path / "out")["against"]
    assert against["baseline"] == "rag"
    compared = against["recipes"]["hybrid"]
    em = compared["em"]
    assert (em["difference"], em["better"], em["worse"], em["n"]) == (0.5, 1, 0, 2)
    assert (em["test"], em["p"]) == ("McNemar exact", 1.0)
    assert (compared["MRR"]["difference"], compared["MRR"]["p"]) == (0.0, 1.0)
    assert "refusal_precision" not in compared  # its questions depend on the recipe


def test_the_baseline_can_be_chosen_and_several_comparisons_are_corrected(
    scripted: Scripted, qa: Path, tmp_path: Path
) -> None:
    run(scripted({"Who?": ["ada.pdf"]}), load(f"qa:{qa}"), ["rag", "hybrid", "third"], tmp_path / "out")
    against = score(tmp_path / "out", baseline="hybrid")["against"]
    assert against["baseline"] == "hybrid"
    assert list(against["recipes"]) == ["rag", "third"]
    for compared in against["recipes"].values():
        for measured in compared.values():
            assert (measured["p"] is None) == (measured["p_holm"] is None)
            assert measured["p"] is None or measured["p"] <= measured["p_holm"] <= 1
    assert score(tmp_path / "out")["against"]["baseline"] == "rag"
    with pytest.raises(UnknownSetting, match="did you mean 'hybrid'"):
        score(tmp_path / "out", baseline="hybird")


def test_scoring_needs_no_dataset_and_only_the_measures_asked_for(scripted: Scripted, qa: Path, tmp_path: Path) -> None:
    run(scripted(), load(f"qa:{qa}"), ["rag"], tmp_path / "out")
    qa.unlink()
    moved = shutil.move(tmp_path / "out", tmp_path / "moved")
    assert list(score(Path(moved), measures=["abstained", "R@100"])["recipes"]["rag"]) == ["abstained", "R@100"]
    with pytest.raises(UnknownSetting, match="'match'"):
        score(Path(moved), measures=["mach"])


def test_a_run_does_not_need_the_packages_of_scoring() -> None:
    code = (
        "import sys, thresher_evals.runner, thresher_evals.datasets.registry\n"
        "print({'scipy', 'ir_measures', 'numpy'} & set(sys.modules))"
    )
    assert subprocess.check_output([sys.executable, "-c", code], text=True).strip() == "set()"


def test_a_missing_package_names_the_distribution_that_has_it() -> None:
    code = """
import importlib, sys
from thresher.errors import MissingExtra
for package, module in (("scipy", "stats"), ("ir_measures", "metrics.retrieval")):
    sys.modules[package] = None
    try:
        importlib.import_module(f"thresher_evals.{module}")
    except MissingExtra as error:
        print(error)
    del sys.modules[package]
"""
    assert subprocess.check_output([sys.executable, "-c", code], text=True).splitlines() == [
        f"the package '{package}' is not installed; in a checkout: pip install ./packages/thresher-evals"
        for package in ("scipy", "ir-measures")
    ]


def rewrite(path: Path, change: Callable[[dict[str, Any]], dict[str, Any]]) -> None:
    """Change every row of a file."""
    lines = [json.dumps(change(json.loads(line))) for line in path.read_text().splitlines()]
    path.write_text("".join(f"{line}\n" for line in lines))


def test_answers_of_different_generators_are_not_compared(scripted: Scripted, qa: Path, tmp_path: Path) -> None:
    recipes = ["rag", "hybrid", "third"]
    run(scripted({}, {"Who?": "Ada Lovelace"}), load(f"qa:{qa}"), recipes, tmp_path / "out")
    for recipe, generator in zip(recipes, ("llama", "gpt", ""), strict=True):
        path = tmp_path / "out" / "rows" / f"{recipe}.jsonl"
        rewrite(path, lambda row, name=generator: {**row, "generator": name, "judge": "ours"})  # type: ignore[misc]
    scored = score(tmp_path / "out")
    assert scored["keys"]["rag"] == {"generator": ["llama"], "judge": ["ours"]}
    assert scored["keys"]["third"] == {"generator": [], "judge": ["ours"]}
    assert scored["against"]["skipped"] == {"hybrid": "answers by gpt, and those of rag by llama"}
    assert list(scored["against"]["recipes"]) == ["third"]


def test_what_was_judged_is_scored_with_the_rows(scripted: Scripted, qa: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    run(scripted({}, {"Who?": "Ada Lovelace", "Where?": "Rome"}), load(f"qa:{qa}"), ["rag"], out)
    answers = {row.question.id: answer_of(row) for row in read_rows(out, "rag")}
    for id, values in (("q1", {"unsupported": 0.0, "judged_correct": 1.0}), ("q2", {"unsupported": 0.5})):
        judgement_log(out).add(Judgement(id, "llama", "v1", answers[id], tuple(values), values), "rag")
    scored = score(out)["recipes"]["rag"]
    assert (scored["unsupported"]["value"], scored["unsupported"]["n"]) == (0.25, 2)
    assert (scored["judged_correct"]["value"], scored["judged_correct"]["n"]) == (1.0, 1)
    assert "factscore" not in scored
