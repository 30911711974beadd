"""Hits of a ranking against the places that answer a question: by character span, or by document and page.

Chunk sizes differ between recipes, so a hit is not counted as right or wrong by itself: it is when it lies where the
answer lies.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal

from thresher.evals.labels import Gold, Question
from thresher.evals.matching import matches
from thresher.evals.rows import Place, Row
from thresher.evals.statistics import Counts
from thresher.types import Origin

Level = Literal["span", "chunk"]


def counts(row: Row, cutoff: int, level: Level) -> Counts | None:
    """Relevant ones among the first hits, and gold places they meet; None where no gold place is in the collection.

    A missing hit is not relevant: the number of hits is the cutoff also when fewer came.
    """
    gold = gold_places(row.question, level)
    if not gold:
        return None
    meets: Callable[[Place, Gold], bool] = overlaps if level == "span" else stands_at
    met = [[meets(hit, place) for place in gold] for hit in (row.ranking or ())[:cutoff]]
    return Counts(
        relevant=sum(map(any, met)),
        hits=cutoff,
        met=sum(map(any, zip(*met, strict=True))),
        gold=len(gold),
    )


def gold_places(question: Question, level: Level) -> Sequence[Gold]:
    """The distinct places inside that answer a question; documents that are judged relevant where there are none."""
    inside = [gold for gold in question.gold if gold.origin is Origin.INSIDE]
    places = inside or [Gold(source) for source, grade in question.grades.items() if grade > 0]
    if level == "chunk":
        places = [Gold(gold.source, gold.page) for gold in places]
    return tuple(dict.fromkeys(places))


def overlaps(hit: Place, gold: Gold) -> bool:
    """Whether a hit shares a character with a gold span; without offsets, the whole document is the span."""
    if not matches(gold.source, hit.source, hit.also):
        return False
    if hit.start is None or hit.end is None or gold.start is None or gold.end is None:
        return True
    return hit.start < gold.end and gold.start < hit.end


def stands_at(hit: Place, gold: Gold) -> bool:
    """Whether a hit begins on the gold page, or is of the gold document where no page is told."""
    return matches(gold.source, hit.source, hit.also) and gold.page in (None, hit.page)
