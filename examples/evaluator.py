"""An evaluator: is it worth using on these documents? `python examples/evaluator.py [FOLDER QUESTIONS]`.

QUESTIONS is a table (CSV or Excel) or JSON Lines; needs thresher-evals.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import thresher
from thresher_evals.compare.compare import Plan, compare
from thresher_evals.compare.text_report import advice
from thresher_evals.datasets.registry import load
from thresher_evals.report.write import write_report

DESK = Path(__file__).parent / "desk"


def main(folder: Path, questions: Path, home: Path) -> Path:
    """Compare two recipes on one's own questions; returns the page of the report."""
    with thresher.open(home) as collection:
        collection.add(folder, exclude="questions.csv", recipe=("rag", "corrective"))
        plan = Plan(collection, load(f"qa:{questions}"), home / "comparison", recipes=["corrective"], tune=False)
        found = compare(plan)
        for recipe, told in found["recipes"].items():
            came = ", ".join(f"{count} {outcome}" for outcome, count in told["outcomes"].items() if count)
            print(f"{recipe}: {came}; a question is worth {told['value']['value']:+.2f}")
        print("\n".join(line for line in advice(found) if isinstance(line, str)))
    return write_report([plan.out], home / "report").html


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as temporary:
        given = [Path(one) for one in sys.argv[1:]] or [DESK, DESK / "questions.csv"]
        print(main(given[0], given[1], Path(temporary)).stat().st_size, "bytes of report")
