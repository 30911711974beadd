from __future__ import annotations

from collections.abc import Sequence

from thresher.judging.parts import EachPartScorer
from thresher.retrieval.search import EachPartRetriever, found
from thresher.testing.fakes import OverlapCrossEncoder
from thresher.types import BM25, COSINE, UNIT, Chunk, Hit, Judged, Query, Scale, Score, Scores

LAYERS = Chunk("c1", "d1", "a.txt", "", 0, 19, "It has 12 layers in")
HEADS = Chunk("c2", "d1", "a.txt", "", 20, 38, "The bank has heads")
QUESTION = "How many layers has it and how many heads has the bank?"


class Overlap:
    """Share of the question's words that a chunk has."""

    name = "overlap"
    scale: Scale = UNIT

    def __call__(self, query: Query, hits: Sequence[Hit]) -> Scores:
        return Scores(tuple(OverlapCrossEncoder()(query.question, [hit.chunk.text for hit in hits])))


def hit(chunk: Chunk) -> Hit:
    return Hit(chunk, Score(0.5, COSINE), 1)


def test_a_chunk_is_worth_what_it_is_to_the_part_it_answers_best() -> None:
    hits = [hit(LAYERS), hit(HEADS)]
    whole = Overlap()(Query(QUESTION, QUESTION), hits).scores
    best = EachPartScorer(Overlap())(Query(QUESTION, QUESTION), hits).scores
    assert all(
        part is not None and one is not None and part.value > one.value for part, one in zip(best, whole, strict=True)
    )
    one = Query("How many layers has it?", "")
    assert EachPartScorer(Overlap())(one, hits) == Overlap()(one, hits)


def test_each_part_is_searched_and_the_best_of_each_is_taken_in_turn() -> None:
    def retrieve(query: Query) -> Judged:
        chunks = [LAYERS] if "layers" in query.search else []
        chunks += [HEADS] if "heads" in query.search and "layers" not in query.search else []
        return found("lexical", BM25, [(chunk, 1.0) for chunk in chunks])

    kept = EachPartRetriever(retrieve)(Query(QUESTION, QUESTION)).kept
    assert [(one.chunk.id, one.rank) for one in kept] == [("c1", 1), ("c2", 2)]
    rewritten = EachPartRetriever(retrieve)(Query(QUESTION, "layers")).kept
    assert [one.chunk.id for one in rewritten] == ["c1"]
