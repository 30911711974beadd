"""Formats of the API's own replies, for its OpenAPI description; the engine's `to_dict` makes the replies.

The engine may add keys; the changelog lists those it removes.
"""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

from thresher.types import Stale, State


class Reply(BaseModel):
    """A reply; keys may be added."""

    model_config = ConfigDict(extra="allow")


class Body(BaseModel):
    """A request; unknown keys are refused."""

    model_config = ConfigDict(extra="forbid")


class Foreign(BaseModel):
    """A request in the format of another API; null fields count as omitted."""

    @model_validator(mode="before")
    @classmethod
    def without_nulls(cls, given: Any) -> Any:
        """The fields that are not null."""
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
"""Format of each event of a streaming route."""


class PlaceReply(Reply):
    """A span of a document and its score."""

    score: float
    scale: str = Field(examples=["relevance [0, 1]"])
    source: str
    title: str
    page: int | None
    start: int
    end: int
    url: str = ""


class HitReply(PlaceReply):
    """A passage that was found."""

    rank: int
    text: str


class SpanReply(HitReply):
    """A span of a document within the budget of tokens."""

    heading: str
    tokens: int


class SearchReply(Reply):
    """Passages, best first; with `max_tokens` spans instead of them, and a verdict."""

    question: str
    recipe: str
    hits: list[HitReply]
    degraded: list[str]
    spans: list[SpanReply] = Field(default_factory=list)
    verdict: str | None = None
    confidence: float | None = None
    tokens: int = 0


class CitationReply(PlaceReply):
    """A span of a document that supports an answer; `quote` is its text."""

    marker: int
    locator: str = ""
    quote: str
    origin: Literal["inside", "outside"]
    fetched: str | None
    mark: list[int] | None = Field(None, description="of a passage, the sentence in which the answer stands")
    stale: Stale = Field("", description="whether its file was changed or is gone since it was indexed; else empty")


class AlternativeReply(Reply):
    """A further passage that may answer, with the marker of its citation."""

    text: str
    citation: CitationReply
    probability: float


class SentenceReply(Reply):
    """A sentence of an answer or a claim of a text, with its support in the documents."""

    start: int
    end: int
    text: str
    state: Literal["quoted", "supported", "unverified", "contradicted"]
    support: float
    reason: str = ""


class AnswerSentenceReply(SentenceReply):
    """A sentence of an answer with the markers of its citations."""

    citations: list[int]


class ClaimReply(SentenceReply):
    """A claim of a text with the spans that show its state."""

    citations: list[CitationReply]


class StepReply(Reply):
    """A step of a question."""

    name: str = Field(examples=["judge"])
    seconds: float
    considered: int
    kept: int
    detail: dict[str, Any]


class UsageReply(Reply):
    """The cost of a question."""

    llm_calls: int
    prompt_tokens: int
    completion_tokens: int
    web_requests: int
    hosts: list[str]


class CertifiedReply(Reply):
    """What the certificate of the recipe says of an answer."""

    state: Literal["holds", "doubtful", "void"]
    covers: bool = Field(description="whether the statement is about this answer")
    statement: str
    threshold: float = Field(description="certainty from which an answer is covered")
    evidence: str
    why: str = Field("", description="why it is doubtful or void")


class AnswerReply(Reply):
    """An answer, or an abstention with its reason."""

    question: str
    recipe: str
    text: str
    state: State = Field(description="doubtful: what is shown is the nearest and asserts nothing")
    abstained: bool = Field(description="whether the state is refused")
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
    certificate: CertifiedReply | None = Field(None, description="absent where the recipe has none")


class CheckReply(Reply):
    """A text checked against the documents, claim by claim."""

    text: str
    support: float | None
    claims: list[ClaimReply]


class DocumentReply(Reply):
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
    file: bool = Field(description="whether `/file` has its original")


class ChunkReply(Reply):
    """The state of a chunk that a question touched."""

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


class FeedbackReply(Reply):
    """Feedback on an answer."""

    right: bool
    answer: str | None


class ExplainReply(AnswerReply):
    """A stored answer with the state of every chunk, the chunks' labels for people, and feedback."""

    chunks: list[ChunkReply]
    labels: dict[str, str]
    asked: str
    feedback: FeedbackReply | None


class ReplayReply(Reply):
    """A repeated answer, and the names of what differs."""

    answer: AnswerReply
    differences: list[str]


class TraceLine(Reply):
    """Summary of a past question."""

    trace: str
    question: str
    text: str
    state: State
    abstained: bool
    verdict: str | None
    confidence: float | None
    certainty: float | None
    recipe: str
    asked: str
    feedback: FeedbackReply | None


class JobStarted(Reply):
    """A started job; see `/api/jobs/{job}`."""

    job: str = Field(examples=["20260105T101500-1f6c0a"])
