"""`ask`: an answer with its citations, or an abstention with its reason."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

from mcp.server import MCPServer
from mcp.server.mcpserver import Context
from mcp_types import CallToolResult
from pydantic import Field

from thresher import recipes
from thresher.answer import Answer
from thresher.collection import Collection
from thresher.pipeline import SLOTS
from thresher.types import AnswerSentence, ChunkTrace, Origin, Step
from thresher.types import Citation as Cited
from thresher_server.mcp import wording
from thresher_server.mcp.addresses import opened, resource
from thresher_server.mcp.desk import Desk, told
from thresher_server.mcp.fitting import Reply, beginning, fitted
from thresher_server.mcp.shapes import Alternative, AnswerResult, Citation, Dropped, Sentence
from thresher_server.mcp.tools.arguments import (
    MOST_TOKENS,
    READS,
    READS_THE_WEB,
    CollectionName,
    Question,
    Recipe,
    Where,
    described,
)
from thresher_server.mcp.tools.search import FEW
from thresher_server.security.keys import Scope

ANSWER_TOKENS = 6000.0
"""Longest answer; more would be a document."""

REASON_TOKENS = 2000.0
"""Longest reason of an abstention, which may quote the nearest passage."""

TEXT_TOKENS = 300.0
"""Longest note; there may be several."""

Budget = Annotated[
    int | None, Field(ge=1, le=MOST_TOKENS, description="tokens of evidence the answer is written from, at most")
]


def add(server: MCPServer, desk: Desk) -> None:
    """Register the tool; it is marked as open-world if the operator's settings allow web search."""
    configured = recipes.get(desk.service.front.recipe).configured({}, home=desk.service.home)
    annotations = READS_THE_WEB if configured.outside == "web" else READS
    tool = Asking(desk).ask
    server.add_tool(tool, title="Ask the documents", description=described(tool), annotations=annotations)
    desk.scopes[tool.__name__] = Scope.ASK


@dataclass(frozen=True, slots=True)
class Asking:
    """The tool `ask`."""

    desk: Desk

    @told
    async def ask(
        self,
        question: Question,
        context: Context,
        collection: CollectionName = None,
        max_tokens: Budget = None,
        where: Where = None,
        recipe: Recipe = None,
    ) -> Annotated[CallToolResult, AnswerResult]:
        """Answer a question from the person's documents, with checked citations, or say why they do not answer it.

        Call it for a short answer with its sources; call search_documents instead when you will write from the
        passages yourself. One facet per call: a comparison is two calls. Do not call it for general
        knowledge or for what this conversation already says.
        Hand on the markers [1], [2] with their sources. An abstention is a result: tell the person what is missing
        instead of filling it in. `sentences` says which sentences the documents do not support.
        """
        desk = self.desk
        there = desk.named(collection, Scope.ASK)
        options = {
            "recipe": desk.recipe(recipe),
            "where": where,
            "settings": desk.settings,
            "strict": desk.service.front.strict,
            "max_tokens": max_tokens,
        }
        answer: Answer | None = None
        ended = 0
        async for event in desk.events(there, question, options):
            match event:
                case Answer():
                    answer = event
                case Step():
                    ended += 1
                    message = f"{event.name}: {event.considered} in, {event.kept} out"
                    await context.report_progress(ended, len(SLOTS), message)
        assert answer is not None
        return answered(there, answer)


def answered(collection: Collection, answer: Answer) -> CallToolResult:
    """The result of the tool, with as many citations as fit."""

    def reply(number: int) -> Reply:
        result = _result(collection, answer, number)
        return Reply(wording.answer(result), result)

    return fitted(reply, _parts(answer))


def _parts(answer: Answer) -> int:
    return max(len(answer.citations), len(answer.alternatives), len(answer.sentences) + len(answer.removed))


def _result(collection: Collection, answer: Answer, number: int) -> AnswerResult:
    text = beginning(answer.text, ANSWER_TOKENS)
    sentences = [*_sentences(answer.sentences, removed=False), *_sentences(answer.removed, removed=True)]
    dropped = [fate for fate in answer.chunks if not fate.kept]
    is_whole = text == answer.text and number >= _parts(answer)
    return AnswerResult(
        collection=collection.name,
        recipe=answer.recipe,
        answer=text,
        abstained=answer.abstained,
        reason=beginning(answer.reason or "", REASON_TOKENS),
        verdict=None if answer.verdict is None else answer.verdict.value,
        confidence=answer.confidence,
        certainty=answer.certainty,
        citations=[citation(collection, cited) for cited in answer.citations[:number]],
        alternatives=[
            Alternative(text=one.text, citation=citation(collection, one.citation), probability=one.probability)
            for one in answer.alternatives[:number]
        ],
        sentences=sentences[:number],
        conflicts=list(answer.conflicts[:number]),
        dropped=_likeliest(dropped),
        dropped_in_all=len(dropped),
        degraded=[beginning(one, TEXT_TOKENS) for one in answer.degraded],
        trace=answer.trace,
        omitted="" if is_whole else "Part of the answer or its citations was left out: explain(trace) shows more.",
    )


def citation(collection: Collection, cited: Cited) -> Citation:
    """A citation with the address where people open it."""
    on_web = cited.origin is Origin.OUTSIDE and cited.source.startswith(("http://", "https://"))
    return Citation(
        marker=cited.marker,
        quote=cited.quote,
        source=cited.source,
        title=cited.title,
        page=cited.page,
        locator=cited.locator,
        start=cited.start,
        end=cited.end,
        origin=cited.origin.value,
        url=opened(cited.url, collection.name, cited.document_id, cited.source, cited.page),
        document="" if on_web else resource(collection.name, cited.document_id),
    )


def _sentences(sentences: Sequence[AnswerSentence], *, removed: bool) -> list[Sentence]:
    return [
        Sentence(
            text=one.text,
            state=one.state.value,
            support=one.support,
            citations=list(one.citations),
            reason=one.reason,
            removed=removed,
        )
        for one in sentences
    ]


def _likeliest(fates: Sequence[ChunkTrace]) -> list[Dropped]:
    def judged(fate: ChunkTrace) -> float | None:
        score = fate.hit.scores.get("judge")
        return None if score is None else score.value

    best = sorted(fates, key=lambda fate: judged(fate) or 0.0, reverse=True)[:FEW]
    return [
        Dropped(
            source=fate.hit.chunk.source,
            page=fate.hit.chunk.page,
            score=judged(fate),
            why=f"{fate.dropped_by}: {fate.reason}",
        )
        for fate in best
    ]
