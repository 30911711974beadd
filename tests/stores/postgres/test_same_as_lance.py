"""What is on PostgreSQL is found as on LanceDB: the same ids, the same BM25 to the last bit, the same order."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from tests.indexing.making import ENCODER, row
from thresher.filters import Comparison
from thresher.protocols import ChunkTable, Store
from thresher.stores.lance import LanceStore

WORDS = "coal grain ship night tower storm harbour lamp keeper rock signal fog bell tide crew anchor".split()  # noqa: SIM905


@pytest.fixture
def stores(dsn: str, tmp_path: Path) -> list[Store]:
    from thresher.stores.postgres.store import PostgresStore

    return [LanceStore(tmp_path / "lance"), PostgresStore(dsn, f"same_{abs(hash(str(tmp_path)))}")]


@pytest.fixture
def tables(stores: list[Store]) -> list[ChunkTable]:
    """300 chunks of 5 to 60 words, some of them twice, 30 of them deleted again."""
    chance = random.Random(7)
    texts = [" ".join(chance.choices(WORDS, range(len(WORDS), 0, -1), k=chance.randint(5, 60))) for _ in range(290)]
    rows = [
        row(f"c{n:03}", text, title=text[:12] if n % 3 else "", document_id=f"d{n // 3}", kind=("pdf", "text")[n % 2])
        for n, text in enumerate([*texts, *texts[:10]])
    ]
    opened = []
    for store in stores:
        store.create("chunks_s", dimension=ENCODER.dimension)
        table = store.open("chunks_s")
        table.append(rows[:200])
        table.append(rows[200:])
        table.delete([f"d{n}" for n in range(40, 50)])
        table.maintain()
        opened.append(table)
    return opened


def questions() -> list[str]:
    chance = random.Random(11)
    return [" ".join(chance.sample([*WORDS, "unheard"], k=chance.randint(1, 9))) for _ in range(40)]


def test_bm25_is_the_same_to_the_last_bit(tables: list[ChunkTable]) -> None:
    for question in questions():
        lance, postgres = ([(c.id, score) for c, score in one.matching(question, limit=300)] for one in tables)
        assert postgres == lance, question
    assert len({len(one.matching("coal", limit=300)) for one in tables}) == 1


def test_a_short_list_is_the_beginning_of_the_long_one(tables: list[ChunkTable]) -> None:
    _, postgres = tables
    for question in questions()[:10]:
        whole = postgres.matching(question, limit=300)
        for limit in (1, 2, 5, 20):
            assert postgres.matching(question, limit=limit) == whole[:limit]


def test_the_statistics_are_the_same(tables: list[ChunkTable]) -> None:
    lance, postgres = tables
    assert postgres.count() == lance.count() == 270
    assert postgres.average_terms() == lance.average_terms()
    assert postgres.document_ids() == lance.document_ids()
    question = " ".join(WORDS)
    assert postgres.document_frequencies(question) == lance.document_frequencies(question)


def test_neighbours_are_the_same_with_and_without_a_filter(tables: list[ChunkTable]) -> None:
    for question in questions()[:10]:
        vector = ENCODER.encode_query(question)
        for where in (None, Comparison("kind", "=", "pdf")):
            lance, postgres = ([cosine for _, cosine in one.nearest(vector, limit=20, where=where)] for one in tables)
            assert postgres == pytest.approx(lance, abs=2e-6)


def test_every_row_is_the_same(tables: list[ChunkTable]) -> None:
    def stored(table: ChunkTable) -> dict[str, tuple[object, bytes]]:
        return {chunk.id: (chunk, vector.tobytes()) for batch in table.chunks() for chunk, vector in batch}

    lance, postgres = map(stored, tables)
    assert postgres == lance


def test_the_logarithm_is_the_c_librarys_which_is_not_always_the_rounded_one(stores: list[Store]) -> None:
    """Of 18 chunks 6 hold the term: ln(1+12.5/6.5) in float32 ends in another bit than that of float64 rounded."""
    scores = []
    for store in stores:
        store.create("chunks_l", dimension=ENCODER.dimension)
        table = store.open("chunks_l")
        table.append([row(f"c{n:02}", "coal" if n < 6 else "grain") for n in range(18)])
        table.maintain()
        scores.append([score for _, score in table.matching("coal", limit=18)])
    assert scores[0] == scores[1]


def test_equal_scores_at_the_end_of_a_list_are_in_the_order_of_their_ids(stores: list[Store]) -> None:
    """Where Lance cuts a list between equal scores it keeps the earlier rows; the scores are the same all the same."""
    _, postgres = stores
    postgres.create("chunks_e", dimension=ENCODER.dimension)
    table = postgres.open("chunks_e")
    table.append([row(id_, "exactly the same") for id_ in ("z", "a", "m")])
    assert [chunk.id for chunk, _ in table.matching("exactly", limit=2)] == ["a", "m"]
    assert [chunk.id for chunk, _ in table.nearest(ENCODER.encode_query("exactly the same"), limit=2)] == ["a", "m"]
