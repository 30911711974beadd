"""A budget of tokens: for a search, for the evidence of an answer, and what budgets are worth in a collection."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import thresher
from tests.conftest import Run
from thresher.collection import Collection
from thresher.errors import UsageError
from thresher.models.encoders import token_count
from thresher.types import SearchResult, Verdict

QUESTION = "When was the Kõpu lighthouse built?"
MANUAL = """# Pump {number}

The pump {number} stands in hall {hall}. It delivers {litres} litres of coolant a minute. The housing is of cast iron
and was painted green by the works. Visitors are asked to keep away from it while it runs, which it does day and night.

The seal of the pump {number} was replaced in {year}. A new one has to be ordered four weeks before it is needed.
"""


@contextmanager
def indexed_manuals(home: Path, number: int) -> Iterator[Collection]:
    """So many manuals that are alike but for their numbers."""
    (home / "in").mkdir()
    for at in range(number):
        text = MANUAL.format(number=f"P{at + 10}", hall=at % 7 + 1, litres=20 + 3 * at, year=1980 + at)
        (home / "in" / f"p{at + 10}.md").write_text(text, encoding="utf-8")
    with thresher.open(home) as collection:
        assert collection.add(home / "in", recipe="corrective").added == number
        yield collection


@pytest.fixture(scope="module")
def pumps(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Collection]:
    with indexed_manuals(tmp_path_factory.mktemp("pumps"), 30) as collection:
        yield collection


def verbatim(collection: Collection, result: SearchResult) -> None:
    for span in result.spans or ():
        assert span.evidence is not None
        text = collection.document(span.evidence.hit.chunk.document_id).text
        assert text[span.start : span.end] == span.text
        assert span.heading in text


@pytest.mark.parametrize("most", [5, 20, 60, 200, 2000])
def test_a_search_with_a_budget_finds_the_best_spans_that_fit(pumps: Collection, most: int) -> None:
    result = pumps.search("When was the seal of pump P17 replaced?", max_tokens=most)
    assert result.hits == ()
    assert result.spans
    assert result.tokens == sum(span.tokens for span in result.spans) <= most
    assert [span.rank for span in result.spans] == list(range(1, len(result.spans) + 1))
    verbatim(pumps, result)
    assert most < 20 or "was replaced in 1987" in result.spans[0].text


def test_a_budget_tells_the_verdict_too(pumps: Collection) -> None:
    known = pumps.search("When was the seal of pump P17 replaced?", max_tokens=100)
    unknown = pumps.search("What is the capital of Mongolia?", max_tokens=100)
    assert known.verdict is Verdict.CORRECT
    assert unknown.verdict is Verdict.INCORRECT
    assert known.confidence is not None
    assert unknown.confidence is not None
    assert known.confidence > unknown.confidence


def test_a_budget_is_shown_as_json_where_one_was_given(pumps: Collection) -> None:
    told = pumps.search("Where does the pump P12 stand?", max_tokens=100).to_dict()
    assert list(told) == ["question", "recipe", "hits", "degraded", "spans", "verdict", "confidence", "tokens"]
    names = "rank score scale source title page heading start end text tokens"
    assert list(told["spans"][0]) == names.split()
    assert list(pumps.search("Where does the pump P12 stand?").to_dict()) == ["question", "recipe", "hits", "degraded"]


@pytest.mark.parametrize("recipe", ["rag", "hybrid"])
def test_recipes_that_do_not_judge_have_budgets_without_a_verdict(collection: Collection, recipe: str) -> None:
    result = collection.search(QUESTION, recipe=recipe, max_tokens=40)
    assert result.spans
    assert "1531" in result.spans[0].text
    assert (result.verdict, result.confidence) == (None, None)
    assert result.to_dict()["verdict"] is None


def test_an_answer_is_written_from_the_evidence_that_fits(pumps: Collection) -> None:
    question = "When was the seal of pump P17 replaced?"
    answer = pumps.ask(question, max_tokens=20)
    assert sum(map(token_count, (piece.text for piece in answer.evidence))) <= 20
    assert "1987" in answer.text
    (refine,) = (step for step in answer.steps if step.name == "refine")
    assert refine.detail["max_tokens"] == 20
    assert any(fate.reason == "none of it is among the best 20 tokens" for fate in answer.chunks)
    assert pumps.replay(answer.trace)[1] == []


@pytest.mark.parametrize("given", [0, -5, 2.5, "800", True])
def test_a_budget_that_is_none_is_told(collection: Collection, given: Any) -> None:
    with pytest.raises(UsageError, match="`max_tokens`"):
        collection.search(QUESTION, recipe="rag", max_tokens=given)
    with pytest.raises(UsageError, match="`max_tokens`"):
        collection.run(QUESTION, recipe="rag", max_tokens=given)


# --- tokens -----------------------------------------------------------------------------------------------------------

COUNT = token_count


@given(st.lists(st.text(min_size=1, max_size=30), max_size=6))
def test_a_text_has_as_many_tokens_as_its_parts_between_white_space(parts: list[str]) -> None:
    assert COUNT(" ".join(parts)) == sum(map(COUNT, parts))


# --- the command line -------------------------------------------------------------------------------------------------


def test_the_command_line_has_budgets(pumps: Collection, run: Run) -> None:
    home = pumps.home
    ran = run("search", "When was the seal of pump P17 replaced?", "--home", home, "--max-tokens", 60)
    assert "was replaced in 1987" in ran.out
    assert " tokens in all; Evidence: sufficient" in ran.out
    assert run("ask", "When was the seal of pump P17 replaced?", "--home", home, "--max-tokens", 60).code == 0
