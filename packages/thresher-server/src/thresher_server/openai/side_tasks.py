"""Side tasks of chat programs: titles, tags, follow-ups, search words. They search no document.

Open WebUI sends each to the model of the chat as one message that begins with `### Task:` and specifies its JSON
(`config.py`, 0.6 to 0.11); a program that passes on `metadata` names the task there. Rules reply to it: a side task is
never refused, and leaves no trace. For better titles a chat program asks a chat model of its own.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from thresher.text.entities import whole_names
from thresher.text.terms import STOP_WORDS
from thresher.types import Usage
from thresher_server.openai.asked import TokenUsage, token_usage
from thresher_server.openai.models import target_of
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

TITLE_CHARACTERS = 60
"""Two lines of a side bar."""

MOST_TAGS = 3

EMOJI = "💬"
"""One for every mood."""

_WANTED = re.compile(rf"[\"']({'|'.join(task for task in Task if task is not Task.EMOJI)})[\"']\s*:")
_MATERIAL = re.compile(r"<(?:chat_history|context)>")
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
        pieces = _TURN.split(self.prompt.partition("<chat_history>")[2].rpartition("</chat_history>")[0])
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
    return json.dumps({side.task.value: value}, ensure_ascii=False)


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


def side_reply(service: Service, caller: Caller, model: str, side: SideTask) -> tuple[str, str, TokenUsage]:
    """Model, text and usage of the reply to a side task; there is always one. Raises as `target_of`."""
    content = by_rules(side)
    return target_of(service, caller, model).name, content, token_usage(Usage(), (side.system, side.prompt), content)
