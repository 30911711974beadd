"""Cuts results to the number of tokens that agents accept."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from mcp_types import CallToolResult, TextContent
from pydantic import BaseModel

MOST_TOKENS = 24_000
"""Of text plus structure. Agents refuse a result of 25,000 (`MAX_MCP_OUTPUT_TOKENS` of Claude Code)."""

LETTER, MARK = 0.6, 1.0
"""Upper bounds of the tokens of an ASCII letter, digit or blank, and of another ASCII character (English prose: .25,
base64: .6). For any other character, a byte-level tokenizer makes at most one token a byte."""


@dataclass(frozen=True, slots=True)
class Reply:
    """What a tool returns: text for a model, and the same as structure for a program."""

    text: str
    structure: BaseModel

    def result(self) -> CallToolResult:
        """As an MCP result."""
        content = [TextContent(type="text", text=self.text)]
        return CallToolResult(content=list(content), structured_content=self.structure.model_dump(mode="json"))

    @property
    def tokens(self) -> float:
        """Upper bound of the tokens of text and structure."""
        return tokens_at_most(self.text) + tokens_at_most(self.structure.model_dump_json())


def fitted(reply: Callable[[int], Reply], number: int) -> CallToolResult:
    """The reply with as many of `number` items as fit; `reply(0)` must fit."""
    while (made := reply(number)).tokens > MOST_TOKENS and number > 0:
        number = number * 2 // 3
    return made.result()


def tokens_at_most(text: str) -> float:
    """Upper bound of the tokens of a text.

    >>> tokens_at_most("ab c!"), tokens_at_most("é")
    (3.4, 2.0)
    """
    letters = sum(one.isascii() and (one.isalnum() or one == " ") for one in text)
    ascii_ = sum(map(str.isascii, text))
    others = len(text.encode("utf-8", "replace")) - ascii_
    return LETTER * letters + MARK * (ascii_ - letters) + others


def beginning(text: str, tokens: float) -> str:
    """The longest beginning of a text that surely has at most so many tokens."""
    low, high = 0, len(text)
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if tokens_at_most(text[:middle]) <= tokens else (low, middle - 1)
    return text[:low]
