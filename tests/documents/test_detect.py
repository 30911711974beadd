from __future__ import annotations

from pathlib import Path

import pytest

from tests.documents import making
from tests.documents.making import parse_bytes, refusal, within
from thresher.types import Document

OLE = bytes.fromhex("d0cf11e0a1b11ae1") + bytes(600)


@pytest.mark.parametrize(
    ("data", "kind"),
    [
        (b"Just words.", "text"),
        (b"<!doctype html><p>Words.", "html"),
        (b'<?xml version="1.0"?>\n<!-- a --> <!-- b -->\n<html><p>Words.', "html"),
        (b'{"a": 1}', "json"),
        (b'{"a": 1}\n{"a": 2}\n', "jsonl"),
        (b'{"_id": "1", "text": "x"}\n{"_id": "2", "text": "y"}\n', "passage"),
        (making.pdf(["Words."]), "pdf"),
        (b"junk\n" + making.pdf(["Words."]), "pdf"),
        (making.word(), "docx"),
    ],
)
def test_standard_input_is_told_apart_by_its_content(data: bytes, kind: str) -> None:
    first = parse_bytes(data)[0]
    assert isinstance(first, Document)
    assert first.kind == kind


def test_comments_before_the_page_are_no_trap() -> None:
    with within():
        (document,) = parse_bytes(b"<!--" + b"-->" * 92 + b"x")  # 281 bytes
    assert isinstance(document, Document)
    assert document.kind == "text"


@pytest.mark.parametrize(
    ("name", "data", "really"),
    [
        ("a.txt", making.pdf(["Words."]), "named .txt but is a PDF"),
        ("a.pdf", b"Just words, no PDF.", "named .pdf but is text"),
        ("a.pdf", b"<html><p>Login page", "named .pdf but is HTML"),
        ("a.docx", making.workbook(), "named .docx but is an Excel workbook"),
        ("a.docx", making.archive({"x.txt": b"hello"}), "named .docx but is a zip archive"),
        ("a.docx", b"PK\x03\x04" + b"junk" * 50, "named .docx but is a damaged or cut off zip"),
        ("a.csv", b"\x89PNG\r\n\x1a\n" + bytes(100), "named .csv but is a PNG picture"),
        ("a.jpg", b"\xff\xd8\xff\xe0" + bytes(50), "is a JPEG picture, which is not read"),
        ("a.heic", b"\0\0\0\x18ftypheic" + bytes(50), "is a HEIF picture, which is not read"),
        ("a.avif", b"\0\0\0\x18ftypavif" + bytes(50), "is an AVIF picture, which is not read"),
        ("a.webp", b"RIFF\x24\0\0\0WEBPVP8 " + bytes(50), "is a WebP picture, which is not read"),
        ("a.bmp", b"BM" + bytes(50), "is a BMP picture, which is not read"),
        ("a.wav", b"RIFF\x24\0\0\0WAVEfmt " + bytes(50), "is a sound file, which is not read"),
        ("a.m4a", b"\0\0\0\x18ftypM4A " + bytes(50), "is a sound file, which is not read"),
        ("a.mp4", b"\0\0\0\x18ftypisom" + bytes(50), "is a video, which is not read"),
        ("a.gz", b"\x1f\x8b\x08\x00" + bytes(50), "is a gzip archive"),
        ("a.odt", making.archive({"mimetype": b"application/vnd.oasis.opendocument.text"}), "is an OpenDocument file"),
        ("a.doc", OLE, "old Office format"),
        ("a.docx", OLE + "EncryptedPackage".encode("utf-16-le"), "password"),
        ("a.bin", bytes(range(256)) * 20, "binary data"),
        ("a.txt", bytes(range(256)) * 20, "binary data"),
        ("noise", bytes(range(256)) * 20, "binary data"),
    ],
)
def test_what_is_no_document_is_told_with_what_it_really_is(
    name: str, data: bytes, really: str, tmp_path: Path
) -> None:
    assert really in refusal(tmp_path, name, data).what


@pytest.mark.parametrize(
    ("data", "step"),
    [
        (b"\x89PNG\r\n\x1a\n", "put it into a PDF, whose scanned pages are read where tesseract is installed"),
        (b"ID3" + bytes(50), "save its speech as text or subtitles"),
        (b"\0\0\0\x18ftypisom" + bytes(50), "save its speech as text or subtitles"),
        (b"{\\rtf1", "save it as PDF, docx, xlsx or text"),
    ],
)
def test_what_is_not_read_is_told_with_what_to_make_of_it(data: bytes, step: str, tmp_path: Path) -> None:
    assert refusal(tmp_path, "a", data).next_step == step


@pytest.mark.parametrize("name", ["a.json", "a.jsonl"])
def test_invalid_utf8_is_refused_with_its_place(name: str, tmp_path: Path) -> None:
    error = refusal(tmp_path, name, b'["caf\xe9", 1]')
    assert error.what == "not valid UTF-8 at byte 5 (0xE9)"
    assert "UTF-8" in error.next_step
