"""The order of the evidence, and how much of it there is."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

from thresher.types import Evidence

Item = TypeVar("Item")

CHARACTERS_PER_TOKEN = 4
"""A rule of thumb for English and byte-pair vocabularies; a budget is no promise to the token."""

STRIP = "strip"
"""Name under which a hit of the evidence carries the score of its strip."""


def document_order(evidence: Sequence[Evidence]) -> list[Evidence]:
    """Documents in the order they first come in, the pieces of each as they stand in it."""
    first: dict[str, int] = {}
    for piece in evidence:
        first.setdefault(piece.hit.chunk.document_id, len(first))
    return sorted(evidence, key=lambda piece: (first[piece.hit.chunk.document_id], piece.start, piece.end))


def edge_order(best_first: Sequence[Item]) -> list[Item]:
    """The best at both ends: the 1st, 3rd, 5th, ... from the front, the 2nd, 4th, 6th, ... from the back.

    For readers that attend least to the middle of a long context (Y16 in docs/methods.md).
    """
    return [*best_first[0::2], *reversed(best_first[1::2])]


def estimated_tokens(text: str) -> int:
    """Tokens of a text, about."""
    return -(-len(text) // CHARACTERS_PER_TOKEN)


def within_budget(
    evidence: Sequence[Evidence], tokens: int, *, count: Callable[[str], int] = estimated_tokens
) -> tuple[list[Evidence], list[Evidence]]:
    """What fits into `tokens` and what does not, each in the order given.

    The best strips are taken first. What was not scored comes after them, in the order given; a piece that is too long
    leaves its room to the ones behind it.
    """
    order = sorted(range(len(evidence)), key=lambda at: -_strip_score(evidence[at]))
    taken: set[int] = set()
    for at in order:
        cost = count(evidence[at].text)
        if cost <= tokens:
            taken.add(at)
            tokens -= cost
    fitting = [piece for at, piece in enumerate(evidence) if at in taken]
    return fitting, [piece for at, piece in enumerate(evidence) if at not in taken]


def _strip_score(piece: Evidence) -> float:
    score = piece.hit.scores.get(STRIP)
    return float("-inf") if score is None else score.value
