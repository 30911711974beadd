"""What a question cost, in tokens: those that a chat model read and wrote, else those of the texts themselves."""

from __future__ import annotations

from collections.abc import Iterable

from pydantic import BaseModel

from thresher.models.tokens import token_count
from thresher.types import Usage


class TokenUsage(BaseModel):
    """Tokens of a chat completion."""

    prompt_tokens: int
    completion_tokens: int
    total_tokens: int


def token_usage(usage: Usage, read: Iterable[str], text: str) -> TokenUsage:
    """Of a chat model where one was asked; else of what was read and of the reply, as TokenCount has them."""
    prompt, completion = usage.prompt_tokens, usage.completion_tokens
    if not prompt and not completion:
        count = token_count()
        prompt = sum(map(count, read))
        completion = count(text)
    return TokenUsage(prompt_tokens=prompt, completion_tokens=completion, total_tokens=prompt + completion)
