"""What a run keeps of one question: its labels, what was found, what was answered, what it cost.

A row holds its labels, so that scoring needs neither the dataset's files nor a model.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from thresher.errors import UsageError
from thresher.evals.labels import Gold, Question
from thresher.types import Origin


@dataclass(frozen=True, slots=True)
class Place:
    """One entry of a ranking, or one citation: a span of a document and every source the document has."""

    source: str
    also: tuple[str, ...] = ()
    page: int | None = None
    start: int | None = None
    end: int | None = None
    score: float | None = None
    scale: str | None = None


@dataclass(frozen=True, slots=True)
class Context:
    """One piece of text that the generator was given: a span of a document, inside or outside."""

    source: str
    start: int
    end: int
    text: str
    page: int | None = None
    origin: Origin = Origin.INSIDE

    def to_dict(self) -> dict[str, Any]:
        """JSON form."""
        return {
            "source": self.source,
            "start": self.start,
            "end": self.end,
            "text": self.text,
            "page": self.page,
            "origin": str(self.origin),
        }


@dataclass(frozen=True, slots=True)
class Reply:
    """What is kept of an answer; `answer` is the JSON form without question, recipe and step details."""

    text: str
    abstained: bool
    citations: tuple[Place, ...] = ()
    markers: tuple[int, ...] = ()
    llm_calls: int = 0
    answer: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Row:
    """One question put to one recipe. What failed is None and `error` says why; nothing else is missing."""

    question: Question
    recipe: str
    config: str
    """Hash of the recipe's settings."""
    seconds: float
    """Of the answer, or of the search where no answer was asked for."""
    ranking: tuple[Place, ...] | None = None
    """Hits of a search, best first; None where none was made or it failed."""
    search_seconds: float | None = None
    reply: Reply | None = None
    """None where no answer was asked for or asking failed."""
    error: str | None = None
    degraded: tuple[str, ...] = ()
    unreadable: int = 0
    """Replies of models that could not be parsed."""
    timed_out: bool = False
    context: tuple[Context, ...] | None = None
    """What the generator was given, in its order; None where no answer was asked for or it is not known."""
    cpu_seconds: float | None = None
    """Processor time of the process while the question was answered or searched for; None with several at a time."""
    memory_mib: float | None = None
    """The most memory that the process had held when the question was done."""
    generator: str = ""
    """The chat model that wrote the answer, or the reader; empty for a refusal, which nobody may have written.

    Rows of different generators are never compared.
    """
    judge: str = ""
    """What judged the chunks; empty where nothing did."""
    judged: Mapping[str, float] = field(default_factory=dict)
    """What `eval judge` or people said of the answer, by the name of the measure; kept beside the rows, not in them."""

    def to_dict(self) -> dict[str, Any]:
        """JSON form: one line of rows/RECIPE.jsonl."""
        asked = self.question
        return {
            "id": asked.id,
            "question": asked.question,
            "recipe": self.recipe,
            "config": self.config,
            "category": asked.category,
            "group": asked.group,
            "answers": list(asked.answers),
            "answerable": asked.answerable,
            "gold": [gold.to_dict() for gold in asked.gold],
            "grades": dict(asked.grades),
            "options": list(asked.options),
            "topic": asked.topic,
            "ranking": None if self.ranking is None else [describe_place(place) for place in self.ranking],
            "search_seconds": self.search_seconds,
            "answer": None if self.reply is None else dict(self.reply.answer),
            "seconds": self.seconds,
            "error": self.error,
            "degraded": list(self.degraded),
            "unreadable": self.unreadable,
            "timed_out": self.timed_out,
            "context": None if self.context is None else [piece.to_dict() for piece in self.context],
            "cpu_seconds": self.cpu_seconds,
            "memory_mib": self.memory_mib,
            "generator": self.generator,
            "judge": self.judge,
        }


def describe_place(place: Place) -> dict[str, Any]:
    """JSON form of one entry of a ranking."""
    return {
        "source": place.source,
        "also": list(place.also),
        "page": place.page,
        "start": place.start,
        "end": place.end,
        "score": place.score,
        "scale": place.scale,
    }


def read_row(line: Mapping[str, Any]) -> Row:
    """The row that `Row.to_dict` described."""
    question = Question(
        id=line["id"],
        question=line["question"],
        answers=tuple(line["answers"]),
        answerable=line["answerable"],
        gold=tuple(read_gold(gold) for gold in line["gold"]),
        grades=line["grades"],
        category=line["category"],
        options=tuple(line.get("options", ())),
        topic=line.get("topic", ""),
        group=line.get("group", ""),
    )
    return Row(
        question=question,
        recipe=line["recipe"],
        config=line["config"],
        seconds=line["seconds"],
        ranking=None if line["ranking"] is None else tuple(read_place(place) for place in line["ranking"]),
        search_seconds=line["search_seconds"],
        reply=None if line["answer"] is None else read_reply(line["answer"]),
        error=line["error"],
        degraded=tuple(line["degraded"]),
        unreadable=line["unreadable"],
        timed_out=line["timed_out"],
        context=None if line.get("context") is None else tuple(read_context(piece) for piece in line["context"]),
        cpu_seconds=line.get("cpu_seconds"),
        memory_mib=line.get("memory_mib"),
        generator=line.get("generator", ""),
        judge=line.get("judge", ""),
    )


def read_context(piece: Mapping[str, Any]) -> Context:
    """The piece that `Context.to_dict` described."""
    return Context(piece["source"], piece["start"], piece["end"], piece["text"], piece["page"], Origin(piece["origin"]))


def read_gold(gold: Mapping[str, Any]) -> Gold:
    """The gold place that `Gold.to_dict` described."""
    origin = Origin(gold.get("origin", Origin.INSIDE))
    return Gold(gold["source"], gold["page"], gold["start"], gold["end"], origin)


def read_place(place: Mapping[str, Any]) -> Place:
    """The place that `describe_place` described, or a citation of the public contract with `also`."""
    return Place(
        source=place["source"],
        also=tuple(place.get("also", ())),
        page=place["page"],
        start=place["start"],
        end=place["end"],
        score=place.get("score"),
        scale=place.get("scale"),
    )


def read_reply(answer: Mapping[str, Any]) -> Reply:
    """The reply whose JSON form this is."""
    return Reply(
        text=answer["text"],
        abstained=answer["abstained"],
        citations=tuple(read_place(citation) for citation in answer["citations"]),
        markers=tuple(citation["marker"] for citation in answer["citations"]),
        llm_calls=answer["usage"]["llm_calls"],
        answer=answer,
    )


# --- the file ---------------------------------------------------------------------------------------------------------


def written(value: Mapping[str, Any]) -> bytes:
    """One line of JSON; numbers that JSON does not have (NaN, infinity) become null."""
    return (json.dumps(finite(value), ensure_ascii=False, allow_nan=False) + "\n").encode("utf-8", "backslashreplace")


def finite(value: Any) -> Any:
    """The same JSON value with null for every number that is not finite."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {key: finite(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [finite(item) for item in value]
    return value


def read_rows(path: Path) -> list[Row]:
    """The whole rows of a file, the first of each id; a torn last line (a killed run) is not a row."""
    rows: dict[str, Row] = {}
    for number, line in enumerate(whole_lines(path), start=1):
        try:
            row = read_row(json.loads(line))
        except (ValueError, KeyError, TypeError) as error:
            raise UsageError(
                "not a row of a run",
                subject=f"{path}:{number}",
                next_step="delete the line and run again with --resume",
            ) from error
        rows.setdefault(row.question.id, row)
    return list(rows.values())


def whole_lines(path: Path) -> Iterable[bytes]:
    """Lines that end; what follows the last end of line was being written when the run was killed."""
    return path.read_bytes().split(b"\n")[:-1] if path.is_file() else []


def ids(rows: Sequence[Row]) -> set[str]:
    """The questions that have a row."""
    return {row.question.id for row in rows}
