"""Files that workers prepare ahead of the committer become the same collection."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

from tests.indexing.making import (
    LARGE,
    SMALL,
    TREE,
    Files,
    assert_sound,
    chunks_of,
    counts,
    document,
    prose,
    sources,
)
from thresher.errors import DocumentError, WorkerDied
from thresher.indexing.index_config import IndexConfig
from thresher.indexing.ingest import Ingest, Report
from thresher.indexing.prepare import Incoming, Prepared, Workers, WorkUnit, prepare
from thresher.indexing.store import DocumentStore
from thresher.types import Document
from thresher_testing.memory_store import MemoryStore

MOST = 3
CONFIGS = (SMALL, LARGE, TREE)


class Prepares:
    """Workers that are threads; what they were given is kept."""

    def __init__(self, *configs: IndexConfig, part_characters: int = 64_000) -> None:
        self._configs = configs
        self.part_characters = part_characters
        self._threads = ThreadPoolExecutor(MOST)
        self.parts: list[WorkUnit] = []
        self.under_way = self.most_under_way = 0
        self.dies: Callable[[WorkUnit], bool] = lambda part: False

    def submit(self, part: WorkUnit) -> Future[Prepared]:
        self.parts.append(part)
        self.under_way += 1
        self.most_under_way = max(self.most_under_way, self.under_way)
        outer = self

        class Taken(Future[Prepared]):
            def result(self, timeout: float | None = None) -> Prepared:
                outer.under_way -= 1
                return super().result(timeout)

        taken = Taken()

        def work() -> None:
            if self.dies(part):
                taken.set_exception(WorkerDied("the process ended twice", next_step="try it alone"))
            else:
                taken.set_result(prepare(part, self._configs))

        self._threads.submit(work)
        return taken


def travelling(files: Files) -> Iterator[Incoming | DocumentError]:
    """The files as other processes can read them; rows are read here."""
    for item in files.incoming():
        assert isinstance(item, Incoming)
        yield (
            replace(item, elsewhere=partial(lambda read: read, item.documents)) if item.source in files.texts else item
        )


def index(store: DocumentStore, files: Files, workers: Prepares | None = None, *configs: IndexConfig) -> Report:
    """Take in the files, ahead where there are workers."""
    ahead_of = None if workers is None else Workers(workers.submit, MOST, workers.part_characters)
    return Ingest(store, configs or CONFIGS, batch_chunks=3, workers=ahead_of).run(
        travelling(files), vanished=lambda file: True, prune=True
    )


@pytest.fixture
def files() -> Files:
    rows = {str(n): prose(f"row{n}") for n in range(30)}
    texts = {f"{name}.txt": prose(name) for name in ("apples", "bears", "clouds", "row7")}
    return Files({**texts, "copy.txt": texts["bears.txt"]}, {"corpus.jsonl": rows})


def held(store: DocumentStore) -> list[object]:
    """Everything of a collection: documents with their numbers, and chunks with their labels and vectors."""
    tables = [store.open(row["name"]) for row in store.known_tables()]
    rows = [
        sorted((chunk.id, chunk.label, chunk.source, chunk.text, vector.tobytes()) for chunk, vector in batch)
        for table in tables
        for batch in table.chunks()
    ]
    return [[(one.id, one.number, one.source, one.also) for one in store.records()], rows]


def test_what_workers_prepare_is_what_one_process_prepares(tmp_path: Path, store: DocumentStore, files: Files) -> None:
    alone = DocumentStore(tmp_path / "alone", MemoryStore(tmp_path / "alone"))
    workers = Prepares(*CONFIGS, part_characters=500)
    for change in range(3):
        reports = [index(alone, files), index(store, files, workers)]
        assert [one.to_dict() for one in reports[:1]] == [one.to_dict() for one in reports[1:]]
        assert held(store) == held(alone)
        files.texts["bears.txt"] = prose(f"bears{change}")
        del files.corpora["corpus.jsonl"][str(change)]
        files.corpora["corpus.jsonl"]["14"] = prose(f"another{change}")
    assert_sound(store, CONFIGS)
    rows = [part for part in workers.parts if part.documents]
    assert len(rows) > 10, "the rows of one file are shared by several workers"


def test_no_more_parts_are_under_way_than_may_be(store: DocumentStore, files: Files) -> None:
    workers = Prepares(SMALL, part_characters=1)
    index(store, files, workers, SMALL)
    assert len(workers.parts) > 10 * MOST
    assert workers.most_under_way == MOST


def test_what_is_known_is_not_encoded_again(store: DocumentStore, files: Files) -> None:
    index(store, files, Prepares(SMALL), SMALL)
    files.corpora["corpus.jsonl"]["5"] = prose("something else")
    files.titles["apples.txt"] = ""
    workers = Prepares(SMALL)
    assert counts(index(store, files, workers, SMALL)) == (0, 1, 34, 0, 0)
    (part,) = workers.parts
    assert [one.source for one in part.documents] == ["5"]


def test_rows_of_a_worker_that_died_are_reported_and_read_again_next_time(store: DocumentStore, files: Files) -> None:
    workers = Prepares(SMALL, part_characters=500)
    workers.dies = lambda part: any(one.source == "9" for one in part.documents) or part.read is not None
    report = index(store, files, workers, SMALL)
    lost = [failure.subject for failure in report.failed]
    assert [subject for subject in lost if subject.endswith(".txt")] == sorted(files.texts, key=list(files.texts).index)
    (rows,) = (subject for subject in lost if "rows" in subject)
    assert rows.startswith("corpus.jsonl (rows ")
    assert all("ended twice" in str(failure) and "try it alone" in str(failure) for failure in report.failed)
    assert 20 < len(sources(store)) < 30
    assert store.files() == {}
    assert counts(index(store, files, Prepares(SMALL), SMALL))[0] == 33 - report.added
    assert_sound(store)


def test_a_file_that_breaks_in_the_middle_keeps_what_was_read(store: DocumentStore) -> None:
    def broken() -> Iterator[Document | DocumentError]:
        yield document("half.txt", prose("half"))
        raise DocumentError("is torn", subject="half.txt")

    incoming = [
        Incoming("half.txt", "h", "", broken, elsewhere=lambda: broken),
        Incoming("rows.jsonl", "h", "", broken),
        DocumentError("cannot be opened", subject="x.pdf"),
    ]
    workers = Prepares(SMALL)
    report = Ingest(store, [SMALL], workers=Workers(workers.submit, MOST)).run(incoming)
    assert [str(failure) for failure in report.failed] == [
        "half.txt: is torn",
        "half.txt: is torn",
        "x.pdf: cannot be opened",
    ]
    assert (sources(store), store.files()) == (["half.txt"], {})
    assert len(chunks_of(store)) > 0
