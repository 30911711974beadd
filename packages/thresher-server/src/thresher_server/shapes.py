"""Shapes of the own API's replies, for its OpenAPI description; what travels are the engine's own `to_dict`.

Keys may be added to what the engine tells; none goes without a word in the changelog.
"""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator


class Told(BaseModel):
    """A reply, to which keys may be added."""

    model_config = ConfigDict(extra="allow")


class Body(BaseModel):
    """A request; a key that is not known is refused."""

    model_config = ConfigDict(extra="forbid")


class Foreign(BaseModel):
    """A request in the shape of another API: a field that is null is one that is not given."""

    @model_validator(mode="before")
    @classmethod
    def without_nulls(cls, given: Any) -> Any:
        """What is given."""
        return {key: value for key, value in given.items() if value is not None} if isinstance(given, dict) else given


EVENT_STREAM = {
    "text/event-stream": {
        "schema": {
            "type": "object",
            "required": ["data"],
            "properties": {
                "event": {"type": "string"},
                "data": {"type": "string", "description": "JSON"},
                "id": {"type": "string"},
            },
        }
    }
}
"""What a route that streams says of each of its events."""


class HitReply(Told):
    """A passage that was found."""

    rank: int
    score: float
    scale: str = Field(examples=["relevance [0, 1]"])
    source: str
    title: str
    page: int | None
    start: int
    end: int
    text: str
    url: str = ""


class SpanReply(Told):
    """A stretch of a document that a budget of tokens was spent on."""

    rank: int
    score: float
    scale: str
    source: str
    title: str
    page: int | None
    heading: str
    start: int
    end: int
    text: str
    tokens: int
    url: str = ""


class SearchReply(Told):
    """Passages, best first; with `max_tokens` spans in their place, and what the evidence is worth."""

    question: str
    recipe: str
    hits: list[HitReply]
    degraded: list[str]
    spans: list[SpanReply] = Field(default_factory=list)
    verdict: str | None = None
    confidence: float | None = None
    tokens: int = 0


class CitationReply(Told):
    """A place in a document that supports an answer; `quote` is the document's text there."""

    marker: int
    source: str
    title: str
    page: int | None
    locator: str = ""
    start: int
    end: int
    quote: str
    score: float
    scale: str
    origin: Literal["inside", "outside"]
    fetched: str | None
    url: str = ""


class AlternativeReply(Told):
    """A further passage that may answer, with the marker of its citation."""

    text: str
    citation: CitationReply
    probability: float


class SentenceReply(Told):
    """A sentence of an answer, or a claim of a text, and what the documents say to it."""

    start: int
    end: int
    text: str
    state: Literal["supported", "unverified", "contradicted"]
    support: float
    reason: str = ""


class AnswerSentenceReply(SentenceReply):
    """A sentence of an answer with the markers of its citations."""

    citations: list[int]


class ClaimReply(SentenceReply):
    """A claim of a text with the spans that show its state."""

    citations: list[CitationReply]


class StepReply(Told):
    """A step of a question."""

    name: str = Field(examples=["judge"])
    seconds: float
    considered: int
    kept: int
    detail: dict[str, Any]


class UsageReply(Told):
    """What a question cost."""

    llm_calls: int
    prompt_tokens: int
    completion_tokens: int
    web_requests: int
    hosts: list[str]


class AnswerReply(Told):
    """An answer, or an abstention with its reason."""

    question: str
    recipe: str
    text: str
    abstained: bool
    reason: str | None
    verdict: Literal["correct", "ambiguous", "incorrect", "unsure"] | None
    confidence: float | None
    certainty: float | None
    citations: list[CitationReply]
    alternatives: list[AlternativeReply] = Field(default_factory=list)
    conflicts: list[list[int]]
    sentences: list[AnswerSentenceReply]
    steps: list[StepReply]
    usage: UsageReply
    degraded: list[str]
    answered_by: str | None
    standalone: str | None
    trace: str


class CheckReply(Told):
    """A text held against the documents, claim by claim."""

    text: str
    support: float | None
    claims: list[ClaimReply]


class DocumentReply(Told):
    """A document without its text."""

    id: str
    source: str
    also: list[str]
    title: str
    kind: str = Field(examples=["pdf"])
    pages: int
    characters: int
    added: str
    date: str | None
    metadata: dict[str, Any]
    url: str = Field(description="where a person opens it")
    file: bool = Field(description="whether its original can be had from `/file`")


class ChunkReply(Told):
    """The fate of one chunk that a question touched."""

    id: str
    source: str
    page: int | None
    start: int
    end: int
    origin: Literal["inside", "outside"]
    text: str
    scores: dict[str, Any]
    kept: bool
    dropped_by: str | None
    reason: str
    stood_for: list[str]


class FeedbackReply(Told):
    """What a person said of an answer."""

    right: bool
    answer: str | None


class ExplainReply(AnswerReply):
    """A stored answer with the fate of every chunk, the labels people call them by, and what was said of it."""

    chunks: list[ChunkReply]
    labels: dict[str, str]
    asked: str
    feedback: FeedbackReply | None


class ReplayReply(Told):
    """A stored answer made again, and the names of what differs."""

    answer: AnswerReply
    differences: list[str]


class TraceLine(Told):
    """A past question in short."""

    trace: str
    question: str
    text: str
    abstained: bool
    verdict: str | None
    confidence: float | None
    certainty: float | None
    recipe: str
    asked: str
    feedback: FeedbackReply | None


class JobStarted(Told):
    """Work that goes on; see `/api/jobs/{job}`."""

    job: str = Field(examples=["20260105T101500-1f6c0a"])
