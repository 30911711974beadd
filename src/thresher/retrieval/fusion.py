"""Several ranked lists to one.

Reciprocal ranks (Cormack, Clarke and Buettcher 2009) need no comparable scores; a weighted sum of scores brought to
0..1 keeps their distances. Lists are merged by chunk id (W5 in docs/methods.md: the published code compared object
identities, and never merged them).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from thresher.protocols import Retriever, about
from thresher.types import NO_NOTES, RECIPROCAL_RANK, WEIGHTED_FUSION, Hit, Judged, Judgement, Notes, Query, Score

RANK_CONSTANT = 60
"""Cormack et al. 2009, section 3; ranks start at 1."""

Fusion = Callable[[Sequence[Sequence[Hit]]], list[Hit]]


def reciprocal_rank_fusion(
    lists: Sequence[Sequence[Hit]], *, weights: Sequence[float] | None = None, rank_constant: int = RANK_CONSTANT
) -> list[Hit]:
    """Sum of weight / (rank_constant + rank) over the lists; ties keep the first list's order."""
    given = weights or [1.0] * len(lists)
    return _merged(lists, lambda at, hit: given[at] / (rank_constant + hit.rank), Score(0.0, RECIPROCAL_RANK))


def weighted_fusion(lists: Sequence[Sequence[Hit]], *, weights: Sequence[float]) -> list[Hit]:
    """Weighted mean of the lists' scores, each list brought to 0..1 by its minimum and maximum.

    A chunk that a list did not return gets that list's 0; a list whose scores are all equal gives each of them 1.
    """
    values = [[hit.score.value for hit in hits] for hits in lists]
    bounds = [(min(of_list, default=0.0), max(of_list, default=0.0)) for of_list in values]
    total = sum(weights) or 1.0

    def points(at: int, hit: Hit) -> float:
        low, high = bounds[at]
        normal = 1.0 if high == low else (hit.score.value - low) / (high - low)
        return weights[at] * normal / total

    return _merged(lists, points, Score(0.0, WEIGHTED_FUSION))


def _merged(lists: Sequence[Sequence[Hit]], points: Callable[[int, Hit], float], zero: Score) -> list[Hit]:
    """One hit per chunk with the sum of its points, best first; a chunk counts once per list, at its best rank."""
    sums: dict[str, float] = {}
    merged: dict[str, Hit] = {}
    for at, hits in enumerate(lists):
        seen: set[str] = set()
        for hit in hits:
            id_ = hit.chunk.id
            if id_ in seen:
                continue
            seen.add(id_)
            sums[id_] = sums.get(id_, 0.0) + points(at, hit)
            before = merged.get(id_)
            merged[id_] = hit if before is None else replace(before, scores={**before.scores, **hit.scores})
    fused = []
    for rank, id_ in enumerate(sorted(merged, key=lambda id_: -sums[id_]), start=1):
        score = Score(sums[id_], zero.scale)
        fused.append(replace(merged[id_], score=score, rank=rank, scores={**merged[id_].scores, "fused": score}))
    return fused


def fusion_about(fusion: Fusion) -> str:
    """What a fusion is and how it is set, for people."""
    given = getattr(fusion, "keywords", {})
    weights = "/".join(f"{weight:g}" for weight in given.get("weights") or ())
    if getattr(fusion, "func", fusion) is reciprocal_rank_fusion:
        return f"RRF {given.get('rank_constant', RANK_CONSTANT)}" + (f", weights {weights}" if weights else "")
    return f"weighted sum {weights}"


@dataclass(frozen=True, slots=True)
class FusedRetriever:
    """Several retrievers asked the same query, their lists fused."""

    retrievers: tuple[Retriever, ...]
    fusion: Fusion

    @property
    def about(self) -> str:
        """For people, in a few words."""
        lists = [name for name in map(about, self.retrievers) if name != "nothing"]
        return f"{' + '.join(lists)}, {fusion_about(self.fusion)}"

    def __call__(self, query: Query) -> Judged:
        """All candidates of all lists, once each, best first; then what the retrievers dropped and no list kept."""
        answers = [retriever(query) for retriever in self.retrievers]
        fused = self.fusion([answer.kept for answer in answers])
        judgements = [judgement for answer in answers for judgement in answer.judgements]
        stood_for: dict[str, tuple[str, ...]] = {}
        for judgement in judgements:
            earlier = stood_for.get(judgement.hit.chunk.id, ())
            stood_for[judgement.hit.chunk.id] = tuple(dict.fromkeys((*earlier, *judgement.stood_for)))
        once: dict[str, Judgement] = {}
        for hit in fused:
            id_ = hit.chunk.id
            once[id_] = Judgement(hit, keep=True, reason=f"fused rank {hit.rank}", stood_for=stood_for[id_])
        for judgement in judgements:
            once.setdefault(judgement.hit.chunk.id, judgement)
        notes = sum((answer.notes.without_facts for answer in answers), NO_NOTES)
        lists = [len(answer.kept) for answer in answers]
        return Judged(tuple(once.values()), notes + Notes(facts={"lists": lists}))
