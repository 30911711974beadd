"""Chat completions: what comes in, and the reply as a whole."""

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
    """What is read of a request; everything else (temperature, max_tokens, tools, ...) is left unread."""

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
        """Problem 422 for what no answer can be given in."""
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
    """A marker in the content and the address of what it stands for; offsets in code points, end exclusive."""

    start_index: int
    end_index: int
    title: str
    url: str


class Annotation(BaseModel):
    """A marker that leads somewhere."""

    type: str = "url_citation"
    url_citation: UrlCitation


class ReplyMessage(BaseModel):
    """The answer."""

    role: str = "assistant"
    content: str
    refusal: None = None
    annotations: list[Annotation] = []


class Choice(BaseModel):
    """The one answer there is."""

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
    thresher: Extension | None = Field(None, description="what the answer is worth; none of a side task")


def completion(asked: Asked, answer: Answer) -> ChatCompletion:
    """The reply to a question. It counts tokens: call it in a thread."""
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
    """A reply of this content."""
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
    """A citation for each marker whose place has an address."""
    return [Annotation(url_citation=UrlCitation(**url_citation(mark))) for mark in marks(answer) if mark.citation.url]


def url_citation(mark: Mark) -> dict[str, Any]:
    """The marker's place in the text, and where it leads."""
    return {
        "start_index": mark.start,
        "end_index": mark.end,
        "title": place_of(mark.citation),
        "url": mark.citation.url,
    }


def new_id(prefix: str) -> str:
    """An id that no other reply has."""
    return prefix + uuid.uuid4().hex
