"""The collections that a dataset's questions are put to: their names and the files they are indexed from."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from pathlib import Path

from thresher.evals.labels import Dataset
from thresher.evals.lines import digest
from thresher.types import Origin


def collection_of(dataset: Dataset) -> str:
    """Name of the collection the questions are asked of; a dataset that makes its documents has their hash in it."""
    if dataset.corpora:
        contents = "".join(corpus.sha256 for corpus in dataset.corpora.values())
        return f"{dataset.kind}-{dataset.name}-{hashlib.sha256(contents.encode()).hexdigest()[:8]}"
    if dataset.corpus is None:
        return "default"
    match dataset.kind:
        case "beir":
            return f"beir-{dataset.path.resolve().name}"
        case "papers":
            return "papers"
        case _:  # a pool, which several question files share
            return f"wikipedia-{digest(dataset.corpus)[:8]}"


def outside_of(dataset: Dataset, name: str) -> str:
    """Where recipes that correct look, beside the collection called `name`, when the dataset decides."""
    return f"collection:{outside_name(name)}" if Origin.OUTSIDE in dataset.corpora else "none"


def outside_name(name: str) -> str:
    """Name of the collection of what was taken out of the collection called `name`."""
    return f"{name}-outside"


def files(dataset: Dataset, home: Path, name: str, *, outside: str) -> Iterator[tuple[Path, str]]:
    """Files to index and the collection each belongs to; documents outside only where `outside` points to them.

    What a dataset makes is written below `home`, under names that hold its hash, and stays there: a collection knows
    its documents by their files. A pool is indexed under its own name only; a collection of another name is asked as
    it is.
    """
    if dataset.corpus is not None and (not is_pool(dataset) or name == collection_of(dataset)):
        for file in papers_in(dataset.corpus) if dataset.corpus.is_dir() else [dataset.corpus]:
            yield file, name
    for origin, corpus in dataset.corpora.items():
        owner = name if origin is Origin.INSIDE else outside_name(name)
        if origin is Origin.INSIDE or outside == outside_of(dataset, name):
            yield corpus.write(home / "datasets" / f"{collection_of(dataset)}-{origin}.jsonl"), owner


def is_pool(dataset: Dataset) -> bool:
    """Whether the corpus is one that other question files are asked of too."""
    return dataset.kind not in ("beir", "papers")


def papers_in(folder: Path) -> list[Path]:
    """The PDFs that lie in a folder itself: what lies deeper (broken files, say) does not belong to the dataset."""
    return sorted(file for file in folder.iterdir() if file.suffix.lower() == ".pdf")
