"""A question that follows up on others, put into words that stand alone."""

from __future__ import annotations

from collections.abc import Sequence

from thresher.text.terms import term_set

Turn = tuple[str, str]
"""A question as it stands alone, and the text of its answer."""

FEW_TERMS = 1
"""A question with no more terms of its own leaves out what it is about."""


def leans(question: str) -> bool:
    """Whether a question seems to leave out what it is about."""
    return len(term_set(question)) <= FEW_TERMS


def standing_alone(question: str, history: Sequence[Turn]) -> str:
    """The question followed by the one before it in brackets, where it leans on that."""
    return f"{question.rstrip(' ?!.')}? ({history[-1][0]})" if history and leans(question) else question
