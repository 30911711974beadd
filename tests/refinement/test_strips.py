from __future__ import annotations

from collections.abc import Callable
from functools import partial
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from thresher.refinement.refine import (
    Decomposition,
    document_order,
    edge_order,
    excerption,
    fixed_num,
    selection,
    sentences,
    strip_hit,
    word_count,
)
from thresher.types import COSINE, Chunk, Evidence, Hit, Score

Make = Callable[..., Hit]

EVERY_WAY = [sentences, fixed_num, partial(fixed_num, words=3, tail=2), excerption, selection]


def texts(hit: Hit, cut: Decomposition) -> list[str]:
    return [hit.chunk.text[start:end] for start, end in cut(hit)]


def numbered(count: int) -> str:
    return " ".join(f"w{number}" for number in range(1, count + 1))


@given(st.text(alphabet="ab? .\n|é中Q", max_size=200), st.integers(0, 50), st.sampled_from(["text", "table"]))
def test_every_strip_stands_in_the_document_where_it_says(text: str, offset: int, kind: str) -> None:
    document = "x" * offset + text
    chunk = Chunk("c", "d", "s", "", offset, offset + len(text), text, kind=kind)  # type: ignore[arg-type]
    hit = Hit(chunk, Score(0.5, COSINE), 1)
    for cut in EVERY_WAY:
        strips = [strip_hit(hit, span).chunk for span in cut(hit)]
        assert all(document[strip.start : strip.end] == strip.text for strip in strips)
        assert all(strip.text and strip.text == strip.text.strip() for strip in strips)
        assert [strip.start for strip in strips] == sorted(strip.start for strip in strips)
        assert all(before.end <= after.start for before, after in pairwise(strips))


def test_a_strip_is_a_hit_of_its_own_below_its_chunk(make_hit: Make) -> None:
    hit = make_hit("c1", text="One here. Two there.", start=100, label="Doc1-Chunk1")
    one, two = (strip_hit(hit, span) for span in sentences(hit))
    assert (two.chunk.start, two.chunk.end, two.chunk.text) == (110, 120, "Two there.")
    assert two.chunk.parent_id == "c1"
    assert len({one.chunk.id, two.chunk.id, "c1"}) == 3
    assert strip_hit(hit, (0, 9)).chunk.id == one.chunk.id
    assert (two.scores, two.origin) == ({}, hit.origin)


def test_running_text_is_cut_into_sentences(make_hit: Make) -> None:
    hit = make_hit(text="Fig. 2 shows it. See et al. for more.\n\nA new one.")
    assert texts(hit, sentences) == ["Fig. 2 shows it.", "See et al. for more.", "A new one."]


def test_a_table_is_cut_into_rows(make_hit: Make) -> None:
    hit = make_hit(text="| city | people |\n\n| Paris. It | 2 |\n", kind="table")
    assert texts(hit, sentences) == ["| city | people |", "| Paris. It | 2 |"]


@pytest.mark.parametrize(
    ("words", "lengths"),
    [(0, []), (3, [3]), (50, [50]), (59, [59]), (60, [50, 10]), (100, [50, 50]), (109, [50, 59]), (110, [50, 50, 10])],
)
def test_windows_are_fifty_words_and_a_tail_below_ten_goes_to_the_one_before(
    make_hit: Make, words: int, lengths: list[int]
) -> None:
    assert [len(text.split()) for text in texts(make_hit(text=numbered(words)), fixed_num)] == lengths


def test_excerption_groups_three_pieces_glues_short_ones_and_drops_repeated_ones(make_hit: Make) -> None:
    one, two, three, four = (
        f"{name} piece has more than five words" for name in ("First", "Second", "Third", "Fourth")
    )
    text = f"{one}. {two}. So it is. {three}? {four}."
    assert texts(make_hit(text=text), excerption) == [f"{one}. {two}. So it is. {three}?", f"{four}."]
    repeated = f"{one}. {one}. {two}."
    assert texts(make_hit(text=repeated), excerption) == [f"{one}.", f"{two}."]


def test_selection_leaves_the_passage_whole(make_hit: Make) -> None:
    assert texts(make_hit(text=" One. Two.\n"), selection) == ["One. Two."]
    assert texts(make_hit(text=" \n"), selection) == []


@pytest.mark.parametrize(
    ("text", "words"),
    [("BERT.", 1), ("Dogs bark.", 2), ("|---|:--|", 0), ("BERT-base has 1.5 heads", 4), ("巴黎是首都", 5), ("", 0)],
)
def test_marks_are_no_words_and_scripts_without_spaces_have_some(text: str, words: int) -> None:
    assert word_count(text) == words


# --- the order of what is handed on -----------------------------------------------------------------------------------


def test_documents_keep_their_order_and_their_pieces_stand_as_in_them(make_evidence: Callable[..., Evidence]) -> None:
    pieces = [make_evidence(text, document=text[0], start=at) for text, at in (("b 50", 50), ("a 0", 0), ("b 10", 10))]
    assert [piece.text for piece in document_order(pieces)] == ["b 10", "b 50", "a 0"]


@given(st.integers(0, 9))
def test_the_best_are_at_both_ends_and_none_is_lost(number: int) -> None:
    order = edge_order(list(range(1, number + 1)))  # type: ignore[arg-type]
    assert sorted(order) == list(range(1, number + 1))  # type: ignore[type-var]
    assert order == {4: [1, 3, 4, 2], 5: [1, 3, 5, 4, 2]}.get(number, order)
