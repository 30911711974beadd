"""A researcher: what do these papers say, and where? `python examples/researcher.py [FOLDER [QUESTION ...]]`."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

import thresher

DESK = Path(__file__).parent / "desk"
QUESTIONS = (
    "What was the mean tidal range at Saltby?",
    "When was the highest surge at Fennmouth?",
    "Who wrote the study of storm surges?",
    "What was the mean tidal range at Eastport?",
    "Which mammals live in the harbour?",
)


def main(folder: Path, home: Path, questions: Sequence[str] = QUESTIONS) -> str:
    """Ask the papers; returns the notes as Markdown."""
    with thresher.open(home) as collection:
        report = collection.add(folder, exclude="questions.csv")
        print(f"{report.added} documents, {len(report.failed)} that could not be read")
        answers = []
        for question in questions:
            answer = collection.ask(question)
            answers.append(answer)
            print(f"\n{question}\n  {answer.text}")
            for citation in answer.citations:
                print(f"  [{citation.marker}] {Path(citation.source).name}, {citation.locator}: {citation.quote!r}")
            if answer.abstained:
                print(f"  because: {answer.reason}")
        further = collection.ask("And Northquay?", history=answers[:1])
        print(f"\nAnd Northquay? ({further.standalone})\n  {further.text}")
    return "\n".join(answer.to_markdown() for answer in answers)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as temporary:
        given = sys.argv[1:]
        notes = main(Path(given[0]) if given else DESK, Path(temporary), given[1:] or QUESTIONS)
    print(f"\n{'-' * 80}\n{notes}")
