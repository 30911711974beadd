from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as some

from tests.answering.answering import document, piece
from thresher.answering.passage import LONGEST_PASSAGE, SHORT_PASSAGE, Passage, passage_around, stretches_of

OPTIONS = """## Options

--retries N

How often a request is sent again before it fails.

--timeout SECONDS

After how many seconds a request fails. The clock starts when the request is sent and not when it
is written to the queue, so that a long queue fails no request.
"""
LIST = """The cache was written for small disks.

Before an upgrade:

- Stop the service.

- Copy the folder.

- Start the service again.

It is checked every night by a job of its own.
"""
SETTINGS = """max_jobs (integer)

How many jobs run at once. It is typically 100.

spare_jobs (integer)

How many jobs are kept for the owner. At most max_jobs jobs run at once.

The default value is three.

queue (string)

The name of the queue.
"""
CODE = """The cache keeps what was read.

To clear it at once, call this:

    tool cache clear
    tool cache check

Nothing else has to be done.
"""
LONG = " ".join(f"Sentence number {n} of a long paragraph has nine words." for n in range(100))


def around(text: str, place: str) -> str:
    start = text.index(place)
    low, high = passage_around(text, start, start + len(place))
    assert low <= start < start + len(place) <= high
    return text[low:high]


# --- a manual ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "places", "whole"),
    [
        (OPTIONS, ["--retries", "sent again"], "--retries N\n\nHow often a request is sent again before it fails."),
        (OPTIONS, ["a long queue"], OPTIONS[OPTIONS.index("--timeout") :].strip()),
        (SETTINGS, ["default value is three"], SETTINGS[SETTINGS.index("spare_jobs") : SETTINGS.index("\n\nqueue")]),
        (LIST, ["Before an upgrade", "Stop the service", "Copy the folder", "Start the service"],
         LIST[LIST.index("Before") :].strip()),
        (CODE, ["call this", "cache clear", "cache check"], CODE[CODE.index("To clear") :].strip()),
    ],
)  # fmt: skip
def test_an_option_a_list_and_code_are_shown_whole_with_their_name_or_lead_in(
    text: str, places: list[str], whole: str
) -> None:
    for place in places:
        assert around(text, place) == whole, place


def test_a_short_paragraph_is_shown_with_the_one_behind_it_and_a_long_one_alone() -> None:
    short, long = "It is old.", "It was built of stone by the town. " * 12
    assert around(f"{short}\n\n{long.strip()}", "old") == f"{short}\n\n{long.strip()}"
    assert around(f"{long.strip()}\n\n{short}", "stone") == long.strip()


def test_what_ends_a_section_is_shown_without_its_other_paragraphs() -> None:
    text = "The barn\n\nIt was built of stone by the town.\n\nIt is open on Mondays.\n\nThe mill\n\nIt is old."
    start = text.index("It is open")
    end = start + len("It is open on Mondays.")
    assert passage_around(text, start, end, {"The barn", "The mill"}) == (start, end)


# --- long text --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("number", [0, 50, 99])
def test_a_long_paragraph_is_cut_to_whole_sentences_around_the_place(number: int) -> None:
    found = around(LONG, f"number {number} ")
    assert found.startswith("Sentence number ")
    assert found.endswith("nine words.")
    assert SHORT_PASSAGE <= len(found) <= LONGEST_PASSAGE


def test_of_a_block_without_sentences_whole_lines_are_shown() -> None:
    rows = "\n".join(f"row {n} of a table that goes on and on and on" for n in range(200))
    found = around(rows, "row 100 ")
    assert found in rows
    assert all(line.startswith("row ") and line.endswith("on and on") for line in found.splitlines())
    assert len(found) <= 2 * LONGEST_PASSAGE


# --- as it is shown ---------------------------------------------------------------------------------------------------

SHEET = "Prices in pounds.\n\n| Model | Price |\n| Oak | 1450 |\n| Pine | 690 |\n\n# Delivery\n\nWithin a week."


def shown(text: str, start: int = 0, marked: str = "") -> str:
    """A passage from a place to the end of a document, with a stretch marked."""
    kept = text[start:]
    (stretch,) = stretches_of([piece(kept, start=start)], {"d1": document(text)})
    at = kept.find(marked)
    return Passage(stretch, start, len(text), kept).shown((at, at + len(marked)) if marked else None)


def test_a_passage_with_a_table_and_a_heading_is_markdown() -> None:
    table = "| Model | Price |\n|---|---|\n| **Oak** | **1450** |\n| Pine | 690 |"
    whole = f"\n\n“Prices in pounds.”\n\n{table}\n\n#### Delivery\n\n“Within a week.”\n\n"
    assert shown(SHEET, marked="| Oak | 1450 |") == whole
    assert shown(SHEET, marked="Within a week.").endswith("| Pine | 690 |\n\n#### Delivery\n\n“**Within a week.**”\n\n")


def test_a_passage_that_begins_within_a_table_has_no_header() -> None:
    rows = SHEET[: SHEET.index("\n\n#")]
    assert shown(rows, SHEET.index("| Oak")) == "\n\n|  |  |\n|---|---|\n| Oak | 1450 |\n| Pine | 690 |\n\n"


HEAD = "Terms of use\n\n"
MARKS = """   5. Contributions. What you send in falls under this
      licence, whatever you say elsewhere.

   6. Trademarks. This licence does not grant permission to use the trade
      names of the licensor, except as required.
      It ends in:
          a court
          of law"""


@pytest.mark.parametrize(
    ("text", "marked", "shown_as"),
    [
        (MARKS,
         "This licence does not grant permission to use the trade\n      names of the licensor, except as required.",
         "“   5. Contributions. What you send in falls under this licence, whatever you say elsewhere.\n\n"
         "   6. Trademarks. **This licence does not grant permission to use the trade names of the licensor, "
         "except as required.** It ends in:\n          a court\n          of law”"),
        ("(a) You keep every notice\n       of the work;\n   (b) you state what you\n       changed.",
         "(b) you state what you\n       changed.",
         "“(a) You keep every notice of the work;\n   **(b) you state what you changed.**”"),
        ('Words:\n\n   "Use" means all the terms of\n   use, copying and distribution.\n\n   Short.\n   Another.',
         '"Use" means all the terms of\n   use, copying and distribution.',
         '“Words:\n\n   **"Use" means all the terms of use, copying and distribution.**\n\n   Short.\n   Another.”'),
        ("Preamble\n\n  This licence lets you copy and\nshare the work.\n\n1 Main Street\nTown",
         "This licence lets you copy and\nshare the work.",
         "“Preamble\n\n  **This licence lets you copy and share the work.**\n\n1 Main Street\nTown”"),
        ("Run this:\n\n    tool cache clear --every-disk\n    tool check", "",
         "“Run this:\n\n    tool cache clear --every-disk\n    tool check”"),
    ],
    ids=["items", "a quote that begins behind an indent", "indented prose", "a paragraph among others", "commands"],
)  # fmt: skip
def test_the_lines_of_an_item_are_joined_and_a_sentence_across_them_is_marked(
    text: str, marked: str, shown_as: str
) -> None:
    assert shown(HEAD + text, len(HEAD), marked) == shown_as


def test_a_passage_that_begins_within_code_is_code_up_to_its_fence() -> None:
    text = "Call:\n```\nimport a\na.run()\n```\n\nThen wait."
    assert shown(text, text.index("a.run")) == "\n\n```\na.run()\n```\n\n“Then wait.”\n\n"


# --- any text ---------------------------------------------------------------------------------------------------------

PIECES = some.sampled_from(
    ["\n\n", "\n", "\n \n", " ", "It is old. ", "- An item", "1. A step", "--flag", "## Name", "    code()", "Lead in:",
     "word ", "word " * 60, "It was built of stone. " * 30, "| a | b |", ".", ":"]
)  # fmt: skip


@given(some.lists(PIECES, max_size=12).map("".join), some.data())
def test_a_passage_is_a_stretch_of_its_text(text: str, data: some.DataObject) -> None:
    start = data.draw(some.integers(0, len(text)))
    end = data.draw(some.integers(start, len(text)))
    low, high = passage_around(text, start, end)
    assert 0 <= low <= high <= len(text)


@given(some.lists(PIECES, min_size=1, max_size=12).map("".join), some.data())
def test_a_word_stays_inside_its_passage(text: str, data: some.DataObject) -> None:
    words = [(at, at + len(word)) for word in set(text.split()) if (at := text.find(word)) >= 0]
    if words:
        start, end = data.draw(some.sampled_from(sorted(words)))
        low, high = passage_around(text, start, end)
        assert low <= start < end <= high
