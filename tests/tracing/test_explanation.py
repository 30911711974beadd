from __future__ import annotations

import pytest

from thresher.tracing.explain import assessment


@pytest.mark.parametrize(
    ("judged", "line"),
    [
        (("correct", 0.92, 0.63), "Evidence: sufficient (0.92); answer: probably right (0.63)"),
        (("correct", None, 0.95), "Evidence: sufficient; answer: very probably right (0.95)"),
        (("ambiguous", 0.4, 0.3), "Evidence: in doubt (0.40); answer: perhaps wrong (0.30)"),
        (("unsure", 0.5, None), "Evidence: in doubt (0.50)"),
        (("incorrect", 0.01, None), "Evidence: insufficient (0.01)"),
        ((None, None, 0.7), "Answer: probably right (0.70)"),
        ((None, None, None), ""),
    ],
)
def test_evidence_and_answer_are_assessed_each_in_its_own_words(
    judged: tuple[str | None, float | None, float | None], line: str
) -> None:
    assert assessment(*judged) == line
