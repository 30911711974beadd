"""A chat model behind any OpenAI-compatible endpoint."""

from __future__ import annotations

import re
import time
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from thresher.errors import ProviderError
from thresher.models.meter import Meter, without_password

if TYPE_CHECKING:
    from openai import OpenAI

PAUSES_SECONDS = (0.5, 1.0)
"""Before the second and the third try: the SDK's own pauses, enough for a server that is restarting."""

LONGEST_PAUSE_SECONDS = 10.0
"""A server that asks for a longer pause (Retry-After) is not waited for."""

_THOUGHTS = re.compile(r"\A\s*<think>.*?(?:</think>|\Z)", re.DOTALL)
"""What reasoning models put in front of their answer when the server does not take it off."""


@dataclass(frozen=True)
class ChatModel:
    """One model of one server; the connection is made at the first call.

    A failure that may pass (429, 5xx, no connection, an unreadable or empty reply) is tried again after `pauses`; a
    reply that took longer than `timeout_seconds` is not. The SDK's own retries are off: they do not know the budget.
    """

    base_url: str
    model: str
    meter: Meter
    api_key: str | None = None
    temperature: float = 0.0
    max_tokens: int = 512
    timeout_seconds: float = 60.0
    pauses: tuple[float, ...] = PAUSES_SECONDS

    @property
    def name(self) -> str:
        """Model and server."""
        return f"{self.model} at {without_password(self.base_url)}"

    @cached_property
    def _client(self) -> OpenAI:
        import openai

        # Servers on one's own machine want no key, the SDK wants a string.
        return openai.OpenAI(base_url=self.base_url, api_key=self.api_key or "none", max_retries=0)

    def close(self) -> None:
        """Let go of the connections."""
        if "_client" in self.__dict__:
            self._client.close()

    def complete(self, system: str, user: str) -> str:
        """The reply to one exchange. Raises ProviderError when there is none, BudgetSpent before the call."""
        self.meter.allow()
        self.meter.called(self.base_url)
        for pause in self.pauses:
            try:
                return self._asked(system, user)
            except _TryAgain as failure:
                pause = max(pause, failure.after)
                left = self.meter.seconds_left
                if pause > LONGEST_PAUSE_SECONDS or (left is not None and pause >= left):
                    raise failure.error from failure
                time.sleep(pause)
        try:
            return self._asked(system, user)
        except _TryAgain as failure:
            raise failure.error from failure

    def _asked(self, system: str, user: str) -> str:
        """One try. Raises ProviderError, or _TryAgain around one."""
        import openai

        self.meter.allow_time()
        left = self.meter.seconds_left
        timeout = self.timeout_seconds if left is None else min(self.timeout_seconds, max(left, 0.001))
        try:
            reply = self._client.with_options(timeout=timeout).chat.completions.create(
                model=self.model,
                messages=[{"role": "system", "content": system}, {"role": "user", "content": user}],
                temperature=self.temperature,
                max_tokens=self.max_tokens,
            )
        except openai.APITimeoutError as error:
            raise self._failed(f"no reply within {timeout:.3g} s", retryable=True) from error
        except openai.APIConnectionError as error:
            raise _TryAgain(self._failed("cannot be reached", retryable=True)) from error
        except openai.APIStatusError as error:
            what = f"answered with status {error.status_code}"
            if error.status_code == 429 or error.status_code >= 500:
                after = _seconds(error.response.headers.get("retry-after"))
                raise _TryAgain(self._failed(what, retryable=True), after) from error
            raise self._failed(what, retryable=False) from error
        except (openai.APIError, ValueError, TypeError, AttributeError) as error:
            # The SDK builds its objects without checking them, so a wrong shape may only show when it is read.
            raise _TryAgain(self._unreadable()) from error
        return self._text(reply)

    def _text(self, reply: Any) -> str:
        """The text of a reply, its tokens counted."""
        try:
            if reply.usage is not None:
                self.meter.used(int(reply.usage.prompt_tokens or 0), int(reply.usage.completion_tokens or 0))
            text = reply.choices[0].message.content if reply.choices else None
        except (AttributeError, TypeError, IndexError, ValueError) as error:
            raise _TryAgain(self._unreadable()) from error
        if text is not None and not isinstance(text, str):
            raise _TryAgain(self._unreadable())
        said = _THOUGHTS.sub("", text or "").strip()
        if not said:
            raise _TryAgain(self._failed("answered with no text", retryable=True))
        return said

    def _unreadable(self) -> ProviderError:
        return self._failed("answered with something that is not a chat completion", retryable=True)

    def _failed(self, what: str, *, retryable: bool) -> ProviderError:
        return ProviderError(
            what, subject=self.name, next_step="check llm.base_url, llm.model and llm.api_key", retryable=retryable
        )


class _TryAgain(Exception):
    """A failure that may pass; `after` seconds the server asked to wait."""

    def __init__(self, error: ProviderError, after: float = 0.0) -> None:
        super().__init__(str(error))
        self.error = error
        self.after = after


def _seconds(header: str | None) -> float:
    """Seconds of a Retry-After header; 0 for none or a date."""
    try:
        return max(0.0, float(header or 0))
    except ValueError:
        return 0.0
