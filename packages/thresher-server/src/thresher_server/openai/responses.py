"""Responses: the request and the whole reply."""

from __future__ import annotations

import time
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from thresher.answer import Answer
from thresher_server.openai.answer_text import marks
from thresher_server.openai.asked import Asked
from thresher_server.openai.chat import new_id, url_citation
from thresher_server.openai.conversation import Message, Part, Text, refuse_unsupported
from thresher_server.openai.extension import Extension, extension
from thresher_server.openai.token_usage import TokenUsage, token_usage
from thresher_server.shapes import Foreign


class Item(Foreign):
    """One item of the input: a message, or a record that is ignored here."""

    model_config = ConfigDict(strict=True)
    type: Text = "message"
    role: Text = ""
    content: Text | list[Part] | None = None


class ResponseRequest(Foreign):
    """The fields that are read; all others (temperature, tools, ...) are ignored."""

    model_config = ConfigDict(
        strict=True,
        json_schema_extra={"example": {"model": "default", "input": "When does the ferry leave?"}},
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


class TextAnnotation(BaseModel):
    """A marker in the text and the address of its source; offsets in code points, end exclusive."""

    type: str = "url_citation"
    start_index: int
    end_index: int
    title: str
    url: str


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


def answered(begun: ResponseReply, asked: Asked, answer: Answer, message_id: str | None = None) -> ResponseReply:
    """The response to a question. Counts tokens, so call it in a thread."""
    part = output_text(asked, answer)
    message = OutputMessage(content=[part]) if message_id is None else OutputMessage(id=message_id, content=[part])
    usage = token_usage(answer.usage, asked.conversation.texts, part.text)
    return completed(begun, message, usage, extension(answer, asked))


def output_text(asked: Asked, answer: Answer) -> OutputText:
    """The text of an answer with a citation for each marker whose source has an address."""
    cited = [TextAnnotation(**url_citation(mark)) for mark in marks(answer) if mark.citation.url]
    return OutputText(text=answer.text + asked.tail(answer), annotations=cited)
