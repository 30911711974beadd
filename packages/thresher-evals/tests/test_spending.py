"""What a run costs is said before it starts and while it runs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from thresher.answer import Answer
from thresher.types import Usage
from thresher_evals.asker import CollectionAsker
from thresher_evals.dataset import Question
from thresher_evals.datasets.registry import load
from thresher_evals.rows import Row
from thresher_evals.runner import run as put
from thresher_evals.spending import Spending, before

MODEL = {"llm.model": "small", "llm.base_url": "https://models.example/v1"}
PRICED = {**MODEL, "llm.price_prompt": 1.0}


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"rag": {}}, "20 answers: 20 questions to 1 recipe; no chat model is configured, so no tokens are spent"),
        (
            {"rag": PRICED, "crag": PRICED},
            "40 answers: 20 questions to 2 recipes; the chat model is small at models.example",
        ),
        (
            {"rag": MODEL},
            "20 answers: 20 questions to 1 recipe; the chat model is small at models.example; "
            "set llm.price_prompt and llm.price_completion to see money",
        ),
    ],
)
def test_before_a_run_its_answers_and_models_are_counted(settings: dict[str, dict[str, Any]], words: str) -> None:
    assert before(20, settings) == words


def spending(make_row: Callable[..., Row], rows: dict[str, int], usage: Usage) -> Spending:
    found = Spending(10, ["rag", "crag"])
    for recipe, number in rows.items():
        for n in range(number):
            row = make_row(Question(str(n), "?"), text="words")
            assert row.reply is not None
            found.add(replace(row, recipe=recipe, reply=replace(row.reply, usage=usage)))
    return found


USED = Usage(llm_calls=1, prompt_tokens=90, completion_tokens=10, cost=0.01)


def test_what_is_spent_is_added_up_and_what_is_left_is_estimated(make_row: Callable[..., Row]) -> None:
    assert str(spending(make_row, {"rag": 5}, USED)) == (
        "spent: 5 model calls, 500 tokens, 0.05 in money; about 0.2 in money in all"
    )


@pytest.mark.parametrize(
    "command", [("run", "--recipe", "rag", "--dataset"), ("compare", "--recipe", "hybrid", "--questions")]
)
def test_an_interrupt_says_what_is_kept_and_how_to_go_on(
    run: Callable[..., Any],
    qa: Path,
    home: Path,
    tmp_path: Path,
    command: tuple[str, ...],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def ask(self: CollectionAsker, question: str, *, recipe: str) -> Answer:
        if question == "Where?":
            raise KeyboardInterrupt
        return self.collection.ask(question, recipe=recipe)

    monkeypatch.setattr(CollectionAsker, "ask", ask)
    name, *options, last = command
    given = f"qa:{qa}" if last == "--dataset" else qa
    ended = run("eval", name, *options, last, given, "--home", home, "--out", tmp_path / "out")
    assert ended.code == 130
    kept = f"answers are kept (thresher eval score {tmp_path / 'out'}); with --resume, run the command again to go on"
    assert f"interrupted; 1 of {3 if name == 'run' else 6} {kept}" in ended.err


def test_the_scores_of_an_unfinished_run_say_how_far_it_is(
    scripted: Callable[..., Any], qa: Path, tmp_path: Path, run: Callable[..., Any]
) -> None:
    with pytest.raises(KeyboardInterrupt):
        put(scripted(die_after=4), load(f"qa:{qa}"), ["rag", "crag"], tmp_path / "out")
    shown = run("eval", "score", tmp_path / "out")
    assert "unfinished: questions without a row: 1 of rag, 3 of crag; the scores are of the others" in shown.out
