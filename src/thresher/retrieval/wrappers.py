"""Retrievers around another one: reranked, searched again in other words, deduplicated."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence, Set
from dataclasses import dataclass, replace
from math import log
from typing import TYPE_CHECKING, Any, Literal

from thresher.errors import BudgetSpent, ProviderError, UsageError
from thresher.protocols import CrossEncoder, Retriever, Rewriter, about
from thresher.question.intent import intent_of
from thresher.retrieval.search import FusedRetriever, WrappedRetriever, reciprocal_rank_fusion, spread
from thresher.text.terms import term_set
from thresher.types import UNIT, WEIGHTED_FUSION, Hit, Judged, Judgement, Notes, Query, Score, ranked_judgements

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from thresher.types import Terms

    Matrix = NDArray[np.floating[Any]]


@dataclass(frozen=True, slots=True)
class RerankedRetriever:
    """Reorders the hits of another retriever; if the reranker fails the order stays, with a note.

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
        blended = scores
        if self.weight != 1:
            pairs = zip(spread([hit.score for hit in hits]), spread(scores), strict=True)
            blended = [Score((1 - self.weight) * own + self.weight * read, WEIGHTED_FUSION) for own, read in pairs]
        scored = [
            replace(hit, score=score, scores={**hit.scores, "rerank": read})
            for hit, read, score in zip(hits, scores, blended, strict=True)
        ]
        kept = [
            Judgement(replace(hit, rank=rank), keep=True, reason=f"rerank rank {rank}")
            for rank, hit in enumerate(sorted(scored, key=lambda hit: -hit.score.value), start=1)
        ]
        dropped = tuple(judgement for judgement in found.judgements if not judgement.keep)
        return Judged((*kept, *dropped), found.notes + Notes(facts={"reranker": self.cross_encoder.name}))


Suffices = Callable[[Query, Sequence[Hit]], bool]
"""Whether what was found is good enough."""


@dataclass(frozen=True, slots=True)
class SecondLookRetriever:
    """Rewrites and searches again unless `suffices` accepts the first search; both are fused (RRF). Not published."""

    retriever: Retriever
    rewriter: Rewriter
    suffices: Suffices

    @property
    def about(self) -> str:
        """For people, in a few words."""
        return f"{about(self.retriever)}, searched again with a reworded question if nothing good was found"

    def __call__(self, query: Query) -> Judged:
        """What the first search found, or both together."""
        first = found = self.retriever(query)
        if self.suffices(query, first.kept):
            return first
        rewritten = self.rewriter(query)
        if rewritten.search != query.search:
            both = FusedRetriever((lambda _: first, lambda _: self.retriever(rewritten)), reciprocal_rank_fusion)
            found = both(query)
        notes = found.notes + rewritten.notes + Notes(facts={"second_search": rewritten.search})
        return replace(found, notes=notes)


Embed = Callable[[Sequence[Hit]], "Matrix"]
"""Hits to (n_hits, dimension) rows of unit length; usually the vectors they were indexed with."""

Facts = Callable[[Hit], Set[str]]
"""What a hit says that no near copy may lack."""

Vectors = Literal["embedding", "tfidf", "either"]


INTRODUCES = "introduces"
"""Score of a passage that names the subject of a question first in its document."""


@dataclass(frozen=True, slots=True)
class IntroducingRetriever(WrappedRetriever):
    """What another retriever found; of "What is X?" in front what names X first in a document. Not published.

    A document says what a thing is where it first names it, and later passages only mention it. The first of the
    candidates of each document stands for the first of the document.
    """

    def __call__(self, query: Query) -> Judged:
        """The same candidates; a question that asks for no introduction keeps their order."""
        found = self.retriever(query)
        subject = term_set(intent_of(query.question).subject)
        if not subject:
            return found
        first: dict[str, Judgement] = {}
        for one in found.judgements:
            chunk, other = one.hit.chunk, first.get(one.hit.chunk.document_id)
            if one.keep and subject <= term_set(chunk.text) and (other is None or chunk.start < other.hit.chunk.start):
                first[chunk.document_id] = one
        ids = {one.hit.chunk.id for one in first.values()}
        marked = [
            replace(one, hit=replace(one.hit, scores={**one.hit.scores, INTRODUCES: Score(1.0, UNIT)}))
            if one.hit.chunk.id in ids
            else one
            for one in found.judgements
        ]
        marked.sort(key=lambda one: not one.keep or one.hit.chunk.id not in ids)
        return Judged(ranked_judgements(marked), found.notes)


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
        for name, given, other in (("embed", self.embed, "tfidf"), ("terms", self.terms, "embedding")):
            if given is None and self.vectors != other:
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
            twins = [other for other in survivors if cosines[at][other] > self.threshold]
            if self.facts is not None:
                twins = [other for other in twins if self.facts(hits[at]) <= self.facts(hits[other])]
            if twins:
                twin = max(twins, key=lambda other: cosines[at][other])
                dropped[at] = (twin, float(cosines[at][twin]))
            else:
                survivors.append(at)
        ids = [hit.chunk.id for hit in hits]
        stood_for = {at: tuple(ids[other] for other, (twin, _) in dropped.items() if twin == at) for at in survivors}
        kept = [Judgement(hits[at], keep=True, reason="says its own", stood_for=stood_for[at]) for at in survivors]
        names = [hit.chunk.label or hit.chunk.id for hit in hits]
        repeated = [
            Judgement(hits[at], keep=False, reason=f"says what {names[twin]} says (cosine {cosine:.2f})")
            for at, (twin, cosine) in dropped.items()
        ]
        facts = {"redundancy": self._measured(hits, survivors, cosines)}
        return Judged((*kept, *repeated), Notes(tuple(lacks), facts=facts))

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
        return (np.maximum.reduce(found) if found else np.eye(len(hits))), lacks

    def _measured(self, hits: Sequence[Hit], survivors: Sequence[int], cosines: Matrix) -> dict[str, Any]:
        """Count, total and percent together (Y5), and both similarities before and after (Y6)."""
        removed = len(hits) - len(survivors)
        pairwise = {"before": _mean_pairwise(cosines, range(len(hits))), "after": _mean_pairwise(cosines, survivors)}
        to_query = {"before": _mean_to_query(hits), "after": _mean_to_query([hits[at] for at in survivors])}
        return {
            "vectors": self.vectors,
            "threshold": self.threshold,
            "removed": removed,
            "total": len(hits),
            "percent": 100 * removed / len(hits) if hits else 0.0,
            "pairwise_similarity": pairwise,
            "query_similarity": to_query,
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
        kept = []
        for rank, one in enumerate((one for one in judged.judgements if one.keep), start=1):
            earlier = before[one.hit.chunk.id]
            stood_for = (*earlier.stood_for, *one.stood_for)
            kept.append(replace(earlier, hit=replace(one.hit, rank=rank), stood_for=stood_for))
        dropped = [one for one in (*judged.judgements, *found.judgements) if not one.keep]
        return Judged((*kept, *dropped), found.notes + judged.notes)


def tfidf(texts: Sequence[str], terms: Terms) -> Matrix:
    """(n_texts, n_terms) unit rows of tf * (ln((1 + n) / (1 + df)) + 1), as scikit-learn has it; zero without terms."""
    import numpy as np

    counts = [Counter(terms(text)) for text in texts]
    frequencies = Counter(term for count in counts for term in count)
    columns = {term: column for column, term in enumerate(frequencies)}
    rows = np.zeros((len(texts), len(columns)))
    for row, count in zip(rows, counts, strict=True):
        for term, times in count.items():
            row[columns[term]] = times * (log((1 + len(texts)) / (1 + frequencies[term])) + 1)
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    unit: Matrix = np.divide(rows, lengths, out=rows, where=lengths > 0)
    return unit


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
    known = [hit.scores["dense"].value for hit in hits if "dense" in hit.scores]
    return sum(known) / len(known) if known else None
