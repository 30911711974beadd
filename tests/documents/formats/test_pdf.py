from __future__ import annotations

import os
import zlib
from pathlib import Path

import pytest

from tests.documents import making
from tests.documents.making import read_one, refusal, save, within
from thresher.documents.formats.pdf_pages import check_streams
from thresher.documents.sources import Limits


def test_a_pdf_has_pages_and_its_stated_title_and_author(tmp_path: Path) -> None:
    data = making.pdf(["The first page.", "The second page."], title="On Oats", author="Ann Lee")
    document = read_one(save(tmp_path, "a.pdf", data))
    assert (document.kind, document.title, document.metadata) == ("pdf", "On Oats", {"author": "Ann Lee"})
    assert document.text[: document.card] == "The first page.\n\nThe second page.\n\n"
    assert document.text[document.card :].startswith("The document “On Oats” was written by Ann Lee.")
    assert document.page_at(document.text.index("second")) == 2


def test_a_junk_title_of_a_pdf_gives_way_to_the_first_line(tmp_path: Path) -> None:
    text = "Threshing by Machine\nAnn Lee\nAbstract\nThe grain was threshed."
    data = making.pdf([text], title="Microsoft Word - x.doc")
    assert read_one(save(tmp_path, "a.pdf", data)).title == "Threshing by Machine"


WHOLE = making.pdf(["A page.", "Another page."])


@pytest.mark.parametrize(
    ("data", "what"),
    [
        (WHOLE[: len(WHOLE) // 2], "damaged or cut off"),
        (making.pdf(["Secret."], encrypt="key"), "password"),
        (making.blank_pdf(0), "no pages"),
    ],
)
def test_a_pdf_that_cannot_be_opened_is_refused(data: bytes, what: str, tmp_path: Path) -> None:
    assert what in refusal(tmp_path, "a.pdf", data).what


@pytest.mark.parametrize("filters", [1, 2, 5])
def test_a_pdf_bomb_is_refused_before_it_is_unpacked(filters: int, tmp_path: Path) -> None:
    body = bytes(10_000_000)
    for _ in range(filters):
        body = zlib.compress(body)
    names = b"/FlateDecode " * filters
    stream = b"5 0 obj <</Filter [%s] /Length %d>> stream\n%s\nendstream endobj" % (names, len(body), body)
    data = making.pdf(["Words."]).replace(b"%%EOF", stream + b"\n%%EOF")
    assert "PDF bomb" in refusal(tmp_path, "a.pdf", data, limits=Limits(max_unpacked_bytes=10**6)).what


@pytest.mark.parametrize("end", [b"", b"endstream"])
def test_many_streams_that_do_not_end_are_no_trap(end: bytes) -> None:
    with within():
        check_streams(b"obj<</Fl >>stream\n" * 20_000 + bytes(50_000_000) + end, limits=Limits())


# --- scans ------------------------------------------------------------------------------------------------------------

TESSERACT = """#!/bin/sh
if [ "$1" = "--list-langs" ]; then printf 'List of languages\\ndeu\\neng\\nosd\\n'; exit 0; fi
head -c 8 | grep -q PNG || exit 1
echo "read by $4"
"""


@pytest.fixture
def tesseract(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The command, as a script that is still to be written."""
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    command = tmp_path / "tesseract"
    command.touch(0o755)
    return command


def test_without_tesseract_a_scan_asks_for_it_and_pages_without_text_are_counted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    error = refusal(tmp_path, "a.pdf", making.blank_pdf(2))
    assert error.what == "no text layer (scanned?)"
    assert "tesseract" in error.next_step
    document = read_one(save(tmp_path, "b.pdf", making.pdf(["Words.", "", ""])))
    assert document.metadata["pages_without_text"] == 2
    assert len(document.pages) == 3


def test_scanned_pages_are_read_by_tesseract_where_it_is_installed(tmp_path: Path, tesseract: Path) -> None:
    tesseract.write_text(TESSERACT)
    document = read_one(save(tmp_path, "a.pdf", making.pdf(["Words of the first page.", ""])))
    assert document.text == "Words of the first page.\n\nread by eng+deu"
    assert document.metadata["pages_by_ocr"] == 1


@pytest.mark.parametrize(
    ("script", "what"), [("exit 1", "OCR of page 1 failed"), ("true", "no text layer, and OCR found no text")]
)
def test_an_ocr_that_fails_or_finds_nothing_refuses_the_file(
    script: str, what: str, tmp_path: Path, tesseract: Path
) -> None:
    tesseract.write_text(f"#!/bin/sh\n[ \"$1\" = --list-langs ] && printf 'x\\neng\\n' && exit 0\n{script}\n")
    assert what in refusal(tmp_path, "a.pdf", making.blank_pdf(1)).what
