"""The evidence for a question without an answer: for callers that write the answer themselves.

The slots run as for an answer up to the refinement; nothing is generated, nothing is stored.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from thresher.answer import Answer
from thresher.pipeline import SLOTS, Pipeline, select
from thresher.recipes.components import Components
from thresher.structure.locators import locate
from thresher.types import (
    Correction,
    Decision,
    Evidence,
    Hit,
    Judged,
    Judgement,
    Query,
    Refined,
    Score,
    Usage,
    Verdict,
    ranked,
)


@dataclass(frozen=True, slots=True)
class Passage:
    """A chunk that the judge kept, and what of it is evidence."""

    hit: Hit
    probability: Score | None
    """What the judge gave it; `hit.score`, which the order is by, may count retrieval too."""
    spans: tuple[Evidence, ...]
    """In the order of the document: the chunk whole, or those of its sentences that are evidence; empty for a chunk
    beyond those that the recipe hands on."""
    text: str
    """The chunk's; of a refined passage that of its spans, with … where something between them is left out."""
    locator: str = ""
    """As of `Citation`."""


@dataclass(frozen=True, slots=True)
class EvidenceResult:
    """What was found for a question, and what it is worth."""

    question: str
    recipe: str
    verdict: Verdict | None
    """None where the recipe does not decide."""
    confidence: float | None
    """Probability that the evidence suffices; None where nothing says it."""
    reason: str
    """Of the verdict, in words."""
    passages: tuple[Passage, ...]
    """Best first, at most as many as were asked for, inside before outside; what the verdict rejects is not there."""
    rejected: tuple[Passage, ...]
    """What the judge would have kept and the verdict rejects: all that is inside, where it is incorrect; whole."""
    evidence: tuple[Evidence, ...]
    """What a generator would be given, in its order; also of chunks beyond those asked for."""
    degraded: tuple[str, ...]
    usage: Usage

    def metadata(self, passage: Passage) -> dict[str, Any]:
        """One of the passages for a document of another framework: flat JSON, what is not known left out.

        `spans` are pairs of offsets in the document, as `start` and `end` are.
        """
        hit, chunk = passage.hit, passage.hit.chunk
        described = {
            "source": chunk.source,
            "title": chunk.title,
            "page": chunk.page,
            "start": chunk.start,
            "end": chunk.end,
            "locator": passage.locator,
            "url": hit.url,
            "origin": str(hit.origin),
            "score": hit.score.value,
            "scale": str(hit.score.scale),
            "probability": None if passage.probability is None else passage.probability.value,
            "verdict": None if self.verdict is None else str(self.verdict),
            "confidence": self.confidence,
            "spans": [[span.start, span.end] for span in passage.spans],
        }
        return {name: value for name, value in described.items() if value not in (None, "")}


Placed = Callable[[Sequence[Hit]], Sequence[str]]
"""Hits to their locators, in order."""


def gathered(
    pipeline: Pipeline,
    query: Query,
    placed: Placed,
    linked: Callable[[Hit], Hit],
    *,
    refined: bool = False,
    strict: bool = False,
) -> EvidenceResult:
    """The run of a pipeline up to what a generator would be given; `linked` gives a hit its address.

    With `refined` a passage is what the refinement left of it. Raises Degraded as a question does.
    """
    later = tuple(f"{slot}:" for slot in SLOTS[SLOTS.index("generate") :])
    lacks = tuple(lack for lack in pipeline.degraded if not lack.startswith(later))
    steps: dict[str, object] = {}
    degraded = dict.fromkeys(lacks)
    for step in replace(pipeline, degraded=lacks).run(query, strict=strict):
        assert not isinstance(step, Answer)
        steps[step.name] = step.value
        degraded |= dict.fromkeys(step.value.notes.degraded)
        if step.name == "refine":
            break
    judged, decision, correction, left = (steps[slot] for slot in ("judge", "decide", "correct", "refine"))
    assert isinstance(judged, Judged)
    assert isinstance(decision, Decision)
    assert isinstance(correction, Correction)
    assert isinstance(left, Refined)
    chosen = select(decision, judged.kept, correction.hits)
    inside = {hit.chunk.id for hit in chosen}
    rejected = [hit for hit in judged.kept if hit.chunk.id not in inside]
    passages = _Passages((*judged.judgements, *correction.judgements), left.evidence, placed, linked, refined)
    return EvidenceResult(
        question=query.question,
        recipe=pipeline.recipe,
        verdict=decision.verdict,
        confidence=decision.confidence,
        reason=decision.reason,
        passages=passages(chosen, query.limit),
        rejected=replace(passages, refined=False)(rejected, query.limit),
        evidence=left.evidence,
        degraded=tuple(degraded),
        usage=pipeline.meter.usage,
    )


@dataclass(frozen=True, slots=True)
class _Passages:
    judgements: Sequence[Judgement]
    evidence: Sequence[Evidence]
    placed: Placed
    linked: Callable[[Hit], Hit]
    refined: bool

    def __call__(self, hits: Sequence[Hit], limit: int) -> tuple[Passage, ...]:
        """The first hits with what is known of them, ranked anew; refined, those that have evidence."""
        shown = [hit for hit in hits if self._spans(hit) or not self.refined][:limit]
        return tuple(map(self._passage, ranked(shown), self.placed(shown)))

    def _passage(self, hit: Hit, place: str) -> Passage:
        scores = {judgement.hit.chunk.id: judgement.score for judgement in self.judgements}
        spans = self._spans(hit)
        text = " … ".join(span.text for span in spans) if self.refined else hit.chunk.text
        return Passage(self.linked(hit), scores.get(hit.chunk.id), spans, text, place)

    def _spans(self, hit: Hit) -> tuple[Evidence, ...]:
        own = [piece for piece in self.evidence if piece.hit.chunk.id == hit.chunk.id]
        return tuple(sorted(own, key=lambda piece: piece.start))


def placing(parts: Components) -> Placed:
    """Locators from the stored documents; empty for text that is from none, a page of the web."""
    documents = parts.whole_documents()

    def placed(hits: Sequence[Hit]) -> list[str]:
        known = documents(sorted({hit.chunk.document_id for hit in hits}))
        return [
            locate(known[hit.chunk.document_id], hit.chunk.start, hit.chunk.end)
            if hit.chunk.document_id in known
            else ""
            for hit in hits
        ]

    return placed
