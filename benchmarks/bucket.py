"""A home in a bucket beside one in a folder, several servers over one bucket, and a bucket that goes away.

    .venv/bin/python -m benchmarks.bucket [--seconds 20] [--askers 12] [--only warm servers away]

Over 300 paragraphs of SQuAD, on loopback; the object store is SeaweedFS, on the same machine:

* warm: questions to both homes in turn, each asked once, in one process, whose caches are full: time, processor time,
  and the requests that the object store counted.
* servers: one `thresher serve` and three over one bucket, as many askers in all, a process beside them that adds a
  document every second: questions a second, and the processor time that one takes of all servers together. Once
  without a chat model, where a question is all processor time, and once with a double of one that takes four seconds
  for a reply and two questions worked on at once by each server, where it is waiting.
* away: three servers under that load, and the object store stopped for 30 seconds: what askers are told, how long they
  wait for it, how soon they are answered again, and whether a document that was added is lost.
"""

from __future__ import annotations

import argparse
import asyncio
import itertools
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import httpx

import thresher
from benchmarks.machine import keep, kept, tell
from benchmarks.server.askers import ASK, Seen, all_ask, p95, squad, written
from benchmarks.server.serving import Server, serving
from tests.servers.bucket import Weed, running
from thresher.collection import Collection
from thresher.home.places import Home
from thresher_bucket.folder import BucketFolder
from thresher_testing.llm_server import Reply, ScriptedServer

PARAGRAPHS = 300
"""Documents that are asked."""

WARM, ASKED = 10, 60
"""Questions before anything is measured, and questions that are."""

AWAY_SECONDS = 30.0

AFTER_SECONDS = 25.0
"""For which askers go on when the bucket is there again."""

TIMEOUT_SECONDS = 3.0
"""`bucket.timeout_seconds` of the servers that lose the bucket: an error comes after twice to three times as much."""

RECIPE = "rag"

REPLY_SECONDS = 4.0
"""Of the double of a chat model."""

WAITING_SECONDS = 40.0
"""For which questions with that double are counted."""

WRITER = """
import sys, time
import thresher
home, folder = sys.argv[1:]
number = 0
with thresher.open(home) as collection:
    while True:
        file = f"{folder}/added-{number}.txt"
        with open(file, "w", encoding="utf-8") as written:
            written.write(f"The barn number {number} of {folder} was built in {1500 + number}. It is red.")
        try:
            report = collection.add(file, recipe="rag")
            print(file if report.added else "", flush=True)
            number += 1
        except thresher.ThresherError as error:
            print(f"error {error}", flush=True)
        time.sleep(1)
"""


def filled(home: Home, folder: Path) -> Collection:
    """A collection of the files of a folder."""
    collection = thresher.open(home)
    collection.add(folder, recipe=RECIPE)
    return collection


# --- warm -------------------------------------------------------------------------------------------------------------


def warm(weed: Weed, local: Collection, far: Collection, questions: Sequence[str]) -> dict[str, Any]:
    """A search, and a question with its answer and its trace, of both in turn."""
    ways: dict[str, Callable[[Collection, str], object]] = {
        "search": lambda collection, question: collection.search(question, recipe=RECIPE),
        "ask": lambda collection, question: collection.ask(question, recipe=RECIPE),
    }
    found: dict[str, Any] = {}
    asked = iter(questions)  # none is asked twice: what a model read of a passage is remembered by both
    homes = (("folder", local), ("bucket", far))
    for name, way in ways.items():
        for _, (_, collection) in itertools.product(range(WARM), homes):
            way(collection, next(asked))
        taken: dict[str, list[tuple[float, float, int]]] = {"folder": [], "bucket": []}
        for _, (where, collection) in itertools.product(range(ASKED), homes):
            question = next(asked)
            taken[where].append(_spent(weed, partial(way, collection, question)))
        for where, rows_ in taken.items():
            wall, processor, requests = zip(*rows_, strict=True)
            found[f"{name}, {where}"] = {
                "p50_ms": round(statistics.median(wall), 1),
                "p95_ms": round(p95(wall), 1),
                "cpu_p50_ms": round(statistics.median(processor), 1),
                "cpu_mean_ms": round(statistics.mean(processor), 1),
                "requests_mean": round(statistics.mean(requests), 2),
            }
            print(f"  {name}, {where}: {found[f'{name}, {where}']}", flush=True)
    return found


def _spent(weed: Weed, call: Callable[[], object]) -> tuple[float, float, int]:
    """Milliseconds, milliseconds of processor, requests."""
    before = weed.requests()
    began, processor = time.perf_counter(), time.process_time()
    call()
    wall, spent = time.perf_counter() - began, time.process_time() - processor
    return 1000 * wall, 1000 * spent, weed.requests() - before


# --- servers ----------------------------------------------------------------------------------------------------------


@contextmanager
def started(home: Home, number: int, settings: dict[str, str]) -> Iterator[list[Server]]:
    """So many servers, each asked once."""
    with ExitStack() as stack:
        servers = [stack.enter_context(serving(home, settings)) for _ in range(number)]
        for server in servers:
            for _ in range(3):
                body = {"question": "Who?", "recipe": RECIPE}
                httpx.post(f"{server.url}{ASK}", json=body, timeout=120)
        yield servers


@contextmanager
def writing(home: Home) -> Iterator[list[str]]:
    """A process that adds a document every second; at the end, what it said."""
    said: list[str] = []
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-c", WRITER, str(home), folder]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
            try:
                yield said
            finally:
                process.terminate()
                said += (process.communicate()[0] or "").splitlines()


def spread(
    weed: Weed,
    home: Home,
    number: int,
    questions: Sequence[str],
    askers: int,
    seconds: float,
    settings: dict[str, str],
) -> dict[str, Any]:
    """One row: questions a second of so many servers, with a writer beside them."""
    with started(home, number, settings) as servers, writing(home) as said:
        before, requests = sum(server.processor_seconds() for server in servers), weed.requests()
        began = time.monotonic()
        seen = asyncio.run(all_ask(servers, questions, askers, seconds, {"recipe": RECIPE}))
        seconds = time.monotonic() - began  # until the last one that was asked is answered
        spent = sum(server.processor_seconds() for server in servers) - before
        asked = weed.requests() - requests
    answered = len(seen.seconds)
    row = {
        "servers": number,
        "askers": askers,
        "questions_per_second": round(answered / seconds, 2),
        "p50_ms": round(1000 * statistics.median(seen.seconds)),
        "cpu_ms_per_question": round(1000 * spent / max(answered, 1), 1),
        "cores_busy_with_servers": round(spent / seconds, 2),
        "requests_per_question_writer_included": round(asked / max(answered, 1), 1),
        "statuses": seen.statuses,
        "written": len([line for line in said if line and not line.startswith("error")]),
    }
    print(f"  {row}", flush=True)
    return row


# --- away -------------------------------------------------------------------------------------------------------------


def away(weed: Weed, home: Home, questions: Sequence[str], askers: int) -> dict[str, Any]:
    """The object store stops for a while under load."""
    os.environ["THRESHER_BUCKET__TIMEOUT_SECONDS"] = str(TIMEOUT_SECONDS)
    before = 10.0

    async def stopped() -> tuple[Seen, float, float]:
        going = asyncio.create_task(
            all_ask(servers, questions, askers, before + AWAY_SECONDS + AFTER_SECONDS, {"recipe": RECIPE})
        )
        await asyncio.sleep(before)
        gone = time.monotonic()
        with weed.paused():
            await asyncio.sleep(AWAY_SECONDS)
        back = time.monotonic()
        return await going, gone, back

    with started(home, 3, {}) as servers, writing(home) as said:
        seen, gone, back = asyncio.run(stopped())
    del os.environ["THRESHER_BUCKET__TIMEOUT_SECONDS"]
    added = {line for line in said if line and not line.startswith("error")}
    with thresher.open(home) as collection:
        kept = {document.source for document in collection.documents()}
        findings = collection.doctor(repair=False)
    during = [(status, taken) for at, status, taken in seen.replies if gone <= at]
    errors = [(at, taken) for at, status, taken in seen.replies if status != "200"]
    again = [at - back for at, status, taken in seen.replies if status == "200" and at - taken > back]
    row = {
        "statuses_before": dict(Counter(status for at, status, _ in seen.replies if at < gone)),
        "statuses_from_then_on": dict(Counter(status for status, _ in during)),
        "first_error_seconds_after": round(min((at for at, _ in errors), default=gone) - gone, 1),
        "longest_wait_for_an_error_seconds": round(max((taken for _, taken in errors), default=0.0), 1),
        "last_error_seconds_after_it_is_back": round(max((at for at, _ in errors), default=back) - back, 1),
        "answered_again_seconds_after": round(min(again), 2) if again else None,
        "documents_added": len(added),
        "documents_lost": len(added - kept),
        "errors_of_the_writer": sorted({line.partition(": ")[2] for line in said if line.startswith("error")}),
        "findings_of_the_doctor": len(findings),
    }
    print(f"  {row}", flush=True)
    return row


def replied(asked: Any) -> Reply:
    """What the double says: a sentence that quotes nothing, after a while."""
    return Reply("The documents say so [1].", seconds=REPLY_SECONDS)


def main() -> None:
    """Measures what is asked for, and keeps it."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--seconds", type=float, default=20.0)
    options.add_argument("--askers", type=int, default=12)
    options.add_argument("--only", nargs="+", default=["warm", "servers", "away"])
    given = options.parse_args()
    paragraphs, questions = squad(PARAGRAPHS)
    tell()
    found: dict[str, Any] = {}
    with tempfile.TemporaryDirectory(prefix="thresher-bucket-") as folder, running() as weed:
        os.environ |= weed.environment
        texts = written(Path(folder) / "texts", paragraphs)
        home = BucketFolder(f"{weed.bucket('bench')}/home")
        with filled(home, texts) as far:
            if "warm" in given.only:
                with filled(Path(folder) / "home", texts) as local:
                    found["warm"] = warm(weed, local, far, questions)
        if "servers" in given.only:
            found["servers"] = [
                spread(weed, home, number, questions, given.askers, given.seconds, {}) for number in (1, 3)
            ]
            with ScriptedServer(replied) as model:
                llm = {"llm.base_url": model.base_url, "llm.model": "double", "server.concurrency": "2"}
                found["servers with a chat model"] = [
                    spread(weed, home, number, questions, given.askers, WAITING_SECONDS, llm) for number in (1, 3)
                ]
        if "away" in given.only:
            found["away"] = away(weed, home, questions, given.askers)
    keep("bucket", {**kept("bucket"), **found})


if __name__ == "__main__":
    main()
