"""Three processes that index, five that ask and one that deletes, at the same time, over one collection.

    .venv/bin/python -m benchmarks.crowd [--seconds 600] [--stores folder bucket postgres]

Each store in turn; the bucket is SeaweedFS, the database PostgreSQL with pgvector, both on this machine. An indexer
rewrites eight files of its own, and now and then writes one that is deleted later; each text has a token of its own.
The deleter takes those and purges them. An asker asks for a sentence, and each passage that is cited must be one that
was written, whole. At the end the collection must hold the last text of each file, no other one, no document twice, no
chunk without its document, and nothing that doctor finds.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import random
import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import thresher
from benchmarks.machine import keep, kept, tell
from tests.servers import bucket, postgres
from thresher.collection import Collection

ROLES = ("indexer",) * 3 + ("asker",) * 5 + ("deleter",)
STORES = ("folder", "bucket", "postgres")
RECIPE = "rag"
FILES = 8
DOOMED = "doomed"
TOKEN = re.compile(r"token[0-9a-f]{16}")
QUESTION = "How many boats did the keeper of lighthouse {} count?"
SENTENCE = "The keeper {token} of lighthouse {number} counted {boats} boats in May."
SENTENCES = 6


# --- the processes ----------------------------------------------------------------------------------------------------


Line = dict[str, Any]
"""What a process did, and the seconds that it took."""


def index(collection: Collection, folder: Path, number: int, chance: random.Random) -> Iterator[Line]:
    """Write files and index them."""
    for step in itertools.count(1):
        name = f"{DOOMED}-{number}-{step}" if not step % 4 else f"kept-{number}-{chance.randrange(FILES)}"
        token = f"token{chance.getrandbits(64):016x}"
        sentences = [SENTENCE.format(token=token, number=n, boats=chance.randrange(99)) for n in range(SENTENCES)]
        file = folder / f"{name}.txt"
        file.write_text("\n\n".join(sentences), encoding="utf-8")
        began = time.perf_counter()
        report = collection.add(file, recipe=RECIPE)
        taken = time.perf_counter() - began
        yield {"did": "index", "source": str(file), "token": token, "failed": len(report.failed), "seconds": taken}


def ask(collection: Collection, folder: Path, number: int, chance: random.Random) -> Iterator[Line]:
    """Ask one question after the other."""
    while True:
        began = time.perf_counter()
        answer = collection.ask(QUESTION.format(chance.randrange(SENTENCES)), recipe=RECIPE)
        tokens = [sorted(set(TOKEN.findall(citation.quote))) for citation in answer.citations]
        yield {"did": "ask", "tokens": tokens, "seconds": time.perf_counter() - began}
        time.sleep(0.2)


def delete(collection: Collection, folder: Path, number: int, chance: random.Random) -> Iterator[Line]:
    """Purge what is there to be deleted."""
    while True:
        for record in collection.documents():
            if Path(record.source).name.startswith(DOOMED):
                began = time.perf_counter()
                Path(record.source).unlink(missing_ok=True)
                collection.delete(record.source, purge=True)
                yield {"did": "delete", "source": record.source, "seconds": time.perf_counter() - began}
        yield {}
        time.sleep(0.5)


WORK = {"indexer": index, "asker": ask, "deleter": delete}


def work(role: str, home: str, folder: str, number: int, ends: float) -> None:
    """One process: an error is a line too, and it goes on."""
    chance = random.Random(f"{role}{number}")
    while time.time() < ends:
        try:
            with thresher.open(home) as collection:
                for line in WORK[role](collection, Path(folder), number, chance):
                    print(json.dumps(line), flush=True)
                    if time.time() >= ends:
                        return
        except thresher.ThresherError as error:
            print(json.dumps({"did": role, "error": f"{type(error).__name__}: {error}"[:300]}), flush=True)


# --- what they said ---------------------------------------------------------------------------------------------------


@dataclass(slots=True)
class Told:
    """What all processes said."""

    last: dict[str, str] = field(default_factory=dict)
    """Token of the text that each file holds."""
    deleted: set[str] = field(default_factory=set)
    seconds: dict[str, list[float]] = field(default_factory=dict)
    errors: Counter[str] = field(default_factory=Counter)
    cited: list[list[str]] = field(default_factory=list)
    """Tokens of each citation."""
    written: set[str] = field(default_factory=set)
    failed: int = 0

    def hear(self, line: Line) -> None:
        """Take a line in."""
        if "error" in line:
            self.errors[f"{line['did']}: {line['error']}"] += 1
        if "seconds" not in line:
            return
        self.seconds.setdefault(line["did"], []).append(line["seconds"])
        match line["did"]:
            case "index":
                self.last[line["source"]] = line["token"]
                self.written.add(line["token"])
                self.failed += line["failed"]
            case "ask":
                self.cited += line["tokens"]
            case "delete":
                self.deleted.add(line["source"])


def row(told: Told, collection: Collection) -> dict[str, Any]:
    """What came out."""
    records = collection.documents()
    texts = {record.source: collection.document(record.id).text for record in records}
    expected = {source: token for source, token in told.last.items() if source not in told.deleted}
    held = {record.id for record in records}
    chunks = {
        one for table in collection.tables() for one in collection.opened.store.open(table["name"]).document_ids()
    }  # the store has no public door for this
    purged = {told.last[source] for source in told.deleted if source in told.last}
    return {
        **{
            f"{did}, times and p50 / p95 in s": (
                len(taken),
                round(statistics.median(taken), 2),
                round(statistics.quantiles(taken, n=20)[18], 2),
            )
            for did, taken in sorted(told.seconds.items())
            if len(taken) > 1
        },
        "errors": dict(told.errors.most_common(5)),
        "files that were not indexed": told.failed,
        "citations": len(told.cited),
        "citations of a text that was never written": sum(not told.written >= set(tokens) for tokens in told.cited),
        "citations of two texts at once": sum(len(tokens) > 1 for tokens in told.cited),
        "lost": sorted(source for source, token in expected.items() if token not in texts.get(source, "")),
        "deleted and there": sorted(told.deleted & set(texts)),
        "twice": len(records) - len(texts),
        "chunks without a document": len(chunks - held),
        "documents without a chunk": len(held - chunks),
        "purged and there": sum(token in text for token in purged for text in texts.values()),
        "found by doctor": [str(one) for one in collection.doctor(repair=False)],
    }


def crowd(home: str, folder: Path, seconds: float) -> dict[str, Any]:
    """All of them for so long; what they said and what is there then."""
    folder.mkdir()
    told = Told()
    with thresher.open(home) as collection:
        told.hear(next(index(collection, folder, len(ROLES), random.Random(0))))  # so that there is something to ask
    ends = time.time() + seconds
    outputs = [folder.with_name(f"{role}-{number}.jsonl") for number, role in enumerate(ROLES)]
    processes = []
    for number, (role, output) in enumerate(zip(ROLES, outputs, strict=True)):
        command = [sys.executable, "-m", "benchmarks.crowd", "work", role, home, str(folder), str(number), str(ends)]
        with output.open("w", encoding="utf-8") as file:
            processes.append(subprocess.Popen(command, stdout=file))
    codes = [process.wait() for process in processes]
    for output in outputs:
        for line in output.read_text(encoding="utf-8").splitlines():
            told.hear(json.loads(line))
    with thresher.open(home) as collection:
        return {"seconds": seconds, "exit codes": codes, **row(told, collection)}


@contextmanager
def homes(store: str, folder: Path) -> Iterator[str]:
    """A home of a store, with the environment that its processes need."""
    before = dict(os.environ)
    try:
        match store:
            case "bucket":
                with bucket.running() as weed:
                    os.environ |= weed.environment
                    yield f"{weed.bucket('crowd')}/home"
            case "postgres":
                with postgres.running(settings="-c listen_addresses=") as dsn:
                    os.environ |= {"THRESHER_STORE": "postgres", "THRESHER_POSTGRES__DSN": dsn}
                    yield str(folder / "home")
            case _:
                yield str(folder / "home")
    finally:
        os.environ.clear()
        os.environ |= before


def main(arguments: Sequence[str]) -> None:
    """Measure the stores, and keep it."""
    if arguments[:1] == ["work"]:
        _, role, home, folder, number, ends = arguments
        work(role, home, folder, int(number), float(ends))
        return
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=600.0)
    parser.add_argument("--stores", nargs="+", choices=STORES, default=list(STORES))
    given = parser.parse_args(arguments)
    tell()
    for store in given.stores:
        with tempfile.TemporaryDirectory(prefix="thresher-crowd-") as folder, homes(store, Path(folder)) as home:
            found = crowd(home, Path(folder) / "files", given.seconds)
        print(store, json.dumps(found, indent=1), flush=True)
        keep("crowd", {**kept("crowd"), store: found})


if __name__ == "__main__":
    main(sys.argv[1:])
