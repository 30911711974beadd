"""Chat completions as a stream: the role, steps and sentences as they come, the rest of the text, the citations.

Every chunk has a choice, because clients usually read the first of each. The last one has the finish reason, the usage
and the extension.
"""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass, field
from typing import Any

from fastapi.concurrency import run_in_threadpool
from sse_starlette import ServerSentEvent

from thresher.answer import Answer
from thresher.types import Step
from thresher_server.asking import Event
from thresher_server.following import Followed
from thresher_server.openai import open_webui
from thresher_server.openai.asked import Asked
from thresher_server.openai.chat import ChatCompletion, annotated, new_id
from thresher_server.openai.extension import extension
from thresher_server.openai.server_events import DONE, error_of, sent
from thresher_server.openai.token_usage import token_usage

Payload = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Chunks:
    """Makes the chunks of one reply."""

    model: str
    id: str = field(default_factory=lambda: new_id("chatcmpl-"))
    created: int = field(default_factory=lambda: int(time.time()))

    def __call__(self, delta: Payload | None = None, *, finish_reason: str | None = None, **more: Any) -> Payload:
        """A chunk with this delta; `more` are further fields beside its choices."""
        choice = {"index": 0, "delta": delta or {}, "logprobs": None, "finish_reason": finish_reason}
        common = {"id": self.id, "object": "chat.completion.chunk", "created": self.created, "model": self.model}
        return {**common, "choices": [choice], **more}


async def chat_stream(asked: Asked, followed: Followed, *, events: bool) -> AsyncIterator[ServerSentEvent]:
    """The stream of a question; `events` sends those of Open WebUI instead of annotations and a list of sources.

    An error after the start is sent as the last chunk before `[DONE]`.
    """
    chunk = Chunks(asked.target.name)
    yield sent(chunk({"role": "assistant", "content": ""}))
    if events:
        yield sent(chunk(event=open_webui.status(f"Searching {asked.target.collection}")))
    try:
        async for event in followed:
            for payload in _chunks_of(chunk, event, events=events):
                yield sent(payload)
            if isinstance(event, Answer):
                for payload in await run_in_threadpool(_ending, chunk, asked, event, events=events):
                    yield sent(payload)
    except Exception as error:  # any: a stream that just ends looks complete
        yield sent(error_of(error))
    yield ServerSentEvent(DONE, sep="\n")


async def whole_as_stream(reply: ChatCompletion) -> AsyncIterator[ServerSentEvent]:
    """A finished reply for a client that asked for a stream."""
    chunk = Chunks(reply.model, reply.id, reply.created)
    yield sent(chunk({"role": "assistant", "content": reply.choices[0].message.content}))
    yield sent(chunk(finish_reason="stop", usage=reply.usage.model_dump()))
    yield ServerSentEvent(DONE, sep="\n")


def _chunks_of(chunk: Chunks, event: Event, *, events: bool) -> Iterator[Payload]:
    match event:
        case str():
            yield chunk({"content": event})
        case Step() if events and (told := open_webui.step_status(event)) is not None:
            yield chunk(event=told)


def _ending(chunk: Chunks, asked: Asked, answer: Answer, *, events: bool) -> list[Payload]:
    """The chunks after the answer: the rest of its text, its citations, usage and extension."""
    rest = asked.tail(answer, listed=not events)
    ending = [chunk({"content": rest})] if rest else []
    if events:
        told = [*open_webui.sources(answer), open_webui.last_status(answer)]
        ending += [chunk(event=one) for one in told]
    elif marked := annotated(answer):
        # in one chunk: the SDK takes the first list as it is, but needs an index in each entry of a second one
        ending.append(chunk({"annotations": [one.model_dump() for one in marked]}))
    usage = token_usage(answer.usage, asked.conversation.texts, answer.text + rest)
    worth = extension(answer, asked)
    return [*ending, chunk(finish_reason="stop", usage=usage.model_dump(), thresher=worth.model_dump())]
