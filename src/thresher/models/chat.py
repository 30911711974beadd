"""A chat model behind any OpenAI-compatible endpoint."""

from __future__ import annotations

import json
import math
import re
import threading
import time
import weakref
from collections.abc import Callable, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from functools import cache
from typing import TYPE_CHECKING, Any

from thresher.errors import BudgetSpent, MissingExtra, ProviderError, without_password
from thresher.models.context import context_tokens
from thresher.models.refusals import Form, advice, words_of
from thresher.models.sockets import Sockets
from thresher.models.usage import Meter

if TYPE_CHECKING:
    import ssl

    from openai import OpenAI

    from thresher.models.cassette import Exchanges
    from thresher.models.reply_cache import ReplyCache
    from thresher.models.usage import Prices, Rate

Schema = Mapping[str, Any]
OnText = Callable[[str], None]

_listener: ContextVar[OnText | None] = ContextVar("listener", default=None)
"""Who is told the pieces of the reply that this thread asks for."""

PAUSES_SECONDS = (0.5, 1.0)
"""Before the second and the third try: the SDK's own pauses, enough for a server that is restarting."""

LONGEST_PAUSE_SECONDS = 10.0
"""A server that asks for a longer pause (Retry-After) is not waited for."""

THINKING_TOKENS = 2048
"""Tokens for the thoughts of a model that was seen to think, besides those of its answer: small reasoning models end
most thoughts about a page or two of text within."""

NO_WEIGHTS = "null"
"""What stands for the weights of a server that tells no log-probabilities, in a record."""

_THOUGHTS = re.compile(r"\A\s*<think>.*?(</think>|\Z)", re.DOTALL)
"""What reasoning models put in front of their answer when the server does not take it off."""

_forms: dict[tuple[str, str], Form] = {}
"""What servers and models of this process were found to take."""


def sdk() -> Any:
    """The module `openai`, imported when a server is spoken to. Raises MissingExtra."""
    try:
        import openai
    except ModuleNotFoundError as error:
        raise MissingExtra("openai", extra="llm") from error
    return openai


def connection(base_url: str, api_key: str | None, *, sockets: Sockets | None = None, **options: Any) -> OpenAI:
    """A client of a server; nothing is sent yet. `sockets` can end its calls. Raises MissingExtra."""
    openai = sdk()
    # Servers on one's own machine want no key, the SDK wants a string.
    hooks = {} if sockets is None else {"request": [sockets.watch]}
    http = openai.DefaultHttpxClient(verify=_certificates(), event_hooks=hooks)
    client: OpenAI = openai.OpenAI(base_url=base_url, api_key=api_key or "none", http_client=http, **options)
    weakref.finalize(client, http.close)
    return client


@cache
def _certificates() -> ssl.SSLContext:
    """Whom to trust: read once a process, since reading takes 23 ms and every question makes a client."""
    import httpx

    return httpx.create_ssl_context()


@dataclass(frozen=True)
class ChatModel:
    """One model of one server; the connection is made at the first call. Safe to use from several threads.

    A failure that may pass (429, 5xx, no connection, an unreadable or empty reply) is tried again after `pauses`; a
    reply that took longer than `timeout_seconds` is not. The SDK's own retries are off: they do not know the budget.
    Every request that is sent counts as a call, also those sent again: the server may bill it, and a budget of calls
    is then a bound on requests. When the budget ends the tries, the failure that had come is raised.

    A schema is sent as `response_format`. A server that refuses it, the temperature or `max_tokens` is asked once more
    without (or with `max_completion_tokens`), and when that goes well, the model is asked so for the rest of the
    process; so is one that tells no log-probabilities (`weigh`). A model that was seen to think has `thinking_tokens`
    for it besides `max_tokens`; one that spends all of them without an answer is not asked again. `reasoning_effort`
    is sent as it is where it is set; "none" turns thinking off.

    `exchanges` records every reply or plays it back. `cache` gives replies that cost nothing; it is used at
    temperature 0 only, where the same prompt is meant to get the same reply.
    """

    base_url: str
    model: str
    meter: Meter
    api_key: str | None = None
    temperature: float = 0.0
    max_tokens: int = 512
    thinking_tokens: int = THINKING_TOKENS
    reasoning_effort: str | None = None
    timeout_seconds: float = 60.0
    pauses: tuple[float, ...] = PAUSES_SECONDS
    rate: Rate | None = None
    prices: Prices | None = None
    exchanges: Exchanges | None = None
    cache: ReplyCache | None = None
    _connections: list[OpenAI] = field(default_factory=list, init=False, repr=False, compare=False)
    _connecting: threading.Lock = field(default_factory=threading.Lock, init=False, repr=False, compare=False)

    @property
    def name(self) -> str:
        """Model and server."""
        return f"{self.model} at {without_password(self.base_url)}"

    @property
    def context_tokens(self) -> int | None:
        """Tokens of prompt and reply together, where the server tells; recorded like a reply."""

        def told() -> int | None:
            return context_tokens(self.base_url, self.model, self.api_key)

        if self.exchanges is None:
            return told()
        size: int | None = self.exchanges.recall(("context", self.model), told, write=json.dumps, read=json.loads)
        return size

    @property
    def _client(self) -> OpenAI:
        with self._connecting:
            if not self._connections:
                sockets = Sockets()
                self._connections.append(connection(self.base_url, self.api_key, sockets=sockets, max_retries=0))
                self.meter.on_cancel(sockets.end)
            return self._connections[0]

    def close(self) -> None:
        """Let go of the connections."""
        with self._connecting:
            while self._connections:
                self._connections.pop().close()

    def complete(self, system: str, user: str, *, schema: Schema | None = None) -> str:
        """The reply to one exchange. Raises ProviderError when there is none, BudgetSpent before the call."""
        written = "" if schema is None else json.dumps(schema, sort_keys=True)
        key = ("chat", self.model, str(float(self.temperature)), str(self.max_tokens), system, user, written)
        return self._recorded(key, _Request(system, user, schema))

    def weigh(self, system: str, user: str, options: Sequence[str]) -> dict[str, float] | None:
        """The probability that the reply begins with each option, by the log-probabilities of its first token.

        Upper and lower case count together; an option that is not among the most probable tokens has 0. None where the
        server tells no log-probabilities, which is asked once in a process. Raises ProviderError, BudgetSpent.
        """
        key = ("weigh", self.model, system, user, *options)
        weights: dict[str, float] | None = json.loads(self._recorded(key, _Request(system, user, None, tuple(options))))
        return weights

    def stream(self, system: str, user: str, on_text: OnText) -> str:
        """The reply, told to `on_text` piece by piece as it comes; one from a cache or a record is not told.

        What breaks off after the first piece is not asked for again: raises ProviderError, BudgetSpent.
        """
        before = _listener.set(on_text)
        try:
            return self.complete(system, user)
        finally:
            _listener.reset(before)

    # --- inside

    def _recorded(self, key: tuple[str, ...], request: _Request) -> str:
        """The reply, recorded or played back where that is wanted."""
        key += () if self.reasoning_effort is None else (self.reasoning_effort,)
        if self.exchanges is None:
            return self._remembered(key, request)
        return self.exchanges.reply(key, lambda: self._remembered(key, request), meter=self.meter)

    def _remembered(self, key: tuple[str, ...], request: _Request) -> str:
        """The reply, from the cache where there is one."""
        if self.cache is None or self.temperature != 0:
            return self._replied(request)
        key = (without_password(self.base_url), *key)
        reply = self.cache.get(key)
        if reply is not None:
            self.meter.hit()
            return reply
        reply = self._replied(request)
        if not request.options or reply != NO_WEIGHTS:  # another server at this address may tell
            self.cache.put(key, reply)
        return reply

    def _replied(self, request: _Request) -> str:
        """The reply, asked for with less where the server refuses a part of the request."""
        server = (self.base_url, self.model)
        form, failure = _forms.get(server, Form()), None
        while True:
            if request.options and not form.top_logprobs:
                _forms[server] = replace(_forms.get(server, Form()), top_logprobs=0)
                return NO_WEIGHTS
            try:
                reply = self._tried(request, form, failure)
            except _Refused as refusal:
                sent = request.schema is not None
                less = form.without(refusal.status, refusal.words, schema=sent, logprobs=bool(request.options))
                if less is None:
                    raise refusal.error from refusal
                form, failure = less, refusal
                continue
            if failure is not None:
                # Only now: what was refused may as well have been a prompt that is too long.
                _forms[server] = replace(form, thinks=form.thinks or _forms.get(server, form).thinks)
            return reply

    def _tried(self, request: _Request, form: Form, failure: _Failure | None) -> str:
        """The reply after up to `1 + len(pauses)` tries; `failure` is what came of an earlier one."""
        pauses = iter(self.pauses)
        while True:
            try:
                self._begin()
            except BudgetSpent:
                if failure is None:
                    raise
                raise failure.error from failure
            if failure is not None:
                self.meter.retried(failure.error.what)
            try:
                return self._asked(request, form)
            except _TryAgain as passing:
                failure = passing
                self._pause(next(pauses, None), passing)

    def _pause(self, seconds: float | None, failure: _TryAgain) -> None:
        """Wait before the next try, or raise the failure when there is none or it would come too late."""
        left = self.meter.seconds_left
        seconds = None if seconds is None else max(seconds, failure.after)
        if seconds is None or seconds > LONGEST_PAUSE_SECONDS or (left is not None and seconds >= left):
            raise failure.error from failure
        time.sleep(seconds)

    def _begin(self) -> None:
        """Wait for a turn and count the call. Raises BudgetSpent."""
        self.meter.allow()  # before the wait: a call that the budget does not cover takes nobody's turn
        if self.rate is not None:
            self.rate.wait(self.meter.seconds_left)
        self.meter.start(self.base_url)

    def _asked(self, request: _Request, form: Form) -> str:
        """One request. Raises ProviderError, or _TryAgain or _Refused around one."""
        openai = sdk()
        left = self.meter.seconds_left
        timeout = self.timeout_seconds if left is None else min(self.timeout_seconds, max(left, 0.001))
        room = self.max_tokens + (self.thinking_tokens if form.thinks else 0)
        options: dict[str, Any] = {form.tokens: 1 if request.options else room}
        if form.temperature:
            options["temperature"] = self.temperature
        if self.reasoning_effort is not None:
            options["reasoning_effort"] = self.reasoning_effort
        if request.schema is not None and form.schema:
            named = {"name": "reply", "strict": True, "schema": dict(request.schema)}
            options["response_format"] = {"type": "json_schema", "json_schema": named}
        if request.options:
            options |= {"logprobs": True, "top_logprobs": form.top_logprobs}
        on_text, told = _listener.get(), list[str]()
        if on_text is not None:
            options |= {"stream": True, "stream_options": {"include_usage": True}}
        try:
            reply = self._client.with_options(timeout=timeout).chat.completions.create(
                model=self.model,
                messages=[
                    {"role": "system", "content": request.system},
                    {"role": "user", "content": request.user},
                ],
                **options,
            )
            if on_text is not None:
                return self._streamed(reply, on_text, told)
        except openai.APITimeoutError as error:
            raise self._failed(f"no reply within {timeout:.3g} s", "set llm.timeout_seconds", retryable=True) from error
        except openai.APIConnectionError as error:
            self._broke_off(told, error)
            what, next_step = "cannot be reached", "check llm.base_url, and that the server is running"
            raise _TryAgain(self._failed(what, next_step, retryable=True)) from error
        except openai.APIStatusError as error:
            status, words = error.status_code, words_of(error.body, self.api_key)
            what = f"answered with status {status}" + (f": {words}" if words else "")
            if status == 429 or status >= 500:
                after = _seconds(error.response.headers.get("retry-after"))
                raise _TryAgain(self._failed(what, advice(status, words), retryable=True), after) from error
            raise _Refused(self._failed(what, advice(status, words), retryable=False), status, words) from error
        except (openai.APIError, ValueError, TypeError, AttributeError) as error:
            # The SDK builds its objects without checking them, so a wrong shape may only show when it is read.
            self._broke_off(told, error)
            raise _TryAgain(self._unreadable()) from error
        return self._weights(reply, request.options) if request.options else self._text(reply)

    def _streamed(self, chunks: Any, on_text: OnText, told: list[str]) -> str:
        """The text of a reply that comes in pieces, each told but for thoughts; `told` grows."""
        import httpx

        written, at = "", 0
        try:
            for chunk in chunks:
                self.meter.allow_waiting()
                if chunk.usage is not None:
                    self._count(chunk)
                written += (chunk.choices[0].delta.content or "") if chunk.choices else ""
                begun = written.lstrip()
                if not at and (begun.startswith("<think>") or "<think>".startswith(begun)):
                    closed = begun.find("</think>")
                    at = len(written) - len(begun) + closed + len("</think>") if closed >= 0 else 0
                if (at or not "<think>".startswith(begun[: len("<think>")])) and (piece := written[at:]):
                    at = len(written)
                    told.append(piece)
                    on_text(piece)
        except httpx.HTTPError as error:  # the SDK hands it on as it is
            self._broke_off(told, error)
            raise _TryAgain(self._failed("broke off its reply", retryable=True)) from error
        finally:
            chunks.close()
        answer = "".join(told).strip()
        if not answer and written.strip():
            self._thinks()
            what = "thought until its tokens were spent, and did not answer"
            raise self._failed(what, "set llm.reasoning_effort=none, or llm.thinking_tokens higher", retryable=False)
        if not answer:
            raise _TryAgain(self._failed("answered with no text", retryable=True))
        return answer

    def _broke_off(self, told: Sequence[str], error: Exception) -> None:
        """Raise ProviderError for a stream of which something was told: it cannot be asked for again."""
        if told:
            raise self._failed("broke off its reply", retryable=True) from error

    def _weights(self, reply: Any, options: Sequence[str]) -> str:
        """The probability of each option as the first token of a reply, as JSON; its tokens are counted."""
        try:
            self._count(reply)
            told = reply.choices[0].logprobs
            likely = told.content[0].top_logprobs if told is not None and told.content else None
            if not likely:
                server = (self.base_url, self.model)
                _forms[server] = replace(_forms.get(server, Form()), top_logprobs=0)
                return NO_WEIGHTS
            weights = dict.fromkeys(options, 0.0)
            for token in likely:
                word = token.token.strip().casefold()
                for option in options:
                    if word == option.casefold():
                        weights[option] += math.exp(min(0.0, float(token.logprob)))
        except (AttributeError, TypeError, IndexError, ValueError) as error:
            raise _TryAgain(self._unreadable()) from error
        return json.dumps(weights)

    def _count(self, reply: Any) -> None:
        """Count the tokens of a reply."""
        if reply.usage is not None:
            counts = int(reply.usage.prompt_tokens or 0), int(reply.usage.completion_tokens or 0)
            self.meter.used(*counts, prices=self.prices)

    def _text(self, reply: Any) -> str:
        """The text of a reply, its tokens counted."""
        try:
            self._count(reply)
            text = reply.choices[0].message.content if reply.choices else None
        except (AttributeError, TypeError, IndexError, ValueError) as error:
            raise _TryAgain(self._unreadable()) from error
        if text is not None and not isinstance(text, str):
            raise _TryAgain(self._unreadable())
        thoughts = _THOUGHTS.match(text or "")
        if thoughts:
            self._thinks()
        answer = _THOUGHTS.sub("", text or "").strip()
        if not answer:
            spent = reply.choices and getattr(reply.choices[0], "finish_reason", None) == "length"
            if spent or (thoughts and not thoughts[1]):
                self._thinks()
                what = "thought until its tokens were spent, and did not answer"
                raise self._failed(
                    what, "set llm.reasoning_effort=none, or llm.thinking_tokens higher", retryable=False
                )
            raise _TryAgain(self._failed("answered with no text", retryable=True))
        return answer

    def _thinks(self) -> None:
        """Remember that the model thinks before it answers."""
        server = (self.base_url, self.model)
        _forms[server] = replace(_forms.get(server, Form()), thinks=True)

    def _unreadable(self) -> ProviderError:
        return self._failed("answered with something that is not a chat completion", retryable=True)

    def _failed(self, what: str, next_step: str = "", *, retryable: bool) -> ProviderError:
        next_step = next_step or "check llm.base_url, llm.model and llm.api_key"
        return ProviderError(what, subject=self.name, next_step=next_step, retryable=retryable)


@dataclass(frozen=True, slots=True)
class _Request:
    """What is asked; with `options`, only for how probable each is as the first word of the reply."""

    system: str
    user: str
    schema: Schema | None = None
    options: tuple[str, ...] = ()


class _Failure(Exception):
    """A failure that is not the last word."""

    def __init__(self, error: ProviderError) -> None:
        super().__init__(str(error))
        self.error = error


class _TryAgain(_Failure):
    """A failure that may pass; `after` seconds the server asked to wait."""

    def __init__(self, error: ProviderError, after: float = 0.0) -> None:
        super().__init__(error)
        self.after = after


class _Refused(_Failure):
    """The server takes the request not as it is; `words` are its own."""

    def __init__(self, error: ProviderError, status: int, words: str) -> None:
        super().__init__(error)
        self.status, self.words = status, words


def _seconds(header: str | None) -> float:
    """Seconds of a Retry-After header; 0 for none or a date."""
    try:
        return max(0.0, float(header or 0))
    except ValueError:
        return 0.0
