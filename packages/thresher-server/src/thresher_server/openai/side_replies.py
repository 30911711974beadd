"""Replies to side tasks: from the configured chat model if it keeps the format, else from rules."""

from __future__ import annotations

from functools import partial

from fastapi.concurrency import run_in_threadpool

from thresher.errors import BudgetSpent, ProviderError
from thresher.models.usage import Meter
from thresher.recipes.components import chat_model
from thresher.recipes.settings import LanguageModelSettings
from thresher.types import Usage
from thresher_server import asking
from thresher_server.openai.chat import ChatCompletion, reply
from thresher_server.openai.models import target_of
from thresher_server.openai.side_tasks import SideTask, by_model, by_rules
from thresher_server.openai.token_usage import token_usage
from thresher_server.problems import Problem
from thresher_server.security.keys import Caller
from thresher_server.service import Service

LONGEST_PROMPT = 60_000
"""Characters of a side task for a chat model: the last six messages of a chat, long ones."""


async def side_reply(service: Service, caller: Caller, model: str, side: SideTask) -> ChatCompletion:
    """The reply to a side task; there is always one. Raises Problem 403 and 404 for a model that the caller lacks."""
    target = await run_in_threadpool(target_of, service, caller, model)
    settings = await run_in_threadpool(target.settings, service)
    text, usage = None, Usage()
    if settings.llm.configured and len(side.prompt) + len(side.system) <= LONGEST_PROMPT:
        work = partial(_of_model, settings.llm, side, service.settings.timeout_seconds)
        try:
            text, usage = await asking.worked(service, work)
        except Problem:  # queue full or timeout: the rules reply at once
            text = None
    content = text or by_rules(side)
    counted = await run_in_threadpool(token_usage, usage, (side.system, side.prompt[:LONGEST_PROMPT]), content)
    return reply(target.name, content, counted)


def _of_model(settings: LanguageModelSettings, side: SideTask, seconds: float) -> tuple[str | None, Usage]:
    """The model's reply (None if it breaks the format) and its cost."""
    meter = Meter(max_seconds=seconds)
    model = chat_model(settings, meter)
    assert model is not None
    try:
        return by_model(side, model.complete(side.system, side.prompt)), meter.usage
    except (ProviderError, BudgetSpent):
        return None, meter.usage
    finally:
        model.close()
