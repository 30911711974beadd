"""What a collection cannot answer, in four kinds, and what it can."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.real_data import DATA
from thresher.errors import UsageError
from thresher.types import Origin
from thresher_evals.dataset import Dataset, Question, normalise
from thresher_evals.datasets.derived import divided
from thresher_evals.datasets.open_domain import Candidate, holds_any, words_of
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


def test_a_wikipedia_file_marks_nothing_as_unanswerable_and_says_so(popqa: Path, tmp_path: Path) -> None:
    dataset = load(f"refusal:{popqa}")
    assert "unanswerable" not in dataset.categories
    assert "no question as unanswerable" in dataset.note
    assert dataset.categories["off-topic"] == 20
    name = collection_of(dataset)
    assert outside_of(dataset, name) == "none"
    assert [owner for _, owner in files(dataset, tmp_path, name, outside="none")] == [name]


# --- routing ----------------------------------------------------------------------------------------------------------


Write = Callable[[Path, list[Any]], Path]


def ids(dataset: Dataset, origin: Origin) -> list[str]:
    return [passage.id for passage in dataset.corpora[origin].passages]


def test_what_holds_subject_and_answer_moves_outside_and_neighbours_stay(popqa: Path) -> None:
    dataset = load(f"routing:{popqa}")
    assert ids(dataset, Origin.OUTSIDE) == ["ada", "ada2"]
    assert ids(dataset, Origin.INSIDE) == ["ship", "paint", "ben", "cato"]
    outside, inside = dataset.questions
    assert (outside.id, outside.category, outside.answerable, outside.answers[0]) == ("q1", "outside", True, "painter")
    assert [(place.source, place.origin) for place in outside.gold] == [("ada", Origin.OUTSIDE)]
    assert (inside.id, inside.category) == ("q2", "inside")
    assert (dataset.task, dataset.categories) == ("ask", {"inside": 1, "outside": 1})
    assert "1 without a first gold passage" in dataset.note


def test_a_paragraph_is_on_one_side_and_questions_that_need_it_on_the_other_are_left_out(squad: Path) -> None:
    dataset = load(f"routing:{squad}")
    texts = {origin: [passage.text for passage in corpus.passages] for origin, corpus in dataset.corpora.items()}
    assert len(texts[Origin.INSIDE]) + len(texts[Origin.OUTSIDE]) == 4
    assert {question.id for question in dataset.questions} < {"q1", "q2", "q3", "q4", "q13"}
    for question in dataset.questions:
        origin = Origin(question.category or "")
        assert all(place.origin is origin for place in question.gold)
        for place in question.gold:
            text = {passage.id: passage.text for passage in dataset.corpora[origin].passages}[place.source]
            assert text[place.start : place.end] in question.answers
    assert "whose evidence is needed on the other side" in dataset.note


NAMES = st.sampled_from("abcdef")
CANDIDATES = st.lists(st.tuples(NAMES, st.lists(NAMES, max_size=4)), max_size=25).map(
    lambda made: [
        Candidate(Question(f"{number}", "?"), gold, tuple(dict.fromkeys((gold, *others))))
        for number, (gold, others) in enumerate(made)
    ]
)


@given(CANDIDATES, st.randoms(use_true_random=False))
def test_a_question_that_is_asked_has_its_evidence_where_its_half_says(
    candidates: list[Candidate], shuffler: Any
) -> None:
    sides, moved = divided(candidates)
    shuffled = list(candidates)
    shuffler.shuffle(shuffled)
    assert divided(shuffled) == (sides, moved)
    for candidate in candidates:
        match sides.get(candidate.question.id):
            case Origin.INSIDE:
                assert candidate.gold not in moved
            case Origin.OUTSIDE:
                assert set(candidate.evidence) <= moved
    asked_outside = [one for one in candidates if sides.get(one.question.id) is Origin.OUTSIDE]
    assert moved == {id for one in asked_outside for id in one.evidence}


def test_the_same_file_gives_the_same_collections_for_every_split(popqa: Path, tmp_path: Path) -> None:
    whole = load(f"routing:{popqa}")
    name = collection_of(whole)
    assert name == collection_of(load(f"routing:{popqa}")) == collection_of(load(f"routing:{popqa}", sample=1))
    assert name.startswith("routing-popqa-")
    assert outside_of(whole, name) == f"collection:{name}-outside"
    split = "train" if load(f"routing:{popqa}", split="train").questions else "final"
    assert collection_of(load(f"routing:{popqa}", split=split)) == name
    corpus = popqa.parent / "corpus.jsonl"
    corpus.write_text(corpus.read_text().replace("sank", "vanished"))
    assert collection_of(load(f"routing:{popqa}")) != name


def test_corpora_are_written_once_below_home_and_outside_only_where_it_is_wanted(popqa: Path, tmp_path: Path) -> None:
    dataset = load(f"routing:{popqa}")
    name = collection_of(dataset)
    (inside,) = files(dataset, tmp_path, name, outside="none")
    assert inside == (tmp_path / "datasets" / f"{name}-inside.jsonl", name)
    before = inside[0].stat().st_mtime_ns
    again, outside = files(dataset, tmp_path, "mine", outside="collection:mine-outside")
    assert again == (inside[0], "mine")
    assert outside == (tmp_path / "datasets" / f"{name}-outside.jsonl", "mine-outside")
    assert inside[0].stat().st_mtime_ns == before
    assert outside[0].read_bytes() == dataset.corpora[Origin.OUTSIDE].content
    inside[0].write_text("damaged")
    next(iter(files(dataset, tmp_path, name, outside="none")))
    assert inside[0].read_bytes() == dataset.corpora[Origin.INSIDE].content


def test_a_file_whose_questions_leave_nothing_on_one_side_is_refused(popqa: Path) -> None:
    lines = popqa.read_text().splitlines(keepends=True)
    popqa.write_text(lines[1])
    with pytest.raises(UsageError, match="no passage is left outside"):
        load(f"routing:{popqa}")


@pytest.mark.slow
@pytest.mark.skipif(not (DATA / "wikipedia").is_dir(), reason=f"needs real data: no {DATA}/wikipedia (THRESHER_DATA)")
def test_the_real_questions_are_divided_and_nothing_leaks() -> None:
    dataset = load(f"routing:{DATA / 'wikipedia' / 'popqa.jsonl'}")
    assert dataset.categories == {"inside": 165, "outside": 183}
    inside, outside = (dataset.corpora[origin].passages for origin in (Origin.INSIDE, Origin.OUTSIDE))
    assert (len(inside), len(outside)) == (28_486, 249)
    texts = [f" {normalise(f'{passage.title} {passage.text}')} " for passage in inside]
    for question in [question for question in dataset.questions if question.category == "outside"][:10]:
        subject = f" {normalise(question.group)} "
        words = [f" {normalise(answer)} " for answer in question.answers if normalise(answer)]
        assert not [text for text in texts if subject in text and any(word in text for word in words)], question.id
