"""Tokens of a question: those of the chat model, else of the texts."""

from __future__ import annotations

from collections.abc import Iterable

from pydantic import BaseModel

from thresher.models.encoders import token_count
from thresher.types import Usage


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
