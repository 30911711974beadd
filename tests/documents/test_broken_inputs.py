from __future__ import annotations

import contextlib
import json
import os
import stat
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.documents.making import needs_papers, read_all, read_one, refusal, save
from thresher.documents.formats.extractor import failure
from thresher.documents.read import fetch
from thresher.documents.sources import Item, Limits
from thresher.errors import DocumentError

from . import making

SMALL = Limits(max_bytes=10_000, max_unpacked_bytes=50_000)


@needs_papers
@pytest.mark.parametrize("name", ["2304.01373.pdf", "2309.01219.pdf"])
def test_a_truncated_paper_is_refused(name: str, tmp_path: Path) -> None:
    assert "cut off" in refusal(tmp_path, name, (making.PAPERS / "broken" / name).read_bytes()).what


def test_a_truncated_pdf_is_refused(tmp_path: Path) -> None:
    data = making.pdf(["A page.", "Another page."])
    assert "damaged or cut off" in refusal(tmp_path, "a.pdf", data[: len(data) // 2]).what


@pytest.mark.parametrize("data", [b"", b" \n\t\n"])
def test_an_empty_file_is_refused(data: bytes, tmp_path: Path) -> None:
    assert refusal(tmp_path, "a.txt", data).what == "the file is empty"


def test_a_file_of_invisible_characters_is_refused(tmp_path: Path) -> None:
    assert "no text" in refusal(tmp_path, "a.txt", "\ufeff\u200b\u00ad").what


def test_an_encrypted_pdf_is_refused(tmp_path: Path) -> None:
    assert "password" in refusal(tmp_path, "a.pdf", making.pdf(["Secret."], encrypt="key")).what


def test_a_pdf_without_pages_is_refused(tmp_path: Path) -> None:
    assert "no pages" in refusal(tmp_path, "a.pdf", making.blank_pdf(0)).what


@pytest.mark.parametrize(
    ("name", "data", "really"),
    [
        ("a.txt", making.pdf(["Words."]), "a PDF"),
        ("a.pdf", b"Just words, no PDF.", "text"),
        ("a.pdf", b"<html><p>Login page", "HTML"),
        ("a.docx", making.workbook(), "an Excel workbook"),
        ("a.docx", making.archive({"x.txt": b"hello"}), "a zip archive"),
        ("a.docx", b"PK\x03\x04" + b"junk" * 50, "damaged or cut off zip"),
        ("a.csv", b"\x89PNG\r\n\x1a\n" + bytes(100), "a PNG picture"),
    ],
)
def test_a_wrong_extension_is_told_with_what_the_file_really_is(
    name: str, data: bytes, really: str, tmp_path: Path
) -> None:
    what = refusal(tmp_path, name, data).what
    assert name[1:] in what
    assert really in what


@pytest.mark.parametrize("name", ["a.bin", "a.txt", "noise"])
def test_binary_junk_is_refused(name: str, tmp_path: Path) -> None:
    assert "binary data" in refusal(tmp_path, name, bytes(range(256)) * 20).what


def test_pictures_and_archives_are_refused_by_name(tmp_path: Path) -> None:
    assert "a JPEG picture, which is not read" in refusal(tmp_path, "a.jpg", b"\xff\xd8\xff\xe0" + bytes(50)).what
    assert "a gzip archive" in refusal(tmp_path, "a.gz", b"\x1f\x8b\x08\x00" + bytes(50)).what


def test_an_old_office_file_is_refused(tmp_path: Path) -> None:
    assert "old Office format" in refusal(tmp_path, "a.doc", bytes.fromhex("d0cf11e0a1b11ae1") + bytes(600)).what


def test_an_encrypted_word_file_is_refused(tmp_path: Path) -> None:
    data = bytes.fromhex("d0cf11e0a1b11ae1") + bytes(600) + "EncryptedPackage".encode("utf-16-le")
    assert "password" in refusal(tmp_path, "a.docx", data).what


@pytest.mark.parametrize("name", ["a.txt", "a.md", "a.csv", "a.json", "a.jsonl"])
def test_invalid_utf8_is_refused_with_its_place(name: str, tmp_path: Path) -> None:
    error = refusal(tmp_path, name, b'["caf\xe9", 1]')
    assert error.what == "not valid UTF-8 at byte 5 (0xE9)"
    assert "UTF-8" in error.next_step


def test_malformed_json_is_refused_with_its_place(tmp_path: Path) -> None:
    assert "line 2, column 3" in refusal(tmp_path, "a.json", '{"a": 1,\n  b}').what


def test_a_bad_line_of_json_lines_refuses_the_file(tmp_path: Path) -> None:
    assert refusal(tmp_path, "a.jsonl", '{"a": 1}\n{"a": }\n{"a": 3}').what.startswith("line 2: malformed JSON")


@pytest.mark.parametrize("depth", [300, 100_000])
def test_deeply_nested_json_is_refused(depth: int, tmp_path: Path) -> None:
    assert "nested" in refusal(tmp_path, "a.json", "[" * depth + "]" * depth).what


def test_a_number_of_thousands_of_digits_is_refused(tmp_path: Path) -> None:
    assert "malformed JSON" in refusal(tmp_path, "a.json", "[" + "9" * 10_000 + "]").what


@pytest.mark.parametrize("html", ["<html><head><title>T</title></head></html>", "<html><script>run()</script></html>"])
def test_html_without_text_is_refused(html: str, tmp_path: Path) -> None:
    assert refusal(tmp_path, "a.html", html).what == "the HTML has no text"


def test_deeply_nested_html_is_refused(tmp_path: Path) -> None:
    assert "too deeply" in refusal(tmp_path, "a.html", "<div>" * 50_000 + "x").what


def test_text_named_eml_is_refused(tmp_path: Path) -> None:
    assert "not an e-mail" in refusal(tmp_path, "a.eml", "Just words.\n\nMore words.").what


def test_an_office_file_without_text_is_refused(tmp_path: Path) -> None:
    import io

    import openpyxl

    buffer = io.BytesIO()
    openpyxl.Workbook().save(buffer)
    assert "no text" in refusal(tmp_path, "a.xlsx", buffer.getvalue()).what


def test_a_damaged_office_file_is_refused(tmp_path: Path) -> None:
    data = making.archive({"word/document.xml": b"<broken", "[Content_Types].xml": b"<Types/>"})
    assert refusal(tmp_path, "a.docx", data).what


def test_a_vanished_file_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "gone.txt"
    with pytest.raises(DocumentError, match="the file is gone"):
        fetch(Item(path.as_posix(), path.as_posix(), path))


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


def test_a_folder_a_pipe_and_a_device_are_refused(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    assert stat.S_ISFIFO((tmp_path / "pipe").stat().st_mode)
    for path in (tmp_path, tmp_path / "pipe", Path("/dev/null")):
        with pytest.raises(DocumentError, match=r"is a folder|no regular file"):
            fetch(Item(path.as_posix(), path.as_posix(), path))


def test_a_file_over_the_limit_is_refused_before_it_is_read(tmp_path: Path) -> None:
    path = tmp_path / "big.txt"
    with path.open("wb") as file:
        file.truncate(10**12)  # sparse: reading it would take all memory
    with pytest.raises(DocumentError, match="too large"):
        fetch(Item(path.as_posix(), path.as_posix(), path))


def test_an_archive_bomb_is_refused_by_its_directory(tmp_path: Path) -> None:
    parts = {"word/document.xml": bytes(20_000_000), "[Content_Types].xml": b"<Types/>"}
    assert "archive bomb" in refusal(tmp_path, "a.docx", making.archive(parts)).what
    assert (
        "unpacks to" in refusal(tmp_path, "b.docx", making.archive(parts), limits=Limits(max_unpacked_bytes=10**6)).what
    )


def test_an_archive_full_of_archives_is_refused(tmp_path: Path) -> None:
    parts = {f"word/embeddings/{n}.zip": b"x" for n in range(300)} | {"word/document.xml": b"<w/>"}
    assert "other archives" in refusal(tmp_path, "a.docx", making.archive(parts, compression=zipfile.ZIP_STORED)).what


@pytest.mark.parametrize("filters", [1, 2])
def test_a_pdf_bomb_is_refused_before_it_is_unpacked(filters: int, tmp_path: Path) -> None:
    body = bytes(10_000_000)
    for _ in range(filters):
        body = zlib.compress(body)
    names = b"/FlateDecode " * filters
    stream = b"5 0 obj <</Filter [%s] /Length %d>> stream\n%s\nendstream endobj" % (names, len(body), body)
    data = making.pdf(["Words."]).replace(b"%%EOF", stream + b"\n%%EOF")
    assert "PDF bomb" in refusal(tmp_path, "a.pdf", data, limits=Limits(max_unpacked_bytes=10**6)).what


def test_a_pdf_without_a_text_layer_asks_for_tesseract(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    error = refusal(tmp_path, "a.pdf", making.blank_pdf(2))
    assert error.what == "no text layer (scanned?)"
    assert "tesseract" in error.next_step


def test_pages_without_text_are_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    document = read_one(save(tmp_path, "a.pdf", making.pdf(["Words.", "", ""])))
    assert document.metadata["pages_without_text"] == 2
    assert len(document.pages) == 3


TESSERACT = """#!/bin/sh
if [ "$1" = "--list-langs" ]; then printf 'List of languages\\ndeu\\neng\\nosd\\n'; exit 0; fi
head -c 8 | grep -q PNG || exit 1
echo "read by $4"
"""


def test_scanned_pages_are_read_by_tesseract_where_it_is_installed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    command = tmp_path / "tesseract"
    command.write_text(TESSERACT)
    command.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    document = read_one(save(tmp_path, "a.pdf", making.pdf(["Words of the first page.", ""])))
    assert document.text == "Words of the first page.\n\nread by eng+deu"
    assert document.metadata["pages_by_ocr"] == 1


def test_an_ocr_that_fails_refuses_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    command = tmp_path / "tesseract"
    command.write_text("#!/bin/sh\n[ \"$1\" = --list-langs ] && printf 'x\\neng\\n' && exit 0\nexit 1\n")
    command.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    assert "OCR of page 1 failed" in refusal(tmp_path, "a.pdf", making.blank_pdf(1)).what


@pytest.mark.parametrize("message", ["weird\nsecond line", "timed out after 3s", "", "PdfiumLibraryInternalError"])
def test_every_message_of_the_extractor_becomes_one_line_with_a_next_step(message: str) -> None:
    error = failure(message, "application/pdf")
    assert error.next_step
    assert "\n" not in str(error)


def test_a_file_that_fails_gives_no_document_at_all(tmp_path: Path) -> None:
    item = save(tmp_path, "a.jsonl", json.dumps({"a": 1}) + "\nbroken")
    data, hints = fetch(item)
    from thresher.documents.read import parse

    with pytest.raises(DocumentError):
        parse(item, data, hints)  # at once, before any document is asked for


def test_junk_of_every_kind_is_refused_and_never_crashes(tmp_path: Path) -> None:
    samples = {
        "pdf": making.pdf(["Words of a page."] * 3),
        "docx": making.word(),
        "xlsx": making.workbook(),
        "pptx": making.slides(),
        "epub": making.book(),
        "eml": making.mail(),
    }
    for extension, data in samples.items():
        for step in range(1, 8):
            cut = len(data) * step // 8
            for broken in (data[:cut], data[:cut] + bytes(64) + data[cut + 64 :]):
                item = save(tmp_path, f"a.{extension}", broken)
                with contextlib.suppress(DocumentError):
                    read_all(item, limits=SMALL if step % 2 else Limits())
