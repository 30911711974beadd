from __future__ import annotations

from pathlib import Path

from tests.documents.making import read_one, refusal, save, within
from thresher.structure.locators import locate

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

intro
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


def test_text_without_cues_is_refused(tmp_path: Path) -> None:
    assert "no cues" in refusal(tmp_path, "a.vtt", "WEBVTT\n\nJust words.\n").what


def test_cues_that_never_end_are_no_trap(tmp_path: Path) -> None:
    with within():
        read_one(save(tmp_path, "a.srt", SRT + "00:01:30,000 --> 00:01:33,000\n" + "<v a " * 20_000))
