"""Replies of a model's server, read with suspicion: a reply is a stranger's text like any page of the web.

A reply of the wrong form raises one of MALFORMED, which `transport.Server` turns into NotFetched; one of the right form
is made harmless: counts lie in their range, characters are whole, runs of blanks are short, and the text is no longer
than the tokens that were asked for.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any, Generic, TypeVar

import numpy as np

from thresher.errors import BudgetSpent, ProviderError
from thresher.protocols import LanguageModel

__all__ = [
    "StructuredReply",
    "Unreadable",
    "asked",
    "asked_for_text",
    "object_schema",
    "read_choice",
    "read_integer",
    "read_line",
    "read_text",
]

Value = TypeVar("Value")

MALFORMED = (ValueError, TypeError, AttributeError, LookupError, ArithmeticError, RecursionError)
"""Errors of reading a reply of the wrong form: nested lists without end, infinite numbers, half a JSON, a text in the
place of a list."""

CHARACTERS_PER_TOKEN = 16  # on average: English has 4 to 5, the longest words of German or Finnish 16 for one token
SPARE_CHARACTERS = 2_000  # a page, for a server that counts a little otherwise or a reply of few tokens
SPARE_BYTES = 262_144  # besides what grows with a reply: identifiers, timings, a first event with what filters found
BYTES_PER_TOKEN = 1_024  # of a chat: a streamed token is an event of 200 to 500 bytes; with log-probabilities, alone
DEEPEST = 200  # brackets within brackets: replies to our requests have ten, and the interpreter goes down a thousand
MOST_BLANKS = 8  # in one run: two levels of a list; beyond, patterns that look for blanks take quadratic time
MOST_LINES = 2  # line breaks in one run: an empty line

_RUN = re.compile(rf"\s{{{MOST_LINES + 1},}}")
_HALF = re.compile(r"[\ud800-\udfff]")
_OPENED, _CLOSED = "<think>", "</think>"  # around the thoughts before an answer, where the server leaves them in


# --- JSON -------------------------------------------------------------------------------------------------------------


def parsed(pieces: Iterable[bytes]) -> Any:
    """The JSON of a reply. Raises one of MALFORMED."""
    written = b"".join(pieces)
    if is_deep(written):
        raise ValueError("nested too deeply")
    return json.loads(written)


def is_deep(written: bytes) -> bool:
    """Whether brackets are nested more than DEEPEST, those in texts counted as well.

    Asked before JSON is read: its reader would go down to the limit of the interpreter, where all else fails too.
    """
    if written.count(b"[") + written.count(b"{") <= DEEPEST:
        return False
    characters = np.frombuffer(written, np.uint8)
    begun = (characters == ord("[")) | (characters == ord("{"))
    ended = (characters == ord("]")) | (characters == ord("}"))
    return int((begun.astype(np.int32) - ended).cumsum().max()) > DEEPEST


def events(pieces: Iterable[bytes]) -> Iterator[Any]:
    """The JSON of every event of a stream, up to its end. Raises one of MALFORMED, also where it ends in an event."""
    begun: list[bytes] = []
    data: list[bytes] = []
    for piece in chain(pieces, [b"\n\n"]):  # the last event may come without the empty line behind it
        *lines, rest = piece.split(b"\n")
        for line in lines:
            whole = b"".join((*begun, line)).rstrip(b"\r")
            begun.clear()
            if whole.startswith(b"data:"):
                data.append(whole[len(b"data:") :].strip())
                if data == [b"[DONE]"]:
                    return
            elif not whole and data:
                event = b"\n".join(data)
                data.clear()
                yield _no_error(parsed([event]))
        begun.append(rest)


def _no_error(event: Any) -> Any:
    if isinstance(event, dict) and event.get("error"):
        raise ValueError("an error within the stream")
    return event


def number(value: Any) -> float:
    """A finite number of a reply. Raises one of MALFORMED."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not float("-inf") < value < float("inf"):
        raise ValueError("not a number")
    return float(value)


def count(value: Any, most: int) -> int:
    """A number of tokens as a reply states it: at most `most`; 0 for what is no number.

    A negative number counts as `most`: a reply must not talk its way past a budget.
    """
    if isinstance(value, int | float) and value < 0:
        return most
    if isinstance(value, bool) or not isinstance(value, int | float) or not value > 0:
        return 0
    return int(min(value, most))


# --- text -------------------------------------------------------------------------------------------------------------


def most_characters(tokens: int) -> int:
    """Of a text of so many tokens."""
    return CHARACTERS_PER_TOKEN * tokens + SPARE_CHARACTERS


def most_bytes(tokens: int) -> int:
    """Of the JSON or the events of a chat of so many tokens."""
    return BYTES_PER_TOKEN * tokens + SPARE_BYTES


def whole_characters(text: str) -> str:
    """The text with its halves of characters joined; one that has no other half becomes a replacement character."""
    if not _HALF.search(text):
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def folded(text: str) -> str:
    """The text with no run of blanks of more than MOST_BLANKS and MOST_LINES; what goes is the end of a run."""
    return _RUN.sub(lambda run: _shortened(run[0]), text)


def _shortened(run: str) -> str:
    kept, blanks, lines = [], 0, 0
    for character in run:
        is_line = character == "\n"
        lines += is_line
        blanks += not is_line
        if (lines <= MOST_LINES) if is_line else (blanks <= MOST_BLANKS):
            kept.append(character)
    return "".join(kept)


class Spoken:
    """The answer of a reply, made harmless, piece by piece as the reply comes; thoughts before it are left out.

    The pieces that `add` and `end` give are the same text together, however the reply was cut into pieces.
    """

    def __init__(self, max_tokens: int, thinking_tokens: int = 0) -> None:
        self.thought = False  # whether the reply begins with thoughts
        self.answering = False  # whether the answer has begun: the thoughts are over, or there are none
        self.full = False  # whether the most that may come has come; more is not taken
        self._left = most_characters(max_tokens)
        self._thoughts_left = most_characters(max_tokens + thinking_tokens)
        self._held = ""  # not decided yet: blanks at the end, the beginning of a tag
        self._half = ""  # of a character whose other half may come with the next piece
        self._begun = False

    def add(self, piece: str) -> str:
        """The text that the next piece of the reply adds to the answer."""
        if self.full:
            return ""
        text, self._held, self._half = self._held + self._half + piece, "", ""
        if "\ud800" <= text[-1:] <= "\udbff":
            text, self._half = text[:-1], text[-1]
        text = self._answered(whole_characters(text))
        return self._cut(folded(text if self._begun else text.lstrip())) if self.answering else ""

    def end(self) -> str:
        """The rest of the answer when the reply is over: half a character, half a tag."""
        rest, self._half = whole_characters(self._half), ""
        self.answering = self.answering or not self.thought
        return self.add(rest)

    def _answered(self, text: str) -> str:
        """The part that belongs to the answer; text before is held until it is known what it is."""
        if self.answering:
            return text
        if not self.thought:
            text = text.lstrip()
            if text.startswith(_OPENED):
                self.thought, text = True, text[len(_OPENED) :]
            elif _OPENED.startswith(text):
                self._held = text
                return ""
            else:
                self.answering = True
                return text
        closed = text.find(_CLOSED)
        thoughts = closed if closed >= 0 else max(0, len(text) - len(_CLOSED) + 1)
        self._thoughts_left -= thoughts
        if self._thoughts_left < 0:
            self.full = True
        elif closed >= 0:
            self.answering = True
            return text[closed + len(_CLOSED) :]
        else:
            self._held = text[thoughts:]
        return ""

    def _cut(self, text: str) -> str:
        """The part to hand on now: blanks at the end only when something follows, nothing beyond the limit."""
        shown = text.rstrip()
        self._held = text[len(shown) :]
        if len(shown) >= self._left:
            shown, self.full = shown[: self._left].rstrip(), True
        self._left -= len(shown)
        self._begun = self._begun or bool(shown)
        return shown


# --- a form that was asked for ----------------------------------------------------------------------------------------
#
# What can be meant in one way only is read: the JSON, alone or in a ``` block or as the only JSON in running text. What
# would have to be guessed (a 7 where 0 to 1 was asked, half an object, two objects that differ) is unreadable.


class Unreadable(ValueError):
    """A reply that has not the form it was asked for; says why, in words that never come from the reply."""


# --- asking -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class StructuredReply(Generic[Value]):
    """The value of a reply; None when neither the first nor the second reply could be read."""

    value: Value | None
    unreadable: int  # replies that could not be read, 0 to 2
    why: str = ""
    """Why there is no value, of `asked_for_text`."""


def asked(
    model: LanguageModel, system: str, user: str, *, schema: Mapping[str, Any], read: Callable[[str], Value]
) -> StructuredReply[Value]:
    """Ask, and ask once more when the reply is unreadable. ProviderError and BudgetSpent pass through.

    The second prompt says what was wrong. It is another prompt, so a reply cache never gives the bad reply again.
    """
    try:
        return StructuredReply(read(model.complete(system, user, schema=schema)), 0)
    except Unreadable as error:
        again = f"{user}\n\nYour last reply could not be read ({error}). Reply with the JSON object and nothing else."
    try:
        return StructuredReply(read(model.complete(system, again, schema=schema)), 1)
    except Unreadable:
        return StructuredReply(None, 2)


def asked_for_text(
    model: LanguageModel, system: str, user: str, *, field: str, read: Callable[[str], str]
) -> StructuredReply[str]:
    """`asked` for an object with one text; an error of the model is returned, not raised."""
    try:
        found = asked(model, system, user, schema=object_schema({field: {"type": "string"}}), read=read)
    except (ProviderError, BudgetSpent) as error:
        return StructuredReply(None, 0, str(error))
    return found if found.value is not None else replace(found, why="the model's reply could not be read")


# --- schemas ----------------------------------------------------------------------------------------------------------


TOP_GRADE = 3  # grades are whole numbers from 0 to here
SCORES = [step / 20 for step in range(21)]  # a grammar enforces these, and no bounds: small models reply [1, 2, 3]


def scores_schema(number: int) -> dict[str, Any]:
    """An object with `scores`: that many of SCORES, 0 to 1."""
    score = {"type": "number", "enum": SCORES}
    return object_schema({"scores": {"type": "array", "items": score, "minItems": number, "maxItems": number}})


def grades_schema(number: int) -> dict[str, Any]:
    """An object with a grade under each number from "1" on."""
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
