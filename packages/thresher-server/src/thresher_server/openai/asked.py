"""A question prepared for the engine, and the parts of a reply that chat completions and responses share."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from fastapi import Request
from pydantic import BaseModel, Field

from thresher.answer import Answer
from thresher.models.encoders import token_count
from thresher.types import State, Usage
from thresher_server.asking import Question, check_length
from thresher_server.openai.answer_text import tail
from thresher_server.openai.conversation import Conversation
from thresher_server.openai.models import Target, target_of
from thresher_server.searching import address_of
from thresher_server.security.keys import Caller
from thresher_server.service import Service
from thresher_server.settings import PUBLIC_URL
from thresher_server.shapes import AlternativeReply, AnswerSentenceReply, CitationReply


@dataclass(frozen=True, slots=True)
class Asked:
    """One question of a conversation to one model."""

    service: Service
    caller: Caller
    target: Target
    conversation: Conversation
    options: dict[str, Any]
    """Options of `Collection.ask`."""
    linked: bool
    """Whether people can open the addresses of citations: only if the server has a public URL."""

    def question(self) -> Question:
        """The question, which begins to be answered."""
        collection = self.service.seen_by(self.caller, self.target.collection)
        return Question(self.service, self.caller, collection, self.conversation.question, self.options)

    def tail(self, answer: Answer, *, listed: bool = True) -> str:
        """The text after the answer; with the sources if `listed`."""
        return tail(answer, listed=listed, linked=self.linked, unread=self.conversation.unread)


def prepared(service: Service, caller: Caller, request: Request, model: str, conversation: Conversation) -> Asked:
    """The question with its options. Reads files, so call it in a thread. Raises Problem 403, 404 and 422, UsageError.

    System messages are instructions for a chat model; they are ignored where none is configured.
    """
    target = target_of(service, caller, model)
    configured = target.settings(service)
    settings: dict[str, Any] = {PUBLIC_URL: address_of(service, request)}
    if configured.llm.configured and conversation.instructions:
        check_length(service, conversation.instructions, subject="the system message")
        rules = filter(None, (configured.answer.instructions, conversation.instructions))
        settings["answer.instructions"] = "\n".join(rules)
    options = {
        "recipe": target.recipe,
        "history": conversation.history,
        "strict": service.front.strict,
        "settings": settings,
    }
    return Asked(service, caller, target, conversation, options, bool(service.public_url))


class Extension(BaseModel):
    """Verdict, probabilities, citations and trace of an answer."""

    collection: str
    recipe: str
    text: str = Field(description="the answer without the list of sources")
    verdict: str | None = Field(description="whether the evidence suffices: correct, ambiguous, incorrect, unsure")
    confidence: float | None = Field(description="probability that the evidence suffices")
    certainty: float | None = Field(description="probability that the answer is right")
    state: State = Field(description="doubtful: what is shown is the nearest and asserts nothing")
    abstained: bool
    reason: str | None = Field(description="why there is no answer, or why it is in doubt")
    standalone: str | None = Field(None, description="a follow-up question as it was understood")
    unread: list[str] = Field([], description="files that the client sent along; they are not searched")
    answered_by: str | None = Field(None, description="model or reader, where a chat model was asked")
    sentences: list[AnswerSentenceReply] = Field(description="with offsets in `text`, which the content begins with")
    removed: list[AnswerSentenceReply] = Field([], description="sentences removed from the answer")
    citations: list[CitationReply]
    alternatives: list[AlternativeReply] = Field(description="further passages that may answer")
    conflicts: list[tuple[int, int]] = Field(description="markers of citations that contradict each other")
    degraded: list[str] = Field(description="what was unavailable")
    trace: str = Field(description="id for `thresher explain`")


def extension(answer: Answer, asked: Asked) -> Extension:
    """The extension of an answer."""
    told: dict[str, Any] = answer.to_dict()
    return Extension.model_validate(
        {**told, "collection": asked.target.collection, "unread": list(asked.conversation.unread)}
    )


class TokenUsage(BaseModel):
    """Tokens of a chat completion."""

    prompt_tokens: int
    completion_tokens: int
    total_tokens: int


def token_usage(usage: Usage, read: Iterable[str], text: str) -> TokenUsage:
    """Tokens of the chat model if one was called, else `token_count` of the texts read and of the reply."""
    prompt, completion = usage.prompt_tokens, usage.completion_tokens
    if not prompt and not completion:
        prompt = sum(map(token_count, read))
        completion = token_count(text)
    return TokenUsage(prompt_tokens=prompt, completion_tokens=completion, total_tokens=prompt + completion)
