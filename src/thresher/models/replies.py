"""Replies of a model's server, read with suspicion: a reply is a stranger's text like any page of the web.

Shared by chats, embeddings and rankings. A reply of the wrong form raises one of MALFORMED, which `transport.Server`
turns into NotFetched; one of the right form is made harmless: counts lie in their range, characters are whole, runs of
blanks are short, and the text is no longer than the tokens that were asked for.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from itertools import chain
from typing import Any

import numpy as np

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
