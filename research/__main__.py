"""Every measurement but the one of static vectors, which has to be distilled first.

.venv/bin/python -m research
"""

from __future__ import annotations

import sys

from benchmarks.__main__ import run

MODULES = ("encoder_speed", "extractive_support", "calibration", "judge", "reader")

if __name__ == "__main__":
    sys.exit(run([f"research.{name}" for name in MODULES]))
