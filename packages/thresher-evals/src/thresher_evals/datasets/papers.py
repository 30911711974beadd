"""`papers`: questions about AI papers, with the pages that answer them. The questions come along, the papers do not."""

from __future__ import annotations

import os
from pathlib import Path, PurePosixPath

from thresher.errors import UsageError
from thresher_evals.dataset import Split
from thresher_evals.datasets.qa import read_questions
from thresher_evals.datasets.records import Content

QUESTIONS = Path(__file__).with_name("papers.jsonl")
"""Written from the PDFs before anything was tuned. Their tuning fifth was looked at once."""


def load_papers(path: Path, split: Split) -> Content:
    """Every line in its order; the collection is the PDFs in the folder `papers` of $THRESHER_DATA."""
    questions = read_questions(path)
    data = os.environ.get("THRESHER_DATA")
    folder = Path(data).expanduser() / "papers" if data else None
    if folder is None or not folder.is_dir():
        raise UsageError(
            f"the PDFs are missing: {'THRESHER_DATA is not set' if folder is None else f'no folder {folder}'}",
            subject="papers",
            next_step="put them in the folder papers of some folder, and name that one in THRESHER_DATA",
        )
    named = dict.fromkeys(PurePosixPath(place.source).name for question in questions for place in question.gold)
    missing = [name for name in named if not (folder / name).is_file()]
    if missing:
        raise UsageError(
            f"{len(missing)} of the {len(named)} papers that the questions are about are missing: "
            f"{', '.join(missing[:3])}{', ...' if len(missing) > 3 else ''}",
            subject=str(folder),
            next_step="put them there under these names; docs/datasets.md says which papers they are",
        )
    return Content(questions, corpus=folder, collection="papers")
