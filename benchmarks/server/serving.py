"""A server in a process of its own over a home, for the time of a measurement."""

from __future__ import annotations

import os
import re
import subprocess
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx

from benchmarks.commands import THRESHER, end
from thresher.home.places import Home

START_SECONDS = 60.0
"""For the process to listen; a quiet machine takes two seconds."""

LAG = re.compile(r'thresher_loop_lag_seconds_bucket\{le="([^"]+)"\} ([0-9.e+]+)')


@dataclass(frozen=True, slots=True)
class Server:
    """A server that listens: its address, and the process that was started."""

    url: str
    process: subprocess.Popen[str]

    def resident_megabytes(self) -> float:
        """Resident memory of the process and of those it started, in MiB."""
        return sum(_resident(pid) for pid in _family(self.process.pid)) / 1024

    def processor_seconds(self) -> float:
        """Processor time of the process and of those it started."""
        return sum(map(_spent, _family(self.process.pid)))

    def lags(self) -> dict[float, float]:
        """How many looks at the event loop found it at most so many seconds late, by the bound."""
        told = httpx.get(f"{self.url}/metrics", timeout=30).text
        return {float(bound.replace("+Inf", "inf")): float(number) for bound, number in LAG.findall(told)}


@contextmanager
def serving(home: Home, settings: Mapping[str, str] | None = None) -> Iterator[Server]:
    """A server over a home on a free port of loopback; it ends with the block."""
    command = [str(THRESHER), "serve", "--open", "--home", str(home), "--port", "0"]
    for key, value in (settings or {}).items():
        command += ["--set", f"{key}={value}"]
    environment = {**os.environ, "PYTHONUNBUFFERED": "1"}
    process = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True, process_group=0)
    try:
        assert process.stdout is not None
        address = re.search(r"http://[^/]+", process.stdout.readline())
        if address is None:
            raise SystemExit("the server did not start")
        _await(address[0])
        yield Server(address[0], process)
    finally:
        end([process])


def _await(url: str) -> None:
    ends = time.monotonic() + START_SECONDS
    while time.monotonic() < ends:
        try:
            if httpx.get(f"{url}/ready", timeout=5).status_code == 200:
                return
        except httpx.TransportError:
            time.sleep(0.1)
    raise SystemExit("the server does not answer")


def _family(pid: int) -> list[int]:
    found = [pid]
    for one in found:
        children = Path(f"/proc/{one}/task/{one}/children")
        if children.exists():
            found += map(int, children.read_text(encoding="ascii").split())
    return found


def _spent(pid: int) -> float:
    try:
        fields = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    except OSError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _resident(pid: int) -> float:
    """KiB."""
    try:
        status = Path(f"/proc/{pid}/status").read_text(encoding="utf-8")
    except OSError:
        return 0.0
    resident = re.search(r"VmRSS:\s+(\d+) kB", status)
    return float(resident[1]) if resident else 0.0
