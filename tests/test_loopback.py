"""The guard that keeps every test on this machine."""

from __future__ import annotations

import contextlib
import socket
import subprocess
import sys
from pathlib import Path

import pytest


@pytest.mark.parametrize(
    ("family", "address"),
    [(socket.AF_INET, ("192.0.2.1", 80)), (socket.AF_INET6, ("2001:db8::1", 80)), (socket.AF_INET, ("0.0.0.0", 9))],
)
def test_a_connection_to_another_machine_is_refused(family: int, address: tuple[str, int]) -> None:
    with socket.socket(family) as one, pytest.raises(BaseException, match="connects to"):
        one.connect(address)


def test_a_name_is_not_looked_up() -> None:
    with pytest.raises(BaseException, match=r"looks up example\.com"):
        socket.getaddrinfo("example.com", 80)
    with pytest.raises(socket.gaierror):
        socket.getaddrinfo("nowhere.invalid", 80)


def test_this_machine_and_its_sockets_in_files_are_reached(tmp_path: Path) -> None:
    assert socket.getaddrinfo("localhost", 80)
    with socket.create_server(("127.0.0.1", 0)) as server, socket.create_connection(server.getsockname()):
        pass
    with socket.socket(socket.AF_UNIX) as one, contextlib.suppress(FileNotFoundError):
        one.connect(str(tmp_path / "nobody"))


def test_a_process_that_a_test_starts_is_refused_too() -> None:
    code = "import socket; socket.create_connection(('192.0.2.1', 80), timeout=1)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert "LeavesTheMachine: a test connects to 192.0.2.1" in done.stderr
