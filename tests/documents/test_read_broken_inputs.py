"""Inputs that cannot be read, one way or another: each is refused in one line that says what to do."""

from __future__ import annotations

import contextlib
import io
import os
import tarfile
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path

import openpyxl
import pytest

import thresher
from tests.conftest import Run
from tests.documents import hostile, making
from tests.documents.making import needs_papers, read_all, read_one, refusal, save
from thresher.documents.registry import FileKind
from thresher.documents.sources import Item, Limits, fetch
from thresher.errors import DocumentError
from thresher.types import Document

SMALL = Limits(max_bytes=10_000, max_unpacked_bytes=50_000)


@needs_papers
@pytest.mark.parametrize("name", ["2304.01373.pdf", "2309.01219.pdf"])
def test_a_truncated_paper_is_refused(name: str, tmp_path: Path) -> None:
    assert "cut off" in refusal(tmp_path, name, (making.PAPERS / "broken" / name).read_bytes()).what


@pytest.mark.parametrize(
    ("data", "what"), [(b"", "is empty"), (b" \n\t\n", "is empty"), ("\ufeff\u200b\u00ad".encode(), "no text")]
)
def test_a_file_without_anything_to_read_is_refused(data: bytes, what: str, tmp_path: Path) -> None:
    assert what in refusal(tmp_path, "a.txt", data).what
    assert "no text" in refusal(tmp_path, "a.xlsx", making.saved(openpyxl.Workbook())).what


# --- files that cannot be had -----------------------------------------------------------------------------------------


@contextlib.contextmanager
def as_nobody() -> Iterator[None]:
    """Root may read everything, so for a moment we are not."""
    if os.geteuid() == 0:
        os.seteuid(65534)
        try:
            yield
        finally:
            os.seteuid(0)
    else:
        yield


def test_a_file_that_may_not_be_read_is_refused(tmp_path: Path) -> None:
    item = save(tmp_path, "a.txt", "secret")
    assert item.path is not None
    item.path.chmod(0)
    with as_nobody(), pytest.raises(DocumentError, match="permission denied"):
        fetch(item)


def test_what_is_no_file_is_refused(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with (tmp_path / "big.txt").open("wb") as file:
        file.truncate(10**12)  # sparse: reading it would take all memory
    for path, what in (
        (tmp_path, "is a folder"),
        (tmp_path / "pipe", "no regular file"),
        (Path("/dev/null"), "no regular file"),
        (tmp_path / "gone.txt", "the file is gone"),
        (tmp_path / "big.txt", "too large"),
    ):
        with pytest.raises(DocumentError, match=what):
            fetch(Item(path.as_posix(), path.as_posix(), path))


# --- junk -------------------------------------------------------------------------------------------------------------

WHOLE = {
    "pdf": making.pdf(["Words of a page."] * 3),
    "docx": making.word(),
    "xlsx": making.workbook(),
    "pptx": making.slides(),
    "epub": making.book(),
}


@pytest.mark.parametrize("extension", WHOLE)
def test_a_file_that_is_cut_off_is_refused(extension: str, tmp_path: Path) -> None:
    data = WHOLE[extension]
    for step in range(1, 8):
        refusal(tmp_path, f"a.{extension}", data[: len(data) * step // 8], limits=SMALL if step % 2 else Limits())


@pytest.mark.parametrize("extension", WHOLE)
def test_a_file_with_a_hole_is_refused_or_read_without_what_was_there(extension: str, tmp_path: Path) -> None:
    data = WHOLE[extension]
    for step in range(1, 8):
        at = len(data) * step // 8
        item = save(tmp_path, f"a.{extension}", data[:at] + bytes(64) + data[at + 64 :])
        with contextlib.suppress(DocumentError):
            making.spans_hold(read_one(item))


def test_a_mail_that_is_cut_off_is_read_as_far_as_it_goes(tmp_path: Path) -> None:
    data = making.mail()
    for step in range(1, 8):
        document, *_ = read_all(save(tmp_path, "a.eml", data[: len(data) * step // 8]))
        assert isinstance(document, Document)
        assert document.text.startswith("From: Ann")


# --- folders with what breaks a reader, and with the collection's own home --------------------------------------------

BREAKING = {
    b"charset.html": b'<meta charset="undefined"><p>Words',
    b"key.json": b'{"text": "Words.", "\\ud800": "x"}',
    b"front.md": b"---\nsize: " + b"[" * 5000 + b"]" * 5000 + b"\n---\nWords.",
    b"words.bad": b"Words.",
    b"caf\xe9.txt": b"Words.",
    b"book.epub": hostile.nested_book(),
    b"deck.pptx": hostile.nested_slides(),
    b"wide.docx": hostile.wide_cell(),
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


def test_whatever_a_reader_throws_is_that_files_line_and_the_rest_is_committed(
    barn: Path, run: Run, registering: Callable[[FileKind], None]
) -> None:
    registering(FileKind("bad", "bad", (".bad",), ("x/bad",), "tests.documents.readers:fail"))
    for name, data in BREAKING.items():
        with open(os.path.join(os.fsencode(barn), name), "wb") as file:
            file.write(data)
    (barn / "corpus.jsonl").write_bytes(CORPUS)
    (barn / "far.xlsx").write_bytes(hostile.far_cell())  # two cells far apart are a sheet like any other
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
        assert [record.title for record in collection.documents()] == ["Oats", "far", "notes"]


@pytest.mark.parametrize("place", ["barn/.thresher", "barn/engine", "barn", "elsewhere"])
def test_a_home_inside_the_indexed_folder_is_not_indexed(barn: Path, place: str) -> None:
    home = barn.parent / place
    if place == "elsewhere":  # reached through a link
        home.mkdir()
        (barn / "link").symlink_to(home, target_is_directory=True)
    with thresher.open(home) as collection:
        assert [collection.add(barn).failed for _ in range(2)] == [[], []]
        assert [record.title for record in collection.documents()] == ["notes"]


# --- archives, and those that unpack to too much ----------------------------------------------------------------------


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


def test_of_a_tar_archive_the_files_are_read_and_no_link_and_one_cut_off_is_refused(tmp_path: Path) -> None:
    (tmp_path / "notes.md").write_text("# Notes\n\nThe well is 41 m deep.")
    (tmp_path / "link.md").symlink_to("notes.md")
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as archive:
        for name in ("notes.md", "link.md"):
            archive.add(tmp_path / name, f"a/{name}")
    item = save(tmp_path, "d.tar", packed.getvalue())
    document = read_one(item)
    assert (document.source, document.kind) == (f"{item.source}/a/notes.md", "markdown")
    assert "damaged or cut off" in refusal(tmp_path, "e.tar", packed.getvalue()[:520]).what


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
