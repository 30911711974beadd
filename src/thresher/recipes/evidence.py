"""The evidence for a question: the slots run up to the refinement; nothing is generated, nothing is stored."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from thresher.answer import Answer
from thresher.models.encoders import token_count
from thresher.pipeline import SLOTS, Cut, Pipeline, select
from thresher.recipes.components import Components
from thresher.refinement.excerpts import BudgetedRefiner, EvidenceReader
from thresher.structure.locators import locate
from thresher.types import (
    Correction,
    Decision,
    Evidence,
    Hit,
    Judged,
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
    """In the order of the document: the chunk whole, or its sentences that are evidence; empty for a chunk that the
    recipe does not hand on."""
    text: str
    """The chunk's; of a refined passage that of its spans, with … between them."""
    locator: str = ""
    """As of `Citation`."""


@dataclass(frozen=True, slots=True)
class EvidenceResult:
    """The evidence for a question, with its verdict."""

    question: str
    recipe: str
    verdict: Verdict | None
    """None where the recipe does not decide."""
    confidence: float | None
    """Probability that the evidence suffices; None where nothing says it."""
    reason: str
    """Of the verdict, in words."""
    passages: tuple[Passage, ...]
    """Best first, at most as many as were asked for, inside before outside; without those that the verdict rejects."""
    rejected: tuple[Passage, ...]
    """Kept by the judge, rejected by the verdict: all that is inside, where it is incorrect; whole."""
    evidence: tuple[Evidence, ...]
    """The input of a generator, in its order; also of chunks beyond those asked for."""
    degraded: tuple[str, ...]
    usage: Usage

    def metadata(self, passage: Passage) -> dict[str, Any]:
        """A passage as flat JSON without unknown values; `spans` are offsets in the document, as `start` and `end`."""
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


def gathered(
    pipeline: Pipeline,
    query: Query,
    parts: Components,
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
    steps: dict[str, Any] = {}
    degraded = dict.fromkeys(lacks)
    for step in replace(pipeline, degraded=lacks, nearest=None).run(query, strict=strict):
        assert not isinstance(step, Answer)
        steps[step.name] = step.value
        degraded |= dict.fromkeys(step.value.notes.degraded)
        if step.name == "refine":
            break
    judged: Judged = steps["judge"]
    decision: Decision = steps["decide"]
    correction: Correction = steps["correct"]
    left: Refined = steps["refine"]
    scores = {one.hit.chunk.id: one.score for one in (*judged.judgements, *correction.judgements)}
    spans: dict[str, tuple[Evidence, ...]] = defaultdict(tuple)
    for piece in sorted(left.evidence, key=lambda piece: piece.start):
        spans[piece.hit.chunk.id] += (piece,)

    def passages(hits: Sequence[Hit], *, refined: bool) -> tuple[Passage, ...]:
        """The first hits that are wanted, ranked anew; refined, those that have evidence."""
        shown = ranked([hit for hit in hits if not refined or hit.chunk.id in spans][: query.limit])
        documents = parts.whole_documents()(sorted({hit.chunk.document_id for hit in shown}))
        found = []
        for hit in shown:
            chunk, own = hit.chunk, spans.get(hit.chunk.id, ())
            text = " … ".join(span.text for span in own) if refined else chunk.text
            document = documents.get(chunk.document_id)  # none of a page of the web
            place = "" if document is None else locate(document, chunk.start, chunk.end)
            found.append(Passage(linked(hit), scores.get(chunk.id), own, text, place))
        return tuple(found)

    chosen = select(decision, judged.kept, correction.hits)
    inside = {hit.chunk.id for hit in chosen}
    return EvidenceResult(
        question=query.question,
        recipe=pipeline.recipe,
        verdict=decision.verdict,
        confidence=decision.confidence,
        reason=decision.reason,
        passages=passages(chosen, refined=refined),
        rejected=passages([hit for hit in judged.kept if hit.chunk.id not in inside], refined=False),
        evidence=left.evidence,
        degraded=tuple(degraded),
        usage=pipeline.meter.usage,
    )


@dataclass(frozen=True, slots=True)
class Spending:
    """Spends a budget of tokens on evidence; made once for a recipe."""

    read: EvidenceReader
    count: Callable[[str], int]

    def cut(self, most: int) -> Cut:
        """Evidence to the excerpts that fit into `most` tokens."""
        return lambda query, evidence: self.read(query, evidence).within(most, self.count)

    def budgeted(self, pipeline: Pipeline, most: int) -> Pipeline:
        """A recipe whose generator is given no more than `most` tokens of evidence."""
        return replace(pipeline, refine=BudgetedRefiner(pipeline.refine, self.read, most, self.count))


def spending(parts: Components) -> Spending:
    """The bundled judge over the documents, and the bundled tokenizer."""
    return Spending(EvidenceReader(parts.models.judge(), parts.whole_documents()), token_count)
