"""What every loader ends with: the questions of a split, and what belongs to them, as a dataset of its kind."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

from thresher.evals.corpora import Corpus
from thresher.evals.labels import Dataset, Question, Task
from thresher.evals.lines import digest
from thresher.evals.splits import Split, members
from thresher.types import Origin


def loaded(
    kind: str,
    spec: str,
    path: Path,
    questions: Iterable[Question],
    split: Split,
    *,
    task: Task = "ask",
    sha256: str = "",
    corpus: Path | None = None,
    corpora: Mapping[Origin, Corpus] | None = None,
    references: Mapping[str, tuple[str, ...]] | None = None,
    note: str = "",
) -> Dataset:
    """The dataset, named after its file or folder; see `Dataset` for what else may be said of it.

    `sha256` is given where the questions are made of more files than `path`. References of other splits are left out.
    """
    asked = members(questions, split)
    ids = {question.id for question in asked}
    return Dataset(
        kind,
        path.name if path.is_dir() else path.stem,
        spec,
        path,
        sha256 or digest(path),
        asked,
        task,
        corpus=corpus,
        corpora=corpora or {},
        references={id: texts for id, texts in (references or {}).items() if id in ids},
        note=note,
    )
