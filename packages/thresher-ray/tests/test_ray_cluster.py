"""Two real nodes: what they prepare is what one process prepares, also when one of them is killed meanwhile."""

from __future__ import annotations

import json
import random
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

import pytest

import thresher
from tests.indexing.test_inputs import held
from tests.servers.ray import SECOND, Nodes, descendants, name_of, running
from thresher.errors import StoreError

pytest.importorskip("ray", reason="ray is not installed (pip install ./packages/thresher-ray)")
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not entry_points(group="thresher.clusters"), reason="thresher-ray is not installed"),
]

COMMAND = Path(sys.executable).with_name("thresher")
SECONDS = 200.0
"""Far more than a run takes on a busy machine."""
FILES, WORDS = 64, 1000
"""Some 400,000 characters: committed once in the middle and once at the end."""
RECIPE = ("--recipe", "rag")
VOCABULARY = ("harbour", "master", "town", "tower", "floor", "bell", "noon", "of", "the", "a", "says", "rings", "and")


def command(*arguments: str | Path, home: Path, on: str | None = None) -> list[str]:
    place = [] if on is None else ["--on", on]
    return [str(COMMAND), *map(str, arguments), *place, "--home", str(home), "--json"]


def ended(process: subprocess.Popen[str]) -> Any:
    """What a command that went well prints."""
    out, said = process.communicate(timeout=SECONDS)
    assert process.returncode == 0, said
    return json.loads(out)


def done(line: list[str]) -> Any:
    return ended(started(line))


def started(line: list[str]) -> subprocess.Popen[str]:
    return subprocess.Popen(line, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


@pytest.fixture(scope="module")
def cluster() -> Iterator[Nodes]:
    """Two nodes of one processor each."""
    with running() as nodes:
        yield nodes


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Files of some chunks each, two of them alike, and a corpus."""
    folder, chance = tmp_path_factory.mktemp("files"), random.Random(12)
    for n in range(FILES):
        words = [f"{chance.choice(VOCABULARY)}{'.' * (chance.random() < 0.1)}" for _ in range(WORDS)]
        (folder / f"{n:02}.txt").write_text(" ".join(words), encoding="utf-8")
    (folder / "copy.md").write_text((folder / "03.txt").read_text(encoding="utf-8"), encoding="utf-8")
    rows = [
        {"_id": f"row{n}", "title": f"Town {n}", "text": f"The tower of town {n} has {n + 3} floors."}
        for n in range(50)
    ]
    (folder / "rows.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def alone(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The home of the collection that one process makes."""
    home = tmp_path_factory.mktemp("alone")
    report = done(command("index", folder, *RECIPE, home=home))
    assert (report["added"], report["duplicates"], report["failed"]) == (FILES + 50, 1, [])
    return home


def committed(home: Path) -> int:
    """Documents in a collection that may not be there yet."""
    with suppress(StoreError), thresher.open(home) as collection:
        return len(collection.documents())
    return 0


def test_a_client_that_is_no_node_indexes(cluster: Nodes, folder: Path, tmp_path: Path) -> None:
    report = done(command("index", folder / "rows.jsonl", *RECIPE, home=tmp_path, on=cluster.client_address))
    assert (report["added"], report["failed"]) == (50, [])
    with thresher.open(tmp_path) as collection:
        assert collection.doctor(repair=False) == []


def test_a_node_that_is_killed_costs_nothing_but_its_tasks(
    cluster: Nodes, folder: Path, alone: Path, tmp_path: Path
) -> None:
    process = started(command("index", folder, *RECIPE, home=tmp_path, on=cluster.address))
    deadline = time.monotonic() + SECONDS
    while not committed(tmp_path) and process.poll() is None:
        assert time.monotonic() < deadline
        time.sleep(0.01)
    works = any(name_of(pid).startswith("ray::answered") for pid in descendants(cluster.started[SECOND].pid))
    killed = cluster.kill(SECOND)
    assert process.poll() is None, "the run had ended before the node was killed"
    assert any("raylet" in name for name in killed)
    assert works or any(name.startswith("ray::") for name in killed), killed
    report = ended(process)
    assert (report["added"], report["duplicates"], report["failed"]) == (FILES + 50, 1, [])
    with thresher.open(tmp_path) as collection, thresher.open(alone) as one:
        assert collection.doctor(repair=False) == []
        assert held(collection) == held(one)
        texts = [collection.document(record.id).text for record in collection.documents()]
        assert texts == [one.document(record.id).text for record in one.documents()]
