"""Replies of a chat model that must have a form: asked for as JSON, read strictly, asked for once more.

What can be meant in one way only is read: the JSON, alone or in a ``` block or as the only JSON in running text. What
would have to be guessed (a 7 where 0 to 1 was asked, half an object, two objects that differ) is unreadable.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Generic, TypeVar

from thresher.errors import BudgetSpent, ProviderError
from thresher.models.replies import folded, is_deep
from thresher.protocols import LanguageModel

Value = TypeVar("Value")


class Unreadable(ValueError):
    """A reply that has not the form it was asked for; says why, in words that never come from the reply."""


# --- asking -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Asked(Generic[Value]):
    """The value of a reply; None when neither the first nor the second reply could be read."""

    value: Value | None
    unreadable: int  # replies that could not be read, 0 to 2
    why: str = ""
    """Why there is no value, of `asked_for_text`."""


def asked(
    model: LanguageModel, system: str, user: str, *, schema: Mapping[str, Any], read: Callable[[str], Value]
) -> Asked[Value]:
    """Ask, and ask once more when the reply is unreadable. ProviderError and BudgetSpent pass through.

    The second prompt says what was wrong. It is another prompt, so a reply cache never gives the bad reply again.
    """
    try:
        return Asked(read(model.complete(system, user, schema=schema)), 0)
    except Unreadable as error:
        again = f"{user}\n\nYour last reply could not be read ({error}). Reply with the JSON object and nothing else."
    try:
        return Asked(read(model.complete(system, again, schema=schema)), 1)
    except Unreadable:
        return Asked(None, 2)


def asked_for_text(
    model: LanguageModel, system: str, user: str, *, field: str, read: Callable[[str], str]
) -> Asked[str]:
    """`asked` for an object with one text; an error of the model is told, not raised."""
    try:
        found = asked(model, system, user, schema=object_schema({field: {"type": "string"}}), read=read)
    except (ProviderError, BudgetSpent) as error:
        return Asked(None, 0, str(error))
    return found if found.value is not None else replace(found, why="the model's reply could not be read")


# --- schemas ----------------------------------------------------------------------------------------------------------


TOP_GRADE = 3  # grades are whole numbers from 0 to here


def scores_schema(number: int) -> dict[str, Any]:
    """An object with `scores`: that many numbers from 0 to 1."""
    score = {"type": "number", "minimum": 0, "maximum": 1}
    return object_schema({"scores": {"type": "array", "items": score, "minItems": number, "maxItems": number}})


def grades_schema(number: int) -> dict[str, Any]:
    """An object with a grade under each number from "1" on; grammars enforce enumerations, and no bounds of numbers."""
    grade = {"type": "integer", "enum": list(range(TOP_GRADE + 1))}
    return object_schema({str(at): grade for at in range(1, number + 1)})


def object_schema(properties: Mapping[str, Any]) -> dict[str, Any]:
    """An object with exactly these fields."""
    fields = {"properties": dict(properties), "required": list(properties)}
    return {"type": "object", **fields, "additionalProperties": False}


# --- reading ----------------------------------------------------------------------------------------------------------

_OPENING = re.compile(r"[{\[]")
_BLOCK = re.compile(r"```\w*\s(.*?)```", re.DOTALL)


def read_scores(text: str, number: int) -> list[float]:
    """The scores of a reply: exactly that many, each from 0 to 1. Raises Unreadable.

    Accepts `scores` of an object, a bare list, and numbers written as texts; where one score is asked also `score` of
    an object, and the number alone.
    """
    scores = _labelled(text, "score") if number == 1 and _is_bare(text) else _json(text)
    if isinstance(scores, dict):
        if len(scores.keys() & {"scores", "score"}) != 1:
            raise Unreadable("no JSON object with scores")
        scores = scores.get("scores", scores.get("score"))
    if number == 1 and not isinstance(scores, list):
        scores = [scores]
    return [_number(value, "a score", 0, 1) for value in _of_length(scores, number)]


def read_grades(text: str, number: int) -> list[int]:
    """The grades of a reply, 0 to 3, in the order of their numbers: exactly "1" to that number. Raises Unreadable.

    Read are also a bare list of that many and, where one grade is asked, the grade alone; each as in `read_integer`.
    """
    if number == 1 and _is_bare(text):
        return [read_integer(text, "grade", 0, TOP_GRADE)]
    grades = _json(text)
    if isinstance(grades, dict):
        if grades.keys() != {str(at) for at in range(1, number + 1)}:
            raise Unreadable("not a grade under each number")
        grades = [grades[str(at)] for at in range(1, number + 1)]
    return [_whole(value, "a grade", 0, TOP_GRADE) for value in _of_length(grades, number)]


def read_text(text: str, field: str) -> str:
    """One text field of a reply, not blank. Raises Unreadable."""
    value = _field(_json(text), field)
    if not isinstance(value, str) or not value.strip():
        raise Unreadable(f"{field} is empty")
    if any("\ud800" <= character <= "\udfff" for character in value):
        raise Unreadable(f"{field} holds half a character")
    return folded(value.strip())


def read_line(text: str, field: str, *, most: int) -> str:
    """One text field of a reply: one line of at most `most` characters. Raises Unreadable."""
    line = read_text(text, field)
    if len(line.splitlines()) > 1:
        raise Unreadable(f"{field} is not one line")
    if len(line) > most:
        raise Unreadable(f"{field} is too long")
    return line


def read_integer(text: str, field: str, low: int, high: int) -> int:
    """A whole number from `low` to `high`: a field (4, 4.0 or "4") or the reply itself. Raises Unreadable."""
    value = _labelled(text, field) if _is_bare(text) else _field(_json(text), field)
    return _whole(value, field, low, high)


def read_choice(text: str, field: str, options: Sequence[str]) -> str:
    """The option that a field or the reply itself is, in the spelling of `options`, case ignored. Raises Unreadable."""
    value = _labelled(text, field) if _is_bare(text) else _field(_json(text), field)
    if isinstance(value, str):
        for option in options:
            if value.strip().casefold() == option.casefold():
                return option
    raise Unreadable(f"{field} is none of the options")


def _is_bare(text: str) -> bool:
    return not _OPENING.search(text)


def _labelled(text: str, field: str) -> str:
    """A reply without JSON, less its block, quotes, closing full stop and the name of the field before it."""
    block = _BLOCK.fullmatch(text.strip())
    bare = (block[1] if block else text).strip().strip("*\"'`").removesuffix(".")
    return re.sub(rf"\A[*\s]*{re.escape(field)}[*\s]*[:=][*\s\"']*", "", bare, flags=re.IGNORECASE).strip("*\"' ")


def _field(value: Any, name: str) -> Any:
    if not isinstance(value, dict) or name not in value:
        raise Unreadable(f"no JSON object with {name}")
    return value[name]


def _of_length(scores: Any, number: int) -> list[Any]:
    if not isinstance(scores, list):
        raise Unreadable("no list of scores")
    if len(scores) != number:
        raise Unreadable(f"{len(scores)} scores where {number} were asked")
    return scores


def _number(value: Any, field: str, low: int, high: int) -> float:
    """A number from `low` to `high`, also one written as a text."""
    try:
        number = float("" if isinstance(value, bool) else value)
    except (ValueError, TypeError, OverflowError) as error:
        raise Unreadable(f"{field} is not a number") from error
    if not low <= number <= high:
        raise Unreadable(f"{field} is not from {low} to {high}")
    return number


def _whole(value: Any, field: str, low: int, high: int) -> int:
    number = _number(value, field, low, high)
    if number % 1:
        raise Unreadable(f"{field} is not a whole number")
    return int(number)


# --- finding the JSON -------------------------------------------------------------------------------------------------


def _json(text: str) -> Any:
    """The one object or list of a reply. A list in running text may be a citation, so only an object counts there."""
    blocks = _BLOCK.findall(text)
    outside = _BLOCK.sub("", text)
    alone = (blocks[0] if len(blocks) == 1 and _is_bare(outside) else text).strip()
    values = _values(alone)
    if not values:
        raise Unreadable("no JSON")
    if len({canonical for _, _, canonical in values}) > 1:
        raise Unreadable("several JSON values that differ")
    value, written, _ = values[0]
    if isinstance(value, list) and written != alone:
        raise Unreadable("a list in running text")
    return value


def _values(text: str) -> list[tuple[Any, str, str]]:
    """Value, text and canonical form of each object and list at the top level. Raises Unreadable for a broken one."""
    if is_deep(text.encode("utf-8", "replace")):
        raise Unreadable("broken JSON")
    values = []
    at = 0
    while opening := _OPENING.search(text, at):
        try:
            value, at = _DECODER.raw_decode(text, opening.start())
            canonical = json.dumps(value, sort_keys=True)
        except (ValueError, RecursionError) as error:
            raise Unreadable("broken JSON") from error
        values.append((value, text[opening.start() : at], canonical))
    return values


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object whose names are all different: of two values under one name neither is the right one."""
    if len(dict(pairs)) != len(pairs):
        raise ValueError("a name occurs twice")
    return dict(pairs)


_DECODER = json.JSONDecoder(strict=False, object_pairs_hook=_unique)
"""Line breaks inside a text are let through (`strict=False`): they can be meant in one way only."""
