"""Upkeep of a Lance table: by increments, beside whoever changes the table, and exact when it has ended."""

from __future__ import annotations

import math
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from threading import Thread

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.indexing.making import ENCODER, row
from tests.stores.large import small_and_large
from thresher.errors import StoreError
from thresher.stores.lance import COUNTED, LanceChunkTable, LanceStore, holding
from thresher.stores.lance_manifest import names_other_places
from thresher.stores.lance_memory import Memory
from thresher.stores.lance_upkeep import Segment, check_versions, newest, to_build
from thresher.testing.fakes import HashEncoder

# --- what is built anew -----------------------------------------------------------------------------------------------


def pieces(*described: tuple[int, bool]) -> list[Segment]:
    """Pieces of one file each, from their rows and whether a segment is wanted."""
    return [Segment((file,), rows, wanted) for file, (rows, wanted) in enumerate(described)]


@pytest.mark.parametrize(
    ("table", "built"),
    [
        pytest.param(pieces((100, False), (80, False), (3, False)), [], id="a sound table"),
        pytest.param(pieces((600, False), (3, True)), [Segment((1,), 3, True)], id="a large segment stays"),
        pytest.param(
            pieces((600, False), (4, False), (4, True)), [Segment((1, 2), 8, True)], id="joined with as many rows"
        ),
        pytest.param(pieces((900, False), (899, True), (900, False)), [Segment((1,), 899, True)], id="a deletion"),
        pytest.param(pieces((700, False), (700, True)), [Segment((1,), 700, True)], id="none beyond the most"),
    ],
)
def test_the_segments_are_built_that_a_change_touched(table: list[Segment], built: list[Segment]) -> None:
    assert to_build(table, 1000) == built


@given(st.integers(1, 40), st.integers(1, 300))
def test_a_row_is_indexed_a_logarithmic_number_of_times_while_a_table_grows(batch: int, batches: int) -> None:
    most = 2048
    table: list[Segment] = []
    built = 0
    for file in range(batches):
        new = to_build([*table, Segment((file,), batch, wanted=True)], most)
        built += sum(piece.rows for piece in new)
        covered = {one for piece in new for one in piece.files}
        table = [piece for piece in table if not covered & set(piece.files)]
        table += [Segment(piece.files, piece.rows, wanted=False) for piece in new]
    assert [one for piece in table for one in piece.files] == list(range(batches))
    assert built <= batch * batches * (math.log2(most / batch) + 2)
    assert len(table) <= 2 * batch * batches / most + math.log2(most) + 1


def test_pylance_has_to_be_the_lance_inside_lancedb() -> None:
    check_versions("0.40.1", "13.0.0")
    for lancedb, pylance in (("0.40.0", "13.1.0"), ("0.41.0", "13.0.0")):
        with pytest.raises(StoreError, match="is not the Lance inside") as error:
            check_versions(lancedb, pylance)
        assert "lancedb 0.40 goes with pylance 13.0.0" in error.value.next_step


# --- counts -----------------------------------------------------------------------------------------------------------


@given(st.integers(1, 5_000_000), st.data())
def test_how_many_chunks_hold_a_term_is_read_off_its_weight(chunks: int, data: st.DataObject) -> None:
    number = data.draw(st.integers(1, chunks))
    idf = np.log(np.float32(1) + np.float32(chunks - number + 0.5) / np.float32(number + 0.5))
    assert holding(float(idf), chunks) == number


def grown(table: LanceChunkTable, start: int, rows: int) -> None:
    """Rows that all hold `grain`, and every third `chaff`, a document for every five."""
    vector = ENCODER.encode_query("x")
    made = (
        row(f"c{n:05}", f"grain {'chaff' if n % 3 else 'husk'} {n}", document_id=f"d{n // 5}")
        for n in range(start, start + rows)
    )
    table.append([replace(one, vector=vector) for one in made])


def counted(table: LanceChunkTable) -> dict[str, int]:
    """The frequencies of three words, and how many chunks hold them."""
    return table.document_frequencies("grain chaff husk")


def really(table: LanceChunkTable) -> dict[str, int]:
    """The same by reading every chunk."""
    texts = [chunk.text.split() for batch in table.chunks() for chunk, _ in batch]
    return {word: sum(word in text for text in texts) for word in ("grain", "chaff", "husk")}


@small_and_large
def test_the_frequencies_of_common_terms_are_exact_before_and_after_upkeep(table: LanceChunkTable) -> None:
    grown(table, 0, COUNTED + 500)
    table.maintain()
    assert counted(table) == really(table)
    table.delete(["d7", "d90"])
    grown(table, 9000, 40)
    assert table.stale()
    assert counted(table) == really(table)
    table.maintain()
    assert counted(table) == really(table)


# --- small and large --------------------------------------------------------------------------------------------------


def test_a_table_that_grows_large_and_shrinks_again_counts_what_it_holds(table: LanceChunkTable) -> None:
    for start in range(0, 300, 100):
        grown(table, start, 100)
        table.large_rows = 150
        table.maintain()
        assert table.stale() == []
        assert counted(table) == really(table)
    assert [index.num_segments for index in table._table.list_indices() if index.name == "terms_idx"] > [1]
    table.delete([f"d{number}" for number in range(40)])
    table.maintain()
    assert table.stale() == []
    assert (table.count(), counted(table)) == (100, really(table))


WITHOUT_PYLANCE = """
import sys

class Absent:
    def find_spec(self, name, *_):
        if name == "lance":
            raise ModuleNotFoundError("No module named 'lance'")

sys.meta_path.insert(0, Absent())

from pathlib import Path
from tests.indexing.making import ENCODER, row
from thresher.errors import MissingExtra
from thresher.stores.lance import LanceStore

store = LanceStore(Path(sys.argv[1]))
store.create("chunks_t", dimension=ENCODER.dimension)
table = store.open("chunks_t")
records = store.records("documents", key="id", columns={"id": "text"})
for start in (0, 20):
    table.append([row(f"c{n}", f"grain {n}", document_id=f"d{n}") for n in range(start, start + 20)])
    records.append([{"id": f"d{n}"} for n in range(start, start + 20)])
    table.maintain()
table.delete(["d3"])
records.merge([], remove=["d3"])
print(sorted(records.past("id"))[-1], table.is_foreign, len(table.stale()))
for one in (table, records):
    one.maintain(drop_versions=True)
print(table.stale(), table.versions, table.count(), [chunk.id for chunk, _ in table.matching("grain 7", limit=1)])
table.large_rows = 30
try:
    table.maintain()
except MissingExtra as error:
    print(error)
"""


def test_only_a_large_table_wants_pylance_and_says_so(tmp_path: Path) -> None:
    asked = [sys.executable, "-c", WITHOUT_PYLANCE, str(tmp_path)]
    done = subprocess.run(asked, cwd=Path(__file__).parents[2], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == [
        "d9 False 1",
        "[] 1 39 ['c7']",
        "the upkeep of chunks_t, which has 39 rows: the package 'pylance' is not installed; "
        "in a checkout: pip install '.[large]'",
    ]


def test_a_table_whose_data_lie_elsewhere_is_known_by_its_manifest(store: LanceStore, table: LanceChunkTable) -> None:
    assert not table.is_foreign
    newest(table._table).shallow_clone(f"{table._table.uri[: -len('chunks_t.lance')]}chunks_u.lance", reference=None)
    assert store.open("chunks_u").is_foreign
    for broken in (b"", b"x" * 40, b"\x08\xff" * 8 + bytes(8) + b"\0\0\0\0LANC"):
        with pytest.raises(ValueError, match="manifest of Lance"):
            names_other_places(broken)


# --- beside others ----------------------------------------------------------------------------------------------------


@pytest.mark.slow
@small_and_large
def test_upkeep_goes_on_beside_deletions_additions_and_questions(table: LanceChunkTable, tmp_path: Path) -> None:
    for start in range(0, 2000, 100):
        grown(table, start, 100)
    failed: list[BaseException] = []

    def change() -> None:
        other = LanceStore(tmp_path / "lance").open("chunks_t")
        try:
            for n in range(0, 40):
                other.delete([f"d{n}"])
                grown(other, 5000 + 10 * n, 10)
                assert len(other.matching("chaff", limit=5)) == 5
        except BaseException as error:
            failed.append(error)

    changing = Thread(target=change)
    changing.start()
    while changing.is_alive():
        table.maintain()
    changing.join()
    assert failed == []
    table.maintain()
    assert table.stale() == []
    assert table.count() == 2000 - 200 + 400
    assert counted(table) == really(table)


KILLED = """
import sys
from pathlib import Path
from thresher.stores.lance import LanceStore
table = LanceStore(Path(sys.argv[1]), ann_rows=1000).open("chunks_k")
table.large_rows = int(sys.argv[2])
print("begun", flush=True)
table.maintain()
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("seconds", "large_rows"), [(0.0, 0), (0.1, 0), (0.3, 0), (0.6, 0), (1.0, 0), (0.1, 32_768), (0.3, 32_768)]
)
def test_upkeep_that_is_killed_loses_nothing(tmp_path: Path, seconds: float, large_rows: int) -> None:
    encoder = HashEncoder(64)
    store = LanceStore(tmp_path, ann_rows=1000)
    store.create("chunks_k", dimension=64)
    opened = store.open("chunks_k")
    for start in range(0, 12_000, 2000):
        numbers = range(start, start + 2000)
        vectors = encoder.encode([f"v{n}" for n in numbers])
        made = [row(f"c{n}", f"grain number{n}", document_id=f"d{n // 5}") for n in numbers]
        opened.append([replace(one, vector=vector) for one, vector in zip(made, vectors, strict=True)])
    with subprocess.Popen(
        [sys.executable, "-c", KILLED, str(tmp_path), str(large_rows)], stdout=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"begun\n"
        time.sleep(seconds)  # whatever it is at by then
        os.kill(process.pid, signal.SIGKILL)
    again = LanceStore(tmp_path, ann_rows=1000).open("chunks_k")
    assert again.count() == 12_000
    assert [chunk.id for chunk, _ in again.matching("number7777", limit=3)] == ["c7777"]
    again.maintain()
    assert again.stale() == []
    assert again.document_frequencies("grain") == {"grain": 12_000}
    assert [chunk.id for chunk, _ in again.nearest(encoder.encode_query("v4321"), limit=1)] == ["c4321"]


# --- memory -----------------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_the_rows_of_tables_go_from_memory_where_others_need_the_room(tmp_path: Path) -> None:
    memory = Memory(2)
    store = LanceStore(tmp_path, memory=memory)
    opened = []
    for name in ("chunks_a", "chunks_b", "chunks_c"):
        store.create(name, dimension=ENCODER.dimension)
        opened.append(store.open(name))
        text = "grain and chaff " * 180
        opened[-1].append([row(f"c{n}", f"{text} {n}") for n in range(70)])
    assert memory.rows(ENCODER.dimension) > 70
    for one in opened:
        for _ in range(2):
            one.nearest(ENCODER.encode_query("grain"), limit=1)
    assert [memory.of(one) is not None for one in opened] == [False, True, True]
    assert opened[0].nearest(ENCODER.encode_query("grain"), limit=3)


def test_a_table_that_memory_has_no_room_for_is_searched_on_disk(tmp_path: Path) -> None:
    memory = Memory(1)
    store = LanceStore(tmp_path, memory=memory)
    store.create("chunks_a", dimension=ENCODER.dimension)
    opened = store.open("chunks_a")
    rows = memory.rows(ENCODER.dimension) + 1
    grown(opened, 0, rows)
    assert "the vector index is missing" in opened.stale()
    for _ in range(3):
        assert len(opened.nearest(ENCODER.encode_query("x"), limit=5)) == 5
    assert memory.of(opened) is None
