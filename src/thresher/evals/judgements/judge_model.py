"""The chat model that judges: settings of its own, apart from the model that answered.

A model that judges its own answers prefers them (Panickssery et al. 2024), so it is refused unless that is wanted.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from thresher.errors import UsageError
from thresher.models.chat import ChatModel
from thresher.models.meter import Meter
from thresher.models.reply_cache import ReplyCache
from thresher.recipes.chat import chat_model
from thresher.settings import LanguageModelSettings, check_known, keys

PREFIX = "judge.llm."

API_KEY = "THRESHER_JUDGE_LLM_API_KEY"
"""Environment variable for the key: on a command line it would stand in everybody's list of processes."""

FIXED = {"temperature", "cache"}
"""A judge says the same of the same answer: temperature 0, replies kept."""


def judge_settings(given: Mapping[str, Any], environment: Mapping[str, str] = os.environ) -> LanguageModelSettings:
    """`judge.llm.*` of --set. Raises UsageError where they are unknown, wrong, or name no model."""
    check_known(given, {f"{PREFIX}{key}" for key in keys(LanguageModelSettings) if key not in FIXED})
    values = {"api_key": environment.get(API_KEY), **{key.removeprefix(PREFIX): value for key, value in given.items()}}
    try:
        settings = LanguageModelSettings.model_validate(values)
    except ValidationError as error:
        # Without the cause: pydantic's own words hold the value, which may be a key.
        first = error.errors()[0]
        key = f"setting {PREFIX}{'.'.join(map(str, first['loc']))}"
        raise UsageError(first["msg"], subject=key, next_step="give another value with --set") from None
    if not settings.configured:
        raise UsageError(
            "no chat model is given to judge",
            subject="--judge llm",
            next_step=f"give --set {PREFIX}base_url=URL --set {PREFIX}model=NAME, or take --judge offline",
        )
    return settings


def check_other_model(settings: LanguageModelSettings, generators: Iterable[str]) -> None:
    """Raise UsageError when the model that judges has written some of the answers, whatever server it ran on."""
    for generator in generators:
        if generator.partition(" at ")[0] == settings.model:
            raise UsageError(
                "wrote some of these answers, and models prefer their own",
                subject=f"{PREFIX}model={settings.model}",
                next_step="judge with another model, or add --same-model and say so beside the numbers",
            )


def judge_model(settings: LanguageModelSettings, replies: Path, meter: Meter) -> ChatModel:
    """The model at temperature 0, its replies kept in the folder `replies`."""
    model = chat_model(settings.model_copy(update={"temperature": 0.0}), meter, cache=ReplyCache(replies))
    assert model is not None, "judge_settings refuses settings without a model"
    return model
