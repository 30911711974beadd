"""Where the extractive reader should give up: its support on SQuAD paragraphs, for questions they answer and do not.

    .venv/bin/python -m research.extractive_support

Questions of the training articles (sha1 of "split:ARTICLE" modulo 5 is 0, 1 or 2). Three kinds without an answer: the
paragraph that answers is taken away, SQuAD's own unanswerable questions, and questions about something else.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from typing import Any

import thresher as engine
from benchmarks.commands import HOME, thresher
from benchmarks.machine import RESEARCH, keep, rows, tell
from thresher.pipeline import Pipeline, as_is
from thresher.types import Query
from thresher_evals.dataset import split_of

ANSWERABLE, UNANSWERABLE = 250, 150
THRESHOLDS = (0.45, 0.50, 0.52, 0.54, 0.55, 0.56, 0.58, 0.60, 0.65)
ELSEWHERE = (
    "In which month do swallows return?",
    "Which country won the football world cup in 1998?",
    "How do I bake sourdough bread?",
    "What is the boiling point of ethanol?",
    "Who painted Guernica?",
    "How tall is Mount Kilimanjaro?",
    "When does the next train leave?",
    "What is the capital of Mongolia?",
    "How many strings has a violin?",
    "Which vitamins are in kale?",
    "Who is the CEO of the company?",
    "What is our refund policy?",
    "How do I reset my password?",
    "What is the price of gold?",
    "Which planet has the most moons?",
    "What does the liver do?",
    "Who wrote Moby Dick?",
    "How long do tortoises live?",
    "What language is spoken in Brazil?",
    "How many grams are in an ounce?",
)


def training_questions() -> list[dict[str, Any]]:
    """SQuAD questions of the training articles, in a fixed random order."""
    chosen = [row for row in rows("squad/answered.jsonl") if split_of(row["title"]) == "train"]
    random.Random(0).shuffle(chosen)
    return chosen


def corpus() -> str:
    """Every SQuAD paragraph as a row of a corpus; returns the file."""
    paragraphs: dict[str, dict[str, str]] = {}
    for row in rows("squad/answered.jsonl") + rows("squad/questions_only.jsonl"):
        title = row["title"].replace("_", " ")
        paragraphs.setdefault(place(row), {"_id": place(row), "title": title, "text": row["context"]})
    file = RESEARCH / ".cache" / "squad" / "corpus.jsonl"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("".join(json.dumps(row) + "\n" for row in paragraphs.values()), encoding="utf-8")
    return str(file)


def place(row: dict[str, Any]) -> str:
    """The id of a paragraph."""
    return f"{row['title']}:{row['paragraph']}"


def support(pipeline: Pipeline, question: str, *, without: str = "") -> tuple[float, str]:
    """Support and text of the best sentence, with one paragraph out of reach."""
    query = Query(question, question, 8)
    hits = [hit for hit in pipeline.retrieve(query).kept if hit.chunk.source != without][:5]
    sentences = pipeline.generate.support(question, as_is(query, hits).evidence)  # type: ignore[attr-defined]
    return (sentences[0].support.value, sentences[0].text) if sentences else (0.0, "")


def main() -> None:
    """Measure, print, keep."""
    tell()
    thresher("index", corpus(), "--collection", "squad")
    with engine.open(HOME, "squad") as collection:
        pipeline = collection._pipeline("hybrid", collection._configured("hybrid", None), collection._parts())
        questions = training_questions()
        answerable = [row for row in questions if not row["unanswerable"]][:ANSWERABLE]
        unanswerable = [row for row in questions if row["unanswerable"]][:UNANSWERABLE]
        best = [support(pipeline, row["question"]) for row in answerable]
        kinds = {
            "answerable": [value for value, _ in best],
            "paragraph taken away": [support(pipeline, row["question"], without=place(row))[0] for row in answerable],
            "SQuAD unanswerable": [support(pipeline, row["question"])[0] for row in unanswerable],
            "something else": [support(pipeline, question)[0] for question in ELSEWHERE],
        }
    right = sum(
        any(text.lower() in sentence.lower() for _, text in row["answers"])
        for row, (_, sentence) in zip(answerable, best, strict=True)
    )
    print(f"the best sentence holds the answer: {right} of {len(answerable)}")
    share: Callable[[list[float], float], float] = lambda values, t: sum(v >= t for v in values) / len(values)  # noqa: E731
    answered = {t: {kind: share(values, t) for kind, values in kinds.items()} for t in THRESHOLDS}
    for threshold, shares in answered.items():
        print(f"{threshold:.2f}  " + "  ".join(f"{kind} {value:.3f}" for kind, value in shares.items()))
    keep(
        "extractive_support", {"holds_answer": right, "n": {k: len(v) for k, v in kinds.items()}, "answered": answered}
    )


if __name__ == "__main__":
    main()
