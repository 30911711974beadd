"""Parses the server's JSON into the library's types, jobs and past questions; fields that the API omits stay empty."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from datetime import datetime
from typing import Any

from thresher.answer import Answer
from thresher.collection import Calibration, DocumentRecord, Remark, Report, Summary
from thresher.errors import DocumentError, ThresherError, UsageError
from thresher.links import place_of
from thresher.types import (
    Alternative,
    AnswerSentence,
    Certified,
    Check,
    CheckedClaim,
    Chunk,
    ChunkTrace,
    Citation,
    ClaimState,
    Excerpt,
    Hit,
    Origin,
    Scale,
    Score,
    SearchResult,
    State,
    Step,
    Usage,
    Verdict,
)
from thresher_server.client.transport import error_of

Json = Mapping[str, Any]

COUNTS = ("added", "updated", "unchanged", "duplicates", "removed", "renamed", "reread", "chunks", "seconds")
"""Numbers of a report, which add up."""

_SCALE = re.compile(r"(?P<name>.*) \[(?P<low>[^,]+), (?P<high>[^\])]+)[\])]")


def answer(told: Json, labels: Mapping[str, str] | None = None) -> Answer:
    """An answer, with its `chunks` if present; `labels` are the names that people know them by."""
    return Answer(
        **{name: told[name] for name in ("question", "recipe", "text", "abstained", "reason", "confidence", "trace")},
        verdict=_verdict(told["verdict"]),
        citations=tuple(map(citation, told["citations"])),
        alternatives=tuple(map(_alternative, told.get("alternatives", ()))),
        conflicts=tuple((one, other) for one, other in told["conflicts"]),
        steps=tuple(map(step, told["steps"])),
        usage=Usage.from_dict(told["usage"]),
        degraded=tuple(told["degraded"]),
        chunks=tuple(_chunk_trace(chunk, labels or {}) for chunk in told.get("chunks", ())),
        certainty=told["certainty"],
        standalone=told["standalone"],
        answered_by=told["answered_by"],
        sentences=tuple(map(_sentence, told["sentences"])),
        removed=tuple(map(_sentence, told.get("removed", ()))),
        state=told["state"],
        certificate=Certified(**{"why": "", **told["certificate"]}) if "certificate" in told else None,
    )


def step(told: Json) -> Step:
    """A step without the value of its slot; other fields from the server go to its `detail`."""
    own = {name: told[name] for name in ("name", "seconds", "considered", "kept")}
    besides = {name: told[name] for name in ("chunks", "thresholds") if name in told}
    return Step(**own, detail={**told["detail"], **besides})


def event_of_question(name: str, told: Any) -> Step | str | Answer:
    """An event of a streamed question."""
    match name:
        case "step":
            return step(told)
        case "sentence":
            return str(told["text"])
        case _:
            return answer(told)


def search_result(told: Json) -> SearchResult:
    """The result of a search."""
    spans = told.get("spans")
    return SearchResult(
        told["question"],
        told["recipe"],
        tuple(map(_hit, told["hits"])),
        tuple(told["degraded"]),
        None if spans is None else tuple(map(_excerpt, spans)),
        _verdict(told.get("verdict")),
        told.get("confidence"),
        told.get("tokens", 0),
    )


def check(told: Json) -> Check:
    """The result of a check."""
    return Check(told["text"], told["support"], tuple(map(_claim, told["claims"])))


def citation(told: Json) -> Citation:
    """A citation."""
    url = told.get("url", "")
    same = ("marker", "source", "title", "page", "start", "end", "quote", "fetched")
    return Citation(
        **{name: told[name] for name in same},
        document_id=_document_of(url),
        score=score(told["score"], told["scale"]),
        origin=Origin(told["origin"]),
        locator=told.get("locator", ""),
        stale=told.get("stale", ""),
        url=url,
        mark=(told["mark"][0], told["mark"][1]) if told.get("mark") else None,
    )


def _alternative(told: Json) -> Alternative:
    return Alternative(told["text"], citation(told["citation"]), told["probability"])


def document(told: Json) -> DocumentRecord:
    """A document without its text; the server omits its number."""
    own = {one.name: told[one.name] for one in fields(DocumentRecord) if one.name != "number"}
    return DocumentRecord(**{**own, "also": tuple(told["also"])}, number=0)


def summary(told: Json) -> Summary:
    """A collection and its size."""
    return Summary(told["name"], told["documents"], told["bytes"])


def score(value: float, scale: str) -> Score:
    """A score from a value and a scale in text. Raises UsageError if the scale cannot be parsed."""
    found = _SCALE.fullmatch(scale)
    if found is None:
        raise UsageError("is no scale", subject=scale, next_step="use a client of the server's version")
    return Score(value, Scale(found["name"], float(found["low"]), float(found["high"])))


def _hit(told: Json) -> Hit:
    return Hit(
        _chunk(told, told["text"], told["title"]),
        score(told["score"], told["scale"]),
        told["rank"],
        url=told.get("url", ""),
    )


def _excerpt(told: Json) -> Excerpt:
    same = ("rank", "source", "title", "page", "heading", "start", "end", "text", "tokens")
    return Excerpt(
        **{name: told[name] for name in same}, score=score(told["score"], told["scale"]), url=told.get("url", "")
    )


def _chunk(told: Json, text: str, title: str = "", label: str = "") -> Chunk:
    return Chunk(
        id=told.get("id", ""),
        document_id=_document_of(told.get("url", "")),
        source=told["source"],
        title=title,
        start=told["start"],
        end=told["end"],
        text=text,
        page=told["page"],
        label=label,
    )


def _chunk_trace(told: Json, labels: Mapping[str, str]) -> ChunkTrace:
    scores = {name: score(one["value"], one["scale"]) for name, one in told["scores"].items()}
    chunk = _chunk(told, told["text"], label=labels.get(told["id"], ""))
    best = next(iter(scores.values()), Score(0.0, Scale("none", 0.0, 1.0)))
    hit = Hit(chunk, best, 0, Origin(told["origin"]), scores)
    return ChunkTrace(hit, told["kept"], told["dropped_by"], told["reason"], tuple(told["stood_for"]))


def _sentence(told: Json) -> AnswerSentence:
    return AnswerSentence(**_place(told), citations=tuple(told["citations"]))


def _claim(told: Json) -> CheckedClaim:
    return CheckedClaim(**_place(told), citations=tuple(map(citation, told["citations"])))


def _place(told: Json) -> dict[str, Any]:
    same = {name: told[name] for name in ("start", "end", "text", "support")}
    return {**same, "state": ClaimState(told["state"]), "reason": told.get("reason", "")}


def _verdict(told: str | None) -> Verdict | None:
    return None if told is None else Verdict(told)


def _document_of(url: str) -> str:
    try:
        return place_of(url).document_id
    except UsageError:
        return ""


# --- jobs -------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Progress:
    """Progress of a job."""

    files: int = 0
    done: int = 0
    """Files; searches of a calibration."""
    bytes: int = 0
    of_bytes: int = 0
    chunks: int = 0
    file: str = ""
    """The file being read."""
    seconds_left: float | None = None


@dataclass(frozen=True, slots=True)
class Job:
    """Work on the server that outlasts a request."""

    id: str
    kind: str
    collection: str
    state: str
    """queued, running, done, partly, failed or cancelled."""
    progress: Progress
    log: tuple[str, ...]
    result: Mapping[str, Any] | None
    error: Mapping[str, Any] | None

    @classmethod
    def from_dict(cls, told: Json) -> Job:
        """From the server's JSON."""
        progress = Progress(**{name: told["progress"][name] for name in Progress.__slots__})
        same = {name: told[name] for name in ("id", "kind", "collection", "state", "result", "error")}
        return cls(**same, progress=progress, log=tuple(told["log"]))

    @property
    def is_open(self) -> bool:
        """Whether the job is queued or running."""
        return self.state in ("queued", "running")

    @property
    def report(self) -> Report:
        """The report of an indexing job. Raises the job's error if there is none."""
        if self.result is None:
            raise self._failure()
        return report(self.result)

    @property
    def calibration(self) -> Calibration:
        """The result of a calibration job. Raises the job's error unless it is done."""
        if self.state != "done" or self.result is None:
            raise self._failure()
        return Calibration.from_dict(self.result)

    def _failure(self) -> ThresherError:
        error = self.error or {"message": f"job {self.id} was {self.state}"}
        return error_of(int(error.get("status", 503)), error)


def report(told: Json) -> Report:
    """The report of an indexing job."""
    return Report(
        **{name: told.get(name, 0) for name in COUNTS},  # a job of before an upgrade has fewer
        failed=[DocumentError(one["error"], subject=one["source"], next_step=one["next"]) for one in told["failed"]],
        remarks=[Remark(**one) for one in told["remarks"]],
    )


def together(reports: Iterable[Report]) -> Report:
    """The sum of several reports."""
    whole = Report()
    for one in reports:
        for name in COUNTS:
            setattr(whole, name, getattr(whole, name) + getattr(one, name))
        whole.failed += one.failed
        whole.remarks += one.remarks
    return whole


# --- past questions ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Said:
    """Feedback on an answer, with the right answer if it was given."""

    right: bool
    answer: str | None


@dataclass(frozen=True, slots=True)
class PastQuestion:
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
    asked: datetime
    feedback: Said | None

    @classmethod
    def from_dict(cls, told: Json) -> PastQuestion:
        """From the server's JSON."""
        same = {name: told[name] for name in cls.__slots__ if name not in ("asked", "feedback")}
        return cls(**same, asked=datetime.fromisoformat(told["asked"]), feedback=_said(told["feedback"]))


@dataclass(frozen=True, slots=True)
class Explained:
    """A stored answer with its chunks; `answer.explain()` prints its trace."""

    answer: Answer
    asked: datetime
    feedback: Said | None

    @classmethod
    def from_dict(cls, told: Json) -> Explained:
        """From the server's JSON."""
        return cls(answer(told, told["labels"]), datetime.fromisoformat(told["asked"]), _said(told["feedback"]))


def _said(told: Json | None) -> Said | None:
    return None if told is None else Said(told["right"], told["answer"])
