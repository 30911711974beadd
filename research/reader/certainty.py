"""How sure an answer is: fits the weights of generation/certainty.py and measures them.

    .venv/bin/python -m research.reader.certainty [--folder DIR] [--final]

Questions of PopQA, Natural Questions, TriviaQA and SQuAD are asked over their pools, each as it is and with what
answers it out of reach, and unanswerable ones of SQuAD as they are. An answer is right when it is a gold answer, or
shares half of its words with one. The fit is a logistic regression on the answer that comes first, which changes with
the weights, so it is repeated until it does not; every set weighs the same. Measured: the calibration error, the AUROC
of right against wrong, what is wrong among the answers given at each coverage, and the first two by a fit on the other
sets.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path

import numpy as np

from benchmarks.machine import RESEARCH, keep, tell
from research.judge.evaluator import logistic
from research.judge.readings import Data
from research.pools import Pool, Question, candidates
from thresher.generation.certainty import LEARNT, Signs, Sureness, Weights
from thresher.generation.span_reader import Place, SpanReader
from thresher.judging.calibration import auroc, calibration_error
from thresher.models.cross_encoders import BUNDLED_JUDGE, BundledJudge
from thresher.types import COSINE, Evidence, Generation, Hit, Query, Score
from thresher_evals.metrics.answers import exact_match, f1

SHARED = 0.5
"""Word F1 with a gold answer from which an answer is right."""
WINDOWS = 8
FOLDS, ROUNDS = 5, 8
ALL = Sureness(0.0, 0.0)
"""Withholds nothing."""
COVERAGES = (0.25, 0.5, 0.75, 1.0)
NAMES = tuple(one.name for one in fields(Signs))


@dataclass(frozen=True)
class Asked:
    """The places of one question, and which of them are right."""

    text: str
    places: list[Place]
    right: list[bool]
    answerable: bool


def nobody(query: Query, evidence: Sequence[Evidence]) -> Generation:
    """Quotes nothing: only places are asked for."""
    raise NotImplementedError


def read(pool: Pool, questions: Sequence[Question], judge: BundledJudge, *, twice: bool) -> list[Asked]:
    """The places of every question, as it is and, with `twice`, without what answers it."""
    reader = SpanReader(judge, pool.rarity, LEARNT, nobody, 0.0, ALL, WINDOWS)
    found = []
    for asked in questions:
        for out in (frozenset[int](), asked.answered_by) if twice else (frozenset[int](),):
            chunks = [pool.chunks[one.row] for one in candidates(pool, asked.text, asked.vector, out)]
            evidence = [
                Evidence(Hit(chunk, Score(0.0, COSINE), rank), chunk.start, chunk.end, chunk.text)
                for rank, chunk in enumerate(chunks, start=1)
            ]
            places = reader.places(asked.text, evidence)
            right = [is_right(place.text, asked.answers) for place in places]
            found.append(Asked(asked.text, places, right, answerable=bool(asked.answers) and not out))
    return found


def is_right(text: str, golds: Sequence[str]) -> bool:
    """Whether an answer is a gold answer or nearly."""
    return bool(golds) and (exact_match(text, golds) or f1(text, golds) >= SHARED)


def first(asked: Asked, weights: Weights) -> tuple[Place, bool] | None:
    """The answer that comes first by the weights, and whether it is right."""
    places = [replace(place, certainty=weights.probability(place.signs)) for place in asked.places]
    reader = SpanReader.answers(_NO_READER, asked.text, places)
    if not reader:
        return None
    best = reader[0]
    at = next(at for at, place in enumerate(places) if place is best)
    return best, asked.right[at]


_NO_READER = SpanReader(BundledJudge(), lambda question: {}, LEARNT, nobody, 0.0, ALL, WINDOWS)


def fit(sets: Mapping[str, Sequence[Asked]]) -> Weights:
    """The weights, every set weighing the same."""
    weights = LEARNT
    for _ in range(ROUNDS):
        inputs, targets, counts = [], [], []
        for asked in sets.values():
            answers = [answer for one in asked if (answer := first(one, weights)) is not None]
            inputs += [[getattr(place.signs, name) for name in NAMES] for place, _ in answers]
            targets += [float(right) for _, right in answers]
            counts += [1 / len(answers)] * len(answers)
        found = logistic(np.array(inputs), np.array(targets), np.array(counts))
        weights = Weights(*(round(float(value), 3) for value in found))
    return weights


def measured(asked: Sequence[Asked], weights: Weights) -> dict[str, float]:
    """Of the answers that come first."""
    answers = [answer for one in asked if (answer := first(one, weights)) is not None]
    certainty = np.array([weights.probability(place.signs) for place, _ in answers])
    right = np.array([right for _, right in answers])
    order = np.argsort(-certainty)
    wrong = {
        f"wrong_at_{coverage:g}": round(float(1 - right[order[: max(1, int(coverage * len(order)))]].mean()), 3)
        for coverage in COVERAGES
    }
    whole = [one for one in asked if one.answerable]
    return {
        "n": len(asked),
        "right_of_answerable": round(
            sum(bool((a := first(one, weights)) and a[1]) for one in whole) / max(1, len(whole)), 3
        ),
        "reachable": round(sum(any(one.right) for one in whole) / max(1, len(whole)), 3),
        "auroc": round(auroc(certainty, right), 3),
        "ece": round(calibration_error(certainty, right), 3),
        **wrong,
    }


def main() -> None:
    """Reads, fits, measures, and keeps the numbers of the final fifth where it was asked for."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--folder", type=Path, default=BUNDLED_JUDGE, help="the reader's folder")
    parser.add_argument("--final", action="store_true", help="measure the final fifth too")
    parser.add_argument("--most", type=int, default=10_000, help="questions of a set at most")
    arguments = parser.parse_args()
    tell()
    judge, data = BundledJudge(arguments.folder), Data()
    pool, wikipedia = data.wikipedia
    paragraphs, answerable, tricks = data.squad
    sources = {**{name: (pool, questions) for name, questions in wikipedia.items()}, "SQuAD": (paragraphs, answerable)}
    results = {}
    tune: dict[str, list[Asked]] = {}
    for part, slices in (("tune", (3,)), ("final", (4,))):
        if part == "final" and not arguments.final:
            continue
        found = {}
        for name, (own, questions) in sources.items():
            chosen = [one for one in questions if one.slice in slices][: arguments.most]
            found[name] = read(own, chosen, judge, twice=True)
        found["SQuAD"] += read(
            paragraphs,
            [replace(one, answers=()) for one in tricks if one.slice in slices][: arguments.most],
            judge,
            twice=False,
        )
        if part == "tune":
            tune = found
            weights = fit(tune)
            print(weights)
        for name, asked in found.items():
            folds = measured(asked, weights)
            if part == "tune":
                elsewhere = fit({other: own for other, own in tune.items() if other != name})
                folds |= {
                    f"elsewhere_{key}": value
                    for key, value in measured(asked, elsewhere).items()
                    if key in ("auroc", "ece")
                }
            results[f"{part} {name}"] = folds
            print(part, name, folds, flush=True)
    if arguments.final:
        keep(
            "certainty",
            {
                "model": judge.name,
                "weights": vars(weights) if hasattr(weights, "__dict__") else str(weights),
                **results,
            },
            folder=RESEARCH,
        )


if __name__ == "__main__":
    main()
