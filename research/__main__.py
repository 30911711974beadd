"""Every measurement.

.venv/bin/python -m research
"""

from __future__ import annotations

import sys

from benchmarks.__main__ import run

MODULES = ("calibration", "judge", "reader")

if __name__ == "__main__":
    sys.exit(run([f"research.{name}" for name in MODULES]))
