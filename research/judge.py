"""What the bundled judge is worth as the evaluator of what was retrieved, on four sets of questions.

    .venv/bin/python -m research.judge evaluator [--final] [--folder DIR] [--candidates FILE]

Splits: sha1 of "split:KEY" modulo 5 (KEY: PopQA's subject, SQuAD's article, else the question's id). The judge was
trained on 0 to 2; what is chosen or fitted here is chosen or fitted on 3, tune; 4, final, is read with --final only,
which also writes research/results/judge.json. The protocol is that of `research.pools`, and with --candidates that of
the dev questions of real text. What the judge's score and its shipped calibration are is a logistic regression on its
logit, of the candidate where it is highest, each set weighing the same.

How the judge reranks, and how fast it is, was measured up to commit 2ebb4b8: docs/decisions.md, results/judge.json.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.machine import RESEARCH, keep, kept, tell
from research.pools import (
    CANDIDATES,
    FINAL,
    TUNE,
    Pool,
    Question,
    Remembered,
    Scores,
    best_threshold,
    candidates,
    of_slices,
    probabilities,
    squad,
    wikipedia,
    with_interval,
)
from research.readings import Readings
from thresher.judging.calibration import log_odds, sigmoid
from thresher.judging.fitting import auroc, calibration_error, fit, logistic_weights
from thresher.judging.scorers import LocalScorer
from thresher.models.cross_encoders import BUNDLED_JUDGE, BundledJudge
from thresher.models.encoders import BundledEncoder
from thresher.types import Chunk
from thresher_evals.stats import Forecast, auroc_interval

FOLDS, ROUNDS = 5, 20
TRAINED, REFERENCE = "trained judge", "local"

PUBLISHED = "CRAG's evaluator on PopQA, accuracy: T5-large 0.843, ChatGPT 0.580 to 0.647 (Yan et al. 2024, table 4)"


def best_probability(readings: Readings, question: str, chunks: Sequence[Chunk]) -> float:
    """The probability of the chunk that the judge puts highest."""
    read = readings(question, [chunk.text for chunk in chunks], [chunk.title for chunk in chunks])
    return float(sigmoid(np.max([one.relevance for one in read])))


@dataclass(frozen=True)
class Read:
    """Questions of one set with, for each, its best raw scores as it is and with what answers it out of reach."""

    questions: list[Question]
    best: dict[str, np.ndarray]
    """(n_questions, 2) by score."""

    def split(self, name: str, slices: Sequence[int]) -> Scores:
        """The scores of the questions of some slices."""
        return of_slices(self.best[name], self.questions, slices)

    def within(self, slices: Sequence[int]) -> np.ndarray:
        """Which questions are of some slices."""
        return np.array([asked.slice in slices for asked in self.questions])


def read(pool: Pool, questions: list[Question], readings: Readings, encoder: Remembered) -> Read:
    """Judges the ten best hybrid candidates of every question, twice."""
    local = LocalScorer(encoder, pool.rarity)
    best: dict[str, list[float]] = {REFERENCE: [], TRAINED: []}
    for asked in questions:
        for out in (frozenset[int](), asked.answered_by):
            found = candidates(pool, asked.text, asked.vector, out)
            chunks, cosines = [pool.chunks[one.row] for one in found], [one.cosine for one in found]
            texts, titles = [chunk.text for chunk in chunks], [chunk.title for chunk in chunks]
            best[REFERENCE].append(
                max(parts.relevance for parts in local.judged(asked.text, texts, titles, cosines=cosines))
            )
            best[TRAINED].append(best_probability(readings, asked.text, chunks))
    return Read(questions, {name: np.array(values).reshape(-1, 2) for name, values in best.items()})


def listed(path: Path, readings: Readings, encoder: Remembered) -> dict[str, Read]:
    """The questions with an answer of what research.train.candidates wrote, each kind a set that is all tune."""
    found = {}
    for kind, asked in of_kinds(path).items():
        pool = Pool(kind, [text for one in asked for text in one["texts"]], None)
        local = LocalScorer(encoder, pool.rarity)
        best: dict[str, list[float]] = {REFERENCE: [], TRAINED: []}
        for one in asked:
            for with_answer in (True, False):
                chunks = [pool.chunks[text["row"]] for text in one["texts"] if with_answer or not text["holds"]]
                chunks = chunks[:CANDIDATES]
                texts, titles = [chunk.text for chunk in chunks], [chunk.title for chunk in chunks]
                best[REFERENCE].append(max(parts.relevance for parts in local.judged(one["question"], texts, titles)))
                best[TRAINED].append(best_probability(readings, one["question"], chunks))
        none = np.zeros(0), frozenset[int](), TUNE[0]
        questions = [Question(one["question"], *none, answerable_half=True) for one in asked]
        found[kind] = Read(questions, {name: np.array(values).reshape(-1, 2) for name, values in best.items()})
    return found


def of_kinds(path: Path) -> dict[str, list[dict[str, Any]]]:
    """The rows of a file with a text that holds the answer and one that does not, by kind; texts are numbered."""
    found: dict[str, list[dict[str, Any]]] = {}
    for line in path.read_text(encoding="utf-8").splitlines():
        one = json.loads(line)
        if {text["holds"] for text in one["texts"]} == {True, False}:
            own = found.setdefault(one["kind"], [])
            before = sum(len(other["texts"]) for other in own)
            for row, text in enumerate(one["texts"], start=before):
                text |= {"row": row, "_id": str(row)}
            own.append(one)
    return found


def evaluator(readings: Readings, *, final: bool, candidates_of: Path | None = None) -> dict[str, Any]:
    """Can it tell whether what was retrieved suffices?"""
    bundled, slices_read = BundledEncoder(), TUNE + FINAL if final else TUNE
    pool, sets = wikipedia(bundled)
    paragraphs, answerable, tricks = squad(bundled)
    encoder = Remembered(bundled)
    found = {}
    for name, questions in {**sets, "SQuAD": answerable}.items():
        wanted = [asked for asked in questions if asked.slice in slices_read]
        found[name] = read(paragraphs if name == "SQuAD" else pool, wanted, readings, encoder)
    marked = [asked for asked in tricks if asked.slice in slices_read]
    unanswerable = read(paragraphs, marked, readings, encoder)
    own = listed(candidates_of, readings, encoder) if candidates_of else {}
    encoder.save()
    found |= own
    scale, shift = same_weight({name: log_odds(one.best[TRAINED])[..., None] for name, one in found.items()}, found)
    print(f"logit that is the log odds of sufficient evidence (tune, best of ten): {scale:.3f} logit {shift:+.3f}")
    print(PUBLISHED)
    results: dict[str, Any] = {
        "log_odds": {"scale": scale, "shift": shift},
        "published": PUBLISHED,
        "sets": {},
    }
    for name, one in found.items():
        results["sets"][name] = {}
        for score in one.best:
            results["sets"][name][score] = measured(name, score, found, final=final and name not in own)
    tune = [one.split(TRAINED, TUNE) for one in found.values()]
    odds = [sigmoid(scale * log_odds(one.raw) + shift) for one in tune]
    kinds = [
        even([values[one.answerable == side].tolist() for values, one in zip(odds, tune, strict=True)])
        for side in (True, False)
    ]
    results["calibration"] = fit(*kinds, judge="trained", encoder=bundled.name, source="shipped").to_dict()
    print(f"calibration: {results['calibration']}")
    results["squad_marked_unanswerable"] = {
        part: against_marked(part, found["SQuAD"], unanswerable, slices)
        for part, slices in (("tune", TUNE), ("final", FINAL))
        if part == "tune" or final
    }
    return results


def even(sets: Sequence[list[float]]) -> list[float]:
    """As many values of each set: those of smaller ones are drawn more than once."""
    most, draw = max(map(len, sets)), np.random.default_rng(0)
    return [value for own in sets for value in (*own, *draw.choice(own, most - len(own)))]


# --- the evaluator: fits ---------------------------------------------------------------------------------------------


def same_weight(inputs: Mapping[str, np.ndarray], found: Mapping[str, Read]) -> np.ndarray:
    """A logistic regression on tune questions, each set weighing the same.

    `inputs` are (n_questions, 2, d) by set.
    """
    tables, targets, weights = [], [], []
    for name, values in inputs.items():
        tune = np.flatnonzero(found[name].within(TUNE))
        tables.append(values[tune].reshape(-1, values.shape[2]))
        targets.append(np.tile([1.0, 0.0], len(tune)))
        weights.append(np.full(2 * len(tune), 1 / len(tune)))
    inputs_of_all, weight = np.concatenate(tables), np.concatenate(weights)
    table = np.column_stack([inputs_of_all, np.ones(len(inputs_of_all))])
    precision = np.array([1e-2] * inputs_of_all.shape[1] + [0.0])  # only keeps the weights finite
    share = weight / weight.sum() * len(weight)
    return logistic_weights(table, np.concatenate(targets), precision=precision, share=share)


# --- the evaluator: measures ------------------------------------------------------------------------------------------


def measured(name: str, score: str, found: Mapping[str, Read], *, final: bool) -> dict[str, Any]:
    """One score on one set. Threshold and calibrations come from tune; on tune itself, from its other folds."""
    one = found[name]
    tune = one.split(score, TUNE)
    own = fit(*tune.kinds, judge=score, encoder="", source="labels")
    others = shared_curve(score, {key: value for key, value in found.items() if key != name})
    results = {"tune": of_part(one, score, TUNE, right_by_fold(tune))}
    results["tune"]["ece"] = {
        "as it is": calibration_error(tune.raw, tune.answerable),
        "own": own.ece,
        "other sets": calibration_error(others(tune.raw), tune.answerable),
    }
    if final:
        scores, cut, everywhere = one.split(score, FINAL), best_threshold(tune), shared_curve(score, found)
        right = (scores.raw >= cut) == scores.answerable
        told = {
            "as it is": scores.raw,
            "own": probabilities(own, scores.raw),
            "all sets": everywhere(scores.raw),
            "other sets": others(scores.raw),
        }
        results["final"] = of_part(one, score, FINAL, right) | {
            "threshold": cut,
            "ece": {kind: calibration_error(values, scores.answerable) for kind, values in told.items()},
            "accuracy_at_half": {
                kind: float(((values >= 0.5) == scores.answerable).mean()) for kind, values in told.items()
            },
        }
    for part, values in results.items():
        tell_score(f"{name}, {part}", score, values)
    return results


def shared_curve(score: str, found: Mapping[str, Read]) -> Callable[[np.ndarray], np.ndarray]:
    """One calibration for several sets, each weighing the same, over log odds as the package's are."""
    odds = {name: log_odds(one.best[score])[:, :, None] for name, one in found.items() if score in one.best}
    slope, intercept = same_weight(odds, found)
    return lambda raw: sigmoid(slope * log_odds(raw) + intercept)


def right_by_fold(scores: Scores) -> np.ndarray:
    """Whether each question is told right by the threshold that is best for the other folds."""
    n = len(scores.raw) // 2
    folds = np.tile(np.arange(n) % FOLDS, 2)
    right = np.empty(2 * n, bool)
    for fold in range(FOLDS):
        out = folds == fold
        cut = best_threshold(Scores(scores.raw[~out], scores.answerable[~out], scores.half[~out]))
        right[out] = (scores.raw[out] >= cut) == scores.answerable[out]
    return right


def of_part(one: Read, score: str, slices: Sequence[int], right: np.ndarray) -> dict[str, Any]:
    """AUROC, its difference to the local judge's and accuracy, with intervals over questions."""
    scores, reference = one.split(score, slices), one.split(REFERENCE, slices)
    n = len(scores.raw) // 2

    def area(of: Scores, drawn: np.ndarray) -> float:
        pairs = np.concatenate([drawn, drawn + n])
        return auroc(of.raw[pairs], of.answerable[pairs])

    found = {
        "n_questions": n,
        "auroc": with_interval(lambda drawn: area(scores, drawn), n),
        "accuracy": with_interval(lambda drawn: float(right[np.concatenate([drawn, drawn + n])].mean()), n),
    }
    if score != REFERENCE:
        found["auroc_over_local"] = with_interval(lambda drawn: area(scores, drawn) - area(reference, drawn), n)
    return found


def against_marked(part: str, one: Read, unanswerable: Read, slices: Sequence[int]) -> dict[str, Any]:
    """Best scores of answerable questions against those of questions that SQuAD marks unanswerable."""
    results = {}
    for score in one.best:
        answered = one.best[score][one.within(slices), 0]
        marked = unanswerable.best[score][unanswerable.within(slices), 0]
        forecasts = [Forecast(value, 1.0) for value in answered.tolist()]
        forecasts += [Forecast(value, 0.0) for value in marked.tolist()]
        area = auroc_interval(forecasts)
        results[score] = {"answerable": len(answered), "marked": len(marked), "auroc": area.to_dict()}
        print(
            f"SQuAD answerable ({len(answered)}) against marked unanswerable ({len(marked)}), {part}: {score:<23} "
            f"AUROC {area.value:.3f} [{area.low:.3f}, {area.high:.3f}]"
        )
    return results


def tell_score(label: str, score: str, found: Mapping[str, Any]) -> None:
    """One line about a score on a set."""
    area, accuracy = found["auroc"], found["accuracy"]
    over = found.get("auroc_over_local")
    change = f"({over['value']:+.3f} [{over['low']:+.3f}, {over['high']:+.3f}])" if over else ""
    errors = "  ".join(f"{kind} {value:.3f}" for kind, value in found["ece"].items())
    halves = "  ".join(f"{kind} {value:.3f}" for kind, value in found.get("accuracy_at_half", {}).items())
    print(
        f"{label:<15} n {found['n_questions']:<4} {score:<23} AUROC {area['value']:.3f} [{area['low']:.3f}, "
        f"{area['high']:.3f}] {change:<24} accuracy {accuracy['value']:.3f} [{accuracy['low']:.3f}, "
        f"{accuracy['high']:.3f}]  ECE {errors}" + (f"  accuracy at 0.5: {halves}" if halves else ""),
        flush=True,
    )


def main() -> None:
    """Measure, print, and keep where the final fifth was read."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("section", nargs="?", choices=("evaluator",), default="evaluator")
    parser.add_argument("--final", action="store_true", help="also the final fifth; writes results/judge.json")
    parser.add_argument("--folder", type=Path, default=BUNDLED_JUDGE, help="the weights")
    parser.add_argument("--candidates", type=Path, help="what research.train.candidates wrote: papers and manuals too")
    options = parser.parse_args()
    tell()
    judge = BundledJudge(options.folder)
    print(f"judge {judge.name}")
    found = evaluator(Readings(judge), final=options.final, candidates_of=options.candidates)
    if options.final:
        before = kept("judge", folder=RESEARCH)
        same = {"rerank": before["rerank"]} if before.get("judge") == judge.name and "rerank" in before else {}
        keep("judge", {**same, "judge": judge.name, "evaluator": found}, folder=RESEARCH)


if __name__ == "__main__":
    main()
