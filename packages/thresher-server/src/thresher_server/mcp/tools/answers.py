"""`ask`: an answer with its citations, or an abstention; `check`: every claim of a text; `explain`: how an answer came
about.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Annotated, Any

from mcp.server import MCPServer
from mcp.server.mcpserver import Context
from mcp.server.mcpserver.exceptions import ToolError
from mcp_types import CallToolResult, ToolAnnotations
from pydantic import Field

from thresher import recipes
from thresher.answer import Answer
from thresher.collection import Collection
from thresher.pipeline import SLOTS
from thresher.tracing.explain import facts, picture
from thresher.types import Check, Chunk, ChunkTrace, ClaimState, Origin, Step
from thresher.types import Citation as Cited
from thresher_server import asking
from thresher_server.mcp import wording
from thresher_server.mcp.desk import READS, Desk
from thresher_server.mcp.resources import resource, url_for_people
from thresher_server.mcp.shapes import (
    Alternative,
    AnswerResult,
    CheckResult,
    ChunkTold,
    Citation,
    Claim,
    Explanation,
    Sentence,
    StepTold,
)
from thresher_server.mcp.tools import MOST_EVIDENCE, CollectionName, Question, Recipe, Where
from thresher_server.mcp.tools.search import likeliest
from thresher_server.mcp.wording import MOST_TOKENS, beginning, fitted
from thresher_server.security.access import Askers
from thresher_server.security.keys import Scope

ANSWER_TOKENS = 6000.0
"""Longest answer; more would be a document."""

REASON_TOKENS = 2000.0
"""Longest reason of an abstention, which may quote the nearest passage."""

TEXT_TOKENS = 300.0
"""Longest note; there may be several."""

PICTURE_TOKENS = MOST_TOKENS / 3
"""Longest text of an explanation; the structure has the rest."""

LONGEST_TEXT = 40_000
"""Characters of a text to check: some four hundred claims, which take a minute."""

WORST_FIRST = (ClaimState.CONTRADICTED, ClaimState.UNVERIFIED, ClaimState.SUPPORTED, ClaimState.QUOTED)

READS_THE_WEB = ToolAnnotations(read_only_hint=True, open_world_hint=True)

Budget = Annotated[
    int | None, Field(ge=1, le=MOST_EVIDENCE, description="tokens of evidence the answer is written from, at most")
]
Text = Annotated[
    str, Field(min_length=1, max_length=LONGEST_TEXT, description="an answer, a draft or a report, in plain sentences")
]
TraceId = Annotated[str, Field(min_length=1, max_length=100, description="`trace` of an answer of `ask`")]


def add(server: MCPServer, desk: Desk) -> None:
    """Register the tools; `ask` is marked as open-world if the operator's settings allow web search."""
    configured = recipes.get(desk.service.front.recipe).configured({}, home=desk.service.home)

    @desk.tool(server, Scope.ASK, "Ask the documents", READS_THE_WEB if configured.outside == "web" else READS)
    async def ask(
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
        there = desk.named(collection, Scope.ASK)
        options = {
            "recipe": desk.recipe(recipe),
            "where": where,
            "settings": desk.visit.settings,
            "strict": desk.service.front.strict,
            "max_tokens": max_tokens,
        }
        answer: Answer | None = None
        ended = 0
        async for event in asking.Question(desk.service, desk.caller, there, question, options):
            match event:
                case Answer():
                    answer = event
                case Step():
                    ended += 1
                    message = f"{event.name}: {event.considered} in, {event.kept} out"
                    await context.report_progress(ended, len(SLOTS), message)
        assert answer is not None
        return fitted(partial(_answered, there, answer), _parts(answer), wording.answer)

    @desk.tool(server, Scope.ASK, "Check a text")
    async def check(
        text: Text, collection: CollectionName = None, where: Where = None, recipe: Recipe = None
    ) -> Annotated[CallToolResult, CheckResult]:
        """Hold every claim of a text against the person's documents: quoted, supported, unverified or contradicted.

        Call it on what you wrote from these documents before you hand it over, and on a text that the person wants
        checked. Do not call it for texts that the documents have nothing to do with: all of their claims are
        unverified. Mend or mark what is contradicted; unverified means not confirmed: compare it with what it cites.
        """
        there = desk.named(collection, Scope.ASK)
        checked = await desk.visit.check(there, text, recipe=desk.recipe(recipe), where=where)
        return fitted(partial(_checked, there, checked), len(checked.claims), wording.check)

    @desk.tool(server, Scope.ASK, "Explain an answer")
    async def explain(trace: TraceId, collection: CollectionName = None) -> Annotated[CallToolResult, Explanation]:
        """Show how an answer of `ask` came about: its steps, and each chunk with why it was kept or dropped.

        Call it when the person asks why, or when an answer surprises and you want to see what was left out. Do not
        call it after every answer.
        """
        there = desk.named(collection, Scope.ASK)
        is_id = trace.isascii() and trace.isalnum()
        if not (is_id and Askers(desk.service.home).may_see(desk.caller, there.name, trace)):
            raise ToolError(f"there is no trace {trace!r} of yours in collection {there.name}; `ask` returns one")
        stored = await desk.worked(lambda: there.stored(trace))
        if not there.opened.showing()(there.traces.load(trace)):
            raise ToolError(f"there is no trace {trace!r} of yours in collection {there.name}; `ask` returns one")
        labels = await desk.worked(lambda: there.traces.labels(trace))
        drawn = beginning(picture(stored, labels, dropped=True), PICTURE_TOKENS)
        return fitted(partial(_explained, stored), len(stored["chunks"]), lambda _: drawn)


def _parts(answer: Answer) -> int:
    return max(len(answer.citations), len(answer.alternatives), len(answer.sentences) + len(answer.removed))


def _answered(collection: Collection, answer: Answer, number: int) -> AnswerResult:
    """The result of `ask` with at most so many citations, alternatives and sentences."""
    text = beginning(answer.text, ANSWER_TOKENS)
    sentences = [(one, False) for one in answer.sentences] + [(one, True) for one in answer.removed]
    dropped = [fate for fate in answer.chunks if not fate.kept]
    is_whole = text == answer.text and number >= _parts(answer)
    told: dict[str, Any] = {
        **answer.to_dict(),
        "collection": collection.name,
        "answer": text,
        "reason": beginning(answer.reason or "", REASON_TOKENS),
        "citations": [_citation(collection, cited) for cited in answer.citations[:number]],
        "alternatives": [
            Alternative(text=one.text, citation=_citation(collection, one.citation), probability=one.probability)
            for one in answer.alternatives[:number]
        ],
        "sentences": [Sentence(**one.to_dict(), removed=removed) for one, removed in sentences[:number]],
        "conflicts": list(answer.conflicts[:number]),
        "dropped": likeliest(map(_dropped, dropped)),
        "dropped_in_all": len(dropped),
        "degraded": [beginning(one, TEXT_TOKENS) for one in answer.degraded],
        "omitted": "" if is_whole else "Part of the answer or its citations was left out: explain(trace) shows more.",
    }
    return AnswerResult(**told)


def _citation(collection: Collection, cited: Cited) -> Citation:
    """A citation with the address where people open it."""
    on_web = cited.origin is Origin.OUTSIDE and cited.source.startswith(("http://", "https://"))
    url = url_for_people(cited.url, collection.name, cited.document_id, cited.source, cited.page)
    document = "" if on_web else resource(collection.name, cited.document_id)
    return Citation(**{**cited.to_dict(), "url": url, "document": document})


def _dropped(fate: ChunkTrace) -> tuple[Chunk, float | None, str]:
    score = fate.hit.scores.get("judge")
    return fate.hit.chunk, None if score is None else score.value, f"{fate.dropped_by}: {fate.reason}"


def _checked(collection: Collection, checked: Check, number: int) -> CheckResult:
    claims = sorted(checked.claims, key=lambda claim: WORST_FIRST.index(claim.state))
    left_out = len(claims) - number
    return CheckResult(
        collection=collection.name,
        support=checked.support,
        claims=[
            Claim(**{**claim.to_dict(), "citations": [_citation(collection, cited) for cited in claim.citations]})
            for claim in claims[:number]
        ],
        claims_in_all=len(claims),
        contradicted=checked.contradicted,
        omitted=f"{left_out} claims were left out: check the text in parts." if left_out > 0 else "",
    )


def _explained(stored: Mapping[str, Any], number: int) -> Explanation:
    chunks = sorted(stored["chunks"], key=lambda chunk: not chunk["kept"])
    left_out = len(chunks) - number
    told: dict[str, Any] = {
        **stored,
        "question": beginning(stored["question"], TEXT_TOKENS * 10),
        "answer": beginning(stored["text"], ANSWER_TOKENS),
        "reason": beginning(stored["reason"] or "", REASON_TOKENS),
        "steps": [StepTold(**step, told=beginning(facts(step["detail"]), TEXT_TOKENS)) for step in stored["steps"]],
        "chunks": [ChunkTold(**chunk, why=beginning(_why(chunk), TEXT_TOKENS)) for chunk in chunks[:number]],
        "chunks_in_all": len(chunks),
        "omitted": f"{left_out} chunks were left out." if left_out > 0 else "",
    }
    return Explanation(**told)


def _why(chunk: Mapping[str, Any]) -> str:
    return str(chunk["reason"] if chunk["kept"] else f"{chunk['dropped_by']}: {chunk['reason']}")
