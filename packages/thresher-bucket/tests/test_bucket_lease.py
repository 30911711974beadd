from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import pytest
from filelock import Timeout

from tests.servers.bucket import Weed
from thresher.errors import StoreError
from thresher_bucket.files import BucketFiles
from thresher_bucket.folder import BucketFolder
from thresher_bucket.lease import HeldObject

SHORT = 1.0
"""Seconds of a lease."""

HOLDER = """
import sys
from thresher_bucket.files import BucketFiles
from thresher_bucket.lease import HeldObject
from thresher_bucket.folder import BucketFolder
held = HeldObject(BucketFiles(BucketFolder(sys.argv[1])), "l", seconds=float(sys.argv[2]))
held.acquire(10)
print("held", flush=True)
sys.stdin.readline()
try:
    held.check()
    print("still", flush=True)
except Exception as error:
    print(error, flush=True)
"""


@pytest.fixture
def files(folder: BucketFolder) -> BucketFiles:
    return BucketFiles(folder)


def another(files: BucketFiles, seconds: float = SHORT) -> HeldObject:
    """The lock as another process has it."""
    return HeldObject(files, "l", seconds=seconds)


def holder(files: BucketFiles) -> dict[str, object]:
    content = files.read("l")
    assert content is not None
    found: dict[str, object] = json.loads(content)
    return found


def test_one_process_at_a_time_holds_it(files: BucketFiles) -> None:
    first, second = another(files), another(files)
    assert first.acquire(1)
    assert not first.acquire(1)  # the same thread, once more
    with pytest.raises(Timeout):
        second.acquire(0.2)
    first.release()
    with pytest.raises(Timeout):
        second.acquire(0.2)
    first.release()
    assert second.acquire(1)
    second.check()
    second.release()


def test_of_many_that_want_it_each_gets_it_and_none_beside_another(files: BucketFiles) -> None:
    inside: list[int] = []

    def use(number: int) -> None:
        held = another(files, 20)
        held.acquire(30)
        inside.append(number)
        assert inside == [number]
        held.check()
        inside.remove(number)
        held.release()

    with ThreadPoolExecutor(6) as pool:
        list(pool.map(use, range(6)))
    assert holder(files) == {"holder": None}


def test_a_holder_that_lives_keeps_it_longer_than_a_lease_lasts(files: BucketFiles) -> None:
    first, second = another(files), another(files)
    first.acquire(1)
    with pytest.raises(Timeout):
        second.acquire(2.5 * SHORT)
    first.check()
    assert holder(files)["renewed"]
    first.release()


@contextmanager
def holding(files: BucketFiles) -> Iterator[subprocess.Popen[str]]:
    """A process that has it."""
    command = [sys.executable, "-c", HOLDER, str(files.folder), str(SHORT)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "held\n"
        yield process
        process.kill()


def test_the_lease_of_a_killed_process_is_taken_over(files: BucketFiles) -> None:
    held = another(files)
    with holding(files) as process:
        process.kill()
        began = time.monotonic()
        held.acquire(10)
    assert time.monotonic() - began < 5 * SHORT
    held.check()
    held.release()


def test_a_process_that_slept_too_long_is_told_that_it_lost_it(files: BucketFiles) -> None:
    held = another(files)
    with holding(files) as process:
        process.send_signal(signal.SIGSTOP)
        held.acquire(10)
        process.send_signal(signal.SIGCONT)
        said, _ = process.communicate("\n", timeout=10)
    assert "lease was lost to another process" in said
    held.check()
    held.release()


def test_a_lease_that_is_long_past_is_taken_over_at_once(files: BucketFiles) -> None:
    files.write("l", b'{"holder": "gone", "renewed": 3}')
    written = files.find("l")
    assert written is not None
    deadline = time.monotonic() + 10
    while True:  # by the clock of the bucket
        files.write("clock", b"")
        now = files.find("clock")
        assert now is not None
        if now.modified - written.modified > SHORT + 2.5:
            break
        assert time.monotonic() < deadline
        time.sleep(0.1)
    began = time.monotonic()
    held = another(files)
    held.acquire(5)
    assert time.monotonic() - began < SHORT / 2
    held.release()


def test_whoever_lost_it_is_told_before_it_writes(files: BucketFiles) -> None:
    held = another(files)
    held.acquire(1)
    files.write("l", b'{"holder": "another", "renewed": 0}')
    deadline = time.monotonic() + 10
    while not held._lost and time.monotonic() < deadline:
        time.sleep(0.02)
    with pytest.raises(StoreError, match="lease was lost to another process"):
        held.check()
    held.release()
    assert holder(files)["holder"] == "another"


def test_a_bucket_that_is_away_for_a_while_costs_no_lease(files: BucketFiles, reached: Weed) -> None:
    held = another(files)
    held.acquire(1)
    with reached.paused():
        time.sleep(1.5 * SHORT)  # longer than a lease lasts, with a renewal under way
    held.check()
    held.release()
    assert holder(files) == {"holder": None}
