"""ECRAG's knowledge detection: a confidence from cosine and BM25, to choose chunks and to route the question.

To choose among the candidates of one query both parts are brought to 0..1 by their minimum and maximum (Fig. 6 of the
thesis). That always calls something the best, so routing uses the cosine as it is, and BM25 as a share of the highest
value it can have (X8 to X10 in docs/methods.md).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import log
from typing import ClassVar, Literal

from thresher.errors import UsageError
from thresher.parts.judging import ABSOLUTE, DIGITS, NOTHING_RETRIEVED, index_terms, query_terms
from thresher.protocols import ChunkTable
from thresher.types import Decision, Hit, Judged, Judgement, Notes, Query, Scale, Score, Verdict, ranked_judgements

KDM = Scale("KDM confidence", 0.0, 1.0)
KDM_SUM = Scale("KDM sum", 0.0, 2.0)

COSINE_WEIGHT = 0.7
"""BM25 has the rest: ECRAG, sections 4.2 and 5.2."""

CUT = 0.5
"""ECRAG, Fig. 6."""


@dataclass(frozen=True, slots=True)
class ConfidenceJudge:
    """Keeps the hits whose confidence, relative to the other candidates, reaches `cut`; best first.

    `combine`: `weighted` is on 0..1, `sum` (Fig. 6) on 0..2. `nonzero_rule` drops further hits: `raw` those whose
    cosine or BM25 is not above 0, `off` none, `normalized` (Fig. 6) those that are the minimum of a list. A list of
    equal values keeps its absolute values, so that a single candidate can survive; with `normalized` it is all zeros,
    as printed. Every hit also gets its absolute confidence, which routes: 0.7 cosine + 0.3 BM25 / highest possible one,
    each clipped to 0..1, which is comparable between queries.
    """

    lexical: Callable[[Query, Sequence[Hit]], Sequence[float]]
    """BM25 of each hit."""
    ceiling: Callable[[str], float]
    """The highest BM25 any text can have for a query; 0 for a query without terms."""
    combine: Literal["weighted", "sum"] = "weighted"
    cosine_weight: float = COSINE_WEIGHT
    nonzero_rule: Literal["raw", "off", "normalized"] = "raw"
    cut: float = CUT
    keep: int | None = None
    """Hits kept at most; as many as results are wanted if those are more."""
    name: ClassVar[str] = "confidence"

    def __post_init__(self) -> None:
        if not self.scale.low <= self.cut <= self.scale.high:
            subject, next_step = f"cut {self.cut:g}", "give one that is"
            raise UsageError(f"is not on the scale {self.scale}", subject=subject, next_step=next_step)

    @property
    def scale(self) -> Scale:
        """0 to 1, or 0 to 2 for the sum."""
        return KDM if self.combine == "weighted" else KDM_SUM

    @property
    def about(self) -> str:
        """For people, in a few words."""
        weights = f"{self.cosine_weight:g} cosine + {1 - self.cosine_weight:g} BM25"
        return f"confidence {'cosine + BM25' if self.combine == 'sum' else weights}, threshold {self.cut:g}"

    def __call__(self, query: Query, hits: Sequence[Hit]) -> Judged:
        """Every hit with its confidence; the kept ones first. Raises UsageError for hits without a dense score."""
        if not hits:
            return Judged(())
        lexical = self.lexical(query, hits)
        cosines, shares = self.absolute_parts(query, hits, lexical)
        near, shared = self._spread([_cosine(hit) for hit in hits], cosines), self._spread(lexical, shares)
        judged = [
            self._judged(hit, bm25, near_, shared_, self.absolute(cosine, share))
            for hit, bm25, near_, shared_, cosine, share in zip(
                hits, lexical, near, shared, cosines, shares, strict=True
            )
        ]
        judged.sort(key=lambda judgement: (not judgement.keep, -judgement.hit.score.value))
        if self.keep is not None:
            most = max(self.keep, query.limit)
            judged[most:] = [
                replace(one, keep=False, reason=f"{one.reason}, below the best {most}") if one.keep else one
                for one in judged[most:]
            ]
        return Judged(ranked_judgements(judged), Notes(facts={"cut": self.cut, "scale": str(self.scale)}))

    def absolute_parts(
        self, query: Query, hits: Sequence[Hit], lexical: Sequence[float]
    ) -> tuple[list[float], list[float]]:
        """The cosine and the share of the highest possible BM25 of each hit, both 0..1."""
        ceiling = self.ceiling(query.search)
        shares = [_clipped(value / ceiling) if ceiling > 0 else 0.0 for value in lexical]
        return [_clipped(_cosine(hit)) for hit in hits], shares

    def absolute(self, cosine: float, share: float) -> Score:
        """The absolute confidence of two parts."""
        return Score(self._weighted(cosine, share), KDM)

    def _weighted(self, cosine: float, lexical: float) -> float:
        return round(self.cosine_weight * cosine + (1 - self.cosine_weight) * lexical, DIGITS)

    def _spread(self, values: Sequence[float], absolute: Sequence[float]) -> Sequence[float]:
        low, high = min(values), max(values)
        if low < high:
            return [(value - low) / (high - low) for value in values]
        return [0.0] * len(values) if self.nonzero_rule == "normalized" else absolute

    def _judged(self, hit: Hit, lexical: float, near: float, shared: float, absolute: Score) -> Judgement:
        """`near` and `shared` are cosine and BM25 brought to 0..1."""
        value = self._weighted(near, shared) if self.combine == "weighted" else round(near + shared, DIGITS)
        score = Score(value, self.scale)
        zero = self._zero(_cosine(hit), lexical, near, shared)
        keep = not zero and value >= self.cut
        sign = ">=" if keep else "<"
        reason = zero or f"confidence {value:.3g} {sign} {self.cut:g} (cosine {near:.3g}, BM25 {shared:.3g})"
        scores = {**hit.scores, self.name: score, ABSOLUTE: absolute}
        return Judgement(replace(hit, score=score, scores=scores), keep, reason, score)

    def _zero(self, cosine: float, lexical: float, near: float, shared: float) -> str:
        """Why the non-zero rule drops a hit; empty when it does not."""
        match self.nonzero_rule:
            case "raw" if cosine <= 0:
                return f"cosine {cosine:.3g} is not above 0"
            case "raw" if lexical <= 0:
                return "shares no term with the query (BM25 is not above 0)"
            case "normalized" if near == 0:
                return "the lowest cosine of the candidates"
            case "normalized" if shared == 0:
                return "the lowest BM25 of the candidates"
        return ""


def _cosine(hit: Hit) -> float:
    if "dense" not in hit.scores:
        subject = f"chunk {hit.chunk.label or hit.chunk.id}"
        raise UsageError("has no dense score", subject=subject, next_step="use the confidence behind a dense retriever")
    return hit.scores["dense"].value


def _clipped(value: float) -> float:
    return min(1.0, max(0.0, value))


K1 = 1.2
"""Saturation of repeated terms; ECRAG, section 4.2: "typically"."""

OKAPI_K1 = 1.5
"""Of the rank_bm25 that the thesis's code calls."""

B = 0.75
"""Normalisation by length; ECRAG, section 4.2."""

Idf = Literal["robertson", "okapi"]


@dataclass(frozen=True, slots=True)
class Statistics:
    """In how many texts each term occurs, how many texts there are, and their mean number of terms."""

    frequencies: Mapping[str, int]
    total: int
    average_length: float

    @classmethod
    def of(cls, texts_terms: Sequence[Sequence[str]]) -> Statistics:
        """Counts over a handful of texts (ECRAG, Fig. 6, fits BM25 to the retrieved subchunks)."""
        frequencies = Counter(term for terms in texts_terms for term in dict.fromkeys(terms))
        total = len(texts_terms)
        return cls(frequencies, total, sum(map(len, texts_terms)) / total if total else 0.0)

    def idf(self, term: str, kind: Idf = "robertson") -> float:
        """How rare a term is that occurs in n of N texts.

        `robertson` is ln(1 + (N-n+.5)/(n+.5)), always above 0; `okapi` is ln((N-n+.5)/(n+.5)), negative from half of N
        on.
        """
        n = self.frequencies.get(term, 0)
        odds = (self.total - n + 0.5) / (n + 0.5)
        return log(1 + odds) if kind == "robertson" else log(odds)

    def bm25(
        self, query_terms: Sequence[str], text_terms: Sequence[str], k1: float = K1, kind: Idf = "robertson"
    ) -> float:
        """Sum over the query's terms of idf x f (k1 + 1) / (f + k1 (1 - B + B length / average_length))."""
        counts = Counter(text_terms)
        relative = len(text_terms) / self.average_length if self.average_length else 1.0
        damping = k1 * (1 - B + B * relative)
        return sum(
            self.idf(term, kind) * counts[term] * (k1 + 1) / (counts[term] + damping)
            for term in query_terms
            if counts[term]
        )

    def ceiling(self, query_terms: Sequence[str], k1: float = K1) -> float:
        """What no text reaches: sum of idf (k1 + 1) over the query's terms (X10 in docs/methods.md)."""
        return sum(map(self.idf, query_terms)) * (k1 + 1)


@dataclass(frozen=True, slots=True)
class LexicalConfidence:
    """BM25 of each hit's text with its title (unless `titled` is false), and the most that a query can reach.

    `fit=corpus` counts how rare a term is, and how long a chunk is on average, in the whole table; `fit=retrieved` in
    the hits that are scored (ECRAG, Fig. 6). The ceiling is always the table's: routing compares queries.
    """

    table: ChunkTable
    fit: Literal["corpus", "retrieved"] = "corpus"
    kind: Idf = "robertson"
    titled: bool = True

    def __call__(self, query: Query, hits: Sequence[Hit]) -> list[float]:
        """One number per hit; with `okapi` it may be below 0."""
        titles = [f"{hit.chunk.title} " if self.titled else "" for hit in hits]
        texts = [index_terms(f"{title}{hit.chunk.text}") for title, hit in zip(titles, hits, strict=True)]
        known = Statistics.of(texts) if self.fit == "retrieved" else self._of_table(query.search)
        asked = query_terms(query.search)
        return [known.bm25(asked, text, self._k1, self.kind) for text in texts]

    def ceiling(self, search: str) -> float:
        """The highest BM25 any text can have for a query."""
        return self._of_table(search).ceiling(query_terms(search), self._k1)

    def _of_table(self, search: str) -> Statistics:
        frequencies = self.table.document_frequencies(search)
        return Statistics(frequencies, self.table.count(), self.table.average_terms())

    @property
    def _k1(self) -> float:
        return K1 if self.kind == "robertson" else OKAPI_K1


@dataclass(frozen=True, slots=True)
class Survivors:
    """Correct when the judge kept anything, else incorrect: how Fig. 6 of ECRAG reads when nothing else routes."""

    about: ClassVar[str] = "whether any chunk stayed"

    def __call__(self, query: Query, judged: Sequence[Judgement]) -> Decision:
        """The verdict, and how many hits stayed."""
        if not judged:
            return NOTHING_RETRIEVED
        kept = sum(judgement.keep for judgement in judged)
        verdict = Verdict.CORRECT if kept else Verdict.INCORRECT
        return Decision(verdict, None, f"{kept or 'none'} of {len(judged)} chunks stayed", Notes(facts={"kept": kept}))
