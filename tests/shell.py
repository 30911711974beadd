"""Lines of shell in which `thresher` is answered by this process: what a page of documentation shows, run quickly.

A process of its own for every command would import everything again, 1.4 processor seconds each. Bash runs the line as
it stands; the `thresher` it finds hands arguments, folder and stdin to `main` here and prints what comes back.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import socket
import subprocess
import sys
import tempfile
import threading
import traceback
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from thresher.cli.app import main

STUB = """#!{python} -IS
import json, os, socket, sys
stdin = sys.stdin.buffer.read().decode("latin-1") if {{"-", "label"}} & set(sys.argv) else ""
with socket.socket(socket.AF_UNIX) as here:
    here.connect({address!r})
    here.sendall(json.dumps([sys.argv[1:], os.getcwd(), stdin]).encode() + b"\\n")
    code, out, err = json.loads(here.makefile("rb").readline())
sys.stdout.buffer.write(out.encode("latin-1"))
sys.stdout.flush()
sys.stderr.buffer.write(err.encode("latin-1"))
sys.exit(code)
"""


class Shell:
    """Runs lines of shell in a folder; end it with `close`."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._place = tempfile.TemporaryDirectory(prefix="thresher-shell-")
        address = f"{self._place.name}/socket"
        stub = Path(self._place.name) / "thresher"
        stub.write_text(STUB.format(python=sys.executable, address=address), encoding="utf-8")
        stub.chmod(0o700)
        self._server = socket.socket(socket.AF_UNIX)
        self._server.bind(address)
        self._server.listen()
        threading.Thread(target=self._serve, daemon=True).start()

    def run(self, line: str) -> str:
        """What a line prints on stdout; AssertionError with all it printed when it fails."""
        path = f"{self._place.name}{os.pathsep}{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
        done = subprocess.run(
            ["bash", "-euo", "pipefail", "-c", line],
            cwd=self.folder,
            env={**os.environ, "PATH": path},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, f"{line}\n{done.stdout}\n{done.stderr}"
        return done.stdout

    def close(self) -> None:
        """No command is answered any more."""
        self._server.close()
        self._place.cleanup()

    def _serve(self) -> None:
        with contextlib.suppress(OSError):  # closed
            while True:
                connection, _ = self._server.accept()
                with connection, connection.makefile("rwb") as stream:
                    arguments, folder, stdin = json.loads(stream.readline())
                    stream.write(json.dumps(_called(arguments, Path(folder), stdin)).encode() + b"\n")


def _called(arguments: list[str], folder: Path, stdin: str) -> tuple[Any, str, str]:
    """Exit code, stdout and stderr of a command."""
    code: Any = 0
    with within(folder) as (out, err):
        given, sys.stdin = sys.stdin, io.TextIOWrapper(io.BytesIO(stdin.encode("latin-1")), encoding="utf-8")
        try:
            main(arguments)
        except SystemExit as ended:
            code = ended.code
        except BaseException:
            traceback.print_exc()
            code = 1
        finally:
            sys.stdin = given
    return code, *(stream.getvalue().encode().decode("latin-1") for stream in (out, err))


@contextlib.contextmanager
def within(folder: Path) -> Iterator[tuple[io.StringIO, io.StringIO]]:
    """In a folder, with stdout and stderr kept."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.chdir(folder), contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        yield out, err
