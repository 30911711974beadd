"""Folders that hold what breaks a reader, and the collection's own home: what `index` makes of them."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

import thresher
from tests.conftest import Run

ABSURD_DATE = b"From: ann@example.com\nSubject: Oats\nDate: Mon, 02 Mar 99999999999999999999 10:00\n\nWords.\n"
BREAKING = {
    b"section.html": b"<p>Words <![foo[",
    b"charset.html": b'<meta charset="undefined"><p>Words',
    b"key.json": b'{"text": "Words.", "\\ud800": "x"}',
    b"front.md": b"---\nsize: " + b"[" * 5000 + b"]" * 5000 + b"\n---\nWords.",
    b"date.eml": ABSURD_DATE,
    b"caf\xe9.txt": b"Words.",
}
CORPUS = (
    b'{"_id": "good", "title": "Oats", "text": "Oats are sown in spring."}\n'
    b'{"_id": "title", "title": "\\ud800", "text": "Words."}\n'
    b'{"_id": "key", "text": "Words.", "\\ud800": "x"}\n'
)


@pytest.fixture
def barn(tmp_path: Path) -> Path:
    folder = tmp_path / "barn"
    folder.mkdir()
    (folder / "notes.txt").write_text("Rye is sown in autumn.")
    return folder


def test_whatever_a_reader_throws_is_that_files_line_and_the_rest_is_committed(barn: Path, run: Run) -> None:
    for name, data in BREAKING.items():
        with open(os.path.join(os.fsencode(barn), name), "wb") as file:
            file.write(data)
    (barn / "corpus.jsonl").write_bytes(CORPUS)
    home = barn.parent / "home"
    ran = run("index", barn, "--home", home, "--json")
    failed = {Path(line["source"]).name: line for line in ran.json["failed"]}
    assert ran.code == 3
    assert failed.keys() == {
        *(name.decode() for name in BREAKING if name.isascii()),
        r"caf\udce9.txt",
        "corpus.jsonl:2",
        "corpus.jsonl:3",
    }
    assert all(line["error"] and line["next"] and "\n" not in line["error"] for line in failed.values())
    with thresher.open(home) as collection:
        assert [record.title for record in collection.documents()] == ["Oats", "notes"]


@pytest.mark.parametrize("place", ["barn/.thresher", "barn/engine", "barn", "elsewhere"])
def test_a_home_inside_the_indexed_folder_is_not_indexed(barn: Path, place: str) -> None:
    home = barn.parent / place
    if place == "elsewhere":  # reached through a link
        home.mkdir()
        (barn / "link").symlink_to(home, target_is_directory=True)
    with thresher.open(home) as collection:
        assert [collection.add(barn).failed for _ in range(2)] == [[], []]
        assert [record.title for record in collection.documents()] == ["notes"]
