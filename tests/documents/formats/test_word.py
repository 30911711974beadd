"""What a person sees of a Word document is what is kept."""

from __future__ import annotations

import io
from pathlib import Path

import docx
from docx.oxml import OxmlElement

from tests.documents.making import read_one, rows_of, save
from thresher.documents.sources import Limits


def saved(document: docx.document.Document, folder: Path) -> Path:
    packed = io.BytesIO()
    document.save(packed)
    return save(folder, "a.docx", packed.getvalue())


def test_signs_that_xml_escapes_are_kept_in_headings_and_tables(tmp_path: Path) -> None:
    document = docx.Document()
    document.add_heading("Q&A of the R&D board", 1)
    table = document.add_table(rows=2, cols=2)
    for row, texts in zip(table.rows, (("Firm", "Share"), ("Ames & Son", "< 5 %")), strict=True):
        for cell, text in zip(row.cells, texts, strict=True):
            cell.text = text
    found = read_one(saved(document, tmp_path))
    assert "Q&A of the R&D board" in found.text
    assert rows_of(found) == ["| Firm | Share |", "| Ames & Son | < 5 % |"]


def test_columns_apart_by_tabs_are_not_run_together(tmp_path: Path) -> None:
    document = docx.Document()
    document.add_paragraph("Contact\tTelephone\tRoom")
    document.add_paragraph("Vera Holt\t5512\tB14")
    assert "Holt5512" not in read_one(saved(document, tmp_path)).text


def test_a_hyphen_that_does_not_break_is_a_hyphen(tmp_path: Path) -> None:
    document = docx.Document()
    paragraph = document.add_paragraph()
    paragraph.add_run("Order A")._r.append(OxmlElement("w:noBreakHyphen"))
    paragraph.add_run("17 is late.")
    assert read_one(saved(document, tmp_path)).text == "Order A-17 is late."


def test_hidden_text_is_counted_and_left_out_where_that_is_set(tmp_path: Path) -> None:
    document = docx.Document()
    document.add_paragraph("Shown to all.")
    document.add_paragraph().add_run("The code is 4711.").font.hidden = True
    file = saved(document, tmp_path)
    found = read_one(file)
    assert "4711" in found.text
    assert found.metadata["hidden_words"] == 4
    assert "4711" not in read_one(file, limits=Limits(hidden=False)).text
