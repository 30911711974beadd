from __future__ import annotations

import io
from pathlib import Path

import pypdf
from pypdf.annotations import FreeText, Highlight, Text
from pypdf.generic import ArrayObject, NumberObject
from reportlab.pdfgen import canvas

from tests.documents.making import read_one, save, written


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
    for value in ("Name: Vera Holt", "Vessel: Grey Heron", "Berth: B14", "Insured: Yes", "officer: Ann Lee"):
        assert value in words
    assert "Abroad: Yes" not in words
    assert words.index("ends with the year.") < words.index("Approved on 4 May by Ola Berg")
    assert document.page_at(document.text.index("Approved")) == 1


def test_what_is_written_over_a_page_that_a_reader_marked_is_the_readers(tmp_path: Path) -> None:
    writer = pypdf.PdfWriter(clone_from=io.BytesIO(form()))
    corners = [NumberObject(at) for at in (72, 770, 200, 770, 72, 755, 200, 755)]
    writer.add_annotation(0, Highlight(rect=(72, 755, 200, 770), quad_points=ArrayObject(corners)))
    text = read_one(save(tmp_path, "a.pdf", written(writer))).text
    assert "Vera Holt" in text
    assert "Approved" not in text


def test_what_a_reader_noted_beside_a_page_is_no_text_of_it(tmp_path: Path) -> None:
    assert "own note" not in read_one(save(tmp_path, "a.pdf", form())).text
