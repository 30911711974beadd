"""A question prepared for the engine: caller, model, conversation and options."""

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
    """Options of `Collection.ask`."""
    linked: bool = False
    """Whether people can open the addresses of citations: only if the server has a public URL."""

    def followed(self) -> Followed:
        """Start working on it."""
        return Followed(self._events())

    async def answer(self) -> Answer:
        """The answer alone. Raises as `asking.events`."""
        return await asking.asked(self.service, self.caller, self._collection, self.conversation.question, self.options)

    def tail(self, answer: Answer, *, listed: bool = True) -> str:
        """The text after the answer; with the sources if `listed`."""
        return tail(answer, listed=listed, linked=self.linked, unread=self.conversation.unread)

    def _events(self) -> AsyncIterator[Event]:
        return asking.events(self.service, self.caller, self._collection, self.conversation.question, self.options)

    @property
    def _collection(self) -> Collection:
        return self.service.engine.collection(self.target.collection)


def prepared(service: Service, caller: Caller, request: Request, model: str, conversation: Conversation) -> Asked:
    """The question with its options. Reads files, so call it in a thread. Raises Problem 403, 404 and 422, UsageError.

    System messages are instructions for a chat model; they are ignored where none is configured.
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
