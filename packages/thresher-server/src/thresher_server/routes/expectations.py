"""The last run of `thresher ci`: which of the expected answers broke."""

from __future__ import annotations

import json
from typing import Any

from fastapi import APIRouter
from pydantic import Field

from thresher.home.places import files_at
from thresher_server.naming import READING, Served
from thresher_server.problems import Problem, replies
from thresher_server.security.access import Reader, check
from thresher_server.security.keys import Scope
from thresher_server.shapes import Reply

router = APIRouter(prefix="/api/expectations", tags=["traces"])

FOLDER, REPORT = "ci", "report.json"
"""Of a home: where `thresher ci` keeps what its last run found."""


class PlaceReply(Reply):
    """A sentence and where it stands."""

    sentence: str
    source: str
    where: str = Field(examples=["line 3"])


class DifferenceReply(Reply):
    """A question whose answer changed."""

    question: str
    why: str
    old: PlaceReply | None
    new: PlaceReply | None
    asked_by: str


class RunReply(Reply):
    """A run: four lists, and the rest as numbers."""

    collection: str = Field(description="that was asked")
    finished: str
    file: str = Field(description="of the expectations")
    against: str | None = Field(description="what was compared with; null for the expectations alone")
    passed: bool
    broken: list[DifferenceReply]
    contradicted: list[DifferenceReply]
    newly_answered: list[DifferenceReply]
    moved: list[DifferenceReply]
    unchanged: int
    answered_again: int
    seconds: float


@router.get("/last", summary="The last run of thresher ci", responses=replies(404), dependencies=[READING])
def last(caller: Reader, service: Served) -> RunReply:
    """What the last run found, for who may read the collection that was asked."""
    content = files_at(service.home).below(FOLDER).read(REPORT)
    if content is None:
        raise Problem(
            404, "was not run in this home", subject="thresher ci", next_step="run `thresher ci`, see docs/ci.md"
        )
    told: dict[str, Any] = json.loads(content)
    check(caller, Scope.READ, told["collection"])
    return RunReply(**told)
