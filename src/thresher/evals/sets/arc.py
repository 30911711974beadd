"""`arc:FILE`: ARC-Challenge (Clark et al. 2018, arXiv 1803.05457) with the contexts that CRAG's authors publish."""

from __future__ import annotations

from pathlib import Path

from thresher.evals.labels import Dataset, Question
from thresher.evals.lines import records
from thresher.evals.sets.choice import read_choice
from thresher.evals.sets.fields import optional_text, unique
from thresher.evals.sets.gathering import Passages, sides
from thresher.evals.sets.loaded import loaded
from thresher.evals.splits import Split


def load_arc(spec: str, path: Path, split: Split) -> Dataset:
    """Every line in its order; all `internal` contexts are inside and all `web` contexts outside."""
    inside, outside = Passages(), Passages()
    questions: list[Question] = []
    for id, record in unique(records(path)).items():
        questions.append(read_choice(id, record))
        for name, passages in (("internal", inside), ("web", outside)):
            if text := optional_text(record, name):
                passages.add("", text)
    note = "contexts are CRAG's, refined already; which of them answers is not known, so there are no gold passages"
    return loaded("arc", spec, path, questions, split, corpora=sides(inside, outside), note=note)
