"""What the tools return, as the `outputSchema` of each says; numbers of certainty are probabilities from 0 to 1."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, Field

Verdict = Annotated[
    Literal["correct", "ambiguous", "incorrect", "unsure"] | None,
    Field(description="whether the evidence suffices: correct yes, incorrect no; null where the recipe does not say"),
]
Confidence = Annotated[float | None, Field(description="probability that the evidence suffices")]
Omitted = Annotated[str, Field(description="what was left out to keep this result short; empty for nothing")]


class Place(BaseModel):
    """A stretch of a document; offsets in code points of its text, end exclusive."""

    source: str
    title: str
    page: int | None
    start: int
    end: int
    url: Annotated[str, Field(description="where a person opens it; never empty")]
    document: Annotated[str, Field(description="the document's address as a resource; empty for a page of the web")]


class Passage(Place):
    """Text found, word for word."""

    marker: int
    text: str
    heading: Annotated[str, Field(description="what stands above it in the document")]
    score: float


class Dropped(BaseModel):
    """A passage that was read and not used."""

    source: str
    page: int | None
    score: float | None
    why: str


class SearchResult(BaseModel):
    """Passages for a question, and what they are worth."""

    collection: str
    recipe: str
    verdict: Verdict
    confidence: Confidence
    reason: Annotated[str, Field(description="of the verdict")]
    passages: list[Passage]
    tokens: Annotated[int, Field(description="of all passages")]
    dropped: Annotated[list[Dropped], Field(description="the likeliest of what was dropped")]
    dropped_in_all: int
    degraded: Annotated[list[str], Field(description="what had to be done without")]
    omitted: Omitted = ""


class Citation(Place):
    """What a sentence of an answer stands on."""

    marker: int
    quote: str
    locator: Annotated[str, Field(description="where in the file, for people")]
    origin: Literal["inside", "outside"]


class Sentence(BaseModel):
    """A sentence of the answer, or one that was removed from it."""

    text: str
    state: Literal["supported", "unverified", "contradicted"]
    support: float
    citations: list[int]
    reason: str
    removed: bool


class Alternative(BaseModel):
    """A further passage that may answer."""

    text: str
    citation: Citation
    probability: Annotated[float, Field(description="that it answers")]


class AnswerResult(BaseModel):
    """An answer, or why there is none."""

    collection: str
    recipe: str
    answer: str
    abstained: bool
    reason: Annotated[str, Field(description="why there is no answer; empty where there is one")]
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
    """A claim of the text and what the documents say to it; offsets in the text."""

    text: str
    start: int
    end: int
    state: Literal["supported", "unverified", "contradicted"]
    support: float
    reason: str
    citations: list[Citation]


class CheckResult(BaseModel):
    """A text held against the documents."""

    collection: str
    support: Annotated[float | None, Field(description="share of the claims that are supported; null without claims")]
    claims: Annotated[list[Claim], Field(description="those that are not supported first")]
    claims_in_all: int
    omitted: Omitted = ""


class StepTold(BaseModel):
    """One step of an answer."""

    name: str
    seconds: float
    considered: int
    kept: int
    told: Annotated[str, Field(description="what the step says of itself")]


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
    abstained: bool
    reason: str
    verdict: Verdict
    confidence: Confidence
    steps: list[StepTold]
    chunks: Annotated[list[ChunkTold], Field(description="kept ones first")]
    chunks_in_all: int
    omitted: Omitted = ""


class CollectionTold(BaseModel):
    """A collection that may be asked."""

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
    total: Annotated[int, Field(description="of all that fit")]
    next_offset: Annotated[int | None, Field(description="where the next ones begin; null at the end")]
    collections: Annotated[list[CollectionTold], Field(description="all that may be asked")]


class AddedDocument(BaseModel):
    """What became of a document that was added."""

    collection: str
    name: str
    state: Literal["added", "updated", "unchanged", "duplicate"]
    documents: list[str]
    chunks: int
    seconds: float


class DeletedDocument(BaseModel):
    """What was forgotten."""

    collection: str
    deleted: list[str]


class FoundPage(BaseModel):
    """One result of `search`, as ChatGPT reads it."""

    id: str
    title: str
    url: str


class FoundPages(BaseModel):
    """What `search` found."""

    results: list[FoundPage]


class FetchedPage(BaseModel):
    """What `fetch` gives, as ChatGPT reads it."""

    id: str
    title: str
    text: str
    url: str
    metadata: dict[str, str]
