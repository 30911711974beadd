"""The worth of a chat model as a judge, on a few made questions: what an oracle says comes back in all three ways."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest

from benchmarks.model_judge import WAYS, Judged, believes, draw, helps, oracle, scorer, summary
from thresher.models.chat import ChatModel
from thresher.models.usage import Meter
from thresher.text.injection import fenced
from thresher.types import Query
from thresher_testing.llm_server import ScriptedServer


def question(number: int, *, answerable: bool, best: float) -> Judged:
    texts = [f"Lighthouse {number} was built in 1531.", f"The keeper of lighthouse {number} had a dog & a <cat>."]
    return Judged("made", str(number), f"When was {number} built?", ["", ""], texts, [answerable, False], [best, 0.1])


@pytest.mark.parametrize("way", WAYS)
def test_an_oracle_that_is_always_right_gives_every_chunk_its_label(way: str) -> None:
    one = question(1, answerable=True, best=0.5)
    known = {(fenced(one.question), fenced(text)): label for text, label in zip(one.texts, one.labels, strict=True)}
    meter = Meter()
    with ScriptedServer(partial(oracle, 1.0, known), logprobs=True) as server:
        model = ChatModel(server.base_url, f"oracle {way}", meter)
        scores = scorer(way, model)(Query(one.question, one.question, 10), one.hits).scores
    assert [score.value if score else None for score in scores] == pytest.approx([1.0, 0.0])
    assert meter.usage.llm_calls == (1 if way == "grades" else 2)


def test_an_oracle_is_right_about_its_share_of_the_chunks_and_does_not_change_its_mind() -> None:
    said = [believes(0.8, "q", str(at), label=at % 2 == 0) is (at % 2 == 0) for at in range(2000)]
    assert 0.77 < sum(said) / len(said) < 0.83
    assert said == [believes(0.8, "q", str(at), label=at % 2 == 0) is (at % 2 == 0) for at in range(2000)]


def test_scores_that_could_not_be_read_are_counted_and_judged_without() -> None:
    asked = [question(at, answerable=True, best=0.9) for at in range(30)]
    found: dict[str, Any] = summary(asked, [[0.9, None if at else 0.2] for at in range(30)])
    assert (found["chunks"], found["unreadable"], found["auroc"]["value"]) == (60, 29, 1.0)


def test_a_better_model_leaves_fewer_wrong_verdicts_and_a_coin_as_many_as_before() -> None:
    asked = [question(at, answerable=at % 2 == 0, best=0.4 + 0.001 * (at % 7)) for at in range(160)]
    found = helps(asked, draws=4)
    wrong = {accuracy: one["wrong"]["value"] for accuracy, one in found["accuracy"].items()}
    assert wrong["1.00"] == 0
    assert wrong["0.50"] == pytest.approx(found["wrong without"]["value"], abs=0.1)
    assert found["accuracy"]["1.00"]["counted"] == 1
    assert found["accuracy"]["0.50"]["counted"] < 0.5
    assert draw(found).startswith("<svg")
