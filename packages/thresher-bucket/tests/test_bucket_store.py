"""Tables in a bucket: several writers, one that is killed, a bucket that goes away, one that cannot be trusted."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import obstore
import pytest
from obstore.exceptions import AlreadyExistsError, PreconditionError

import thresher
from tests.servers.bucket import Weed, running, why_not
from thresher.errors import StoreError
from thresher.indexing.store import DocumentStore
from thresher.protocols import Files, Store
from thresher_bucket import files as bucket
from thresher_bucket.files import BucketFiles
from thresher_bucket.folder import BucketFolder
from thresher_bucket.lease import held_by
from thresher_bucket.tables import LEASE, BucketLanceStore
from thresher_testing.files_contract import FilesContract
from thresher_testing.store_contract import StoreContract

ROUNDS = 3
"""Writers that are killed one after the other: the next one waits for the lease of each."""

WRITER = """
import sys
import thresher
home, folder, name = sys.argv[1:]
with thresher.open(home) as collection:
    print("begun", flush=True)
    for number in range({files}):
        file = f"{{folder}}/{{name}}-{{number}}.txt"
        with open(file, "w", encoding="utf-8") as written:
            written.write(f"The barn number {{number}} of {{name}} was built in {{1500 + number}}. It is red.")
        collection.add(file, recipe="rag")
        print(number, flush=True)
"""


def writer(home: BucketFolder, folder: Path, name: str, files: int = 4) -> subprocess.Popen[str]:
    """A process that adds one file after the other."""
    command = [sys.executable, "-c", WRITER.format(files=files), str(home), str(folder), name]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


def finished(*processes: subprocess.Popen[str]) -> bool:
    """Whether all ended well."""
    for process in processes:
        process.communicate(timeout=240)
    return all(process.returncode == 0 for process in processes)


def sources(home: BucketFolder) -> list[str]:
    """The file names of all documents."""
    with thresher.open(home) as collection:
        return sorted(Path(document.source).name for document in collection.documents())


def lease_of(home: BucketFolder) -> str:
    return f"collections/default/{LEASE.format('commit')}"


@pytest.mark.parametrize("heeded", [None, "create"])
def test_a_bucket_that_ignores_conditions_is_refused(
    folder: BucketFolder, monkeypatch: pytest.MonkeyPatch, heeded: str | None
) -> None:
    put = obstore.put

    def loose(store: Any, name: str, content: bytes, *, mode: Any = "overwrite", **options: Any) -> Any:
        return put(store, name, content, mode=mode if mode == heeded else "overwrite", **options)

    monkeypatch.setattr(obstore, "put", loose)
    with thresher.open(folder) as collection:
        for _ in range(2):
            with pytest.raises(StoreError, match=r"s3://tests: does not keep to conditional puts"):
                collection.ask("Who?", recipe="rag")


@pytest.mark.parametrize("error", [AlreadyExistsError, PreconditionError])
def test_a_write_that_a_bucket_refuses_is_an_error_and_not_taken_for_done(
    folder: BucketFolder, monkeypatch: pytest.MonkeyPatch, error: type[Exception]
) -> None:
    files = BucketFiles(folder)
    files.write("kept", b"first")

    def held(*_: Any, **__: Any) -> None:
        raise error("status code: 409 Conflict: the object may not be replaced")  # a rule of the bucket

    monkeypatch.setattr(obstore, "put", held)
    with pytest.raises(StoreError, match="answers 409 Conflict"):
        files.write("kept", b"second")


@pytest.mark.slow
def test_a_change_by_another_process_is_seen_within_the_stated_time(
    folder: BucketFolder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("THRESHER_BUCKET__SECONDS_BEHIND", "1.5")
    bucket.forget_all()
    store = DocumentStore(folder / "collections" / "default")
    assert not store.exists
    assert finished(writer(folder, tmp_path, "a", files=1))
    store.records()
    assert finished(writer(folder, tmp_path, "b", files=1))
    done = time.monotonic()
    while len(store.records()) < 2:
        assert time.monotonic() - done < 2.5
        time.sleep(0.02)
    with store.locked():  # whoever is about to write looks at once
        assert len(store.records()) == 2


def test_nothing_is_written_after_the_lease_was_lost(folder: BucketFolder, tmp_path: Path) -> None:
    assert finished(writer(folder, tmp_path, "a", files=1))
    store = DocumentStore(folder / "collections" / "default")
    files = BucketFiles(folder)
    held = held_by(BucketFiles(store.folder), LEASE.format("commit"))  # type: ignore[arg-type]
    before = store.records()
    with store.locked():
        files.write(lease_of(folder), b'{"holder": "another", "renewed": 0}')
        held._began -= 60  # as if it had slept: the next write makes sure first
        with pytest.raises(StoreError, match="lease was lost to another process"):
            store.record_table("counters").merge([{"name": "x", "value": 1}])
    files.write(lease_of(folder), b'{"holder": null}')
    assert store.records() == before
    with store.locked():
        store.record_table("counters").merge([{"name": "x", "value": 1}])


@pytest.mark.slow
def test_four_writers_at_once_lose_nothing(folder: BucketFolder, tmp_path: Path) -> None:
    assert finished(*[writer(folder, tmp_path, name) for name in "abcd"])
    assert sources(folder) == sorted(f"{name}-{number}.txt" for name in "abcd" for number in range(4))
    with thresher.open(folder) as collection:
        assert collection.doctor(repair=False) == []


@pytest.mark.slow
def test_a_writer_that_is_killed_with_the_lease_loses_nothing_that_was_committed(
    folder: BucketFolder, tmp_path: Path
) -> None:
    files = BucketFiles(folder)
    for round_ in range(ROUNDS):
        process = writer(folder, tmp_path, f"killed{round_}", files=1000)
        assert process.stdout is not None
        for line in process.stdout:
            if line == "2\n":
                break
        deadline = time.monotonic() + 60
        while (files.read(lease_of(folder)) or b"").count(b"null"):
            assert time.monotonic() < deadline
        process.send_signal(signal.SIGKILL)
        process.wait()
        process.stdout.close()
        assert b"null" not in (files.read(lease_of(folder)) or b"null")
    kept = sources(folder)
    assert {f"killed{round_}-{number}.txt" for round_ in range(ROUNDS) for number in range(3)} <= set(kept)
    began = time.monotonic()
    assert finished(writer(folder, tmp_path, "after", files=1))
    assert time.monotonic() - began < 60
    assert sources(folder) == sorted([*kept, "after-0.txt"])
    with thresher.open(folder) as collection:
        collection.add(tmp_path, recipe="rag", prune=True)  # what was cut short is made good
        assert collection.doctor(repair=False) == []
        assert len(collection.documents()) == len(list(tmp_path.glob("*.txt")))


@pytest.mark.slow
def test_a_bucket_that_goes_away_is_an_error_in_bounded_time_and_nothing_is_lost(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if why_not():
        pytest.skip(why_not())
    with running() as weed:
        for name, value in {**weed.environment, "THRESHER_BUCKET__TIMEOUT_SECONDS": "2"}.items():
            monkeypatch.setenv(name, value)
        bucket.forget_all()
        home = BucketFolder(f"{weed.bucket('away')}/home")
        file = tmp_path / "lighthouse.txt"
        file.write_text("The lighthouse of Kõpu was built by the Hanseatic League in 1531.", encoding="utf-8")
        with thresher.open(home) as collection:
            collection.add(file, recipe="rag")
            question = "Who built the lighthouse?"
            before = collection.ask(question, recipe="rag").text
            with weed.paused():
                began = time.monotonic()
                more = tmp_path / "more.txt"
                more.write_text("The barn was built in 1600.", encoding="utf-8")
                with pytest.raises(StoreError, match=r"answer|reached"):
                    collection.add(more, recipe="rag")
                assert time.monotonic() - began < 20
            assert collection.ask(question, recipe="rag").text == before
            weed.kill()
            began = time.monotonic()
            with pytest.raises(StoreError, match=r"answer|reached"):
                collection.add(more, recipe="rag")
            assert time.monotonic() - began < 20
            weed.start()
            assert collection.add(more, recipe="rag").added == 1
            assert collection.ask(question, recipe="rag").text == before
            assert collection.doctor(repair=False) == []


def test_a_bucket_that_keeps_old_versions_says_so_where_something_is_purged(
    reached: Weed, tmp_path: Path, folder: BucketFolder
) -> None:
    versioned = BucketFolder(f"{reached.bucket('versioned', versioned=True)}/home")
    file = tmp_path / "secret.txt"
    file.write_text("The secret word is xylophone.", encoding="utf-8")
    for home, expected in ((versioned, "old versions"), (folder, "")):
        with thresher.open(home) as collection:
            collection.add(file, recipe="rag")
            assert expected in collection.purge_remark
            assert bool(expected) == bool(collection.purge_remark)
            collection.delete(file, purge=True)
            assert collection.documents() == []


def folder_of(path: Path) -> BucketFolder:
    """A folder of the bucket for one of the file system."""
    return BucketFolder(f"s3://tests/{'/'.join(path.parts[-3:])}")


@pytest.mark.usefixtures("reached")
class TestBucketFiles(FilesContract):
    def open_files(self, folder: Path) -> Files:
        return BucketFiles(folder_of(folder))


@pytest.mark.slow
@pytest.mark.usefixtures("reached")
class TestBucketLanceStore(StoreContract):
    def open_store(self, folder: Path) -> Store:
        return BucketLanceStore(folder_of(folder))
