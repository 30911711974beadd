"""Questions made of a collection's own texts, and the scores gathered of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence, Set

import pytest

from thresher.recipes.calibrate import SyntheticQuestion, gather, gather_labelled
from thresher.types import Chunk
from thresher_evals.questions.synthetic import put_together, synthetic_questions

Make = Callable[..., Chunk]
BUILT = "The Kopu lighthouse was built by Hansa Tallinn in 1531 and has 40 lamps for passing ships."


@pytest.fixture
def chunks(make_chunk: Make) -> list[Chunk]:
    texts = {
        "lamps": BUILT,
        "copy": f"A quotation follows here. {BUILT}",
        "other": "The lighthouse keeps a lamp that burns all the night.",
    }
    return [make_chunk(id, text, document=id, title="Kopu") for id, text in texts.items()]


def test_a_question_is_brief_and_every_document_that_holds_subject_and_answer_answers(chunks: list[Chunk]) -> None:
    assert {one.question for one in synthetic_questions(chunks[:1], number=5)} == {
        "By Hansa Tallinn in what year and has 40 lamps?",
        "In “Kopu”, in 1531 and has how many lamps for passing ships?",
        "In “Kopu”, lighthouse was built by who in 1531 and has?",
        "The what lighthouse was built by Hansa Tallinn in?",
    }
    found = synthetic_questions(chunks, number=5)
    assert {one.document_id for one in found} == {"lamps", "copy"}
    assert all(set(one.answered_by) == {"lamps", "copy"} for one in found)


def test_documents_take_turns_and_the_number_is_kept(make_chunk: Make) -> None:
    many = [
        make_chunk(f"{document}{n}", f"Pier {n} of {document} has {n * 7} cranes.", document=document, start=99 * n)
        for document in ("Ava", "Bor", "Cif")
        for n in range(3, 9)
    ]
    assert sorted(one.document_id for one in synthetic_questions(many, number=3)) == ["Ava", "Bor", "Cif"]
    assert len(synthetic_questions(many, number=5)) == 5


def test_questions_depend_on_the_seed_and_not_on_the_order_of_the_chunks(chunks: list[Chunk]) -> None:
    def asked(found: Sequence[Chunk], seed: int) -> list[str]:
        return [one.question for one in synthetic_questions(found, number=5, seed=seed)]

    assert asked(chunks, 4) == asked(chunks[::-1], 4)
    assert len({tuple(asked(chunks, seed)) for seed in range(8)}) > 1


def test_a_document_is_put_together_of_chunks_that_overlap_and_its_table_of_those_that_follow_each_other(
    make_chunk: Make,
) -> None:
    text = f"{BUILT}\n\n| Part | Price |\n| lamp | 40 |\n| bell | 70 |\n\nThe end of it."
    table, middle = text.index("| Part"), text.index("| bell")
    cuts = [(0, 60, "text"), (40, table, "text"), (table, middle, "table"), (middle, len(text) - 16, "table")]
    chunks = [
        make_chunk(f"c{start}", text[start:end].rstrip("\n"), start=start, kind=kind) for start, end, kind in cuts
    ]
    document = put_together(chunks[::-1])
    assert document.text == text[: text.index("\n\nThe end")]
    (one,) = document.tables
    assert [document.text[slice(*row)] for row in one.rows] == ["| Part | Price |", "| lamp | 40 |", "| bell | 70 |"]


def test_one_in_five_unanswerable_questions_is_a_near_miss(make_chunk: Make) -> None:
    names = ["Ava", "Bor", "Cif", "Dun", "Elm", "Fir", "Gor", "Hob", "Ivy", "Jot"]
    many = [
        make_chunk(
            f"{n}", f"The {name} lighthouse was built by Al Meyer in {1500 + 10 * n}.", document=f"d{n}", title=name
        )
        for n, name in enumerate(names)
    ]
    questions = synthetic_questions(many, number=10)
    near = [one.near_miss for one in questions if one.near_miss]
    assert (len(questions), len(near)) == (10, 2)
    assert not set(near) & {one.question for one in questions}


def test_scores_are_gathered_with_the_answering_documents_out_of_reach_or_of_the_near_miss() -> None:
    questions = [
        SyntheticQuestion("a?", "d1", ("d1", "d2")),
        SyntheticQuestion("b?", "d3", ("d3",), near_miss="nearly b?"),
        SyntheticQuestion("nothing?", "d4", ("d4",)),
    ]
    best = {("a?", False): 0.9, ("a?", True): 0.2, ("b?", False): 0.8, ("nearly b?", False): 0.3}

    def scores_of(question: str, without: Set[str]) -> float | None:
        assert without in (set(), {"d1", "d2"}, {"d4"})
        return best.get((question, bool(without)))

    assert gather(questions, scores_of) == ([0.9, 0.8], [0.2, 0.3])


def test_labelled_questions_are_asked_as_they_are_and_nothing_found_scores_zero() -> None:
    best = {"a": 0.9, "b": 0.4, "c": None}
    asked = [("a", True), ("b", False), ("c", False)]
    assert gather_labelled(asked, lambda question, without: best[question]) == ([0.9], [0.4, 0.0])
