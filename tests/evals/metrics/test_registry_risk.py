"""The risk-coverage curve by hand."""

from __future__ import annotations

import pytest

from thresher_evals.dataset import Question
from thresher_evals.metrics.registry import parse, risk_coverage
from thresher_evals.rows import Reply, Row

CAPITAL = Question("q", "Capital?", ("Paris",))
NEVER = Question("n", "Never?", ("Paris",), answerable=False)


def said(text: str | None, confidence: float | None, question: Question = CAPITAL) -> Row:
    """An answer with a confidence; None is a refusal."""
    reply = Reply(text or "", abstained=text is None, confidence=confidence)
    return Row(question, "crag", "c0ffee", 1.0, reply=reply)


ROWS = [
    said("Paris", 0.9),
    said("Rome", 0.6),
    said("Paris", 0.8),
    said("Paris", 0.7, NEVER),  # wrong, although the words are there
    said(None, 0.1),
    Row(CAPITAL, "crag", "c0ffee", 1.0, error="failed"),
    said("Paris", 0.95, Question("free", "Tell me.")),  # nobody knows whether that is right
]


def test_the_curve_by_hand() -> None:
    assert risk_coverage(ROWS) == [
        pytest.approx((1 / 6, 0, 0.9)),
        pytest.approx((2 / 6, 0, 0.8)),
        pytest.approx((3 / 6, 1 / 3, 0.7)),
        pytest.approx((4 / 6, 2 / 4, 0.6)),
    ]


def test_its_area_is_the_mean_risk_over_the_answers() -> None:
    area = parse("aurc").summarise(ROWS)
    assert (area.value, area.n) == (pytest.approx((0 + 0 + 1 / 3 + 2 / 4) / 4), 4)
    assert area.low is not None
    assert area.high is not None
    assert 0 <= area.low <= (0 + 0 + 1 / 3 + 2 / 4) / 4 <= area.high <= 1


def test_answers_of_one_confidence_are_taken_together() -> None:
    rows = [said("Paris", 0.5), said("Rome", 0.5), said("Paris", 0.4), said("Rome", 0.4)]
    assert risk_coverage(rows) == [(0.5, 0.5, 0.5), (1.0, 0.5, 0.4)]
    assert parse("aurc").summarise(rows).value == 0.5
    assert parse("aurc").summarise(rows[::-1]) == parse("aurc").summarise(rows)
