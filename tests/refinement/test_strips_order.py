from __future__ import annotations

from collections.abc import Callable

from hypothesis import given
from hypothesis import strategies as st

from thresher.refinement.strips import document_order, edge_order
from thresher.types import Evidence

Make = Callable[..., Evidence]


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
