"""What a benchmark starts does not outlive it."""

from __future__ import annotations

import os
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from benchmarks.commands import Processes

STARTING = "import subprocess, sys; subprocess.run([sys.executable, '-c', *sys.argv[1:]])"
STARTED = "import signal, sys; held = open(sys.argv[1], 'w'); held.write('up'); held.flush(); signal.pause()"


@pytest.fixture
def processes() -> Processes:
    return Processes()


def test_a_command_says_what_it_printed_and_how_it_ended(processes: Processes) -> None:
    command = [sys.executable, "-c", "import sys; print('said'); sys.exit(3)"]
    assert processes.run(command, os.environ) == (3, "said\n")


def test_what_a_command_started_ends_with_it_and_nothing_more_is_started(processes: Processes, tmp_path: Path) -> None:
    alive = tmp_path / "alive"
    os.mkfifo(alive)
    with ThreadPoolExecutor(1) as pool:
        ended = pool.submit(processes.run, [sys.executable, "-c", STARTING, STARTED, str(alive)], os.environ)
        with alive.open() as stream:
            assert stream.read(2) == "up"
            processes.end()
            assert stream.read() == "", "it ends when nobody holds the other end any more"
        assert ended.result()[0] != 0
    with pytest.raises(SystemExit, match="interrupted"):
        processes.run([sys.executable, "-c", "pass"], os.environ)
