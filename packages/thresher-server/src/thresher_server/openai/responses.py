"""Responses: the request, the whole reply, the stream, and the route."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Iterator
from typing import Any, Literal

from fastapi import APIRouter, Request, Response
from fastapi.concurrency import run_in_threadpool
from pydantic import BaseModel, ConfigDict, Field
from sse_starlette import ServerSentEvent

from thresher.answer import Answer
from thresher_server.asking import Question, while_connected
from thresher_server.naming import Served
from thresher_server.openai.answer_text import UrlCitation, inert, url_citations
from thresher_server.openai.asked import Asked, Extension, TokenUsage, extension, prepared, token_usage
from thresher_server.openai.chat import new_id
from thresher_server.openai.conversation import Message, Part, Text, conversation, refuse_unsupported, said_in
from thresher_server.openai.problems import OpenAIRoute, error_of, openai_replies, sent, streamed, streaming
from thresher_server.openai.side_tasks import side_reply, side_task
from thresher_server.security.access import Asker
from thresher_server.shapes import Foreign

router = APIRouter(tags=["openai"], route_class=OpenAIRoute)


class Item(Foreign):
    """One item of the input: a message, or a record that is ignored here."""

    model_config = ConfigDict(strict=True)
    type: Text = "message"
    role: Text = ""
    content: Text | list[Part] | None = None


class ResponseRequest(Foreign):
    """The fields that are read; all others (temperature, tools, ...) are ignored."""

    model_config = ConfigDict(
        strict=True, json_schema_extra={"example": {"model": "default", "input": "When does the ferry leave?"}}
    )
    model: Text = Field("", description="COLLECTION or COLLECTION/RECIPE, see GET /v1/models")
    input: Text | list[Item]
    instructions: Text | None = None
    stream: bool | None = None
    metadata: dict[Text, Text] | None = Field(None, description="given back; `task` names a side task of Open WebUI")
    text: dict[str, Any] | None = Field(None, description="refused unless its format is text")
    tool_choice: str | dict[str, Any] | None = Field(None, description="refused where a tool must be called")
    previous_response_id: str | None = Field(None, description="refused: replies are not kept")
    conversation: str | dict[str, Any] | None = Field(None, description="refused: replies are not kept")
    background: bool | None = Field(None, description="refused when true")

    @property
    def messages(self) -> list[Message]:
        """The messages of the input; other items are ignored."""
        if isinstance(self.input, str):
            return [Message(role="user", content=self.input)]
        return [Message(role=item.role, content=item.content) for item in self.input if item.type == "message"]

    def refuse_unsupported(self) -> None:
        """Raise Problem 422 for unsupported options."""
        form, choice = (self.text or {}).get("format"), self.tool_choice
        refuse_unsupported(
            {
                "response_format": isinstance(form, dict) and form.get("type", "text") != "text",
                "tool_choice": isinstance(choice, dict) or choice == "required",
                "previous_response_id": self.previous_response_id,
                "conversation": self.conversation,
                "background": self.background,
            }
        )


class TextAnnotation(UrlCitation):
    """A marker in the text and the address of its source; offsets in code points, end exclusive."""

    type: str = "url_citation"


class OutputText(BaseModel):
    """The text of the answer."""

    type: str = "output_text"
    text: str = ""
    annotations: list[TextAnnotation] = []
    logprobs: list[Any] = []


class OutputMessage(BaseModel):
    """The only item of the output."""

    id: str = Field(default_factory=lambda: new_id("msg_"))
    type: str = "message"
    role: str = "assistant"
    status: str = "completed"
    content: list[OutputText] = []


class ResponseUsage(BaseModel):
    """Tokens of a response."""

    input_tokens: int
    input_tokens_details: dict[str, int] = {"cached_tokens": 0, "cache_write_tokens": 0}
    output_tokens: int
    output_tokens_details: dict[str, int] = {"reasoning_tokens": 0}
    total_tokens: int


class ResponseFault(BaseModel):
    """The error that ended a stream."""

    code: str = "server_error"
    message: str


class ResponseReply(BaseModel):
    """A response, whole or in progress."""

    id: str = Field(default_factory=lambda: new_id("resp_"))
    object: str = "response"
    created_at: float = Field(default_factory=time.time)
    completed_at: float | None = None
    status: Literal["in_progress", "completed", "failed"] = "in_progress"
    model: str
    output: list[OutputMessage] = []
    error: ResponseFault | None = None
    incomplete_details: None = None
    instructions: str | None = None
    metadata: dict[str, str] = {}
    parallel_tool_calls: bool = True
    previous_response_id: None = None
    temperature: None = None
    text: dict[str, Any] = {"format": {"type": "text"}}
    tool_choice: str = "none"
    tools: list[Any] = []
    top_p: None = None
    truncation: str = "disabled"
    usage: ResponseUsage | None = None
    thresher: Extension | None = Field(None, description="verdict and citations; null for a side task")


def begun(model: str, body: ResponseRequest) -> ResponseReply:
    """A response without output."""
    return ResponseReply(model=model, instructions=body.instructions, metadata=body.metadata or {})


def completed(
    begun: ResponseReply, message: OutputMessage, usage: TokenUsage, worth: Extension | None
) -> ResponseReply:
    """The response with its answer."""
    counted = ResponseUsage(
        input_tokens=usage.prompt_tokens, output_tokens=usage.completion_tokens, total_tokens=usage.total_tokens
    )
    ended = {"status": "completed", "completed_at": time.time(), "output": [message]}
    return begun.model_copy(update={**ended, "usage": counted, "thresher": worth})


def answered(begun: ResponseReply, asked: Asked, answer: Answer, message_id: str) -> ResponseReply:
    """The response to a question, with a citation for each marker whose source has an address.

    Counts tokens, so call it in a thread.
    """
    cited = [TextAnnotation(**one.model_dump()) for one in url_citations(answer)]
    part = OutputText(text=inert(answer.text) + asked.tail(answer), annotations=cited)
    usage = token_usage(answer.usage, asked.conversation.texts, part.text)
    return completed(begun, OutputMessage(id=message_id, content=[part]), usage, extension(answer, asked))


# --- streams ----------------------------------------------------------------------------------------------------------

Payload = dict[str, Any]
"""An event, without its number. They come in the order of OpenAI's own server: created, in_progress, output_item.added,
content_part.added, output_text.delta ..., output_text.annotation.added ..., output_text.done, content_part.done,
output_item.done, completed; after an error `failed` replaces the rest."""


async def numbered(payloads: AsyncIterator[Payload]) -> AsyncIterator[ServerSentEvent]:
    """The events as they are sent."""
    number = 0
    async for payload in payloads:
        yield sent({"type": payload["type"], "sequence_number": number, **payload}, event=payload["type"])
        number += 1


async def response_stream(begun: ResponseReply, asked: Asked, followed: Question) -> AsyncIterator[Payload]:
    """The events of a question."""
    message_id, told = new_id("msg_"), ""
    for payload in _beginning(begun, message_id):
        yield payload
    try:
        async for event in followed:
            if isinstance(event, str):
                told += inert(event)
                yield _of_text("delta", message_id, delta=inert(event), logprobs=[])
            elif isinstance(event, Answer):
                whole = await run_in_threadpool(answered, begun, asked, event, message_id)
                for payload in _ending(told, whole):
                    yield payload
    except Exception as error:  # any: a stream that just ends looks complete
        fault = ResponseFault(message=error_of(error)["error"]["message"])
        failed = begun.model_copy(update={"status": "failed", "error": fault})
        yield {"type": "response.failed", "response": failed.model_dump()}


async def whole_as_stream(response: ResponseReply) -> AsyncIterator[Payload]:
    """The events of a finished response, for a client that asked for a stream."""
    empty = response.model_copy(update={"status": "in_progress", "output": []})
    for payload in (*_beginning(empty, response.output[0].id), *_ending("", response)):
        yield payload


def _beginning(response: ResponseReply, message_id: str) -> Iterator[Payload]:
    """The events before the text."""
    message = OutputMessage(id=message_id, status="in_progress")
    yield {"type": "response.created", "response": response.model_dump()}
    yield {"type": "response.in_progress", "response": response.model_dump()}
    yield {"type": "response.output_item.added", "output_index": 0, "item": message.model_dump()}
    yield _of_text("added", message_id, "content_part", part=OutputText().model_dump())


def _ending(told: str, response: ResponseReply) -> Iterator[Payload]:
    """The events of the rest of a response after `told`, the text already sent."""
    message = response.output[0]
    part = message.content[0]
    if rest := part.text[len(told) :]:
        yield _of_text("delta", message.id, delta=rest, logprobs=[])
    for number, annotation in enumerate(part.annotations):
        yield _of_text("annotation.added", message.id, annotation_index=number, annotation=annotation.model_dump())
    yield _of_text("done", message.id, text=part.text, logprobs=[])
    yield _of_text("done", message.id, "content_part", part=part.model_dump())
    yield {"type": "response.output_item.done", "output_index": 0, "item": message.model_dump()}
    yield {"type": "response.completed", "response": response.model_dump()}


def _of_text(what: str, message_id: str, of: str = "output_text", **more: Any) -> Payload:
    """An event of the one text of the one message."""
    return {"type": f"response.{of}.{what}", "item_id": message_id, "output_index": 0, "content_index": 0, **more}


@router.post(
    "/v1/responses",
    summary="Ask",
    response_model=ResponseReply,
    responses={**streaming("whole, or as events"), **openai_replies()},
)
async def responses(
    body: ResponseRequest, request: Request, caller: Asker, service: Served
) -> ResponseReply | Response:
    """The last message of the input is the question. Nothing is stored for a `previous_response_id`."""
    said = said_in(body.messages)
    if (side := side_task(said, body.metadata)) is not None:
        model, text, usage = await run_in_threadpool(side_reply, service, caller, body.model, side)
        small = completed(begun(model, body), OutputMessage(content=[OutputText(text=text)]), usage, None)
        return streamed(service, numbered(whole_as_stream(small))) if body.stream else small
    body.refuse_unsupported()
    asked = await run_in_threadpool(
        prepared, service, caller, request, body.model, conversation(said, body.instructions or "")
    )
    response = begun(asked.target.name, body)
    if body.stream:
        return streamed(service, numbered(response_stream(response, asked, await asked.question().begun())))
    answer = await while_connected(request, asked.question().answer())
    return await run_in_threadpool(answered, response, asked, answer, new_id("msg_"))
