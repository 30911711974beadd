"""Refinement: hits to evidence, strip by strip or chunk by chunk.

CRAG, section 4.4: decompose (Z8 in docs/methods.md), filter, recompose. Two readings (Z7): the paper cuts off by number
and by score and recomposes in document order, its code cuts off by number alone and orders by score. A strip is a span
of the hit's text: every judged, kept or quoted strip can be found in the document.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from itertools import pairwise
from typing import Literal, TypeVar

from thresher.errors import UsageError
from thresher.protocols import Refiner, Scorer, about
from thresher.question.intent import enough_for
from thresher.text.injection import is_command
from thresher.text.sentences import Span, line_spans, sentence_spans, trim
from thresher.types import Evidence, Hit, Judgement, Notes, Origin, Query, Refined, Score, Scores

Decomposition = Callable[[Hit], list[Span]]
"""Spans within the text of a hit's chunk, in order, none of them empty or blank."""

WINDOW_WORDS = 50
TAIL_WORDS = 10
"""The released code of CRAG, mode `word_num`: windows of 50 words, a tail of fewer than 10 goes to the one before."""

GLUED_WORDS = 5
GROUP_PIECES = 3
"""The released code of CRAG, mode `excerption`."""

ALSO_PROBABLE = 0.5
"""Probability from which a hit may be one of many that answer."""

_TOKEN = re.compile(r"\S+")
_SENTENCE_BREAK = re.compile(r"\?|\. ")
# Scripts written without spaces have no words to count: each of their characters counts as one.
_WORD = re.compile("[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af]|[^\\W_]+(?:[-'’.][^\\W_]+)*")


def sentences(hit: Hit) -> list[Span]:
    """Sentences of running text, rows of a table."""
    cut = line_spans if hit.chunk.kind == "table" else sentence_spans
    return cut(hit.chunk.text)


def fixed_num(hit: Hit, words: int = WINDOW_WORDS, tail: int = TAIL_WORDS) -> list[Span]:
    """Windows of `words` words; a last one of fewer than `tail` words is merged into the one before."""
    tokens = [token.span() for token in _TOKEN.finditer(hit.chunk.text)]
    begins = list(range(0, len(tokens), words))
    if len(begins) > 1 and len(tokens) - begins[-1] < tail:
        begins.pop()
    return [(tokens[begin][0], tokens[after - 1][1]) for begin, after in pairwise([*begins, len(tokens)]) if tokens]


def excerption(hit: Hit) -> list[Span]:
    """Pieces between question marks and full stops, in groups of three.

    A piece of at most 5 words belongs to the one before, a piece that was there already is left out. It ends its group,
    where the released code joins what stands on both sides of it: a strip of ours is one stretch of the text.
    """
    text = hit.chunk.text
    groups: list[list[Span]] = [[]]
    seen: list[str] = []
    breaks = [found.end() for found in _SENTENCE_BREAK.finditer(text)]  # a break belongs to the piece it ends
    for start, end in _inked(text, [0, *breaks, len(text)]):
        piece = text[start:end]
        if piece in seen:
            groups.append([])
        elif groups[-1] and len(piece.split()) <= GLUED_WORDS:
            groups[-1][-1] = (groups[-1][-1][0], end)
        else:
            if len(groups[-1]) == GROUP_PIECES:
                groups.append([])
            groups[-1].append((start, end))
            seen.append(piece)
    return [(group[0][0], group[-1][1]) for group in groups if group]


def selection(hit: Hit) -> list[Span]:
    """The whole passage: strips are chosen, none is cut (the default of CRAG's run script)."""
    return _inked(hit.chunk.text, [0, len(hit.chunk.text)])


DECOMPOSITIONS: Mapping[str, Decomposition] = {
    "sentences": sentences,
    "fixed_num": fixed_num,
    "excerption": excerption,
    "selection": selection,
}
"""By the name that settings give them."""


def _inked(text: str, cuts: Sequence[int]) -> list[Span]:
    """What lies between the cuts, without white space at its ends; blank pieces are left out."""
    spans = (trim(text, start, end) for start, end in pairwise(cuts))
    return [span for span in spans if span[0] < span[1]]


def strip_hit(hit: Hit, span: Span) -> Hit:
    """The strip as a hit of its own, without its chunk's scores; its id is a hash of the chunk's id and the span."""
    chunk = hit.chunk
    start, end = span
    id_ = sha256(f"{chunk.id}:{start}:{end}".encode()).hexdigest()[:24]
    strip = replace(
        chunk,
        id=id_,
        parent_id=chunk.id,
        level="subchunk",
        start=chunk.start + start,
        end=chunk.start + end,
        text=chunk.text[start:end],
    )
    return replace(hit, chunk=strip, scores={})


def word_count(text: str) -> int:
    """Words of a text: runs of letters and digits; marks and rules are none."""
    return len(_WORD.findall(text))


# --- strips -----------------------------------------------------------------------------------------------------------

STRIP = "strip"
"""Name under which a hit of the evidence carries the score of its strip."""

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


Grouped = TypeVar("Grouped", _Strip, Evidence)


@dataclass(frozen=True, slots=True)
class StripRefiner:
    """Keeps of every hit the strips that are worth it: at most `top_k`, each scored `min_score` or more.

    Inside and outside hits are two groups, inside first, each with its own `top_k` (Z9). A strip without a score stays,
    after those that have one, as long as `top_k` has room. A text that occurs twice is handed on once. Where nothing
    passes, nothing is handed over and the generator abstains.
    """

    decompose: Decomposition
    scorer: Scorer
    top_k: int | None = 5
    min_score: float | None = None
    """On the scorer's scale."""
    order: Literal["document", "score"] = "document"
    min_words: int = MIN_WORDS

    def __post_init__(self) -> None:
        scale, score = self.scorer.scale, self.min_score
        if score is not None and not scale.low <= score <= scale.high:
            raise UsageError(
                f"min_score {score:g} is not on the scale {scale}",
                subject=f"strips scored by {self.scorer.name}",
                next_step=f"choose a number from {scale.low:g} to {scale.high:g}",
            )

    @property
    def about(self) -> str:
        """For people, in a few words."""
        best = "all" if self.top_k is None else f"best {self.top_k}"
        from_score = "" if self.min_score is None else f" from {self.min_score:g}"
        return f"strips ({about(self.decompose)}), {best}{from_score}, {self.order} order"

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
                if strip.score is not None and self.min_score is not None and strip.score.value < self.min_score:
                    strip = replace(strip, dropped=f"no strip reaches {self.min_score:.2f}")
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

    def _grouped(self, items: Sequence[Grouped]) -> list[list[Grouped]]:
        return [[item for item in items if item.hit.origin is origin] for origin in Origin]

    def _recomposed(self, hits: Sequence[Hit], strips: Sequence[_Strip], notes: Notes) -> Refined:
        evidence = _joined(hits, [strip for strip in strips if not strip.dropped])
        ordered = tuple(piece for group in self._grouped(evidence) for piece in self._ordered(group))
        copies = sum(strip.twin is not None for strip in strips)
        facts = {"strips_kept": sum(not strip.dropped for strip in strips), "copies": copies}
        judgements = tuple(_judged(at, hit, hits, strips) for at, hit in enumerate(hits))
        return Refined(ordered, judgements, notes=notes + Notes(facts=facts))

    def _ordered(self, evidence: Sequence[Evidence]) -> list[Evidence]:
        if self.order == "document":
            return document_order(evidence)
        return sorted(evidence, key=lambda piece: descending(piece.hit.scores.get(STRIP)))

    def _whole(self, query: Query, hits: Sequence[Hit], notes: Notes) -> Refined:
        """The first `top_k` chunks of each group: without a single score no strip is better than another."""
        chosen = [hit for origin in Origin for hit in [hit for hit in hits if hit.origin is origin][: self.top_k]]
        passages = PassageRefiner()(query, chosen)
        why = f"no strip could be scored, and not among the first {self.top_k} chunks"
        others = (hit for hit in hits if all(hit is not other for other in chosen))
        left = (Judgement(hit, keep=False, reason=why) for hit in others)
        notes += Notes(("refine: no strip could be scored; the chunks were kept whole",)) + passages.notes
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


# --- whole chunks, order ----------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class PassageRefiner:
    """Hands over whole chunks as given, or the best at both ends (Y16), without sentences that give orders."""

    order: Literal["given", "edge"] = "given"

    @property
    def about(self) -> str:
        """For people, in a few words."""
        return "as_is" if self.order == "given" else "whole, the best at both ends"

    def __call__(self, query: Query, hits: Sequence[Hit]) -> Refined:
        """All chunks."""
        evidence = [piece for hit in hits for piece in _without_commands(hit)]
        if self.order == "edge":
            evidence = edge_order(evidence)
        judgements = tuple(Judgement(hit, keep=True, reason="kept whole") for hit in hits)
        return Refined(tuple(evidence), judgements, notes=Notes(facts={"order": self.order}))


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


@dataclass(frozen=True, slots=True)
class BestHits:
    """The best `most` hits from inside, and from outside, to another refiner; the others are dropped.

    The best are the first, or, with `by`, those with the highest score of that name; hits without it are none where
    another one has it. `enough` are numbers of hits, each with a probability: so many are the best where the first has
    it and the last has not `ALSO_PROBABLE`, so that not many more answer. Where more results than the last number are
    wanted, or the question has two parts, the best are `most`.
    """

    refiner: Refiner
    most: int
    by: str = ""
    enough: Sequence[tuple[int, float]] = ()

    @property
    def about(self) -> str:
        """For people, in a few words."""
        fewer = ", fewer where one is probable" if self.enough else ""
        return f"best {self.most} chunks{' as judged' if self.by else ''}{fewer}: {about(self.refiner)}"

    def __call__(self, query: Query, hits: Sequence[Hit]) -> Refined:
        """What the refiner makes of them, best first; every hit that came in has a judgement."""
        scored = [hit for hit in hits if self.by in hit.scores]
        ranked = sorted(scored, key=lambda hit: descending(hit.scores[self.by])) or hits
        enough = enough_for(query, self.enough)
        best = {origin: self._best([hit for hit in ranked if hit.origin is origin], enough) for origin in Origin}
        ids = {hit.chunk.id for chosen in best.values() for hit in chosen}
        refined = self.refiner(query, [hit for hit in ranked if hit.chunk.id in ids])
        below = {origin: f"below the best {len(chosen)}" for origin, chosen in best.items()}
        judged = {hit.chunk.id for hit in ranked}
        left = (
            Judgement(hit, keep=False, reason=below[hit.origin] if hit.chunk.id in judged else "not judged")
            for hit in hits
            if hit.chunk.id not in ids
        )
        return replace(refined, judgements=(*refined.judgements, *left))

    def _best(self, ranked: Sequence[Hit], enough: Sequence[tuple[int, float]]) -> Sequence[Hit]:
        """Of hits of one origin."""
        for most, probability in enough:
            scores = [hit.scores[self.by].value for hit in ranked[:most] if self.by in hit.scores]
            if scores and max(scores) >= probability and min(scores) < ALSO_PROBABLE:
                return ranked[:most]
        return ranked[: self.most]


def document_order(evidence: Sequence[Evidence]) -> list[Evidence]:
    """Documents in the order they first come in, the pieces of each as they stand in it."""
    first: dict[str, int] = {}
    for piece in evidence:
        first.setdefault(piece.hit.chunk.document_id, len(first))
    return sorted(evidence, key=lambda piece: (first[piece.hit.chunk.document_id], piece.start, piece.end))


def edge_order(best_first: Sequence[Evidence]) -> list[Evidence]:
    """The best at both ends, the worst in the middle, where readers attend least (Y16 in docs/methods.md)."""
    return [*best_first[0::2], *reversed(best_first[1::2])]


def descending(score: Score | None) -> float:
    """Sorts the best first and what has no score last."""
    return float("inf") if score is None else -score.value
