"""What a search of one table found, as hits."""

from __future__ import annotations

from collections.abc import Sequence

from thresher.types import Chunk, Hit, Judgement, Scale, Score, Sifted


def found(name: str, scale: Scale, scored: Sequence[tuple[Chunk, float]]) -> Sifted:
    """All of them kept, ranked in the order given, the score under `name`."""
    judgements = []
    for rank, (chunk, value) in enumerate(scored, start=1):
        score = Score(value, scale)
        hit = Hit(chunk, score, rank, scores={name: score})
        judgements.append(Judgement(hit, keep=True, reason=f"{name} rank {rank}"))
    return Sifted(tuple(judgements))


def depth_for(published: int, limit: int, *, literal: bool = False) -> int:
    """How many candidates a list is asked for: twice the wanted results, never fewer than the published number."""
    return published if literal else max(published, 2 * limit)
