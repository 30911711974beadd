from __future__ import annotations

from pathlib import Path

import pytest

from tests.documents import making
from tests.documents.making import parse_bytes, read_one, refusal, save, within
from thresher.documents.cleaning import decode
from thresher.types import Document

OLE = bytes.fromhex("d0cf11e0a1b11ae1") + bytes(600)
NOISE = bytes(range(256)) * 20


@pytest.mark.parametrize(
    ("data", "kind"),
    [
        (b"Just words.", "text"),
        (b"<!doctype html><p>Words.", "html"),
        (b'<?xml version="1.0"?>\n<!-- a --> <!-- b -->\n<html><p>Words.', "html"),
        (b"<!--" + b"-->" * 92 + b"x", "text"),  # 281 bytes that take days where patterns try all ways
        (b'{"a": 1}', "json"),
        (b'{"a": 1}\n{"a": 2}\n', "jsonl"),
        (b'{"_id": "1", "text": "x"}\n{"_id": "2", "text": "y"}\n', "passage"),
        (b"junk\n" + making.pdf(["Words."]), "pdf"),
        (making.word(), "docx"),
    ],
)
def test_standard_input_is_told_apart_by_its_content(data: bytes, kind: str) -> None:
    with within():
        first = parse_bytes(data)[0]
    assert isinstance(first, Document)
    assert first.kind == kind


@pytest.mark.parametrize(
    ("name", "data", "really"),
    [
        ("a.txt", making.pdf(["Words."]), "named .txt but is a PDF"),
        ("a.pdf", b"Just words, no PDF.", "named .pdf but is text"),
        ("a.pdf", b"<html><p>Login page", "named .pdf but is HTML"),
        ("a.docx", making.workbook(), "named .docx but is an Excel workbook"),
        ("a.docx", making.archive({"x.txt": b"hello"}), "named .docx but is a zip archive"),
        ("a.docx", b"PK\x03\x04" + b"junk" * 50, "named .docx but is a damaged or cut off zip"),
        ("a.csv", b"\x89PNG\r\n\x1a\n" + bytes(100), "named .csv but is a picture, which is not read; put it"),
        ("a.heic", b"\0\0\0\x18ftypheic" + bytes(50), "is a picture, which is not read"),
        ("a.bmp", b"BM" + bytes(50), "is a picture, which is not read"),
        (
            "a.wav",
            b"RIFF\x24\0\0\0WAVEfmt " + bytes(50),
            "is a sound or video file, which is not read; save its",
        ),
        ("a.mp4", b"\0\0\0\x18ftypisom" + bytes(50), "is a sound or video file, which is not read"),
        ("a.gz", b"\x1f\x8b\x08\x00" + bytes(50), "is an archive, which is not read; unpack it"),
        (
            "a.rtf",
            b"{\\rtf1",
            "is an RTF or PostScript document, which is not read; save it as PDF",
        ),
        ("a.odt", making.archive({"mimetype": b"application/vnd.oasis.opendocument.text"}), "is an OpenDocument file"),
        ("a.doc", OLE, "old Office format"),
        ("a.docx", OLE + "EncryptedPackage".encode("utf-16-le"), "password"),
        ("a.txt", NOISE, "named .txt but is binary data"),
        ("noise", NOISE, "is binary data, which is not read; leave it out"),
    ],
)
def test_what_is_no_document_is_told_with_what_it_really_is(
    name: str, data: bytes, really: str, tmp_path: Path
) -> None:
    assert really in str(refusal(tmp_path, name, data))


@pytest.mark.parametrize("name", ["a.json", "a.jsonl"])
def test_invalid_utf8_is_refused_with_its_place(name: str, tmp_path: Path) -> None:
    error = refusal(tmp_path, name, b'["caf\xe9", 1]')
    assert error.what == "not valid UTF-8 at byte 5 (0xE9)"
    assert "UTF-8" in error.next_step


# --- encodings --------------------------------------------------------------------------------------------------------

TEXTS = {
    "cp1252": (
        "Café;Preis\nMünchen;12\nKöln;15\n",
        "Le café est ouvert à neuf heures, sauf l’été où il est fermé.",
        "The café owner is Señor Núñez. He charges £5 – or €6 – a head.",
        "“Quoted” text with a dash – nothing else.",
        "Temperature: 20 °C ± 2",
        "Perché no?",
        "Åsa kör över ån på tisdag.",
    ),
    "mac_roman": ("Café;Preis\nMünchen;12\n", "Le café est ouvert à neuf heures."),
    "cp850": ("Mädchen;Größe\nÄrzte;4\n", "Åsa kör över ån på tisdag."),
    **dict.fromkeys(("cp1250", "iso8859_2"), ("Zażółć gęślą jaźń. Pompa musi być zalana.",)),
    **dict.fromkeys(("cp1251", "koi8_r", "cp866"), ("Насос нужно заливать перед каждым запуском.",)),
    "cp1253": ("Η αντλία πρέπει να γεμίζει πριν από κάθε εκκίνηση.",),
}


@pytest.mark.parametrize(("encoding", "text"), [(name, text) for name, texts in TEXTS.items() for text in texts])
def test_an_old_encoding_is_found_by_its_words(encoding: str, text: str) -> None:
    found, notes = decode(text.encode(encoding))
    assert found == text
    assert notes["encoding"]


@pytest.mark.parametrize(
    ("data", "declared", "text", "notes"),
    [
        *(("naïve".encode(name), "", "naïve", {}) for name in ("utf-8", "utf-8-sig", "utf-16", "utf-32")),
        ("naïve".encode("cp850"), "cp850", "naïve", {}),
        (b"caf\xe9 and tea", "utf-8", "caf\ufffd and tea", {"characters_replaced": 1}),
        (b"caf\xe9 and tea", "x-nobody-knows", "café and tea", {"encoding": "windows-1252"}),
    ],
)
def test_what_a_mark_or_a_declaration_says_counts_and_what_is_not_in_it_is_replaced(
    data: bytes, declared: str, text: str, notes: dict[str, object]
) -> None:
    assert decode(data, encoding=declared) == (text, notes)


@pytest.mark.parametrize("name", ["a.txt", "a.md", "a.csv", "a.html"])
def test_a_file_in_an_old_encoding_is_read_and_says_so(name: str, tmp_path: Path) -> None:
    document = read_one(save(tmp_path, name, "Café,Señor\nNúñez,12\n".encode("cp1252")))
    assert "Núñez" in document.text
    assert document.metadata["encoding"] == "windows-1252"
    assert "windows" not in document.text


def test_bytes_that_are_words_in_no_encoding_are_refused(tmp_path: Path) -> None:
    noise = "ポンプは毎回起動する前に".encode("euc_jp")
    assert "not valid UTF-8 at byte 0" in refusal(tmp_path, "a.txt", noise).what
