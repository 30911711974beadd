from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from thresher.chunking.hierarchical import HierarchicalChunker
from thresher.filters import parse
from thresher.indexing.index_config import IndexConfig
from thresher.indexing.ingest import Ingest
from thresher.indexing.prepare import Incoming
from thresher.indexing.store import DocumentStore
from thresher.retrieval.search import children_of
from thresher.testing.fakes import HashEncoder
from thresher.types import BM25, COSINE, L2, And, Chunk, Document, In, IsNull, Query
from thresher_methods.coarse_to_fine import CoarseToFineRetriever, distance

ENCODER = HashEncoder(64)
TOPICS = ("comets", "lights", "trains", "desert")


class FirstSentence:
    """A summary that names the topic and nothing else."""

    name = "first sentence"

    def __call__(self, text: str) -> str:
        return text.split(".")[0]


LAYOUT = IndexConfig(
    HierarchicalChunker(400, 0, 0, subchunk_size=80, subchunk_overlap=0),
    ENCODER,
    ("chunk", "subchunk"),
    FirstSentence(),
)


def text_about(topic: str) -> str:
    """Two chunks of a topic, each of eight subchunks."""
    return " ".join(
        f"All about {topic} and nothing else in this part. "
        + " ".join(f"Detail {n} of the {topic} is told in this sentence." for n in range(first, first + 7))
        for first in (0, 7)
    )


def documents() -> Iterator[Incoming]:
    for number, topic in enumerate(TOPICS):
        document = Document(f"{number:032x}", f"{topic}.txt", "", text_about(topic), "text")
        yield Incoming(document.source, topic, "", lambda document=document: iter([document]), "")  # type: ignore[misc]


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> DocumentStore:
    store = DocumentStore(tmp_path_factory.mktemp("tree"))
    Ingest(store, [LAYOUT]).run(documents())
    return store


@pytest.fixture
def make(store: DocumentStore) -> Callable[..., CoarseToFineRetriever]:
    tables = store.table(LAYOUT, "chunk"), store.table(LAYOUT, "subchunk")
    return lambda **options: CoarseToFineRetriever(*tables, ENCODER, **options)


Make = Callable[..., CoarseToFineRetriever]
ASKED = Query("What is told about the desert?", "all about desert detail 3", limit=2)


def every(store: DocumentStore, level: str) -> dict[str, Chunk]:
    return {chunk.id: chunk for batch in store.table(LAYOUT, level).chunks() for chunk, _ in batch}


def test_only_subchunks_of_the_chunks_with_the_nearest_summaries_are_found(make: Make, store: DocumentStore) -> None:
    found = make(coarse=2, fine=4)(ASKED)
    chunks = found.notes.facts["chunks"]
    assert len(chunks) == 2
    assert {hit.chunk.source for hit in found.kept} == {"desert.txt"}
    assert {hit.chunk.level for hit in found.kept} == {"subchunk"}
    assert {hit.chunk.parent_id for hit in found.kept} <= {chunk["id"] for chunk in chunks}
    assert [hit.rank for hit in found.kept] == [1, 2, 3, 4]


def test_the_fine_search_ranks_all_subchunks_of_those_chunks(make: Make, store: DocumentStore) -> None:
    found = make(coarse=1, fine=100)(ASKED)
    (chunk,) = make(coarse=1, literal=True)(ASKED).notes.facts["chunks"]
    children = [child for child in every(store, "subchunk").values() if child.parent_id == chunk["id"]]
    vector = ENCODER.encode_query(ASKED.search)
    order = sorted(children, key=lambda child: (-float(ENCODER.encode_query(child.text) @ vector), child.id))
    of_the_first = [hit.chunk.id for hit in found.kept if hit.chunk.parent_id == chunk["id"]]
    assert of_the_first == [child.id for child in order]


def test_a_hit_carries_its_cosine_its_distance_its_words_and_the_cosine_of_its_chunks_summary(
    make: Make, store: DocumentStore
) -> None:
    chunks = every(store, "chunk")
    vector = ENCODER.encode_query(ASKED.search)
    for hit in make()(ASKED).kept:
        parent = chunks[hit.chunk.parent_id or ""]
        cosine = float(ENCODER.encode_query(hit.chunk.text) @ vector)
        summary = float(ENCODER.encode_query(FirstSentence()(parent.text)) @ vector)
        assert {name: score.scale for name, score in hit.scores.items()} == {
            "dense": COSINE,
            "l2": L2,
            "summary": COSINE,
            "lexical": BM25,
        }
        assert hit.scores["dense"].value == pytest.approx(cosine, abs=1e-5)
        assert hit.scores["summary"].value == pytest.approx(summary, abs=1e-5)
        assert hit.scores["l2"].value == pytest.approx(
            float(np.linalg.norm(ENCODER.encode_query(hit.chunk.text) - vector)), abs=1e-3
        )


def test_words_are_weighed_by_the_whole_collection(make: Make, store: DocumentStore) -> None:
    everywhere = dict(store.table(LAYOUT, "subchunk").matching(ASKED.search, limit=1000))
    scores = {chunk.id: score for chunk, score in everywhere.items()}
    kept = make(coarse=2, fine=100)(ASKED).kept
    assert {round(hit.scores["lexical"].value, 4) for hit in kept} != {0.0}
    for hit in kept:
        assert hit.scores["lexical"].value == pytest.approx(scores.get(hit.chunk.id, 0.0), abs=1e-5)


def test_without_a_shared_word_the_lexical_score_is_zero(make: Make) -> None:
    kept = make()(Query("?", "zebras", limit=2)).kept
    assert {hit.scores["lexical"].value for hit in kept} == {0.0}


def test_both_metrics_give_one_order_and_say_what_they_rank_by(make: Make) -> None:
    by_distance, by_product = (make(metric=metric)(ASKED).kept for metric in ("l2", "ip"))
    assert [hit.chunk.id for hit in by_distance] == [hit.chunk.id for hit in by_product]
    assert {hit.score.scale for hit in by_distance} == {L2}
    assert {hit.score.scale for hit in by_product} == {COSINE}
    assert [hit.score.value for hit in by_distance] == sorted(hit.score.value for hit in by_distance)


@pytest.mark.parametrize(
    ("options", "limit", "chunks", "subchunks"),
    [({}, 2, 5, 10), ({}, 7, 7, 14), ({"literal": True}, 7, 5, 10), ({"coarse": 1, "fine": 3}, 1, 1, 3)],
)
def test_depths_follow_the_wanted_results_unless_literal(
    make: Make, options: dict[str, Any], limit: int, chunks: int, subchunks: int
) -> None:
    found = make(**options)(Query("q", "detail", limit=limit))
    assert len(found.notes.facts["chunks"]) == chunks
    assert len(found.kept) == subchunks


def test_chunks_that_were_looked_into_are_listed_with_their_distance_and_children(
    make: Make, store: DocumentStore
) -> None:
    found = make(coarse=8, fine=3, literal=True)(ASKED)
    listed = found.notes.facts["chunks"]
    assert len(listed) == 8
    assert [chunk["distance"] for chunk in listed] == sorted(chunk["distance"] for chunk in listed)
    assert sum(chunk["subchunks"] for chunk in listed) == 3
    assert any(chunk["subchunks"] == 0 for chunk in listed)
    assert {chunk["label"] for chunk in listed} == {chunk.label for chunk in every(store, "chunk").values()}
    by_id = {chunk["id"]: chunk for chunk in listed}
    for hit in found.kept:
        parent = by_id[hit.chunk.parent_id]
        assert hit.chunk.label.startswith(f"{parent['label']}-Sub")
        assert parent["distance"] == pytest.approx(distance(hit.scores["summary"].value))


def test_a_filter_holds_for_both_searches(make: Make) -> None:
    found = make()(Query("q", ASKED.search, where=parse("source = 'comets.txt' OR source = 'trains.txt'")))
    assert {hit.chunk.source for hit in found.kept} <= {"comets.txt", "trains.txt"}
    assert found.kept
    assert {chunk["label"].split("-")[0] for chunk in found.notes.facts["chunks"]} == {"Doc1", "Doc3"}


def test_nothing_to_look_into_is_nothing_found(make: Make) -> None:
    found = make()(Query("q", "desert", where=parse("source = 'nowhere.txt'")))
    assert (found.judgements, found.notes.facts) == ((), {"chunks": []})


def test_children_are_looked_for_in_the_documents_of_their_parents(make_chunk: Callable[..., Chunk]) -> None:
    parents = [make_chunk("a"), make_chunk("b", document="d2"), make_chunk("c")]
    documents, children = In("document_id", ("d1", "d2")), In("parent_id", ("a", "b", "c"))
    assert children_of(parents) == And((documents, children))
    assert children_of(parents, IsNull("page")) == And((And((IsNull("page"), documents)), children))


@pytest.mark.parametrize(("cosine", "expected"), [(1.0, 0.0), (0.5, 1.0), (0.0, 2**0.5), (-1.0, 2.0), (1.0000001, 0.0)])
def test_distances_by_hand(cosine: float, expected: float) -> None:
    assert distance(cosine) == pytest.approx(expected)
