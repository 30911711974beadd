"""Labels of answers: what is kept of one, in a file that a crash and several writers leave whole."""

from __future__ import annotations

import logging
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from thresher.errors import UsageError
from thresher.home.places import LocalFiles
from thresher.tracing.feedback import Feedback, Label, LabelledPassage, label_of

CHUNK = {"source": "pumps.txt", "start": 100, "end": 200, "text": "The seal is rubber.", "kept": True}
CITED = {"source": "pumps.txt", "title": "Pumps", "start": 110, "end": 120, "quote": "rubber", "origin": "inside"}


def answered(**changed: Any) -> dict[str, Any]:
    usual = {"trace": "t1", "question": "What of?", "standalone": None, "abstained": False, "text": "rubber"}
    return {**usual, "citations": [CITED], "chunks": [CHUNK], **changed}


def label(trace: str, source: str = "pumps.txt", *, right: bool = True) -> Label:
    passages = (LabelledPassage(source, "Pumps", 0, 9, "The seal."),)
    return Label(trace, f"Question {trace}?", right, None, abstained=False, passages=passages, labelled="2026-01-01")


@pytest.fixture
def kept(tmp_path: Path) -> Feedback:
    return Feedback(LocalFiles(tmp_path))


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "feedback.jsonl"


# --- what is kept of an answer ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("chunks", "passage"),
    [
        ([{**CHUNK, "start": 300, "end": 400, "text": "Lunch."}, CHUNK], (100, 200, "The seal is rubber.")),
        ([], (110, 120, "rubber")),
    ],
    ids=["each once", "the quote where no chunk is known"],
)
def test_a_label_has_the_chunks_that_were_cited(chunks: list[Any], passage: tuple[int, int, str]) -> None:
    made = label_of(answered(citations=[CITED, CITED], chunks=chunks, standalone="Of what is it?"), right=True)
    assert made.passages == (LabelledPassage("pumps.txt", "Pumps", *passage),)
    assert made.question == "Of what is it?"


def test_what_cannot_be_labelled_is_told() -> None:
    with pytest.raises(UsageError, match="`answer`: is empty"):
        label_of(answered(), right=False, answer="  ")
    with pytest.raises(UsageError, match="was not stored"):
        label_of(answered(trace=""), right=True)


OUTSIDE = {**CITED, "origin": "outside"}


@pytest.mark.parametrize(
    ("right", "changed", "answer", "answerable"),
    [
        (True, {}, None, True),
        (True, {"abstained": True, "citations": []}, None, False),
        (True, {"citations": [OUTSIDE]}, None, None),
        (False, {}, None, None),
        (False, {}, "nitrile", True),
        (False, {"abstained": True, "citations": []}, None, True),
    ],
)
def test_a_label_says_whether_the_collection_answers_where_it_can(
    right: bool, changed: dict[str, Any], answer: str | None, answerable: bool | None
) -> None:
    assert label_of(answered(**changed), right=right, answer=answer).answerable is answerable


# --- the file ---------------------------------------------------------------------------------------------------------


def test_labels_are_read_as_they_were_kept(kept: Feedback, file: Path) -> None:
    assert kept.labels() == []
    made = [label("t1"), label("t2", "söurce\n.txt", right=False)]
    for one in made:
        kept.add(one)
    assert kept.labels() == made
    assert file.read_bytes().count(b"\n") == 2


@pytest.mark.parametrize("left", ['{"trace": "t9", "quest', "[]", '{"trace": 1}'])
def test_half_a_line_that_a_crash_left_costs_that_line_alone(
    left: str, kept: Feedback, file: Path, caplog: pytest.LogCaptureFixture
) -> None:
    kept.add(label("t1"))
    with file.open("a", encoding="utf-8") as opened:
        opened.write(left)
    kept.add(label("t2"))
    with caplog.at_level(logging.WARNING):
        assert [one.trace for one in kept.labels()] == ["t1", "t2"]
    assert "a line is damaged" in caplog.text


def test_several_writers_lose_nothing(kept: Feedback, file: Path) -> None:
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda at: Feedback(LocalFiles(file.parent)).add(label(f"t{at}")), range(40)))
    assert {one.trace for one in kept.labels()} == {f"t{at}" for at in range(40)}


def test_labels_that_quote_a_source_are_forgotten_and_damaged_lines_with_them(kept: Feedback, file: Path) -> None:
    assert kept.forget(["pumps.txt"]) == 0
    assert not file.exists()
    for one in (label("t1"), label("t2", "lamps.txt")):
        kept.add(one)
    with file.open("a", encoding="utf-8") as opened:
        opened.write('{"passages": "of pumps.txt')
    assert kept.forget(["pumps.txt"]) == 2
    assert [one.trace for one in kept.labels()] == ["t2"]
    assert "pumps" not in file.read_text(encoding="utf-8")
    assert kept.forget(["pumps.txt"]) == 0
