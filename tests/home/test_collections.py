"""The collections of a home, from Python: listed, renamed, dropped, copied, written and read."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

import thresher
from thresher.errors import StoreError, UsageError, WrongType

QUESTION = "When was the Kõpu lighthouse built?"


def test_collections_are_listed_with_their_sizes(home: Path) -> None:
    (one,) = thresher.collections(home)
    assert (one.name, one.documents) == ("default", 3)
    assert one.bytes > 1000
    assert "default" in thresher.collections(home)
    assert len(thresher.collections(home / "nowhere")) == 0


def test_a_collection_is_renamed_copied_and_dropped_and_still_answers(home: Path) -> None:
    there = thresher.collections(home)
    there.rename("default", "towers")
    there.copy("towers", "again")
    assert there.names == ["again", "towers"]
    there.drop("towers")
    assert there.names == ["again"]
    with thresher.open(home, "again") as opened:
        assert "1531" in opened.ask(QUESTION, recipe="rag").text


def test_a_change_clears_away_what_a_process_that_died_left_and_an_empty_folder_gives_way(home: Path) -> None:
    left, alive = (home / "collections" / f".working-{pid}-towers" for pid in (2**22 + 1, os.getpid()))
    for folder in (left, alive, home / "collections" / "towers"):
        folder.mkdir()
    thresher.collections(home).rename("default", "towers")
    assert (left.exists(), alive.exists()) == (False, True)
    assert thresher.collections(home).names == ["towers"]


def test_what_cannot_be_is_told(home: Path) -> None:
    there = thresher.collections(home)
    with pytest.raises(StoreError, match="there are: default"):
        there.drop("defualt")
    with pytest.raises(UsageError, match="is there already"):
        there.copy("default", "default")
    with pytest.raises(WrongType, match="`name`: is 5"):
        there.drop(5)  # type: ignore[arg-type]
    with pytest.raises(WrongType, match="`home`: is 5"):
        thresher.collections(5)  # type: ignore[arg-type]
