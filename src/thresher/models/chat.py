"""A chat model behind any OpenAI-compatible endpoint."""

from __future__ import annotations

import json
import logging
import re
import time
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import closing
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from functools import partial
from math import exp
from typing import Any

from thresher.errors import BudgetSpent, ProviderError, TooLong, without_password
from thresher.models.replies import Spoken, count, events, most_bytes, number, parsed, whole_characters
from thresher.models.reply_cache import ReplyCache
from thresher.models.transport import PAUSES_SECONDS, Malformed, Rate, Refused, Server, paused, what_happened
from thresher.models.usage import Exchanges, Meter, Prices
from thresher.net import Bounds, Late, NotFetched, NotTaken

Schema = Mapping[str, Any]
OnText = Callable[[str], None]

_log = logging.getLogger(__name__)

_listener: ContextVar[OnText | None] = ContextVar("listener", default=None)  # gets the reply this thread asks for

LONGEST_PAUSE_SECONDS = 10.0  # a server that asks for a longer one (Retry-After) is not waited for
THINKING_TOKENS = 2048  # besides those of the answer: small models end most thoughts about a page or two within
NO_WEIGHTS = "null"  # in a record: the server reports no log-probabilities
UNREPORTED_PROMPT_TOKENS = 1_000  # of a prompt, besides one for each byte: a server's own preamble and marks


@dataclass(frozen=True)
class ChatModel:
    """One model of one server; the connection is made at the first call. Safe to use from several threads.

    A failure that may pass (429, 5xx, no connection, an unreadable or empty reply) is tried again after `pauses`; a
    reply that took longer than `timeout_seconds`, from the first byte sent to the last one read, or that is larger than
    its tokens can be, is not. Every request counts as a call, also a retry: the server may bill it. When the budget
    ends the tries, the last failure is raised.

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
    _server: Server = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        """A cancelled question ends its calls."""
        object.__setattr__(self, "_server", Server(self.base_url, self.api_key))
        self.meter.on_cancel(self._server.end)

    @property
    def name(self) -> str:
        """Model and server."""
        return f"{self.model} at {without_password(self.base_url)}"

    @property
    def context_tokens(self) -> int | None:
        """Tokens of prompt and reply together, where the server tells them; recorded like a reply.

        It is asked once in a process, and again if it was away, or the budget or a cancelled question left it no time.
        """
        if self.exchanges is None:
            return self._context()
        key = ("context", self.model)
        room: int | None = self.exchanges.recall(
            key, self._context, write=json.dumps, read=json.loads, meter=self.meter
        )
        return room

    def close(self) -> None:
        """Let go of the connections."""
        self._server.close()

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

    def _context(self) -> int | None:
        known = (self.base_url, self.model)
        seconds = self.meter.seconds_within(LISTING_SECONDS)
        if known in _contexts or self._server.ended:
            return _contexts.get(known)
        self.meter.visit(self.base_url)
        bounds = Bounds(time.monotonic() + seconds, LISTED_BYTES)
        tokens, is_final = None, seconds == LISTING_SECONDS
        try:
            with self._server.asked("/models", None, bounds) as pieces:
                tokens, is_llama = listed_context(parsed(pieces), self.model)
            if is_llama and tokens is None:
                with self._server.asked("/props", None, bounds, root=True) as pieces:
                    tokens = positive(parsed(pieces)["default_generation_settings"]["n_ctx"])
        except NotFetched as error:  # the question itself will report it
            _log.info("the server does not tell how much its model reads (%s)", error)
            is_final = is_final and (isinstance(error, Late | Malformed) or not error.may_pass)
        if tokens is not None or (is_final and not self._server.ended):
            _contexts[known] = tokens
        return tokens

    def _recorded(self, key: tuple[str, ...], request: _Request) -> str:
        key += () if self.reasoning_effort is None else (self.reasoning_effort,)
        reply = partial(self._remembered, key, request)
        return reply() if self.exchanges is None else self.exchanges.reply(key, reply, meter=self.meter)

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
        """The reply, after as many tries as the pauses allow, and with less where the server refuses a part."""
        known = form = self._form
        failure: ProviderError | None = None
        pauses = iter(self.pauses)
        while True:
            if request.options and not form.top_logprobs:
                self._learn(top_logprobs=0)
                return NO_WEIGHTS
            self._begin(failure)
            seconds = self.meter.seconds_within(self.timeout_seconds)
            handed_on: list[str] = []
            try:
                reply = self._asked(request, form, seconds, handed_on)
            except NotFetched as error:
                failure = self._failure(error, seconds, broke_off=bool(handed_on))
                less = form.without(error, request) if isinstance(error, Refused) else None
                if less is not None:
                    form, pauses = less, iter(self.pauses)
                elif handed_on or not paused(error, pauses, self.meter.seconds_left, longest=LONGEST_PAUSE_SECONDS):
                    raise failure from error
            else:
                if form is not known:
                    # Only now: what was refused may as well have been a prompt that is too long.
                    _forms[self.base_url, self.model] = replace(form, thinks=form.thinks or self._form.thinks)
                return reply

    def _begin(self, failure: ProviderError | None) -> None:
        """Count a call that is about to be sent, after its turn came; `failure` is what came of an earlier one."""
        try:
            self.meter.allow()  # before the wait: a call that the budget does not cover takes no turn
            if self.rate is not None:
                self.rate.wait(self.meter.seconds_left)
            self.meter.start(self.base_url)
        except BudgetSpent:
            if failure is None:
                raise
            raise failure from None
        if failure is not None:
            self.meter.retried(failure.what)

    def _asked(self, request: _Request, form: RequestForm, seconds: float, handed_on: list[str]) -> str:
        """One request; `handed_on` gets the pieces that were handed on. Raises NotFetched."""
        bounds = Bounds(time.monotonic() + seconds, most_bytes(self._most_tokens))
        if request.options:
            with self._server.asked("/chat/completions", self._sent(request, form), bounds) as pieces:
                return self._weights(parsed(pieces), request)
        received: list[str] = []
        with closing(self._answer(request, form, bounds)) as answer:
            for piece in answer:
                received.append(piece)
                if (on_text := _listener.get()) is not None:
                    handed_on.append(piece)
                    on_text(piece)
        return "".join(received)

    def _failure(self, error: NotFetched, seconds: float, *, broke_off: bool) -> ProviderError:
        """The error to raise where the request is not sent again."""
        what = what_happened(error, seconds, "a chat completion")
        next_step = "check llm.base_url, llm.model and llm.api_key"
        kind = ProviderError
        match error:
            case Late():
                next_step = "set llm.timeout_seconds"
            case Refused():
                words = words_of(error.body, self.api_key)
                what, next_step = f"{error}: {words}" if words else what, advice(error.status, words)
                if not error.may_pass and _TOO_LONG.search(words):
                    kind = TooLong
                    if (tokens := refused_context(error.body)) is not None:
                        _contexts[self.base_url, self.model] = tokens
            case _ if broke_off:
                what = "broke off its reply"
            case _Silent():
                what = str(error)
            case _OnlyThoughts():
                what, next_step = str(error), "set llm.reasoning_effort=none, or llm.max_tokens higher"
            case NotTaken() | Malformed():
                pass
            case _:
                next_step = "check llm.base_url, and that the server is running"
        return kind(what, subject=self.name, next_step=next_step, retryable=broke_off or error.may_pass)

    def _sent(self, request: _Request, form: RequestForm) -> dict[str, Any]:
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

    def _answer(self, request: _Request, form: RequestForm, bounds: Bounds) -> Generator[str]:
        """The answer of a reply, piece by piece where it is streamed; its tokens are counted. Raises NotFetched."""
        sent = self._sent(request, form)
        spoken, usage, ended, silent = Spoken(self.max_tokens, self.thinking_tokens), None, False, True
        try:
            with self._server.asked("/chat/completions", sent, bounds) as pieces:
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
        if silent and (ended or (spoken.thought and not spoken.answering)):
            self._learn(thinks=True)
            raise _OnlyThoughts("thought until its tokens were spent, and did not answer")
        if silent:
            raise _Silent("answered with no text")

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
                    weights[option] += exp(min(0.0, number(token["logprob"])))
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

    @property
    def _form(self) -> RequestForm:
        """What the server takes, as far as it is known."""
        return _forms.get((self.base_url, self.model), RequestForm())

    def _learn(self, **found: Any) -> None:
        _forms[self.base_url, self.model] = replace(self._form, **found)


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


class _Silent(NotFetched):
    """A reply without a text."""


class _OnlyThoughts(NotFetched):
    """A reply that spent its tokens on thoughts, as the next one would."""

    may_pass = False


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


# --- what a server refuses, read from the status and the words of its answer ------------------------------------------
# Newer models of OpenAI refuse `max_tokens` and every temperature but their own; small servers know no schemas. The
# refusal teaches which, once for each model in a process.

SCHEMA_REFUSALS = (400, 404, 422)  # statuses with which servers that know no schemas answer to one
LONGEST_WORDS = 300  # characters of a server's own words that an error shows
LONGEST_REFUSAL = 2_000  # characters of a refusal in which a length is looked for

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
class RequestForm:
    """What a request to one model carries besides its messages."""

    schema: bool = True
    temperature: bool = True
    tokens: str = "max_tokens"  # the server's name for the bound of a reply
    thinks: bool = False  # whether the model was seen to think before it answers, so that the bound must cover both
    top_logprobs: int = TOP_LOGPROBS[0]  # most probable tokens reported with log-probabilities; 0 where none are

    def without(self, refusal: Refused, request: _Request) -> RequestForm | None:
        """The form to try after the refusal of a request; None when all that it can go without is left out."""
        words, logprobs = words_of(refusal.body), bool(request.options)
        if refusal.may_pass:
            return None
        if logprobs and _NO_LOGPROBS.search(words):
            return replace(self, top_logprobs=0)
        if refusal.status not in SCHEMA_REFUSALS or _TOO_LONG.search(words) or "reasoning_effort" in words:
            return None
        if self.tokens == "max_tokens" and _NO_TOKENS.search(words):
            return replace(self, tokens="max_completion_tokens", thinks=True)
        if self.temperature and "temperature" in words.lower():
            return replace(self, temperature=False)
        if logprobs and self.top_logprobs:
            return replace(self, top_logprobs=TOP_LOGPROBS[TOP_LOGPROBS.index(self.top_logprobs) + 1])
        return replace(self, schema=False) if request.schema is not None and self.schema else None


_forms: dict[tuple[str, str], RequestForm] = {}  # what a server takes for a model, as found in this process


def words_of(body: Any, api_key: str | None = None) -> str:
    """The server's message in one line, without the key that was sent; empty when there is none to read."""
    message = body.get("error", body) if isinstance(body, dict) else body
    message = message.get("message", message.get("detail", "")) if isinstance(message, dict) else message
    line = " ".join(message.split()) if isinstance(message, str) else ""
    line = "".join(character for character in line if character.isprintable())
    if api_key and api_key.strip():
        line = line.replace(api_key.strip(), "…")
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


# --- how much a model reads at once -----------------------------------------------------------------------------------

LISTING_SECONDS = 2.0  # a server that takes longer to list its models is not waited for
LISTED_BYTES = 5_000_000  # the longest public lists of models are a few hundred kilobytes
LENGTHS = ("max_model_len", "context_length", "context_window", "max_context_length", "loaded_context_length")
"""Names in the lists of vLLM, OpenRouter, Groq, Mistral and LM Studio; llama.cpp has meta.n_ctx."""

_STATED = re.compile(
    r"(?:context|model) (?:length|size|window)(?! by)[^\d\"]{0,30}(\d{3,9})|n_ctx\W{1,5}(\d{3,9})|(\d{3,9}) maximum",
    re.I,
)
"""In the words or the fields of a refusal: OpenAI's, vLLM's, llama.cpp's, LM Studio's; Anthropic's."""

_contexts: dict[tuple[str, str], int | None] = {}  # as servers name them for their models, in this process


def listed_context(listed: Any, model: str) -> tuple[int | None, bool]:
    """The length of one model of a list, and whether the server is llama.cpp. Raises one of MALFORMED.

    The only model there is meant by any name, as llama.cpp takes it.
    """
    for entry in listed["data"]:
        if len(listed["data"]) == 1 or model in (entry.get("id"), *(entry.get("aliases") or ())):
            meta = entry.get("meta") or {}
            lengths = [positive(entry.get(name)) for name in LENGTHS] + [positive(meta.get("n_ctx"))]
            return min((length for length in lengths if length is not None), default=None), "n_ctx_train" in meta
    return None, False


def refused_context(body: Any) -> int | None:
    """The length that a refusal for length states; None where it states none."""
    stated = _STATED.search(json.dumps(body)[:LONGEST_REFUSAL])
    return None if stated is None else positive(int(stated[stated.lastindex or 0]))


def positive(value: Any) -> int | None:
    """A number of tokens; None for what is none."""
    return value if type(value) is int and value > 0 else None
