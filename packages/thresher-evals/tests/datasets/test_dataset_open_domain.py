"""Every passage that answers a question is known, in each form of question file."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from thresher.errors import UsageError
from thresher_evals.dataset import Gold, passage_id
from thresher_evals.datasets.open_domain import holds, read_material, words_of

Write = Callable[[Path, list[Any]], Path]


@pytest.mark.parametrize(
    ("text", "phrase", "held"),
    [
        ("Rankin's law", "Rankin", True),
        ("made in the US", "U.S.", True),
        ("the 1939–1945 war", "1945", True),
        ("Beyonce sings", "Beyoncé", True),
        ("Metropolitan", "pol", False),
        ("polar bear", "bear polar", False),
        ("anything", "!", False),
        ("", "", False),
    ],
)
def test_a_text_holds_a_phrase_word_by_word(text: str, phrase: str, held: bool) -> None:
    assert holds(words_of(text), words_of(phrase)) is held


def test_a_subject_is_answered_by_every_passage_that_holds_it_and_the_answer(popqa: Path) -> None:
    material = read_material(popqa)
    first, second = material.answerable
    assert (first.gold, first.evidence, first.question.gold) == ("ada", ("ada", "ada2"), (Gold("ada"),))
    assert (second.evidence, second.question.group) == (("ben",), "Ben Hill")
    assert material.left_out == 1
    assert len(material.passages) == 6


def test_without_a_subject_labelled_and_retrieved_passages_count(nq: Path) -> None:
    first, second = read_material(nq).answerable
    assert (first.evidence, first.question.gold) == (("ada", "ada2"), (Gold("ada"),))
    assert second.evidence == ("ben",)


def test_a_paragraph_and_the_other_paragraphs_of_its_article_that_hold_the_answer_count(squad: Path) -> None:
    material = read_material(squad)
    fire = "A fire of 1702 destroyed the foundry."
    again = "It was rebuilt in 1710, and in 1702 nobody had expected that."
    by_id = {candidate.question.id: candidate for candidate in material.answerable}
    assert by_id["q1"].evidence == (passage_id("Bell_foundry", fire), passage_id("Bell_foundry", again))
    (gold,) = by_id["q1"].question.gold
    assert fire[gold.start : gold.end] == "1702"
    assert gold.source == by_id["q1"].gold
    assert {passage.title for passage in material.passages.values()} == {"Bell foundry"}
    assert [candidate.question.id for candidate in material.unanswerable] == ["q5"]


def test_the_pool_may_lie_in_the_data_folder_instead(popqa: Path, tmp_path: Path, monkeypatch: Any) -> None:
    data = tmp_path / "data"
    (data / "wikipedia").mkdir(parents=True)
    (popqa.parent / "corpus.jsonl").replace(data / "wikipedia" / "corpus.jsonl")
    monkeypatch.setenv("THRESHER_DATA", str(data))
    assert len(read_material(popqa).answerable) == 2
    monkeypatch.delenv("THRESHER_DATA")
    with pytest.raises(UsageError, match=r"passages are missing: no .*wiki/corpus\.jsonl; put a corpus\.jsonl"):
        read_material(popqa)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"gold_ids": None}, "neither form of question file"),
        ({"gold_ids": ["nowhere"]}, "no question has an answer that stands in its passage"),
        ({"answers": []}, "no question has an answer that stands in its passage"),
        ({"answers": "painter"}, "'answers' is not a list of texts"),
        ({"subject": 7}, "'subject' is not a text"),
    ],
)
def test_a_file_that_cannot_be_used_says_why(
    popqa: Path, write_lines: Write, change: dict[str, Any], message: str
) -> None:
    line = {**json.loads(popqa.read_text().splitlines()[0]), **change}
    write_lines(popqa, [{name: value for name, value in line.items() if value is not None}])
    with pytest.raises(UsageError, match=message):
        read_material(popqa)


@pytest.mark.parametrize("answers", [[[3, "1702"]], [["1702", 10]], "1702", [[-5, "1702"]]])
def test_an_answer_that_does_not_stand_where_it_should_is_named(squad: Path, write_lines: Write, answers: Any) -> None:
    line = json.loads(squad.read_text().splitlines()[0])
    write_lines(squad, [{**line, "answers": answers}])
    with pytest.raises(UsageError, match=r"squad\.jsonl:1: .* is no span of the context"):
        read_material(squad)
