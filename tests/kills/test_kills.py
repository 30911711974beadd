"""Processes that index, ask, purge and rename, each killed at a random moment: nothing is lost, half done or left over.

`KILLS` says how many; `make kills` takes a thousand, the proofs a few. `KILLS_SEED` makes other choices.
"""

from __future__ import annotations

import json
import os
import random
import re
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

import thresher
from tests.kills import worker
from tests.kills.worker import ENCODER, NAMES
from thresher.collection import Collection
from thresher.home.folders import WORKING, names

KILLS = int(os.environ.get("KILLS", "12"))
SEED = int(os.environ.get("KILLS_SEED", "34"))
SECONDS = {"index": 2.0, "ask": 3.0, "purge": 0.6, "move": 0.02}
"""About as long as each takes; the kill comes within, or shortly after in what is next."""

LONGEST = 100.0
"""Far more than an action takes on a busy machine."""

WHOLE = 10
"""Kills after which everything is indexed and looked at by doctor."""

TOKEN = re.compile(rb"secretum[0-9a-f]{16}")


def tokens_of(text: str) -> set[bytes]:
    return set(TOKEN.findall(text.encode()))


class Watched:
    """A home, what must be in it, and what must not be any more."""

    def __init__(self, place: Path) -> None:
        self.home, self.folder = place / "home", place / "files"
        self.folder.mkdir()
        self.held: dict[str, str] = {}
        """Texts by source, as committed."""
        self.ever: dict[str, set[bytes]] = {}
        """Tokens that a source had since it was purged."""
        self.purged: set[bytes] = set()
        self.under_way: dict[str, Any] = {}

    @property
    def name(self) -> str:
        there = [name for name in NAMES if name in names(self.home)]
        assert len(there) <= 1, "a renamed collection stands twice"
        return there[0] if there else NAMES[0]

    def opened(self) -> Collection:
        return thresher.open(self.home, self.name, encoder=ENCODER)

    def on_disk(self) -> dict[str, str]:
        return {str(file): file.read_text(encoding="utf-8") for file in self.folder.glob("*.txt")}

    def hear(self, told: dict[str, Any]) -> None:
        """What a process says it begins, or has done."""
        if told["act"] != "done":
            self.under_way = told
            return
        match self.under_way["act"]:
            case "index":
                self.commit(told["texts"])
            case "purge":
                self.gone(self.under_way["source"])
        self.under_way = {}

    def commit(self, texts: dict[str, str]) -> None:
        for source, text in texts.items():
            self.ever.setdefault(source, set()).update(tokens_of(text))
            self.held[source] = text

    def gone(self, source: str) -> None:
        self.held.pop(source, None)
        self.purged |= self.ever.pop(source, set())

    def look(self) -> None:
        """Check the home after a kill, and take over what the kill left open: an action is done or it is not."""
        act, disk = self.under_way.get("act"), self.on_disk()
        if not names(self.home):
            assert not self.held, "the collection is lost"
            return
        with self.opened() as collection:
            if act == "purge":
                collection.doctor()
            found = {record.source: collection.document(record.id).text for record in collection.documents()}
            for row in collection.tables():
                chunks = set(collection.opened.store.open(row["name"]).document_ids())
                assert chunks <= {record.id for record in collection.documents()}, "a chunk without its document"
            for trace, _ in collection.traces.asked():
                collection.traces.load(trace)
        for source in {*self.held, *found}:
            allowed = {self.held.get(source)}
            if act == "index":
                allowed.add(disk.get(source))
                allowed -= {None} if source in self.held else set()
            if act == "purge" and source == self.under_way["source"]:
                allowed.add(None)
            assert found.get(source) in allowed, f"{source} after a killed {act}"
        self.commit(found)
        if act == "purge" and self.under_way["source"] not in found:
            self.gone(self.under_way["source"])
        self.under_way = {}
        self.search_bytes()

    def search_bytes(self) -> None:
        for file in self.home.rglob("*"):
            if file.is_file():
                left = self.purged & set(TOKEN.findall(file.read_bytes()))
                assert not left, f"{file} holds what was purged"

    def finish(self) -> None:
        """Index what is on disk and let doctor look: nothing is missing, nothing stands beside it."""
        disk = self.on_disk()
        with self.opened() as collection:
            report = collection.add(self.folder, recipe="rag")
            assert report.unchanged == sum(self.held.get(source) == text for source, text in disk.items())
            assert (report.unchanged + report.updated + report.added, report.failed) == (len(disk), [])
            collection.doctor()
            found = {record.source: collection.document(record.id).text for record in collection.documents()}
            assert collection.doctor(repair=False) == []
        self.commit(disk)
        assert found == self.held
        thresher.collections(self.home).rename(self.name, NAMES[1 - NAMES.index(self.name)])
        assert not [left for left in self.home.rglob("*") if left.name.startswith(WORKING)]


def ended(group: int) -> bool:
    """Whether no process of a killed one's is left."""
    deadline = time.monotonic() + LONGEST
    while time.monotonic() < deadline:
        try:
            os.killpg(group, 0)
        except ProcessLookupError:
            return True
        time.sleep(0.01)
    return False


@contextmanager
def workers(watched: Watched) -> Iterator[subprocess.Popen[str]]:
    command = [sys.executable, "-W", "ignore", str(Path(worker.__file__)), str(watched.home), str(watched.folder)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        yield process
    assert process.returncode == 0


def lines(process: subprocess.Popen[str]) -> Iterator[dict[str, Any]]:
    """What is told; the kill leaves half a line at the most."""
    for line in process.stdout or ():
        with suppress(ValueError):
            yield json.loads(line)


def killed(process: subprocess.Popen[str], watched: Watched, chance: random.Random) -> str:
    """Let one process act until the kill; which action that was in."""
    assert process.stdin is not None
    process.stdin.write(f"{chance.getrandbits(32)}\n")
    process.stdin.flush()
    told = lines(process)
    pid, left = next(told)["pid"], chance.randint(1, 2)
    for line in told:
        watched.hear(line)
        left -= line["act"] != "done"
        if not left:
            break
    time.sleep(chance.uniform(0, SECONDS[watched.under_way["act"]]))
    os.kill(pid, signal.SIGKILL)
    for line in told:
        if line["act"] == "ended":
            assert line["signal"] == signal.SIGKILL
            break
        watched.hear(line)
    assert ended(pid), "a process of the killed one goes on"
    return str(watched.under_way.get("act", "between"))


@pytest.mark.slow
def test_killed_processes_lose_nothing_and_leave_nothing(tmp_path: Path) -> None:
    chance, watched = random.Random(SEED), Watched(tmp_path)
    where: Counter[str] = Counter()
    with workers(watched) as process:
        for number in range(1, KILLS + 1):
            where[killed(process, watched, chance)] += 1
            watched.look()
            if number % WHOLE == 0 or number == KILLS:
                watched.finish()
            sys.stderr.write(f"{number} kills: {dict(where)}, {len(watched.purged)} purged versions\n")
    assert where.total() == KILLS
