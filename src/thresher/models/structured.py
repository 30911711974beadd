"""Replies of a chat model that must have a form: asked for as JSON, read strictly, asked for once more."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from thresher.protocols import LanguageModel

Value = TypeVar("Value")


class Unreadable(ValueError):
    """A reply that has not the form it was asked for; says why."""


@dataclass(frozen=True, slots=True)
class Asked(Generic[Value]):
    """What was read of a reply; None when neither the first nor the second reply could be read."""

    value: Value | None
    unreadable: int
    """Replies that could not be read, 0 to 2."""


def asked(
    model: LanguageModel, system: str, user: str, *, schema: Mapping[str, Any], read: Callable[[str], Value]
) -> Asked[Value]:
    """Ask, and ask once more when the reply is unreadable. ProviderError and BudgetSpent pass through."""
    try:
        return Asked(read(model.complete(system, user, schema=schema)), 0)
    except Unreadable as error:
        again = f"{user}\n\nYour last reply could not be read ({error}). Reply with the JSON object and nothing else."
    try:
        return Asked(read(model.complete(system, again, schema=schema)), 1)
    except Unreadable:
        return Asked(None, 2)


def scores_schema(number: int) -> dict[str, Any]:
    """An object with `scores`: that many numbers from 0 to 1."""
    score = {"type": "number", "minimum": 0, "maximum": 1}
    return _object({"scores": {"type": "array", "items": score, "minItems": number, "maxItems": number}})


def text_schema(field: str) -> dict[str, Any]:
    """An object with one text."""
    return _object({field: {"type": "string"}})


def _object(properties: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": dict(properties),
        "required": list(properties),
        "additionalProperties": False,
    }


def read_scores(text: str, number: int) -> list[float]:
    """The scores of a reply: exactly that many, each from 0 to 1. Raises Unreadable."""
    try:
        scores = json.loads(text)["scores"]
    except (ValueError, KeyError, TypeError) as error:
        raise Unreadable("no JSON object with scores") from error
    if len(scores) != number or not all(math.isfinite(score) and 0 <= score <= 1 for score in scores):
        raise Unreadable(f"not {number} numbers from 0 to 1")
    return [float(score) for score in scores]


def read_text(text: str, field: str) -> str:
    """One text field of a reply, not blank. Raises Unreadable."""
    try:
        found = json.loads(text)[field]
    except (ValueError, KeyError, TypeError) as error:
        raise Unreadable(f"no JSON object with {field}") from error
    if not isinstance(found, str) or not found.strip():
        raise Unreadable(f"{field} is empty")
    return found.strip()


def in_parallel(tasks: Sequence[Callable[[], Value]], *, workers: int) -> list[Value]:
    """The results in the order of the tasks; the first error of a task is raised once all that run have ended."""
    if workers < 2 or len(tasks) < 2:
        return [task() for task in tasks]
    with ThreadPoolExecutor(min(workers, len(tasks)), thread_name_prefix="calls") as pool:
        return list(pool.map(lambda task: task(), tasks))
