from __future__ import annotations

import io
import os
import zlib
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pypdf
import pytest
from pypdf.annotations import FreeText, Highlight, Text
from pypdf.generic import ArrayObject, NumberObject
from reportlab.pdfgen import canvas

from tests.documents import making
from tests.documents.making import read_one, refusal, save, within, written
from thresher.documents.formats.pdf.opening import check_streams, opened
from thresher.documents.formats.pdf.reader import parse_pages
from thresher.documents.sources import Limits


def test_a_pdf_has_pages_and_its_stated_title_and_author(tmp_path: Path) -> None:
    data = making.pdf(["The first page.", "The second page."], title="On Oats", author="Ann Lee")
    document = read_one(save(tmp_path, "a.pdf", data))
    assert (document.kind, document.title, document.metadata) == ("pdf", "On Oats", {"author": "Ann Lee"})
    assert document.text[: document.card] == "The first page.\n\nThe second page.\n\n"
    assert document.text[document.card :].startswith("The document “On Oats” was written by Ann Lee.")
    assert document.page_at(document.text.index("second")) == 2


WHOLE = making.pdf(["A page.", "Another page."])


def test_what_a_program_writes_where_no_one_states_it_is_no_title_and_no_author(tmp_path: Path) -> None:
    data = making.pdf(["Stations of the line. Arden was opened in 1860."], title="(anonymous)", author="(unspecified)")
    document = read_one(save(tmp_path, "stations.pdf", data))
    assert (document.title, document.metadata.get("author")) == ("stations", None)


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
head -c 2 | grep -q P5 || exit 1
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
    assert (document.metadata["pages_without_text"], document.metadata["which_pages_without_text"]) == (2, "2-3")
    assert len(document.pages) == 3


def test_scanned_pages_are_read_by_tesseract_where_it_is_installed(tmp_path: Path, tesseract: Path) -> None:
    tesseract.write_text(TESSERACT)
    document = read_one(save(tmp_path, "a.pdf", making.pdf(["Words of the first page.", ""])))
    assert document.text == "Words of the first page.\n\nread by eng+deu"
    assert (document.metadata["pages_by_ocr"], document.metadata["which_pages_by_ocr"]) == (1, "2")


@pytest.mark.parametrize(
    ("script", "what"), [("exit 1", "OCR of page 1 failed"), ("true", "no text layer, and OCR found no text")]
)
def test_an_ocr_that_fails_or_finds_nothing_refuses_the_file(
    script: str, what: str, tmp_path: Path, tesseract: Path
) -> None:
    tesseract.write_text(f"#!/bin/sh\n[ \"$1\" = --list-langs ] && printf 'x\\neng\\n' && exit 0\n{script}\n")
    assert what in refusal(tmp_path, "a.pdf", making.blank_pdf(1)).what


# --- forms ------------------------------------------------------------------------------------------------------------


def form(*, approved: str = "Approved on 4 May by Ola Berg") -> bytes:
    buffer = io.BytesIO()
    page = canvas.Canvas(buffer, invariant=1)
    page.drawString(72, 760, "Permit application of the harbour office")
    page.drawString(72, 720, "Name:")
    page.acroForm.textfield(name="name", x=140, y=712, width=120, height=20, value="Vera Holt")
    page.drawString(300, 720, "Vessel:")
    page.acroForm.textfield(name="vessel", x=360, y=712, width=120, height=20, value="Grey Heron")
    page.drawString(72, 680, "Berth:")
    page.acroForm.choice(name="berth", x=140, y=672, width=100, height=20, value="B14", options=["A1", "B14"])
    page.drawString(72, 640, "Insured:")
    page.acroForm.checkbox(name="insured", x=140, y=632, checked=True)
    page.drawString(72, 600, "Abroad:")
    page.acroForm.checkbox(name="abroad", x=140, y=592, checked=False)
    page.drawString(300, 640, "Days:")
    days = {"options": ["Friday", "Saturday", "Sunday"], "fieldFlags": "multiSelect"}
    page.acroForm.listbox(name="days", x=360, y=632, width=100, height=20, value=["Friday", "Sunday"], **days)
    page.drawString(72, 560, "The permit ends with the year.")
    page.acroForm.textfield(name="officer", x=140, y=452, width=120, height=20, value="Ann Lee")
    page.showPage()
    page.drawString(72, 760, "The second page.")
    page.save()
    writer = pypdf.PdfWriter(clone_from=io.BytesIO(buffer.getvalue()))
    writer.add_annotation(0, FreeText(text=approved, rect=(72, 500, 300, 530)))
    writer.add_annotation(1, Text(text="A reader's own note", rect=(72, 700, 90, 718)))
    return written(writer)


def test_values_of_a_form_stand_behind_their_labels_and_notes_where_they_were_written(tmp_path: Path) -> None:
    document = read_one(save(tmp_path, "a.pdf", form()))
    assert "\n\nBerth: B14\n\nInsured: Yes\n\n" in document.text
    words = " ".join(document.text.split())
    for value in (
        "Name: Vera Holt",
        "Vessel: Grey Heron",
        "Berth: B14",
        "Insured: Yes",
        "Days: Friday, Sunday",
        "officer: Ann Lee",
    ):
        assert value in words
    assert "Abroad: Yes" not in words
    assert "own note" not in words  # what a reader noted beside the page
    assert words.index("ends with the year.") < words.index("Approved on 4 May by Ola Berg")
    assert document.page_at(document.text.index("Approved")) == 1


def test_what_is_written_over_a_page_that_a_reader_marked_is_the_readers(tmp_path: Path) -> None:
    writer = pypdf.PdfWriter(clone_from=io.BytesIO(form()))
    corners = [NumberObject(at) for at in (72, 770, 200, 770, 72, 755, 200, 755)]
    writer.add_annotation(0, Highlight(rect=(72, 755, 200, 770), quad_points=ArrayObject(corners)))
    text = read_one(save(tmp_path, "a.pdf", written(writer))).text
    assert "Vera Holt" in text
    assert "Approved" not in text


# --- the library that reads them --------------------------------------------------------------------------------------


def test_while_one_thread_has_a_pdf_open_another_waits(tmp_path: Path) -> None:
    item = save(tmp_path, "a.pdf", WHOLE)
    with ThreadPoolExecutor(1) as pool:
        with opened(WHOLE):
            waiting = pool.submit(read_one, item)
            with pytest.raises(TimeoutError):
                waiting.result(timeout=0.3)  # alone it takes a tenth of that
        assert waiting.result() == read_one(item)


@pytest.mark.parametrize("turn", [90, 180, 270])
def test_a_page_that_is_shown_turned_is_read_as_it_is_written(turn: int, tmp_path: Path) -> None:
    writer = pypdf.PdfWriter(clone_from=io.BytesIO(form()))
    writer.pages[0].rotate(turn)
    read, turned = (
        read_one(save(tmp_path, name, data)) for name, data in (("a.pdf", form()), ("b.pdf", written(writer)))
    )
    assert (turned.text, turned.marks) == (read.text, read.marks)


def test_what_lies_beyond_the_edge_of_a_page_is_not_read(tmp_path: Path) -> None:
    buffer = io.BytesIO()
    page = canvas.Canvas(buffer, pagesize=(300, 300))
    page.drawString(72, 200, "Words of the page.")
    page.drawString(72, -40, "A mark for the printer")
    page.save()
    assert read_one(save(tmp_path, "a.pdf", buffer.getvalue())).text == "Words of the page."


# --- the front --------------------------------------------------------------------------------------------------------

BODY = [
    "We thresh what was retrieved before anything is answered from it, and we count what",
    "is lost. The sieve is a small model that reads a question and a paragraph together.",
    "It was trained on questions that people asked, and on paragraphs that look as if they",
    "had an answer but have none. What is left over is handed on to whoever answers.",
] * 5


def paper(front: Sequence[tuple[float, str]], *, title: str = "", author: str = "") -> bytes:
    """A page of (font size, line) above an abstract and two columns' worth of text in 10 points."""
    made = io.BytesIO()
    page = canvas.Canvas(made, pageCompression=0)
    page.setTitle(title)
    page.setAuthor(author)
    height = 800.0
    for size, line in [*front, (12, "Abstract"), *((10, line) for line in BODY)]:
        height -= size * 1.5
        page.setFont("Helvetica", size)
        page.drawString(72, height, line)
    page.showPage()
    page.save()
    return made.getvalue()


TITLE = (17, "Attention to Sieves Is What You Need")
AUTHORS = [(11, "Ann Lee*"), (10, "Granary Research"), (10, "ann@granary.example"), (11, "Bo Chen")]


@pytest.mark.parametrize(
    "above",
    [
        [
            (12, "Provided proper attribution is provided, Granary hereby grants permission to"),
            (12, "reproduce the tables and figures in this paper solely for use in journalistic or"),
            (12, "scholarly works."),
        ],
        [(10, "12 March 2024")],
        [(10, "Journal of Sieves 23 (2022) 1-40    Submitted 8/21"), (10, "Technical Report 17")],
        [],
    ],
)
@pytest.mark.parametrize("stated", ["", "Overleaf Example", "2024-03-12", "Microsoft Word - paper.docx"])
def test_the_title_is_the_largest_heading_whatever_stands_above_it_and_whatever_the_file_says(
    above: list[tuple[float, str]], stated: str, tmp_path: Path
) -> None:
    document = read_one(save(tmp_path, "a.pdf", paper([*above, TITLE, *AUTHORS], title=stated)))
    assert document.title == TITLE[1]
    assert document.metadata["author"] == "Ann Lee, Bo Chen"


def test_a_page_that_begins_with_prose_has_no_title_and_keeps_its_first_sentences_together() -> None:
    lines = [
        "The tower of the mill was built in 1871 by two brothers. The miller of that",
        "place ground 401 sacks of oats for the valley in the following year and said so.",
    ]
    parsed = parse_pages(["\n".join([*lines, lines[1].capitalize()])])
    assert parsed.title == ""
    assert "The miller of that place ground 401 sacks" in parsed.text
    names = [
        "Threshing of Oats at the Mills of the",
        "valley and its 401 sacks",
        "Ada Holm",
        "Abstract",
        lines[0],
        lines[1],
    ]
    assert parse_pages(["\n".join(names)]).title == "Threshing of Oats at the Mills of the"


def test_a_title_that_runs_over_two_lines_is_whole(tmp_path: Path) -> None:
    front = [(17, "Threshing at the Edge: What Sieves"), (17, "Know About Small Grain"), *AUTHORS]
    document = read_one(save(tmp_path, "a.pdf", paper(front)))
    assert document.title == "Threshing at the Edge: What Sieves Know About Small Grain"


def test_the_spelling_of_the_file_is_kept_where_the_page_has_the_same_title(tmp_path: Path) -> None:
    front = [(17, "ATTENTION TO SIEVES"), *AUTHORS]
    document = read_one(save(tmp_path, "a.pdf", paper(front, title="Attention to Sieves", author="Ann Lee, Bo Chen")))
    assert (document.title, document.metadata["author"]) == ("Attention to Sieves", "Ann Lee, Bo Chen")


@pytest.mark.parametrize(
    ("line", "date"), [("March 11, 2024", "2024-03-11"), ("17th Conference on Sieves (SIEVE 2017), Long Field", "2017")]
)
def test_a_day_or_a_year_that_the_page_states_goes_before_the_day_of_the_last_save(
    line: str, date: str, tmp_path: Path
) -> None:
    assert read_one(save(tmp_path, "a.pdf", paper([TITLE, *AUTHORS, (10, line)]))).date == date
