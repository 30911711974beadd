"""`thresher` as a user runs it, in processes of its own, several at a time; none outlives the script."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from benchmarks.machine import CACHE, DATA

THRESHER = Path(sys.executable).with_name("thresher")
HOME = CACHE / "home"
PATIENCE_SECONDS = 20.0
"""For a command to finish what it is at and to clear up; a question takes a few."""


class Processes:
    """The commands that are running; each leads a group, so that what it started ends with it. For several threads."""

    def __init__(self) -> None:
        self._running: set[subprocess.Popen[str]] = set()
        self._ending = False
        self._lock = threading.Lock()

    def run(self, command: Sequence[str], environment: Mapping[str, str]) -> tuple[int, str]:
        """Exit code and what was printed; complaints go to our stderr."""
        with self._lock:
            if self._ending:
                raise SystemExit("interrupted")
            process = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True, process_group=0)
            self._running.add(process)
        try:
            printed, _ = process.communicate()
        except BaseException:
            end([process])
            raise
        finally:
            with self._lock:
                self._running.discard(process)
        return process.returncode, printed

    def end(self) -> None:
        """End everything that is running, and start nothing more."""
        with self._lock:
            self._ending = True
            running = list(self._running)
        end(running)


def end(processes: Sequence[subprocess.Popen[str]]) -> None:
    """Interrupt commands and what they started; kill what is still there after a while."""
    for process in processes:
        send(process, signal.SIGINT)
    for process in processes:
        with suppress(subprocess.TimeoutExpired):
            process.wait(PATIENCE_SECONDS)
        send(process, signal.SIGKILL)
        process.wait()


def send(process: subprocess.Popen[str], number: signal.Signals) -> None:
    """Send a signal to a command and to what it started, if anybody is left."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, number)


def interrupted_by_signals() -> None:
    """Let a request to end and a closed terminal be what Ctrl-C is: KeyboardInterrupt in the main thread.

    Ctrl-C itself as well: a shell that starts a script in the background has it ignored, by what the script starts too.
    """
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.default_int_handler)


PROCESSES = Processes()


def thresher(*arguments: str, home: bool = True, environment: Mapping[str, str] | None = None) -> str:
    """What a command prints, over the collections in `HOME`. A failure ends the benchmark. For several threads.

    `environment` is added to this process's.
    """
    where = ["--home", str(HOME)] if home else []
    told = {**os.environ, "THRESHER_DATA": str(DATA), **(environment or {})}
    code, printed = PROCESSES.run([str(THRESHER), *arguments, *where], told)
    if code not in (0, 3):
        raise SystemExit(f"thresher {' '.join(arguments)} exited with {code}")
    return printed
