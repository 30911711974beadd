from __future__ import annotations

from pathlib import Path

import pytest

from tests.documents.making import parse_bytes, read_one, refusal, rows_of, save, within
from thresher.structure.locators import locate


def test_markdown_keeps_its_text_and_gives_front_matter_and_tables(tmp_path: Path) -> None:
    source = (
        '---\ntitle: "Oats"\ndate: 2020-05-06\nstars: 4\ndraft: false\ntags: [a, b]\nby:\n  - Ann\n  - Bo\n---\n'
        "# First *heading*\n\n| a | b |\n|---|:-:|\n| 1 | 2 |\n\n```\n| x | y |\n|---|---|\n```\nEnd.\n"
    )
    document = read_one(save(tmp_path, "a.md", source))
    assert (document.kind, document.title, document.date) == ("markdown", "Oats", "2020-05-06")
    assert document.metadata == {"stars": 4, "draft": False, "tags": "a, b", "by": "Ann, Bo"}
    assert document.text.startswith("# First *heading*")
    assert [rows_of(document, number) for number in range(len(document.tables))] == [["| a | b |", "| 1 | 2 |"]]


@pytest.mark.parametrize(
    ("source", "title"),
    [
        ("```\n# no\n```\n## On *oats* #\n\nText.", "On oats"),
        ("On oats\n=======\n\nText.", "On oats"),
        ("# On C# ##\n\nText.", "On C#"),
        ("---\nJust a rule, no fields\n---\nText.", "rye"),
        ("---\na : 1\nb:c\n---\nText.", "rye"),
        ("---\nsub title:\tOats # not this\n---\n# Barley\n", "Barley"),
    ],
)
def test_markdown_without_a_title_is_named_by_its_first_heading_or_its_file(
    source: str, title: str, tmp_path: Path
) -> None:
    assert read_one(save(tmp_path, "rye.md", source)).title == title


def test_a_line_that_is_a_comment_is_no_text_and_code_keeps_its_own(tmp_path: Path) -> None:
    rest = "| a |\n|---|\n| 1 |\n\n```\n<!-- kept -->\n```\n"
    source = f"Fares:\n\n<!-- made: today -->\n\n{rest}<!-- gone -->\nEnd <!-- x -->.\n"
    document = read_one(save(tmp_path, "a.md", source))
    assert document.text.strip() == f"Fares:\n\n{rest}End <!-- x -->."
    assert rows_of(document) == ["| a |", "| 1 |"]
    at = document.text.index("End")
    assert locate(document, at, at + 3) == "line 13"


def test_text_keeps_its_lines_and_is_named_by_its_file(tmp_path: Path) -> None:
    document = read_one(save(tmp_path, "notes.txt", "one\r\ntwo\r\n\r\n\r\n\r\nthree  \n"))
    assert (document.kind, document.title, document.text) == ("text", "notes", "one\ntwo\n\nthree")


BLANKS = " " * 40_000


@pytest.mark.parametrize(
    "source",
    [
        f"---\na{BLANKS}x\n---\n",
        f"---\na: b{BLANKS}c\n---\nText.",
        f"a|b\n{BLANKS}|x",
        f"a|b\n|-{BLANKS}x",
        f"a|b\n{'|-' * 20_000}x",
        f"# {'#' * 40_000}x",
        f"# a{BLANKS}x",
        f"# {'*a ' * 13_000}",
        "---\n" + "\n---  x" * 6_000,
    ],
)
def test_no_line_is_a_trap(source: str) -> None:
    with within():
        assert parse_bytes(source.encode(), name="a.md")


# --- subtitles --------------------------------------------------------------------------------------------------------

SRT = """1
00:00:01,000 --> 00:00:03,000
The pump must be primed

2
00:00:03,100 --> 00:00:05,000
before every start.

3
00:01:30,000 --> 00:01:33,000
<i>Never run it dry</i> &amp; hot.
"""
VTT = """WEBVTT

NOTE by hand

00:01.000 --> 00:03.000 align:start
<v Ada>The kiln reaches 1240 degrees

00:03.100 --> 00:05.000
after nine hours.

00:05.100 --> 00:06.000
<v Bo>Really?
"""


def test_cues_are_joined_to_paragraphs_and_keep_their_times(tmp_path: Path) -> None:
    document = read_one(save(tmp_path, "a.srt", SRT))
    assert document.text == "The pump must be primed before every start.\n\nNever run it dry & hot."
    at = document.text.index("before")
    assert locate(document, at, at + 6) == "00:00:03"
    assert locate(document, 0, at + 6) == "00:00:01 to 00:00:03"
    assert locate(document, len(document.text) - 4, len(document.text)) == "00:01:30"


def test_a_speaker_is_named_and_begins_a_paragraph(tmp_path: Path) -> None:
    document = read_one(save(tmp_path, "a.vtt", VTT))
    assert document.text == "Ada: The kiln reaches 1240 degrees after nine hours.\n\nBo: Really?"


def test_text_without_cues_is_refused_and_cues_that_never_end_are_no_trap(tmp_path: Path) -> None:
    assert "no cues" in refusal(tmp_path, "a.vtt", "WEBVTT\n\nJust words.\n").what
    with within():
        read_one(save(tmp_path, "a.srt", SRT + "00:01:30,000 --> 00:01:33,000\n" + "<v a " * 20_000))
