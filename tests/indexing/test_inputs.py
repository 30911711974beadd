"""Documents that other processes read, cut and encode become the collection that one process makes of them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import thresher
from thresher import recipes
from thresher.collection import Collection
from thresher.documents.sources import Limits
from thresher.errors import ThresherError, UsageError, WrongType
from thresher.indexing.inputs import IndexProgress, Inputs
from thresher.indexing.prepare import Incoming, WorkUnit
from thresher.recipes.components import Components, Models
from thresher.recipes.making import Making, described, prepared
from thresher.settings import ReadingSettings
from thresher.testing.fakes import HashEncoder
from thresher.types import Document

WORDS = "The harbour master of the town number {0} says that its tower has {0} floors and one bell. "


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Files, one of them broken, and a corpus of several parts."""
    folder = tmp_path / "files"
    folder.mkdir()
    for n in range(6):
        (folder / f"{n}.txt").write_text(WORDS.format(n) * (1 + 5 * n), encoding="utf-8")
    (folder / "copy.md").write_text(WORDS.format(3) * 16, encoding="utf-8")
    (folder / "broken.pdf").write_bytes(b"%PDF-1.4 and no more")
    rows = [{"_id": f"row{n}", "title": f"Town {n}", "text": WORDS.format(100 + n) * 20} for n in range(40)]
    (folder / "rows.jsonl").write_text("\n".join([*map(json.dumps, rows), "{broken"]), encoding="utf-8")
    return folder


def held(collection: Collection) -> dict[str, Any]:
    """Everything of a collection but the time: documents, and chunks with their vectors."""
    store = collection.opened.store
    found: dict[str, Any] = {
        row["name"]: sorted(
            (chunk.id, chunk.label, chunk.source, chunk.title, chunk.text, chunk.start, vector.tobytes())
            for batch in store.open(row["name"]).chunks()
            for chunk, vector in batch
        )
        for row in store.known_tables()
    }
    return found | {"documents": [(one.id, one.number, one.source, one.also) for one in collection.documents()]}


@pytest.mark.slow
def test_processes_make_the_collection_that_one_process_makes(tmp_path: Path, folder: Path) -> None:
    made, reports, told = [], [], []
    for processes in (1, 2):
        encoder = HashEncoder(32)
        with thresher.open(tmp_path / f"home{processes}", encoder=encoder) as collection:
            said: list[IndexProgress] = []
            report = collection.add(
                folder,
                recipe=["rag", "ecrag"],
                processes=processes,
                progress=said.append,
            )
            again = collection.add(folder, recipe=["rag", "ecrag"], processes=processes)
            assert (again.added, again.unchanged) == (0, 47)
            assert collection.doctor(repair=False) == []
            made.append(held(collection))
            reports.append({**report.to_dict(), "seconds": 0})
            assert said[-1].chunks >= report.chunks  # a copy is cut too, and then not kept
            told.append((said[-1].done_bytes, said[-1].unchanged_bytes))
    assert reports[0] == reports[1]
    assert reports[0]["added"] == 46
    assert len(reports[0]["failed"]) == 2
    assert made[0] == made[1]
    assert told[0] == told[1]


def test_what_was_read_counts_while_its_chunks_come(tmp_path: Path, folder: Path) -> None:
    said: list[IndexProgress] = []
    rows = folder / "rows.jsonl"
    limits = Limits(**ReadingSettings().model_dump())
    reading = Inputs([str(rows)], [], [], None, {}, tmp_path / "home", said.append, limits)
    for item in reading.incoming():
        assert isinstance(item, Incoming)
        assert len(list(item.documents())) == 41
        reading.encoded(7)
    assert [one.chunks for one in said[-2:]] == [7, 7]
    done = [one.done_bytes for one in said]
    assert done == sorted(done)
    assert done[-2] > 0
    assert done[-1] == rows.stat().st_size


def making(encoder: HashEncoder, **options: Any) -> bytes:
    recipe = recipes.get("rag")
    settings = recipe.configured({"encoder": encoder.name, **options})
    config = recipe.index_config(settings, Components.sketch(Models(own_encoder=encoder)))
    assert config is not None
    return described([(recipe, settings, config)], encoder)


def test_a_process_that_would_cut_otherwise_refuses(tmp_path: Path) -> None:
    recipe = recipes.get("rag")
    with pytest.raises(ThresherError, match="otherwise than this one; install the same version"):
        Making([(recipe, recipe.configured({}))], ["of another version"], None).configs()


def test_what_travels_says_how_to_cut() -> None:
    text = WORDS.format(1) * 20
    part = WorkUnit(documents=[Document("an id", "a.txt", "", text, "text")])
    whole, small = (prepared(making(HashEncoder(16), **{"chunk.size": size}), part).chunks for size in (5000, 200))
    assert (whole, small > 5) == (1, True)


def test_an_encoder_that_no_other_process_can_import_is_refused(tmp_path: Path, folder: Path) -> None:
    class Own(HashEncoder):
        name = "own"  # type: ignore[assignment]

    with thresher.open(tmp_path / "home", encoder=Own()) as collection:
        with pytest.raises(UsageError, match=r"encoder own: cannot be sent to another process .*index in one process"):
            collection.add(folder, processes=2)
        Own.__module__ = "__main__"
        Own.__qualname__ = "Own"
        with pytest.raises(UsageError, match="cannot be sent to another process"):
            collection.add(folder, processes=2)


@pytest.mark.parametrize("processes", [0, True, "2"])
def test_a_number_of_processes_that_is_none_is_refused(tmp_path: Path, folder: Path, processes: Any) -> None:
    with thresher.open(tmp_path / "home") as collection, pytest.raises(WrongType, match="a whole number from 1"):
        collection.add(folder, processes=processes)


def test_processes_and_a_cluster_exclude_each_other(tmp_path: Path, folder: Path) -> None:
    with thresher.open(tmp_path / "home") as collection, pytest.raises(UsageError, match="leave one of them out"):
        collection.add(folder, processes=2, on="auto")
