"""A chat model behind any OpenAI-compatible endpoint."""

from __future__ import annotations

import json
import math
import threading
import time
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import closing
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from thresher.errors import BudgetSpent, ProviderError, without_password
from thresher.models.context import context_tokens
from thresher.models.refusals import Form, advice, words_of
from thresher.models.replies import Spoken, count, events, most_bytes, number, parsed, whole_characters
from thresher.models.transport import Refused, TooLate, Trouble, Unreached, asked, connection
from thresher.models.usage import Meter
from thresher.net.http import Bounds
from thresher.net.sockets import Sockets

if TYPE_CHECKING:
    from openai import OpenAI

    from thresher.models.cassette import Exchanges
    from thresher.models.reply_cache import ReplyCache
    from thresher.models.usage import Prices, Rate

Schema = Mapping[str, Any]
OnText = Callable[[str], None]

_listener: ContextVar[OnText | None] = ContextVar("listener", default=None)  # gets the reply this thread asks for

PAUSES_SECONDS = (0.5, 1.0)  # before the second and the third try: the SDK's own, enough for a restart of the server
LONGEST_PAUSE_SECONDS = 10.0  # a server that asks for a longer one (Retry-After) is not waited for
THINKING_TOKENS = 2048  # besides those of the answer: small models end most thoughts about a page or two within
NO_WEIGHTS = "null"  # in a record: the server reports no log-probabilities
UNREPORTED_PROMPT_TOKENS = 1_000  # of a prompt, besides one for each byte: a server's own preamble and marks

_forms: dict[tuple[str, str], Form] = {}
"""What the server of an address takes for a model, as found in this process."""


@dataclass(frozen=True)
class ChatModel:
    """One model of one server; the connection is made at the first call. Safe to use from several threads.

    A failure that may pass (429, 5xx, no connection, an unreadable or empty reply) is tried again after `pauses`; a
    reply that took longer than `timeout_seconds`, from the first byte sent to the last one read, or that is larger than
    its tokens can be, is not. The SDK's own retries are off: they do not know the budget. Every request counts as a
    call, also a retry: the server may bill it. When the budget ends the tries, the last failure is raised.

    A schema is sent as `response_format`. A server that refuses it, the temperature or `max_tokens` is asked once more
    without (or with `max_completion_tokens`); if that works, the model is asked so for the rest of the process. So is
    one that reports no log-probabilities (`weigh`). A model that was seen to think has `thinking_tokens` besides
    `max_tokens`; one that spends all of them without an answer is not asked again. `reasoning_effort` is sent as it is
    where it is set; "none" turns thinking off.

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
        """Tokens of prompt and reply together, if the server reports it; recorded like a reply."""
        fetch = partial(context_tokens, self.base_url, self.model, self.api_key, seconds_left=self.meter.seconds_left)
        if self.exchanges is None:
            return fetch()
        size: int | None = self.exchanges.recall(("context", self.model), fetch, write=json.dumps, read=json.loads)
        return size

    @property
    def _client(self) -> OpenAI:
        with self._connecting:
            if not self._connections:
                sockets = Sockets()
                self._connections.append(connection(self.base_url, self.api_key, sockets=sockets))
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
        server reports no log-probabilities, which is asked once in a process. Raises ProviderError, BudgetSpent.
        """
        key = ("weigh", self.model, system, user, *options)
        weights: dict[str, float] | None = json.loads(self._recorded(key, _Request(system, user, None, tuple(options))))
        return weights

    def stream(self, system: str, user: str, on_text: OnText) -> str:
        """The reply; `on_text` gets its pieces as they come, but not from a cache or a record.

        A reply that breaks off after its first piece is not asked for again. Raises ProviderError, BudgetSpent.
        """
        before = _listener.set(on_text)
        try:
            return self.complete(system, user)
        finally:
            _listener.reset(before)

    def _recorded(self, key: tuple[str, ...], request: _Request) -> str:
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
        if not request.options or reply != NO_WEIGHTS:  # another server at this address may report them
            self.cache.put(key, reply)
        return reply

    def _replied(self, request: _Request) -> str:
        """The reply, asked for with less where the server refuses a part of the request."""
        server = (self.base_url, self.model)
        form, failure = _forms.get(server, Form()), None
        while True:
            if request.options and not form.top_logprobs:
                self._learn(top_logprobs=0)
                return NO_WEIGHTS
            try:
                reply = self._tried(request, form, failure)
            except _Less as refusal:
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
                self.meter.allow()  # before the wait: a call that the budget does not cover takes no turn
                if self.rate is not None:
                    self.rate.wait(self.meter.seconds_left)
                self.meter.start(self.base_url)
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

    def _asked(self, request: _Request, form: Form) -> str:
        """One request. Raises ProviderError, or _TryAgain or _Less around one."""
        left = self.meter.seconds_left
        seconds = self.timeout_seconds if left is None else min(self.timeout_seconds, max(left, 0.001))
        bounds = Bounds(time.monotonic() + seconds, most_bytes(self._most_tokens))
        received: list[str] = []
        try:
            if request.options:
                with asked(self._client.chat.completions, bounds, **self._sent(request, form)) as pieces:
                    return self._weights(parsed(pieces), request)
            with closing(self._answer(request, form, bounds)) as pieces_of_it:
                for piece in pieces_of_it:
                    received.append(piece)
                    if (on_text := _listener.get()) is not None:
                        on_text(piece)
        except Trouble as trouble:
            raise self._of(trouble, seconds, received) from trouble
        return "".join(received)

    def _of(self, trouble: Trouble, seconds: float, received: Sequence[str]) -> Exception:
        """The error to raise; a reply of which pieces were handed on cannot be asked for again."""
        if isinstance(trouble, TooLate):
            return self._failed(f"no reply within {seconds:.3g} s", "set llm.timeout_seconds", retryable=True)
        if isinstance(trouble, Refused):
            words = words_of(trouble.body, self.api_key)
            what = f"{trouble.what}: {words}" if words else trouble.what
            error = self._failed(what, advice(trouble.status, words), retryable=trouble.passing)
            return _TryAgain(error, trouble.after) if trouble.passing else _Less(error, trouble.status, words)
        if received and _listener.get() is not None:
            return self._failed("broke off its reply", retryable=True)
        if isinstance(trouble, Unreached):
            next_step = "check llm.base_url, and that the server is running"
            return _TryAgain(self._failed("cannot be reached", next_step, retryable=True))
        if str(trouble):  # more than can be meant: it would come again
            return self._failed(f"answered with what cannot be taken: {trouble}", retryable=False)
        return _TryAgain(self._failed("answered with something that is not a chat completion", retryable=True))

    def _sent(self, request: _Request, form: Form) -> dict[str, Any]:
        """The request as the server takes it."""
        room = self.max_tokens + (self.thinking_tokens if form.thinks else 0)
        sent: dict[str, Any] = {
            "model": self.model,
            "messages": [
                {"role": "system", "content": whole_characters(request.system)},
                {"role": "user", "content": whole_characters(request.user)},
            ],
            form.tokens: 1 if request.options else room,
        }
        if form.temperature:
            sent["temperature"] = self.temperature
        if self.reasoning_effort is not None:
            sent["reasoning_effort"] = self.reasoning_effort
        if request.schema is not None and form.schema:
            named = {"name": "reply", "strict": True, "schema": dict(request.schema)}
            sent["response_format"] = {"type": "json_schema", "json_schema": named}
        if request.options:
            sent |= {"logprobs": True, "top_logprobs": form.top_logprobs}
        elif _listener.get() is not None:
            sent |= {"stream": True, "stream_options": {"include_usage": True}}
        return sent

    def _answer(self, request: _Request, form: Form, bounds: Bounds) -> Generator[str]:
        """The answer of a reply, piece by piece where it is streamed; its tokens are counted. Raises Trouble."""
        sent = self._sent(request, form)
        spoken, usage, ended, silent = Spoken(self.max_tokens, self.thinking_tokens), None, False, True
        try:
            with asked(self._client.chat.completions, bounds, **sent) as pieces:
                for reply in events(pieces) if "stream" in sent else [parsed(pieces)]:
                    if "stream" in sent:
                        self.meter.allow_waiting()
                    usage = reply.get("usage") or usage
                    text, ended_here = _text_of(reply)
                    ended = ended or ended_here
                    if piece := spoken.add(text):
                        silent = False
                        yield piece
                    if spoken.full:
                        break
            if piece := spoken.end():
                silent = False
                yield piece
        finally:
            self._count(usage, request, most=spoken.full)
            if spoken.thought:
                self._learn(thinks=True)
        if silent:
            raise self._nothing(thought=ended or (spoken.thought and not spoken.answering))

    def _nothing(self, *, thought: bool) -> Exception:
        """The error for a reply without an answer; one that spent its tokens on thoughts would do so again."""
        if not thought:
            return _TryAgain(self._failed("answered with no text", retryable=True))
        self._learn(thinks=True)
        what = "thought until its tokens were spent, and did not answer"
        next_step = "set llm.reasoning_effort=none, or llm.max_tokens higher"
        return self._failed(what, next_step, retryable=False)

    def _weights(self, reply: Any, request: _Request) -> str:
        """The probability of each option as the first token of a reply, as JSON; its tokens are counted."""
        self._count(reply.get("usage"), request)
        logprobs = reply["choices"][0].get("logprobs")
        content = logprobs.get("content") if logprobs else None
        likely = content[0].get("top_logprobs") if content else None
        if not likely:
            self._learn(top_logprobs=0)
            return NO_WEIGHTS
        weights = dict.fromkeys(request.options, 0.0)
        for token in likely:
            word = token["token"].strip().casefold()
            for option in request.options:
                if word == option.casefold():
                    weights[option] += math.exp(min(0.0, number(token["logprob"])))
        return json.dumps({option: min(1.0, weight) for option, weight in weights.items()})

    @property
    def _most_tokens(self) -> int:
        """Of a reply: some servers do not count thoughts among `max_tokens`."""
        return self.max_tokens + self.thinking_tokens

    def _count(self, usage: Any, request: _Request, *, most: bool = False) -> None:
        """Count the tokens that a reply states, as far as it can be; `most` where it was cut before it stated them."""
        if isinstance(usage, Mapping):
            prompt = count(usage.get("prompt_tokens"), request.most_tokens)
            self.meter.used(prompt, count(usage.get("completion_tokens"), self._most_tokens), prices=self.prices)
        elif most:
            self.meter.used(0, self.max_tokens, prices=self.prices)

    def _learn(self, **found: Any) -> None:
        server = (self.base_url, self.model)
        _forms[server] = replace(_forms.get(server, Form()), **found)

    def _failed(self, what: str, next_step: str = "", *, retryable: bool) -> ProviderError:
        next_step = next_step or "check llm.base_url, llm.model and llm.api_key"
        return ProviderError(what, subject=self.name, next_step=next_step, retryable=retryable)


@dataclass(frozen=True, slots=True)
class _Request:
    """One exchange; with `options`, it asks only for the probability of each as the first word of the reply."""

    system: str
    user: str
    schema: Schema | None = None
    options: tuple[str, ...] = ()

    @property
    def most_tokens(self) -> int:
        """Of the prompt: a token has at least one byte."""
        schema = "" if self.schema is None else json.dumps(self.schema)
        sent = len(self.system.encode("utf-8", "replace")) + len(self.user.encode("utf-8", "replace")) + len(schema)
        return sent + UNREPORTED_PROMPT_TOKENS


class _Failure(Exception):
    """A failure that is not the last word."""

    def __init__(self, error: ProviderError) -> None:
        super().__init__(str(error))
        self.error = error


class _TryAgain(_Failure):
    """A failure that may pass, after so many seconds where the server states them."""

    def __init__(self, error: ProviderError, after: float = 0.0) -> None:
        super().__init__(error)
        self.after = after


class _Less(_Failure):
    """The server refuses a part of the request; `words` are its own."""

    def __init__(self, error: ProviderError, status: int, words: str) -> None:
        super().__init__(error)
        self.status, self.words = status, words


def _text_of(reply: Any) -> tuple[str, bool]:
    """The text of a reply or an event; and whether it ended for want of tokens. Raises one of MALFORMED."""
    choices = reply.get("choices")
    if not choices:
        return "", False
    message = choices[0].get("delta") or choices[0].get("message") or {}
    text = message.get("content")
    if text is not None and not isinstance(text, str):
        raise ValueError("a text that is none")
    return text or "", choices[0].get("finish_reason") == "length"
