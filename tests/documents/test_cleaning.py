from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.documents.making import within
from thresher.documents.cleaning import (
    BREAK,
    FIRST_ROW,
    HEAD,
    HIDDEN,
    PLAIN,
    RAISED,
    ROW,
    SHOWN,
    STRUCK,
    clean_text,
    iso_date,
    join_broken_word,
    join_broken_words,
    normalise,
    references_span,
    strip_arxiv_stamp,
    strip_running_lines,
    vocabulary,
)


@pytest.mark.parametrize(
    ("raw", "clean"),
    [
        ("e\ufb03cient\u00a0so\u00adft\x00 \u200bword\ufeff", "efficient soft word"),
        ("e\u0301", "é"),
        ("x² ∈ ℝ, ½", "x² ∈ ℝ, ½"),
        ("a\r\nb\rc\u2028d", "a\nb\nc\nd"),
        ("a\ud800b", "a\ufffdb"),
        ("👩\u200d🌾", "👩\u200d🌾"),  # scripts and emoji need the joiner
        ("\n\na  \n\n\n\nb\t\n", "a\n\nb"),
    ],
)
def test_characters_are_normalised_and_blank_lines_and_ends_go(raw: str, clean: str) -> None:
    assert clean_text(raw) == clean


@given(st.text())
def test_cleaned_text_is_clean_and_has_no_control_characters(text: str) -> None:
    cleaned = clean_text(text)
    assert clean_text(cleaned) == cleaned
    assert not [character for character in cleaned if ord(character) < 32 and character not in "\n\t"]


@pytest.mark.parametrize(
    ("left", "right", "elsewhere", "joined"),
    [
        ("representa", "tion", "", "representation"),
        ("self", "attention", "self-attention is used", "self-attention"),
        ("state-of-the", "art", "the art is long", "state-of-the-art"),
        ("self-supervi", "sion", "", "self-supervision"),
        ("pre", "train", "pretrain pretrain pre-train", "pretrain"),
        ("pre", "train", "pre-train pre-train pretrain", "pre-train"),
        ("task", "specific", "", "task-specific"),
        ("matrix", "vector", "a matrix, a vector, the matrix, the vector", "matrix-vector"),
        ("learn", "able", "learn learn able able", "learnable"),
        ("GPT", "2", "", "GPT-2"),
        ("34", "layer", "", "34-layer"),
        ("Pre", "Training", "", "Pre-Training"),
        ("(inter", "national),", "", "(international),"),
    ],
)
def test_the_hyphen_stays_where_the_word_has_one(left: str, right: str, elsewhere: str, joined: str) -> None:
    assert join_broken_word(left, right, vocabulary([elsewhere])) == joined


def test_a_part_that_is_a_word_keeps_the_hyphen_where_nothing_was_hyphenated_in_typesetting() -> None:
    plain = ["Efficient pumps are energy-\nefficient. They work with a repre-\nsentative."]
    assert join_broken_word("energy", "efficient", vocabulary(plain)) == "energy-efficient"
    assert join_broken_word("repre", "sentative", vocabulary(plain)) == "representative"
    typeset = [*plain, "A represen-\ntation is one representation, an effi-\ncient one."]
    assert join_broken_word("energy", "efficient", vocabulary(typeset)) == "energy-efficient"
    assert join_broken_word("effi", "cient", vocabulary(typeset)) == "efficient"
    assert join_broken_word("efficient", "cies", vocabulary(typeset)) == "efficientcies"


def test_a_broken_word_does_not_vouch_for_itself() -> None:
    assert dict(vocabulary(["the self-\nattention layer"])) == {"the": 1, "layer": 1}


def test_broken_words_of_plain_text_are_joined_and_lists_are_not() -> None:
    assert join_broken_words("the inter-\nnational law\nof seas") == "the international\nlaw\nof seas"
    assert join_broken_words("- one\n- two\nA -\nb") == "- one\n- two\nA -\nb"


def test_the_arxiv_stamp_goes_and_leaves_its_date_and_a_citation_stays() -> None:
    text, date = strip_arxiv_stamp("Words here\narXiv:2005.11401v4 [cs.CL] 12 Apr 2021\nMore")
    assert "arXiv" not in text
    assert date == "12 Apr 2021"
    line = "arXiv preprint arXiv:2005.11401, 2021."
    assert strip_arxiv_stamp(line) == (line, None)


def pages_with(head: str, count: int) -> list[list[str]]:
    return [[head, f"Body of page {'abcdefghij'[n]}", f"and line {'klmnopqrst'[n]}.", str(n + 1)] for n in range(count)]


@pytest.mark.parametrize(
    ("heads", "kept"),
    [
        (["Published as a conference paper at ICLR 2018"], []),
        (["Threshing by Machine"], ["Threshing by Machine"]),  # the title on the first page outlives its use
        (["Threshing by Machine", "Lee and Moe"], ["Threshing by Machine"]),
    ],
)
def test_running_heads_and_page_numbers_are_removed(heads: list[str], kept: list[str]) -> None:
    pages = pages_with("x", 8)
    for number, page in enumerate(pages):
        page[0] = heads[number % len(heads)]
    stripped = strip_running_lines(pages)
    assert stripped[0] == [*kept, "Body of page a", "and line k."]
    assert stripped[1:] == [page[1:3] for page in pages[1:]]


def test_a_line_whose_numbers_differ_otherwise_than_those_of_pages_is_no_running_head() -> None:
    pages = [[f"The mill, page {at}", f"Water used: {used} m3"] for at, used in enumerate((14, 11, 19, 7, 3), start=1)]
    kept = [line for page in strip_running_lines(pages) for line in page]
    assert [line for line in kept if "Water" in line] == [f"Water used: {used} m3" for used in (14, 11, 19, 7, 3)]
    assert not [line for line in kept[2:] if "The mill" in line]


@pytest.mark.parametrize(
    "pages",
    [
        [["Body", "0.2", "17"], ["Body two", "words", "40"], ["Body three", "words", "3"], ["Body four", "17"]],
        [[f"a{c}", f"b{c}", f"c{c}", "Proof.", f"d{c}", f"e{c}", f"f{c}"] for c in "uvwxyz"],
    ],
)
def test_numbers_of_the_body_and_lines_in_the_middle_of_pages_stay(pages: list[list[str]]) -> None:
    assert strip_running_lines(pages) == pages


@given(st.lists(st.lists(st.sampled_from(["a b.", "Head", "1", "2", "3", "x"]), max_size=6), max_size=8))
def test_stripping_keeps_the_order_and_only_takes_from_the_edges(pages: list[list[str]]) -> None:
    for before, after in zip(pages, strip_running_lines(pages), strict=True):
        assert "\n".join(after) in "\n".join(before)


@pytest.mark.parametrize(
    ("heading", "behind"),
    [
        *(("References", end) for end in ("A Implementation Details\n\nWe used oats.", "Appendix\n\nProofs.")),
        *((name, "") for name in ("REFERENCES", "7. References", "## Bibliography", "Works Cited", "VII. References")),
    ],
)
def test_references_are_found_by_their_usual_names_and_end_where_the_appendix_begins(heading: str, behind: str) -> None:
    text = f"Words.\n\n{heading}\n\n[1] A. Lee, B. Moe. On oats. 1999.\n\n{behind}"
    start, end = references_span(text) or (0, 0)
    assert (text[:start], text[end:]) == ("Words.\n\n", behind)
    assert references_span("References to oats are rare.\nSee the references.") is None


LINES = ["1", "page", "References", "## References", "References\nAppendix", "arXiv:2101.00001"]
UNITS = ["a", " ", "-", ".", "a-", "\n", " \n-", "|", "www.", "References ", "1 ", "page "]


@pytest.mark.parametrize(
    "text", [*(f"{line}{' ' * 100_000}x" for line in LINES), *(unit * (200_000 // len(unit)) + "x" for unit in UNITS)]
)
def test_no_repetition_is_a_trap(text: str) -> None:
    with within():
        clean_text(text)
        join_broken_words(text)
        vocabulary([text])
        references_span(text)
        strip_running_lines([[text]])
        strip_arxiv_stamp(text)
        join_broken_word(text + "1b", "tion", {})
        iso_date(text)


# --- dates ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("written", "date"),
    [
        ("2021-04-12", "2021-04-12"),
        ("2021-04-12T10:00:00Z", "2021-04-12"),
        ("2021-04", "2021-04"),
        ("1999", "1999"),
        ("D:20200506070809+01'00'", "2020-05-06"),
        ("12 Apr 2021", "2021-04-12"),
        ("April 12, 2021", "2021-04-12"),
        ("Mon, 02 Mar 2020 10:00:00 +0100", "2020-03-02"),
        ("3/4/2021", None),
        ("2021-13-40", None),
        ("yesterday", None),
        ("Mon, 02 Mar 99999999999999999999 10:00", None),
        ("", None),
    ],
)
def test_dates_are_read_as_documents_write_them(written: str, date: str | None) -> None:
    assert iso_date(written) == date


@given(st.text())
def test_what_is_no_date_is_none_and_never_an_error(text: str) -> None:
    found = iso_date(text)
    assert found is None or found[:4].isdigit()


def test_no_two_marks_that_readers_leave_in_a_text_are_the_same_character() -> None:
    marks = (BREAK, FIRST_ROW, ROW, HEAD, PLAIN, HIDDEN, SHOWN, RAISED, STRUCK)
    assert len(set(marks)) == len(marks)


@pytest.mark.parametrize(
    ("wide", "plain"),
    [
        ("Ｐｕｍｐ ＫＸ－４０： ３,２００㎏ （ａ）", "Pump KX-40: 3,200kg (a)"),
        ("価格：３００円、（株）山。５０％です！", "価格：300円、（株）山。50%です！"),
        ("㎡ ㎧ ℃ x²", "m2 m/s °C x²"),
    ],
)
def test_what_has_full_width_is_plain_but_punctuation_beside_chinese_or_japanese(wide: str, plain: str) -> None:
    assert normalise(wide) == plain
