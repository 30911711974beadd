from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator
from hashlib import sha256
from importlib import import_module
from pathlib import Path

import pytest

from tests.documents import making
from tests.documents.making import parse_bytes, read_one, refusal, save, within
from thresher.documents.assembly import Parsed
from thresher.documents.cleaning import decode
from thresher.documents.registry import (
    EXTRACTION,
    FileKind,
    RawFile,
    by_extension,
    by_mime_type,
    file_kind,
    kinds,
    passed_by,
)
from thresher.errors import DocumentError, UnknownSetting, UsageError
from thresher.indexing.catalog import about
from thresher.types import Document

MADE = Path(__file__).parents[2] / "benchmarks" / "questions" / "made"
"""Small files of ten kinds."""

Registering = Callable[[FileKind], None]


def read_subtitles(file: RawFile) -> Parsed:
    """The format of the tests: a line of words under each line of times."""
    lines = file.data.decode().split("\n")
    return Parsed("\n".join(line for line in lines if line and "-->" not in line), title=file.name)


SUBTITLES = FileKind("lines", "subtitles", (".lines",), ("application/x-lines",), read_subtitles)


def test_every_kind_has_a_reader_and_names_of_its_own() -> None:
    for kind in kinds().values():
        assert isinstance(kind.reader, str)
        module, _, function = kind.reader.partition(":")
        assert callable(getattr(import_module(module, "thresher.documents.formats"), function))
        assert kind.label
    for names in ([kind.extensions for kind in kinds().values()], [kind.mime_types for kind in kinds().values()]):
        assert set(Counter(name for each in names for name in each).values()) == {1}


def test_a_kind_is_found_by_extension_and_by_what_a_server_says() -> None:
    assert by_extension(".PDF") is by_mime_type("Application/PDF; charset=binary") is file_kind("pdf")
    assert by_extension(".xyz") is by_mime_type("text/plain") is by_mime_type("") is None
    with pytest.raises(UnknownSetting, match="unknown file kind; did you mean 'markdown'"):
        file_kind("markdwn")


def test_a_kind_that_is_added_is_read_by_its_own_reader(registering: Registering, tmp_path: Path) -> None:
    source = "00:01 --> 00:02\nThe oats are ripe.\n"
    before = read_one(save(tmp_path, "a.lines", source))
    assert (before.kind, "-->" in before.text) == ("text", True)
    registering(SUBTITLES)
    document = read_one(save(tmp_path, "a.lines", source))
    assert (document.kind, document.text, document.title) == ("lines", "The oats are ripe.", "a.lines")
    (served,) = parse_bytes(source.encode(), content_type="application/x-lines")
    assert isinstance(served, Document)
    assert served.kind == "lines"


def test_a_kind_with_a_signature_is_recognised_by_its_bytes(registering: Registering) -> None:
    def read(file: RawFile) -> Iterator[Parsed | DocumentError]:
        yield Parsed("Oats.", source="1")
        yield DocumentError("is empty", subject="2", next_step="fill it")

    registering(FileKind("box", "a box", (".box",), (), read, signature=re.compile(rb"BOX\x00")))
    first, second = parse_bytes(b"BOX\x00\x01", name="a.box")
    assert isinstance(first, Document)
    assert (first.source, first.container, first.kind) == ("1", "a.box", "box")
    assert str(second) == "a.box:2: is empty; fill it"
    with pytest.raises(DocumentError, match=r"named .txt but is a box; rename it to .box"):
        parse_bytes(b"BOX\x00\x01", name="a.txt")
    with pytest.raises(DocumentError, match=r"named .box but is text"):
        parse_bytes(b"Words.", name="a.box")


def test_a_name_or_extension_that_is_taken_is_refused(registering: Registering) -> None:
    for kind in (
        FileKind("pdf", "x", (".x",), (), read_subtitles),
        FileKind("x", "x", (".x", ".htm"), (), read_subtitles),
        FileKind("x", "x", (".rtf",), (), read_subtitles),  # of another package
    ):
        with pytest.raises(UsageError, match="taken"):
            registering(kind)
    assert "x" not in kinds()


# --- what a file is ---------------------------------------------------------------------------------------------------

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
        ("a.gz", b"\x1f\x8b\x08\x00" + bytes(50), "the archive is damaged or cut off"),
        ("a.7z", b"7z\xbc\xaf\x27\x1c" + bytes(50), "is an archive, which is not read; unpack it"),
        ("a.ps", b"%!PS-Adobe-3.0\n", "is a PostScript document, which is not read; save it as PDF"),
        (
            "a.odg",
            making.archive({"mimetype": b"application/vnd.oasis.opendocument.graphics"}),
            "is an OpenDocument drawing or formula",
        ),
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


def test_a_text_that_speaks_of_pdf_is_a_text(tmp_path: Path) -> None:
    said = b"Change of the reader: the header %PDF-1.4 may stand behind other bytes.\n"
    assert read_one(save(tmp_path, "changes.rst", said)).text == said.decode().strip()


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


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        (b"[server]\nport = 80\n", "text"),
        (b"[1] Smith, Boats.\n[2] Jones, Oars\n", "text"),
        (b"{ not json at all }", "text"),
        (b'{"port": 80}', "json"),
        (b" [1, 2]\n", "json"),
        (b'["a", "b"]', "json"),
    ],
)
def test_what_begins_with_a_bracket_is_json_only_if_it_goes_on_and_ends_so(text: bytes, kind: str) -> None:
    (document,) = parse_bytes(text, name="settings.conf")
    assert not isinstance(document, DocumentError)
    assert document.kind == kind


@pytest.mark.parametrize(
    ("data", "passed"),
    [
        (b"<?xml version='1.0'?>\n<!-- icon -->\n<svg><path d='M0'/></svg>", "a picture"),
        (b"<svg><text>Pier 4</text></svg>", ""),
        (b"<doc><svg/></doc>", ""),
    ],
)
def test_a_drawing_without_words_is_passed_by_as_pictures_are(data: bytes, passed: str) -> None:
    assert passed_by(data, "icons/a.svg") == passed


def test_the_version_of_the_extraction_is_raised_when_readers_make_something_else_of_a_file() -> None:
    """On a failure raise EXTRACTION, so that `index` reads the files of collections anew, and record the pair here."""
    files = [file for file in sorted(MADE.rglob("*")) if file.is_file()]
    read = [*parse_bytes(making.pdf(["Stock\nOats 12\nRye 7"]), name="stock.pdf")]
    for file in files:
        read += parse_bytes(file.read_bytes(), name=file.name)
    made = "".join(f"{one.id}{about(one)}" for one in read if isinstance(one, Document))
    assert (EXTRACTION, sha256(made.encode()).hexdigest()[:16]) == (14, "1ab0e95062f1bfab")
