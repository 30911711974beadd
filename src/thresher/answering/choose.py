"""Which proposal is shown, how certain it is, and why it is in doubt."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from thresher.answering.doubts import others_are_as_near, reason
from thresher.answering.passage import Proposal
from thresher.text.entities import facts_in
from thresher.text.passages import share_of_runs
from thresher.types import Document

SAME = 0.7
"""Share of the runs of words of the shorter of two passages from which they are the same text."""

UNDECIDED = 0.4
"""Highest probability where another passage is as near: of 79 such answers 31 are right."""


@dataclass(frozen=True, slots=True)
class Choice:
    """What is shown first, and what beside it."""

    best: Proposal
    copies: Sequence[Proposal]
    """Its text in other files and formats."""
    others: Sequence[Sequence[Proposal]]
    """What says something else, each with its copies, the likeliest first."""
    certainty: float
    """Probability that the best is right, 0 to 1."""
    doubt: str | None
    """Why it is in doubt; None where it is not."""


def choose(question: str, proposals: Sequence[Proposal], *, least: float, sure_from: float) -> Choice:
    """The first of some proposals, the likeliest first; in doubt below `sure_from`.

    `least` is the probability below which nothing is shown; one with a doubt of its own has no more.
    """
    (_, *copies), *others = _distinct(proposals)
    best, further = proposals[0], [one for one, *_ in others]
    if others_are_as_near(question, best, further):
        best = replace(best, probability=min(best.probability, UNDECIDED))
    certainty = min(best.probability, least) if best.doubt else best.probability
    doubtful = bool(best.doubt) or certainty < sure_from
    return Choice(best, copies, others, certainty, reason(question, best, further) if doubtful else None)


def own_first(proposals: Sequence[Proposal], documents: Mapping[str, Document], least: float) -> list[Proposal]:
    """The proposals in their order, those of a quoted mail behind what the quoting mail says, if that may answer."""
    own: dict[str, float] = {}
    for one in proposals:
        if one.probability >= least:
            own.setdefault(one.citations[0].source, one.probability)
    found: list[tuple[bool, Proposal]] = []
    for one in proposals:
        document = documents.get(one.citations[0].document_id)
        quoted_in = document.container if document is not None and document.kind == "quote" else ""
        most = own.get(quoted_in, 1.0)
        found.append((quoted_in in own, replace(one, probability=min(one.probability, most))))
    return [one for _, one in sorted(found, key=lambda each: (-each[1].probability, each[0]))]


def _distinct(proposals: Sequence[Proposal]) -> list[list[Proposal]]:
    """Proposals that say different things, each with its copies behind it.

    One that lacks a name of the question which the first has is about something else.
    """
    shown: list[list[Proposal]] = [[proposals[0]]]
    for one in proposals[1:]:
        if one.passage is None or _lacks_more(one, proposals[0]) or any(one.overlaps(first) for first, *_ in shown):
            continue
        if (same := next((each for each in shown if _says_the_same(one, each[0])), None)) is not None:
            same.append(one)
        else:
            shown.append([one])
    return shown


def _lacks_more(one: Proposal, first: Proposal) -> bool:
    if one.signs is None or first.signs is None:
        return False
    return (one.signs.uncovered or 0.0) > (first.signs.uncovered or 0.0)


def _says_the_same(one: Proposal, other: Proposal) -> bool:
    """Whether two passages are the same text, in another file or format, and name and count the same."""
    short, long = sorted((one.text, other.text), key=len)
    return facts_in(short) <= facts_in(long) and share_of_runs(short, long) >= SAME
