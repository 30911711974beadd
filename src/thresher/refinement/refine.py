"""Refinement: hits to evidence, strip by strip or chunk by chunk.

CRAG, section 4.4: decompose, filter, recompose. Two readings (Z7 in docs/methods.md): the paper cuts off by number and
by score and recomposes in document order, its code cuts off by number alone and orders by score.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal, TypeVar

from thresher.errors import UsageError
from thresher.protocols import Refiner, Scorer, about
from thresher.refinement.strips import (
    STRIP,
    Decomposition,
    descending,
    document_order,
    edge_order,
    strip_hit,
    word_count,
)
from thresher.text.injection import is_command
from thresher.text.sentences import sentence_spans
from thresher.types import Evidence, Hit, Judgement, Notes, Origin, Query, Refined, Score, Scores
from thresher.verification.conflicts import ConflictFinder

MIN_WORDS, CODE_MIN_WORDS = 2, 4
"""A single word ("BERT.", the left-over of a heading) matches a question and says nothing; two can ("Dogs bark.").
CRAG's code gives strips of fewer than 4 words the worst score."""


@dataclass(frozen=True, slots=True)
class _Strip:
    """A piece of the hit at position `at`; `dropped` says why a hit does not stay whose best piece it is."""

    at: int
    hit: Hit
    score: Score | None = None
    dropped: str = ""
    """Empty when the piece stays."""
    twin: int | None = None
    """Position of the hit that says the same and stays."""


Item = TypeVar("Item", _Strip, Evidence)


@dataclass(frozen=True, slots=True)
class StripRefiner:
    """Keeps of every hit the strips that are worth it: at most `top_k`, each scored `min_score` or more.

    Inside and outside hits are two groups, inside first, each with its own `top_k` (Z9). A strip without a score stays,
    after those that have one, as long as `top_k` has room. A text that occurs twice is handed on once. Where nothing
    passes, nothing is handed over and the generator abstains. With `first`, so many strips of each group pass with
    `first_score` already. Not published.
    """

    decompose: Decomposition
    scorer: Scorer
    top_k: int | None = 5
    min_score: float | None = None
    """On the scorer's scale."""
    order: Literal["document", "score"] = "document"
    min_words: int = MIN_WORDS
    first: int = 0
    first_score: float | None = None
    """On the scorer's scale; not above `min_score`."""
    conflicts: ConflictFinder | None = None

    def __post_init__(self) -> None:
        scale = self.scorer.scale
        for name, score in (("min_score", self.min_score), ("first_score", self.first_score)):
            if score is not None and not scale.low <= score <= scale.high:
                raise UsageError(
                    f"{name} {score:g} is not on the scale {scale}",
                    subject=f"strips scored by {self.scorer.name}",
                    next_step=f"choose a number from {scale.low:g} to {scale.high:g}",
                )

    @property
    def about(self) -> str:
        """For people, in a few words."""
        best = "all" if self.top_k is None else f"best {self.top_k}"
        from_score = "" if self.min_score is None else f" from {self.min_score:g}"
        first = f" (the first {self.first} from {self.first_score:g})" if self.first else ""
        return f"strips ({about(self.decompose)}), {best}{from_score}{first}, {self.order} order"

    def __call__(self, query: Query, hits: Sequence[Hit]) -> Refined:
        """The strips that stay, as evidence, and for every hit whether any did."""
        cut = [_Strip(at, strip_hit(hit, span)) for at, hit in enumerate(hits) for span in self.decompose(hit)]
        long = [strip for strip in cut if word_count(strip.hit.chunk.text) >= self.min_words]
        short = [
            replace(strip, dropped="its best strip is too short")
            for strip in cut
            if word_count(strip.hit.chunk.text) < self.min_words
        ]
        scored = self.scorer(query, [strip.hit for strip in long]) if long else Scores(())
        strips = [replace(strip, score=score) for strip, score in zip(long, scored.scores, strict=True)]
        unscored = sum(strip.score is None for strip in strips)
        facts = {"scorer": self.scorer.name, "strips": len(cut), "too_short": len(short), "unscored": unscored}
        notes = scored.notes + Notes(facts=facts)
        if strips and unscored == len(strips):
            return self._whole(query, hits, notes)
        return self._recomposed(hits, [*self._filtered(strips), *short], notes)

    def _filtered(self, strips: Sequence[_Strip]) -> list[_Strip]:
        """All strips, best first in each group, with why they are dropped."""
        fates: list[_Strip] = []
        kept_by_text: dict[str, _Strip] = {}
        for group in self._grouped(strips):
            kept = 0
            for strip in sorted(group, key=_by_score):
                text = " ".join(strip.hit.chunk.text.casefold().split())
                floor = self.first_score if kept < self.first else self.min_score
                if strip.score is not None and floor is not None and strip.score.value < floor:
                    strip = replace(strip, dropped=f"no strip reaches {floor:.2f}")
                elif (twin := kept_by_text.get(text)) is not None:
                    name = twin.hit.chunk.label or twin.hit.chunk.parent_id
                    strip = replace(strip, dropped=f"says what {name} says", twin=twin.at)
                elif kept == self.top_k:
                    strip = replace(strip, dropped=f"its best strip is below the best {self.top_k}")
                else:
                    kept_by_text[text] = strip
                    kept += 1
                fates.append(strip)
        return fates

    def _grouped(self, items: Sequence[Item]) -> list[list[Item]]:
        return [[item for item in items if item.hit.origin is origin] for origin in Origin]

    def _recomposed(self, hits: Sequence[Hit], strips: Sequence[_Strip], notes: Notes) -> Refined:
        evidence = _joined(hits, [strip for strip in strips if not strip.dropped])
        ordered = tuple(piece for group in self._grouped(evidence) for piece in self._ordered(group))
        copies = sum(strip.twin is not None for strip in strips)
        facts = {"strips_kept": sum(not strip.dropped for strip in strips), "copies": copies}
        judgements = tuple(_judged(at, hit, hits, strips) for at, hit in enumerate(hits))
        return _with_conflicts(Refined(ordered, judgements, notes=notes + Notes(facts=facts)), self.conflicts)

    def _ordered(self, evidence: Sequence[Evidence]) -> list[Evidence]:
        if self.order == "document":
            return document_order(evidence)
        return sorted(evidence, key=lambda piece: descending(piece.hit.scores.get(STRIP)))

    def _whole(self, query: Query, hits: Sequence[Hit], notes: Notes) -> Refined:
        """The first `top_k` chunks of each group: without a single score no strip is better than another."""
        chosen = [hit for origin in Origin for hit in [hit for hit in hits if hit.origin is origin][: self.top_k]]
        passages = PassageRefiner(conflicts=self.conflicts)(query, chosen)
        why = f"no strip could be scored, and not among the first {self.top_k} chunks"
        others = (hit for hit in hits if all(hit is not other for other in chosen))
        left = (Judgement(hit, keep=False, reason=why) for hit in others)
        notes += Notes(("refine: no strip could be scored; the chunks were handed over whole",)) + passages.notes
        return replace(passages, judgements=(*passages.judgements, *left), notes=notes)


def _by_score(strip: _Strip) -> float:
    return descending(strip.score)


def _joined(hits: Sequence[Hit], strips: Sequence[_Strip]) -> list[Evidence]:
    """The strips as evidence, in the order of the hits; strips of one chunk that overlap are one piece."""
    pieces: list[tuple[_Strip, int, int]] = []
    for strip in sorted(strips, key=lambda strip: (strip.at, strip.hit.chunk.start, strip.hit.chunk.end)):
        start, end = strip.hit.chunk.start, strip.hit.chunk.end
        if pieces and pieces[-1][0].at == strip.at and start < pieces[-1][2]:
            last, first, last_end = pieces[-1]
            pieces[-1] = (min(last, strip, key=_by_score), first, max(last_end, end))
        else:
            pieces.append((strip, start, end))
    return [_evidence(hits[strip.at], start, end, strip.score) for strip, start, end in pieces]


def _evidence(hit: Hit, start: int, end: int, score: Score | None) -> Evidence:
    chunk = hit.chunk
    scores = hit.scores if score is None else {**hit.scores, STRIP: score}
    text = chunk.text[start - chunk.start : end - chunk.start]
    return Evidence(replace(hit, scores=scores), start, end, text, chunk.page)


def _judged(at: int, hit: Hit, hits: Sequence[Hit], strips: Sequence[_Strip]) -> Judgement:
    own = [strip for strip in strips if strip.at == at]
    staying = [strip for strip in own if not strip.dropped]
    best = min(own, key=_by_score, default=None)
    score = None if best is None else best.score
    reached = "" if score is None else f", best {score.value:.2f}"
    if staying:
        reason = f"{len(staying)} of {len(own)} strips {'stays' if len(staying) == 1 else 'stay'}{reached}"
    elif best is None:
        reason = "there is nothing in it"
    else:
        reason = best.dropped + reached
    copies = sorted({strip.at for strip in strips if strip.twin == at and strip.at != at})
    return Judgement(hit, bool(staying), reason, score, tuple(hits[copy].chunk.id for copy in copies))


@dataclass(frozen=True, slots=True)
class PassageRefiner:
    """Hands over whole chunks as given, or the best at both ends (Y16), without sentences that give orders."""

    order: Literal["given", "edge"] = "given"
    conflicts: ConflictFinder | None = None

    @property
    def about(self) -> str:
        """For people, in a few words."""
        return "as_is" if self.order == "given" else "whole, the best at both ends"

    def __call__(self, query: Query, hits: Sequence[Hit]) -> Refined:
        """All chunks."""
        evidence = [piece for hit in hits for piece in _without_commands(hit)]
        if self.order == "edge":
            evidence = edge_order(evidence)
        judgements = tuple(Judgement(hit, keep=True, reason="handed over whole") for hit in hits)
        notes = Notes(facts={"order": self.order})
        return _with_conflicts(Refined(tuple(evidence), judgements, notes=notes), self.conflicts)


def _without_commands(hit: Hit) -> list[Evidence]:
    """A chunk whole, or in the stretches between its sentences that give orders."""
    chunk = hit.chunk
    if not is_command(chunk.text):
        return [_evidence(hit, chunk.start, chunk.end, None)]
    stretches: list[tuple[int, int]] = []
    last = -1
    for at, (start, end) in enumerate(sentence_spans(chunk.text)):
        if not is_command(chunk.text[start:end]):
            stretches.append((stretches.pop()[0] if stretches and last == at - 1 else start, end))
            last = at
    return [_evidence(hit, chunk.start + start, chunk.start + end, None) for start, end in stretches]


def _with_conflicts(refined: Refined, find: ConflictFinder | None) -> Refined:
    if find is None:
        return refined
    found = find(refined.evidence)
    return replace(refined, conflicts=found.pairs, notes=refined.notes + found.notes)


@dataclass(frozen=True, slots=True)
class BestHits:
    """The best `most` hits from inside, and from outside, to another refiner; the others are dropped.

    The best are the first, or, with `by`, those with the highest score of that name, hits without it last.
    """

    refiner: Refiner
    most: int
    by: str = ""

    @property
    def about(self) -> str:
        """For people, in a few words."""
        return f"best {self.most} chunks{' as judged' if self.by else ''}: {about(self.refiner)}"

    def __call__(self, query: Query, hits: Sequence[Hit]) -> Refined:
        """What the refiner makes of them, best first; every hit that came in has a judgement."""
        ranked = sorted(hits, key=lambda hit: descending(hit.scores.get(self.by))) if self.by else hits
        chosen = [hit for origin in Origin for hit in [hit for hit in ranked if hit.origin is origin][: self.most]]
        ids = {hit.chunk.id for hit in chosen}
        refined = self.refiner(query, [hit for hit in ranked if hit.chunk.id in ids])
        why = f"below the best {self.most}"
        left = (Judgement(hit, keep=False, reason=why) for hit in hits if hit.chunk.id not in ids)
        return replace(refined, judgements=(*refined.judgements, *left))
