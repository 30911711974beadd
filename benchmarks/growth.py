"""What a chunk table costs as it grows: 10,000 to a million rows, on LanceDB in a folder or a bucket.

    .venv/bin/python -m benchmarks.growth measure --store lance --sizes 10000 100000 --label before
    .venv/bin/python -m benchmarks.growth table --stores lance --label before

The rows, and what a search of them has to find, are those of `benchmarks.growth_rows`. Each size has a table of its own
and goes through these phases, each in a process of its own:

* load: rows are added, 1,000 at once, with the upkeep of an index run where a table has too many versions.
* killed: upkeep is killed after some seconds; what is there then, in a new process.
* build: upkeep, which makes the indexes that loading has not made; another process asks meanwhile.
* ask: a new process asks: the first question, then 100; its memory; recall@10 and BM25 against the exact lists.
* change: 100 rows more, a document less, another one replaced, with upkeep and the next question after each; then
  recall@10 and BM25 again.

A hybrid question is `nearest` and `matching`, 50 each. `wall` are seconds that pass, `cpu` those of the processor in
all threads; on a busy machine only the latter can be compared. Memory is the most that a process had, `rss_before_mb`
what it had before it opened the table: Python, numpy and the rows' own words. The first question is that of a process;
the disk's pages are in memory by then.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import select
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import mean
from typing import Any

import numpy as np

from benchmarks.growth_rows import BATCH, DIMENSION, KIND, Question, Synthetic, changes, exact
from benchmarks.machine import CACHE, keep, kept, milliseconds, seconds, tell
from thresher.errors import StoreError
from thresher.home import places
from thresher.protocols import MOST_VERSIONS, ChunkTable
from thresher.types import Comparison, Filter
from thresher_bucket.folder import BucketFolder

FOLDER = Path(os.environ.get("THRESHER_GROWTH", CACHE / "growth"))
"""Of the tables, which go when a size is done, and of the exact lists, which stay."""

TABLE = "chunks_growth"
NEVER = 10**9
"""Rows from which a vector index is made, where none is wanted."""

DEPTH = 50
"""Chunks that a hybrid question takes from each search."""

LIMIT = 10
WARM_UP = 5
"""Questions that fill caches."""

PAUSE_SECONDS = 0.1
"""Between two questions that are asked beside an upkeep."""

KILLED_FROM = 100_000
"""Rows from which upkeep takes long enough to be killed in its middle."""

CLOSE = 1e-5
"""Share by which two scores may differ and be the same: a store sums in float32."""

OF_KIND = Comparison("kind", "=", KIND)


# --- the stores -------------------------------------------------------------------------------------------------------


class Folder:
    """A folder."""

    def __init__(self, address: str) -> None:
        self._folder = Path(address)

    @staticmethod
    @contextmanager
    def made() -> Iterator[str]:
        """An empty folder, gone at the end."""
        folder = FOLDER / f"lance-{os.getpid()}"
        folder.mkdir(parents=True)
        try:
            yield str(folder)
        finally:
            shutil.rmtree(folder)

    def create(self) -> None:
        """Make the empty table."""
        self._store().create(TABLE, dimension=DIMENSION)

    def _store(self, **options: Any) -> Any:
        from thresher.stores.lance import LanceStore

        return LanceStore(self._folder, **options)

    def open(self, *, vector_index: bool = True) -> ChunkTable:
        """The table, with an approximate index when it is large enough."""
        table: ChunkTable = (self._store() if vector_index else self._store(ann_rows=NEVER)).open(TABLE)
        return table

    def bytes(self) -> int:
        """What the table takes on the disk."""
        return sum(file.stat().st_size for file in self._folder.rglob("*") if file.is_file())


class Bucket(Folder):
    """A folder of a bucket, of a server of its own."""

    def __init__(self, address: str) -> None:
        self._address = BucketFolder(address)

    @staticmethod
    @contextmanager
    def made() -> Iterator[str]:
        """An empty folder of a bucket whose server the environment names from here on; gone at the end."""
        from tests.servers.bucket import running

        with running() as server:
            server.bucket("growth")
            os.environ.update(server.environment)
            yield "s3://growth/tables"

    def _store(self, **options: Any) -> Any:
        from thresher_bucket.tables import BucketLanceStore

        return BucketLanceStore(self._address, **options)

    def bytes(self) -> int:
        """What the table takes in the bucket."""
        return places.size(self._address)[1]


STORES: Mapping[str, type[Folder]] = {"bucket": Bucket, "lance": Folder}


# --- clocks -----------------------------------------------------------------------------------------------------------


def megabytes() -> int:
    """The most memory that this process ever had."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024


@dataclass
class Clock:
    """Seconds of both kinds that passed in calls."""

    wall: float = 0.0
    cpu: float = 0.0

    def run(self, call: Callable[[], Any]) -> Any:
        """What the call returns; its seconds are added."""
        cpu, wall = time.process_time(), time.perf_counter()
        result = call()
        self.wall += time.perf_counter() - wall
        self.cpu += time.process_time() - cpu
        return result

    def read(self) -> dict[str, float]:
        """Both, rounded."""
        return {"wall": round(self.wall, 3), "cpu": round(self.cpu, 3)}


def clocked(call: Callable[[], Any]) -> dict[str, float]:
    """The seconds of one call."""
    clock = Clock()
    clock.run(call)
    return clock.read()


# --- phases -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Task:
    """What every phase is about."""

    place: Folder
    rows: Synthetic
    size: int


def hybrid(table: ChunkTable, question: Question, where: Filter | None = None) -> None:
    """Both searches of a hybrid question."""
    table.nearest(question.vector, limit=DEPTH, where=where)
    table.matching(question.text, limit=DEPTH, where=where)


def load(task: Task) -> dict[str, Any]:
    """Add all rows, without the vector index."""
    task.place.create()
    table = task.place.open(vector_index=False)
    append, upkeep, calls = Clock(), Clock(), 0
    for number in range(task.size // BATCH):
        batch = task.rows.batch(number)
        append.run(lambda batch=batch: table.append(batch))  # type: ignore[misc]
        if table.versions > MOST_VERSIONS:
            upkeep.run(table.maintain)
            calls += 1
    return {
        "append": append.read(),
        "upkeep": {**upkeep.read(), "calls": calls},
        "rss_mb": megabytes(),
    }


def build(task: Task) -> dict[str, Any]:
    """Upkeep of the full table."""
    table = task.place.open()
    hybrid(table, task.rows.questions()[0])
    before = megabytes()
    print("begun", flush=True)
    return {
        **clocked(table.maintain),
        "stale": table.stale(),
        "count": table.count(),
        "rss_mb": megabytes(),
        "rss_before_mb": before,
        "disk_mb": task.place.bytes() // 2**20,
    }


def beside(task: Task) -> dict[str, Any]:
    """Ask until the standard input is closed."""
    table, asked = task.place.open(), task.rows.questions()
    taken: list[float] = []
    errors: list[str] = []
    hybrid(table, asked[0])
    print("begun", flush=True)
    while not select.select([sys.stdin], [], [], PAUSE_SECONDS)[0]:
        try:
            taken.append(seconds(lambda: hybrid(table, asked[len(taken) % len(asked)])))
        except StoreError as error:
            errors.append(str(error))
    results = {"questions": len(taken), "errors": len(errors), "messages": sorted(set(errors)), "rss_mb": megabytes()}
    if len(taken) > 1:
        results |= {**milliseconds(taken), "longest": round(1000 * max(taken), 1)}
    return results


def check(task: Task) -> dict[str, Any]:
    """What is there after a kill."""
    table = task.place.open()
    question = task.rows.questions()[0]
    found = [
        len(table.nearest(question.vector, limit=LIMIT)),
        len(table.matching(question.text, limit=LIMIT)),
    ]
    return {"count": table.count(), "found": found, "stale": table.stale(), "disk_mb": task.place.bytes() // 2**20}


def ask(task: Task) -> dict[str, Any]:
    """A new process that asks."""
    asked, before = task.rows.questions(), megabytes()
    tables: list[ChunkTable] = []
    opening = clocked(lambda: tables.append(task.place.open()))
    table = tables[0]
    first = clocked(lambda: hybrid(table, asked[-1]))
    results: dict[str, Any] = {"rss_before_mb": before, "open": opening, "first": first}
    for question in asked[:WARM_UP]:
        hybrid(table, question)
    results["plain"], results["rss_mb"] = timed(table, asked, None)
    results["filtered"], results["rss_filtered_mb"] = timed(table, asked, OF_KIND)
    return results | found(task, table, changed=False)


def timed(table: ChunkTable, asked: Sequence[Question], where: Filter | None) -> tuple[dict[str, Any], int]:
    """How long hybrid questions take, and the memory after 50 of them."""
    clocks, memory = [], 0
    for number, question in enumerate(asked):
        clock = Clock()
        clock.run(lambda question=question: hybrid(table, question, where))  # type: ignore[misc]
        clocks.append(clock)
        if number + 1 == DEPTH:
            memory = megabytes()
    return {
        "wall": milliseconds([one.wall for one in clocks]),
        "cpu": milliseconds([one.cpu for one in clocks]),
    }, memory


def found(task: Task, table: ChunkTable, *, changed: bool) -> dict[str, Any]:
    """Recall@10, and BM25 beside the exact lists."""
    expected, asked = expectation(task, changed=changed), task.rows.questions()
    results: dict[str, Any] = {}
    for name, key, where in (("recall", "neighbours", None), ("recall_filtered", "neighbours_of_kind", OF_KIND)):
        lists = [{chunk.id for chunk, _ in table.nearest(one.vector, limit=LIMIT, where=where)} for one in asked]
        results[name] = round(
            mean(len(one & set(ids)) / LIMIT for one, ids in zip(lists, expected[key], strict=True)), 4
        )
    apart, same = [], 0
    for question, scores in zip(asked, expected["words"], strict=True):
        given = [(chunk.id, score) for chunk, score in table.matching(question.text, limit=LIMIT)]
        best = list(scores.values())[:LIMIT]
        ranked = [scores.get(id_, 0.0) for id_, _ in given]  # rows of one score may come in any order
        same += len(ranked) == len(best) and bool(np.allclose(ranked, best, rtol=CLOSE))
        apart += [abs(score - scores[id_]) / scores[id_] for id_, score in given if id_ in scores]
    return results | {"bm25_same": same / len(asked), "bm25_apart": float(f"{max(apart):.2g}")}


def expectation(task: Task, *, changed: bool) -> dict[str, Any]:
    """The exact lists, which the first run writes."""
    kind = type(task.rows).__name__.lower()
    file = FOLDER / f"exact-{kind}-{task.size}{'-changed' if changed else ''}.json"
    if not file.is_file():
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps(exact(task.rows, task.size, changed=changed)), encoding="utf-8")
    return dict(json.loads(file.read_text(encoding="utf-8")))


def change(task: Task) -> dict[str, Any]:
    """Change the full table in a process that has asked before."""
    table, asked, planned = task.place.open(), task.rows.questions(), changes(task.rows, task.size)
    for question in asked[:WARM_UP]:
        hybrid(table, question)
    results: dict[str, Any] = {
        "added": changed_by(task, table, lambda: table.append(planned.added)),
        "deleted": changed_by(task, table, lambda: table.delete([planned.deleted])),
    }

    def replaced() -> None:
        table.delete([planned.replaced])
        table.append(planned.replacing)

    results["replaced"] = changed_by(task, table, replaced)
    results |= {"count": table.count(), "stale": table.stale(), "rss_mb": megabytes()}
    return results | {"after": found(task, table, changed=True), "disk_mb": task.place.bytes() // 2**20}


def changed_by(task: Task, table: ChunkTable, doing: Callable[[], None]) -> dict[str, Any]:
    """A change, the upkeep and two questions; `total` is without the second."""
    asked = task.rows.questions()
    steps = {
        "change": clocked(doing),
        "upkeep": clocked(table.maintain),
        "first": clocked(lambda: hybrid(table, asked[0])),
        "second": clocked(lambda: hybrid(table, asked[1])),
    }
    total = {
        kind: round(sum(steps[step][kind] for step in ("change", "upkeep", "first")), 3) for kind in ("wall", "cpu")
    }
    return {"total": total, **steps}


PHASES: Mapping[str, Callable[[Task], dict[str, Any]]] = {
    "load": load,
    "check": check,
    "build": build,
    "beside": beside,
    "ask": ask,
    "change": change,
}


# --- one size ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Run:
    """One store and size."""

    store: str
    size: int
    address: str
    kill_seconds: float

    def started(self, phase: str) -> subprocess.Popen[str]:
        """A phase in a process of its own, which waits for nothing but its standard input."""
        task = [self.store, str(self.size), self.address]
        command = [sys.executable, "-m", "benchmarks.growth", "phase", phase, *task]
        return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def done(self, phase: str) -> dict[str, Any]:
        """What a phase found."""
        return ended(self.started(phase), phase)

    def killed(self) -> dict[str, Any]:
        """Upkeep that is killed, and what is there afterwards."""
        process = self.started("build")
        wait_for_begin(process)
        try:
            process.wait(self.kill_seconds)
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGKILL)
            process.wait()
        return {
            "seconds": self.kill_seconds,
            "in_the_middle": process.returncode == -signal.SIGKILL,
            **self.done("check"),
        }

    def built(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """Upkeep, and the questions that were asked meanwhile."""
        asker = self.started("beside")
        wait_for_begin(asker)
        return self.done("build"), ended(asker, "beside")

    def measured(self) -> dict[str, Any]:
        """All phases."""
        results: dict[str, Any] = {}

        def took(name: str, result: dict[str, Any]) -> None:
            results[name] = result
            print(f"  {time.strftime('%H:%M:%S')} {name:<7} {json.dumps(result)}", flush=True)

        took("load", self.done("load"))
        if self.size >= KILLED_FROM:
            took("killed", self.killed())
        built, meanwhile = self.built()
        took("build", built)
        took("beside", meanwhile)
        took("ask", self.done("ask"))
        took("change", self.done("change"))
        return results


def wait_for_begin(process: subprocess.Popen[str]) -> None:
    """Until the process says so."""
    assert process.stdout is not None
    if process.stdout.readline().strip() != "begun":
        raise SystemExit("a process ended before it began")


def ended(process: subprocess.Popen[str], phase: str) -> dict[str, Any]:
    """The object that a process prints last; its standard input is closed."""
    printed, _ = process.communicate()
    if process.returncode:
        raise SystemExit(f"{phase} ended with {process.returncode}")
    return dict(json.loads(printed.splitlines()[-1]))


def measure(given: argparse.Namespace) -> None:
    """Measure the sizes one after another; a row of the same name is replaced."""
    tell()
    for size in given.sizes:
        name = {"label": given.label, "store": given.store, "rows": "synthetic", "size": size}
        print(name, flush=True)
        loads = [os.getloadavg()[0]]
        made: AbstractContextManager[str] = STORES[given.store].made()
        with made as address:
            results = Run(given.store, size, address, given.kill_seconds).measured()
        loads.append(os.getloadavg()[0])
        row = {**name, "vector_index": True, "load_average": loads, **results}
        others = [one for one in measurements() if any(one[key] != name[key] for key in name)]
        keep("growth", {"rows": [*others, row]})


def phase(given: argparse.Namespace) -> None:
    """One phase, in this process."""
    place = STORES[given.store](given.address)
    print(json.dumps(PHASES[given.name](Task(place, Synthetic(), given.size))))


# --- what was measured ------------------------------------------------------------------------------------------------

MEASURES: Mapping[str, str] = {
    "append all, CPU s": "load append cpu",
    "upkeep while loading, CPU s": "load upkeep cpu",
    "indexes built, CPU s": "build cpu",
    "peak memory of building, MB": "build rss_mb",
    "disk after building, MB": "build disk_mb",
    "questions beside: p50, wall ms": "beside p50",
    "questions beside: errors": "beside errors",
    "hybrid p50, CPU ms": "ask plain cpu p50",
    "hybrid p95, CPU ms": "ask plain cpu p95",
    "hybrid of a kind p50, CPU ms": "ask filtered cpu p50",
    "memory of asking, MB": "ask rss_mb",
    "recall@10": "ask recall",
    "recall@10 of a kind": "ask recall_filtered",
    "BM25 lists as by the formula": "ask bm25_same",
    "100 rows more: refresh, CPU s": "change added total cpu",
    "document deleted: refresh, CPU s": "change deleted total cpu",
    "document replaced: refresh, CPU s": "change replaced total cpu",
    "recall@10 after the changes": "change after recall",
    "BM25 lists after the changes": "change after bm25_same",
    "killed in the middle: rows left": "killed count",
}


def measurements() -> list[dict[str, Any]]:
    """The rows that were measured so far."""
    return list(kept("growth").get("rows", []))


def value(row: Mapping[str, Any], path: str) -> float | None:
    """One number of a row; None where it was not measured."""
    at: Any = row
    for key in path.split():
        at = at.get(key) if isinstance(at, dict) else None
    return at if isinstance(at, int | float) else None


def shown(number: float | None) -> str:
    """A number as it is printed: three digits that count."""
    if number is None:
        return ""
    return f"{number:,.0f}" if abs(number) >= 100 else f"{number:.3g}"


def table(given: argparse.Namespace) -> None:
    """What was measured, in Markdown: a table for each store, the labels of a size side by side."""
    for store in given.stores:
        rows = (row for row in measurements() if row["store"] == store and given.label in ("", row["label"]))
        measured = sorted(rows, key=lambda row: row["size"])
        heads = [f"{row['size']:,}{'' if given.label else ' ' + row['label']}" for row in measured]
        print(f"\n### {store}\n\n| | {' | '.join(heads)} |\n|---|{'---:|' * len(heads)}")
        for name, path in {**MEASURES, "load average at the end": ""}.items():
            numbers = [value(row, path) if path else row["load_average"][1] for row in measured]
            if any(number is not None for number in numbers):
                print(f"| {name} | {' | '.join(map(shown, numbers))} |")


def main() -> None:
    """Measure, or show what was measured."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parts = parser.add_subparsers(dest="part", required=True)
    measuring = parts.add_parser("measure", help="measure some sizes of one store")
    measuring.add_argument("--store", choices=sorted(STORES), default="lance")
    measuring.add_argument("--sizes", type=int, nargs="+", default=[10_000, 100_000], help="in thousands of rows")
    measuring.add_argument("--label", required=True, help="what was measured, such as `before`")
    measuring.add_argument("--kill-seconds", type=float, default=5.0, help="of upkeep before it is killed")
    measuring.set_defaults(call=measure)
    one = parts.add_parser("phase", help="a phase, started by `measure`")
    for name, type_ in {"name": str, "store": str, "size": int, "address": str}.items():
        one.add_argument(name, type=type_)
    one.set_defaults(call=phase)
    showing = parts.add_parser("table", help=str(table.__doc__))
    showing.add_argument("--stores", choices=sorted(STORES), nargs="+", default=list(STORES))
    showing.add_argument("--label", default="", help="one of them alone")
    showing.set_defaults(call=table)
    given = parser.parse_args()
    given.call(given)


if __name__ == "__main__":
    main()
