"""`check`: every claim of a text checked against the documents."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Annotated

from mcp.server import MCPServer
from mcp_types import CallToolResult
from pydantic import Field

from thresher.collection import Collection
from thresher.types import Check, CheckedClaim, ClaimState
from thresher_server.mcp import wording
from thresher_server.mcp.desk import Desk, told
from thresher_server.mcp.fitting import Reply, fitted
from thresher_server.mcp.shapes import CheckResult, Claim
from thresher_server.mcp.tools.arguments import READS, CollectionName, Recipe, Where, described
from thresher_server.mcp.tools.ask import citation
from thresher_server.security.keys import Scope

LONGEST_TEXT = 40_000
"""Characters: some four hundred claims, which take a minute."""

Text = Annotated[
    str, Field(min_length=1, max_length=LONGEST_TEXT, description="an answer, a draft or a report, in plain sentences")
]

WORST_FIRST = (ClaimState.CONTRADICTED, ClaimState.UNVERIFIED, ClaimState.SUPPORTED)


def add(server: MCPServer, desk: Desk) -> None:
    """Register the tool."""
    tool = Checking(desk).check
    server.add_tool(tool, title="Check a text", description=described(tool), annotations=READS)
    desk.scopes[tool.__name__] = Scope.ASK


@dataclass(frozen=True, slots=True)
class Checking:
    """The tool `check`."""

    desk: Desk

    @told
    async def check(
        self,
        text: Text,
        collection: CollectionName = None,
        where: Where = None,
        recipe: Recipe = None,
    ) -> Annotated[CallToolResult, CheckResult]:
        """Hold every claim of a text against the person's documents: supported, unverified or contradicted.

        Call it on what you wrote from these documents before you hand it over, and on a text that the person wants
        checked. Do not call it for texts that the documents have nothing to do with: all of their claims are
        unverified. Mend or mark what is contradicted; unverified means that the documents neither show nor deny it.
        """
        desk = self.desk
        there = desk.named(collection, Scope.ASK)
        checking = partial(there.check, text, recipe=desk.recipe(recipe), where=where, settings=desk.settings)
        checked = await desk.worked(checking)
        desk.did("check", there)

        def reply(number: int) -> Reply:
            result = _result(there, checked, number)
            return Reply(wording.check(result), result)

        return fitted(reply, len(checked.claims))


def _result(collection: Collection, checked: Check, number: int) -> CheckResult:
    claims = sorted(checked.claims, key=lambda claim: WORST_FIRST.index(claim.state))
    left_out = len(claims) - number
    return CheckResult(
        collection=collection.name,
        support=checked.support,
        claims=[_claim(collection, claim) for claim in claims[:number]],
        claims_in_all=len(claims),
        omitted=f"{left_out} claims were left out: check the text in parts." if left_out > 0 else "",
    )


def _claim(collection: Collection, claim: CheckedClaim) -> Claim:
    return Claim(
        text=claim.text,
        start=claim.start,
        end=claim.end,
        state=claim.state.value,
        support=claim.support,
        reason=claim.reason,
        citations=[citation(collection, cited) for cited in claim.citations],
    )
