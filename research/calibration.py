"""Can a judge without a model tell whether what was retrieved suffices, and is its probability one?

    .venv/bin/python -m research.calibration

Questions, pools and splits are those of `research.pools`.
"""

from __future__ import annotations

import json
import random
import time
from collections.abc import Callable, Sequence, Set
from dataclasses import replace
from typing import Any

import numpy as np

from benchmarks.machine import RESEARCH, keep, tell
from research.pools import (
    FINAL,
    FOLDER,
    TRAIN,
    TUNE,
    Judge,
    Pool,
    Question,
    Remembered,
    Scores,
    best_cosine,
    best_scores,
    best_threshold,
    bm25_share,
    candidates,
    confidence,
    local,
    of_slices,
    probabilities,
    squad,
    wikipedia,
    with_interval,
)
from thresher.judging.calibration import SHIPPED, Calibration, auroc, calibration_error, fit, usual
from thresher.models.encoders import BundledEncoder
from thresher.recipes.made_questions import gather
from thresher_evals.questions.synthetic import synthetic_questions

SHIPPED_QUESTIONS = 200  # of each set, so that each weighs the same
MADE = 300
BOUNDS = (0.15, 0.2, 0.25, 0.3, 0.4, 0.5, 0.6, 0.7, 0.75, 0.8, 0.85, 0.9)


def keep_rows(best: dict[str, dict[str, np.ndarray]], sets: dict[str, list[Question]]) -> None:
    """Every question with its slice and, for each judge, its raw score with and without what answers it."""
    lines = [
        {"set": name, "question": asked.text, "slice": asked.slice}
        | {judge: values[at].tolist() for judge, values in best[name].items()}
        for name, questions in sets.items()
        for at, asked in enumerate(questions)
    ]
    text = "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)
    (FOLDER / "rows.jsonl").write_text(text, encoding="utf-8")


def acted(calibration: Calibration, scores: Scores) -> dict[str, float | None]:
    """What the calibration's bounds do: shares of the questions, and how many of those were answerable."""
    values = probabilities(calibration, scores.raw)
    above, below = values > calibration.upper, values <= calibration.lower
    return {
        "correct": float(above.mean()),
        "answerable_of_correct": float(scores.answerable[above].mean()) if above.any() else None,
        "incorrect": float(below.mean()),
        "answerable_of_incorrect": float(scores.answerable[below].mean()) if below.any() else None,
    }


def measured(tune: Scores, final: Scores, calibrations: dict[str, Calibration]) -> dict[str, Any]:
    """A judge on one set's final questions."""
    n = len(final.raw) // 2
    cut = best_threshold(tune)
    right = (final.raw >= cut) == final.answerable
    pairs: Callable[[np.ndarray], np.ndarray] = lambda drawn: np.concatenate([drawn, drawn + n])  # noqa: E731
    return {
        "n_questions": n,
        "auroc": with_interval(lambda drawn: auroc(final.raw[pairs(drawn)], final.answerable[pairs(drawn)]), n),
        "auroc_halves": auroc(final.raw[final.half], final.answerable[final.half]),
        "accuracy": with_interval(lambda drawn: float(right[pairs(drawn)].mean()), n),
        "accuracy_halves": float(right[final.half].mean()),
        "threshold": cut,
        "ece": {"raw": calibration_error(final.raw, final.answerable)}
        | {
            name: calibration_error(probabilities(calibration, final.raw), final.answerable)
            for name, calibration in calibrations.items()
        },
        "bounds": {
            name: {"lower": calibration.lower, "upper": calibration.upper, **acted(calibration, final)}
            for name, calibration in calibrations.items()
        },
    }


def shipped_from(best: dict[str, np.ndarray], sets: dict[str, list[Question]], encoder: str) -> Calibration:
    """A calibration on as many training questions of each set."""
    kinds: tuple[list[float], list[float]] = ([], [])
    for name, questions in sets.items():
        train = of_slices(best[name], questions, TRAIN).kinds
        chosen = random.Random(0).sample(range(len(train[0])), min(SHIPPED_QUESTIONS, len(train[0])))
        for kind, values in zip(kinds, train, strict=True):
            kind.extend(values[at] for at in chosen)
    return replace(fit(*kinds, judge="local", encoder=encoder, source="shipped"), source="shipped")


def instead(made: Calibration, elsewhere: Calibration) -> Calibration:
    """The curve of made questions with that of other question sets in the place of the shipped one."""
    ((slope, intercept),), ((usual, shift),) = made.parameters, SHIPPED["local"].parameters
    ((other, other_shift),) = elsewhere.parameters
    return replace(made, parameters=((slope + (other - usual) / 2, intercept + (other_shift - shift) / 2),))


def by_threshold(shipped: Calibration, tune: Sequence[Scores]) -> dict[str, dict[str, float]]:
    """For bounds on the shipped probability, sets weighing the same: how many lie above and below, and which part of
    them is answerable.
    """
    values = np.concatenate([probabilities(shipped, scores.raw) for scores in tune])
    answerable = np.concatenate([scores.answerable for scores in tune])
    weight = np.concatenate([np.full(len(scores.raw), 1 / len(scores.raw) / len(tune)) for scores in tune])
    found = {}
    for bound in BOUNDS:
        above = values >= bound
        found[f"{bound:.2f}"] = {
            "above": float(weight[above].sum()),
            "answerable_above": float(weight[above & answerable].sum() / weight[above].sum()),
            "below": float(weight[~above].sum()),
            "answerable_below": float(weight[~above & answerable].sum() / weight[~above].sum()),
        }
    return found


def from_made(judge: Judge, name: str, pool: Pool, encoder: Remembered) -> Calibration:
    """The calibration nobody labelled anything for."""
    questions = synthetic_questions(pool.chunks, number=MADE, seed=0)

    def score(question: str, without: Set[str]) -> float | None:
        out = frozenset(pool.at[id_] for id_ in without)
        found = candidates(pool, question, encoder.encode_query(question), out)
        return max(judge(question, pool, found), default=None)

    kinds = gather(questions, score)
    known = usual(name, encoder.encoder.name)
    return fit(
        *kinds, judge=name, encoder=encoder.encoder.name, source="questions made of the collection", elsewhere=known
    )


def milliseconds(pool: Pool, questions: Sequence[Question], encoder: BundledEncoder) -> float:
    """Median time to judge ten candidates, nothing remembered but the weights."""
    judge = local(encoder)
    times = []
    for asked in questions[:40]:
        found = candidates(pool, asked.text, asked.vector)
        started = time.perf_counter()
        judge(asked.text, pool, found)
        times.append(time.perf_counter() - started)
    return float(np.median(times[5:]) * 1000)


def main() -> None:
    """Fit, measure on the final slice, keep."""
    tell()
    bundled = BundledEncoder()
    encoder = Remembered(bundled)
    wiki, sets = wikipedia(bundled)
    paragraphs, sets["SQuAD"], tricks = squad(bundled)
    pools = {name: paragraphs if name == "SQuAD" else wiki for name in sets}
    judges = {"best cosine": best_cosine, "BM25 share": bm25_share, "ECRAG C": confidence, "local": local(encoder)}
    best = {name: best_scores(judges, pools[name], questions) for name, questions in sets.items()}
    keep_rows(best, sets)
    mine = {name: scores["local"] for name, scores in best.items()}
    shipped = shipped_from(mine, sets, bundled.name)
    made = {
        judge: {id(pool): from_made(judges[judge], judge, pool, encoder) for pool in (wiki, paragraphs)}
        for judge in judges
    }
    encoder.save()
    results: dict[str, Any] = {"shipped": shipped.to_dict(), "agrees_with_package": agrees(shipped), "sets": {}}
    for name, questions in sets.items():
        others = {other: asked for other, asked in sets.items() if other != name}
        results["sets"][name] = {}
        for judge in judges:
            scores = {part: of_slices(best[name][judge], questions, part) for part in (TRAIN, TUNE, FINAL)}
            known = of_slices(best[name][judge], questions, TRAIN + TUNE)
            calibrations = {
                "labels": fit(*known.kinds, judge=judge, encoder=bundled.name, source="labels"),
                "made": made[judge][id(pools[name])],
            }
            if judge == "local":
                calibrations["shipped"] = shipped
                elsewhere = shipped_from(mine, others, bundled.name)
                calibrations["other sets"] = elsewhere
                calibrations["made, other sets"] = instead(calibrations["made"], elsewhere)
            found = measured(scores[TUNE], scores[FINAL], calibrations)
            results["sets"][name][judge] = found
            tell_judge(name, judge, found)
    tune = [of_slices(mine[name], questions, TUNE) for name, questions in sets.items()]
    results["by_threshold"] = by_threshold(shipped, tune)
    for bound, found in results["by_threshold"].items():
        print(f"bound {bound}  " + "  ".join(f"{part} {value:.3f}" for part, value in found.items()))
    marked = [asked for asked in tricks if asked.slice in FINAL]
    unanswerable = best_scores({"local": judges["local"]}, paragraphs, marked)["local"][:, 0]
    answered = of_slices(mine["SQuAD"], sets["SQuAD"], FINAL).kinds[0]
    together = np.concatenate([answered, unanswerable])
    trick = auroc(together, np.arange(len(together)) < len(answered))
    results["squad_marked_unanswerable"] = {"n": len(marked), "auroc": trick}
    print(f"answerable against what SQuAD marks unanswerable (final): AUROC {trick:.3f}, n {len(marked)}")
    results["milliseconds_for_ten"] = {
        "wikipedia": milliseconds(wiki, sets["NQ"], bundled),
        "squad": milliseconds(paragraphs, sets["SQuAD"], bundled),
    }
    results["made"] = {
        judge: {pool: found[id(at)].to_dict() for pool, at in (("wikipedia", wiki), ("squad", paragraphs))}
        for judge, found in made.items()
    }
    print(f"milliseconds to judge ten candidates: {results['milliseconds_for_ten']}")
    print(f"shipped: {shipped}")
    keep("calibration", results, folder=RESEARCH)


def agrees(shipped: Calibration) -> bool:
    """Whether the package ships what was just fitted."""
    return (
        np.allclose(shipped.parameters, SHIPPED["local"].parameters, atol=0.01)
        and shipped.encoder == SHIPPED["local"].encoder
    )


def tell_judge(name: str, judge: str, found: dict[str, Any]) -> None:
    """One line about a judge on a set."""
    area, accuracy = found["auroc"], found["accuracy"]
    errors = "  ".join(f"{kind} {value:.3f}" for kind, value in found["ece"].items())
    print(
        f"{name:<9} n {found['n_questions']:<4} {judge:<12} AUROC {area['value']:.3f} [{area['low']:.3f}, "
        f"{area['high']:.3f}] halves {found['auroc_halves']:.3f}  accuracy {accuracy['value']:.3f} "
        f"[{accuracy['low']:.3f}, {accuracy['high']:.3f}] halves {found['accuracy_halves']:.3f}  ECE {errors}"
    )


if __name__ == "__main__":
    main()
