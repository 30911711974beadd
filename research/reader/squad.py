"""SQuAD 2.0: spans of answers, and when to refuse."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from benchmarks.machine import rows
from research.reader.readings import (
    QUOTED_WORDS,
    SENTENCES,
    Asked,
    Readings,
    Table,
    Text,
    best_by,
    cut,
    log_certainty,
    log_sigmoid,
    measures,
    sentence_at,
    shares,
    show,
    sureness,
    windows,
)
from thresher.judging.fitting import logistic_weights
from thresher_evals.dataset import split_of
from thresher_evals.metrics.answers import exact_match, f1
from thresher_evals.stats import Forecast, auroc_interval

RIDGE = 1e-3  # only keeps the weights finite
POWERS = (0.1, 0.25, 0.5, 0.75, 1.0, 1.5, 2.0)


@dataclass(frozen=True)
class Answered:
    """What was answered, and what there is to decide whether it should have been."""

    text: str
    relevance: float
    """A logit."""
    log_certainty: float = 0.0


Rule = Callable[[Answered], float]
"""Higher for answers that are better given than withheld."""


REFUSING = ("whole", "windows")
"""Readers that may refuse."""


@dataclass(frozen=True)
class Paragraphs:
    """Questions with gold answers (none where the paragraph does not answer) and every reader's answers."""

    golds: list[list[str]]
    answers: dict[str, list[Answered]]

    @property
    def answerable(self) -> np.ndarray:
        """(n_questions,) whether the paragraph answers."""
        return np.array([bool(golds) for golds in self.golds])

    def gains(self, reader: str, measure: Callable[..., float]) -> tuple[np.ndarray, np.ndarray]:
        """What each question is worth answered, and refused."""
        pairs = zip(self.answers[reader], self.golds, strict=True)
        given = [float(measure(answer.text, golds)) if golds else 0.0 for answer, golds in pairs]
        return np.array(given), 1.0 - self.answerable


def squad(readings: Readings, *, final: bool) -> dict[str, Any]:
    """Every reader, answering always and refusing by rules chosen on the tune fifth."""
    found = rows("squad/answered.jsonl")
    results: dict[str, Any] = {}
    rules: dict[str, dict[str, tuple[Rule, float]]] = {}
    for split in ("tune", "final") if final else ("tune",):
        asked = [row for row in found if split_of(row["title"]) == split]
        read = read_paragraphs(readings, asked)
        if split == "tune":
            rules = {reader: refusals(read, reader) for reader in REFUSING}
            results["thresholds"] = {
                reader: {name: threshold for name, (_, threshold) in own.items()} for reader, own in rules.items()
            }
        results[split] = {"n": len(asked), "always answered": always_answered(read)}
        titles = " and ".join(sorted({row["title"].replace("_", " ") for row in asked}))
        n = int(read.answerable.sum())
        show(f"SQuAD, {split} ({titles}), always answered, n {n} answerable", results[split]["always answered"])
        results[split]["refusing"] = {}
        for reader, own in rules.items():
            table = {name: refusing(read, reader, *rule) for name, rule in own.items()}
            results[split]["refusing"][reader] = table
            chosen = results.setdefault("chosen", {}).setdefault(reader, best_by(table, "F1"))
            show(f"SQuAD 2.0, {split}, {reader}, n {len(asked)}: refused below a threshold from tune", table, chosen)
    return results


def read_paragraphs(readings: Readings, asked: Sequence[dict[str, Any]]) -> Paragraphs:
    """Every question with its paragraph whole and in windows."""
    titles = [row["title"].replace("_", " ") for row in asked]
    texts = [
        [Text(row["context"], title), *(Text(window, title) for window in windows(row["context"]))]
        for row, title in zip(asked, titles, strict=True)
    ]
    pairs = [Asked(row["question"], tuple(own)) for row, own in zip(asked, texts, strict=True)]
    answers: dict[str, list[Answered]] = {"whole": [], "windows": [], "its sentence": []}
    for own, found in zip(texts, readings("squad", pairs), strict=True):
        whole, best = 0, max(range(1, len(found)), key=lambda at: sureness(found[at]))
        for name, at in (("whole", whole), ("windows", best)):
            reading = found[at]
            text = own[at].text[reading.start : reading.end]
            answers[name].append(Answered(text, reading.relevance, log_certainty(reading)))
        sentence = sentence_at(own[whole].text, found[whole].start)
        answers["its sentence"].append(Answered(cut(sentence), found[whole].relevance, log_certainty(found[whole])))
    return Paragraphs([[text for _, text in row["answers"] or ()] for row in asked], answers)


def always_answered(read: Paragraphs) -> Table:
    """Measures over the questions that the paragraph answers."""
    at = np.flatnonzero(read.answerable)
    golds = [read.golds[one] for one in at]
    names = {
        "whole": "span, paragraph read whole",
        "windows": f"span, windows of {SENTENCES} sentences",
        "its sentence": f"sentence of the span, {QUOTED_WORDS} words",
    }
    return {label: measures([read.answers[name][one].text for one in at], golds) for name, label in names.items()}


def refusals(read: Paragraphs, reader: str) -> dict[str, tuple[Rule, float]]:
    """Rules with the threshold that is best for SQuAD 2.0's F1; the power and the weights are chosen here too."""
    gains = read.gains(reader, f1)
    answers = read.answers[reader]

    def tuned(rule: Rule) -> tuple[float, float]:
        return best_threshold(np.array([rule(answer) for answer in answers]), *gains)

    products = {power: product(power) for power in POWERS}
    power = max(POWERS, key=lambda power: tuned(products[power])[1])
    features = np.array([(answer.relevance, answer.log_certainty) for answer in answers])
    slope, certain, _ = logistic_weights(
        np.column_stack([features, np.ones(len(features))]),
        read.answerable.astype(float),
        precision=np.array([RIDGE] * 3),
    )
    rules: dict[str, Rule] = {
        "relevance": lambda answer: answer.relevance,
        "certainty": lambda answer: answer.log_certainty,
        f"sigmoid(relevance) * certainty^{power:g}": products[power],
        f"{slope:.2f} relevance + {certain:.2f} log certainty": lambda answer: (
            slope * answer.relevance + certain * answer.log_certainty
        ),
    }
    return {name: (rule, tuned(rule)[0]) for name, rule in rules.items()}


def product(power: float) -> Rule:
    """The logarithm of sigmoid(relevance) * certainty ^ power."""
    return lambda answer: log_sigmoid(answer.relevance) + power * answer.log_certainty


def best_threshold(scores: np.ndarray, answered: np.ndarray, refused: np.ndarray) -> tuple[float, float]:
    """From where on to answer, half way between two scores, and what that is worth in all."""
    order = np.argsort(-scores, kind="stable")
    falling = scores[order]
    worth = refused.sum() + np.concatenate([[0.0], np.cumsum((answered - refused)[order])])
    edges = np.concatenate([[falling[0] + 2.0], falling, [falling[-1] - 2.0]])
    worth[1:-1][falling[:-1] == falling[1:]] = -np.inf  # equal scores are answered or refused together
    best = int(worth.argmax())
    return float((edges[best] + edges[best + 1]) / 2), float(worth[best])


def refusing(read: Paragraphs, reader: str, rule: Rule, threshold: float) -> dict[str, Any]:
    """SQuAD 2.0's measures with refusals, and how well the rule tells the two kinds of question apart."""
    scores = np.array([rule(answer) for answer in read.answers[reader]])
    answered, answerable = scores >= threshold, read.answerable
    values = {
        name: np.where(answered, *read.gains(reader, measure)) for name, measure in (("EM", exact_match), ("F1", f1))
    }
    forecasts = [Forecast(*pair) for pair in zip(scores.tolist(), answerable.astype(float).tolist(), strict=True)]
    return {
        **{name: shares(value.tolist()) for name, value in values.items()},
        "F1 answerable": shares(values["F1"][answerable].tolist()),
        "unanswerable refused": shares((~answered[~answerable]).tolist()),
        "AUROC": auroc_interval(forecasts).to_dict(),
    }
