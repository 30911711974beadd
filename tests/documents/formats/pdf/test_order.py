from __future__ import annotations

import io
import shutil
import subprocess
from pathlib import Path

import pytest
from reportlab.pdfbase.cidfonts import UnicodeCIDFont
from reportlab.pdfbase.pdfmetrics import registerFont
from reportlab.pdfbase.ttfonts import TTFont
from reportlab.pdfgen import canvas

from tests.documents.making import read_one, save
from thresher.documents.formats.pdf.order import in_order

FONT = Path("/usr/share/fonts/truetype/dejavu/DejaVuSans.ttf")

LINES = [
    "הספרייה פתוחה מ-09:00 עד 17:30 ובימי שני עד 20:45.",
    "מחיר כרטיס הוא 120 שקלים (כולל מס), ולסטודנטים 85.50 שקלים.",
    "הטלפון הוא 03-5551234 והסניף ברחוב Herzl 14 פתוח.",
    "ובו 3,400 ספרים ו-25% מהם באנגלית כמו The Hobbit בתרגום.",
]


def shown(line: str) -> str:
    """The line as its characters stand from the right, as the rules of Unicode order them."""
    mirrored = line.translate(str.maketrans("()", ")("))
    for run in ("09:00", "17:30", "20:45", "120", "85.50", "03-5551234", "Herzl 14", "3,400", "25%", "The Hobbit"):
        mirrored = mirrored.replace(run, run[::-1])
    return mirrored


@pytest.mark.parametrize("line", LINES)
def test_numbers_and_words_in_a_line_from_the_right_are_read_from_the_left(line: str) -> None:
    assert in_order(shown(line)) == line


def test_in_arabic_a_sign_parts_numbers() -> None:
    assert in_order("الهاتف 30-4321555 هنا") == "الهاتف 03-5551234 هنا"


@pytest.mark.skipif(not FONT.exists(), reason="needs a font with Hebrew letters")
def test_a_pdf_in_hebrew_is_read_from_the_right(tmp_path: Path) -> None:
    registerFont(TTFont("Hebrew", FONT))
    buffer = io.BytesIO()
    page = canvas.Canvas(buffer, invariant=1)
    page.setFont("Hebrew", 11)
    for number, line in enumerate(LINES):
        page.drawString(72, 700 - 16 * number, shown(line)[::-1])
    page.save()
    text = read_one(save(tmp_path, "a.pdf", buffer.getvalue())).text
    assert " ".join(text.split()).startswith(" ".join(LINES))


def has_japanese_font() -> bool:
    """Whether the system has one: PDFium measures with it the letters of a font that a PDF names and does not hold."""
    listed = shutil.which("fc-list")
    return bool(listed and subprocess.run([listed, ":lang=ja"], capture_output=True, check=False).stdout)


@pytest.mark.skipif(not has_japanese_font(), reason="needs a Japanese font, e.g. apt-get install fonts-ipafont-gothic")
def test_lines_from_top_to_bottom_are_read_from_the_right_below_a_title_across(tmp_path: Path) -> None:
    across, upright = UnicodeCIDFont("HeiseiMin-W3"), UnicodeCIDFont("HeiseiKakuGo-W5", isVertical=True)
    columns = ["図書館は九時に開きます。", "貸出は二週間までです。", "休館日は大晦日です。"]
    buffer = io.BytesIO()
    page = canvas.Canvas(buffer, invariant=1)
    for font in (across, upright):
        registerFont(font)
    page.setFont(across.fontName, 18)
    page.drawString(100, 780, "図書館のお知らせ")
    page.setFont(upright.fontName, 12)
    for number, column in enumerate(columns):
        page.drawString(400 - 30 * number, 700, column)
    page.save()
    text = read_one(save(tmp_path, "a.pdf", buffer.getvalue())).text
    places = [text.index(words) for words in ("図書館のお知らせ", *columns)]
    assert places == sorted(places)
