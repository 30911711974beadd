"""What the bundled judge reads: answers as spans of SQuAD 2.0's paragraphs, and refusals.

    .venv/bin/python -m research.reader squad [--final] [--folder DIR]

Every question with its own paragraph, read whole and in windows of three sentences: always answered, then refused where
the relevance is below a threshold from the tune fifth. Without `--final` nothing of the final fifth is read: splits are
those of thresher_evals.dataset, by article; the judge was trained on the training fifths. Intervals are 95 %, over
questions. With `--final` the numbers go to research/results/reader.json.

Other signs for a refusal (the certainty of the place, alone and beside the relevance) are no better: measured, with one
answer from several texts and claims by the judge alone, up to commit e26ad5a.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.machine import RESEARCH, keep, kept, rows, tell
from research.readings import Readings
from thresher.models.cross_encoders import BUNDLED_JUDGE, BundledJudge
from thresher.text.sentences import sentence_spans
from thresher.types import Reading, logistic
from thresher_evals.dataset import split_of
from thresher_evals.metrics.answers import exact_match, f1
from thresher_evals.stats import Forecast, auroc_interval, mean_interval, proportion_interval

SENTENCES, STRIDE = 3, 2  # a window shares a sentence with the next
READERS = {"whole": "span, paragraph read whole", "windows": f"span, windows of {SENTENCES} sentences"}


@dataclass(frozen=True)
class Answered:
    """Questions with gold answers (none where the paragraph does not answer), and one reader's answers."""

    golds: list[list[str]]
    texts: list[str]
    relevances: np.ndarray

    @property
    def answerable(self) -> np.ndarray:
        """(n_questions,) whether the paragraph answers."""
        return np.array([bool(golds) for golds in self.golds])

    def gains(self, measure: Callable[..., float]) -> tuple[np.ndarray, np.ndarray]:
        """What each question is worth answered, and refused."""
        given = [float(measure(*pair)) if pair[1] else 0.0 for pair in zip(self.texts, self.golds, strict=True)]
        return np.array(given), 1.0 - self.answerable


def squad(readings: Readings, *, final: bool) -> dict[str, Any]:
    """Every reader, answering always and refusing."""
    found = rows("squad/answered.jsonl")
    results: dict[str, Any] = {"thresholds": {}}
    for split in ("tune", "final") if final else ("tune",):
        asked = [row for row in found if split_of(row["title"]) == split]
        read = answered(readings, asked)
        if split == "tune":
            results["thresholds"] = {name: best_threshold(one.relevances, *one.gains(f1)) for name, one in read.items()}
        always = {READERS[name]: measures(one) for name, one in read.items()}
        refusing = {name: refused(one, results["thresholds"][name]) for name, one in read.items()}
        results[split] = {"n": len(asked), "always answered": always, "refusing": refusing}
        titles = " and ".join(sorted({row["title"].replace("_", " ") for row in asked}))
        show(f"SQuAD, {split} ({titles}), always answered, of those with an answer", always)
        show(f"SQuAD 2.0, {split}, n {len(asked)}: refused below a threshold from tune", refusing)
    return results


def answered(readings: Readings, asked: Sequence[dict[str, Any]]) -> dict[str, Answered]:
    """Every question with its paragraph whole and in windows, by reader."""
    found: dict[str, list[tuple[str, float]]] = {name: [] for name in READERS}
    for row in asked:
        texts = [row["context"], *windows(row["context"])]
        read = readings(row["question"], texts, [row["title"].replace("_", " ")] * len(texts))
        surest = max(range(1, len(read)), key=lambda at: sureness(read[at]))
        for name, at in (("whole", 0), ("windows", surest)):
            found[name].append((texts[at][read[at].start : read[at].end], read[at].relevance))
    golds = [[text for _, text in row["answers"] or ()] for row in asked]
    return {
        name: Answered(golds, [text for text, _ in own], np.array([relevance for _, relevance in own]))
        for name, own in found.items()
    }


def windows(text: str) -> list[str]:
    """Every `SENTENCES` sentences as they stand in the text, `STRIDE` sentences apart; the last end with the text."""
    spans = sentence_spans(text)
    last = max(0, len(spans) - SENTENCES)
    starts = (*range(0, last, STRIDE), last) if spans else ()
    return [text[spans[at][0] : spans[min(at + SENTENCES, len(spans)) - 1][1]] for at in starts]


def sureness(reading: Reading) -> float:
    """That the text answers, and in this place."""
    return logistic(reading.relevance) * reading.certainty


def measures(read: Answered) -> dict[str, Any]:
    """How the answers to what the paragraph answers compare with the gold answers."""
    pairs = [pair for pair in zip(read.texts, read.golds, strict=True) if pair[1]]
    return {
        "EM": shares([exact_match(*pair) for pair in pairs]),
        "F1": shares([f1(*pair) for pair in pairs]),
    }


def best_threshold(scores: np.ndarray, given: np.ndarray, withheld: np.ndarray) -> float:
    """From where on to answer, half way between two scores, for the most in all."""
    order = np.argsort(-scores, kind="stable")
    falling = scores[order]
    worth = withheld.sum() + np.concatenate([[0.0], np.cumsum((given - withheld)[order])])
    edges = np.concatenate([[falling[0] + 2.0], falling, [falling[-1] - 2.0]])
    worth[1:-1][falling[:-1] == falling[1:]] = -np.inf  # equal scores are answered or refused together
    best = int(worth.argmax())
    return float((edges[best] + edges[best + 1]) / 2)


def refused(read: Answered, threshold: float) -> dict[str, Any]:
    """SQuAD 2.0's measures with refusals, and how well relevance tells the two kinds of question apart."""
    given, answerable = read.relevances >= threshold, read.answerable
    values = {name: np.where(given, *read.gains(measure)) for name, measure in (("EM", exact_match), ("F1", f1))}
    forecasts = [
        Forecast(*pair) for pair in zip(read.relevances.tolist(), answerable.astype(float).tolist(), strict=True)
    ]
    return {
        **{name: shares(value.tolist()) for name, value in values.items()},
        "F1 answerable": shares(values["F1"][answerable].tolist()),
        "unanswerable refused": shares((~given[~answerable]).tolist()),
        "AUROC": auroc_interval(forecasts).to_dict(),
    }


def shares(values: Sequence[bool | float]) -> dict[str, Any]:
    """A mean with its interval; Wilson's where all are alike."""
    numbers = [float(value) for value in values]
    binary = set(numbers) <= {0.0, 1.0}
    return (proportion_interval(numbers) if binary else mean_interval(numbers)).to_dict()


def show(title: str, table: Mapping[str, Mapping[str, Any]]) -> None:
    """A table of measures with their intervals."""
    print(f"\n{title}")
    for label, values in table.items():
        cells = [
            f"{name} {value['value']:.3f} [{value['low']:.3f}, {value['high']:.3f}]" for name, value in values.items()
        ]
        print(f"{label:<28}", "  ".join(cells))


def main() -> None:
    """Measure, print, and keep where the final fifth was read."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("part", nargs="?", choices=("squad",), default="squad")
    parser.add_argument("--final", action="store_true", help="read the final fifth too, and keep the results")
    parser.add_argument("--folder", type=Path, default=BUNDLED_JUDGE, help="the judge's folder (default: the bundled)")
    arguments = parser.parse_args()
    tell()
    readings = Readings(BundledJudge(arguments.folder))
    found = {"model": readings.judge.name, **squad(readings, final=arguments.final)}
    if arguments.final:
        keep("reader", {**kept("reader", folder=RESEARCH), "squad": found}, folder=RESEARCH)


if __name__ == "__main__":
    main()
