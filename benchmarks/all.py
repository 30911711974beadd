"""Every benchmark but the side by side, one after another; a failure does not stop the others, and is the exit code.

.venv/bin/python benchmarks/all.py
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

NAMES = (
    "start_up",
    "encoder",
    "scifact",
    "support",
    "store",
    "calibration",
    "judge",
    "reader",
    "planted_errors",
    "evidence",
    "costs",
)


def main() -> int:
    failed = []
    for name in NAMES:
        print(f"\n== {name}", flush=True)
        script = Path(__file__).with_name(f"{name}.py")
        if subprocess.run([sys.executable, str(script)], check=False).returncode:
            failed.append(name)
    if failed:
        print(f"failed: {', '.join(failed)}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
