"""Text inside the pictures of a PDF: told from the text around it, and in no sentence, chunk, list or form."""

from __future__ import annotations

from dataclasses import replace

import pytest

from benchmarks.pdf_figures import measured
from tests.documents.making import needs_papers, read_paper
from thresher.chunking.fixed import FixedChunker
from thresher.chunking.hierarchical import HierarchicalChunker
from thresher.documents.formats.pdf.lines import classify_all, figure_lines
from thresher.documents.formats.pdf.reader import parse_pages
from thresher.structure.forms import form_of
from thresher.text.sentences import between_figures, without_figures
from thresher.types import Document

PARAGRAPH = [
    "The mill grinds in four steps, of which the first two are done by wind and the other",
    "two by hand, and what is lost between them is what we measured over a year of harvests",
]
REST = [
    "in the valley below the village. The loss falls with the weight of the upper stone, as",
    "the figure shows, and nothing else that we tried had an effect of a similar size on it.",
]
PLOT = [
    *("0 20 40 60 80 100", "weight of the stone (kg)", "0.2", "0.4", "0.6", "0.8"),
    *("share lost", "Oak frame", "Steel frame"),
]
CAPTION = "Figure 2: Loss of grain by the weight of the stone."
BOXES = ["Upper stone", "Lower stone", "Hopper", "x", "Shaft of the mill"]
PARTS = [*PLOT, "(a) Wheat of the first harvest, stored for the whole of a winter", *PLOT, "(b) Rye"]
TABLE = ["Stone Weight Loss", "Granite 120 0.31", "Basalt 140 0.27", "Lava 90 0.44"]


def as_document(*pages: list[str]) -> Document:
    parsed = parse_pages(["\n".join(lines) for lines in pages])
    return Document("1", "mill.pdf", "Mills", parsed.text, "pdf", parsed.pages, parsed.tables, figures=parsed.figures)


def texts(document: Document) -> list[str]:
    return [document.text[start:end] for start, end in document.figures]


@pytest.mark.parametrize(
    ("lines", "inside"),
    [
        ([*PARAGRAPH, *PLOT, CAPTION, *REST], PLOT),
        ([*BOXES, "Figure 1: Parts of the mill.", *PARAGRAPH], BOXES),
        ([*PARAGRAPH, *PLOT, *REST], PLOT),  # two axes need no caption
        ([*PARAGRAPH, *PARTS, CAPTION], PARTS),  # the line under a part and a long title belong to the figure
        ([*PARAGRAPH, "Pieces", "1", "2", "3", "4", "5", *REST], []),  # numbers alone
        ([*PARAGRAPH, "1 2 3 4 5 6 7", "8 9 10 11 12 13 14", "15 16 17 18 19 20 21", *REST], []),
        ([*TABLE, "Figure 4: Stones that were compared."], []),
        ([*REST, "The end of it.", CAPTION], []),
        ([*REST, "3.4. Stones of the Valley", CAPTION], []),
        ([*REST, "l(w) = 1 − w", "∑ w", "(3)", CAPTION], []),
        ([*PARAGRAPH, *BOXES[:2], "Figure 2 shows how the two of them are moved."], []),
        ([*PARAGRAPH, *REST], []),
        ([], []),
    ],
)
def test_text_in_a_picture_is_told_from_the_text_around_it(lines: list[str], inside: list[str]) -> None:
    found = [line for run in figure_lines(lines, classify_all(lines)) for line in lines[run.first : run.last + 1]]
    assert found == inside


def test_a_paragraph_that_a_figure_interrupts_is_whole_and_the_figure_is_kept() -> None:
    document = as_document([*PARAGRAPH, *PLOT, CAPTION, *REST])
    assert "over a year of harvests in the valley below the village." in document.text
    assert texts(document) == ["\n".join(PLOT)]
    blank = without_figures(document)
    assert len(blank) == len(document.text)
    assert "Oak frame" not in blank
    assert blank.index(CAPTION) == document.text.index(CAPTION)
    assert "".join(document.text[start:end] for start, end in between_figures(document)).count(CAPTION) == 1


def test_no_chunk_holds_text_of_a_figure_unless_there_is_nothing_else() -> None:
    document = as_document([*PARAGRAPH, *PLOT, CAPTION, *REST], [*PLOT, CAPTION, *REST])
    for chunker in (FixedChunker(size=400), HierarchicalChunker(size=400, subchunk_size=100)):
        chunks = chunker(document)
        assert not any("Oak frame" in chunk.text for chunk in chunks)
        assert any("Loss of grain" in chunk.text for chunk in chunks)
    assert FixedChunker()(as_document(PLOT))


def test_no_form_is_read_from_a_figure() -> None:
    labels = ["1. Hopper", "2. Upper stone", "3. Lower stone", "Shaft: oak", "Frame: steel", "Teeth: beech", "x"]
    document = as_document([*PARAGRAPH, *labels, CAPTION, *REST])
    assert texts(document) == ["\n".join(labels)]
    for one, found in ((document, False), (replace(document, figures=()), True)):
        assert (form_of(one, ()) is not None) is found


def test_a_table_keeps_its_header_beside_a_figure() -> None:
    document = as_document([*PARAGRAPH, "and that was the year.", *TABLE, "Table 1: Stones.", *REST, *PLOT, CAPTION])
    assert [document.text[start:end] for start, end in document.tables[0].rows] == TABLE
    assert texts(document) == ["\n".join(PLOT)]


@needs_papers
@pytest.mark.parametrize(
    ("name", "inside", "outside"),
    [
        ("1512.03385.pdf", "3x3 conv, 128, /2", "Figure 3. Example network architectures for ImageNet."),
        ("BERT.pdf", "Unlabeled Sentence A and B Pair", "Figure 1: Overall pre-training and fine-tuning"),
    ],
)
def test_labels_of_a_papers_figure_are_in_no_chunk_and_its_caption_is(name: str, inside: str, outside: str) -> None:
    document = read_paper(name)
    assert any(inside in text for text in texts(document))
    chunks = [chunk.text for chunk in FixedChunker()(document)]
    assert not any(inside in text for text in chunks)
    assert any(outside in " ".join(text.split()) for text in chunks)


@needs_papers
def test_the_layers_of_a_drawn_network_are_no_table() -> None:
    document = read_paper("1512.03385.pdf")
    page = document.pages[3]
    assert not [table for table in document.tables if page.start <= table.start < page.end]


@pytest.mark.slow
@needs_papers
@pytest.mark.parametrize(("part", "recall"), [("tuning", 0.9), ("final", 0.95)])
def test_what_is_told_of_labelled_pages_is_right(part: str, recall: float) -> None:
    told = measured(part)
    assert told.precision >= 0.95
    assert told.recall >= recall
