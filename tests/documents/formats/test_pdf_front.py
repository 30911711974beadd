from __future__ import annotations

import io
from collections.abc import Sequence
from pathlib import Path

import pytest
from reportlab.pdfgen import canvas

from tests.documents.making import read_one, save

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
