"""Taking in the Wikipedia pool: one process, worker processes, and the nodes of a Ray cluster, in one run.

    .venv/bin/python -m benchmarks.ingestion [--passages N] [--recipe NAME] [--without WAY]...

* one: this process reads, cuts, encodes and commits; the encoder uses every core.
* two: two processes read, cut and encode with half of the cores each, a third commits.
* ray: a cluster of two nodes of one processor each, on loopback addresses of this machine (thresher-ray).
* killed: the same, and one node is killed (SIGKILL) when half of the passages are committed.

Each way is a command in a process of its own and makes a collection of its own; told are the documents a second, and
the processor seconds of everything that worked for it: of the command with its processes, and of the nodes. Then each
collection is compared with the first one: ids, numbers, texts, labels and vectors, bit for bit.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from argparse import ArgumentParser
from collections.abc import Sequence
from hashlib import sha256
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import thresher
from benchmarks.machine import DATA, keep, tell
from tests.servers.ray import SECOND, Nodes, descendants, running
from thresher.collection import Collection

COMMAND = Path(sys.executable).with_name("thresher")
TICKS = os.sysconf("SC_CLK_TCK")
SECONDS_BETWEEN = 0.25
"""Two looks at what the processes have used."""


def pool(passages: int | None, folder: Path) -> tuple[Path, int]:
    """The first passages of the pool, or all; and how many they are."""
    file = folder / "corpus.jsonl"
    with (DATA / "wikipedia" / "corpus.jsonl").open(encoding="utf-8") as lines:
        taken = list(islice(lines, passages))
    file.write_text("".join(taken), encoding="utf-8")
    return file, len(taken)


class Used:
    """Processor seconds of processes and of those that they started, looked at often enough to miss none that ends."""

    def __init__(self) -> None:
        self._before: dict[int, float] = {}
        self._last: dict[int, float] = {}

    def look(self, pids: Sequence[int], *, begin: bool = False) -> None:
        """See how much each has used; with `begin` that does not count."""
        seen = {pid: used for one in pids for pid in (one, *descendants(one)) if (used := _used(pid)) is not None}
        self._last |= seen
        if begin:
            self._before = seen

    @property
    def seconds(self) -> float:
        """Since the beginning."""
        return sum(used - self._before.get(pid, 0.0) for pid, used in self._last.items())


def _used(pid: int) -> float | None:
    try:
        fields = (Path("/proc") / str(pid) / "stat").read_text().rpartition(")")[2].split()
    except OSError:  # it ended just now
        return None
    return sum(map(int, fields[11:13])) / TICKS


def measured(corpus: Path, home: Path, recipe: str, options: Sequence[str], nodes: Nodes | None) -> dict[str, Any]:
    """What one way took."""
    line = [str(COMMAND), "index", str(corpus), "--home", str(home), "--recipe", recipe, "--json", *options]
    used, load = Used(), os.getloadavg()[0]
    of_nodes = [] if nodes is None else [process.pid for process in nodes.started.values()]
    used.look(of_nodes, begin=True)
    began = time.perf_counter()
    process = subprocess.Popen(line, stdout=subprocess.PIPE)
    while process.poll() is None:
        used.look([process.pid, *of_nodes])
        time.sleep(SECONDS_BETWEEN)
    seconds = time.perf_counter() - began
    used.look(of_nodes)
    report = reported(process)
    return {
        "documents": report["added"],
        "chunks": report["chunks"],
        "seconds": round(seconds, 1),
        "documents_per_second": round(report["added"] / seconds, 1),
        "processor_seconds": round(used.seconds, 1),
        "load": [round(load, 1), round(os.getloadavg()[0], 1)],
    }


def killed(corpus: Path, home: Path, recipe: str, nodes: Nodes, passages: int) -> dict[str, Any]:
    """The same while one node is killed when half of the passages are committed."""
    line = [str(COMMAND), "index", str(corpus), "--home", str(home), "--recipe", recipe, "--json"]
    began = time.perf_counter()
    process = subprocess.Popen([*line, "--on", nodes.address], stdout=subprocess.PIPE)
    while committed(home) < passages / 2:
        assert process.poll() is None, "it ended before the node was killed"
        time.sleep(1)
    at = committed(home)
    nodes.kill(SECOND)
    report = reported(process)
    return {
        "documents": report["added"],
        "committed_when_killed": at,
        "seconds": round(time.perf_counter() - began, 1),
    }


def reported(process: subprocess.Popen[bytes]) -> dict[str, Any]:
    """What a command says at its end, when it went well."""
    out, _ = process.communicate()
    assert process.returncode == 0, process.returncode
    report: dict[str, Any] = json.loads(out)
    assert report["failed"] == [], report["failed"]
    return report


def committed(home: Path) -> int:
    """Documents in a collection that may not be there yet."""
    if not list(home.glob("collections/default/lance/documents.lance/_versions/*")):
        return 0
    with thresher.open(home) as collection:
        return len(collection.documents())


def fingerprint(collection: Collection) -> str:
    """Of everything but the time: documents with number and text, chunks with label, text and vector, bit for bit."""
    store, total = collection._store, sha256()
    for record in store.records():
        told = (record.id, record.number, record.source, record.also, record.title)
        total.update(repr((told, store.document(record.id).text)).encode())
    for row in store.known_tables():
        chunks = (chunk for batch in store.open(row["name"]).chunks() for chunk in batch)
        for chunk, vector in sorted(chunks, key=lambda one: one[0].id):
            total.update(repr(chunk).encode() + vector.tobytes())
    return total.hexdigest()


def main() -> None:
    """Measure every way, and compare what came of them."""
    parser = ArgumentParser()
    parser.add_argument("--passages", type=int)
    parser.add_argument("--recipe", default="corrective")
    parser.add_argument("--without", action="append", default=[], choices=["one", "two", "ray", "killed"])
    given = parser.parse_args()
    tell()
    results: dict[str, Any] = {"recipe": given.recipe}
    prints: dict[str, str] = {}
    with TemporaryDirectory() as place:
        corpus, results["passages"] = pool(given.passages, Path(place))

        def told(name: str, result: dict[str, Any]) -> None:
            with thresher.open(Path(place) / name) as collection:
                prints[name] = fingerprint(collection)
                result["sound"] = collection.doctor(repair=False) == []
            result["same"] = prints[name] == next(iter(prints.values()))
            results[name] = result
            print(f"{name:<8}", result, flush=True)

        for name, options in (("one", []), ("two", ["--processes", "2"])):
            if name not in given.without:
                told(name, measured(corpus, Path(place) / name, given.recipe, options, None))
        if {"ray", "killed"} - set(given.without):
            with running() as nodes:
                if "ray" not in given.without:
                    on = ["--on", nodes.address]
                    told("ray", measured(corpus, Path(place) / "ray", given.recipe, on, nodes))
                if "killed" not in given.without:
                    told("killed", killed(corpus, Path(place) / "killed", given.recipe, nodes, results["passages"]))
    keep("ingestion", results)


if __name__ == "__main__":
    main()
