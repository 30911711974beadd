"""Searches of chunk tables: dense, BM25, both fused, cut, exact identifiers, by subchunks."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest
from typing import TYPE_CHECKING, Literal

from thresher.filters import narrowed
from thresher.protocols import ChunkTable, Encoder, Retriever, about
from thresher.question.intent import intent_of
from thresher.types import (
    BM25,
    COSINE,
    NO_NOTES,
    RECIPROCAL_RANK,
    WEIGHTED_FUSION,
    Chunk,
    Filter,
    Hit,
    In,
    Judged,
    Judgement,
    Notes,
    Query,
    Score,
    ranked_judgements,
)

if TYPE_CHECKING:
    from thresher.types import Scale, Vectors


def found(name: str, scale: Scale, scored: Sequence[tuple[Chunk, float]]) -> Judged:
    """All of them kept, ranked in the order given, the score under `name`."""
    judgements = []
    for rank, (chunk, value) in enumerate(scored, start=1):
        score = Score(value, scale)
        hit = Hit(chunk, score, rank, scores={name: score})
        judgements.append(Judgement(hit, keep=True, reason=f"{name} rank {rank}"))
    return Judged(tuple(judgements))


def depth_for(published: int, limit: int, *, literal: bool = False) -> int:
    """How many candidates a list is asked for: twice the wanted results, never fewer than the published number."""
    return published if literal else max(published, 2 * limit)


USUAL_LIMIT = 5
"""Of `Query.limit`: descriptions of a list assume this number of results."""


def depth_about(published: int, *, literal: bool = False) -> str:
    """The depth of a list for 5 results, and the published one where it differs."""
    asked = depth_for(published, USUAL_LIMIT, literal=literal)
    return str(asked) if asked == published else f"{asked} (at least {published})"


@dataclass(frozen=True, slots=True)
class DenseRetriever:
    """The chunks whose vectors lie nearest to the query's; `depth` of them, see `depth_for`."""

    table: ChunkTable
    encoder: Encoder
    depth: int
    literal: bool = False

    @property
    def about(self) -> str:
        """For people, in a few words."""
        return f"dense {depth_about(self.depth, literal=self.literal)}"

    def __call__(self, query: Query) -> Judged:
        """Candidates by cosine, best first."""
        limit = depth_for(self.depth, query.limit, literal=self.literal)
        vector = self.encoder.encode_query(query.search)
        return found("dense", COSINE, self.table.nearest(vector, limit=limit, where=query.where))


@dataclass(frozen=True, slots=True)
class LexicalRetriever:
    """The chunks with the highest BM25 (k1 1.2, b 0.75; Robertson and Zaragoza 2009), `depth` of them."""

    table: ChunkTable
    depth: int
    literal: bool = False

    @property
    def about(self) -> str:
        """For people, in a few words."""
        return f"BM25 {depth_about(self.depth, literal=self.literal)}"

    def __call__(self, query: Query) -> Judged:
        """Candidates by BM25, best first; chunks that share no term are none."""
        limit = depth_for(self.depth, query.limit, literal=self.literal)
        return found("lexical", BM25, self.table.matching(query.search, limit=limit, where=query.where))


RANK_CONSTANT = 60
"""Cormack, Clarke and Buettcher 2009, section 3; ranks start at 1. The hybrid report and LangChain's EnsembleRetriever
have it too: SciFact nDCG@10 is .726 at 10 and .737 at 100."""

Fusion = Callable[[Sequence[Sequence[Hit]]], list[Hit]]
"""Ranked lists to one. They are merged by chunk id (W5 in docs/methods.md: the published code compared object
identities, and never merged them)."""


def reciprocal_rank_fusion(lists: Sequence[Sequence[Hit]], *, weights: Sequence[float] | None = None) -> list[Hit]:
    """Sum of weight / (60 + rank) over the lists; ties keep the first list's order."""
    given = weights or [1.0] * len(lists)
    points = [[weight / (RANK_CONSTANT + hit.rank) for hit in hits] for weight, hits in zip(given, lists, strict=True)]
    return _merged(lists, points, RECIPROCAL_RANK)


def weighted_fusion(lists: Sequence[Sequence[Hit]], *, weights: Sequence[float]) -> list[Hit]:
    """Weighted mean of the lists' scores, each list brought to 0..1 by its minimum and maximum.

    A chunk that a list did not return gets that list's 0; a list whose scores are all equal gives each of them 1.
    """
    total = sum(weights) or 1.0
    spreads = [spread([hit.score for hit in hits]) for hits in lists]
    points = [[weight * value / total for value in values] for weight, values in zip(weights, spreads, strict=True)]
    return _merged(lists, points, WEIGHTED_FUSION)


def spread(scores: Sequence[Score]) -> list[float]:
    """Values brought to 0..1 by their minimum and maximum; 1 where all are equal."""
    values = [score.value for score in scores]
    low, high = min(values, default=0.0), max(values, default=0.0)
    return [(value - low) / (high - low) if high > low else 1.0 for value in values]


def _merged(lists: Sequence[Sequence[Hit]], points: Sequence[Sequence[float]], scale: Scale) -> list[Hit]:
    """One hit per chunk with the sum of its points, best first; a chunk counts once per list, at its best rank."""
    sums: dict[str, float] = {}
    merged: dict[str, Hit] = {}
    for hits, of_list in zip(lists, points, strict=True):
        seen: set[str] = set()
        for hit, own in zip(hits, of_list, strict=True):
            id_ = hit.chunk.id
            if id_ in seen:
                continue
            seen.add(id_)
            sums[id_] = sums.get(id_, 0.0) + own
            before = merged.get(id_)
            merged[id_] = hit if before is None else replace(before, scores={**before.scores, **hit.scores})
    fused = []
    for rank, id_ in enumerate(sorted(merged, key=lambda id_: -sums[id_]), start=1):
        score = Score(sums[id_], scale)
        fused.append(replace(merged[id_], score=score, rank=rank, scores={**merged[id_].scores, "fused": score}))
    return fused


def fusion_about(fusion: Fusion) -> str:
    """What a fusion is and how it is set, for people."""
    given = getattr(fusion, "keywords", {})
    weights = "/".join(f"{weight:g}" for weight in given.get("weights") or ())
    if getattr(fusion, "func", fusion) is reciprocal_rank_fusion:
        return f"RRF {RANK_CONSTANT}" + (f", weights {weights}" if weights else "")
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
        where = " in front" if self.position == "front" else ""
        protected = f", protect {self.protect}{where}" if self.protect else ""
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
        facts = {"protected": sorted(protected)} if self.protect else {}
        return Judged((*stays, *cut), found.notes + Notes(facts=facts))


def _best_dense(hits: tuple[Hit, ...], number: int) -> set[str]:
    dense = (hit for hit in hits if "dense" in hit.scores)
    return {hit.chunk.id for hit in sorted(dense, key=lambda hit: -hit.scores["dense"].value)[:number]}


def _why(hit: Hit, reasons: dict[str, str], protected: set[str], limit: int) -> str:
    saved = hit.chunk.id in protected and hit.rank > limit
    return reasons[hit.chunk.id] + (", kept as one of the best dense hits" if saved else "")


@dataclass(frozen=True, slots=True)
class WrappedRetriever:
    """Base of retrievers that change what another one finds, and go by its name."""

    retriever: Retriever

    @property
    def about(self) -> str:
        """For people, in a few words."""
        return about(self.retriever)


@dataclass(frozen=True, slots=True)
class EachPartRetriever(WrappedRetriever):
    """Searches for a question and for each of its parts, and takes the best of each in turn."""

    def __call__(self, query: Query) -> Judged:
        """Each hit once, ranked as it was taken; a question of one part is searched as it is."""
        searched = intent_of(query.question).searches if query.search == query.question else (query.search,)
        lists = [self.retriever(replace(query, search=search)) for search in searched]
        if len(lists) == 1:
            return lists[0]
        taken: dict[str, Judgement] = {}
        for level in zip_longest(*(judged.judgements for judged in lists)):
            for judgement in filter(None, level):
                taken.setdefault(judgement.hit.chunk.id, judgement)
        return Judged(ranked_judgements(taken.values()), lists[0].notes)


EXACT_DEPTH = 30
"""Chunks that share a term with an identifier and are searched for the whole of it."""


@dataclass(frozen=True, slots=True)
class ExactRetriever(WrappedRetriever):
    """What another retriever found, behind the chunks that hold an identifier of the question exactly."""

    table: ChunkTable

    def __call__(self, query: Query) -> Judged:
        """Each hit once, ranked as it stands; a question without an identifier is searched as it is."""
        from thresher.text.entities import identifiers_in, spellings

        judged = self.retriever(query)
        asked = {one.key: query.search[one.start : one.end] for one in identifiers_in(query.search)}
        if not asked:
            return judged
        written = [spelling for one in asked.values() for spelling in spellings(one)]
        known = {one.hit.chunk.id: one for one in judged.judgements if one.keep}
        best = max((one.hit.score.value for one in known.values()), default=0.0)
        scale = judged.kept[0].score.scale if judged.kept else BM25
        exact: dict[str, Judgement] = {}
        for chunk, score in self.table.matching(" ".join(written), limit=EXACT_DEPTH, where=query.where):
            if any(one.key in asked for one in identifiers_in(chunk.text)):
                new = Hit(chunk, Score(best, scale), 1, scores={"lexical": Score(score, BM25)})
                hit = replace(known[chunk.id].hit, score=new.score) if chunk.id in known else new
                exact[chunk.id] = Judgement(hit, keep=True, reason="holds the identifier that is asked for")
        rest = (one for one in judged.judgements if one.hit.chunk.id not in exact)
        return Judged(ranked_judgements((*exact.values(), *rest)), judged.notes)


SUBCHUNKS_PER_CHUNK = 4
"""Subchunks asked for in place of one chunk: neighbours say similar things, so the best ones share their parents."""

CHILDREN_READ = 32
"""Subchunks asked for at once for each chunk whose best one is sought; a chunk of ECRAG's sizes has about ten."""


@dataclass(frozen=True, slots=True)
class HierarchyRetriever:
    """Chunks by two lists, fused: dense, where a chunk counts by its best subchunk, and BM25 over the chunks.

    `fusion` gets the lists in that order. Every chunk carries `dense` (the cosine of its best subchunk), `lexical` (0
    without a shared term) and `fused`, whichever list found it; a chunk without a subchunk of its own has no `dense`.
    A filter holds for the chunks as well as for the subchunks that lead to them.
    """

    chunks: ChunkTable
    subchunks: ChunkTable
    encoder: Encoder
    dense_depth: int
    """Chunks of the dense list, see `depth_for`."""
    lexical_depth: int
    fusion: Fusion

    @property
    def about(self) -> str:
        """For people, in a few words."""
        lists = f"dense {depth_about(self.dense_depth)} by subchunks + BM25 {depth_about(self.lexical_depth)}"
        return f"{lists}, {fusion_about(self.fusion)}"

    def __call__(self, query: Query) -> Judged:
        """Chunks by their fused score, best first."""
        vector = self.encoder.encode_query(query.search)
        depth = depth_for(self.dense_depth, query.limit)
        words = depth_for(self.lexical_depth, query.limit)
        lexical = self.chunks.matching(query.search, limit=words, where=query.where)
        near = self.subchunks.nearest(vector, limit=depth * SUBCHUNKS_PER_CHUNK, where=query.where)
        best = dict(list(_by_parent(near).items())[:depth])

        chunk_of = {chunk.id: chunk for chunk, _ in lexical}
        others = tuple(id_ for id_ in best if id_ not in chunk_of)
        if others:
            among = narrowed(query.where, In("id", others))
            chunk_of |= {chunk.id: chunk for chunk, _ in self.chunks.nearest(vector, limit=len(others), where=among)}

        dense = [(chunk_of[id_], cosine) for id_, cosine in best.items() if id_ in chunk_of]
        lists = (found("dense", COSINE, dense), found("lexical", BM25, lexical))
        fused = self.fusion([hits.kept for hits in lists])

        best |= self._best_subchunks(vector, [hit.chunk for hit in fused if hit.chunk.id not in best])
        matched = {chunk.id: score for chunk, score in lexical}
        matched |= lexical_scores(self.chunks, query, [hit.chunk.id for hit in fused if hit.chunk.id not in matched])
        judgements = []
        for hit in fused:
            id_ = hit.chunk.id
            scores = {"dense": Score(best[id_], COSINE)} if id_ in best else {}
            scores["lexical"] = Score(matched.get(id_, 0.0), BM25)
            whole = replace(hit, scores={**scores, **hit.scores})
            judgements.append(Judgement(whole, keep=True, reason=f"fused rank {hit.rank}"))
        return Judged(tuple(judgements), Notes(facts={"lists": [len(hits.kept) for hits in lists]}))

    def _best_subchunks(self, vector: Vectors, chunks: Sequence[Chunk]) -> dict[str, float]:
        """The cosine of the best subchunk of each chunk that has any."""
        best: dict[str, float] = {}
        missing = list(chunks)
        while missing:
            # A turn finds the best subchunk of one chunk at least; one with very many may crowd out those of others.
            limit = CHILDREN_READ * len(missing)
            near = self.subchunks.nearest(vector, limit=limit, where=children_of(missing))
            if not near:
                break
            best |= _by_parent(near)
            missing = [chunk for chunk in missing if chunk.id not in best]
        return best


def children_of(chunks: Sequence[Chunk], where: Filter | None = None) -> Filter:
    """The filter that holds for the subchunks of some chunks, and for which `where` holds too."""
    # Documents say nothing new, but are in an index and parents are not: half the time at 20,000 subchunks.
    documents = In("document_id", tuple(dict.fromkeys(chunk.document_id for chunk in chunks)))
    return narrowed(narrowed(where, documents), In("parent_id", tuple(chunk.id for chunk in chunks)))


def lexical_scores(table: ChunkTable, query: Query, ids: Sequence[str]) -> dict[str, float]:
    """BM25 of those chunks that share a term with the query."""
    matching = table.matching(query.search, limit=len(ids), where=In("id", tuple(ids))) if ids else ()
    return {chunk.id: score for chunk, score in matching}


def _by_parent(near: Sequence[tuple[Chunk, float]]) -> dict[str, float]:
    """The cosine of each parent's best subchunk, best first."""
    best: dict[str, float] = {}
    for subchunk, cosine in near:
        if subchunk.parent_id is not None:
            best.setdefault(subchunk.parent_id, cosine)
    return best
