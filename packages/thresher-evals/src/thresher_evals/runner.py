"""Asks every question of a dataset of every recipe, and writes a row of each to the folder of the run.

Rows are appended one by one, in order, so a killed run loses at most the current question, or twice as many as are
asked at a time.
"""

from __future__ import annotations

import hashlib
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import asdict, dataclass
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any

from thresher.errors import UsageError
from thresher.home.places import LocalFiles, working_folder
from thresher.protocols import Home, Progress
from thresher.types import Origin
from thresher_evals.asker import Asker, Put
from thresher_evals.dataset import Dataset, Question, Task
from thresher_evals.datasets.records import digest
from thresher_evals.rows import (
    Row,
    config_of,
    describe_run,
    finite,
    open_run,
    read_rows,
)

if TYPE_CHECKING:
    from thresher_evals.elsewhere import Elsewhere

LIMITS: Mapping[Task, int] = {"search": 100, "ask": 5}
"""Default number of search results: BEIR reports to 100; an answered question uses 5."""


@dataclass(frozen=True, slots=True)
class RunReport:
    """Numbers of questions of a call of `run`, by recipe; `failed` counts all rows with an error, earlier ones too."""

    directory: Path
    asked: Mapping[str, int]
    skipped: Mapping[str, int]
    failed: Mapping[str, int]

    def to_dict(self) -> dict[str, Any]:
        """JSON form."""
        return {**asdict(self), "directory": str(self.directory)}


def run(
    asker: Asker,
    dataset: Dataset,
    recipes: Sequence[str],
    out: Path,
    *,
    limit: int | None = None,
    resume: bool = False,
    settings: Mapping[str, Any] | None = None,
    collection: str | None = None,
    outside: str | None = None,
    parallel: int = 1,
    together: bool = False,
    command: str | None = None,
    progress: Progress | None = None,
    seen: Callable[[Row], None] = lambda _: None,
    elsewhere: Elsewhere | None = None,
) -> RunReport:
    """Ask every recipe every question, and keep a row of each. Raises UsageError.

    `settings` (by recipe), `outside` and `collection` describe the asker in run.json and are compared on `resume`.
    `parallel` questions are asked at a time, which pays off with a chat model; rows keep the order of the questions,
    and their seconds include waiting. `together` asks question by question, every recipe in turn, so that recipes share
    cached reads; times of recipes are then not comparable. `progress` receives the number of finished questions
    (earlier runs at once), `seen` each row, earlier ones first. `command` is a command line that repeats the run, for
    the report. `elsewhere` asks in other processes; rows are still written here.
    """
    recipes = list(dict.fromkeys(recipes))
    if not recipes:
        raise UsageError("no recipe to run", subject=dataset.spec, next_step="name one with `recipe`")
    for name, number in (("limit", limit), ("parallel", parallel)):
        if number is not None and number < 1:
            raise UsageError(f"{name} is {number}", subject=dataset.spec, next_step="give a number from 1")
    limit = LIMITS[dataset.task] if limit is None else limit
    settings = {recipe: finite((settings or {}).get(recipe, {})) for recipe in recipes}
    described = describe_run(
        dataset,
        recipes,
        limit=limit,
        settings=settings,
        outside=outside,
        collection=collection,
        together=together,
        command=command,
    )
    log = open_run(out, described, resume=resume)
    configs = {recipe: config_of(recipe, settings[recipe]) for recipe in recipes}
    put = Put(asker, dataset.task, limit, configs, alone=parallel == 1)
    with log.locked():
        earlier = {recipe: read_rows(out, recipe) for recipe in recipes}
        done = {(recipe, row.question.id) for recipe, rows in earlier.items() for row in rows}
        failed = {recipe: sum(row.error is not None for row in rows) for recipe, rows in earlier.items()}
        every: Iterable[tuple[str, Question]] = product(recipes, dataset.questions)
        if together:
            every = ((recipe, question) for question in dataset.questions for recipe in recipes)
        left = [(recipe, question) for recipe, question in every if (recipe, question.id) not in done]
        counted = Counter(recipe for recipe, _ in left)
        asked = {recipe: counted[recipe] for recipe in recipes}
        skipped = {recipe: len(dataset.questions) - counted[recipe] for recipe in recipes}
        for rows in earlier.values():
            for row in rows:
                seen(row)
        tell = progress or (lambda _: None)
        if any(skipped.values()):
            tell(sum(skipped.values()))
        if elsewhere is None:
            made = in_order(put, left, parallel)
        else:
            made = ahead(elsewhere.put(dataset.task, limit, configs), left, elsewhere.most)
        for row in made:
            log.add(row, row.recipe)
            seen(row)
            failed[row.recipe] += row.error is not None
            tell(1)
    return RunReport(out, asked, skipped, failed)


def in_order(
    put: Callable[[str, Question], Row], asked: Iterable[tuple[str, Question]], parallel: int
) -> Iterator[Row]:
    """The rows in the order of `asked`, with at most `parallel` questions in progress."""
    if parallel == 1:
        yield from (put(recipe, question) for recipe, question in asked)
        return
    with ThreadPoolExecutor(parallel) as pool:
        yield from ahead(lambda recipe, question: pool.submit(put, recipe, question), asked, 2 * parallel)


def ahead(
    begun: Callable[[str, Question], Future[Row]], asked: Iterable[tuple[str, Question]], most: int
) -> Iterator[Row]:
    """The rows in the order of `asked`, with at most `most` begun and not yet returned."""
    waiting: deque[Future[Row]] = deque()
    try:
        for recipe, question in asked:
            waiting.append(begun(recipe, question))
            if len(waiting) >= most:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
    finally:
        for future in waiting:
            future.cancel()


# --- the collections of a dataset's questions: their names and files --------------------------------------------------


def collection_of(dataset: Dataset) -> str:
    """Name of the collection that is asked; with the documents' hash if the dataset makes them."""
    if dataset.corpora:
        contents = "".join(corpus.sha256 for corpus in dataset.corpora.values())
        return f"{dataset.kind}-{dataset.name}-{hashlib.sha256(contents.encode()).hexdigest()[:8]}"
    if dataset.corpus is None:
        return "default"
    return dataset.collection or f"wikipedia-{digest(dataset.corpus)[:8]}"


def outside_of(dataset: Dataset, name: str) -> str:
    """The dataset's own outside for recipes that correct, given the collection's name."""
    return f"collection:{outside_name(name)}" if Origin.OUTSIDE in dataset.corpora else "none"


def outside_name(name: str) -> str:
    """Name of the collection with the documents moved out of collection `name`."""
    return f"{name}-outside"


def files(dataset: Dataset, home: Home, name: str, *, outside: str) -> Iterator[tuple[Path, str]]:
    """Files to index, with their collection; documents outside only if `outside` names their collection.

    Made documents are written below `home`, under names with their hash, and stay: a collection knows documents by
    their files. A shared pool is indexed only under its own name; another collection is asked as it is. Subfolders do
    not belong to the dataset.
    """
    own = collection_of(dataset)
    if dataset.corpus is not None and (dataset.collection or name == own):
        folder = dataset.corpus.is_dir()
        pdfs = (file for file in dataset.corpus.iterdir() if file.suffix.lower() == ".pdf") if folder else ()
        yield from ((file, name) for file in (sorted(pdfs) if folder else [dataset.corpus]))
    for origin, corpus in dataset.corpora.items():
        if origin is Origin.INSIDE or outside == outside_of(dataset, name):
            owner = name if origin is Origin.INSIDE else outside_name(name)
            path = working_folder(home) / "datasets" / f"{own}-{origin}.jsonl"
            if not path.is_file() or path.read_bytes() != corpus.content:  # an unchanged file is not indexed again
                LocalFiles(path.parent).write(path.name, corpus.content)
            yield path, owner
