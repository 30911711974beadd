"""Results that an agent takes: never more tokens than agents refuse, whatever was asked for."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from mcp_types import CallToolResult, TextContent
from pydantic import BaseModel

MOST_TOKENS = 24_000
"""Of text and structure together. Agents refuse a result of 25,000 (`MAX_MCP_OUTPUT_TOKENS` of Claude Code), and some
count both parts."""

LETTER, MARK = 0.6, 1.0
"""Tokens of an ASCII letter, digit or blank, and of another ASCII mark, at most: English prose has .25, base64 .6. Of
any other character a tokenizer that works on bytes makes no more tokens than it has bytes."""


@dataclass(frozen=True, slots=True)
class Reply:
    """What a tool found: the text that a model reads, and the same for a program."""

    text: str
    structure: BaseModel

    def result(self) -> CallToolResult:
        """As MCP has it."""
        content = [TextContent(type="text", text=self.text)]
        return CallToolResult(content=list(content), structured_content=self.structure.model_dump(mode="json"))

    @property
    def tokens(self) -> float:
        """No fewer than any tokenizer makes of both parts."""
        return tokens_at_most(self.text) + tokens_at_most(self.structure.model_dump_json())


def fitted(reply: Callable[[int], Reply], number: int) -> CallToolResult:
    """The reply about as many of `number` things as fit; `reply(0)` must fit."""
    while (made := reply(number)).tokens > MOST_TOKENS and number > 0:
        number = number * 2 // 3
    return made.result()


def tokens_at_most(text: str) -> float:
    """Tokens that a tokenizer makes of a text, at most.

    >>> tokens_at_most("ab c!"), tokens_at_most("é")
    (3.4, 2.0)
    """
    letters = sum(one.isascii() and (one.isalnum() or one == " ") for one in text)
    ascii_ = sum(map(str.isascii, text))
    others = len(text.encode("utf-8", "replace")) - ascii_
    return LETTER * letters + MARK * (ascii_ - letters) + others


def beginning(text: str, tokens: float) -> str:
    """As much of a text's beginning as surely has no more than so many tokens."""
    low, high = 0, len(text)
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if tokens_at_most(text[:middle]) <= tokens else (low, middle - 1)
    return text[:low]
