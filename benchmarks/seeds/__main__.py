"""The tables and figures of the five sources, ours beside them: docs/results/seeds.md, from stored rows.

    .venv/bin/python -m benchmarks.seeds                          writes the page from what is stored; seconds
    .venv/bin/python -m benchmarks.seeds --measure                measures all of it again first; half an hour
    .venv/bin/python -m benchmarks.seeds --measure crag-variants  one of them

Rows are kept in benchmarks/results/seeds, a file each; what the evidence measures already is read from the pages in
docs/results/datasets. No chat model is used but a scripted one, for figure 10 of ECRAG.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Mapping

from benchmarks import machine
from benchmarks.commands import PROCESSES, interrupted_by_signals
from benchmarks.seeds import answers, examples, hallucinations, page, rows, sweeps

MEASURING: Mapping[str, Callable[[], rows.Measured]] = {
    "crag-variants": answers.crag_variants,
    "crag-robustness": answers.crag_robustness,
    "redundancy": sweeps.redundancy,
    "relevance": sweeps.relevance,
    "evaluator": sweeps.evaluator,
    "blog": examples.blog,
    "report": examples.report,
    "figure-7": examples.figure_7,
    "hallucinations": hallucinations.hallucinations,
    "growth": sweeps.growth,
    "crag-costs": answers.crag_costs,
}
"""Name of the rows to what measures them; what tells seconds comes last, when nothing else runs."""


def main() -> int:
    """Measure what is asked for, and write the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--measure", nargs="*", metavar="NAME", choices=MEASURING, help="measure again: all, or these")
    given = parser.parse_args()
    interrupted_by_signals()
    try:
        for name in MEASURING if given.measure == [] else given.measure or ():
            started = time.perf_counter()
            file = rows.write(MEASURING[name]())
            print(f"{name}: {time.perf_counter() - started:.0f} s, {file.stat().st_size} bytes", flush=True)
    except KeyboardInterrupt:
        PROCESSES.end()
        print("interrupted; what was measured is kept", file=sys.stderr)
        return 130
    print(page.write().relative_to(machine.ROOT))
    return 0


if __name__ == "__main__":
    sys.exit(main())
