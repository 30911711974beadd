"""Chat completions: the request, the whole reply, the stream, and the route.

Every chunk of a stream has a choice, because clients usually read the first of each. The last one has the finish
reason, the usage and the extension.
"""

from __future__ import annotations

import time
import uuid
from collections.abc import AsyncIterator, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from fastapi import APIRouter, Request, Response
from fastapi.concurrency import run_in_threadpool
from pydantic import BaseModel, ConfigDict, Field
from sse_starlette import ServerSentEvent

from thresher.answer import Answer
from thresher.types import Step
from thresher_server.asking import Event, Question, while_connected
from thresher_server.naming import Served
from thresher_server.openai import open_webui
from thresher_server.openai.answer_text import UrlCitation, inert, url_citations
from thresher_server.openai.asked import Asked, Extension, TokenUsage, extension, prepared, token_usage
from thresher_server.openai.conversation import Message, Text, conversation, refuse_unsupported, said_in
from thresher_server.openai.open_webui import wants_events
from thresher_server.openai.problems import DONE, OpenAIRoute, error_of, openai_replies, sent, streamed, streaming
from thresher_server.openai.side_tasks import side_reply, side_task
from thresher_server.security.access import Asker
from thresher_server.shapes import Foreign

Payload = dict[str, Any]

router = APIRouter(tags=["openai"], route_class=OpenAIRoute)


class ChatRequest(Foreign):
    """The fields that are read; all others (temperature, max_tokens, tools, ...) are ignored."""

    model_config = ConfigDict(
        strict=True,
        json_schema_extra={
            "example": {
                "model": "default/corrective",
                "messages": [{"role": "user", "content": "When does the ferry leave?"}],
            }
        },
    )
    model: Text = Field("", description="COLLECTION or COLLECTION/RECIPE, see GET /v1/models")
    messages: list[Message] = Field(min_length=1)
    stream: bool | None = None
    n: int | None = Field(None, ge=1, description="1: one answer is given")
    logprobs: bool | None = Field(None, description="refused when true")
    response_format: dict[str, Any] | None = Field(None, description="refused unless its type is text")
    modalities: list[str] | None = Field(None, description="refused unless it is text alone")
    tool_choice: str | dict[str, Any] | None = Field(None, description="refused where a tool must be called")
    metadata: dict[str, Any] | None = Field(None, description="`task` names a side task of Open WebUI")

    def refuse_unsupported(self) -> None:
        """Raise Problem 422 for unsupported options."""
        choice = self.tool_choice
        refuse_unsupported(
            {
                "n": (self.n or 1) > 1,
                "logprobs": self.logprobs,
                "response_format": (self.response_format or {}).get("type", "text") != "text",
                "modalities": set(self.modalities or ["text"]) != {"text"},
                "tool_choice": isinstance(choice, dict) or choice == "required",
            }
        )


class Annotation(BaseModel):
    """A marker with an address."""

    type: str = "url_citation"
    url_citation: UrlCitation


class ReplyMessage(BaseModel):
    """The answer."""

    role: str = "assistant"
    content: str
    refusal: None = None
    annotations: list[Annotation] = []


class Choice(BaseModel):
    """The only choice."""

    index: int = 0
    message: ReplyMessage
    logprobs: None = None
    finish_reason: str = "stop"


class ChatCompletion(BaseModel):
    """A whole reply."""

    id: str
    object: str = "chat.completion"
    created: int
    model: str
    choices: list[Choice]
    usage: TokenUsage
    thresher: Extension | None = Field(None, description="verdict and citations; null for a side task")


def completion(
    model: str,
    content: str,
    usage: TokenUsage,
    annotations: Sequence[Annotation] = (),
    thresher: Extension | None = None,
) -> ChatCompletion:
    """A reply with this content."""
    message = ReplyMessage(content=content, annotations=list(annotations))
    return ChatCompletion(
        id=new_id("chatcmpl-"),
        created=int(time.time()),
        model=model,
        choices=[Choice(message=message)],
        usage=usage,
        thresher=thresher,
    )


def answered(asked: Asked, answer: Answer) -> ChatCompletion:
    """The reply to a question. Counts tokens, so call it in a thread."""
    content = inert(answer.text) + asked.tail(answer)
    usage = token_usage(answer.usage, asked.conversation.texts, content)
    return completion(asked.target.name, content, usage, annotated(answer), extension(answer, asked))


def annotated(answer: Answer) -> list[Annotation]:
    """A citation for each marker whose source has an address."""
    return [Annotation(url_citation=one) for one in url_citations(answer)]


def new_id(prefix: str) -> str:
    """A unique id."""
    return prefix + uuid.uuid4().hex


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


async def chat_stream(asked: Asked, followed: Question, *, events: bool) -> AsyncIterator[ServerSentEvent]:
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
            yield chunk({"content": inert(event)})
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


@router.post(
    "/v1/chat/completions",
    summary="Ask in a conversation",
    response_model=ChatCompletion,
    responses={**streaming("whole, or as chunks"), **openai_replies()},
)
async def chat_completions(
    body: ChatRequest, request: Request, caller: Asker, service: Served
) -> ChatCompletion | Response:
    """The last message is the question and may follow up on those before; see docs/chat.md."""
    said = said_in(body.messages)
    if (side := side_task(said, body.metadata)) is not None:
        small = completion(*await run_in_threadpool(side_reply, service, caller, body.model, side))
        return streamed(service, whole_as_stream(small)) if body.stream else small
    body.refuse_unsupported()
    asked = await run_in_threadpool(prepared, service, caller, request, body.model, conversation(said))
    if body.stream:
        followed = await asked.question().begun()
        return streamed(service, chat_stream(asked, followed, events=wants_events(request, service)))
    answer = await while_connected(request, asked.question().answer())
    return await run_in_threadpool(answered, asked, answer)
