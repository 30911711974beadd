"""The input and the result of a check of claims."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from thresher.types import NO_NOTES, ClaimState, Evidence, Notes


@dataclass(frozen=True, slots=True)
class Cited:
    """A sentence of an answer and the positions in the evidence, from 0, of what it cites."""

    text: str
    pieces: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Finding:
    """What a check found out about one sentence."""

    state: ClaimState
    support: float
    """Probability that the evidence supports it, 0 to 1."""
    denial: float = 0.0
    """Probability that the evidence says otherwise, 0 to 1."""
    reason: str = ""
    """Why it is not supported."""
    pieces: tuple[int, ...] = ()
    """Positions of the evidence that supports it, what it cites first; of another state those it was compared with."""
    places: tuple[Evidence, ...] = ()
    """The windows of `pieces`, in their order, that support it or say otherwise."""
    remarks: tuple[str, ...] = ()
    """How its numbers follow that the evidence does not state, or why only its numbers were checked."""

    @property
    def holds(self) -> bool:
        """Whether the sentence is supported."""
        return self.state is ClaimState.SUPPORTED


@dataclass(frozen=True, slots=True)
class Findings:
    """A finding for each sentence, in their order."""

    each: tuple[Finding, ...]
    notes: Notes = NO_NOTES


class ClaimCheck(Protocol):
    """Looks for the support of sentences, first in what they cite, then in the rest of the evidence."""

    def __call__(self, question: str, claims: Sequence[Cited], evidence: Sequence[Evidence]) -> Findings:
        """One finding for each claim."""
        ...

    def nearest(self, claim: str, piece: Evidence) -> tuple[int, int, float]:
        """Begin and end in the piece of its sentence that is nearest to a claim, and how near it is, 0 to 1."""
        ...
