from __future__ import annotations

from pathlib import Path

from tests.documents import making
from tests.documents.making import read_all, refusal, save
from thresher.documents.sources import Limits
from thresher.errors import DocumentError
from thresher.types import Document

MAIL = "From: a@x.org\nSubject: {}\n\nThe keys are in drawer {}.\n>From there on.\n"
SEPARATOR = "From a@x.org Mon Jan  1 00:00:00 2024\n"


def documents(found: list[Document | DocumentError]) -> dict[str, Document]:
    return {one.source: one for one in found if isinstance(one, Document)}


def test_the_documents_of_an_archive_are_read_each_as_its_kind(tmp_path: Path) -> None:
    entries = {"a/notes.md": b"# Notes\n\nThe well is 41 m deep.", "rows.csv": b"Name,Room\nVera,B14\n"}
    data = making.archive({**entries, "a/": b"", "__MACOSX/a/._notes.md": b"x", ".hidden.txt": b"x"})
    item = save(tmp_path, "d.zip", data)
    found = documents(read_all(item))
    assert {name: one.kind for name, one in found.items()} == {
        f"{item.source}/a/notes.md": "markdown",
        f"{item.source}/rows.csv": "csv",
    }
    assert all(one.container == item.source for one in found.values())


def test_what_cannot_be_read_in_an_archive_is_an_error_of_its_own(tmp_path: Path) -> None:
    item = save(tmp_path, "d.zip", making.archive({"a.png": b"\x89PNG....", "b.txt": b"Oats are ripe."}))
    error, document = read_all(item)
    assert isinstance(error, DocumentError)
    assert error.subject == f"{item.source}/a.png"
    assert isinstance(document, Document)


def test_archives_in_archives_are_read_to_a_bound(tmp_path: Path) -> None:
    data = making.archive({"oats.txt": b"Oats are ripe."})
    for _ in range(2):
        data = making.archive({"inner.zip": data})
    assert len(documents(read_all(save(tmp_path, "d.zip", data)))) == 1
    for _ in range(2):
        data = making.archive({"inner.zip": data})
    (error,) = read_all(save(tmp_path, "e.zip", data))
    assert isinstance(error, DocumentError)
    assert "too many files" in error.what


def test_an_archive_that_unpacks_to_too_much_is_refused_wherever_it_lies(tmp_path: Path) -> None:
    bomb = making.archive({"zeros.txt": b"0" * 2_000_000})
    limits = Limits(max_unpacked_bytes=1_000_000)
    assert "bomb" in refusal(tmp_path, "d.zip", bomb, limits=limits).what
    (error,) = read_all(save(tmp_path, "e.zip", making.archive({"inner.zip": bomb})), limits=limits)
    assert isinstance(error, DocumentError)
    assert "bomb" in error.what


def test_each_mail_of_a_mailbox_is_a_document(tmp_path: Path) -> None:
    box = "".join(f"{SEPARATOR}{MAIL.format(name, number)}\n" for number, name in enumerate(("Keys", "Van"), start=8))
    first, second = documents(read_all(save(tmp_path, "m.mbox", box))).values()
    assert (first.title, second.title) == ("Keys", "Van")
    assert "drawer 9.\nFrom there on." in second.text
    assert second.source.endswith("m.mbox/2.eml")


def test_text_named_mbox_is_refused(tmp_path: Path) -> None:
    assert "not a mailbox" in refusal(tmp_path, "m.mbox", "From here to there.\n").what
