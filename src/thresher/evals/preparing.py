"""The collections that a dataset's questions are put to: their names and the files they are indexed from."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from pathlib import Path

from thresher.evals.labels import Dataset
from thresher.types import Origin


def collection_of(dataset: Dataset) -> str:
    """Name of the collection the questions are asked of; a dataset that makes its documents has their hash in it."""
    if dataset.corpora:
        contents = "".join(corpus.sha256 for corpus in dataset.corpora.values())
        return f"{dataset.kind}-{dataset.name}-{hashlib.sha256(contents.encode()).hexdigest()[:8]}"
    return "default" if dataset.corpus is None else f"{dataset.kind}-{dataset.path.resolve().name}"


def outside_of(dataset: Dataset, name: str) -> str:
    """Where recipes that correct look, beside the collection called `name`, when the dataset decides."""
    return f"collection:{outside_name(name)}" if Origin.OUTSIDE in dataset.corpora else "none"


def outside_name(name: str) -> str:
    """Name of the collection of what was taken out of the collection called `name`."""
    return f"{name}-outside"


def files(dataset: Dataset, home: Path, name: str, *, outside: str) -> Iterator[tuple[Path, str]]:
    """Files to index and the collection each belongs to; documents outside only where `outside` points to them.

    What a dataset makes is written below `home`, under names that hold its hash, and stays there: a collection knows
    its documents by their files.
    """
    if dataset.corpus is not None:
        yield dataset.corpus, name
    for origin, corpus in dataset.corpora.items():
        owner = name if origin is Origin.INSIDE else outside_name(name)
        if origin is Origin.INSIDE or outside == outside_of(dataset, name):
            yield corpus.write(home / "datasets" / f"{collection_of(dataset)}-{origin}.jsonl"), owner
