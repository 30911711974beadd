"""The machine a number was measured on, and where the real data is."""

from __future__ import annotations

import os
import platform
from importlib.metadata import version
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
DATA = Path(os.environ.get("THRESHER_DATA", ROOT.parent / "shared" / "data"))
RESULTS = ROOT / "benchmarks" / "results"
CACHE = ROOT / "benchmarks" / ".cache"
PACKAGES = ("thresher", "lancedb", "onnxruntime", "kreuzberg", "numpy")


def describe() -> dict[str, str | int]:
    """Processor, cores, memory, Python and the versions that matter."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 2**30
    return {
        "processor": _processor(),
        "cores": os.cpu_count() or 1,
        "memory_gib": memory,
        "python": platform.python_version(),
        **{name: version(name) for name in PACKAGES},
    }


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor() or "unknown"
    names = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.machine()


def tell() -> None:
    """One line about the machine."""
    print(", ".join(f"{key} {value}" for key, value in describe().items()))
