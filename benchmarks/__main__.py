"""`speed` and `checker`, one after another; a failure does not stop the other.

.venv/bin/python -m benchmarks

The exit code is 1 when one of them failed.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence

MODULES = ("speed", "checker")


def run(modules: Sequence[str]) -> int:
    """Each in a process of its own; the exit code."""
    failed = []
    for module in modules:
        print(f"\n== {module}", flush=True)
        if subprocess.run([sys.executable, "-m", module], check=False).returncode:
            failed.append(module)
    if failed:
        print(f"failed: {', '.join(failed)}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(run([f"benchmarks.{name}" for name in MODULES]))
