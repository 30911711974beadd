"""Why an answer is in doubt: the first of some reasons that holds."""

from __future__ import annotations

from collections.abc import Sequence

from thresher.answering.passage import Proposal
from thresher.text.entities import missing_details, whole_names

CLOSE = 0.4
"""Difference of the log odds below which another passage is as near. Of 79 answers to the sets of the gate that are
certain and have such another, 31 are right; of the 304 others 220. Half by half: 140 of 179 are asserted and right in
place of 151 of 209, and on the half that it was not chosen on 116 of 145 in place of 129 of 174."""

FAR = 2.0
"""Logits by which one reading is far below another."""


def lacks_names(question: str, best: Proposal, others: Sequence[Proposal]) -> str:
    """Names and numbers of the question that the passage and its document do not have."""
    if best.passage is None or best.signs is None or not best.signs.uncovered:
        return ""
    missing = missing_details(question, f"{best.passage.stretch.title}. {best.passage.stretch.text}")
    names = [name for name in whole_names(question) if not set(name.split()).isdisjoint(missing)]
    names += [one for one in missing if not any(one in name.split() for name in names)]
    return f"The passage does not name {', '.join(names)}." if names else ""


def others_are_as_near(question: str, best: Proposal, others: Sequence[Proposal]) -> str:
    """Another passage is put in order with nearly the same log odds."""
    for one in others:
        if best.order is not None and one.order is not None and best.order - one.order < CLOSE:
            return f"A passage of {one.citations[0].title} is about as near."
    return ""


def stands_alone(question: str, best: Proposal, others: Sequence[Proposal]) -> str:
    """The text around the sentence is about what is asked, and the sentence by itself does not state it."""
    signs = best.signs
    if signs is None or signs.sentence is None or signs.relevance is None or signs.sentence > signs.relevance - FAR:
        return ""
    return "The passage is about it, and no sentence of it clearly states what is asked."


def reason(question: str, best: Proposal, others: Sequence[Proposal]) -> str:
    """What was known when it was proposed, else the first reason that holds, else that only its reading is weak."""
    found = (doubt(question, best, others) for doubt in (lacks_names, others_are_as_near, stands_alone))
    return best.doubt or next(filter(None, found), "It may be about something near to what is asked.")
