"""What is kept of documents and chunks when files come, change, move and go, whatever store keeps it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from filelock import FileLock

from tests.indexing.making import (
    ENCODER,
    LARGE,
    SMALL,
    TREE,
    Files,
    Killed,
    MortalStore,
    ReadingEncoder,
    assert_sound,
    chunks_of,
    counts,
    document,
    ingest,
    prose,
    reopened,
    row,
    sha,
    sources,
)
from thresher.chunking.fixed import RecursiveChunker
from thresher.chunking.hierarchical import HierarchicalChunker
from thresher.errors import DocumentError, EncoderMismatch, StoreError
from thresher.indexing.catalog import SourceRef
from thresher.indexing.index_config import IndexConfig
from thresher.indexing.ingest import Report
from thresher.indexing.prepare import Incoming
from thresher.indexing.store import DocumentStore
from thresher.protocols import Store
from thresher.stores.lance import LanceStore
from thresher.testing.fakes import HashEncoder
from thresher.types import Mark, Page, Table
from thresher_testing.memory_store import MemoryStore


@pytest.fixture
def on_disk(tmp_path: Path) -> DocumentStore:
    return DocumentStore(tmp_path / "on disk")


def index(store: DocumentStore, files: Files, *configs: IndexConfig, **options: Any) -> Report:
    return ingest(store, files.incoming(), *configs, **options)


# --- incremental ------------------------------------------------------------------------------------------------------


def texts_by_source(store: DocumentStore) -> dict[str, tuple[str, str]]:
    """Text and title that the store holds for each source."""
    held = {}
    for record in store.records():
        stored = store.document(record.id)
        held |= dict.fromkeys((record.source, *record.also), (stored.text, stored.title))
    return held


def swapped(files: Files) -> None:
    files.texts["bears.txt"], files.texts["clouds.txt"] = files.texts["clouds.txt"], files.texts["bears.txt"]


def moved(files: Files) -> None:
    files.texts["cubs.txt"] = files.texts.pop("bears.txt")


def other_rows(files: Files) -> None:
    files.corpora["c"] = {"1": files.corpora["c"]["1"], "3": prose("dogs")}


CHANGES: dict[str, tuple[Callable[[Files], object], tuple[int, ...], set[str]]] = {
    "nothing": (lambda files: None, (0, 0, 7, 0, 0), set()),
    "a text": (lambda files: files.texts.update({"bears.txt": prose("wolves")}), (0, 1, 6, 0, 0), {"bears.txt"}),
    "a title": (lambda files: files.titles.update({"bears.txt": "Grizzlies"}), (0, 1, 6, 0, 0), {"bears.txt"}),
    "metadata": (
        lambda files: files.metadata.update({"year": 1999}),
        (0, 6, 1, 0, 0),
        {"apples.txt", "bears.txt", "clouds.txt", "copy.txt", "c"},
    ),
    "a copy": (lambda files: files.texts.update({"bears.txt": prose("apples")}), (0, 1, 6, 1, 0), {"bears.txt"}),
    "swapped": (swapped, (0, 2, 5, 1, 0), {"bears.txt", "clouds.txt"}),
    "moved": (moved, (0, 0, 6, 0, 0), {"cubs.txt"}),
    "the first name gone": (lambda files: files.texts.pop("apples.txt"), (0, 0, 6, 0, 1), set()),
    "the last name gone": (lambda files: files.texts.pop("bears.txt"), (0, 0, 6, 0, 1), set()),
    "rows": (other_rows, (0, 1, 5, 0, 1), {"c"}),
}


@pytest.mark.parametrize("what", CHANGES)
def test_what_changed_is_read_and_replaced_and_nothing_else(store: DocumentStore, files: Files, what: str) -> None:
    change, expected, parsed = CHANGES[what]
    files.texts["copy.txt"] = files.texts["apples.txt"]
    files.corpora["c"] = {"1": prose("ants"), "2": prose("bees"), "3": prose("cats")}
    assert counts(index(store, files, SMALL, LARGE)) == (6, 0, 0, 1, 0)
    files.parsed.clear()
    change(files)
    version = store.version
    assert counts(index(store, files, prune=lambda file: True)) == expected
    assert set(files.parsed) == parsed
    assert (store.version == version) is (what == "nothing")
    held = {source: text for source, (text, _) in texts_by_source(store).items()}
    assert held == {**files.texts, **files.corpora["c"]}
    assert {row["year"] for row in store.metadata().values() if row} == set(files.metadata.values())
    assert_sound(store)
    store.complete(LARGE)
    assert_sound(store, [SMALL, LARGE])
    assert counts(index(store, files, prune=lambda file: True)) == (0, 0, len(held), 0, 0)


def test_documents_are_numbered_in_order_and_no_number_is_given_twice(store: DocumentStore, files: Files) -> None:
    report = index(store, files)
    assert report.chunks == len(chunks_of(store)) > 3
    assert [(r.number, r.source) for r in store.records()] == [(1, "apples.txt"), (2, "bears.txt"), (3, "clouds.txt")]
    store.remove([SourceRef(source) for source in files.texts], files=files.texts)
    assert (store.records(), chunks_of(store)) == ([], [])
    again = reopened(store)
    index(again, files)
    assert [record.number for record in again.records()] == [4, 5, 6]
    assert {chunk.label.split("-")[0] for chunk in chunks_of(again)} == {"Doc4", "Doc5", "Doc6"}


def test_reread_parses_unchanged_files_and_takes_what_another_extraction_says(
    store: DocumentStore, files: Files
) -> None:
    index(store, files)
    files.parsed.clear()
    assert counts(ingest(store, files.incoming(), reread=True)) == (0, 0, 3, 0, 0)
    assert files.parsed == ["apples.txt", "bears.txt", "clouds.txt"]
    bears = next(one for one in files.incoming() if one.source == "bears.txt")
    assert isinstance(bears, Incoming)
    unchanged = [replace(bears, documents=lambda: iter([document("bears.txt", "Bears, as they are read now.")]))]
    assert counts(ingest(store, unchanged)) == (0, 0, 1, 0, 0)
    assert counts(ingest(store, unchanged, reread=True)) == (0, 1, 0, 0, 0)
    assert store.extractions() == {1: 3}
    files.extraction = 2
    files.texts["apples.txt"] = prose("wolves")
    index(store, files)
    assert store.extractions() == {1: 2, 2: 1}
    ingest(store, files.incoming(), reread=True)
    assert store.extractions() == {2: 3}
    assert_sound(store)


def test_prune_removes_only_what_vanished_and_may_go(store: DocumentStore, files: Files) -> None:
    index(store, files)
    del files.texts["bears.txt"], files.texts["clouds.txt"]
    assert counts(index(store, files)) == (0, 0, 1, 0, 0)
    report = index(store, files, vanished=lambda file: file != "clouds.txt")
    assert [remark.source for remark in report.remarks] == ["bears.txt"]
    assert (report.removed, len(store.records())) == (0, 3)
    report = index(store, files, prune=lambda file: file != "clouds.txt")
    assert counts(report) == (0, 0, 1, 0, 1)
    assert sources(store) == ["apples.txt", "clouds.txt"]
    assert sorted(store.files()) == ["apples.txt", "clouds.txt"]
    assert_sound(store)


def test_a_title_that_is_the_name_of_the_file_is_its_new_name(store: DocumentStore, files: Files) -> None:
    files.titles |= {"bears.txt": "bears", "apples.txt": "About fruit"}
    index(store, files)
    for old, new in (("bears.txt", "cubs.txt"), ("apples.txt", "pears.txt")):
        files.texts[new], files.titles[new] = files.texts.pop(old), files.titles.pop(old)
    report = index(store, files, vanished=lambda file: True)
    assert (report.renamed, report.duplicates, report.removed, report.remarks) == (2, 0, 0, [])
    assert {record.source: record.title for record in store.records()} | {"clouds.txt": ""} == {
        "pears.txt": "About fruit", "cubs.txt": "cubs", "clouds.txt": ""
    }  # fmt: skip
    assert_sound(store)


def test_a_row_that_stands_twice_is_reported_and_the_first_is_kept(store: DocumentStore) -> None:
    twice = [document("1", "first text", container="c"), document("1", "second text", container="c")]
    report = ingest(store, [Incoming("c", "hash", "", lambda: iter(twice))])
    assert [failure.subject for failure in report.failed] == ["c#1"]
    assert [store.document(r.id).text for r in store.records()] == ["first text"]
    assert store.files() == {}


def test_broken_inputs_are_listed_and_tried_again(store: DocumentStore, files: Files) -> None:
    def broken() -> Any:
        yield document("half.txt", prose("half"))
        raise DocumentError("is torn", subject="half.txt")

    incoming = [
        *files.incoming(),
        DocumentError("cannot be opened", subject="x.pdf"),
        Incoming("half.txt", "h", "", broken),
    ]
    report = ingest(store, incoming)
    assert [failure.subject for failure in report.failed] == ["x.pdf", "half.txt"]
    assert report.added == 4
    assert sorted(store.files()) == sorted(files.texts)
    again = ingest(store, [Incoming("half.txt", "h", "", broken)])
    assert (again.unchanged, len(again.failed)) == (1, 1)


def test_a_document_comes_back_as_it_was_added(store: DocumentStore) -> None:
    text = "head\nname price\napple 3\n"
    stored = document(
        "é'quote\".txt",
        text,
        title="It's",
        kind="pdf",
        pages=(Page(1, 0, 5), Page(2, 5, 24)),
        tables=(Table(5, 24, ((5, 15), (16, 23))),),
        marks=(Mark(0, "heading", "head"),),
        figures=((11, 16),),
        date="2020-02-29",
        metadata={"year": 2020, "open": True, "rate": 0.5, "name": "ß'\""},
    )
    ingest(store, [Incoming(stored.source, sha(text), "", lambda: iter([stored]))])
    assert store.document(stored.id) == stored
    (record,) = store.records()
    assert (record.pages, record.characters, record.date, record.also) == (2, len(text), "2020-02-29", ())
    assert record.to_dict()["metadata"] == dict(stored.metadata)
    with pytest.raises(StoreError, match="no such document"):
        store.document("nowhere")
    assert list(store.documents(["nowhere", stored.id])) == [stored.id]


# --- several ways of cutting ------------------------------------------------------------------------------------------


def test_a_missing_table_is_built_from_the_stored_text(store: DocumentStore, files: Files) -> None:
    index(store, files)
    files.parsed.clear()
    told: list[tuple[int, int]] = []
    assert store.complete(LARGE, progress=lambda done, of: told.append((done, of))) > 0
    assert told[-1] == (3, 3)
    assert files.parsed == []
    assert {chunk.source for chunk, _ in store.table(LARGE, "chunk").matching("bears", limit=9)} == {"bears.txt"}
    assert len(store.records()) == 3
    assert {row["fingerprint"] for row in store.tables()} == {SMALL.fingerprint, LARGE.fingerprint}
    assert_sound(store, [SMALL, LARGE])


def test_asking_with_another_encoder_says_so(store: DocumentStore, files: Files) -> None:
    index(store, files)
    other = IndexConfig(RecursiveChunker(120, 20), HashEncoder(16))
    with pytest.raises(EncoderMismatch, match="made by hash-32, not by hash-16"):
        store.check_encoder(other)
    store.check_encoder(LARGE)
    index(store, files, other)
    store.check_encoder(other)
    store.check_encoder(SMALL)
    assert_sound(store, [SMALL, other])


def test_a_document_that_gives_no_chunk_is_cut_once_for_all_processes(store: DocumentStore, files: Files) -> None:
    encoder = ReadingEncoder()
    # As the paper's code is printed, a chunk within the subchunk size has no subchunk.
    config = IndexConfig(HierarchicalChunker(300, 0, subchunk_size=300, literal=True), encoder, ("chunk", "subchunk"))
    files.texts["blank.txt"] = " \n "
    files.texts["short.txt"] = "One short sentence."
    index(store, files, config)
    encoder.texts.clear()
    for opened in (store, reopened(store)):
        assert opened.missing(config) == []
        versions = [opened.open(config.table_name(level)).version for level in config.levels]
        opened.table(config, "subchunk")
        assert versions == [opened.open(config.table_name(level)).version for level in config.levels]
    assert encoder.texts == []


# --- cut short --------------------------------------------------------------------------------------------------------


def mortal(store: DocumentStore, **when: Any) -> DocumentStore:
    """The same collection in a process that is killed."""
    return DocumentStore(store.folder, MortalStore(store._store, **when))


def test_a_document_whose_chunks_were_cut_short_gets_them_at_the_next_question(
    store: DocumentStore, files: Files
) -> None:
    with pytest.raises(Killed):
        index(mortal(store, instead_of=("chunks_", "append")), files)
    asked = reopened(store)
    assert len(asked.records()) == 3
    assert chunks_of(asked) == []
    assert len(asked.missing(SMALL)) == 3
    assert {c.source for c, _ in asked.table(SMALL, "chunk").matching("bears", limit=3)} == {"bears.txt"}
    assert asked.missing(SMALL) == []
    assert_sound(asked)
    assert counts(index(asked, files)) == (0, 0, 3, 0, 0)


@pytest.mark.parametrize(
    ("configs", "steps", "kind"),
    [
        *(((SMALL,), steps, MemoryStore) for steps in range(14)),
        *(((TREE, SMALL), steps, MemoryStore) for steps in range(0, 24, 2)),
        ((TREE, SMALL), 9, LanceStore),
    ],
)
def test_wherever_a_run_is_cut_short_the_next_one_ends_sound(
    tmp_path: Path, configs: tuple[IndexConfig, ...], steps: int, kind: Callable[[Path], Store]
) -> None:
    files = Files({f"{n}.txt": prose(f"topic{n}") for n in range(4)}, {"c": {"1": prose("rows"), "2": prose("gone")}})
    files.texts["copy.txt"] = files.texts["0.txt"]
    store = DocumentStore(tmp_path, kind(tmp_path / "store"))
    index(store, files, *configs)
    del files.texts["0.txt"], files.corpora["c"]["2"]
    files.texts |= {"1.txt": prose("changed"), "new.txt": prose("news")}
    files.titles["2.txt"] = "Titled"
    with pytest.raises(Killed):
        index(mortal(store, steps=steps), files, *configs, prune=lambda file: True, batch_chunks=1)

    resumed = reopened(store)
    for config in configs:  # No orphan chunk, whatever happened.
        for level in config.levels:
            assert {c.document_id for c in chunks_of(resumed, config, level)} <= {r.id for r in resumed.records()}
    index(resumed, files, *configs, prune=lambda file: True)
    held = {resumed.document(r.id).text: {r.source, *r.also} for r in resumed.records()}
    expected: dict[str, set[str]] = {}
    for source, text in [*files.texts.items(), *files.corpora["c"].items()]:
        expected.setdefault(text, set()).add(source)
    assert held == expected
    assert {source: row["documents"] for source, row in resumed.files().items()} == {
        **dict.fromkeys(files.texts, 1),
        "c": 1,
    }
    assert {r.title for r in resumed.records()} == {"", "Titled"}
    assert_sound(resumed, configs)
    again = index(resumed, files, *configs, prune=lambda file: True)
    assert (counts(again), again.chunks) == ((0, 0, 6, 0, 0), 0)


@pytest.mark.parametrize(
    ("steps", "kind"), [*((steps, MemoryStore) for steps in range(16)), (6, LanceStore), (10, LanceStore)]
)
def test_a_change_that_was_cut_short_and_taken_back_leaves_what_the_files_have(
    tmp_path: Path, steps: int, kind: Callable[[Path], Store]
) -> None:
    files = Files({f"{n}.txt": prose(f"topic{n}") for n in range(3)}, {"c": {n: prose(f"row{n}") for n in "123"}})
    store = DocumentStore(tmp_path, kind(tmp_path / "store"))
    index(store, files)
    before = texts_by_source(store)
    changed = Files(
        {**files.texts, "1.txt": prose("changed")},
        {"c": {"1": prose("other"), "3": prose("row3"), "4": prose("more")}},
        {"2.txt": "Titled"},
    )
    with pytest.raises(Killed):
        index(mortal(store, steps=steps), changed, batch_chunks=1)

    resumed = reopened(store)
    index(resumed, files)
    assert texts_by_source(resumed) == before
    assert_sound(resumed)
    assert counts(index(resumed, files)) == (0, 0, 6, 0, 0)


def test_a_file_whose_rows_another_process_changed_meanwhile_is_not_recorded_as_read(store: DocumentStore) -> None:
    files = Files(corpora={"c": {"1": prose("ants"), "2": prose("bees")}})
    others = Files(corpora={"c": {"1": prose("wasps"), "2": prose("bees")}})

    def rows() -> Any:
        yield from files._rows("c")
        index(reopened(store), others)  # between the commits of the rows and that of the file

    (item,) = files.incoming()
    assert isinstance(item, Incoming)
    ingest(store, [replace(item, documents=rows)], batch_chunks=0)
    assert store.files()["c"]["sha256"] != item.sha256
    index(store, files)
    assert {source: text for source, (text, _) in texts_by_source(store).items()} == files.corpora["c"]
    assert_sound(store)


def test_upkeep_that_was_cut_short_is_done_by_the_next_run_though_nothing_changed(
    on_disk: DocumentStore, files: Files
) -> None:
    index(on_disk, files, SMALL, LARGE)
    files.texts["bears.txt"] = prose("wolves")
    with pytest.raises(Killed):
        index(mortal(on_disk, instead_of=("chunks_", "maintain")), files)
    opened = reopened(on_disk)
    assert opened.open(SMALL.table_name("chunk")).stale()
    assert counts(index(opened, files)) == (0, 0, 3, 0, 0)
    for config in (SMALL, LARGE):
        assert opened.open(config.table_name("chunk")).stale() == []


def test_a_table_whose_making_was_cut_short_is_made_again(on_disk: DocumentStore, files: Files) -> None:
    lance = LanceStore(on_disk.folder / "lance")
    lance.create(SMALL.table_name("chunk"), dimension=ENCODER.dimension)
    lance.open(SMALL.table_name("chunk"))._table.drop_index("terms_idx")
    assert on_disk.tables() == []
    index(on_disk, files)
    assert on_disk.open(SMALL.table_name("chunk")).stale() == []
    assert_sound(on_disk)


# --- at the same time -------------------------------------------------------------------------------------------------


def test_a_table_that_another_process_has_made_is_left_to_its_upkeep(on_disk: DocumentStore, files: Files) -> None:
    index(on_disk, files)
    made = on_disk.open(SMALL.table_name("chunk"))
    made.append([row("late", "a late chunk")])
    before = made.version
    LanceStore(on_disk.folder / "lance").create(SMALL.table_name("chunk"), dimension=ENCODER.dimension)
    assert made.version == before
    assert made.stale()


class Meddling(ReadingEncoder):
    """An encoder during whose work somebody else does something."""

    def __init__(self, meanwhile: Callable[[], object]) -> None:
        super().__init__()
        self._meanwhile: list[Callable[[], object]] = [meanwhile]

    def encode(self, texts: Any, *, progress: Any = None) -> Any:
        while self._meanwhile:
            self._meanwhile.pop()()
        return super().encode(texts, progress=progress)


def test_what_another_process_added_meanwhile_is_not_added_again(store: DocumentStore, files: Files) -> None:
    other = reopened(store)
    config = IndexConfig(SMALL.chunker, Meddling(lambda: index(other, files)))
    assert counts(index(store, files, config)) == (0, 0, 3, 0, 0)
    assert_sound(store)


def test_what_another_process_removed_meanwhile_is_not_completed(store: DocumentStore, files: Files) -> None:
    index(store, files)
    other = reopened(store)
    config = IndexConfig(LARGE.chunker, Meddling(lambda: other.remove([SourceRef("bears.txt")])))
    store.complete(config)
    assert {chunk.source for chunk in chunks_of(store, config)} == {"apples.txt", "clouds.txt"}
    assert_sound(store, [SMALL, config])


def test_a_commit_waits_for_the_lock_and_says_when_it_waited_too_long(store: DocumentStore, files: Files) -> None:
    index(store, files)
    with FileLock(store.folder / "commit.lock"):
        reader = reopened(store)
        # A reader that lacks nothing never asks for the lock.
        assert reader.table(SMALL, "chunk").matching("bears", limit=1)[0][0].source == "bears.txt"
        reader.check_encoder(SMALL)
        with pytest.raises(StoreError, match="another process has held its lock"):
            reader.remove([SourceRef("bears.txt")])
    assert len(reader.remove([SourceRef("bears.txt")]).gone) == 1


def test_who_holds_the_lock_may_take_it_again(store: DocumentStore, files: Files) -> None:
    with store.locked(), store.locked():
        index(store, files)
    assert_sound(store)


def test_asking_again_reads_neither_documents_nor_chunks(store: DocumentStore, files: Files) -> None:
    index(store, files)
    watched = MortalStore(store._store)
    asked = DocumentStore(store.folder, watched)
    table = asked.table(SMALL, "chunk")
    watched.used.clear()
    assert asked.table(SMALL, "chunk") is table
    assert {method for _, method in watched.used} == {"version"}
