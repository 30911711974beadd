"""There is one rule of what a right answer is, and scores, the report and `eval compare` follow it."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest

from thresher_evals.compare.compare import weigh
from thresher_evals.dataset import Gold, Question
from thresher_evals.metrics.answers import Outcome, is_right, outcome
from thresher_evals.metrics.registry import parse
from thresher_evals.report.data import Block
from thresher_evals.report.tables import outcome_table
from thresher_evals.rows import Cited, Reply, Row
from thresher_evals.score import outcomes

CAPITAL = Question("capital", "Capital?", ("Paris",))
NEVER = Question("never", "Never?", answerable=False)
CLAIM = Question("claim", "Claim.", ("false",), options=("true", "false"))
PLACED = Question("placed", "Where?", gold=(Gold("a.pdf"),))
RULES = Question("rules", "Which rules?", gold=(Gold("a.pdf"),), items=("No smoking", "dogs on a lead"))
FREE = Question("free", "What do you think?")

CASES = (
    (CAPITAL, "It is PARIS.", "", Outcome.RIGHT, True),
    (CAPITAL, "Rome", "", Outcome.WRONG, False),
    (CAPITAL, None, "", Outcome.REFUSED_WRONGLY, False),
    (NEVER, "Paris", "", Outcome.WRONG, False),
    (NEVER, None, "", Outcome.REFUSED_RIGHTLY, True),
    (CLAIM, "That is not true.", "", Outcome.RIGHT, True),
    (CLAIM, "true", "", Outcome.WRONG, False),
    (CLAIM, "who knows", "", Outcome.UNREADABLE, False),
    (PLACED, "there", "/papers/a.pdf", Outcome.RIGHT, True),
    (PLACED, "there", "/papers/b.pdf", Outcome.WRONG, False),
    (replace(CAPITAL, gold=(Gold("a.pdf"),)), "Rome", "a.pdf", Outcome.WRONG, False),
    (RULES, "- no smoking\n- dogs on a lead [1]", "b.pdf", Outcome.RIGHT, True),
    (RULES, "no smoking [1]", "a.pdf", Outcome.WRONG, False),
    (FREE, "much", "", Outcome.UNCHECKED, None),
)


def row_of(question: Question, text: str | None, cited: str = "") -> Row:
    """A row of an answer; a text of None is a refusal."""
    reply = Reply(text or "", text is None, (Cited(cited),) if cited else ())
    return Row(question, "rag", "c0ffee", 1.0, reply=reply)


@pytest.mark.parametrize(("question", "text", "cited", "came", "right"), CASES)
def test_an_answer_is_held_against_what_is_known_of_its_question(
    question: Question, text: str | None, cited: str, came: Outcome, right: bool | None
) -> None:
    row = row_of(question, text, cited)
    assert (outcome(row), is_right(row)) == (came, right)


@pytest.mark.parametrize(
    ("changes", "came", "right"),
    [
        ({"error": "fell over"}, Outcome.FAILED, False),
        ({"error": "fell over", "ranking": ()}, Outcome.FAILED, False),
        ({"error": "too late", "timed_out": True}, Outcome.TIMED_OUT, False),
        ({"ranking": ()}, Outcome.RANKED, None),
    ],
)
def test_a_question_without_an_answer_failed_or_was_only_searched_for(
    changes: dict[str, object], came: Outcome, right: bool | None
) -> None:
    row = replace(Row(CAPITAL, "rag", "c0ffee", 1.0), **changes)  # type: ignore[arg-type]
    assert (outcome(row), is_right(row)) == (came, right)


def test_scores_the_report_and_the_comparison_agree_on_the_same_rows() -> None:
    asked = [(replace(question, id=f"{number}"), *rest) for number, (question, *rest) in enumerate(CASES)]
    rows = [row_of(question, text, cited) for question, text, cited, _, _ in asked]
    rows.append(Row(CAPITAL, "rag", "c0ffee", 1.0, error="fell over"))
    expected = Counter([*(came for *_, came, _ in CASES), Outcome.FAILED])

    compared = weigh({"rag": rows, "hybrid": rows}, "rag")["recipes"]["rag"]["outcomes"]
    assert {name: number for name, number in compared.items() if number} == expected

    block = Block("run", "qa", "ask", "model", "rag", {"rag": rows}, {"rag": {}}, {})
    table = outcome_table(block)
    printed = dict(zip(table.columns, table.rows[0], strict=True))
    assert {str(came): printed[str(came)] for came in expected} == expected

    scored = outcomes(rows)
    refused = expected[Outcome.REFUSED_RIGHTLY] + expected[Outcome.REFUSED_WRONGLY]
    assert (scored["refused"], scored["failed"]) == (refused, 1)
    assert scored["answered"] == len(rows) - refused - 1
    right = parse("right").summarise(rows)
    assert (right.value, right.n) == (5 / 14, 14)
    wrong = [row for row, value in zip(rows, parse("wrong").values(rows), strict=True) if value]
    assert {outcome(row) for row in wrong} == {Outcome.WRONG, Outcome.UNREADABLE}


def test_doing_without_a_chat_model_that_is_not_configured_is_no_degradation() -> None:
    offline = "generate: no chat model is configured (llm.base_url, llm.model); answered by quoting"
    rows = [
        replace(row_of(CAPITAL, "Paris"), degraded=(offline,)),
        replace(row_of(NEVER, None), degraded=(offline, "correct: the search failed")),
    ]
    table = outcome_table(Block("run", "qa", "ask", "model", "rag", {"rag": rows}, {"rag": {}}, {}))
    assert table.rows[0][table.columns.index("degraded")] == 1
