"""A question on its way to the engine: who asks which model what, with which options."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import Any

from fastapi import Request

from thresher.answer import Answer
from thresher.collection import Collection
from thresher.opened import PUBLIC_URL
from thresher_server import asking
from thresher_server.asking import Event
from thresher_server.following import Followed
from thresher_server.openai.answer_text import tail
from thresher_server.openai.conversation import Conversation
from thresher_server.openai.models import Target, target_of
from thresher_server.problems import Problem
from thresher_server.searching import address_of
from thresher_server.security.keys import Caller
from thresher_server.service import Service


@dataclass(frozen=True, slots=True)
class Asked:
    """One question of a conversation to one model."""

    service: Service
    caller: Caller
    target: Target
    conversation: Conversation
    options: dict[str, Any] = field(default_factory=dict)
    """Of `Collection.ask`."""
    linked: bool = False
    """Whether addresses of places are worth showing to people: only where the server has one of its own."""

    def followed(self) -> Followed:
        """Begin to work on it."""
        return Followed(self._events())

    async def answer(self) -> Answer:
        """The answer alone. Raises as `asking.events`."""
        return await asking.asked(self.service, self.caller, self._collection, self.conversation.question, self.options)

    def tail(self, answer: Answer, *, listed: bool = True) -> str:
        """What stands behind the answer's own text; the sources where `listed`."""
        return tail(answer, listed=listed, linked=self.linked, unread=self.conversation.unread)

    def _events(self) -> AsyncIterator[Event]:
        return asking.events(self.service, self.caller, self._collection, self.conversation.question, self.options)

    @property
    def _collection(self) -> Collection:
        return self.service.engine.collection(self.target.collection)


def prepared(service: Service, caller: Caller, request: Request, model: str, conversation: Conversation) -> Asked:
    """The question with its options. It reads files: call it in a thread. Problem 403, 404 and 422, UsageError.

    System messages are rules for a chat model; where none is configured there is nobody to heed them.
    """
    target = target_of(service, caller, model)
    configured = target.settings(service)
    settings: dict[str, Any] = {PUBLIC_URL: address_of(service, request)}
    if configured.llm.configured and conversation.instructions:
        _check_length(conversation.instructions, service.settings.max_question_characters)
        rules = filter(None, (configured.answer.instructions, conversation.instructions))
        settings["answer.instructions"] = "\n".join(rules)
    options = {
        "recipe": target.recipe,
        "history": conversation.history,
        "strict": service.front.strict,
        "settings": settings,
    }
    return Asked(service, caller, target, conversation, options, linked=bool(service.public_url))


def _check_length(instructions: str, most: int) -> None:
    if len(instructions) > most:
        raise Problem(422, f"is longer than {most:,} characters", subject="the system message", next_step="say less")
