"""Up to how many rows exact vector search is fast enough, and what an approximate index then costs in recall.

    .venv/bin/python benchmarks/store.py [ROWS ...]

Vectors are random directions around 1,000 centres, 384 dimensions, as unlike real text as is still clustered.
"""

from __future__ import annotations

import shutil
import statistics
import sys
import time

import numpy as np
from evaluate import keep
from machine import CACHE, tell

from thresher.filters import IsNull, Not
from thresher.indexing.lance import LanceStore
from thresher.indexing.lance_chunks import LanceChunkTable
from thresher.types import Chunk, ChunkRow

DIMENSION = 384
QUESTIONS = 100
LIMIT = 10
FOLDER = CACHE / "store"
TABLE = "chunks_bench"
NEVER = 10**9
EVERYTHING = Not(IsNull("id"))  # a filter keeps the table from being searched in memory


def vectors(count: int, seed: int) -> np.ndarray:
    generator = np.random.default_rng(seed)
    centres = np.random.default_rng(0).standard_normal((1000, DIMENSION))
    rows = centres[generator.integers(0, len(centres), count)] + generator.standard_normal((count, DIMENSION))
    return (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)


def opened(*, ann_rows: int) -> LanceChunkTable:
    return LanceStore(FOLDER, ann_rows=ann_rows).open(TABLE)


def filled(rows: int) -> LanceChunkTable:
    shutil.rmtree(FOLDER, ignore_errors=True)
    LanceStore(FOLDER).create(TABLE, dimension=DIMENSION)
    table = opened(ann_rows=NEVER)
    for at in range(0, rows, 10_000):
        count = min(10_000, rows - at)
        batch = vectors(count, at + 1)
        table.append([row(at + i, batch[i]) for i in range(count)])
    return table


def row(number: int, vector: np.ndarray) -> ChunkRow:
    chunk = Chunk(f"{number:024x}", f"d{number // 10}", "s", "", 0, 1, "x")
    return ChunkRow(chunk, "text", "2026-01-01", None, vector)


def timed(table: LanceChunkTable, questions: np.ndarray) -> tuple[float, list[set[str]]]:
    """Median milliseconds and the ids that were found."""
    table.nearest(questions[0], limit=LIMIT, where=EVERYTHING)
    times, found = [], []
    for question in questions:
        started = time.perf_counter()
        hits = table.nearest(question, limit=LIMIT, where=EVERYTHING)
        times.append(1000 * (time.perf_counter() - started))
        found.append({chunk.id for chunk, _ in hits})
    return statistics.median(times), found


def main() -> None:
    tell()
    questions = vectors(QUESTIONS, 999_983)
    results = {}
    for rows in [int(argument) for argument in sys.argv[1:]] or [50_000, 100_000, 200_000]:
        table = filled(rows)
        exact_ms, exact = timed(table, questions)
        started = time.perf_counter()
        opened(ann_rows=1).maintain()
        build = time.perf_counter() - started
        ann_ms, approximate = timed(opened(ann_rows=1), questions)
        recall = statistics.mean(len(a & b) / LIMIT for a, b in zip(exact, approximate, strict=True))
        results[rows] = {"exact_ms": exact_ms, "ann_ms": ann_ms, "recall@10": recall, "build_seconds": build}
        speeds = f"exact {exact_ms:.1f} ms, approximate {ann_ms:.1f} ms"
        print(f"{rows:>9} rows: {speeds}, recall@10 {recall:.3f}, built in {build:.0f} s")
    keep("store", {"rows": results})


if __name__ == "__main__":
    main()
