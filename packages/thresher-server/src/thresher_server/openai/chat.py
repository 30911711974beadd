"""Chat completions: the request and the whole reply."""

from __future__ import annotations

import time
import uuid
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from thresher.answer import Answer
from thresher_server.openai.answer_text import Mark, marks, place_of
from thresher_server.openai.asked import Asked
from thresher_server.openai.conversation import Message, Text, refuse_unsupported
from thresher_server.openai.extension import Extension, extension
from thresher_server.openai.token_usage import TokenUsage, token_usage
from thresher_server.shapes import Foreign


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


class UrlCitation(BaseModel):
    """A marker in the content and the address of its source; offsets in code points, end exclusive."""

    start_index: int
    end_index: int
    title: str
    url: str


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


def completion(asked: Asked, answer: Answer) -> ChatCompletion:
    """The reply to a question. Counts tokens, so call it in a thread."""
    content = answer.text + asked.tail(answer)
    return reply(
        asked.target.name,
        content,
        token_usage(answer.usage, asked.conversation.texts, content),
        annotations=annotated(answer),
        thresher=extension(answer, asked),
    )


def reply(
    model: str,
    content: str,
    usage: TokenUsage,
    *,
    annotations: list[Annotation] | None = None,
    thresher: Extension | None = None,
) -> ChatCompletion:
    """A reply with this content."""
    message = ReplyMessage(content=content, annotations=annotations or [])
    return ChatCompletion(
        id=new_id("chatcmpl-"),
        created=int(time.time()),
        model=model,
        choices=[Choice(message=message)],
        usage=usage,
        thresher=thresher,
    )


def annotated(answer: Answer) -> list[Annotation]:
    """A citation for each marker whose source has an address."""
    return [Annotation(url_citation=UrlCitation(**url_citation(mark))) for mark in marks(answer) if mark.citation.url]


def url_citation(mark: Mark) -> dict[str, Any]:
    """The marker's position in the text, with the title and address of its source."""
    return {
        "start_index": mark.start,
        "end_index": mark.end,
        "title": place_of(mark.citation),
        "url": mark.citation.url,
    }


def new_id(prefix: str) -> str:
    """A unique id."""
    return prefix + uuid.uuid4().hex
