"""The judge as a reranker, on six sets of questions."""

from __future__ import annotations

import hashlib
import statistics
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from benchmarks.machine import rows
from research.judge.readings import Data, Logits, shown, slices_of
from research.pools import (
    CUTOFF,
    FINAL,
    TUNE,
    WEIGHTS,
    Pool,
    Question,
    candidates,
    grades,
    ndcg,
    slice_of,
    vectors,
)
from thresher.models.encoders import BundledEncoder
from thresher_evals.stats import mean_interval, paired_difference

DEPTH = 20
BLENDS = (0.3, 0.5, 0.7)  # of the judge
BLENDED_ON = ("PopQA", "NQ, strings", "TriviaQA, strings", "SQuAD", "SciFact")  # every set once, none out of domain
SQUAD_QUESTIONS = 300  # of each slice

# --- reranking: questions and labels ----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Asked:
    """A question, the grades of the rows of the pool that are known to be relevant, and its slice."""

    text: str
    vector: np.ndarray
    grades: Mapping[int, int]
    slice: int


def ranked_sets(data: Data) -> dict[str, tuple[Pool, list[Asked]]]:
    """Every set of questions with the pool they are asked of."""
    pool, sets = data.wikipedia
    found = {"PopQA": (pool, [labelled(asked) for asked in sets["PopQA"]])}
    for name, file in (("NQ", "nq"), ("TriviaQA", "triviaqa")):
        silver = silver_rows(pool, file)
        found[f"{name}, silver"] = (pool, [labelled(asked, silver[asked.text]) for asked in sets[name]])
        found[f"{name}, strings"] = (pool, [labelled(asked) for asked in sets[name]])
    paragraphs = data.squad[0]
    found["SQuAD"] = (paragraphs, squad_asked(paragraphs, data.encoder, answerable=True))
    found["SQuAD, also unanswerable"] = (paragraphs, squad_asked(paragraphs, data.encoder, answerable=False))
    return found | {"SciFact": beir("scifact", data.encoder), "Cranfield": beir("cranfield", data.encoder)}


def labelled(asked: Question, relevant: Iterable[int] | None = None) -> Asked:
    """A question of benchmarks/calibration.py; relevant is what answers it, or else what is given."""
    grades = dict.fromkeys(asked.answered_by if relevant is None else relevant, 1)
    return Asked(asked.text, asked.vector, grades, asked.slice)


def silver_rows(pool: Pool, file: str) -> dict[str, set[int]]:
    """Question to the rows that its file calls relevant."""
    found: dict[str, set[int]] = {}
    for row in rows(f"wikipedia/{file}.jsonl"):
        found.setdefault(row["question"], set()).update(pool.at[id_] for id_ in row["silver_ids"] if id_ in pool.at)
    return found


def squad_asked(pool: Pool, encoder: BundledEncoder, *, answerable: bool) -> list[Asked]:
    """Questions and their own paragraph: those that are known to be answered there, or any."""
    found = rows("squad/answered.jsonl") + rows("squad/questions_only.jsonl")
    encoded = vectors("q_squad", [row["question"] for row in found], encoder)
    order = sorted(range(len(found)), key=lambda at: hashlib.sha1(found[at]["id"].encode()).digest())
    of_slice: dict[int, list[Asked]] = {}
    for row, vector in ((found[at], encoded[at]) for at in order):
        if answerable and row["unanswerable"] is not False:
            continue
        grades = {pool.at[f"{row['title']}:{row['paragraph']}"]: 1}
        place = slice_of(row["title"])
        of_slice.setdefault(place, []).append(Asked(row["question"], vector, grades, place))
    return [asked for questions in of_slice.values() for asked in questions[:SQUAD_QUESTIONS]]


def beir(name: str, encoder: BundledEncoder) -> tuple[Pool, list[Asked]]:
    """A folder with corpus, queries and graded qrels."""
    queries = rows(f"{name}/queries.jsonl")
    pool = Pool(f"{name}_pool", rows(f"{name}/corpus.jsonl"), encoder)
    graded = {
        query: {pool.at[document]: grade for document, grade in found.items()} for query, found in grades(name).items()
    }
    encoded = vectors(f"q_{name}", [row["text"] for row in queries], encoder)
    pairs = zip(queries, encoded, strict=True)
    return pool, [
        Asked(row["text"], vector, graded[row["_id"]], slice_of(row["_id"]))
        for row, vector in pairs
        if row["_id"] in graded
    ]


# --- reranking: orders and measures -----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Listed:
    """Candidates in the order they were found in, with the score they were found by and the judge's logit."""

    rows: np.ndarray
    own: np.ndarray
    logits: np.ndarray

    def order(self, weight: float) -> list[int]:
        """The rows, best first; `weight` of the judge, 0 for the order they were found in, 1 for the judge's."""
        if weight == 0:
            return [int(row) for row in self.rows]
        scores = weight * min_max(self.logits) + (1 - weight) * min_max(self.own)
        return [int(row) for row in self.rows[np.argsort(-scores, kind="stable")]]


def min_max(values: np.ndarray) -> np.ndarray:
    """Brought to 0..1; all equal, all 1, as the fusion does it."""
    low, high = values.min(), values.max()
    return np.ones_like(values) if high == low else (values - low) / (high - low)


def listed(pool: Pool, asked: Asked, logits: Logits) -> dict[str, Listed]:
    """The encoder's candidates, and those of encoder and BM25 together."""
    cosines = pool.vectors @ asked.vector
    dense = np.argsort(-cosines, kind="stable")[:DEPTH]
    fused = candidates(pool, asked.text, asked.vector, number=DEPTH)
    hybrid = np.array([one.row for one in fused])
    both = list(dict.fromkeys([*dense.tolist(), *hybrid.tolist()]))
    read = dict(zip(both, logits(asked.text, [pool.chunks[row] for row in both]), strict=True))
    sums = WEIGHTS[0] * min_max(cosines[hybrid]) + WEIGHTS[1] * min_max(np.array([one.bm25 for one in fused]))
    return {
        name: Listed(order, own, np.array([read[row] for row in order.tolist()]))
        for name, order, own in (("dense", dense, cosines[dense]), ("hybrid", hybrid, sums))
    }


def first(order: Sequence[int], grades: Mapping[int, int]) -> float:
    """1 when the first row is relevant."""
    return float(grades.get(order[0], 0) > 0)


MEASURES: dict[str, Callable[[Sequence[int], Mapping[int, int]], float]] = {f"nDCG@{CUTOFF}": ndcg, "P@1": first}


@dataclass(frozen=True)
class Ranked:
    """The questions of a set that are measured, with their candidates."""

    asked: list[Asked]
    found: list[dict[str, Listed]]

    def of(self, slices: Sequence[int]) -> Ranked:
        """Those of some slices."""
        chosen = [at for at, asked in enumerate(self.asked) if asked.slice in slices]
        return Ranked([self.asked[at] for at in chosen], [self.found[at] for at in chosen])

    def values(self, measure: str, start: str, weight: float) -> list[float]:
        """A measure of each question, for one kind of candidates in one order."""
        pairs = zip(self.asked, self.found, strict=True)
        return [MEASURES[measure](found[start].order(weight), asked.grades) for asked, found in pairs]

    def perfect(self, start: str) -> float:
        """Mean nDCG of the same candidates in the best order."""
        best = [
            ndcg(sorted(found[start].rows.tolist(), key=lambda row: -asked.grades.get(row, 0)), asked.grades)
            for asked, found in zip(self.asked, self.found, strict=True)
        ]
        return statistics.fmean(best)


def rerank(data: Data, logits: Logits, *, final: bool) -> dict[str, Any]:
    """Every set before and after the judge."""
    ranked: dict[str, Ranked] = {}
    for name, (pool, questions) in ranked_sets(data).items():
        wanted = [asked for asked in questions if name == "Cranfield" or asked.slice in slices_of(final)]
        ranked[name] = Ranked(wanted, [listed(pool, asked, logits) for asked in wanted])
    weights, tried = chosen_weights({name: ranked[name].of(TUNE) for name in BLENDED_ON})
    for start, values in tried.items():
        told = "  ".join(f"{weight:.1f} {value:.4f}" for weight, value in values.items())
        print(f"weight of the judge over {start}, mean nDCG@{CUTOFF} of {len(BLENDED_ON)} sets (tune): {told}")
    results: dict[str, Any] = {"weights": weights, "tried": tried, "sets": {}}
    for name, every in ranked.items():
        parts = {"tune": every.of(TUNE)} | ({"final": every.of(FINAL)} if final else {})
        if name == "Cranfield":
            parts["all"] = every
        results["sets"][name] = {part: compared(f"{name}, {part}", held, weights) for part, held in parts.items()}
    for name in ("NQ", "TriviaQA"):
        pair = (ranked[f"{name}, silver"], ranked[f"{name}, strings"])
        changed = {
            part: first_places(*(questions.of(slices) for questions in pair))
            for part, slices in (("tune", TUNE), ("final", FINAL))
            if part == "tune" or final
        }
        for part, counts in changed.items():
            print(f"{name}, {part}: " + ", ".join(f"{what} {count}" for what, count in counts.items()))
        results["sets"][f"{name}, silver"]["first places"] = changed
    return results


def chosen_weights(tune: Mapping[str, Ranked]) -> tuple[dict[str, float], dict[str, dict[float, float]]]:
    """For each kind of candidates the weight with the best mean nDCG over the sets, and that of all tried."""
    tried = {
        start: {
            weight: statistics.fmean(
                statistics.fmean(questions.values(f"nDCG@{CUTOFF}", start, weight)) for questions in tune.values()
            )
            for weight in (0.0, *BLENDS, 1.0)
        }
        for start in ("dense", "hybrid")
    }
    return {start: max(BLENDS, key=lambda weight: values[weight]) for start, values in tried.items()}, tried


def compared(label: str, questions: Ranked, weights: Mapping[str, float]) -> dict[str, Any]:
    """The six orders of some questions, each with its difference to the order its candidates were found in."""
    perfect = {start: questions.perfect(start) for start in weights}
    told = ", ".join(f"{start} {value:.3f}" for start, value in perfect.items())
    print(f"{label}: n {len(questions.asked)}; nDCG@{CUTOFF} of a perfect order of the {DEPTH}: {told}")
    results: dict[str, Any] = {"n": len(questions.asked), "perfect": perfect, "orders": {}}
    for start, blend in weights.items():
        for order, weight in ((start, 0.0), (f"{start}, judge", 1.0), (f"{start}, {blend} judge", blend)):
            cells, kept = [], {}
            for measure in MEASURES:
                before, after = (questions.values(measure, start, each) for each in (0.0, weight))
                value, change = mean_interval(after), paired_difference(before, after)
                kept[measure] = value.to_dict() | ({"change": change.to_dict()} if weight else {})
                cells.append(f"{measure} {shown(value)} {shown(change) if weight else '':<24}")
            print(f"  {order:<18} {'  '.join(cells)}".rstrip(), flush=True)
            results["orders"][order] = kept
    return results


def first_places(silver: Ranked, strings: Ranked) -> dict[str, int]:
    """What the judge does to first places of the encoder: silver lost and won, and which part of it is real."""
    counts = {"silver first places lost": 0, "of them to a passage with an answer": 0, "won": 0}
    for asked, other, found in zip(silver.asked, strings.asked, silver.found, strict=True):
        before, after = (found["dense"].order(weight)[0] for weight in (0.0, 1.0))
        lost = before in asked.grades and after not in asked.grades
        counts["silver first places lost"] += lost
        counts["of them to a passage with an answer"] += lost and after in other.grades
        counts["won"] += before not in asked.grades and after in asked.grades
    return counts
