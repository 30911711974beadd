"""People's feedback on answers, as calibrating takes it."""

from __future__ import annotations

from collections.abc import Iterable

from thresher.tracing.feedback import Label


def answerable(labels: Iterable[Label]) -> list[tuple[str, bool]]:
    """Questions with whether the collection answers them, where the labels say so; of two that differ the later one."""
    known = ((label.question, label.answerable) for label in labels)
    return list({question: answers for question, answers in known if answers is not None}.items())
