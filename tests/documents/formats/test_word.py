"""What a person sees of a Word document is what is kept."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path

import docx
from docx.oxml import OxmlElement
from docx.oxml.ns import qn

from tests.documents import making
from tests.documents.making import read_one, rows_of, save, saved
from thresher.documents.sources import Limits


def test_a_word_file_keeps_its_table_in_place(tmp_path: Path) -> None:
    document = read_one(save(tmp_path, "a.docx", making.word()))
    assert (document.kind, document.title) == ("docx", "Harvest report")
    assert document.metadata["author"] == "Ann Lee"
    assert rows_of(document) == ["| Field | Tons |", "| North | 10 |", "| South \\| low | 20 |"]
    assert document.text.index("good year.") < document.tables[0].start < document.text.index("After the table.")


def test_columns_apart_by_tabs_and_hyphens_that_do_not_break_are_kept(tmp_path: Path) -> None:
    document = docx.Document()
    document.add_heading("Q&A of the R&D board", 1)
    document.add_paragraph("Contact\tTelephone\tRoom")
    document.add_paragraph("Vera Holt\t5512\tB14")
    paragraph = document.add_paragraph()
    paragraph.add_run("Order A")._r.append(OxmlElement("w:noBreakHyphen"))
    paragraph.add_run("17 is late.")
    text = read_one(save(tmp_path, "a.docx", saved(document))).text
    assert text == (
        "Q&A of the R&D board\n\n| Contact | Telephone | Room |\n| Vera Holt | 5512 | B14 |\n\nOrder A-17 is late."
    )


def test_hidden_text_is_counted_and_left_out_where_that_is_set(tmp_path: Path) -> None:
    document = docx.Document()
    document.add_paragraph("Shown to all.")
    document.add_paragraph().add_run("The code is 4711.").font.hidden = True
    file = save(tmp_path, "a.docx", saved(document))
    found = read_one(file)
    assert "4711" in found.text
    assert found.metadata["hidden_words"] == 4
    assert "4711" not in read_one(file, limits=Limits(hidden=False)).text


def test_items_of_a_word_list_keep_their_marks_whether_by_style_or_by_numbering(tmp_path: Path) -> None:
    document = docx.Document()
    for step in ("Tell the council.", "Move the archive."):
        document.add_paragraph(step, style="List Number")
    document.add_paragraph("Advice", style="List Bullet")
    numbering = document.add_paragraph("By numbering")._p.get_or_add_pPr().get_or_add_numPr()
    numbering.get_or_add_ilvl().val = 0
    numbering.get_or_add_numId().val = 5
    *items, last = read_one(save(tmp_path, "a.docx", saved(document))).text.split("\n\n")
    assert items == ["1. Tell the council.", "2. Move the archive.", "- Advice"]
    assert last.endswith(" By numbering")


def test_the_day_of_a_librarys_template_is_no_day_of_the_document(tmp_path: Path) -> None:
    document = docx.Document()
    document.add_paragraph("The barn is full.")
    assert read_one(save(tmp_path, "a.docx", saved(document))).date is None
    document.core_properties.created = datetime(2021, 4, 12, 9)
    assert read_one(save(tmp_path, "a.docx", saved(document))).date == "2021-04-12"


def test_a_row_that_begins_in_a_later_column_stays_below_its_names(tmp_path: Path) -> None:
    document = docx.Document()
    table = document.add_table(rows=2, cols=3)
    for at, text in enumerate(["Town", "Plan", "Actual", "Lund", "5", "7"]):
        table.cell(*divmod(at, 3)).text = text
    row = table.rows[1]._tr
    row.remove(row.tc_lst[0])
    row.get_or_add_trPr().append(row.makeelement(qn("w:gridBefore"), {qn("w:val"): "1"}))
    assert rows_of(read_one(save(tmp_path, "a.docx", saved(document)))) == ["| Town | Plan | Actual |", "|  | 5 | 7 |"]
