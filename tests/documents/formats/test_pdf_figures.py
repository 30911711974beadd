"""Text inside the pictures of a PDF: told from the text around it, and in no sentence, chunk, list or form."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from benchmarks.pdf_figures import LABELS, measured
from tests.documents import making
from tests.documents.making import needs_papers, read_one, read_paper, save, spans_hold
from thresher.chunking.fixed import FixedChunker
from thresher.chunking.hierarchical import HierarchicalChunker
from thresher.documents.formats.pdf import parse_pages
from thresher.documents.formats.pdf_lines import classify_all, figure_lines, is_data_row
from thresher.structure.forms import form_of
from thresher.structure.lists import lists_of
from thresher.structure.records import records_of
from thresher.text.figures import between_figures, without_figures
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
    "0 20 40 60 80 100",
    "weight of the stone (kg)",
    "0.2",
    "0.4",
    "0.6",
    "0.8",
    "share lost",
    "Oak frame",
    "Steel frame",
]
CAPTION = "Figure 2: Loss of grain by the weight of the stone."


def in_figures(lines: list[str]) -> list[str]:
    return [line for run in figure_lines(lines, classify_all(lines)) for line in lines[run.first : run.last + 1]]


def as_document(*pages: list[str]) -> Document:
    parsed = parse_pages(["\n".join(lines) for lines in pages])
    return Document("1", "mill.pdf", "Mills", parsed.text, "pdf", parsed.pages, parsed.tables, figures=parsed.figures)


def texts(document: Document) -> list[str]:
    return [document.text[start:end] for start, end in document.figures]


# --- what is told -----------------------------------------------------------------------------------------------------


def test_ticks_titles_and_legend_above_a_caption_are_a_figures() -> None:
    assert in_figures([*PARAGRAPH, *PLOT, CAPTION, *REST]) == PLOT


def test_boxes_of_a_diagram_above_a_caption_are_a_figures() -> None:
    boxes = ["Upper stone", "Lower stone", "Hopper", "x", "Shaft of the mill"]
    assert in_figures([*boxes, "Figure 1: Parts of the mill.", *PARAGRAPH]) == boxes


def test_two_axes_are_a_figures_without_any_caption() -> None:
    assert in_figures([*PARAGRAPH, *PLOT, *REST]) == PLOT


def test_numbers_alone_are_no_figure_without_a_caption() -> None:
    column = ["Pieces", "1", "2", "3", "4", "5"]
    calendar = ["1 2 3 4 5 6 7", "8 9 10 11 12 13 14", "15 16 17 18 19 20 21"]
    assert in_figures([*PARAGRAPH, *column, *REST]) == []
    assert in_figures([*PARAGRAPH, *calendar, *REST]) == []


def test_rows_of_a_table_above_a_figures_caption_are_none_of_it() -> None:
    table = ["Stone Weight Loss", "Granite 120 0.31", "Basalt 140 0.27", "Lava 90 0.44"]
    assert in_figures([*table, "Figure 4: Stones that were compared."]) == []
    assert is_data_row("Granite 120 0.31")
    assert not is_data_row("1 2 3 4 5 Patch")


def test_the_end_of_a_paragraph_a_heading_and_a_formula_above_a_caption_are_none_of_it() -> None:
    assert in_figures([*REST, "The end of it.", CAPTION]) == []
    assert in_figures([*REST, "3.4. Stones of the Valley", CAPTION]) == []
    assert in_figures([*REST, "l(w) = 1 − w", "∑ w", "(3)", CAPTION]) == []


def test_text_that_speaks_of_a_figure_begins_no_caption() -> None:
    assert in_figures([*PARAGRAPH, "Upper stone", "Lower stone", "Figure 2 shows how the two of them are moved."]) == []


def test_the_line_under_a_part_and_a_long_title_belong_to_the_figure() -> None:
    two = [*PLOT, "(a) Wheat of the first harvest, stored for the whole of a winter", *PLOT, "(b) Rye"]
    assert in_figures([*PARAGRAPH, *two, CAPTION]) == two


def test_a_page_without_pictures_has_none() -> None:
    assert in_figures([*PARAGRAPH, *REST]) == []
    assert in_figures([]) == []


# --- what becomes of it -----------------------------------------------------------------------------------------------


def test_a_paragraph_that_a_figure_interrupts_is_whole_and_the_figure_is_kept() -> None:
    document = as_document([*PARAGRAPH, *PLOT, CAPTION, *REST])
    assert "over a year of harvests in the valley below the village." in document.text
    assert texts(document) == ["\n".join(PLOT)]
    assert CAPTION in document.text


def test_no_chunk_holds_text_of_a_figure() -> None:
    document = as_document([*PARAGRAPH, *PLOT, CAPTION, *REST], [*PLOT, CAPTION, *REST])
    for chunker in (FixedChunker(size=400), HierarchicalChunker(size=400, subchunk_size=100)):
        chunks = chunker(document)
        assert not any("Oak frame" in chunk.text for chunk in chunks)
        assert any("Loss of grain" in chunk.text for chunk in chunks)
        assert all(document.text[chunk.start : chunk.end] == chunk.text for chunk in chunks)


def test_a_document_of_nothing_but_a_figure_stays_readable() -> None:
    document = as_document(PLOT)
    assert document.figures == ()
    assert FixedChunker()(document)


def test_a_figure_is_blank_where_sentences_and_fields_are_read() -> None:
    document = as_document([*PARAGRAPH, *PLOT, CAPTION, *REST])
    blank = without_figures(document)
    assert len(blank) == len(document.text)
    assert "Oak frame" not in blank
    assert blank.index(CAPTION) == document.text.index(CAPTION)
    assert "".join(document.text[start:end] for start, end in between_figures(document)).count(CAPTION) == 1


def test_no_list_and_no_form_is_read_from_a_figure() -> None:
    labels = ["1. Hopper", "2. Upper stone", "3. Lower stone", "Shaft: oak", "Frame: steel", "Teeth: beech", "x"]
    document = as_document([*PARAGRAPH, *labels, CAPTION, *REST])
    assert texts(document) == ["\n".join(labels)]
    assert list(lists_of(document)) == []
    assert list(records_of(document)) == []
    assert form_of(document, ()) is None
    bare = replace(document, figures=())
    assert list(lists_of(bare)) != []
    assert list(records_of(bare)) != []
    assert form_of(bare, ()) is not None


def test_a_table_keeps_its_header_beside_a_figure() -> None:
    table = ["Stone Weight Loss", "Granite 120 0.31", "Basalt 140 0.27", "Lava 90 0.44", "Table 1: Stones."]
    document = as_document([*PARAGRAPH, "and that was the year.", *table, *REST, *PLOT, CAPTION])
    assert [document.text[start:end] for start, end in document.tables[0].rows] == table[:4]
    assert texts(document) == ["\n".join(PLOT)]


def test_a_drawn_plot_in_a_file_is_a_figure(tmp_path: Path) -> None:
    page = "\n".join([*PARAGRAPH, *PLOT, CAPTION, *REST])
    document = read_one(save(tmp_path, "mill.pdf", making.pdf([page], title="Mills")))
    spans_hold(document)
    assert texts(document) == ["\n".join(PLOT)]


# --- the real papers --------------------------------------------------------------------------------------------------


@needs_papers
@pytest.mark.parametrize(
    ("name", "inside", "outside"),
    [
        ("1512.03385.pdf", "3x3 conv, 128, /2", "Figure 3. Example network architectures for ImageNet."),
        ("2004.04906.pdf", "# Train: 10k", "Figure 1: Retriever top-k accuracy"),
        ("BERT.pdf", "Unlabeled Sentence A and B Pair", "Figure 1: Overall pre-training and fine-tuning"),
        ("2104.08663.pdf", "Climate-based Claim", "Figure 1: An overview"),
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


def test_the_labels_hold_no_text_of_the_papers() -> None:
    labels = json.loads(LABELS.read_text())
    assert {tuple(page) for page in labels} == {("document", "page", "part", "hash", "figure", "table", "either")}
    documents = {part: {page["document"] for page in labels if page["part"] == part} for part in ("tuning", "final")}
    assert not documents["tuning"] & documents["final"]
    assert len(documents["tuning"] | documents["final"]) >= 12
