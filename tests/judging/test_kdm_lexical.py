from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import pytest

from thresher.judging.kdm import LexicalConfidence, bm25, ceiling
from thresher.types import Hit, Query

Make = Callable[..., Hit]
ASKED = Query("red green", "red green")


@dataclass
class Table:
    """Of a chunk table as much as the confidence asks for: 100 chunks of 10 terms on average."""

    frequencies: dict[str, int]

    def document_frequencies(self, text: str) -> dict[str, int]:
        return {term: self.frequencies.get(term, 0) for term in text.split()}

    def count(self) -> int:
        return 100

    def average_terms(self) -> float:
        return 10.0


def confidence(**more: Any) -> LexicalConfidence:
    table = Table({"red": 60, "green": 2})
    return LexicalConfidence(table, str.split, str.split, **more)  # type: ignore[arg-type]


def texts(make_hit: Make, *given: str) -> Sequence[Hit]:
    return [make_hit(str(at), text=text) for at, text in enumerate(given)]


def test_a_term_is_as_rare_as_it_is_in_the_whole_collection(make_hit: Make) -> None:
    red, green = confidence()(ASKED, texts(make_hit, "red x", "green x"))
    known = {"frequencies": {"red": 60, "green": 2}, "total": 100, "average_length": 10.0}
    assert red == pytest.approx(bm25(["red", "green"], ["red", "x"], **known))  # type: ignore[arg-type]
    assert green > 3 * red > 0


def test_among_the_retrieved_alone_both_terms_are_equally_rare(make_hit: Make) -> None:
    red, green = confidence(fit="retrieved")(ASKED, texts(make_hit, "red x", "green x"))
    assert red == green


def test_in_okapis_form_a_term_that_most_chunks_have_counts_against(make_hit: Make) -> None:
    (red,) = confidence(kind="okapi")(ASKED, texts(make_hit, "red"))
    assert red < 0
    (robertson,) = confidence()(ASKED, texts(make_hit, "red"))
    assert robertson > 0


def test_the_title_counts_as_text(make_hit: Make) -> None:
    without, with_title = confidence()(ASKED, [make_hit("a", text="x"), make_hit("b", text="x", title="green")])
    assert without == 0 < with_title


@pytest.mark.parametrize("fit", ["corpus", "retrieved"])
def test_the_ceiling_is_always_the_collections(make_hit: Make, fit: str) -> None:
    expected = ceiling(["red", "green"], frequencies={"red": 60, "green": 2}, total=100, k1=1.2)
    assert confidence(fit=fit).ceiling("red green") == pytest.approx(expected)
    full = confidence()(ASKED, texts(make_hit, "red green " * 200))
    assert full[0] < expected


def test_the_searched_words_are_what_counts(make_hit: Make) -> None:
    (score,) = confidence()(Query("red", "green"), texts(make_hit, "red"))
    assert score == 0
