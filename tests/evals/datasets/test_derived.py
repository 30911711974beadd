"""What a collection cannot answer, in four kinds, and what it can."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.real_data import DATA
from thresher.types import Origin
from thresher_evals.dataset import Dataset, split_of
from thresher_evals.datasets.open_domain import holds_any, words_of
from thresher_evals.datasets.registry import load
from thresher_evals.runner import collection_of, files, outside_of

TOWNS = 400


@pytest.fixture(scope="module")
def towns(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A paragraph, an answerable question and an unanswerable one for each of many towns in two articles."""
    lines = []
    for number in range(TOWNS):
        context = f"The mayor of town {number} is called Mx{number}."
        shared = {"title": f"Article_{number % 2}", "paragraph": number, "context": context}
        answers = [[context.index("Mx"), f"Mx{number}"]]
        who, why = f"Who leads town {number}?", f"Why was town {number} sold?"
        lines.append({**shared, "id": f"a{number}", "question": who, "answers": answers, "unanswerable": False})
        lines.append({**shared, "id": f"u{number}", "question": why, "answers": [], "unanswerable": True})
    path = tmp_path_factory.mktemp("towns") / "towns.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def dataset(towns: Path) -> Dataset:
    """All questions about them."""
    return load(f"refusal:{towns}")


def test_as_many_of_each_kind_as_the_protocol_wants(towns: Path, dataset: Dataset) -> None:
    assert dataset.categories == {"answerable": 100, "near-miss": 50, "off-topic": 20, "unanswerable": 50}
    assert {question.category for question in dataset.questions if question.answerable} == {"answerable"}
    assert dataset == load(f"refusal:{towns}")


def test_a_near_miss_has_no_passage_and_the_others_have_theirs(dataset: Dataset) -> None:
    texts = [words_of(passage.text) for passage in dataset.corpora[Origin.INSIDE].passages]
    assert len(texts) == TOWNS - 50
    for question in dataset.questions:
        found = [text for text in texts if holds_any(text, map(words_of, question.answers))]
        match question.category:
            case "near-miss":
                assert (found, question.gold) == ([], ())
            case "answerable":
                assert len(found) == len(question.gold) == 1
            case "unanswerable":
                assert holds_any(words_of(question.question), [words_of("sold")])
                number = question.id.removeprefix("u")
                assert any(holds_any(text, [words_of(f"town {number}")]) for text in texts)


def test_questions_are_chosen_within_a_split(towns: Path) -> None:
    parts = {split: load(f"refusal:{towns}", split=split).questions for split in ("train", "tune", "final")}
    asked = {split: [one for one in questions if one.category != "off-topic"] for split, questions in parts.items()}
    articles = {split_of("Article_0"), split_of("Article_1")}
    assert {split for split, questions in asked.items() if questions} == articles
    drawn = [question.id for questions in parts.values() for question in questions if question.category == "off-topic"]
    assert len(drawn) == len(set(drawn)) > 20


def test_a_wikipedia_file_marks_nothing_as_unanswerable_and_says_so(popqa: Path, tmp_path: Path) -> None:
    dataset = load(f"refusal:{popqa}")
    assert "unanswerable" not in dataset.categories
    assert "no question as unanswerable" in dataset.note
    assert dataset.categories["off-topic"] == 20
    name = collection_of(dataset)
    assert outside_of(dataset, name) == "none"
    assert [owner for _, owner in files(dataset, tmp_path, name, outside="none")] == [name]


@pytest.mark.skipif(not (DATA / "squad").is_dir(), reason=f"needs real data: no {DATA}/squad (THRESHER_DATA)")
def test_the_real_questions_are_enough_for_every_kind() -> None:
    dataset = load(f"refusal:{DATA / 'squad' / 'answered.jsonl'}")
    assert dataset.categories == {"answerable": 100, "near-miss": 50, "off-topic": 20, "unanswerable": 50}
    assert len(dataset.corpora[Origin.INSIDE].passages) == 195
