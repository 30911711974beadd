"""Checks a text against given facts or a collection, in the format of Google's check-grounding API.

Names and meanings are those of `CheckGrounding` (Discovery Engine v1): positions are bytes of UTF-8, end exclusive, and
`citationIndices` point into `citedChunks`. `thresher` adds our own claims: code points, states, and citations also for
contradicted claims.
"""

from __future__ import annotations

from fastapi import APIRouter, Request
from pydantic import BaseModel, ConfigDict, Field
from pydantic.alias_generators import to_camel

from thresher.types import Check, CheckedClaim, Citation, ClaimState
from thresher_server.asking import check_number, while_connected, worked
from thresher_server.naming import Served, collection_and_recipe
from thresher_server.openai.conversation import Text
from thresher_server.problems import Problem, replies
from thresher_server.searching import Visit
from thresher_server.security.access import Asker
from thresher_server.security.keys import Scope
from thresher_server.service import Service
from thresher_server.shapes import CheckReply, Foreign

router = APIRouter(tags=["check"])

LONGEST_TEXT = 100_000
"""Characters of a text to check: some thousand claims, which take minutes."""


class Google(BaseModel):
    """Keys in camel case or snake case, as in Google's JSON."""

    model_config = ConfigDict(alias_generator=to_camel, populate_by_name=True, serialize_by_alias=True)


class Fact(Google, Foreign):
    """A text that may support a claim."""

    fact_text: Text = Field(examples=["The ferry to Gull Island leaves at 06:40."])
    attributes: dict[Text, Text] = Field({}, description="`title`, `source` or `uri` are read; others are handed back")


class GroundingSpec(Google, Foreign):
    """The support that a citation needs."""

    citation_threshold: float | None = Field(
        None, ge=0, le=1, description="least support of a claim that is cited; where none is given, its state decides"
    )


class CheckRequest(Google, Foreign):
    """A text, and the facts or the collection to check it against."""

    answer_candidate: Text = Field(examples=["The ferry leaves at 07:40."], max_length=LONGEST_TEXT)
    facts: list[Fact] | None = None
    grounding_spec: GroundingSpec = GroundingSpec()
    collection: Text | None = Field(
        None, description="ours: COLLECTION or COLLECTION/RECIPE to check against; the default one without facts"
    )
    where: Text | None = Field(None, description="ours: a filter on the collection's documents")


class CitedChunk(Google):
    """A fact, or a span of a document, that supports a claim."""

    chunk_text: str
    source: str = Field(description="the position of a fact in the request; of a document its source")
    source_metadata: dict[str, str] = {}
    title: str = ""
    uri: str = ""


class GroundedClaim(Google):
    """A claim of the text and the chunks that support it."""

    start_pos: int = Field(description="bytes of UTF-8")
    end_pos: int
    claim_text: str
    citation_indices: list[int]
    grounding_check_required: bool = True
    score: float = Field(ge=0, le=1, description="probability that the evidence supports it")


class GroundingReply(Google):
    """The claims and their support, with our own claims in `thresher`."""

    support_score: float | None = Field(description="share of the claims that are supported; null without claims")
    cited_chunks: list[CitedChunk]
    claims: list[GroundedClaim]
    contradicted: int = Field(description="how many claims the evidence contradicts")
    thresher: CheckReply


@router.post("/v1/check", summary="Check a text against facts or documents", responses=replies(400, 404, 409, 500, 504))
async def check_text(asked: CheckRequest, request: Request, caller: Asker, service: Served) -> GroundingReply:
    """Every claim of the text with its state. No chat model is called, and nothing leaves the machine."""
    if asked.facts is not None:
        return _reply(asked, await _by_facts(asked, asked.facts, service, request))
    name, recipe = collection_and_recipe(service, caller, Scope.ASK, asked.collection)
    visit, collection = Visit.of(service, request, caller), service.seen_by(caller, name)
    return _reply(asked, await visit.check(collection, asked.answer_candidate, recipe=recipe, where=asked.where))


async def _by_facts(asked: CheckRequest, facts: list[Fact], service: Service, request: Request) -> Check:
    """Check against given texts. Raises Problem 422 for too many, and if a collection is given too."""
    if asked.collection is not None:
        raise Problem(422, "are both given", subject="facts and collection", next_step="leave one of them out")
    check_number(service, facts, "facts")
    given = [
        {"text": fact.fact_text, "title": fact.attributes.get("title", ""), "source": str(at)}
        for at, fact in enumerate(facts)
    ]
    work = worked(service, lambda: service.collection().check(asked.answer_candidate, evidence=given))
    return await while_connected(request, work)


def _reply(asked: CheckRequest, found: Check) -> GroundingReply:
    chunks: dict[tuple[str, str, int, int], CitedChunk] = {}
    grounded, claims = 0, []
    for claim in found.claims:
        cited = claim.citations if _is_grounded(claim, asked.grounding_spec) else ()
        for citation in cited:
            chunks.setdefault(_place(citation), _cited(citation, asked))
        grounded += bool(cited)
        claims.append(_claim(claim, found.text, [list(chunks).index(_place(one)) for one in cited]))
    return GroundingReply(
        support_score=grounded / len(claims) if claims else None,
        contradicted=found.contradicted,
        cited_chunks=list(chunks.values()),
        claims=claims,
        thresher=CheckReply.model_validate(found.to_dict()),
    )


def _is_grounded(claim: CheckedClaim, spec: GroundingSpec) -> bool:
    """Whether a claim is supported: from the threshold that is given, else by its state."""
    if spec.citation_threshold is None:
        return claim.state.holds
    return claim.support >= spec.citation_threshold and claim.state is not ClaimState.CONTRADICTED


def _place(citation: Citation) -> tuple[str, str, int, int]:
    return citation.source, citation.document_id, citation.start, citation.end


def _cited(citation: Citation, asked: CheckRequest) -> CitedChunk:
    facts = asked.facts
    attributes = {} if facts is None else facts[int(citation.source)].attributes
    return CitedChunk(
        chunk_text=citation.quote,
        source=citation.source,
        source_metadata=attributes,
        title=citation.title,
        uri=attributes.get("uri", citation.url),
    )


def _claim(claim: CheckedClaim, text: str, cited: list[int]) -> GroundedClaim:
    start = len(text[: claim.start].encode())
    return GroundedClaim(
        start_pos=start,
        end_pos=start + len(claim.text.encode()),
        claim_text=claim.text,
        citation_indices=cited,
        score=claim.support,
    )
