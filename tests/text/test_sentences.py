from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.chunking.promises import TEXTS
from tests.timing import growth
from thresher.text import sentences
from thresher.text.sentences import sentence_spans


def cut(text: str) -> list[str]:
    return [text[start:end] for start, end in sentence_spans(text)]


@given(TEXTS)
def test_each_character_but_whitespace_is_in_exactly_one_sentence(text: str) -> None:
    position = 0
    for start, end in sentence_spans(text):
        assert position <= start < end
        assert text[position:start].strip() == ""
        assert text[start:end] == text[start:end].strip()
        position = end
    assert text[position:].strip() == ""


@given(st.lists(st.sampled_from(["Ab cd.", "“Open.", "no end", "\n", "\n\n", "漢字。", "x" * 30]), max_size=60))
def test_reading_in_windows_loses_nothing(words: list[str]) -> None:
    text = " ".join(words)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sentences, "WINDOW_CHARACTERS", 40)
        joined = "".join(text[start:end] for start, end in sentence_spans(text))
    assert "".join(joined.split()) == "".join(text.split())


def test_abbreviations_do_not_end_a_sentence() -> None:
    text = "Lewis et al. (2020) show it, e.g. in Fig. 2 of the paper. It is true."
    assert cut(text) == ["Lewis et al. (2020) show it, e.g. in Fig. 2 of the paper.", "It is true."]
    assert cut("これは文です。次の文です。") == ["これは文です。", "次の文です。"]


@pytest.mark.parametrize("gap", ["\n\n", "\r\n\r\n", "\r\r", "\n \t\n", "\n\u00a0\n"])
def test_a_blank_line_ends_a_sentence_however_lines_end(gap: str) -> None:
    assert cut(f"A heading{gap}The text") == ["A heading", "The text"]


@pytest.mark.parametrize("space", ["\u00a0", "\u2028", "\u3000", "\x85"])
def test_a_wide_space_before_a_full_stop_is_no_panic(space: str, capfd: pytest.CaptureFixture[str]) -> None:
    assert "".join(cut(f"B{space}. Next one.")).replace(" ", "") == f"B{space}.Nextone."
    assert "panicked" not in capfd.readouterr().err


def test_a_panic_of_the_library_costs_the_boundaries_of_one_window_only(monkeypatch: pytest.MonkeyPatch) -> None:
    class PanicException(BaseException):
        pass

    def segment(language: str, text: str) -> list[str]:
        raise PanicException

    monkeypatch.setattr("sentencex.segment", segment)
    assert cut("One. Two.\n\nThree.") == ["One. Two.", "Three."]


def test_blank_lines_far_into_a_text_and_a_lone_surrogate_are_not_lost() -> None:
    assert len(sentence_spans("Ab cd.\n\n" * 5_000)) == 5_000
    assert sentence_spans("a \ud800 b") == [(0, 5)]


def test_a_sentence_across_windows_stays_whole() -> None:
    sentence = "word " * 300 + "end."
    assert {end - start for start, end in sentence_spans(f"{sentence} " * 40)} == {len(sentence)}


def test_unclosed_quotes_take_linear_time() -> None:
    assert growth(lambda pieces: sentence_spans("“Hi. " * pieces), 15_000) < 9  # quadratic: 16


@pytest.mark.parametrize("piece", ["Some words stand here, and end. ", "Line of text\n", "A heading\n\nA line. ", "a"])
def test_two_megabytes_take_seconds(piece: str) -> None:
    started = time.process_time()
    assert sentence_spans(piece * (2_000_000 // len(piece)))
    assert time.process_time() - started < 4


def test_a_line_that_begins_with_a_time_is_one_sentence_and_joins_no_other() -> None:
    lines = [
        "2026-04-18T02:23:03 ERROR pay[5] terminal T-19 is down. Giving up",
        "2026-04-18T02:24:04 INFO  gate[7] id=4",
        "Apr  8 02:03:04 quay-3 disk: full. Why?",
        "[02/03/26, 09:00:12] Imre: hi. All well",
    ]
    text = "\n".join([*lines[:2], "  at Pay.open. At Pay.run.", *lines[2:], "", "It ends. Here."])
    read = [text[start:end] for start, end in sentence_spans(text)]
    assert read == [*lines[:2], "at Pay.open.", "At Pay.run.", *lines[2:], "It ends.", "Here."]
