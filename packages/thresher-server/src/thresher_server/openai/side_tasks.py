"""Side tasks of chat programs: titles, tags, follow-ups, search words. They search no document.

Open WebUI sends each to the model of the chat as one message that begins with `### Task:` and specifies its JSON
(`config.py`, 0.6 to 0.11); a program that passes on `metadata` names the task there. A configured chat model replies,
and rules do without one or if it fails: a side task is never refused, and leaves no trace.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from enum import StrEnum
from functools import partial
from typing import Any

from fastapi.concurrency import run_in_threadpool

from thresher.errors import BudgetSpent, ProviderError
from thresher.models.usage import Meter
from thresher.recipes.components import chat_model
from thresher.recipes.settings import LanguageModelSettings
from thresher.text.entities import whole_names
from thresher.text.terms import STOP_WORDS
from thresher.types import Usage
from thresher_server import asking
from thresher_server.openai.asked import TokenUsage, token_usage
from thresher_server.openai.models import target_of
from thresher_server.problems import Problem
from thresher_server.security.keys import Caller
from thresher_server.service import Service


class Task(StrEnum):
    """A side task, by its key in the JSON; an emoji is plain text."""

    TITLE = "title"
    TAGS = "tags"
    FOLLOW_UPS = "follow_ups"
    QUERIES = "queries"
    AUTOCOMPLETE = "text"
    IMAGE_PROMPT = "prompt"
    TOOLS = "tool_calls"
    EMOJI = "emoji"


NAMED = {
    "title_generation": Task.TITLE,
    "tags_generation": Task.TAGS,
    "follow_up_generation": Task.FOLLOW_UPS,
    "query_generation": Task.QUERIES,
    "autocomplete_generation": Task.AUTOCOMPLETE,
    "image_prompt_generation": Task.IMAGE_PROMPT,
    "function_calling": Task.TOOLS,
    "emoji_generation": Task.EMOJI,
}
"""Names in `metadata.task`."""

LISTS = (Task.TAGS, Task.FOLLOW_UPS, Task.QUERIES, Task.TOOLS)

TITLE_CHARACTERS = 60
"""Two lines of a side bar."""

MOST_TAGS = 3

LONGEST_PROMPT = 60_000
"""Characters of a side task for a chat model: the last six messages of a chat, long ones."""

EMOJI = "💬"
"""Without a chat model, one for every mood."""

_WANTED = re.compile(rf"[\"']({'|'.join(task for task in Task if task is not Task.EMOJI)})[\"']\s*:")
_MATERIAL = re.compile(r"<(?:chat_history|context)>")
_HISTORY = re.compile(r"<chat_history>(.*)</chat_history>", re.DOTALL)
_TURN = re.compile(r"^(USER|ASSISTANT): ", re.MULTILINE)
_EMOJI_PROMPT = "Your task is to reflect the speaker's likely facial expression"
_TOOLS_PROMPT = "Available Tools:"


@dataclass(frozen=True, slots=True)
class SideTask:
    """A task and the conversation it is about."""

    task: Task
    system: str
    prompt: str

    @property
    def questions(self) -> list[str]:
        """The user's messages of the conversation in the prompt; the whole prompt if it has none."""
        history = _HISTORY.search(self.prompt)
        pieces = _TURN.split(history[1]) if history else []
        said = [text.strip() for role, text in zip(pieces[1::2], pieces[2::2], strict=True) if role == "USER"]
        return [one for one in said if one] or [self.prompt.strip()]


def side_task(said: Sequence[tuple[str, str]], metadata: Mapping[str, Any] | None) -> SideTask | None:
    """The side task that the messages (role, text) are; None for a question."""
    system = "\n".join(text for role, text in said if role == "system")
    prompt = next((text for role, text in reversed(said) if role == "user"), "")
    named = NAMED.get(str((metadata or {}).get("task", "")))
    task = named or _task_of(system.strip(), prompt.strip())
    return None if task is None else SideTask(task, system, prompt)


def by_rules(side: SideTask) -> str:
    """The reply in the task's format, made from the user's messages."""
    first, last = side.questions[0], side.questions[-1]
    match side.task:
        case Task.TITLE:
            value: Any = title(first)
        case Task.TAGS:
            value = tags(" ".join(side.questions))
        case Task.QUERIES:
            value = [" ".join(last.split())]
        case Task.IMAGE_PROMPT:
            value = " ".join(last.split())
        case Task.FOLLOW_UPS | Task.TOOLS:
            value = []
        case Task.AUTOCOMPLETE:
            value = ""
        case Task.EMOJI:
            return EMOJI
    return _as_json(side.task, value)


def by_model(side: SideTask, reply: str) -> str | None:
    """A model's reply in the task's format; None if it breaks the format."""
    if side.task is Task.EMOJI:
        return reply.strip() or None
    try:
        told = json.loads(reply[reply.find("{") : reply.rfind("}") + 1])
    except ValueError:
        return None
    value = told.get(side.task.value) if isinstance(told, dict) else None
    fits = isinstance(value, list) if side.task in LISTS else isinstance(value, str)
    return _as_json(side.task, value) if fits else None


def title(question: str) -> str:
    """The question on one line, cut between two words if it is long."""
    line = " ".join(question.split())
    if len(line) > TITLE_CHARACTERS:
        cut = line[:TITLE_CHARACTERS]
        line = (cut.rpartition(" ")[0] or cut).rstrip(",;:.") + "…"
    return line[:1].upper() + line[1:]


def tags(text: str) -> list[str]:
    """Names in the text, then its longest words; "General" if it has none."""
    names = list(dict.fromkeys(whole_names(text)))
    known = STOP_WORDS | {word.casefold() for name in names for word in name.split()}
    words = (word for word in re.findall(r"[^\W\d_]{5,}", text) if word.casefold() not in known)
    longest = dict.fromkeys(word.capitalize() for word in sorted(words, key=len, reverse=True))
    return [*names, *longest][:MOST_TAGS] or ["General"]


def _task_of(system: str, prompt: str) -> Task | None:
    """The task by the prompt before its material, which may contain anything."""
    if prompt.startswith(_EMOJI_PROMPT):
        return Task.EMOJI
    if system.startswith(_TOOLS_PROMPT):
        return Task.TOOLS
    if not prompt.startswith("### Task:") and "<chat_history>" not in prompt:
        return None
    wanted = _WANTED.search(_MATERIAL.split(prompt, maxsplit=1)[0])
    return None if wanted is None else Task(wanted[1])


def _as_json(task: Task, value: Any) -> str:
    return json.dumps({task.value: value}, ensure_ascii=False)


async def side_reply(service: Service, caller: Caller, model: str, side: SideTask) -> tuple[str, str, TokenUsage]:
    """Model, text and usage of the reply to a side task; there is always one. Raises as `target_of`."""
    target = await run_in_threadpool(target_of, service, caller, model)
    settings = await run_in_threadpool(target.settings, service)
    text, usage = None, Usage()
    if settings.llm.configured and len(side.prompt) + len(side.system) <= LONGEST_PROMPT:
        with suppress(Problem):  # queue full or timeout: the rules reply at once
            work = partial(_of_model, settings.llm, side, service.settings.timeout_seconds)
            text, usage = await asking.worked(service, work)
    content = text or by_rules(side)
    read = (side.system, side.prompt[:LONGEST_PROMPT])
    return target.name, content, await run_in_threadpool(token_usage, usage, read, content)


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
