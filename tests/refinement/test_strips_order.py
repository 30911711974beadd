from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from thresher.refinement.strips import STRIP, document_order, edge_order, estimated_tokens, within_budget
from thresher.types import UNIT, Evidence, Score

Make = Callable[..., Evidence]


def scored(piece: Evidence, value: float) -> Evidence:
    return replace(piece, hit=replace(piece.hit, scores={STRIP: Score(value, UNIT)}))


def test_documents_keep_their_order_and_their_pieces_stand_as_in_them(make_evidence: Make) -> None:
    pieces = [
        make_evidence("b later", id="1", document="b", start=50),
        make_evidence("a", id="2", document="a", start=0),
        make_evidence("b first", id="3", document="b", start=10),
    ]
    assert [piece.text for piece in document_order(pieces)] == ["b first", "b later", "a"]


def test_the_best_are_at_both_ends() -> None:
    assert edge_order([1, 2, 3, 4, 5]) == [1, 3, 5, 4, 2]
    assert edge_order([1, 2, 3, 4]) == [1, 3, 4, 2]
    assert edge_order([]) == []


@given(st.lists(st.integers()))
def test_edge_order_loses_nothing(items: list[int]) -> None:
    assert sorted(edge_order(items)) == sorted(items)


def test_four_characters_are_a_token() -> None:
    assert [estimated_tokens("x" * length) for length in (0, 1, 4, 5)] == [0, 1, 1, 2]


def test_the_best_scored_fit_first_and_the_order_stays(make_evidence: Make) -> None:
    pieces = [
        scored(make_evidence("worst", id="1"), 0.1),
        scored(make_evidence("best of all", id="2"), 0.9),
        scored(make_evidence("long " * 20, id="3"), 0.8),
        scored(make_evidence("good", id="4"), 0.7),
    ]
    fitting, over = within_budget(pieces, 5)
    assert [piece.text for piece in fitting] == ["best of all", "good"]
    assert [piece.hit.chunk.id for piece in over] == ["1", "3"]


def test_what_has_no_score_comes_after_what_has_one(make_evidence: Make) -> None:
    pieces = [make_evidence("none", id="1"), scored(make_evidence("some", id="2"), 0.1)]
    assert [piece.text for piece in within_budget(pieces, 1)[0]] == ["some"]


def test_the_count_of_tokens_is_the_callers(make_evidence: Make) -> None:
    piece = make_evidence("three little words")
    assert within_budget([piece], 3, count=lambda text: len(text.split())) == ([piece], [])
    assert within_budget([piece], 2, count=lambda text: len(text.split())) == ([], [piece])
