"""The chat model of the tests that nobody wrote replies for."""

from __future__ import annotations

import json

import pytest

from thresher.errors import TooLong
from thresher.models import chat
from thresher.models.chat import ChatModel
from thresher.models.usage import Meter
from thresher_testing.real_model import RealModel


def test_a_real_model_answers_and_its_tokens_are_counted(real_model: RealModel) -> None:
    meter = Meter()
    model = ChatModel(real_model.base_url, real_model.model, meter, max_tokens=12)
    assert "Paris" in model.complete("Answer in one sentence.", "What is the capital of France?")
    usage = meter.usage
    assert usage.llm_calls == 1
    assert 20 < usage.prompt_tokens < 60
    assert 3 < usage.completion_tokens <= 12


def test_a_real_server_enforces_a_schema_of_enumerated_grades(real_model: RealModel) -> None:
    schema = {
        "type": "object",
        "properties": {"grade": {"enum": [0, 1, 2, 3]}},
        "required": ["grade"],
        "additionalProperties": False,
    }
    model = ChatModel(real_model.base_url, real_model.model, Meter(), max_tokens=20)
    reply = model.complete("Grade the answer.", "2 + 2 is 5.", schema=schema)
    assert json.loads(reply)["grade"] in {0, 1, 2, 3}


def test_a_prompt_beyond_the_context_of_a_real_server_says_both_lengths(real_model: RealModel) -> None:
    model = ChatModel(real_model.base_url, real_model.model, Meter())
    with pytest.raises(TooLong, match=rf"exceeds .*{real_model.context_tokens}.*llm\.context_tokens"):
        model.complete("Read this.", "word " * (real_model.context_tokens + 100))
    assert chat._contexts == {(real_model.base_url, real_model.model): real_model.context_tokens}


def test_a_real_server_tells_how_probable_yes_and_no_are(real_model: RealModel) -> None:
    meter = Meter()
    model = ChatModel(real_model.base_url, real_model.model, meter)
    weights = model.weigh("Reply with one word: yes or no.", "Is Paris in France? Reply yes or no.", ("yes", "no"))
    assert weights is not None
    assert 0 < sum(weights.values()) <= 1
    assert (meter.usage.llm_calls, meter.usage.completion_tokens) == (1, 1)
