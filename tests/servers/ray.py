"""A real Ray cluster of two nodes on loopback addresses, started for the tests and ended by their processes' ids."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from shutil import rmtree
from tempfile import mkdtemp

HEAD, SECOND = "127.0.0.2", "127.0.0.3"
SECONDS = 90.0
"""Far more than a node takes to start on a busy machine."""

QUIET = {"RAY_USAGE_STATS_ENABLED": "0", "RAY_USAGE_STATS_REPORT_URL": "http://127.0.0.1:9/"}
"""Nothing is reported to anybody: without the address Ray reports that nothing is to be reported."""

PATIENT = {
    "RAY_CLIENT_SERVER_CHECK_CHANNEL_TIMEOUT_S": f"{SECONDS:.0f}",
    "RAY_raylet_start_wait_time_s": f"{SECONDS:.0f}",
}
"""How long a client waits for the process that Ray starts for it, and a node for its own; 30 s are Ray's own."""

SETTINGS_OF_A_LAUNCHER = "ray_bootstrap_config.yaml"
"""Where it is missing in the home, Ray's head asks the metadata service of the cloud, outside this machine, for one."""

STARTED = "Ray runtime started."


@dataclass
class Nodes:
    """The nodes of one cluster by their addresses."""

    folder: Path
    port: int = field(default_factory=lambda: free_port(HEAD))
    client_port: int = field(default_factory=lambda: free_port(HEAD))
    started: dict[str, subprocess.Popen[bytes]] = field(default_factory=dict)

    @property
    def address(self) -> str:
        """Of the head."""
        return f"{HEAD}:{self.port}"

    @property
    def client_address(self) -> str:
        """Of the server for clients that are no node."""
        return f"ray://{HEAD}:{self.client_port}"

    def start(self, node: str) -> None:
        """Start a node of one processor and wait until it says so."""
        options = [f"--node-ip-address={node}", "--num-cpus=1", "--object-store-memory=300000000", "--block"]
        if node == HEAD:
            ports = [f"--port={self.port}", f"--ray-client-server-port={self.client_port}"]
            options += ["--head", *ports, "--include-dashboard=false", f"--temp-dir={self.folder}"]
        else:
            options += [f"--address={self.address}"]
        (self.folder / SETTINGS_OF_A_LAUNCHER).write_text("{}")
        said = self.folder / f"{node}.log"
        with said.open("wb") as log:
            self.started[node] = subprocess.Popen(
                [str(Path(sys.executable).with_name("ray")), "start", *options],
                stdout=log,
                stderr=log,
                env={**os.environ, **QUIET, **PATIENT, "HOME": str(self.folder)},
                start_new_session=True,
            )
        deadline = time.monotonic() + SECONDS
        while STARTED not in said.read_text(errors="replace"):
            assert time.monotonic() < deadline, said.read_text(errors="replace")
            assert self.started[node].poll() is None, said.read_text(errors="replace")
            time.sleep(0.05)

    def kill(self, node: str) -> list[str]:
        """SIGKILL a node with all its processes, the workers too; gives what those were called."""
        process = self.started.pop(node)
        pids = [process.pid, *descendants(process.pid)]
        names = [name_of(pid) for pid in pids]
        for pid in pids:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        process.wait()
        return names

    def end(self) -> None:
        """Kill all nodes."""
        for node in list(self.started):
            self.kill(node)


@contextmanager
def running() -> Iterator[Nodes]:
    """Two nodes of one processor each."""
    folder = Path(mkdtemp(prefix="ray-", dir="/tmp"))  # the path of a socket has 107 characters at most
    nodes = Nodes(folder)
    try:
        nodes.start(HEAD)
        nodes.start(SECOND)
        yield nodes
    finally:
        nodes.end()
        rmtree(folder, ignore_errors=True)


def free_port(address: str) -> int:
    """A port on which nothing listens."""
    with socket.socket() as probe:
        probe.bind((address, 0))
        port: int = probe.getsockname()[1]
        return port


def descendants(pid: int) -> list[int]:
    """The processes that a process started, and those that they started."""
    parents = {}
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            with suppress(OSError):
                parents[int(folder.name)] = int((folder / "stat").read_text().rpartition(")")[2].split()[1])
    found = [pid]
    for one in found:
        found += [child for child, parent in parents.items() if parent == one]
    return found[1:]


def name_of(pid: int) -> str:
    """What a process calls itself."""
    with suppress(OSError):
        return (Path("/proc") / str(pid) / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace").strip()
    return ""
