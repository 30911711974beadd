"""The machine a number was measured on, where the real data is, and where what was measured goes."""

from __future__ import annotations

import json
import os
import platform
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from statistics import quantiles
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
DATA = Path(os.environ.get("THRESHER_DATA", ROOT.parent / "shared" / "data"))
BENCHMARKS = ROOT / "benchmarks"
RESEARCH = ROOT / "research"
"""Each of the two has its results in `results` and what only takes long to make in `.cache`."""

CACHE = BENCHMARKS / ".cache"
PACKAGES = ("thresher", "lancedb", "onnxruntime", "pypdfium2", "numpy")


def describe() -> dict[str, str | int]:
    """Processor, cores, memory, Python and the versions that matter."""
    return {
        "processor": processor(),
        "cores": os.cpu_count() or 1,
        "memory_gib": os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 2**30,
        "python": platform.python_version(),
        **{name: version(name) for name in PACKAGES},
    }


def processor() -> str:
    """The processor's name, where the system tells it."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor() or "unknown"
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.machine()


def engine_of(checkout: Path) -> tuple[str, dict[str, str]]:
    """The Python and the environment that import the engine of a checkout, and these benchmarks."""
    own = checkout / ".venv" / "bin" / "python"
    path = [checkout / "src", *sorted(checkout.glob("packages/*/src")), ROOT]
    return str(own) if own.exists() else sys.executable, {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, path))}


def told_by(checkout: Path, script: Path, order: Mapping[str, Any], what: str) -> list[str]:
    """The lines that a script prints with the engine of a checkout, the order on its standard input as JSON.

    Raises SystemExit that says `what` where it fails.
    """
    python, environment = engine_of(checkout)
    command, given = [python, str(script)], json.dumps(order)
    done = subprocess.run(command, input=given, stdout=subprocess.PIPE, text=True, env=environment, check=False)
    if done.returncode:
        raise SystemExit(f"{what} ended with {done.returncode}")
    return done.stdout.splitlines()


def tell() -> None:
    """One line about the machine."""
    print(", ".join(f"{key} {value}" for key, value in describe().items()))


def seconds(call: Callable[[], Any]) -> float:
    """How long a call takes."""
    begun = time.perf_counter()
    call()
    return time.perf_counter() - begun


def milliseconds(taken: Sequence[float]) -> dict[str, float]:
    """Median and 95th percentile in milliseconds, of seconds."""
    steps = quantiles([1000 * one for one in taken], n=20, method="inclusive")
    return {"p50": round(steps[9], 2), "p95": round(steps[18], 2)}


def rows(name: str) -> list[dict[str, Any]]:
    """The objects of a file of the real data, e.g. `scifact/queries.jsonl`."""
    return [json.loads(line) for line in (DATA / name).read_text(encoding="utf-8").splitlines()]


def keep(name: str, results: Mapping[str, Any], *, folder: Path = BENCHMARKS) -> None:
    """Write results/NAME.json of a folder, with the machine."""
    file = folder / "results" / f"{name}.json"
    file.parent.mkdir(parents=True, exist_ok=True)
    text = json.dumps({"machine": describe(), **results}, indent=1, ensure_ascii=False)
    file.write_text(text + "\n", encoding="utf-8")


def kept(name: str, *, folder: Path = BENCHMARKS) -> dict[str, Any]:
    """What results/NAME.json holds; nothing where there is none."""
    file = folder / "results" / f"{name}.json"
    return dict(json.loads(file.read_text(encoding="utf-8"))) if file.is_file() else {}
