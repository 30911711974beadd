"""One measurement of growth in a process of its own, so that its memory and processor time are its own.

    python -m benchmarks.studies.growth_worker JOB.json RESULT.json

A job either indexes documents into a collection (`documents`) or puts questions to it (`questions`).
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from pathlib import Path
from time import perf_counter, process_time
from typing import Any

from thresher.collection import Collection
from thresher.errors import ThresherError
from thresher.types import Step
from thresher_evals.asker import WARM_UP_QUESTION, peak_memory

COLLECTION = "growth"

STATUS = Path("/proc/self/status")


def index(job: Mapping[str, Any]) -> dict[str, Any]:
    """Index the documents; what it took, and how many of them and of their chunks there are."""
    collection = Collection(Path(job["home"]), COLLECTION)
    started, processor = perf_counter(), process_time()
    report = collection.add(*job["documents"], recipe=job["recipe"], settings=job["settings"])
    spent = {"seconds": perf_counter() - started, "cpu_seconds": process_time() - processor}
    return {
        **spent,
        "memory_mib": most_memory(),
        "documents": len(collection.documents()),
        "failed": len(report.failed),
        "chunks": sum(table["chunks"] for table in collection.tables()),
        "bytes": collection.storage()["bytes"],
    }


def ask(job: Mapping[str, Any]) -> dict[str, Any]:
    """Seconds of each question until it is retrieved for, and until that is judged; everything is loaded before."""
    collection = Collection(Path(job["home"]), COLLECTION)
    timed(collection, WARM_UP_QUESTION, job)
    processor = process_time()
    times = [timed(collection, question, job) for question in job["questions"]]
    return {
        "retrieved": [retrieved for retrieved, _ in times],
        "judged": [judged for _, judged in times],
        "cpu_seconds": (process_time() - processor) / len(times),
        "memory_mib": most_memory(),
    }


def timed(collection: Collection, question: str, job: Mapping[str, Any]) -> tuple[float, float]:
    """Seconds from the question to the end of retrieval and of judging; the rest of the path is not run."""
    retrieved = judged = 0.0
    started = perf_counter()
    for step in collection.run(question, recipe=job["recipe"], settings=job["settings"]):
        assert isinstance(step, Step)
        if step.name == "retrieve":
            retrieved = perf_counter() - started
        elif step.name == "judge":
            judged = perf_counter() - started
            break
    return retrieved, judged


def most_memory() -> float:
    """The most memory this process has held, in MiB, without what the process that started it held (Linux)."""
    # ru_maxrss survives exec and would begin at the size of the parent; VmHWM belongs to this program alone.
    if STATUS.is_file():
        for line in STATUS.read_text(encoding="utf-8").splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) / 2**10
    return peak_memory()


def main(job_file: Path, result_file: Path) -> None:
    """Do a job; an error on purpose becomes its result."""
    job = json.loads(job_file.read_text(encoding="utf-8"))
    try:
        result = index(job) if "documents" in job else ask(job)
    except ThresherError as error:
        result = {"error": str(error)}
    result_file.write_text(json.dumps(result), encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
