"""Whether a sentence is bounded otherwise than before: by its heading, by its own words, or by a sentence beside it.

Both states are aligned sentence by sentence. Of what differs this bounds the deciding sentence, which is the expected
one or else the cited one:

- another heading, but for its number and its marks;
- other words in the sentence itself;
- a sentence directly before or after it that was added or removed;
- one there that was changed and *points*: it has a word such as `this`, `such` or `following`, or leans on the sentence
  before it; a sentence further off must begin with such a word;
- one at most two away whose own or changed words share a term with it or the question that the headings do not have;
- one that names the number of the sentence or of its heading ("Section 3 is suspended");
- one that by itself answers the question, as the judge reads it;
- in a text without headings the nearest short line above it that is no sentence.

Two wordings of a sentence are the same where the check of claims finds each supported by the other, unless the one is
the other with words put in: "as a rule", "in August".
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from difflib import SequenceMatcher

from thresher.text.boilerplate import leans
from thresher.text.markup import flat
from thresher.text.terms import overlap, term_set
from thresher.types import ClaimState
from thresher_ci.context import REACH, Context
from thresher_ci.knowledge import Expected
from thresher_ci.outcome import Checks, Place, holds, plain

ALIKE = 0.5
"""Share of the terms from which on two sentences are one that was changed, 0 to 1."""

NEAR = 2
"""Sentences between which a shared term counts."""

HEADING_WORDS = 8

INSERTED = 2
"""Words that are put into the deciding sentence, from which on it is another one; fewer may be a form of its verb."""

LISTED = 3
"""Changes that are named."""

_NUMBER = re.compile(r"\W*(\d{1,3}(?:\.\d{1,3})*)[.)]?(?:\s+(?=[^\W\d_a-z])|\s*$)")
"""Of a heading, a clause or an item; words behind it begin with a capital."""
_POINTING = "(?:this|these|such(?! as)|following|above|below|preceding|foregoing|either|neither)"
_POINTS = re.compile(rf"\b{_POINTING}\b", re.IGNORECASE)
_BEGINS = re.compile(rf"\W*(?:the |(?:all|none|most|some) of )?{_POINTING}\b", re.IGNORECASE)
_NAMED = re.compile(r"[^\W\d]{4,} (\d+(?:\.\d+)*)(?![\d.,]*\d)")
"""A reference: section 3, note 1."""


@dataclass(frozen=True, slots=True)
class _Line:
    """A sentence in the old and in the new document; empty in one where it was added or removed."""

    old: str
    new: str
    decides: bool

    @property
    def same(self) -> bool:
        return _bare(self.old) == _bare(self.new)


def qualifications(question: str, expected: Expected, old: Place, new: Place, check: Checks) -> str:
    """What bounds the sentence otherwise in the new document, in words; empty for nothing."""
    before, after = old.context, new.context
    found = list(_headings(before.headings, after.headings))
    lines = list(_aligned(before, after, expected))
    deciding = [at for at, line in enumerate(lines) if line.decides]
    about = before.headings[0] if before.headings else ""
    numbers = {_number(one) for one in (*before.headings[-1:], *(lines[at].old for at in deciding))}
    numbers |= {_number(lines[at - 1].old) for at in deciding if at and not re.search(r"[^\W\d]", lines[at - 1].old)}
    numbers.discard("")
    terms = term_set(" ".join([question, *(lines[at].old for at in deciding)])) - term_set(" ".join(before.headings))
    headed = next((at for at in range(min(deciding, default=0) - 1, -1, -1) if _heads(lines[at])), -1)

    def answers(line: _Line) -> bool:
        return any(check.answers(question, one, about) for one in (line.old, line.new) if one)

    for at, line in enumerate(lines):
        if line.same or (line.decides and not line.new):
            continue
        if not (line.decides and _inserted(line)) and _says_the_same(line, check):
            continue
        away = min((at - one for one in deciding), key=abs, default=0)
        if line.decides:
            found.append(f"its words: “{flat(line.old)}”, now “{flat(line.new)}”")
        elif (
            at == headed
            or _points(line, away)
            or (abs(away) <= NEAR and _adds(line) & terms)
            or _names(line, numbers)
            or answers(line)
        ):
            found.append(_told(line, away))
    more = f"; and {len(found) - LISTED} more" if len(found) > LISTED else ""
    return f"{'; '.join(found[:LISTED])}{more}"


def _headings(old: tuple[str, ...], new: tuple[str, ...]) -> Iterator[str]:
    if list(map(_bare, old)) != list(map(_bare, new)):
        yield f"its heading: “{flat(' > '.join(old))}”, now “{flat(' > '.join(new))}”"


def _aligned(before: Context, after: Context, expected: Expected) -> Iterator[_Line]:
    """The sentences of both states in one order; what was changed is one line, what was moved two."""
    old, new = ([*one.above, *one.own, *one.below] for one in (before, after))
    own = range(len(before.above), len(before.above) + len(before.own))
    words = expected.quote or expected.value
    stating = [at for at, line in enumerate(old) if expected.quote and _states(line, words)]
    stating = stating or [at for at in own if words and holds(old[at], words)]
    deciding = set(stating or own)
    matcher = SequenceMatcher(None, list(map(_bare, old)), list(map(_bare, new)), autojunk=False)
    for kind, low, high, first, last in matcher.get_opcodes():
        if kind == "equal":
            yield from (_Line(old[low + at], new[first + at], low + at in deciding) for at in range(high - low))
            continue
        cut_above = not low and not first and REACH in (len(before.above), len(after.above))
        cut_below = (high, last) == (len(old), len(new)) and REACH in (len(before.below), len(after.below))
        if cut_above or cut_below:  # further than what is kept
            continue
        left = list(range(low, high))
        pairs: dict[int, int] = {}
        for at in range(first, last):
            like = max(left, key=lambda one: _alike(old[one], new[at]), default=None)
            if like is not None and _alike(old[like], new[at]) >= ALIKE:
                pairs[at] = like
                left.remove(like)
        yield from (_Line(old[at], "", at in deciding) for at in left)
        for at in range(first, last):
            yield _Line(old[pairs[at]] if at in pairs else "", new[at], pairs.get(at) in deciding)


def _states(line: str, quote: str) -> bool:
    """Whether a sentence holds the expected words, or is one of several expected ones."""
    return holds(line, quote) or (len(line.split()) > 2 and holds(quote, line))


def _alike(one: str, other: str) -> float:
    return overlap(term_set(one), term_set(other))


def _bare(line: str) -> str:
    return plain(_NUMBER.sub("", line, count=1) or line)


def _number(line: str) -> str:
    found = _NUMBER.match(line)
    return found[1] if found else ""


def _inserted(line: _Line) -> bool:
    """Whether one wording is the other with words put in: all of its words in their order."""
    few, many = sorted((_bare(line.old).split(), _bare(line.new).split()), key=len)
    left = iter(many)
    return len(many) - len(few) >= INSERTED and all(word in left for word in few)


def _says_the_same(line: _Line, check: Checks) -> bool:
    both = ((line.old, line.new), (line.new, line.old))
    return bool(line.old and line.new) and all(ClaimState(check(one, other)).holds for one, other in both)


def _points(line: _Line, away: int) -> bool:
    """Whether a sentence stands beside the deciding one, `away` sentences behind it, or says that it speaks of it."""
    texts = [_bare(one) for one in (line.old, line.new) if one]
    if abs(away) == 1 and (len(texts) == 1 or (away == 1 and any(map(leans, texts)))):
        return True
    pointing = _POINTS.search if abs(away) == 1 else _BEGINS.match
    return any(pointing(one) for one in texts)


def _adds(line: _Line) -> frozenset[str]:
    """The terms of one state that the other does not have."""
    return term_set(line.old) ^ term_set(line.new)


def _heads(line: _Line) -> bool:
    """Whether a line is short and no sentence."""
    text = line.old or line.new
    return len(text.split()) <= HEADING_WORDS and re.search(r"[^\W\d]", text) is not None and text[-1] not in ".,;:!?"


def _names(line: _Line, numbers: set[str]) -> bool:
    """Whether a sentence refers to one of the numbers: "section 3"; not "3 days" or its own number."""
    return any(one in numbers for text in (line.old, line.new) for one in _NAMED.findall(text))


def _told(line: _Line, away: int) -> str:
    where = "after it" if away > 0 else "before it"
    if line.old and line.new:
        return f"{where}: “{flat(line.old)}”, now “{flat(line.new)}”"
    return f"added {where}: “{flat(line.new)}”" if line.new else f"removed {where}: “{flat(line.old)}”"
