"""Results of the tools, as in their `outputSchema`; certainties are probabilities from 0 to 1."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, Field

from thresher.types import Stale, State

Verdict = Annotated[
    Literal["correct", "ambiguous", "incorrect", "unsure"] | None,
    Field(description="whether the evidence suffices: correct yes, incorrect no; null where the recipe does not say"),
]
Confidence = Annotated[float | None, Field(description="probability that the evidence suffices")]
Omitted = Annotated[str, Field(description="what was left out to keep this result short; empty for nothing")]


class Place(BaseModel):
    """A span of a document; offsets in code points of its text, end exclusive."""

    source: str
    title: str
    page: int | None
    start: int
    end: int
    url: Annotated[str, Field(description="where a person opens it; never empty")]
    document: Annotated[str, Field(description="the document's address as a resource; empty for a page of the web")]


class Passage(Place):
    """A verbatim passage."""

    marker: int
    text: str
    heading: Annotated[str, Field(description="headings above it in the document")]
    score: float


class Dropped(BaseModel):
    """A passage that was judged and not used."""

    source: str
    page: int | None
    score: float | None
    why: str


class SearchResult(BaseModel):
    """Passages for a question, with the verdict on them."""

    collection: str
    recipe: str
    verdict: Verdict
    confidence: Confidence
    reason: Annotated[str, Field(description="reason for the verdict")]
    passages: list[Passage]
    tokens: Annotated[int, Field(description="sum over all passages")]
    dropped: Annotated[list[Dropped], Field(description="dropped passages with the highest scores")]
    dropped_in_all: int
    degraded: Annotated[list[str], Field(description="what was unavailable")]
    omitted: Omitted = ""


class Citation(Place):
    """The source of a sentence of an answer."""

    marker: int
    quote: str
    locator: Annotated[str, Field(description="where in the file, for people")]
    origin: Literal["inside", "outside"]
    stale: Annotated[Stale, Field(description="whether its file was changed or is gone since it was indexed")] = ""


class Sentence(BaseModel):
    """A sentence of the answer, or one that was removed from it."""

    text: str
    state: Literal["quoted", "supported", "unverified", "contradicted"]
    support: float
    citations: list[int]
    reason: str = ""
    removed: bool


class Alternative(BaseModel):
    """A further passage that may answer."""

    text: str
    citation: Citation
    probability: Annotated[float, Field(description="probability that it answers")]


class AnswerResult(BaseModel):
    """An answer, or the reason for an abstention."""

    collection: str
    recipe: str
    answer: str
    state: Annotated[State, Field(description="doubtful: what is shown is the nearest and asserts nothing")]
    abstained: bool
    reason: Annotated[str, Field(description="why there is no answer, or why it is in doubt; else empty")]
    verdict: Verdict
    confidence: Confidence
    certainty: Annotated[float | None, Field(description="probability that the answer is right")]
    citations: list[Citation]
    alternatives: Annotated[list[Alternative], Field(description="further passages that may answer")]
    sentences: list[Sentence]
    conflicts: Annotated[list[tuple[int, int]], Field(description="markers of citations that contradict each other")]
    dropped: list[Dropped]
    dropped_in_all: int
    degraded: list[str]
    trace: Annotated[str, Field(description="give it to `explain`")]
    omitted: Omitted = ""


class Claim(BaseModel):
    """A claim of a text and whether the documents support it; offsets in the text."""

    text: str
    start: int
    end: int
    state: Literal["quoted", "supported", "unverified", "contradicted"]
    support: float
    reason: str = ""
    citations: list[Citation]


class CheckResult(BaseModel):
    """A text held against the documents."""

    collection: str
    support: Annotated[float | None, Field(description="share of the claims that are supported; null without claims")]
    claims: Annotated[list[Claim], Field(description="unsupported claims first")]
    claims_in_all: int
    contradicted: Annotated[int, Field(description="how many of all claims the documents contradict")]
    omitted: Omitted = ""


class StepTold(BaseModel):
    """One step of an answer."""

    name: str
    seconds: float
    considered: int
    kept: int
    told: Annotated[str, Field(description="details of the step")]


class ChunkTold(BaseModel):
    """A chunk that the question touched."""

    source: str
    page: int | None
    start: int
    end: int
    kept: bool
    why: str


class Explanation(BaseModel):
    """How an answer came about."""

    trace: str
    question: str
    recipe: str
    answer: str
    state: State
    abstained: bool
    reason: str
    verdict: Verdict
    confidence: Confidence
    steps: list[StepTold]
    chunks: Annotated[list[ChunkTold], Field(description="kept ones first")]
    chunks_in_all: int
    omitted: Omitted = ""


class CollectionTold(BaseModel):
    """A collection that the caller may use."""

    name: str
    documents: int


class DocumentTold(BaseModel):
    """A document, without its text."""

    document: Annotated[str, Field(description="its address as a resource; `delete_document` takes it")]
    source: str
    title: str
    kind: str
    pages: int
    characters: int
    date: str | None
    url: str


class DocumentList(BaseModel):
    """Documents of a collection, in the order they were added."""

    collection: str
    documents: list[DocumentTold]
    total: Annotated[int, Field(description="documents that match")]
    next_offset: Annotated[int | None, Field(description="where the next ones begin; null at the end")]
    collections: Annotated[list[CollectionTold], Field(description="all that the caller may use")]


class AddedDocument(BaseModel):
    """The result of adding a document."""

    collection: str
    name: str
    state: Literal["added", "updated", "unchanged", "duplicate"]
    documents: list[str]
    chunks: int
    seconds: float


class DeletedDocument(BaseModel):
    """The deleted sources."""

    collection: str
    deleted: list[str]


class FoundPage(BaseModel):
    """One result of `search`, in ChatGPT's format."""

    id: str
    title: str
    url: str


class FoundPages(BaseModel):
    """The results of `search`."""

    results: list[FoundPage]


class FetchedPage(BaseModel):
    """The result of `fetch`, in ChatGPT's format."""

    id: str
    title: str
    text: str
    url: str
    metadata: dict[str, str]
