"""Samples for the contract of stores: chunks, filters with their results, BM25 by its formula."""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Iterable, Sequence
from itertools import pairwise
from math import log
from typing import Any

import pytest

from thresher.protocols import ChunkStore, ChunkTable
from thresher.testing.fakes import HashEncoder
from thresher.types import And, Chunk, ChunkRow, Comparison, Filter, In, IsNull, Like, Not, Or

ENCODER = HashEncoder(32)
TABLE = "chunks_contract"

TEXTS = {
    "c1": "Lighthouses guide ships at night.",
    "c2": "The lighthouse of Kõpu was built in 1531; a lighthouse is a tower.",
    "c3": "Ships carry grain and coal.",
    "c4": "Trains carry coal at night, ships do not.",
    "c5": "A poem about nothing in particular.",
}

FILTERED: dict[str, dict[str, Any]] = {
    "r0": {"title": "BERT", "kind": "pdf", "date": "2019-05-01", "page": 1},
    "r1": {"title": "bert base", "kind": "text", "date": None, "page": None},
    "r2": {"title": "O'Hara", "kind": "pdf", "date": "2020", "page": 3},
    "r3": {"title": "50% off", "kind": "text", "date": "2018-12-31", "page": None},
    "r4": {"title": "größe", "kind": "pdf", "date": None, "page": 2},
}
FILTERS: list[tuple[Filter, str]] = [
    (Comparison("kind", "=", "pdf"), "024"),
    (Not(Comparison("kind", "=", "pdf")), "13"),
    (Comparison("kind", "!=", "pdf"), "13"),
    (Comparison("page", "<=", 2), "04"),
    (Comparison("page", ">", 1), "24"),
    (Not(Comparison("page", "=", 3)), "04"),  # not those without a page
    (Comparison("date", ">=", "2019"), "02"),
    (Comparison("date", "<", "2019"), "3"),
    (IsNull("date"), "14"),
    (Not(IsNull("date")), "023"),
    (In("page", (1, 3, 99)), "02"),
    (Not(In("page", (1, 3))), "4"),
    (In("page", ()), ""),
    (Not(In("page", ())), "01234"),
    (In("document_id", ("r1", "nobody", "r4")), "14"),
    (Comparison("title", "=", "O'Hara"), "2"),
    (Comparison("title", "=", "' OR '1' = '1"), ""),
    (Like("title", "%er%"), "1"),
    (Like("title", "bert%", ignore_case=True), "01"),
    (Like("title", "50\\% off"), "3"),
    (Like("title", "gr__e"), "4"),
    (And((Comparison("kind", "=", "pdf"), Or((IsNull("date"), Comparison("page", "=", 1))))), "04"),
    (Not(And((Comparison("kind", "=", "pdf"), Comparison("page", "=", 1)))), "1234"),
    (Not(Or((Comparison("page", "=", 1), Comparison("date", "=", "2020")))), ""),
    (And(()), "01234"),
    (Or(()), ""),
]


def row(id_: str, text: str, *, kind: str = "text", date: str | None = None, **more: Any) -> ChunkRow:
    """A stored chunk, by default of its own document."""
    document_id = more.pop("document_id", f"d{id_}")
    source, title = more.pop("source", f"{document_id}.txt"), more.pop("title", "")
    chunk = Chunk(id_, document_id, source, title, 0, len(text), text, **more)
    return ChunkRow(chunk, kind, "2024-01-01", date, ENCODER.encode_query(text))


def ids(scored: Iterable[tuple[Chunk, float]]) -> list[str]:
    """Ids of chunks in their order."""
    return [chunk.id for chunk, _ in scored]


def bm25(rows: dict[str, list[str]], terms: Sequence[str]) -> dict[str, float]:
    """BM25 (k1 1.2, b 0.75, idf ln(1+(N-n+.5)/(n+.5))) of the rows with a term."""
    mean = sum(map(len, rows.values())) / len(rows)
    scores: dict[str, float] = defaultdict(float)
    for term in terms:
        holding = [id_ for id_, words in rows.items() if term in words]
        rarity = log(1 + (len(rows) - len(holding) + 0.5) / (len(holding) + 0.5))
        for id_ in holding:
            often = rows[id_].count(term)
            scores[id_] += rarity * often * 2.2 / (often + 1.2 * (0.25 + 0.75 * len(rows[id_]) / mean))
    return dict(scores)


WORDS = "coal grain ship night tower storm harbour lamp keeper rock signal fog bell tide crew anchor".split()  # noqa: SIM905
COMPARED = 300
"""Chunks of a store and the reference, some texts twice; 30 are deleted again."""


def compared_rows() -> list[ChunkRow]:
    """Chunks of 5 to 60 words, some words rarer than others."""
    chance = random.Random(7)
    texts = [" ".join(chance.choices(WORDS, range(len(WORDS), 0, -1), k=chance.randint(5, 60))) for _ in range(290)]
    return [
        row(f"c{n:03}", text, title=text[:12] if n % 3 else "", document_id=f"d{n // 3}", kind=("pdf", "text")[n % 2])
        for n, text in enumerate([*texts, *texts[: COMPARED - len(texts)]])
    ]


def questions() -> list[str]:
    """Random words, among them an unknown one."""
    chance = random.Random(11)
    return [" ".join(chance.sample([*WORDS, "unheard"], k=chance.randint(1, 9))) for _ in range(40)]


def filled(store: ChunkStore, rows: Sequence[ChunkRow], *, without: Iterable[str] = ()) -> ChunkTable:
    """A table of the rows, added in two parts, with some documents deleted, and current indexes."""
    store.create("chunks_compared", dimension=ENCODER.dimension)
    table = store.open("chunks_compared")
    table.append(rows[: 2 * len(rows) // 3])
    table.append(rows[2 * len(rows) // 3 :])
    table.delete(without)
    table.maintain()
    return table


def assert_same_ranking(
    found: Sequence[tuple[Chunk, float]], expected: Sequence[tuple[Chunk, float]], tolerance: float
) -> None:
    """The same chunks, scores and order; within the tolerance neighbours may swap."""
    if not tolerance:
        assert [(chunk.id, score) for chunk, score in found] == [(chunk.id, score) for chunk, score in expected]
        return
    scores = {chunk.id: score for chunk, score in expected}
    assert {chunk.id: score for chunk, score in found} == pytest.approx(scores, rel=tolerance)
    in_order = [scores[id_] for id_ in ids(found)]
    assert all(first >= then * (1 - 2 * tolerance) for first, then in pairwise(in_order))
