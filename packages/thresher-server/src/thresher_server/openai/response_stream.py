"""Responses as a stream: the events in the order of OpenAI's own server.

created, in_progress, output_item.added, content_part.added, output_text.delta ..., output_text.annotation.added ...,
output_text.done, content_part.done, output_item.done, completed; after an error `failed` replaces the rest.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from typing import Any

from fastapi.concurrency import run_in_threadpool
from sse_starlette import ServerSentEvent

from thresher.answer import Answer
from thresher_server.following import Followed
from thresher_server.openai.asked import Asked
from thresher_server.openai.responses import OutputMessage, OutputText, ResponseFault, ResponseReply, answered
from thresher_server.openai.server_events import error_of, sent

Payload = dict[str, Any]


class Events:
    """Makes the numbered events of one response."""

    def __init__(self, response: ResponseReply, message_id: str) -> None:
        self.response, self.message_id = response, message_id
        self._number = 0

    def __call__(self, type_: str, **more: Any) -> ServerSentEvent:
        """An event of this type."""
        payload = {"type": type_, "sequence_number": self._number, **more}
        self._number += 1
        return sent(payload, event=type_)

    def of_response(self, type_: str, response: ResponseReply) -> ServerSentEvent:
        """An event of the response as a whole."""
        return self(type_, response=response.model_dump())

    def of_text(self, type_: str, **more: Any) -> ServerSentEvent:
        """An event of the one text of the one message."""
        return self(type_, item_id=self.message_id, output_index=0, content_index=0, **more)

    def beginning(self) -> Iterator[ServerSentEvent]:
        """The events before the text."""
        empty = OutputMessage(id=self.message_id, status="in_progress")
        yield self.of_response("response.created", self.response)
        yield self.of_response("response.in_progress", self.response)
        yield self("response.output_item.added", output_index=0, item=empty.model_dump())
        yield self.of_text("response.content_part.added", part=OutputText().model_dump())

    def ending(self, told: str, response: ResponseReply) -> Iterator[ServerSentEvent]:
        """The rest of a response after `told`, the text already sent."""
        message = response.output[0]
        part = message.content[0]
        if rest := part.text[len(told) :]:
            yield self.delta(rest)
        for number, annotation in enumerate(part.annotations):
            yield self.of_text(
                "response.output_text.annotation.added", annotation_index=number, annotation=annotation.model_dump()
            )
        yield self.of_text("response.output_text.done", text=part.text, logprobs=[])
        yield self.of_text("response.content_part.done", part=part.model_dump())
        yield self("response.output_item.done", output_index=0, item=message.model_dump())
        yield self.of_response("response.completed", response)

    def delta(self, text: str) -> ServerSentEvent:
        """The next piece of the text."""
        return self.of_text("response.output_text.delta", delta=text, logprobs=[])

    def failed(self, error: Exception) -> ServerSentEvent:
        """The end of a response after an error."""
        fault = ResponseFault(message=error_of(error)["error"]["message"])
        return self.of_response(
            "response.failed", self.response.model_copy(update={"status": "failed", "error": fault})
        )


async def response_stream(begun: ResponseReply, asked: Asked, followed: Followed) -> AsyncIterator[ServerSentEvent]:
    """The stream of a question."""
    events, told = Events(begun, OutputMessage().id), ""
    for event in events.beginning():
        yield event
    try:
        async for happened in followed:
            if isinstance(happened, str):
                told += happened
                yield events.delta(happened)
            elif isinstance(happened, Answer):
                whole = await run_in_threadpool(answered, begun, asked, happened, events.message_id)
                for event in events.ending(told, whole):
                    yield event
    except Exception as error:  # any: a stream that just ends looks complete
        yield events.failed(error)


async def whole_as_stream(response: ResponseReply) -> AsyncIterator[ServerSentEvent]:
    """A finished response for a client that asked for a stream."""
    message = response.output[0]
    events = Events(response.model_copy(update={"status": "in_progress", "output": []}), message.id)
    for event in (*events.beginning(), *events.ending("", response)):
        yield event
