"""What a change did to each question: broke, answered, moved or contradicted it, or nothing."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from typing import Any, Literal

from thresher_ci.knowledge import Expected, Question
from thresher_ci.outcome import Checks, Outcome, Place, holds, plain, unmet
from thresher_ci.qualification import qualifications

Kind = Literal["broken", "contradicted", "qualified", "newly answered", "moved", "unchanged"]

FAILING = ("broken", "contradicted", "qualified")

COUNTED = re.compile(r"\b(?:lines?|rows?) \d+(?: to \d+)?,? ?")
"""Of a place: what an edit above it shifts. Words below the same heading, or on the same page, did not move."""


@dataclass(frozen=True, slots=True)
class Difference:
    """What became of one question, with the old and the new place."""

    kind: Kind
    question: Question
    why: str
    old: Place | None
    new: Place | None
    met: bool
    """Whether the expectation is met now; one that was not met before either is `unchanged`."""

    def to_dict(self) -> dict[str, Any]:
        """As JSON."""
        shown = {"kind": self.kind, "question": self.question.question, "line": self.question.line, "why": self.why}
        places = {name: one and one.to_dict() for name, one in (("old", self.old), ("new", self.new))}
        return {**shown, **places, "met": self.met, "asked_by": self.question.asked_by}


def compared(
    questions: Sequence[Question], old: Mapping[str, Outcome], new: Mapping[str, Outcome], check: Checks
) -> Iterator[Difference]:
    """The difference of each question; one that `old` does not have was not answered before."""
    for question in questions:
        before, now = old.get(question.question), new[question.question]
        yield _difference(question, before, now, check)


def unmet_now(
    questions: Sequence[Question], new: Mapping[str, Outcome], check: Checks, sources: Set[str]
) -> Iterator[Difference]:
    """Against no other state: broken is what does not meet its expectation, moved what stands in another source.

    An expected source that is not among `sources` is gone.
    """
    for question in questions:
        now, expected = new[question.question], question.expected
        is_gone = expected.source and not any(_is(source, expected) for source in sources)
        gone = f"; {expected.source} is gone" if is_gone else ""
        if why := unmet(expected, now, check):
            yield Difference("broken", question, f"{why}{gone}", None, now.lead, met=False)
        elif expected.source and not any(_is(place.source, expected) for place in now.shown):
            why = f"was expected in {expected.source}{gone}"
            yield Difference("moved", question, why, None, now.lead, met=True)
        else:
            yield Difference("unchanged", question, "", None, now.lead, met=True)


def _is(source: str, expected: Expected) -> bool:
    return source == expected.source or source.endswith(f"/{expected.source}")


def _difference(question: Question, before: Outcome | None, now: Outcome, check: Checks) -> Difference:
    why = unmet(question.expected, now, check)
    was_met = before is not None and not unmet(question.expected, before, check)
    if before is None or not was_met:
        kind: Kind = "unchanged" if why else "newly answered"
        return Difference(kind, question, why, before.lead if before else None, now.lead, met=not why)
    if before == now:
        return Difference("unchanged", question, "", before.lead, now.lead, met=True)
    if (pair := _contradiction(before, now, check)) is not None:
        return Difference("contradicted", question, "says otherwise now", *pair, met=not why)
    if why:
        return Difference("broken", question, why, before.lead, now.lead, met=False)
    if (changed := _qualified(question, before, now, check)) is not None:
        return Difference("qualified", question, *changed, met=True)
    if (moved := _moved(before, now)) is not None:
        return Difference("moved", question, "", before.lead, moved, met=True)
    return Difference("unchanged", question, "", before.lead, now.lead, met=True)


def _contradiction(before: Outcome, now: Outcome, check: Checks) -> tuple[Place, Place] | None:
    """The old and the new sentence where one contradicts the other: shown as a conflict, or leading instead."""
    known = {(plain(one.sentence), plain(other.sentence)) for one, other in before.conflicts}
    for one, other in now.conflicts:
        if (plain(one.sentence), plain(other.sentence)) not in known:
            return one, other
    old, new = before.lead, now.lead
    if old is None or new is None or plain(new.sentence) == plain(old.sentence):
        return None
    return (old, new) if check(old.sentence, new.sentence) == "contradicted" else None


def _qualified(question: Question, before: Outcome, now: Outcome, check: Checks) -> tuple[str, Place, Place] | None:
    """What bounds the expected sentence otherwise in its document now, with the old and the new place."""
    expected = question.expected
    words = expected.quote or expected.value
    old = next((one for one in before.shown if words and holds(one.passage, words)), before.lead)
    if old is None:
        return None
    there = [one for one in now.shown if _same_source(one, old)]
    new = next((one for one in there if holds(one.passage, old.sentence)), there[0] if there else None)
    if new is None or new.context == old.context:
        return None
    why = qualifications(question.question, expected, old, new, check)
    return (why, old, new) if why else None


def _moved(before: Outcome, now: Outcome) -> Place | None:
    """Where the words of the old leading place stand now, if that is another source, page or heading."""
    if before.lead is None:
        return None
    there = [place for place in now.shown if holds(place.passage, before.lead.sentence)]
    if not there or any(_same_section(one, before.lead) for one in there):
        return None
    return there[0]


def _same_section(one: Place, other: Place) -> bool:
    return _same_source(one, other) and COUNTED.sub("", one.where) == COUNTED.sub("", other.where)


def _same_source(one: Place, other: Place) -> bool:
    """Whether two places are of the same document, whose source another home may write with its folder."""
    short, long = sorted((one.source, other.source), key=len)
    return f"/{long}".endswith(f"/{short}")
