"""How long a fresh process takes: `import thresher`, `thresher --help`, and a question of an existing collection.

.venv/bin/python benchmarks/start_up.py
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import time
from collections.abc import Sequence

from evaluate import THRESHER, keep, thresher
from machine import CACHE, ROOT, tell

RUNS = 9


def seconds(command: Sequence[str]) -> list[float]:
    """Wall seconds of each of RUNS runs, after one that is not counted."""
    times = []
    for _ in range(RUNS + 1):
        started = time.perf_counter()
        subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)
        times.append(time.perf_counter() - started)
    return times[1:]


def main() -> None:
    tell()
    thresher("index", str(ROOT / "README.md"), str(ROOT / "docs"), "--collection", "start-up")
    ask = [str(THRESHER), "ask", "What happens to an input that cannot be read?", "--collection", "start-up"]
    commands = {
        "python -c pass": [sys.executable, "-c", "pass"],
        "import thresher": [sys.executable, "-c", "import thresher"],
        "thresher --help": [str(THRESHER), "--help"],
        "thresher ask": [*ask, "--home", str(CACHE / "home")],
    }
    results = {}
    for name, command in commands.items():
        times = seconds(command)
        results[name] = {"median": statistics.median(times), "low": min(times), "high": max(times), "n": len(times)}
        median, low, high = (results[name][key] for key in ("median", "low", "high"))
        print(f"{name:<18} median {median:.3f} s, {low:.3f} to {high:.3f}, n={len(times)}")
    keep("start_up", results)


if __name__ == "__main__":
    main()
