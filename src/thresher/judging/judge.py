"""A scorer and a threshold: what most recipes put in the judge slot."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from thresher.errors import BudgetSpent, ProviderError
from thresher.judging.thresholds import Threshold, parts_of, value_of
from thresher.protocols import CrossEncoder, Judge, Scorer, about
from thresher.types import Hit, Judged, Judgement, Notes, Query, Scale, Score, ranked_judgements


@dataclass(frozen=True, slots=True)
class ScoringJudge:
    """Keeps the hits whose score is enough; a chunk whose score could not be read is kept, and counted.

    Where the scorer failed, `otherwise` scores; without it the chunk is kept.
    """

    scorer: Scorer
    threshold: Threshold
    name: str = "judge"
    order: bool = True
    """Kept hits by their score, best first, which becomes the score they are ranked by; otherwise as they came."""
    otherwise: Scorer | None = None

    @property
    def about(self) -> str:
        """For people, in a few words."""
        return f"{about(self.scorer)}, threshold {about(self.threshold)}"

    def __call__(self, query: Query, hits: Sequence[Hit]) -> Judged:
        """Kept hits first, then the others, each with its score and the reason."""
        if not hits:
            return Judged(())
        first = self.scorer(query, hits)
        scores, names = list(first.scores), [self.scorer.name] * len(hits)
        notes, left = first.notes, first.missing
        if left and self.otherwise is not None:
            second = self.otherwise(query, [hits[at] for at in left])
            for at, score in zip(left, second.scores, strict=True):
                scores[at], names[at] = score, self.otherwise.name
            helped = len(left) - second.scores.count(None)
            lack = f"judge: {self.otherwise.name} scored {helped} of these chunks instead"
            notes += second.notes.without_facts + Notes((lack,))
        cut = self.threshold(query, scores)
        judged: list[Judgement] = []
        for at, (hit, parts) in enumerate(zip(hits, parts_of(first), strict=True)):
            score, keep, given = scores[at], cut.keep[at], {**hit.scores, **parts}
            if score is None:
                why = "not scored, kept" if at in left else "unreadable, kept"
                judged.append(Judgement(replace(hit, scores=given), keep=True, reason=why))
                continue
            found = replace(hit, scores={**given, names[at]: score}, score=score if self.order else hit.score)
            judged.append(Judgement(found, keep, f"{names[at]} {score.value:.3g}{cut.compared(keep)}", score))
        judged.sort(key=lambda one: (not one.keep, -value_of(one.score) if self.order else 0.0))
        facts = {
            "threshold": cut.value,
            "unreadable": (notes + cut.notes).unreadable,  # stated also if there was none
            "unscored": scores.count(None),
        }
        notes = Notes(facts={"scorer": self.scorer.name}) + notes + cut.notes + Notes(facts=facts)
        return Judged(tuple(ranked_judgements(judged)) if self.order else tuple(judged), notes)


BLEND = Scale("retrieval and judge", 0.0, 1.0)


@dataclass(frozen=True, slots=True)
class BlendedJudge:
    """Orders what `judge` keeps by (1 - weight) * retrieval + weight * judgement. Not published.

    `judge` scores from 0 to 1 and leaves the order alone; the retrieval's scores are brought to 0..1 by their minimum
    and maximum. Only the best `most` are judged, for speed; the others follow, kept.
    """

    judge: Judge
    weight: float
    most: int

    @property
    def about(self) -> str:
        """For people, in a few words."""
        return f"{about(self.judge)}; ordered by {self.weight:g} judge and {1 - self.weight:g} retrieval"

    def __call__(self, query: Query, hits: Sequence[Hit]) -> Judged:
        """Kept hits by both scores, best first, then those that were not judged, then the dropped ones."""
        first, rest = hits[: self.most], hits[self.most :]
        judged = self.judge(query, first)
        values = [hit.score.value for hit in first]
        low, high = min(values, default=0.0), max(values, default=0.0)
        near = {hit.chunk.id: (hit.score.value - low) / (high - low) if high > low else 1.0 for hit in first}
        kept = [self._blended(one, near) for one in judged.judgements if one.keep]
        kept.sort(key=lambda one: -one.hit.score.value)
        follow = [Judgement(hit, keep=True, reason=f"not judged: behind the best {self.most}") for hit in rest]
        dropped = [one for one in judged.judgements if not one.keep]
        return Judged(ranked_judgements((*kept, *follow, *dropped)), judged.notes)

    def _blended(self, judgement: Judgement, near: dict[str, float]) -> Judgement:
        """With the blend as the score it is ranked by; a hit without a judgement has that of retrieval alone."""
        retrieval = near[judgement.hit.chunk.id]
        value = retrieval if judgement.score is None else judgement.score.value
        score = Score((1 - self.weight) * retrieval + self.weight * value, BLEND)
        return replace(judgement, hit=replace(judgement.hit, score=score))


@dataclass(frozen=True, slots=True)
class RerankedJudge:
    """Orders what another judge kept (ChunkRAG, Algorithm 1, line 24; Y16); if the cross-encoder fails, as it was."""

    judge: Judge
    cross_encoder: CrossEncoder
    titled: bool = True
    """Whether the cross-encoder reads a chunk with its title in front."""

    @property
    def about(self) -> str:
        """For people, in a few words."""
        return f"{about(self.judge)}; ordered by cross-encoder {self.cross_encoder.name.partition('@')[0]}"

    def __call__(self, query: Query, hits: Sequence[Hit]) -> Judged:
        """Kept hits by the cross-encoder's score, best first, ties as they were; then the dropped ones."""
        judged = self.judge(query, hits)
        kept = [judgement for judgement in judged.judgements if judgement.keep]
        if not kept:
            return judged
        texts = [one.hit.chunk.titled if self.titled else one.hit.chunk.text for one in kept]
        try:
            scores = self.cross_encoder(query.search, texts)
        except (ProviderError, BudgetSpent) as error:
            lack = f"judge: {error}; the order of the scores was kept"
            return replace(judged, notes=judged.notes + Notes((lack,)))
        scored = [
            replace(one, hit=replace(one.hit, score=score, scores={**one.hit.scores, "rerank": score}))
            for one, score in zip(kept, scores, strict=True)
        ]
        scored.sort(key=lambda one: -one.hit.score.value)
        dropped = [judgement for judgement in judged.judgements if not judgement.keep]
        notes = judged.notes + Notes(facts={"reranker": self.cross_encoder.name})
        return Judged((*ranked_judgements(scored), *dropped), notes)
