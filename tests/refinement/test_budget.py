"""The smallest set of stretches within a budget: never above it, verbatim, best first, more with more."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from thresher.refinement.excerpts import LEAST, WORTH, Piece, Stretch, Text, chosen

WORDS = "pump seal bearing hall oil grease lamp winter north meter valve coolant".split()  # noqa: SIM905


def words(text: str) -> int:
    return len(text.split())


@st.composite
def cases(draw: st.DrawFn) -> tuple[list[Piece], dict[str, Text]]:
    """Texts of sentences, each a piece with some score; some lean on the one before, some begin late in their page."""
    texts: dict[str, Text] = {}
    pieces: list[Piece] = []
    for name in draw(st.lists(st.sampled_from("abc"), min_size=1, max_size=3, unique=True)):
        begin = draw(st.integers(0, 50))
        text, at = "", begin
        ends: list[tuple[int, int]] = []
        for _ in range(draw(st.integers(1, 8))):
            sentence = " ".join(draw(st.lists(st.sampled_from(WORDS), min_size=1, max_size=12))) + "."
            gap = draw(st.sampled_from([" ", "\n\n"]))
            ends.append((at, at + len(sentence)))
            text += sentence + gap
            at += len(sentence) + len(gap)
        texts[name] = Text(text, begin)
        for number, (start, end) in enumerate(ends):
            first = ends[max(0, number - draw(st.integers(0, 1)))][0]
            place = start, draw(st.integers(start + 1, end))
            heading = draw(st.sampled_from(["", "A heading of five words"]))
            pieces.append(Piece(name, first, end, draw(st.floats(0, 1)), place, heading))
    return pieces, texts


def covered(stretches: Sequence[Stretch]) -> set[tuple[str, int]]:
    return {(one.text_id, at) for one in stretches for at in range(one.start, one.end)}


@given(cases(), st.integers(1, 120), st.integers(0, 60))
def test_what_is_chosen_is_verbatim_within_the_budget_best_first_and_more_with_more(
    case: tuple[list[Piece], dict[str, Text]], most: int, further: int
) -> None:
    _, texts = case
    found = chosen(*case, most, words)
    assert sum(one.tokens for one in found) <= most
    assert [one.score for one in found] == sorted((one.score for one in found), reverse=True)
    for one in found:
        assert one.tokens == words(one.heading) + words(one.text)
        assert texts[one.text_id].cut(one.start, one.end) == one.text == one.text.strip() != ""
        behind = [other for other in found if one.text_id == other.text_id and one.end <= other.start]
        assert all(texts[one.text_id].cut(one.end, other.start).strip() for other in behind)  # none touches another
    assert len(covered(found)) == sum(one.end - one.start for one in found)
    assert covered(found) <= covered(chosen(*case, most + further, words))


@given(cases())
def test_with_room_for_all_every_piece_that_is_worth_it_is_there(case: tuple[list[Piece], dict[str, Text]]) -> None:
    pieces, texts = case
    best = max(piece.score for piece in pieces)
    there = covered(chosen(pieces, texts, 10_000, words))
    for piece in pieces:
        if piece.score >= max(LEAST, WORTH * best):
            assert {(piece.text_id, at) for at in range(piece.start, piece.end)} <= there


SENTENCE = "The seal of the pump in the northern hall must be replaced after 4,000 hours of operation at most."
AT = SENTENCE.index("4,000")


def narrowed(most: int) -> str:
    piece = Piece("a", 0, len(SENTENCE), 0.9, (AT, AT + len("4,000 hours")), "A heading of five words")
    return " ".join(one.text for one in chosen([piece], {"a": Text(SENTENCE)}, most, words))


@pytest.mark.parametrize(
    ("most", "text"), [(1, "4,000"), (2, "4,000 hours"), (4, "after 4,000 hours of"), (30, SENTENCE)]
)
def test_of_a_best_sentence_that_is_too_long_the_words_around_its_place_are_left(most: int, text: str) -> None:
    assert narrowed(most) == text


def test_nothing_is_chosen_of_nothing_and_of_what_is_worth_nothing() -> None:
    assert chosen([], {}, 100, words) == []
    assert chosen([Piece("a", 0, 4, 0.0, (0, 4))], {"a": Text("seal")}, 100, words) == []


def test_a_piece_far_below_the_best_is_left_out_whatever_room_there_is() -> None:
    texts = {"a": Text("The seal is rubber. Lunch is at noon.")}
    pieces = [Piece("a", 0, 19, 0.9, (0, 3)), Piece("a", 20, 37, 0.9 * WORTH - 0.01, (20, 25))]
    assert [one.text for one in chosen(pieces, texts, 100, words)] == ["The seal is rubber."]


def test_two_pieces_with_only_white_space_between_are_one_and_have_one_heading() -> None:
    texts = {"a": Text("The seal is rubber. It is black.")}
    pieces = [Piece("a", 0, 19, 0.5, (0, 3), "Seals"), Piece("a", 20, 32, 0.9, (20, 22), "Seals")]
    (one,) = chosen(pieces, texts, 100, words)
    assert (one.text, one.heading, one.score, one.tokens) == ("The seal is rubber. It is black.", "Seals", 0.9, 8)
