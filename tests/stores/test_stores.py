"""Every store does what the contract says, and a collection keeps the store that it began with."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import thresher
from tests.stores.large import Large
from thresher.errors import StoreError, UsageError
from thresher.indexing.store import DocumentStore
from thresher.protocols import Store
from thresher.stores.lance import LanceStore
from thresher.stores.registry import RECORD, STORES
from thresher_testing.memory_store import MemoryStore
from thresher_testing.store_contract import Capabilities, StoreContract

MEMORY = {"store": "memory"}


class TestLance(StoreContract):
    def open_store(self, folder: Path) -> Store:
        return LanceStore(folder)


class TestLarge(StoreContract):
    def open_store(self, folder: Path) -> Store:
        return Large(folder)


class TestMemory(StoreContract):
    capabilities = Capabilities(bm25_tolerance=1e-5)  # sums in float64

    def open_store(self, folder: Path) -> Store:
        return MemoryStore(folder)


# --- the setting ------------------------------------------------------------------------------------------------------


@pytest.fixture
def memory() -> Iterator[None]:
    """The line that adds a store, for one test."""
    STORES["memory"] = MemoryStore
    yield
    del STORES["memory"]


@pytest.fixture
def home(tmp_path: Path) -> Path:
    (tmp_path / "files").mkdir()
    (tmp_path / "files" / "tower.txt").write_text("The tower of Kõpu was built in 1531.", encoding="utf-8")
    return tmp_path / "home"


@pytest.mark.usefixtures("memory")
def test_a_collection_keeps_its_store_whatever_the_surroundings_say(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    thresher.open(home).add(home.parent / "files", recipe="rag")
    monkeypatch.setenv("THRESHER_STORE", "memory")
    with thresher.open(home) as collection:
        assert len(collection.documents()) == 1
        assert collection.add(home.parent / "files", recipe="rag").unchanged == 1
        with pytest.raises(UsageError, match=r"was made with the store 'lance', not 'memory'; leave `store` out"):
            collection.search("x", recipe="rag", settings=MEMORY)
        assert collection.search("tower", recipe="rag", settings={"store": "lance"}).hits


@pytest.mark.usefixtures("memory")
def test_a_new_collection_is_made_with_the_store_of_the_call_before_that_of_the_surroundings(home: Path) -> None:
    home.mkdir()
    (home / "thresher.toml").write_text('store = "memory"\n', encoding="utf-8")
    thresher.open(home, "around").add(home.parent / "files", recipe="rag")
    thresher.open(home, "given").add(home.parent / "files", recipe="rag", settings={"store": "lance"})
    folders = home / "collections"
    assert (folders / "around" / RECORD).read_text(encoding="utf-8") == '{"store": "memory"}\n'
    assert (folders / "given" / "lance").is_dir()


def test_an_unknown_store_is_named_with_those_there_are(home: Path) -> None:
    with pytest.raises(UsageError, match="`store`: there is no store 'lanse'; use lance"):
        thresher.open(home).add(home.parent / "files", recipe="rag", settings={"store": "lanse"})
    assert not home.exists()


def test_a_collection_of_before_there_was_a_choice_is_on_lance(home: Path) -> None:
    thresher.open(home).add(home.parent / "files", recipe="rag")
    folder = home / "collections" / "default"
    (folder / RECORD).unlink()
    assert len(thresher.open(home).documents()) == 1
    assert thresher.open(home).add(home.parent / "files", recipe="rag").unchanged == 1
    assert not (folder / RECORD).exists()


def test_a_record_that_names_no_store_or_an_unknown_one_says_so(tmp_path: Path) -> None:
    (tmp_path / RECORD).write_text("{}", encoding="utf-8")
    with pytest.raises(StoreError, match="does not name a store"):
        DocumentStore(tmp_path).records()
    (tmp_path / RECORD).write_text('{"store": "gone"}', encoding="utf-8")
    with pytest.raises(UsageError, match=f"collection {tmp_path.name}: there is no store 'gone'"):
        DocumentStore(tmp_path).records()


def test_a_folder_that_cannot_be_made_is_an_error_in_words(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    with pytest.raises(StoreError, match=r"cannot be created .*choose another `home`"):
        DocumentStore(tmp_path / "file" / "collection").catalog()


def test_only_the_files_of_the_store_on_lance_know_lance() -> None:
    package = Path(thresher.__file__).parent
    knowing = {
        str(file.relative_to(package))
        for file in package.rglob("*.py")
        for line in file.read_text(encoding="utf-8").splitlines()
        if line.strip().startswith(("import lancedb", "from lancedb", "from thresher.stores.lance"))
    }
    assert {name for name in knowing if not name.startswith("stores/lance")} == {"stores/registry.py"}
