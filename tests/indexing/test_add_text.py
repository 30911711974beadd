"""A text of a program as a document, under a source that the program chose."""

from __future__ import annotations

from pathlib import Path

import pytest

import thresher
from thresher.errors import UsageError

BEFORE, AFTER = "The cellar has no light.\n\nBring a lamp.", "The cellar has a light since May."


def test_a_text_is_found_cited_replaced_and_deleted_under_its_source(tmp_path: Path) -> None:
    with thresher.open(tmp_path) as collection:
        report = collection.add_text(BEFORE, source="note:1", title="Cellar", metadata={"author": "Ada"}, recipe="rag")
        assert (report.added, report.failed) == (1, [])
        (record,) = collection.documents()
        assert (record.source, record.title, record.metadata["author"]) == ("note:1", "Cellar", "Ada")
        hit = collection.search("Is there a lamp in the cellar?", recipe="rag").hits[0]
        assert (hit.chunk.source, "lamp" in hit.chunk.text) == ("note:1", True)
        assert collection.add_text(BEFORE, source="note:1", title="Cellar", metadata={"author": "Ada"}).unchanged == 1
        assert collection.add_text(AFTER, source="note:1", title="Cellar").updated == 1
        assert [collection.document(one.id).text for one in collection.documents()] == [AFTER]
        failed = collection.add_text(" \n", source="note:2", recipe="rag").failed
        assert [error.subject for error in failed] == ["note:2"]
        assert collection.delete("note:1") == ["note:1"]
        assert collection.documents() == []


@pytest.mark.parametrize(
    ("text", "source", "words"),
    [("Text.", " ", "source"), (7, "note:1", "a text"), ("\ud800", "note:1", "half of a surrogate pair")],
)
def test_what_is_no_text_or_has_no_source_is_refused(tmp_path: Path, text: str, source: str, words: str) -> None:
    with thresher.open(tmp_path) as collection, pytest.raises(UsageError, match=words):
        collection.add_text(text, source=source)
