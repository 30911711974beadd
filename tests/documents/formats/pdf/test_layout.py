from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.documents.making import within
from thresher.documents.cleaning import BREAK, vocabulary
from thresher.documents.formats.pdf.layout import across_pages, around_floats, reflow
from thresher.documents.formats.pdf.lines import Line, classify
from thresher.documents.formats.pdf.reader import parse_pages

COLUMN = [
    "Threshing separates the grain from the straw and",
    "was done with flails until machines took it over in",
    "the nineteenth century. Retrieval is much the same.",
]
PARAGRAPH = " ".join(COLUMN)
ROWS = ["Saltby 41 1210 3420", "Northquay 22 575 1645", "Fennmouth 60 2105 6120"]
NAMES = "Harbour Boats Landings Revenue"
NOTE = "1We thank the miller for his patience with us here."


def texts(lines: list[str]) -> list[str]:
    return [block.text for block in reflow(lines, vocabulary(["\n".join(lines)]))]


@pytest.mark.parametrize(
    ("lines", "blocks"),
    [
        (COLUMN, [PARAGRAPH]),
        ([*COLUMN, "2.1 Flails and Sieves", *COLUMN], [PARAGRAPH, "2.1 Flails and Sieves", PARAGRAPH]),
        ([*COLUMN, "It ends here.", *COLUMN], [f"{PARAGRAPH} It ends here.", PARAGRAPH]),
        (
            ["The mill was fitted with four new sieves, and then", "3 Men were sent to tell of it, who", "came back."],
            ["The mill was fitted with four new sieves, and then 3 Men were sent to tell of it, who came back."],
        ),
        (
            ["We do two things:", "• thresh the grain that was brought in from the", "field on Monday", "• sieve it"],
            ["We do two things:", "• thresh the grain that was brought in from the field on Monday", "• sieve it"],
        ),
        (  # names of columns are no end of the caption or the sentence above them
            ["Table 1: Landings of the year in tonnes, by harbour", NAMES, *ROWS],
            ["Table 1: Landings of the year in tonnes, by harbour", NAMES, *ROWS],
        ),
        ([COLUMN[1], NAMES, *ROWS], [COLUMN[1], NAMES, *ROWS]),
        (  # the last word of a paragraph, alone on its line
            ["The master of the mill is Ida Brandt, who took office in", "2019.", *COLUMN],
            ["The master of the mill is Ida Brandt, who took office in 2019.", PARAGRAPH],
        ),
        ([*COLUMN, "2019.", *COLUMN], [PARAGRAPH, "2019.", PARAGRAPH]),  # where the sentence has ended it is none
        (
            [f"Threshing separates the grain from straw and repre{BREAK}", "sentations of it are found on walls."],
            ["Threshing separates the grain from straw and representations of it are found on walls."],
        ),
        (
            ["The code and the models are all at https://example.org/", "google-research/oats."],
            ["The code and the models are all at https://example.org/google-research/oats."],
        ),
        (  # a capital after a broken word is another text
            [f"the detector may evaluate the log of the prob{BREAK}", "Algorithm 1 Sieve model", "ability of it."],
            [f"the detector may evaluate the log of the prob{BREAK}", "Algorithm 1 Sieve model ability of it."],
        ),
    ],
)
def test_lines_become_the_paragraphs_headings_items_and_rows_that_they_are(lines: list[str], blocks: list[str]) -> None:
    assert texts(lines) == blocks


def test_lines_tell_what_they_are() -> None:
    assert classify("Figure 3: A flail.") is Line.CAPTION
    assert classify("1https://example.org/a-footnote-address") is Line.NOTE
    assert classify("[12] A. Lee. On oats. 1999.") is Line.ITEM
    assert classify("Abstract") is Line.HEADING
    assert classify("0.2") is Line.LABEL
    assert classify("BERT 84.6 83.4 71.2") is Line.ROW


def test_a_footnote_between_two_columns_steps_aside() -> None:
    before, behind = "the nineteenth century, when steam and iron came and", "people left the land in great numbers."
    blocks = around_floats(reflow([*COLUMN[:2], before, NOTE, behind], {}), {})
    assert blocks[0].text.endswith("came and people left the land in great numbers.")
    assert blocks[1].kind is Line.NOTE


def test_rows_with_long_names_are_a_table_where_three_stand_together_and_sentences_with_numbers_are_none() -> None:
    rows = ["Sparse weights (Miller et al., 2019) 41.5 56.8 34.6", "Rows of a second mill, left alone 39.0 57.0"]
    kinds = [block.kind for block in reflow([*COLUMN[:2], *rows, "Dense 40.1 50.2 30.3", *COLUMN[2:]], {})]
    assert kinds[1:4] == [Line.ROW] * 3
    assert Line.ROW not in [block.kind for block in reflow([*COLUMN[:2], *rows, *COLUMN[2:]], {})]
    years = [
        "and in 1990 2000 tons were ground by",
        "the mill, in 1991 2100 tons of",
        "it, and in 1992 2200 tons of it",
    ]
    assert [block.kind for block in reflow([*COLUMN[:2], *years], {})] == [Line.TEXT]


def test_a_paragraph_runs_over_the_page_end_past_footnotes_and_figures() -> None:
    pages = across_pages([reflow([*COLUMN[:2], NOTE], {}), reflow(["Figure 1: A flail.", COLUMN[2]], {})])
    assert pages[0][-1].text.endswith("took it over in")
    assert pages[1][0].text.startswith("the nineteenth century")


def test_a_word_broken_at_a_page_end_belongs_to_the_page_it_began_on() -> None:
    first = "\n".join([*COLUMN[:2], "the nineteenth century, and so it is with the retrie-"])
    parsed = parse_pages([first, "val of words from a heap of pages, which is our theme."])
    assert "the retrieval of words" in parsed.text
    assert parsed.text[parsed.pages[0].start : parsed.pages[0].end].endswith("retrieval ")


def test_an_empty_page_is_a_page() -> None:
    parsed = parse_pages(["One page of text.", "", "Another page of text."])
    assert [page.number for page in parsed.pages] == [1, 2, 3]
    assert parsed.text[parsed.pages[2].start :] == "Another page of text."


def test_a_page_of_nothing_but_broken_words_is_no_trap() -> None:
    with within():
        assert parse_pages(["\n".join(["word-"] * 8_000)]).text


LINES = st.sampled_from(
    [
        *(
            *COLUMN,
            *ROWS,
            NOTE,
            "short line",
            "References",
            "• an item of a list",
            "0.2",
            "0.4",
            "0.6",
            "0 20 40 60 80",
        ),
        *(f"ends in a bro{BREAK}", "ken word and goes on for a while until it is over", "well-", "Figure 3: A flail."),
        *("x" * 30, "   ", "é ﬁ \u00ad\x00", "12"),
    ]
)


@given(st.lists(st.lists(st.one_of(LINES, st.text(max_size=60)), max_size=12).map("\n".join), max_size=5))
def test_page_and_table_spans_hold_whatever_the_pages_are(pages: list[str]) -> None:
    parsed = parse_pages(pages)
    assert parse_pages(pages) == parsed
    assert len(parsed.pages) == len(pages)
    assert BREAK not in parsed.text
    position = 0
    for page in parsed.pages:
        assert page.start == position <= page.end
        position = page.end
    assert position == len(parsed.text) or not pages
    for table in parsed.tables:
        assert parsed.text[table.start : table.end].split("\n") == [parsed.text[a:b] for a, b in table.rows]
    places = sorted([*parsed.figures, *((table.start, table.end) for table in parsed.tables)])
    assert all(0 <= start < end <= len(parsed.text) for start, end in places)
    assert all(before[1] < behind[0] for before, behind in pairwise(places))
