"""A collection of static vectors: made so once, asked so without another word, and mixed with no others."""

from __future__ import annotations

from pathlib import Path

import pytest

import thresher
from tests.conftest import Run
from thresher.errors import EncoderMismatch

FERRY = "The ferry to the island leaves from the north pier at 06:40. Bicycles travel free of charge."


@pytest.fixture
def home(tmp_path: Path) -> Path:
    (tmp_path / "ferry.txt").write_text(FERRY, encoding="utf-8")
    return tmp_path / "home"


def test_index_fast_makes_a_collection_that_every_command_asks_so(run: Run, home: Path, tmp_path: Path) -> None:
    assert run("index", "--fast", tmp_path / "ferry.txt", "--home", home).code == 0
    assert "06:40" in run("ask", "When does the ferry leave?", "--home", home).out
    (tmp_path / "mill.txt").write_text("The mill grinds rye on Mondays.", encoding="utf-8")
    assert run("index", tmp_path / "mill.txt", "--home", home).code == 0
    with thresher.open(home) as collection:
        assert {row["encoder"].partition("@")[0] for row in collection.tables()} == {"static"}
        assert collection.settings("corrective")["encoder"] == "static"


def test_the_bundled_encoder_takes_the_place_of_static_vectors(home: Path, tmp_path: Path) -> None:
    with thresher.open(home) as collection:
        collection.add(tmp_path / "ferry.txt", settings={"encoder": "static"})
        with pytest.raises(EncoderMismatch, match="made by static"):
            collection.ask("When does the ferry leave?", settings={"encoder": "bundled"})
        collection.add(tmp_path / "ferry.txt", settings={"encoder": "bundled"})
        assert collection.settings("corrective")["encoder"] == "bundled"
        assert "06:40" in collection.ask("When does the ferry leave?").text


def test_static_vectors_are_refused_beside_others(run: Run, home: Path, tmp_path: Path) -> None:
    assert run("index", tmp_path / "ferry.txt", "--home", home).code == 0
    ran = run("index", "--fast", tmp_path / "ferry.txt", "--home", home)
    assert ran.code == 1
    assert "gets no static ones; index into another collection, or without --fast" in ran.err
