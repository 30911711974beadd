"""Fifty askers at once for a minute: what they get, how long it takes, what the event loop and the memory say.

    .venv/bin/python -m benchmarks.server.load [--seconds 60] [--askers 50]

Over 300 paragraphs of SQuAD, on loopback, one after the other:

* alone: one asker, one question at a time: what the others are compared with.
* offline: fifty askers, no chat model.
* model: fifty askers, a chat model double that takes 500 ms for every reply, eight questions worked on at once.
* writing: fifty askers on two worker processes, while another process adds documents to the same collection.

An asker that is told to come back (429) waits as long as it was told. Any other error counts as one.
"""

from __future__ import annotations

import argparse
import asyncio
import statistics
import subprocess
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import httpx

import thresher
from benchmarks.commands import THRESHER, end
from benchmarks.machine import keep, tell
from benchmarks.server.askers import ASK, Seen, all_ask, p95, squad, written
from benchmarks.server.serving import Server, serving
from thresher_testing.llm_server import Reply, ScriptedServer

PARAGRAPHS, WRITTEN = 300, 200
"""Documents that are asked, and documents that are added meanwhile."""

STALL = 0.1
"""Seconds; a loop that is later than that is felt."""

Rows = dict[str, dict[str, Any]]


async def watched(server: Server, questions: list[str], askers: int, seconds: float) -> tuple[Seen, list[float]]:
    """What so many askers meet in so many seconds, and the memory, every second."""
    memory: list[float] = []
    asking = asyncio.create_task(all_ask([server], questions, askers, seconds, {}))
    while not asking.done():
        memory.append(server.resident_megabytes())
        await asyncio.wait([asking], timeout=1)
    return await asking, memory


def measured(
    home: Path, questions: list[str], askers: int, seconds: float, settings: Mapping[str, str] | None = None
) -> dict[str, Any]:
    """One row: questions a second, seconds of a question, statuses, memory, the event loop."""
    with serving(home, settings) as server:
        httpx.post(f"{server.url}{ASK}", json={"question": questions[0]}, timeout=120)
        before = server.lags()
        seen, memory = asyncio.run(watched(server, questions, askers, seconds))
        after = server.lags()
    looks = {bound: after[bound] - before.get(bound, 0.0) for bound in after}
    tenth = max(len(memory) // 10, 1)
    return {
        "askers": askers,
        "questions_per_second": round(len(seen.seconds) / seconds, 2),
        "p50": round(statistics.median(seen.seconds), 3) if seen.seconds else None,
        "p95": round(p95(seen.seconds), 3) if len(seen.seconds) > 1 else None,
        "statuses": seen.statuses,
        "megabytes_first": round(statistics.median(memory[:tenth])),
        "megabytes_last": round(statistics.median(memory[-tenth:])),
        "looks_at_the_loop": int(looks[float("inf")]),
        "later_than_100_ms": int(looks[float("inf")] - looks[STALL]),
    }


def replied(asked: Any) -> Reply:
    """What the double says: a sentence that quotes nothing, after half a second."""
    return Reply("The documents say so [1].", seconds=0.5)


def main() -> None:
    """Measures the four rows and keeps them."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--seconds", type=float, default=60.0)
    options.add_argument("--askers", type=int, default=50)
    given = options.parse_args()
    paragraphs, questions = squad(PARAGRAPHS + WRITTEN, asked=PARAGRAPHS)
    tell()
    found: Rows = {}
    with tempfile.TemporaryDirectory(prefix="thresher-load-") as folder:
        home, more = Path(folder) / "home", Path(folder) / "more"
        written(Path(folder) / "texts", paragraphs[:PARAGRAPHS])
        written(more, paragraphs[PARAGRAPHS:])
        with thresher.open(home) as collection:
            collection.add(Path(folder) / "texts")
        found["alone"] = measured(home, questions, 1, given.seconds / 2)
        print(found["alone"])
        found["offline"] = measured(home, questions, given.askers, given.seconds)
        print(found["offline"])
        with ScriptedServer(replied) as model:
            llm = {"llm.base_url": model.base_url, "llm.model": "double", "server.concurrency": "8"}
            found["model"] = measured(home, questions, given.askers, given.seconds, llm)
        print(found["model"])
        command = [str(THRESHER), "index", str(more), "--home", str(home)]
        writer = subprocess.Popen(
            command, text=True, process_group=0, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        try:
            found["writing"] = measured(home, questions, given.askers, given.seconds, {"server.workers": "2"})
        finally:
            end([writer])
        found["writing"]["writer_exit"] = writer.returncode
        print(found["writing"])
    keep("server_load", found)


if __name__ == "__main__":
    main()
