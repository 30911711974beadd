"""Real commands in processes of their own: killed, interrupted, at the same time, on a full disk (see tests/kills)."""

from __future__ import annotations

import json
import os
import random
import resource
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

import pytest

import thresher
from thresher.collection import Collection
from thresher.errors import StoreError
from thresher_testing.llm_server import Reply, ScriptedServer

pytestmark = pytest.mark.slow

COMMAND = Path(sys.executable).with_name("thresher")
FILES = 60
SECONDS = 100.0
"""Far more than a run takes on a busy machine; a test that waits so long has failed."""

MENDED_BY_THE_NEXT_RUN = (
    "documents have no chunks yet",
    "not yet in the index",
    "still count deleted chunks",
    "tables are kept",
)
"""What a killed run may leave: chunks to be made, indexes to be brought up to date, old versions. Else it is damage."""


@pytest.fixture(scope="module")
def server() -> Iterator[ScriptedServer]:
    """Embeddings in no time, and a sign of how far a process is."""
    with ScriptedServer() as started:
        yield started


@pytest.fixture
def encoder(server: ScriptedServer) -> dict[str, str]:
    """Settings that use it."""
    return {"encoder": "endpoint:hash", "embeddings.base_url": server.base_url}


def thresher_command(*arguments: str | Path, home: Path, encoder: dict[str, str]) -> list[str]:
    settings = [part for key, value in encoder.items() for part in ("--set", f"{key}={value}")]
    return [str(COMMAND), *map(str, arguments), "--home", str(home), "--json", *settings]


def completed(command: list[str], **options: Any) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, capture_output=True, text=True, timeout=SECONDS, check=False, **options)


def started(command: list[str]) -> subprocess.Popen[str]:
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def text_of(chance: random.Random, name: str, characters: int) -> str:
    """Long words: much to cut, store and encode, little to compute for the hash encoder."""
    words = [f"{name}{chance.getrandbits(200):x}" for _ in range(characters // 60)]
    return ". ".join(" ".join(words[at : at + 8]) for at in range(0, len(words), 8)) + "."


def written(folder: Path, files: int, characters: int) -> dict[str, str]:
    """Files of about so many characters, by path."""
    chance = random.Random(7)
    texts = {
        str(folder / f"{folder.name}{n:02}.txt"): text_of(chance, f"{folder.name}{n}", characters) for n in range(files)
    }
    folder.mkdir()
    for path, text in texts.items():
        Path(path).write_text(text, encoding="utf-8")
    return texts


def held(collection: Collection) -> dict[str, str]:
    """The text of every document, by source."""
    return {record.source: collection.document(record.id).text for record in collection.documents()}


# --- with worker processes --------------------------------------------------------------------------------------------


def workers_of(pid: int) -> list[int]:
    """The processes that prepare files for a command."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            parent = int((folder / "stat").read_text().rpartition(")")[2].split()[1])
            if parent == pid and b"thresher.indexing.processes" in (folder / "cmdline").read_bytes():
                found.append(int(folder.name))
    return found


def committed(home: Path) -> int:
    """Documents in a collection that may not be there yet."""
    with suppress(StoreError), thresher.open(home) as collection:
        return len(collection.documents())
    return 0


def test_an_interrupted_run_ends_its_workers_and_keeps_what_was_committed(
    tmp_path: Path, encoder: dict[str, str]
) -> None:
    files, home = tmp_path / "files", tmp_path / "home"
    texts = written(files, FILES, 8000)  # half a megabyte in all, so that a run commits several times

    def held_after_a_commit(_: Any) -> Reply:
        return Reply(seconds=SECONDS if committed(home) else 0.1)

    with ScriptedServer(embeddings=[held_after_a_commit]) as server:
        slow = {**encoder, "embeddings.base_url": server.base_url}
        process = started(thresher_command("index", files, "--processes", "2", home=home, encoder=slow))
        deadline = time.monotonic() + SECONDS
        while not committed(home) and process.poll() is None:
            assert time.monotonic() < deadline
            time.sleep(0.01)
        workers = workers_of(process.pid)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=SECONDS)
    assert (process.returncode, out) == (130, ""), err
    assert "are in the collection and kept" in err
    assert 1 <= len(workers) <= 2
    assert not any((Path("/proc") / str(pid)).exists() for pid in workers)
    collection = thresher.open(home)
    before = held(collection)
    assert 0 < len(before) < FILES
    assert before.items() <= texts.items()
    done = completed(thresher_command("index", files, "--processes", "2", home=home, encoder=encoder))
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["added"] == FILES - len(before)
    assert held(collection) == texts


# --- at the same time -------------------------------------------------------------------------------------------------


def write_story(path: Path, edition: int) -> str:
    sentences = [
        f"The harbour master of {path.stem} says edition {edition}.",
        f"The tallest tower of {path.stem} has {edition + 30} floors.",
        f"Nobody but the smith of {path.stem} repaired the bridge in edition {edition}.",
    ]
    text = " ".join(sentences * 8)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return text


ASKING = """
import json, sys
from pathlib import Path
import thresher
home, stop, settings = sys.argv[1:]
questions = ["What does the harbour master say?", "Which tower is the tallest?", "Who repaired the bridge?"]
answers, stopped, cited = 0, False, set()
with thresher.open(home) as collection:
    while not stopped:  # the last question begins after the last change, and makes the chunks that only it needs
        stopped = Path(stop).exists()
        try:
            answer = collection.ask(questions[answers % 3], recipe="hybrid", settings=json.loads(settings))
        except thresher.StoreError as error:
            if "holds no documents yet" not in str(error):
                raise
            continue
        answers += 1
        cited |= {(citation.source, citation.quote) for citation in answer.citations}
print(json.dumps({"answers": answers, "cited": sorted(cited)}))
"""


def test_two_processes_index_while_a_third_asks(tmp_path: Path, encoder: dict[str, str]) -> None:
    home, stop = tmp_path / "home", tmp_path / "stop"
    folders = [tmp_path / name for name in ("left", "both", "right")]
    paths = [folder / f"{folder.name}{n}.txt" for folder in folders for n in range(8)]
    texts: dict[str, set[str]] = {str(path): set() for path in paths}
    asker = started([sys.executable, "-c", ASKING, str(home), str(stop), json.dumps(encoder)])
    try:
        reports = []
        for edition in range(3):
            for path in paths:
                texts[str(path)].add(write_story(path, edition if path.name[-5] in "0246" else 0))
            running = [
                started(thresher_command("index", *pair, home=home, encoder=encoder))
                for pair in (folders[:2], folders[1:])
            ]
            for process in running:
                out, err = process.communicate(timeout=SECONDS)
                assert process.returncode == 0, err
                reports.append(json.loads(out))
            assert asker.poll() is None, asker.communicate()[1]
    finally:
        stop.touch()
        out, err = asker.communicate(timeout=SECONDS)
    assert asker.returncode == 0, err
    answered = json.loads(out)
    assert answered["answers"] > 3
    assert answered["cited"]
    for source, quote in answered["cited"]:
        assert any(quote in text for text in texts[source]), (source, quote)

    with thresher.open(home) as collection:
        assert held(collection) == {str(path): path.read_text(encoding="utf-8") for path in paths}
        assert collection.doctor(repair=False, settings=encoder) == []
    assert sum(report["added"] for report in reports[:2]) == len(paths)
    assert all(report["failed"] == [] for report in reports)


def test_a_reader_survives_purges_by_another_process(tmp_path: Path, encoder: dict[str, str]) -> None:
    files, home = tmp_path / "files", tmp_path / "home"
    texts = written(files, 12, 2000)
    assert completed(thresher_command("index", files, home=home, encoder=encoder)).returncode == 0
    gone = sorted(texts)[6:9]
    with thresher.open(home) as collection:
        collection.search("files1", recipe="hybrid", settings=encoder)  # cut anew for this recipe
        purging = started(thresher_command("delete", *gone, "--purge", home=home, encoder=encoder))
        searches = 0
        while purging.poll() is None:
            assert collection.search("files1", recipe="hybrid", settings=encoder).hits
            searches += 1
        _, told = purging.communicate()
        assert purging.returncode == 0, told
        assert searches
        assert held(collection).keys() == texts.keys() - set(gone)


# --- a full disk ------------------------------------------------------------------------------------------------------


def small_disk(folder: Path) -> bool:
    """Mount a disk of a few megabytes, where this is allowed."""
    folder.mkdir()
    if os.geteuid() != 0 or shutil.which("mount") is None:
        return False
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=4m", "tmpfs", str(folder)], capture_output=True)
    return mounted.returncode == 0


def test_a_full_disk_ends_the_run_in_one_line_and_leaves_the_collection_sound(
    tmp_path: Path, encoder: dict[str, str]
) -> None:
    files, more = tmp_path / "files", tmp_path / "more"
    written(files, 6, 20_000)
    written(more, 40, 20_000)
    mounted = small_disk(tmp_path / "disk")
    home = tmp_path / "disk" / "home"
    limit = partial(resource.setrlimit, resource.RLIMIT_FSIZE, (150_000, 150_000))
    options: dict[str, Any] = {} if mounted else {"preexec_fn": limit}
    try:
        assert completed(thresher_command("index", files, home=home, encoder=encoder)).returncode == 0
        full = completed(thresher_command("index", files, more, home=home, encoder=encoder), **options)
        assert full.returncode == 1, full.stderr
        assert full.stdout == ""
        assert "Traceback" not in full.stderr
        (line,) = [told for told in full.stderr.splitlines() if "error" in told]
        told = json.loads(line)["error"]
        assert told["what"] == "the disk is full"
        assert "free some space and run again" in told["next"]
        if mounted:
            subprocess.run(["mount", "-o", "remount,size=64m", str(tmp_path / "disk")], check=True)
        with thresher.open(home) as collection:
            for finding in collection.doctor(repair=False, settings=encoder):
                assert any(allowed in finding.what for allowed in MENDED_BY_THE_NEXT_RUN), finding
            committed = len(collection.documents())
            assert committed >= 6
            again = completed(thresher_command("index", files, more, home=home, encoder=encoder))
            assert again.returncode == 0, again.stderr
            assert json.loads(again.stdout)["unchanged"] == committed
            assert len(collection.documents()) == 46
            assert collection.doctor(repair=False, settings=encoder) == []
    finally:
        if mounted:
            subprocess.run(["umount", "-l", str(tmp_path / "disk")], check=True)
