"""The doctor finds every kind of damage, mends it, and finds nothing in a sound collection."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from tests.indexing.making import LARGE, SMALL, TREE, Files, assert_sound, chunks_of, prose, row
from thresher.indexing.doctor import examine
from thresher.indexing.index_config import Layout
from thresher.indexing.store import Archive
from thresher.types import ChunkRow


@pytest.fixture(scope="module")
def files() -> Files:
    return Files({f"{name}.txt": prose(name) for name in ("apples", "bears", "clouds")}, {"c": {"1": prose("rows")}})


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory, files: Files) -> Path:
    folder = tmp_path_factory.mktemp("made") / "collection"
    Archive(folder).add(files.incoming(), [SMALL, TREE])
    return folder


@pytest.fixture
def archive(made: Path, tmp_path: Path) -> Archive:
    """A copy that may be damaged."""
    return Archive(Path(shutil.copytree(made, tmp_path / "collection")))


def table(archive: Archive, layout: Layout = SMALL, level: str = "chunk"):
    return archive.open(layout.table_name(level))


def document_id(archive: Archive, source: str = "bears.txt") -> str:
    return next(record.id for record in archive.records() if record.source == source)


def stored(archive: Archive, source: str = "bears.txt") -> list[ChunkRow]:
    """The rows of a document as they are."""
    (batch,) = table(archive).chunks([document_id(archive, source)])
    return [ChunkRow(chunk, "text", "2024", None, vector) for chunk, vector in batch]


def replaced(archive: Archive, rows: list[ChunkRow]) -> None:
    table(archive).delete([rows[0].chunk.document_id])
    table(archive).append(rows)
    table(archive).maintain()


def test_a_sound_collection_has_no_findings(archive: Archive) -> None:
    assert examine(archive, [SMALL, LARGE, TREE], repair=False) == []


# --- damage, by what the doctor says of it ----------------------------------------------------------------------------


def orphan(archive: Archive) -> None:
    table(archive).append([row("orphan", "nobody's text", document_id="nobody")])
    table(archive).maintain()


def missing(archive: Archive) -> None:
    table(archive).delete([document_id(archive)])
    table(archive).maintain()


def missing_subchunks(archive: Archive) -> None:
    table(archive, TREE, "subchunk").delete([document_id(archive)])
    table(archive, TREE, "subchunk").maintain()


def partial(archive: Archive) -> None:
    replaced(archive, stored(archive)[1:])


def twice(archive: Archive) -> None:
    table(archive).append(stored(archive)[:1])
    table(archive).maintain()


def altered(archive: Archive) -> None:
    first, *others = stored(archive)
    replaced(archive, [replace(first, chunk=replace(first.chunk, text="It says something else.")), *others])


def misplaced(archive: Archive) -> None:
    table(archive).rename(document_id(archive), source="long gone.txt", title="")
    table(archive).maintain()


def long_vector(archive: Archive) -> None:
    first, *others = stored(archive)
    replaced(archive, [replace(first, vector=first.vector * 3), *others])


def no_vector(archive: Archive) -> None:
    first, *others = stored(archive)
    replaced(archive, [replace(first, vector=np.zeros_like(first.vector)), *others])


def unindexed(archive: Archive) -> None:
    rows = stored(archive)
    table(archive).delete([rows[0].chunk.document_id])
    table(archive).maintain()
    table(archive).append(rows)


def counted(archive: Archive) -> None:
    rows = stored(archive)
    replaced(archive, rows)
    table(archive).delete([rows[0].chunk.document_id])
    table(archive).append(rows)
    table(archive)._table.optimize()


def no_index(archive: Archive) -> None:
    table(archive)._table.drop_index("terms_idx")
    table(archive)._table.drop_index("id_idx")


def lost_file(archive: Archive) -> None:
    archive._files.merge([{"source": "lost.txt", "sha256": "x", "root": "", "given": "", "documents": 1}])


def lost_rows(archive: Archive) -> None:
    archive._files.merge([{"source": "c", "sha256": "x", "root": "", "given": "", "documents": 2}])


DAMAGE: list[tuple[Callable[[Archive], None], str]] = [
    (orphan, "chunks without a document: 1 documents"),
    (missing, "1 documents have no chunks yet"),
    (missing_subchunks, "1 documents have no chunks yet"),
    (partial, "documents with some of their chunks only: 1 documents"),
    (twice, "chunks that stand twice: 1 documents"),
    (altered, "chunks that are not their document's text: 1 documents"),
    (misplaced, "chunks under another source or title than their document's: 1 documents"),
    (long_vector, "vectors that are not of unit length: 1 documents"),
    (no_vector, "vectors that are not of unit length: 1 documents"),
    (unindexed, "chunks are not yet in the index of terms"),
    (counted, "the BM25 statistics still count deleted chunks"),
    (no_index, "the index of id is missing"),
    (lost_file, "1 files are recorded as read but lack documents"),
    (lost_rows, "1 files are recorded as read but lack documents"),
]


@pytest.mark.parametrize(("damage", "said"), DAMAGE, ids=[damage.__name__ for damage, _ in DAMAGE])
def test_damage_is_found_then_mended(
    archive: Archive, files: Files, damage: Callable[[Archive], None], said: str
) -> None:
    before = chunks_of(archive)
    damage(archive)
    looked = examine(Archive(archive.folder), [SMALL, TREE], repair=False)
    assert any(said in finding.what for finding in looked), looked
    assert not any(finding.mended for finding in looked)
    assert examine(Archive(archive.folder), [SMALL, TREE], repair=False) == looked  # looking changes nothing

    mended = examine(archive, [SMALL, TREE], repair=True)
    assert all(finding.mended for finding in mended)
    assert examine(archive, [SMALL, TREE], repair=False) == []
    assert chunks_of(archive) == before
    assert_sound(archive, [SMALL, TREE])
    archive.add(files.incoming(), [SMALL])
    assert sorted(archive.files()) == ["apples.txt", "bears.txt", "c", "clouds.txt"]


def test_a_document_that_stands_twice_is_found_and_left_to_a_person(archive: Archive) -> None:
    (whole,) = archive._documents.get([document_id(archive)]).values()
    archive._documents.append([whole])
    said = [finding.what for finding in examine(archive, [SMALL], repair=True) if not finding.mended]
    assert any("is stored 2 times" in what for what in said)
    assert any("was given to 2 documents" in what for what in said)
    assert any("bears.txt points at 2 documents" in what for what in said)


def test_tables_that_cannot_be_rebuilt_here_are_examined_too(archive: Archive) -> None:
    table(archive, TREE, "chunk").append([row("orphan", "x", document_id="nobody")])
    assert any("without a document" in finding.what for finding in examine(archive, [SMALL], repair=False))


def test_a_table_that_was_never_asked_for_is_not_missed(archive: Archive) -> None:
    assert examine(archive, [LARGE], repair=True) == []
    assert {row["fingerprint"] for row in archive.tables()} == {SMALL.fingerprint, TREE.fingerprint}


def test_a_finding_prints_as_json() -> None:
    from thresher.indexing.doctor import Finding

    assert Finding("files", "lost", mended=True).to_dict() == {"where": "files", "what": "lost", "mended": True}
