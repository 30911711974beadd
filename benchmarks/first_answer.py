"""From nothing to the first answer: a bare environment, an installation, an index, a question.

    .venv/bin/python -m benchmarks.first_answer

The wheel is built of this checkout first, which is not counted. Nothing is taken from pip's cache: what it fetches
comes from the package index of the machine, so the seconds of `install` are those of its connection too. The command
runs in a folder with the examples, with a home of its own and no settings. `install_mb` is what the installation adds
to the bare environment, in millions of bytes of files.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from benchmarks.machine import ROOT, keep, tell

QUESTION, ANSWER = "What was the mean tidal range at Saltby?", "4.1 metres"


def main() -> None:
    """Wall seconds of each step, and what was answered."""
    tell()
    with tempfile.TemporaryDirectory(prefix="thresher-first-answer-") as made:
        folder = Path(made)
        run([sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", made, str(ROOT)], ROOT)
        (wheel,) = folder.glob("*.whl")
        desk = folder / "desk"
        shutil.copytree(ROOT / "examples", desk)
        environment = folder / "environment"
        thresher = environment / "bin" / "thresher"
        seconds = {"environment": run([sys.executable, "-m", "venv", environment], folder)}
        bare = size(environment)
        pip = (environment / "bin" / "python", "-m", "pip", "install", "--quiet", "--no-cache-dir")
        seconds["install"] = run([*pip, wheel], folder)
        installed = (size(environment) - bare) / 1e6
        seconds["index"] = run([thresher, "index", "."], desk)
        seconds["ask"] = run([thresher, "ask", QUESTION], desk, answer=ANSWER)
        seconds["ask again"] = run([thresher, "ask", QUESTION], desk, answer=ANSWER)
    for name, taken in seconds.items():
        print(f"{name:<12} {taken:6.1f} s")
    whole = sum(taken for name, taken in seconds.items() if name != "ask again")
    print(f"first answer {whole:6.1f} s after nothing; the installation takes {installed:.0f} MB")
    keep("first_answer", {"seconds": seconds, "first_answer": whole, "install_mb": installed})


def run(command: Sequence[str | Path], folder: Path, *, answer: str = "") -> float:
    """Seconds of a command that has to succeed, and to print the answer."""
    plain = {name: value for name, value in os.environ.items() if not name.startswith(("THRESHER_", "PYTHON"))}
    started = time.perf_counter()
    done = subprocess.run(command, cwd=folder, env=plain, stdout=subprocess.PIPE, text=True, check=True)
    taken = time.perf_counter() - started
    if answer not in done.stdout:
        sys.exit(f"{command[0]} printed: {done.stdout}")
    return taken


def size(folder: Path) -> int:
    """Bytes of all files."""
    return sum(file.lstat().st_size for file in folder.rglob("*") if file.is_file())


if __name__ == "__main__":
    main()
