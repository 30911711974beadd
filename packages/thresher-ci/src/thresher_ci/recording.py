"""Expectations from answers that a person confirmed; nothing is expected that nobody confirmed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from thresher import Collection
from thresher.errors import UsageError
from thresher_ci.knowledge import Expected, Question, read, write


def confirmed(collection: Collection, traces: Sequence[str], *, accept: bool) -> list[dict[str, Any]]:
    """The stored answers that may be expected: those that were called right, and with `accept` the given ones.

    Raises UsageError for a given one that nobody confirmed.
    """
    labels = collection.labels.labels()
    right = {label.trace for label in labels if label.right}
    answers = [collection.stored(trace) for trace in traces or sorted(right)]
    for answer in answers:
        if not accept and answer["trace"] not in right:
            advice = "add --accept if you confirm it, or press `right` on the page"
            raise UsageError("nobody confirmed this answer", subject=answer["trace"], next_step=advice)
    return answers


def record(
    file: Path, answers: Sequence[Mapping[str, Any]], *, documents: str = "", asked_by: str = ""
) -> list[Question]:
    """Append to the file what is expected of each answer; questions that stand there already are left out."""
    there = {one.key for one in read(file)} if file.exists() else set()
    new: dict[str, Question] = {}
    for answer in answers:
        asked = answer.get("standalone") or answer["question"]
        question = Question(asked, expected_of(answer, documents), asked_by=asked_by)
        if question.key not in there:
            new[question.key] = question
    if new:
        write(file, list(new.values()))
    return list(new.values())


def expected_of(answer: Mapping[str, Any], documents: str = "") -> Expected:
    """What a confirmed answer is expected to be: the sentence that it rests on, or a refusal."""
    if answer["abstained"] or not answer["citations"]:
        return Expected()
    first = answer["citations"][0]
    start, end = first.get("mark") or (first["start"], first["end"])
    sentence = first["quote"][start - first["start"] : end - first["start"]]
    return Expected(quote=" ".join(sentence.split()), source=first["source"].removeprefix(documents).lstrip("/"))
