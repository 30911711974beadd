"""The blog's two examples come out as it tells them."""

from __future__ import annotations

from typing import Any

import pytest

from benchmarks.seeds.examples import BLOG, CONTROL, RECENT, blog

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def found() -> list[dict[str, Any]]:
    """What became of every question."""
    return list(blog().found)


def of(found: list[dict[str, Any]], question: str, recipe: str, *, outside: bool, by_a_model: bool) -> dict[str, Any]:
    """What became of one."""
    (one,) = (
        one
        for one in found
        if (one["question"], one["recipe"], one["outside"] != "none", one.get("by a model", False))
        == (question, recipe, outside, by_a_model)
    )
    return one


@pytest.mark.parametrize("question", [BLOG, RECENT])
def test_rag_invents_and_crag_refuses_until_it_is_corrected(found: list[dict[str, Any]], question: str) -> None:
    invented = of(found, question, "rag", outside=False, by_a_model=True)
    right = "self-attention" if question == BLOG else "Two laboratories"
    assert not invented["refused"]
    assert right not in invented["answer"]
    for recipe in ("crag", "corrective"):
        alone, corrected = (of(found, question, recipe, outside=there, by_a_model=True) for there in (False, True))
        assert (alone["refused"], alone["verdict"]) == (True, "incorrect")
        assert right in corrected["answer"]


def test_the_words_that_are_searched_for_have_a_month(found: list[dict[str, Any]]) -> None:
    searched = of(found, RECENT, "crag", outside=True, by_a_model=True)["searched for"]
    assert searched.startswith("AI news ")
    assert searched.split()[-1].isdigit()


@pytest.mark.parametrize("recipe", ["ecrag", "crag", "corrective"])
def test_without_a_model_a_corrected_question_is_answered_too(found: list[dict[str, Any]], recipe: str) -> None:
    alone, corrected = (of(found, BLOG, recipe, outside=there, by_a_model=False) for there in (False, True))
    assert alone["refused"]
    assert "self-attention" in corrected["answer"]
    assert "branches" in of(found, CONTROL, recipe, outside=False, by_a_model=False)["answer"]
