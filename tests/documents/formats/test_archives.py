from __future__ import annotations

import zipfile
from pathlib import Path

import pytest

from tests.documents import making
from tests.documents.making import read_all, refusal, save
from thresher.documents.sources import Limits
from thresher.errors import DocumentError
from thresher.types import Document


def test_the_documents_of_an_archive_are_read_each_as_its_kind(tmp_path: Path) -> None:
    entries = {"a/notes.md": b"# Notes\n\nThe well is 41 m deep.", "rows.csv": b"Name,Room\nVera,B14\n"}
    hidden = {"a/": b"", "__MACOSX/a/._notes.md": b"x", ".hidden.txt": b"x", "a.png": b"\x89PNG...."}
    item = save(tmp_path, "d.zip", making.archive({**entries, **hidden}))
    first, second, error = read_all(item)
    assert isinstance(first, Document)
    assert isinstance(second, Document)
    assert (first.source, first.kind, first.container) == (f"{item.source}/a/notes.md", "markdown", item.source)
    assert (second.source, second.kind) == (f"{item.source}/rows.csv", "csv")
    assert isinstance(error, DocumentError)
    assert error.subject == f"{item.source}/a.png"


def test_archives_in_archives_are_read_to_a_bound(tmp_path: Path) -> None:
    data = making.archive({"oats.txt": b"Oats are ripe."})
    for depth in range(1, 5):
        data = making.archive({"inner.zip": data})
        (found,) = read_all(save(tmp_path, f"{depth}.zip", data))
        assert isinstance(found, Document) if depth < 3 else "too many files" in str(found)


BOMB = making.archive({"word/document.xml": bytes(20_000_000), "[Content_Types].xml": b"<Types/>"})
NESTED = {f"word/embeddings/{n}.zip": b"x" for n in range(300)} | {"word/document.xml": b"<w/>"}


@pytest.mark.parametrize(
    ("data", "what", "limits"),
    [
        (making.archive({"word/document.xml": b"<broken", "[Content_Types].xml": b"<Types/>"}), "", Limits()),
        (BOMB, "archive bomb", Limits()),
        (BOMB, "unpacks to", Limits(max_unpacked_bytes=10**6)),
        (making.archive(NESTED, compression=zipfile.ZIP_STORED), "other archives", Limits()),
    ],
    ids=["damaged", "ratio", "size", "nested"],
)
def test_a_damaged_archive_and_a_bomb_are_refused(data: bytes, what: str, limits: Limits, tmp_path: Path) -> None:
    assert what in refusal(tmp_path, "a.docx", data, limits=limits).what


def test_an_archive_in_an_archive_that_unpacks_to_too_much_is_refused(tmp_path: Path) -> None:
    inner = making.archive({"zeros.txt": b"0" * 2_000_000})
    item = save(tmp_path, "e.zip", making.archive({"inner.zip": inner}))
    (error,) = read_all(item, limits=Limits(max_unpacked_bytes=1_000_000))
    assert "bomb" in str(error)
