"""`explain`: how an answer came about."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any

from mcp.server import MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp_types import CallToolResult
from pydantic import Field

from thresher.collection import Collection
from thresher.tracing.explain import facts, picture
from thresher_server.askers import Askers
from thresher_server.mcp.desk import Desk, told
from thresher_server.mcp.fitting import MOST_TOKENS, Reply, beginning, fitted
from thresher_server.mcp.shapes import ChunkTold, Explanation, StepTold
from thresher_server.mcp.tools.arguments import READS, CollectionName, described
from thresher_server.mcp.tools.ask import ANSWER_TOKENS, REASON_TOKENS, TEXT_TOKENS
from thresher_server.security.keys import Scope

PICTURE_TOKENS = MOST_TOKENS / 3
"""Longest text; the structure has the rest."""


def add(server: MCPServer, desk: Desk) -> None:
    """Register the tool."""
    tool = Explaining(desk).explain
    server.add_tool(tool, title="Explain an answer", description=described(tool), annotations=READS)
    desk.scopes[tool.__name__] = Scope.ASK


@dataclass(frozen=True, slots=True)
class Explaining:
    """The tool `explain`."""

    desk: Desk

    @told
    async def explain(
        self,
        trace: Annotated[str, Field(min_length=1, max_length=100, description="`trace` of an answer of `ask`")],
        collection: CollectionName = None,
    ) -> Annotated[CallToolResult, Explanation]:
        """Show how an answer of `ask` came about: its steps, and each chunk with why it was kept or dropped.

        Call it when the person asks why, or when an answer surprises and you want to see what was left out. Do not
        call it after every answer.
        """
        desk = self.desk
        there = desk.named(collection, Scope.ASK)
        if not (
            trace.isascii() and trace.isalnum() and Askers(desk.service.home).may_see(desk.caller, there.name, trace)
        ):
            raise ToolError(f"there is no trace {trace!r} of yours in collection {there.name}; `ask` returns one")
        stored = await desk.worked(lambda: there.stored(trace))
        labels = await desk.worked(lambda: there.traces.labels(trace))
        drawn = beginning(picture(stored, labels, dropped=True), PICTURE_TOKENS)

        def reply(number: int) -> Reply:
            return Reply(drawn, _explanation(there, stored, number))

        return fitted(reply, len(stored["chunks"]))


def _explanation(collection: Collection, stored: Mapping[str, Any], number: int) -> Explanation:
    chunks = sorted(stored["chunks"], key=lambda chunk: not chunk["kept"])
    left_out = len(chunks) - number
    return Explanation(
        trace=stored["trace"],
        question=beginning(stored["question"], TEXT_TOKENS * 10),
        recipe=stored["recipe"],
        answer=beginning(stored["text"], ANSWER_TOKENS),
        abstained=stored["abstained"],
        reason=beginning(stored["reason"] or "", REASON_TOKENS),
        verdict=stored["verdict"],
        confidence=stored["confidence"],
        steps=[_step(step) for step in stored["steps"]],
        chunks=[_chunk(chunk) for chunk in chunks[:number]],
        chunks_in_all=len(chunks),
        omitted=f"{left_out} chunks were left out." if left_out > 0 else "",
    )


def _step(step: Mapping[str, Any]) -> StepTold:
    said = beginning(facts(step["detail"]), TEXT_TOKENS)
    return StepTold(
        name=step["name"], seconds=step["seconds"], considered=step["considered"], kept=step["kept"], told=said
    )


def _chunk(chunk: Mapping[str, Any]) -> ChunkTold:
    why = chunk["reason"] if chunk["kept"] else f"{chunk['dropped_by']}: {chunk['reason']}"
    return ChunkTold(
        source=chunk["source"],
        page=chunk["page"],
        start=chunk["start"],
        end=chunk["end"],
        kept=chunk["kept"],
        why=beginning(why, TEXT_TOKENS),
    )
