"""What a question costs: texts and tokens that the judge's network reads, seconds and processor seconds.

    python -m benchmarks.quality.cost [--engine TREE ...] [--rounds 3] [--questions 40]

Every engine is asked the same questions to papers and manuals, in turn and again, each time by a process of its own
with a warm collection; the medians of the rounds are printed, and each engine's ratio to the first one.
"""

from __future__ import annotations

import argparse
import json
import subprocess
from pathlib import Path
from statistics import median
from time import perf_counter, process_time
from typing import Any

from benchmarks.machine import CACHE, ROOT, engine_of


def count(home: str, collections: dict[str, list[str]]) -> dict[str, float]:
    """The cost of questions to collections that are indexed; what the network reads is counted at its door."""
    import thresher
    from thresher.models.cross_encoders import BundledJudge

    read = {"texts": 0, "tokens": 0}
    run: Any = BundledJudge._run

    def counted(self: Any, *given: Any) -> Any:
        for outputs, offsets in run(self, *given):
            read["texts"] += 1
            read["tokens"] += len(offsets)
            yield outputs, offsets

    setattr(BundledJudge, "_run", counted)  # noqa: B010
    seconds, processor = list[float](), list[float]()
    for name, questions in collections.items():
        with thresher.open(home, name) as collection:
            collection.ask("Is it warm?")
            read |= {"texts": 0, "tokens": 0} if not seconds else {}
            for question in questions:
                began = perf_counter(), process_time()
                collection.ask(question)
                seconds.append(perf_counter() - began[0])
                processor.append(process_time() - began[1])
    asked = len(seconds)
    return {
        "texts": read["texts"] / asked,
        "tokens": read["tokens"] / asked,
        "milliseconds p50": 1000 * median(seconds),
        "CPU milliseconds": 1000 * sum(processor) / asked,
    }


def told(given: Any) -> str:
    """What `count` says, as JSON."""
    return json.dumps(count(*given))


def main() -> None:
    """Measure the engines in turn."""
    from benchmarks.quality.sets import SETS

    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--engine", nargs="+", type=Path, default=[ROOT])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--questions", type=int, default=40)
    given = parser.parse_args()
    asked = {
        name: [one.question for one in SETS[name]().questions][: given.questions] for name in ("papers", "manuals")
    }
    found: dict[Path, list[dict[str, float]]] = {engine: [] for engine in given.engine}
    for _ in range(given.rounds):
        for engine in given.engine:
            home = str(CACHE / "quality" / engine.resolve().name)
            python, environment = engine_of(engine)
            code = "import sys, json; from benchmarks.quality import cost; print(cost.told(json.load(sys.stdin)))"
            done = subprocess.run(
                [python, "-c", code],
                input=json.dumps([home, asked]),
                capture_output=True,
                text=True,
                check=True,
                env=environment,
            )
            found[engine].append(json.loads(done.stdout.splitlines()[-1]))
    first = {key: median(one[key] for one in found[given.engine[0]]) for key in found[given.engine[0]][0]}
    for engine, rounds in found.items():
        parts = []
        for key in first:
            values = [one[key] for one in rounds]
            parts.append(
                f"{key} {median(values):.0f} [{min(values):.0f}, {max(values):.0f}] x{median(values) / first[key]:.2f}"
            )
        print(f"{engine.resolve().name}: {'; '.join(parts)}")


if __name__ == "__main__":
    main()
