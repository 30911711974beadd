"""What a chat model says without support is never shown as supported; what is told while it writes is the answer."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import thresher
from tests.recipes.scripting import holding, user_of
from thresher.answer import Answer
from thresher.collection import Collection
from thresher.types import ClaimState
from thresher_testing.liars import LIARS
from thresher_testing.llm_server import ScriptedServer

Serve = Callable[..., ScriptedServer]
Liar = Callable[[str, str], str]

TEXTS = {
    "kopu": "The Kõpu lighthouse was built in 1531. It stands on the island of Hiiumaa. Its lamp is white.",
    "sorve": "The Sõrve lighthouse was built in 1960. It stands on the island of Saaremaa. It is 52 metres high.",
    "semmering": "The Semmering railway was opened in 1854. It was designed by Carl von Ghega. It is 41 km long.",
    "gouda": "Gouda is a cheese from the Netherlands. Gouda ripens for twelve months. It is sold in yellow wax.",
}
ANSWERED = {
    "When was the Kõpu lighthouse built?": "1531",
    "On which island does the Sõrve lighthouse stand?": "Saaremaa",
    "Who designed the Semmering railway?": "Ghega",
    "How long does Gouda ripen?": "twelve months",
}
NEAR = {
    "How high is the Kõpu lighthouse?": "52",
    "Who designed the Sõrve lighthouse?": "Ghega",
    "What did the Semmering railway cost?": "",
}
"""Questions that the texts do not answer, with what a look-alike would."""


@pytest.fixture(scope="module")
def island(tmp_path_factory: pytest.TempPathFactory) -> Any:
    with holding(tmp_path_factory.mktemp("island"), TEXTS, ["corrective", "hybrid", "rag"]) as collection:
        yield collection


def answers(island: Collection, server: ScriptedServer, recipe: str) -> list[Answer]:
    model = {"llm.base_url": server.base_url, "llm.model": "liar"}
    return [island.ask(question, recipe=recipe, settings=model) for question in ANSWERED | NEAR]


@pytest.mark.slow
@pytest.mark.parametrize("recipe", ["corrective", "rag"])
def test_what_a_liar_says_without_support_is_not_passed_off_as_supported(
    island: Collection, serve: Serve, recipe: str
) -> None:
    for liar in LIARS:
        for answer in answers(island, serve(_telling(liar)), recipe):
            for one in answer.sentences:
                assert answer.text[one.start : one.end] == one.text
                stands = any(one.text.strip(" .") in text for text in TEXTS.values())
                assert stands or one.state is not ClaimState.SUPPORTED, (liar.__name__, one.text)


def test_what_a_faultless_model_says_is_shown(island: Collection, serve: Serve) -> None:
    said = {
        "When was the Kõpu lighthouse built?": "It dates from 1531.",
        "On which island does the Sõrve lighthouse stand?": "The Sõrve lighthouse is on Saaremaa.",
        "Who designed the Semmering railway?": "Carl von Ghega designed the Semmering railway.",
        "How long does Gouda ripen?": "Gouda needs twelve months to ripen.",
    }
    for question, words in said.items():
        settings = {"llm.base_url": serve(words).base_url, "llm.model": "faultless"}
        answer = island.ask(question, settings=settings)
        assert answer.answered_by == "model"
        assert words in answer.text


@pytest.mark.parametrize("question", NEAR)
def test_a_near_miss_is_refused_strictly_whatever_the_model_says(
    island: Collection, serve: Serve, question: str
) -> None:
    server = serve("It is 52 metres high and was designed by Carl von Ghega for 12 millions.")
    settings = {"llm.base_url": server.base_url, "llm.model": "liar", "answer.mode": "strict"}
    assert island.ask(question, settings=settings).abstained


def _telling(liar: Liar) -> Callable[[Any], str]:
    return lambda body: liar(str(body["messages"][0]["content"]), user_of(body))


# --- while it is written ----------------------------------------------------------------------------------------------


def test_a_stream_is_the_sentences_that_hold_and_the_answer_last(island: Collection, serve: Serve) -> None:
    server = serve("The Kõpu lighthouse was built in 1531. It was painted in 1999. It stands on the island of Hiiumaa.")
    model = {"llm.base_url": server.base_url, "llm.model": "scripted", "answer.mode": "strict"}
    *told, answer = island.stream("When was the Kõpu lighthouse built?", settings=model)
    assert isinstance(answer, Answer)
    assert len(told) == 2
    assert "".join(map(str, told)) == answer.text
    assert ("1531" in answer.text, "1999" in answer.text) == (True, False)
    assert answer.usage.completion_tokens >= 18
    again, differences = island.replay(answer.trace)
    assert (again.text, differences) == (answer.text, [])


def test_without_a_model_a_stream_is_the_whole_answer_and_what_goes_wrong_is_raised(island: Collection) -> None:
    told, answer = island.stream("What did the Semmering railway cost?")
    assert isinstance(answer, Answer)
    assert told == answer.text
    with pytest.raises(thresher.errors.UsageError):
        list(island.stream(" "))


# --- conversation -----------------------------------------------------------------------------------------------------


def test_a_follow_up_is_answered_as_it_was_understood(island: Collection) -> None:
    first = island.ask("When was the Kõpu lighthouse built?")
    answer = island.ask("And the Sõrve lighthouse?", history=[first])
    assert answer.question == "And the Sõrve lighthouse?"
    assert "Sõrve" in (answer.standalone or "")
    assert "1960" in answer.text
    assert answer.steps[0].detail["asked"] == answer.question
    assert island.replay(answer.trace)[1] == []
    assert [turn[0] for turn in island.traces.conversation()] == [first.question, answer.standalone]
