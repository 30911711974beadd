"""What is expected of answers: the file that confirmed ones are written to, and the last run of `thresher ci`.

The file is `server.knowledge`; thresher-ci, which knows its form, is needed for that alone.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fastapi import APIRouter, FastAPI
from filelock import FileLock
from pydantic import Field

from thresher.errors import MissingExtra, UsageError
from thresher.home.places import files_at, make_folder, working_folder
from thresher_server.naming import READING, Served
from thresher_server.problems import Problem, replies
from thresher_server.security.access import Reader, check
from thresher_server.security.keys import Caller, Scope
from thresher_server.service import Service
from thresher_server.shapes import Reply

if TYPE_CHECKING:
    from thresher_ci.knowledge import Question

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
    """What the last run found, for who may read the whole collection that was asked."""
    content = None if caller.where is not None else files_at(service.home).below(FOLDER).read(REPORT)
    if content is None:
        raise Problem(
            404, "was not run in this home", subject="thresher ci", next_step="run `thresher ci`, see docs/ci.md"
        )
    told: dict[str, Any] = json.loads(content)
    check(caller, Scope.READ, told["collection"])
    return RunReply(**told)


class ExpectationReply(Reply):
    """A question and what is expected of its answer."""

    question: str
    text: str = Field(description="words of the source, or a value; empty for a refusal")
    source: str = Field(description="empty for a refusal and for a value of any document")
    asked_by: str


class ExpectationList(Reply):
    """The file of expectations, in its order."""

    expectations: list[ExpectationReply]


@router.get("", summary="What is expected of answers", responses=replies(404), dependencies=[READING])
def listed(caller: Reader, service: Served) -> ExpectationList:
    """The questions of the file `server.knowledge`, for who may read every collection: the file names none."""
    if (caller.collections is not None or caller.where is not None) and not caller.may(Scope.ADMIN):
        what, step = "is for a few collections or documents only", "use one for all of them"
        raise Problem(403, what, subject="the key", next_step=step)
    expected = expectations(knowledge_of(service))
    return ExpectationList(
        expectations=[
            ExpectationReply(
                question=one.question,
                text=one.expected.quote or one.expected.value,
                source=one.expected.source,
                asked_by=one.asked_by,
            )
            for one in expected
        ]
    )


class ExpectedReply(Reply):
    """What is expected from now on of the answer to a question."""

    question: str
    written: bool = Field(description="false where the file has the question already")
    source: str = Field(description="empty for a refusal")
    quote: str = Field(description="empty for a refusal")


def check_knowledge(service: Service) -> None:
    """Raise MissingExtra without thresher-ci where a file of expectations is set, UsageError for one it cannot use.

    One that is not there yet has nothing in it, and is made by the first answer that is confirmed.
    """
    if not service.settings.knowledge:
        return
    file = Path(service.settings.knowledge)
    expectations(file)
    if not file.absolute().parent.is_dir():
        raise UsageError(
            "is not there", subject=f"folder {file.parent}", next_step="make it, or change server.knowledge"
        )


def mount(app: FastAPI, service: Service) -> None:
    """Refuse to start with a file of expectations that cannot be used."""
    check_knowledge(service)


def expectations(file: Path) -> list[Question]:
    """What a file expects, in its order; nothing where it is not there. Raises MissingExtra and UsageError."""
    try:
        from thresher_ci import knowledge
    except ModuleNotFoundError as error:
        raise MissingExtra("thresher-ci", distribution="thresher-ci") from error
    return knowledge.read(file) if file.exists() else []


def knowledge_of(service: Service) -> Path:
    """The file of expectations. Raises Problem 404 where the server has none."""
    if not service.settings.knowledge:
        what, advice = "was not given to this server", "start it with --set server.knowledge=knowledge.yaml"
        raise Problem(404, what, subject="a file of expectations", next_step=advice)
    return Path(service.settings.knowledge)


def expect(service: Service, caller: Caller, stored: Mapping[str, Any]) -> ExpectedReply:
    """Write what is expected of a stored answer from now on. Raises Problem 404 without a file, and UsageError."""
    file = knowledge_of(service)
    from thresher_ci.recording import expected_of, record

    folder = working_folder(service.home) / "server"
    make_folder(folder)
    asked_by = caller.name if caller.id else ""  # a key has a name; whoever comes without one has none
    with FileLock(folder / "knowledge.lock"):
        written = record(file, [stored], asked_by=asked_by)
    expected = expected_of(stored)
    return ExpectedReply(
        question=stored.get("standalone") or stored["question"],
        written=bool(written),
        source=expected.source,
        quote=expected.quote,
    )
