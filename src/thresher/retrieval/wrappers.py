"""The last step of retrieval: as many results as were asked for, some places protected."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from math import log
from typing import TYPE_CHECKING, Any, Literal

from thresher.errors import BudgetSpent, ProviderError, UsageError
from thresher.protocols import CrossEncoder, Retriever, Rewriter, about
from thresher.retrieval.fusion import FusedRetriever, reciprocal_rank_fusion
from thresher.types import (
    COSINE,
    NO_NOTES,
    WEIGHTED_FUSION,
    Hit,
    Judged,
    Judgement,
    Notes,
    Query,
    Score,
    Terms,
    ranked_judgements,
)

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Matrix = NDArray[np.floating[Any]]

Position = Literal["keep", "front"]


@dataclass(frozen=True, slots=True)
class CutRetriever:
    """The best `query.limit` of what another retriever found.

    `protect` guarantees the membership of that many best dense hits (hybrid report, "safety mechanism"; W4 in
    docs/methods.md): a protected hit may replace only the lowest-ranked unprotected one. It stays where the order put
    it (`keep`) or goes to the front (`front`). This guarantees membership, not quality.
    """

    retriever: Retriever
    protect: int = 0
    position: Position = "keep"
    limit: int | None = None
    """A published number that holds whatever is asked for."""
    least: int = 0
    """At least this many, where what follows chooses among them."""

    @property
    def about(self) -> str:
        """For people, in a few words."""
        protected = (
            f", protect {self.protect}" + (" in front" if self.position == "front" else "") if self.protect else ""
        )
        best = "" if self.limit is None else f", best {self.limit}"
        return f"{about(self.retriever)}{protected}{best}"

    def __call__(self, query: Query) -> Judged:
        """Kept hits first, then everything that was cut off, with the reason."""
        found = self.retriever(query)
        limit = max(self.least, query.limit) if self.limit is None else self.limit
        hits = found.kept
        protected = _best_dense(hits, min(self.protect, limit))
        room = limit - len(protected)
        others = [hit for hit in hits if hit.chunk.id not in protected][:room]
        chosen = protected | {hit.chunk.id for hit in others}
        kept = [hit for hit in hits if hit.chunk.id in chosen]
        if self.position == "front":
            kept.sort(key=lambda hit: hit.chunk.id not in protected)
        reasons = {judgement.hit.chunk.id: judgement.reason for judgement in found.judgements}
        stays = [
            Judgement(replace(hit, rank=rank), keep=True, reason=_why(hit, reasons, protected, limit))
            for rank, hit in enumerate(kept, start=1)
        ]
        cut = [
            replace(judgement, keep=False, reason=f"{judgement.reason}, below the best {limit}")
            if judgement.keep
            else judgement
            for judgement in found.judgements
            if judgement.hit.chunk.id not in chosen
        ]
        notes = Notes(facts={"protected": sorted(protected)}) if self.protect else NO_NOTES
        return Judged((*stays, *cut), found.notes + notes)


def _best_dense(hits: tuple[Hit, ...], number: int) -> set[str]:
    """Ids of the hits with the highest dense score."""
    dense = [hit for hit in hits if "dense" in hit.scores]
    dense.sort(key=lambda hit: -hit.scores["dense"].value)
    return {hit.chunk.id for hit in dense[:number]}


def _why(hit: Hit, reasons: dict[str, str], protected: set[str], limit: int) -> str:
    reason = reasons[hit.chunk.id]
    if hit.chunk.id in protected and hit.rank > limit:
        return f"{reason}, kept as one of the best dense hits"
    return reason


# --- candidates put in the order of a cross-encoder, which reads question and chunk together --------------------------


@dataclass(frozen=True, slots=True)
class RerankedRetriever:
    """What another retriever found, reordered; a reranker that fails leaves the order as it was, and says so.

    Below a `weight` of 1 the order is that of (1 - weight) * retrieval + weight * cross-encoder, both brought to 0..1
    by the candidates' minimum and maximum.
    """

    retriever: Retriever
    cross_encoder: CrossEncoder
    weight: float = 1.0
    titled: bool = True
    """Whether the cross-encoder reads a chunk with its title in front."""

    @property
    def about(self) -> str:
        """For people, in a few words."""
        share = "" if self.weight == 1 else f" {self.weight:g}"
        return f"{about(self.retriever)}, cross-encoder {self.cross_encoder.name.partition('@')[0]}{share}"

    def __call__(self, query: Query) -> Judged:
        """The same candidates by their new score, best first; ties keep their order."""
        found = self.retriever(query)
        hits = found.kept
        try:
            texts = [hit.chunk.titled if self.titled else hit.chunk.text for hit in hits]
            scores = self.cross_encoder(query.search, texts)
        except (ProviderError, BudgetSpent) as error:
            lack = f"rerank: {error}; the order before it was kept"
            return replace(found, notes=found.notes + Notes((lack,)))
        scored = [
            replace(hit, score=score, scores={**hit.scores, "rerank": read})
            for hit, read, score in zip(hits, scores, self._blended(hits, scores), strict=True)
        ]
        order = sorted(scored, key=lambda hit: -hit.score.value)
        kept = tuple(_ranked(rank, hit) for rank, hit in enumerate(order, start=1))
        dropped = tuple(judgement for judgement in found.judgements if not judgement.keep)
        return Judged((*kept, *dropped), found.notes + Notes(facts={"reranker": self.cross_encoder.name}))

    def _blended(self, hits: Sequence[Hit], scores: Sequence[Score]) -> Sequence[Score]:
        if self.weight == 1:
            return scores
        pairs = zip(_spread([hit.score.value for hit in hits]), _spread([score.value for score in scores]), strict=True)
        return [Score((1 - self.weight) * found + self.weight * read, WEIGHTED_FUSION) for found, read in pairs]


def _spread(values: Sequence[float]) -> list[float]:
    """Brought to 0..1 by their minimum and maximum; 1 where all are equal."""
    low, high = min(values, default=0.0), max(values, default=0.0)
    return [(value - low) / (high - low) if high > low else 1.0 for value in values]


def _ranked(rank: int, hit: Hit) -> Judgement:
    return Judgement(replace(hit, rank=rank), keep=True, reason=f"rerank rank {rank}")


# --- A question that finds nothing good is put in other words and searched for once more ------------------------------


Suffices = Callable[[Query, Sequence[Hit]], bool]
"""Whether what was found is good enough."""


@dataclass(frozen=True, slots=True)
class SecondLookRetriever:
    """Rewrites only when it may help: the first search stands unless `suffices` says no. Not published.

    Both searches then count alike, by reciprocal ranks; the trace has the words of the second.
    """

    retriever: Retriever
    rewriter: Rewriter
    suffices: Suffices

    @property
    def about(self) -> str:
        """For people, in a few words."""
        return f"{about(self.retriever)}, a second look in other words"

    def __call__(self, query: Query) -> Judged:
        """What the first search found, or both together."""
        found = self.retriever(query)
        if self.suffices(query, found.kept):
            return found
        rewritten = self.rewriter(query)
        if rewritten.search == query.search:
            return _with_notes(found, rewritten)
        both = FusedRetriever((lambda _: found, lambda _: self.retriever(rewritten)), reciprocal_rank_fusion)
        return _with_notes(both(query), rewritten)


def _with_notes(found: Judged, rewritten: Query) -> Judged:
    notes = found.notes + rewritten.notes + Notes(facts={"second_search": rewritten.search})
    return replace(found, notes=notes)


# --- redundancy removal: of several chunks that say the same one survives and stands for the others -------------------


Embed = Callable[[Sequence[Hit]], "Matrix"]
"""Hits to (n_hits, dimension) rows of unit length; usually the vectors they were indexed with."""

Facts = Callable[[Hit], Set[str]]
"""What a hit says that no near copy may lack."""

Vectors = Literal["embedding", "tfidf", "either"]


@dataclass(frozen=True, slots=True)
class Redundancy:
    """Keeps a hit unless its cosine to a better one that was kept is above `threshold` (0..1; 1 keeps all).

    With `either` it is redundant when one of the two cosines is above. With `facts` (names and numbers of a hit) only a
    hit that has none of its own is: contracts of two customers are alike but for a name.
    """

    vectors: Vectors = "embedding"
    threshold: float = 0.9
    """ChunkRAG, Algorithm 1 ("e.g., 0.9")."""
    embed: Embed | None = None
    terms: Terms | None = None
    facts: Facts | None = None

    def __post_init__(self) -> None:
        for name, given, needing in (
            ("embed", self.embed, ("embedding", "either")),
            ("terms", self.terms, ("tfidf", "either")),
        ):
            if given is None and self.vectors in needing:
                raise UsageError(
                    f"comparing by '{self.vectors}' needs `{name}`",
                    subject="redundancy",
                    next_step=f"pass `{name}`, or compare by other vectors",
                )

    def __call__(self, hits: Sequence[Hit]) -> Judged:
        """Survivors in the order given, with the ids they stand for, then the others with whom they repeat."""
        cosines, lacks = self._cosines(hits)
        survivors: list[int] = []
        dropped: dict[int, tuple[int, float]] = {}
        for at in range(len(hits)):
            near = [other for other in survivors if cosines[at][other] > self.threshold]
            containing = [other for other in near if self._says_all(hits[other], hits[at])]
            if containing:
                twin = max(containing, key=lambda other: cosines[at][other])
                dropped[at] = (twin, float(cosines[at][twin]))
            else:
                survivors.append(at)
        stood_for = {
            at: tuple(hits[other].chunk.id for other in dropped if dropped[other][0] == at) for at in survivors
        }
        kept = [Judgement(hits[at], keep=True, reason="says its own", stood_for=stood_for[at]) for at in survivors]
        repeated = [
            Judgement(hits[at], keep=False, reason=f"says what {_name(hits[twin])} says (cosine {cosine:.2f})")
            for at, (twin, cosine) in dropped.items()
        ]
        facts = {"redundancy": self._measured(hits, survivors, cosines)}
        return Judged((*kept, *repeated), Notes(tuple(lacks), facts=facts))

    def _says_all(self, one: Hit, other: Hit) -> bool:
        return self.facts is None or self.facts(other) <= self.facts(one)

    def _cosines(self, hits: Sequence[Hit]) -> tuple[Matrix, list[str]]:
        """(n_hits, n_hits) cosines, the higher one where two kinds are asked for; and what could not be compared."""
        import numpy as np

        found: list[Matrix] = []
        lacks: list[str] = []
        if self.embed is not None and self.vectors != "tfidf" and hits:
            try:
                found.append(_cosines_of(self.embed(hits)))
            except (ProviderError, BudgetSpent) as error:
                instead = "nothing was compared" if self.terms is None else "compared by TF-IDF"
                lacks.append(f"redundancy: {error}; {instead}")
        if self.terms is not None and (self.vectors != "embedding" or lacks):
            found.append(_cosines_of(tfidf([hit.chunk.text for hit in hits], self.terms)))
        nothing = np.eye(len(hits))
        return (np.maximum.reduce(found) if found else nothing), lacks

    def _measured(self, hits: Sequence[Hit], survivors: Sequence[int], cosines: Matrix) -> dict[str, Any]:
        """Count, total and percent together (Y5), and both similarities before and after (Y6)."""
        everyone = range(len(hits))
        removed = len(hits) - len(survivors)
        return {
            "vectors": self.vectors,
            "threshold": self.threshold,
            "removed": removed,
            "total": len(hits),
            "percent": 100 * removed / len(hits) if hits else 0.0,
            "pairwise_similarity": {
                "before": _mean_pairwise(cosines, everyone),
                "after": _mean_pairwise(cosines, survivors),
            },
            "query_similarity": {
                "before": _mean_to_query([hits[at] for at in everyone]),
                "after": _mean_to_query([hits[at] for at in survivors]),
            },
        }


@dataclass(frozen=True, slots=True)
class DeduplicatedRetriever:
    """What another retriever found, each thing once; the copies are in the result, dropped, with whom they repeat."""

    retriever: Retriever
    redundancy: Redundancy

    @property
    def about(self) -> str:
        """For people, in a few words."""
        by = "" if self.redundancy.vectors == "embedding" else f" by {self.redundancy.vectors}"
        return f"{about(self.retriever)}, redundancy {self.redundancy.threshold:g}{by}"

    def __call__(self, query: Query) -> Judged:
        """Survivors ranked anew, then the copies, then what the retriever dropped itself."""
        found = self.retriever(query)
        before = {judgement.hit.chunk.id: judgement for judgement in found.judgements}
        judged = self.redundancy(found.kept)
        kept = [
            replace(
                before[judgement.hit.chunk.id],
                hit=replace(judgement.hit, rank=rank),
                stood_for=(*before[judgement.hit.chunk.id].stood_for, *judgement.stood_for),
            )
            for rank, judgement in enumerate((j for j in judged.judgements if j.keep), start=1)
        ]
        repeated = [judgement for judgement in judged.judgements if not judgement.keep]
        dropped = [judgement for judgement in found.judgements if not judgement.keep]
        return Judged((*kept, *repeated, *dropped), found.notes + judged.notes)


# --- what is left, by its similarity to the words that are searched (ChunkRAG, "initial filtering") -------------------


Similarities = Callable[[Query, Sequence[Hit]], Sequence[float]]
"""A query and hits to the cosine of each hit with the searched words."""


@dataclass(frozen=True, slots=True)
class SimilarityRetriever:
    """What another retriever found, ordered by its similarity to the searched words; ties keep their order.

    Where no similarities can be had the order stays as it was, and says so.
    """

    retriever: Retriever
    similarities: Similarities

    @property
    def about(self) -> str:
        """For people, in a few words."""
        return f"{about(self.retriever)}, by similarity"

    def __call__(self, query: Query) -> Judged:
        """Kept hits by their `similarity`, best first, then what was dropped."""
        found = self.retriever(query)
        try:
            cosines = self.similarities(query, found.kept) if found.kept else ()
        except (ProviderError, BudgetSpent) as error:
            return replace(found, notes=found.notes + Notes((f"similarity: {error}; the order before it was kept",)))
        scores = (Score(float(cosine), COSINE) for cosine in cosines)
        kept = [
            replace(one, hit=replace(one.hit, score=score, scores={**one.hit.scores, "similarity": score}))
            for one, score in zip((one for one in found.judgements if one.keep), scores, strict=True)
        ]
        kept.sort(key=lambda one: -one.hit.score.value)
        return Judged((*ranked_judgements(kept), *(one for one in found.judgements if not one.keep)), found.notes)


# --- vectors ----------------------------------------------------------------------------------------------------------


def tfidf(texts: Sequence[str], terms: Terms) -> Matrix:
    """(n_texts, n_terms) rows of tf * (ln((1 + n) / (1 + df)) + 1), of unit length; a text without terms is zero.

    The formula of scikit-learn's TfidfVectorizer, fitted on these texts.
    """
    import numpy as np

    counts = [Counter(terms(text)) for text in texts]
    frequencies = Counter(term for count in counts for term in count)
    columns = {term: column for column, term in enumerate(frequencies)}
    rows = np.zeros((len(texts), len(columns)))
    for row, count in zip(rows, counts, strict=True):
        for term, times in count.items():
            row[columns[term]] = times * _rarity(frequencies[term], len(texts))
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    unit: Matrix = np.divide(rows, lengths, out=rows, where=lengths > 0)
    return unit


def _rarity(frequency: int, texts: int) -> float:
    return log((1 + texts) / (1 + frequency)) + 1


def _cosines_of(rows: Matrix) -> Matrix:
    """Cosines of unit rows; rounding may not make one exceed 1, which is the threshold that keeps all."""
    import numpy as np

    exact = rows.astype(np.float64)
    cosines: Matrix = np.clip(exact @ exact.T, -1.0, 1.0)
    return cosines


def _mean_pairwise(cosines: Matrix, chosen: Sequence[int]) -> float | None:
    """Mean cosine of the pairs; None where there is no pair."""
    pairs = len(chosen) * (len(chosen) - 1)
    if not pairs:
        return None
    block = cosines[list(chosen)][:, list(chosen)]
    return float(block.sum() - block.trace()) / pairs


def _mean_to_query(hits: Sequence[Hit]) -> float | None:
    """Mean cosine to the query of the hits that have one; None where none has."""
    known: list[Mapping[str, Any]] = [hit.scores for hit in hits if "dense" in hit.scores]
    return sum(scores["dense"].value for scores in known) / len(known) if known else None


def _name(hit: Hit) -> str:
    return hit.chunk.label or hit.chunk.id
