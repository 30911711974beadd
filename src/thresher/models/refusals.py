"""What a chat server refused, and why: read from the status and the words of its answer.

Newer models of OpenAI refuse `max_tokens` and every temperature but their own; small servers know no schemas. The
refusal teaches which, once for each model in a process.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Any

SCHEMA_REFUSALS = (400, 404, 422)  # statuses with which servers that know no schemas answer to one
LONGEST_WORDS = 300  # characters of a server's own words that an error shows

_TOO_LONG = re.compile(
    r"context[_ ](?:length|size|window)|maximum context|exceed_context_size|prompt is too long|too many.{0,7}tokens",
    re.I,
)
_NO_MODEL = re.compile(r"model\b.{0,80}(?:not found|not exist|unknown|no such|not loaded)", re.I | re.S)
_NO_TOKENS = re.compile("max_completion_tokens|unsupported.{0,20}max_tokens|max_tokens.{0,40}not support", re.I)
_NO_LOGPROBS = re.compile("logprobs.{0,40}not support|(?:not (?:support|allowed)|unsupported).{0,40}logprobs", re.I)
"""Not `top_logprobs must be at most 5`, after which fewer are asked for."""

TOP_LOGPROBS = (20, 5, 0)  # most probable tokens asked for: OpenAI's and vLLM's bound, the usual smaller one, none


@dataclass(frozen=True, slots=True)
class Form:
    """What a request to one model carries besides its messages."""

    schema: bool = True
    temperature: bool = True
    tokens: str = "max_tokens"  # the server's name for the bound of a reply
    thinks: bool = False  # whether the model was seen to think before it answers, so that the bound must cover both
    top_logprobs: int = TOP_LOGPROBS[0]  # most probable tokens reported with log-probabilities; 0 where none are

    def without(self, status: int, words: str, *, schema: bool, logprobs: bool = False) -> Form | None:
        """The form to try after the refusal of a request (with `schema`, `logprobs`); None when all is left out."""
        if logprobs and _NO_LOGPROBS.search(words):
            return replace(self, top_logprobs=0)
        if status not in SCHEMA_REFUSALS or _TOO_LONG.search(words) or "reasoning_effort" in words:
            return None
        if self.tokens == "max_tokens" and _NO_TOKENS.search(words):
            return replace(self, tokens="max_completion_tokens", thinks=True)
        if self.temperature and "temperature" in words.lower():
            return replace(self, temperature=False)
        if logprobs and self.top_logprobs:
            return replace(self, top_logprobs=TOP_LOGPROBS[TOP_LOGPROBS.index(self.top_logprobs) + 1])
        return replace(self, schema=False) if schema and self.schema else None


def words_of(body: Any, api_key: str | None) -> str:
    """The server's message in one line, without the key that was sent; empty when there is none to read."""
    message = body.get("error", body) if isinstance(body, dict) else body
    message = message.get("message", message.get("detail", "")) if isinstance(message, dict) else message
    line = " ".join(message.split()) if isinstance(message, str) else ""
    line = "".join(character for character in line if character.isprintable())
    if api_key:
        line = line.replace(api_key, "…")
    return line if len(line) <= LONGEST_WORDS else line[:LONGEST_WORDS] + "…"


def advice(status: int, words: str) -> str:
    """What to do about a refusal."""
    if status in (401, 403):
        return "check llm.api_key"
    if _TOO_LONG.search(words):
        return "set llm.context_tokens to what the model reads at once, or hand on fewer chunks"
    if "reasoning_effort" in words:
        return "set llm.reasoning_effort to what the model takes, or leave it unset"
    if status == 404 or _NO_MODEL.search(words):
        return "check llm.model and llm.base_url (it usually ends in /v1; GET base_url/models lists what is there)"
    if status == 429:
        return "set llm.per_minute to what the server allows"
    return "check llm.base_url, llm.model and llm.api_key"
