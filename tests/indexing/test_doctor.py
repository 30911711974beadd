"""The doctor finds every kind of damage, mends it, and finds nothing in a sound collection."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

import thresher
from tests.indexing.making import LARGE, SMALL, TREE, Files, assert_sound, chunks_of, ingest, prose, reopened, row
from thresher.indexing.catalog import RECORD_TABLES
from thresher.indexing.doctor import Finding, examine
from thresher.indexing.index_config import IndexConfig
from thresher.indexing.store import DocumentStore
from thresher.protocols import MOST_VERSIONS, Store
from thresher.stores.lance import LanceStore
from thresher.stores.lance_table import KEPT_VERSIONS
from thresher.testing.fakes import HashEncoder
from thresher.types import ChunkRow
from thresher_testing.memory_store import MemoryStore


@pytest.fixture(scope="module")
def files() -> Files:
    return Files({f"{name}.txt": prose(name) for name in ("apples", "bears", "clouds")}, {"c": {"1": prose("rows")}})


def made(kind: Callable[[Path], Store], folder: Path, files: Files) -> DocumentStore:
    store = DocumentStore(folder, kind(folder / "store"))
    ingest(store, files.incoming(), SMALL, TREE)
    return store


@pytest.fixture(scope="module")
def on_lance(tmp_path_factory: pytest.TempPathFactory, files: Files) -> Path:
    """The folder of a sound store; look, do not change."""
    return made(LanceStore, tmp_path_factory.mktemp("lance"), files).folder


def copied(folder: Path, to: Path) -> DocumentStore:
    shutil.copytree(folder, to, dirs_exist_ok=True)
    return DocumentStore(to, LanceStore(to / "store"))


@pytest.fixture
def store(tmp_path: Path, files: Files) -> DocumentStore:
    return made(MemoryStore, tmp_path, files)


def table(store: DocumentStore, config: IndexConfig = SMALL, level: str = "chunk"):
    return store.open(config.table_name(level))


def document_id(store: DocumentStore, source: str = "bears.txt") -> str:
    return next(record.id for record in store.records() if record.source == source)


def stored(store: DocumentStore, source: str = "bears.txt") -> list[ChunkRow]:
    """The rows of a document as they are."""
    (batch,) = table(store).chunks([document_id(store, source)])
    return [ChunkRow(chunk, "text", "2024", None, vector) for chunk, vector in batch]


def tidied(store: DocumentStore, *, gone: str = "", rows: Sequence[ChunkRow] = ()) -> None:
    """Take the chunks of a document away, add some, and do the upkeep, so that nothing else is out of order."""
    if gone:
        table(store).delete([document_id(store, gone)])
    table(store).append(rows)
    table(store).maintain()


def replaced(store: DocumentStore, change: Callable[[ChunkRow], ChunkRow]) -> None:
    """Change the first chunk of a document."""
    first, *others = stored(store)
    tidied(store, gone="bears.txt", rows=[change(first), *others])


# --- damage, by what the doctor says of it ----------------------------------------------------------------------------


def misplaced(store: DocumentStore) -> None:
    table(store).rename(document_id(store), source="long gone.txt", title="")
    tidied(store)


def altered(one: ChunkRow) -> ChunkRow:
    return replace(one, chunk=replace(one.chunk, text="It says something else."))


def unindexed(store: DocumentStore) -> None:
    rows = stored(store)
    tidied(store, gone="bears.txt")
    table(store).append(rows)


def counted(store: DocumentStore) -> None:
    rows = stored(store)
    table(store).delete([rows[0].chunk.document_id])
    table(store).append(rows)


def no_index(store: DocumentStore) -> None:
    table(store)._table.drop_index("terms_idx")
    table(store)._table.drop_index("id_idx")


def lost_file(store: DocumentStore) -> None:
    row = {"source": "lost.txt", "sha256": "x", "root": "", "given": "", "documents": 1, "contents": "x"}
    store.record_table("read_files").merge([row])


ORPHAN = row("orphan", "nobody's text", document_id="nobody")
Damage = tuple[Callable[[DocumentStore], object], str]
DAMAGE: dict[str, Damage] = {
    "orphan": (lambda store: tidied(store, rows=[ORPHAN]), "chunks without a document: 1 documents"),
    "missing": (lambda store: tidied(store, gone="bears.txt"), "1 documents have no chunks yet"),
    "partial": (
        lambda store: tidied(store, gone="bears.txt", rows=stored(store)[1:]),
        "documents with some of their chunks only: 1 documents",
    ),
    "twice": (lambda store: tidied(store, rows=stored(store)[:1]), "chunks that stand twice: 1 documents"),
    "altered": (lambda store: replaced(store, altered), "chunks that are not their document's text: 1 documents"),
    "misplaced": (misplaced, "chunks under another source or title than their document's: 1 documents"),
    "long vector": (
        lambda store: replaced(store, lambda one: replace(one, vector=one.vector * 3)),
        "vectors that are not of unit length: 1 documents",
    ),
    "lost file": (lost_file, "1 files are recorded as read but lack documents"),
}
DAMAGE_ON_LANCE: dict[str, Damage] = {
    "partial on lance": DAMAGE["partial"],
    "unindexed": (unindexed, "chunks are not yet in the index of terms"),
    "counted": (counted, "the BM25 statistics still count deleted chunks"),
    "no index": (no_index, "the index of id is missing"),
}
CASES = [(MemoryStore, *case) for case in DAMAGE.values()] + [(LanceStore, *case) for case in DAMAGE_ON_LANCE.values()]


@pytest.mark.parametrize(("kind", "damage", "said"), CASES, ids=[*DAMAGE, *DAMAGE_ON_LANCE])
def test_damage_is_found_then_mended(
    tmp_path: Path,
    files: Files,
    on_lance: Path,
    kind: Callable[[Path], Store],
    damage: Callable[[DocumentStore], object],
    said: str,
) -> None:
    store = copied(on_lance, tmp_path) if kind is LanceStore else made(kind, tmp_path, files)
    before = chunks_of(store)
    assert examine(store, [SMALL, LARGE, TREE], repair=False) == []
    damage(store)
    looked = examine(reopened(store), [SMALL, TREE], repair=False)
    assert any(said in finding.what for finding in looked), looked
    assert not any(finding.mended for finding in looked)
    assert examine(reopened(store), [SMALL, TREE], repair=False) == looked  # looking changes nothing

    mended = examine(store, [SMALL, TREE], repair=True)
    assert all(finding.mended for finding in mended)
    assert examine(store, [SMALL, TREE], repair=False) == []
    assert chunks_of(store) == before
    assert_sound(store, [SMALL, TREE])
    ingest(store, files.incoming())
    assert sorted(store.files()) == ["apples.txt", "bears.txt", "c", "clouds.txt"]


def test_a_document_that_stands_twice_is_found_and_left_to_a_person(tmp_path: Path, on_lance: Path) -> None:
    store = copied(on_lance, tmp_path)
    (whole,) = store.record_table("documents").get([document_id(store)]).values()
    store.record_table("documents").append([whole])
    said = [finding.what for finding in examine(store, [SMALL], repair=True) if not finding.mended]
    assert any("is stored 2 times" in what for what in said)
    assert any("was given to 2 documents" in what for what in said)
    assert any("bears.txt points at 2 documents" in what for what in said)


def test_a_file_that_holds_another_text_than_was_recorded_is_read_again(store: DocumentStore, files: Files) -> None:
    record = store.files()["bears.txt"]
    ingest(store, Files({"bears.txt": prose("wolves")}).incoming(), SMALL, TREE)
    store.record_table("read_files").merge([record])
    said = "1 files hold another text than was recorded when they were read; the next index reads them again"
    assert examine(store, [SMALL, TREE], repair=False) == [Finding("files", said, mended=False)]
    assert examine(store, [SMALL, TREE], repair=True) == [Finding("files", said, mended=True)]
    assert examine(store, [SMALL, TREE], repair=False) == []
    assert ingest(store, files.incoming()).updated == 1
    assert {store.document(r.id).text for r in store.records()} == {*files.texts.values(), *files.corpora["c"].values()}


def alter_text(store: DocumentStore, source: str) -> None:
    """Another text under the id of a document, its chunks cut from it."""
    (whole,) = store.record_table("documents").get([document_id(store, source)]).values()
    store.record_table("documents").merge([{**whole, "text": prose("wolves"), "characters": len(prose("wolves"))}])
    for kept in store.tables():
        store.open(kept["name"]).delete([whole["id"]])
    for config in (SMALL, TREE):
        store.complete(config)


@pytest.mark.parametrize("is_there", [True, False])
def test_a_document_whose_text_is_not_that_of_its_id_is_read_again_where_its_file_is_there(
    tmp_path: Path, is_there: bool
) -> None:
    names = [str(tmp_path / f"{name}.txt") for name in ("apples", "bears")]
    files = Files({name: prose(name) for name in names})
    store = made(MemoryStore, tmp_path / "collection", files)
    if is_there:
        Path(names[1]).write_text(files.texts[names[1]], encoding="utf-8")
    alter_text(store, names[1])
    (found,) = examine(store, [SMALL, TREE], repair=False)
    cure = "the next index reads them again" if is_there else "their files are not there"
    assert found.what == f"the text of 1 documents is not the one that was read; {cure}"
    assert [finding.mended for finding in examine(store, [SMALL, TREE], repair=True)] == [is_there]
    assert len(store.records()) == (1 if is_there else 2)
    if is_there:
        assert examine(store, [SMALL, TREE], repair=False) == []
        ingest(store, files.incoming(), SMALL, TREE)
        assert {record.source: store.document(record.id).text for record in store.records()} == files.texts
        assert_sound(store, [SMALL, TREE])


def test_tables_that_cannot_be_rebuilt_here_are_examined_too(store: DocumentStore) -> None:
    table(store, TREE, "chunk").append([row("orphan", "x", document_id="nobody")])
    assert any("without a document" in finding.what for finding in examine(store, [SMALL], repair=False))


@pytest.fixture(scope="module")
def bloated(tmp_path_factory: pytest.TempPathFactory, on_lance: Path) -> Path:
    """The folder of a store in which a table has too many versions; look, do not change."""
    store = copied(on_lance, tmp_path_factory.mktemp("bloated"))
    records = store.record_table("counters")
    for _ in range(MOST_VERSIONS + 1):
        records.merge([{**records.rows(list(RECORD_TABLES["counters"]))[0]}])
    return store.folder


def test_too_many_old_versions_are_found_and_dropped(bloated: Path, tmp_path: Path) -> None:
    store = copied(bloated, tmp_path)
    before = store.size()[0]
    (found,) = examine(store, [], repair=False)
    assert (found.where, found.mended) == ("versions", False)
    assert [finding.mended for finding in examine(store, [], repair=True)] == [True]
    assert max(store.versions().values()) <= MOST_VERSIONS
    assert store.size()[0] < before
    assert examine(store, [], repair=False) == []


def test_a_run_that_has_nothing_to_do_tidies_up_too(bloated: Path, tmp_path: Path, files: Files) -> None:
    store = copied(bloated, tmp_path)
    assert store.bloated
    ingest(store, files.incoming(), SMALL, TREE)
    assert not store.bloated


def test_old_versions_of_a_sound_collection_are_dropped(tmp_path: Path) -> None:
    with thresher.open(tmp_path, encoder=HashEncoder(32)) as collection:
        collection.add_text("Oats.", source="note:1")
        counters = collection.opened.store.record_table("counters")
        for number in range(KEPT_VERSIONS + 5):
            counters.merge([{"name": "other", "value": number}])
        before = counters.versions
        assert collection.doctor(repair=False) == []
        assert (counters.versions, before > KEPT_VERSIONS) == (before, True)
        assert collection.doctor() == []
        assert counters.versions < before
