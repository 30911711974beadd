"""Calls in processes of their own: their results, their errors, and their deaths."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from pathlib import Path

import pytest

from thresher.errors import UnknownSetting, WorkerDied
from thresher.indexing.processes import Processes
from thresher.models.running import SHARE, usable_cores

SECONDS = 60.0


@pytest.fixture
def two() -> Iterator[Processes]:
    with Processes(2, {SHARE: "1"}) as started:
        yield started


def die_the_first_time(marker: Path) -> str:
    if not marker.exists():
        marker.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return "lived"


def fail() -> None:
    raise UnknownSetting("chnk", {"chunk"})


def say(words: str) -> int:
    sys.stdout.write(words)
    sys.stdout.flush()
    return os.getpid()


def holds(condition: Callable[[], object]) -> bool:
    """Whether a condition holds before the deadline."""
    deadline = time.monotonic() + SECONDS
    while not condition() and time.monotonic() < deadline:
        time.sleep(0.01)
    return bool(condition())


def wait_for(path: Path) -> int:
    (path.parent / str(os.getpid())).touch()
    holds(path.exists)
    return os.getpid()


def is_alive(pid: int) -> bool:
    """Whether a process runs; a zombie does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def gone(pids: list[int]) -> bool:
    return holds(lambda: not any(map(is_alive, pids)))


def test_calls_are_made_at_the_same_time_by_processes_that_stay(two: Processes, tmp_path: Path) -> None:
    calls: list[Future[int]] = [two.submit(wait_for, tmp_path / "go") for _ in range(2)]
    assert holds(lambda: len(list(tmp_path.iterdir())) == 2)
    (tmp_path / "go").touch()
    pids = sorted(call.result(SECONDS) for call in calls)
    assert pids == two.pids
    assert os.getpid() not in pids
    assert two.submit(say, "a print is no answer\n").result(SECONDS) in pids
    assert two.submit(usable_cores).result(SECONDS) == 1


def test_an_error_of_a_call_is_raised_as_it_was(two: Processes) -> None:
    with pytest.raises(UnknownSetting, match="did you mean 'chunk'") as raised:
        two.submit(fail).result(SECONDS)
    assert (raised.value.subject, raised.value.what) == ("chnk", "unknown setting")
    with pytest.raises(ZeroDivisionError):
        two.submit(divmod, 1, 0).result(SECONDS)


def test_a_call_whose_process_is_killed_is_made_again_in_another(two: Processes, tmp_path: Path) -> None:
    assert two.submit(die_the_first_time, tmp_path / "died").result(SECONDS) == "lived"


def test_a_call_that_ends_its_process_twice_has_failed_and_the_next_is_made(two: Processes) -> None:
    with pytest.raises(WorkerDied, match="exit status 3"):
        two.submit(os._exit, 3).result(SECONDS)
    assert two.submit(len, "four").result(SECONDS) == 4


def test_closing_ends_the_processes_in_the_middle_of_a_call(tmp_path: Path) -> None:
    with Processes(1) as one:
        one.submit(wait_for, tmp_path / "never")
        assert holds(lambda: list(tmp_path.iterdir()))
        pids = one.pids
    assert len(pids) == 1
    assert gone(pids)


def test_a_process_ends_with_who_asked(tmp_path: Path) -> None:
    code = (
        "import sys, time\nfrom pathlib import Path\nfrom thresher.indexing.processes import Processes\n"
        "from tests.test_processes import wait_for\nasking = Processes(1)\n"
        f"asking.submit(wait_for, Path({str(tmp_path / 'never')!r}))\ntime.sleep({SECONDS})"
    )
    asking = subprocess.Popen([sys.executable, "-c", code])
    assert holds(lambda: list(tmp_path.iterdir()))
    asking.kill()
    asking.wait()
    assert gone([int(one.name) for one in tmp_path.iterdir()])
