"""An analyst: figures from tables, each with its computation. `python examples/analyst.py [FOLDER [QUESTION ...]]`."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

import thresher

DESK = Path(__file__).parent / "desk"
QUESTIONS = (
    "Which harbour had the highest revenue in 2024?",
    "What were the total landings of all harbours in 2024?",
    "What was the revenue of Saltby in 2023?",
)


def main(folder: Path, home: Path, questions: Sequence[str] = QUESTIONS) -> None:
    """Ask the tables alone, and say which rows an answer was reckoned from."""
    with thresher.open(home) as collection:
        collection.add(folder, exclude="questions.csv")
        kinds = sorted({record.kind for record in collection.documents()})
        print(f"kinds of files: {', '.join(kinds)}")
        for question in questions:
            answer = collection.ask(question, where="kind = 'csv' OR kind = 'xlsx'")
            print(f"\n{question}\n  {answer.text}")
            for citation in answer.citations:
                print(f"  [{citation.marker}] {Path(citation.source).name}, {citation.locator}: {citation.quote}")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as temporary:
        given = sys.argv[1:]
        main(Path(given[0]) if given else DESK, Path(temporary), given[1:] or QUESTIONS)
