"""Chunks found by three lists: by their own vectors, by those of their subchunks, and by BM25.

A long chunk's vector is a mean in which one good sentence drowns; its subchunks' vectors keep it. What is handed on is
the chunk, so that the sentence comes with what stands around it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from thresher.protocols import ChunkTable, Encoder
from thresher.retrieval.found import depth_for, found
from thresher.retrieval.fuse import Fusion
from thresher.retrieval.within import children_of, within
from thresher.types import BM25, COSINE, Chunk, Judgement, Query, Score, Sifted

if TYPE_CHECKING:
    from thresher.protocols import Vectors

Scored = list[tuple[Chunk, float]]

SUBCHUNKS_PER_CHUNK = 4
"""Subchunks asked for in place of one chunk: neighbours say similar things, so the best ones share their parents."""

CHILDREN_READ = 32
"""Subchunks asked for at once for each chunk whose best one is sought; a chunk of ECRAG's sizes has about ten."""


@dataclass(frozen=True, slots=True)
class HierarchyRetriever:
    """Chunks by three lists, fused: dense, dense over subchunks (a chunk counts by its best one), BM25.

    `fusion` gets the lists in that order. Every chunk carries `dense`, `subchunk` (the cosine of its best subchunk),
    `lexical` (0 without a shared term) and `fused`, whichever list found it; a chunk without a subchunk of its own has
    no `subchunk`. A filter holds for the chunks as well as for the subchunks that lead to them.
    """

    chunks: ChunkTable
    subchunks: ChunkTable
    encoder: Encoder
    dense_depth: int
    """Chunks of each of the two dense lists, see `depth_for`."""
    lexical_depth: int
    fusion: Fusion

    def __call__(self, query: Query) -> Sifted:
        """Chunks by their fused score, best first."""
        vector = self.encoder.encode_query(query.search)
        depth = depth_for(self.dense_depth, query.limit)
        words = depth_for(self.lexical_depth, query.limit)
        dense = self.chunks.nearest(vector, limit=depth, where=query.where)
        lexical = self.chunks.matching(query.search, limit=words, where=query.where)
        near = self.subchunks.nearest(vector, limit=depth * SUBCHUNKS_PER_CHUNK, where=query.where)
        best = dict(list(_by_parent(near).items())[:depth])

        cosines = {chunk.id: cosine for chunk, cosine in dense}
        others = [id_ for id_ in dict.fromkeys([*best, *(chunk.id for chunk, _ in lexical)]) if id_ not in cosines]
        among = within("id", others, query.where)
        fetched = self.chunks.nearest(vector, limit=len(others), where=among) if others else []
        cosines |= {chunk.id: cosine for chunk, cosine in fetched}
        chunk_of = {chunk.id: chunk for chunk, _ in (*lexical, *fetched, *dense)}

        lifted = [(chunk_of[id_], cosine) for id_, cosine in best.items() if id_ in chunk_of]
        lists = (found("dense", COSINE, dense), found("subchunk", COSINE, lifted), found("lexical", BM25, lexical))
        fused = self.fusion([hits.kept for hits in lists])

        best |= self._best_subchunks(vector, [hit.chunk for hit in fused if hit.chunk.id not in best])
        matched = self._matched(query, lexical, [hit.chunk.id for hit in fused])
        judgements = []
        for hit in fused:
            id_ = hit.chunk.id
            scores = {"dense": Score(cosines[id_], COSINE)} if id_ in cosines else {}
            if id_ in best:
                scores["subchunk"] = Score(best[id_], COSINE)
            scores["lexical"] = Score(matched.get(id_, 0.0), BM25)
            whole = replace(hit, scores={**scores, **hit.scores})
            judgements.append(Judgement(whole, keep=True, reason=f"fused rank {hit.rank}"))
        return Sifted(tuple(judgements), {"lists": [len(hits.kept) for hits in lists]})

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

    def _matched(self, query: Query, lexical: Scored, ids: Sequence[str]) -> dict[str, float]:
        """BM25 of each chunk that shares a term with the query."""
        matched = {chunk.id: score for chunk, score in lexical}
        missing = [id_ for id_ in ids if id_ not in matched]
        if missing:
            rest = self.chunks.matching(query.search, limit=len(missing), where=within("id", missing))
            matched |= {chunk.id: score for chunk, score in rest}
        return matched


def _by_parent(near: Scored) -> dict[str, float]:
    """The cosine of each parent's best subchunk, best first."""
    best: dict[str, float] = {}
    for subchunk, cosine in near:
        if subchunk.parent_id is not None:
            best.setdefault(subchunk.parent_id, cosine)
    return best
