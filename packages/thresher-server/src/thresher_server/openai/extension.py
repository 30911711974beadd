"""Fields that OpenAI's formats lack, in one object: `thresher`."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, Field

from thresher.answer import Answer
from thresher_server.openai.asked import Asked
from thresher_server.shapes import AlternativeReply, AnswerSentenceReply, CitationReply


class Extension(BaseModel):
    """Verdict, probabilities, citations and trace of an answer."""

    collection: str
    recipe: str
    text: str = Field(description="the answer without the list of sources")
    verdict: str | None = Field(description="whether the evidence suffices: correct, ambiguous, incorrect, unsure")
    confidence: float | None = Field(description="probability that the evidence suffices")
    certainty: float | None = Field(description="probability that the answer is right")
    abstained: bool
    reason: str | None = Field(description="why there is no answer")
    standalone: str | None = Field(None, description="a follow-up question as it was understood")
    unread: list[str] = Field([], description="files that the client sent along; they are not searched")
    answered_by: str | None = Field(None, description="model or reader, where a chat model was asked")
    sentences: list[AnswerSentenceReply] = Field(description="with offsets in `text`, which the content begins with")
    removed: list[AnswerSentenceReply] = Field([], description="sentences removed from the answer")
    citations: list[CitationReply]
    alternatives: list[AlternativeReply] = Field(description="further passages that may answer, without a chat model")
    conflicts: list[tuple[int, int]] = Field(description="markers of citations that contradict each other")
    degraded: list[str] = Field(description="what was unavailable")
    trace: str = Field(description="id for `thresher explain`")


def extension(answer: Answer, asked: Asked) -> Extension:
    """The extension of an answer."""
    told: dict[str, Any] = answer.to_dict()
    return Extension.model_validate(
        {**told, "collection": asked.target.collection, "unread": list(asked.conversation.unread)}
    )
