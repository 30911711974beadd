from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from typing import Any

import pytest

from thresher.chunking.hierarchical import HierarchicalChunker
from thresher.filters import parse
from thresher.indexing.index_config import IndexConfig
from thresher.indexing.ingest import Ingest
from thresher.indexing.prepare import Incoming
from thresher.indexing.store import DocumentStore
from thresher.protocols import ChunkTable
from thresher.retrieval.search import HierarchyRetriever, reciprocal_rank_fusion, weighted_fusion
from thresher.testing.fakes import HashEncoder
from thresher.types import BM25, COSINE, RECIPROCAL_RANK, WEIGHTED_FUSION, Chunk, Document, Filter, Page, Query

ENCODER = HashEncoder(64)
LEVELS = ("chunk", "subchunk")
TREE = IndexConfig(HierarchicalChunker(600, 0, 0, subchunk_size=80, subchunk_overlap=0), ENCODER, LEVELS, by_parts=True)

NEEDLE = "The heron nests in the reeds."
FILES = {
    "pond.txt": " ".join([*(f"Paragraph {n} lists paints and brushes of another kind." for n in range(9)), NEEDLE]),
    "birds.txt": "Herons, storks and cranes are birds of the marsh, and birds of the marsh are shy.",
    "reeds.txt": "Reeds are cut in winter. Thatchers buy reeds by the bundle.",
    **{f"other{n}.txt": f"Item {n} of a list about paints of kind {n}." for n in range(8)},
}


def documents() -> Iterator[Incoming]:
    for number, (source, text) in enumerate(FILES.items()):
        pages = (Page(1, 0, len(text) - len(NEEDLE)), Page(2, len(text) - len(NEEDLE), len(text)))
        document = Document(f"{number:032x}", source, "", text, "text", pages=pages if source == "pond.txt" else ())
        yield Incoming(source, source, "", lambda document=document: iter([document]), "")  # type: ignore[misc]


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> DocumentStore:
    store = DocumentStore(tmp_path_factory.mktemp("tree"))
    Ingest(store, [TREE]).run(documents())
    return store


Make = Callable[..., HierarchyRetriever]


@pytest.fixture
def make(store: DocumentStore) -> Make:
    def retriever(fusion: object = reciprocal_rank_fusion, **depths: int) -> HierarchyRetriever:
        tables = store.table(TREE, "chunk"), store.table(TREE, "subchunk")
        depths = {"dense_depth": 2, "lexical_depth": 2, **depths}
        return HierarchyRetriever(*tables, ENCODER, **depths, fusion=fusion)  # type: ignore[arg-type]

    return retriever


def only(position: int) -> Callable[..., object]:
    """A fusion that listens to one of the two lists."""
    weights = [float(at == position) for at in range(2)]
    return partial(weighted_fusion, weights=weights)


ASKED = Query("Where does it nest?", "heron nests", limit=1)


def test_a_chunk_is_found_by_its_best_subchunk(make: Make) -> None:
    best = make(fusion=only(0))(ASKED).kept[0]
    assert (best.chunk.source, best.chunk.level) == ("pond.txt", "chunk")
    expected = float(ENCODER.encode_query(NEEDLE) @ ENCODER.encode_query(ASKED.search))
    assert best.scores["dense"].value == pytest.approx(expected, abs=1e-5)


def test_the_fusion_gets_the_lists_of_subchunks_and_of_words(make: Make) -> None:
    seen: list[list[list[tuple[str, str]]]] = []

    def fusion(lists: object) -> list[object]:
        seen.append([[(hit.chunk.source, str(hit.score.scale.name)) for hit in hits] for hits in lists])  # type: ignore[attr-defined]
        return []

    make(fusion=fusion)(Query("q", "reeds", limit=1))
    ((dense, lexical),) = seen
    assert [scale for _, scale in dense] == [COSINE.name] * 2
    assert sorted(lexical) == [("pond.txt", BM25.name), ("reeds.txt", BM25.name)]


def test_every_chunk_carries_every_score_whichever_list_found_it(make: Make, store: DocumentStore) -> None:
    query = Query("q", "reeds of the marsh in winter", limit=1)
    vector = ENCODER.encode_query(query.search)
    words = {chunk.id: score for chunk, score in store.table(TREE, "chunk").matching(query.search, limit=99)}
    children: dict[str, list[Chunk]] = {}
    for batch in store.table(TREE, "subchunk").chunks():
        for child, _ in batch:
            children.setdefault(child.parent_id or "", []).append(child)
    hits = make()(query).kept
    assert len(hits) >= 3
    for hit in hits:
        assert list(hit.scores) == ["dense", "lexical", "fused"]
        best = max(float(ENCODER.encode_query(child.text) @ vector) for child in children[hit.chunk.id])
        assert hit.scores["dense"].value == pytest.approx(best, abs=1e-5)
        assert hit.scores["lexical"].value == pytest.approx(words.get(hit.chunk.id, 0.0), abs=1e-5)
        assert hit.score == hit.scores["fused"]


def test_each_chunk_is_one_hit_in_the_order_of_the_fusion(make: Make) -> None:
    found = make()(ASKED)
    ids = [hit.chunk.id for hit in found.kept]
    assert len(ids) == len(set(ids))
    assert [hit.rank for hit in found.kept] == list(range(1, len(ids) + 1))
    assert {hit.score.scale for hit in found.kept} == {RECIPROCAL_RANK}
    assert {hit.chunk.level for hit in found.kept} == {"chunk"}
    lists = found.notes.facts["lists"]
    assert len(ids) <= sum(lists)
    assert found.judgements[0].reason == "fused rank 1"


def test_two_weights_are_those_of_the_two_lists(make: Make) -> None:
    query = Query("q", "reeds", limit=1)
    fused = make(fusion=partial(weighted_fusion, weights=(0.3, 0.7)))(query).kept
    assert fused[0].score.scale == WEIGHTED_FUSION
    parts = [{hit.chunk.id: hit.score.value for hit in make(fusion=only(at))(query).kept} for at in range(2)]
    for hit in fused:
        expected = sum(w * part.get(hit.chunk.id, 0.0) for w, part in zip((0.3, 0.7), parts, strict=True))
        assert hit.score.value == pytest.approx(expected)


@pytest.mark.parametrize(("limit", "lists"), [(1, [2, 2]), (4, [8, 2])])
def test_depths_follow_the_wanted_results(make: Make, limit: int, lists: list[int]) -> None:
    assert make()(Query("q", "reeds", limit=limit)).notes.facts["lists"] == lists


def test_a_filter_holds_for_chunks_and_for_the_subchunks_that_lead_to_them(make: Make) -> None:
    found = make()(Query("q", ASKED.search, limit=9, where=parse("source <> 'pond.txt'")))
    assert found.kept
    assert "pond.txt" not in {hit.chunk.source for hit in found.kept}
    # The needle stands on page 2, its chunk begins on page 1: no hit may say another page than was asked for.
    assert make()(Query("q", ASKED.search, where=parse("page = 2"))).kept == ()


def test_nothing_that_fits_is_nothing_found(make: Make) -> None:
    found = make()(Query("q", "heron", where=parse("source = 'nowhere.txt'")))
    assert (found.judgements, found.notes.facts) == ((), {"lists": [0, 0]})


class Crowded:
    """A table that gives one subchunk of those asked for by parent, as if its chunk had crowded out all others."""

    def __init__(self, table: ChunkTable) -> None:
        self._table = table

    def nearest(self, vector: Any, *, limit: int, where: Filter | None = None) -> list[tuple[Chunk, float]]:
        return self._table.nearest(vector, limit=1 if where else limit, where=where)


def test_a_chunk_with_very_many_subchunks_does_not_hide_those_of_another(make: Make, store: DocumentStore) -> None:
    query = Query("q", "heron winter kind", limit=1)
    plain = make()
    crowded = replace(plain, subchunks=Crowded(plain.subchunks))  # type: ignore[arg-type]
    assert [hit.scores for hit in crowded(query).kept] == [hit.scores for hit in plain(query).kept]
    found_by_list = plain(query).notes.facts["lists"][0]
    assert len(plain(query).kept) >= found_by_list + 2
