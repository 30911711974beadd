"""What the bundled judge is worth: as a reranker, as the evaluator of what was retrieved, and how fast it is.

    .venv/bin/python benchmarks/judge.py [rerank|evaluator|speed|all] [--final] [--folder DIR]

Splits: sha1 of "split:KEY" modulo 5 (KEY: PopQA's subject, SQuAD's article, else the question's id). The judge was
trained on 0 to 2; what is chosen or fitted here is chosen or fitted on 3, tune; 4, final, is read with --final only,
which also writes results/judge.json. Nothing was trained on Cranfield: all its questions count.

* rerank: the 20 best of the encoder, and of encoder and BM25 together, in the order of the judge and in the order of
  both (min-max, one weight for all sets). Natural Questions and TriviaQA under two labels: `silver`, which their files
  give and which are incomplete, and `strings`, any known passage or candidate that holds an answer.
* evaluator: the protocol of benchmarks/calibration.py. The combination is a logistic regression on the judge's logit
  and the two parts of the local judge, of the candidate where it is highest; on tune each fifth is told by a fit on
  the others.
* speed: 20 pairs that were not read before. With --torch, a Python that has torch and transformers
  (tools/requirements.txt), the float model beside it; --run is what tools/train_judge.py wrote.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import sqlite3
import statistics
import subprocess
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from calibration import (
    CANDIDATES,
    FINAL,
    TUNE,
    WEIGHTS,
    Judge,
    Pool,
    Question,
    Remembered,
    Scores,
    best_cosine,
    best_threshold,
    bm25_share,
    candidates,
    confidence,
    of_slices,
    probabilities,
    rows,
    slice_of,
    squad,
    vectors,
    wikipedia,
    with_interval,
)
from evaluate import keep
from machine import CACHE, DATA, RESULTS, ROOT, tell

from thresher.judging.calibration import CLIP, auroc, calibration_error, fit
from thresher.judging.scorers import LOGIT_WEIGHT, TERMS_WEIGHT, LocalRelevance
from thresher.judging.scorers import TRAINED_SENTENCE_WEIGHT as SENTENCE_WEIGHT
from thresher.models import cross_encoders as reading
from thresher.models.cross_encoders import BUNDLED_JUDGE, BundledJudge, FastembedCrossEncoder
from thresher.models.encoders import BundledEncoder
from thresher.models.onnx import usable_cores
from thresher.text.sentences import sentence_spans
from thresher.text.terms import index_terms
from thresher.types import Chunk
from thresher_evals.stats import Comparison, Forecast, Interval, auroc_interval, mean_interval, paired_difference

FOLDER = CACHE / "judge"
DEPTH, CUTOFF = 20, 10
BLENDS = (0.3, 0.5, 0.7)  # of the judge
BLENDED_ON = ("PopQA", "NQ, strings", "TriviaQA, strings", "SQuAD", "SciFact")  # every set once, none out of domain
SQUAD_QUESTIONS = 300  # of each slice
FOLDS, ROUNDS = 5, 20
PARTS = ("logit", "sentence", "terms")
TRAINED, COMBINED, ELSEWHERE, REFERENCE = "trained judge", "combination", "combination, other sets", "local"
PAIRS, PAIR_TOKENS, QUESTION_TOKENS = 20, 150, 12
PAUSE = 0.3  # seconds between measurements: threads of other libraries go on spinning for a while

PUBLISHED = "CRAG's evaluator on PopQA, accuracy: T5-large 0.843, ChatGPT 0.580 to 0.647 (Yan et al. 2024, table 4)"


class Logits:
    """The judge's logits, each pair read once: they are kept on disk by model, question, title and text."""

    def __init__(self, judge: BundledJudge, *, titled: bool) -> None:
        self.judge = judge
        self._titled = titled
        FOLDER.mkdir(parents=True, exist_ok=True)
        self._store = sqlite3.connect(FOLDER / f"{judge.name}.sqlite")
        self._store.execute("CREATE TABLE IF NOT EXISTS logits (pair BLOB PRIMARY KEY, logit REAL NOT NULL)")

    def __call__(self, question: str, chunks: Sequence[Chunk]) -> list[float]:
        """One logit for each chunk."""
        pairs = [(question, chunk.title if self._titled else "", chunk.text) for chunk in chunks]
        keys = [pair_key(*pair) for pair in pairs]
        marks = ", ".join("?" * len(keys))
        known = dict(self._store.execute(f"SELECT pair, logit FROM logits WHERE pair IN ({marks})", keys).fetchall())
        new = {key: pair for key, pair in zip(keys, pairs, strict=True) if key not in known}
        if new:
            titles, texts = ([pair[at] for pair in new.values()] for at in (1, 2))
            found = self.judge.read(question, texts, titles)
            fresh = {key: one.relevance for key, one in zip(new, found, strict=True)}
            with self._store:
                self._store.executemany("INSERT OR REPLACE INTO logits VALUES (?, ?)", fresh.items())
            known |= fresh
        return [known[key] for key in keys]


def pair_key(question: str, title: str, text: str) -> bytes:
    """What a pair is kept under: its words, and how much of them the judge reads."""
    limits = (reading.MAX_TOKENS, reading.QUESTION_TOKENS, reading.TITLE_TOKENS, reading.OVERLAP_TOKENS)
    return hashlib.sha1(json.dumps([limits, question, title, text]).encode()).digest()


class Data:
    """Pools and questions, made when they are first asked for."""

    def __init__(self) -> None:
        self.encoder = BundledEncoder()

    @cached_property
    def wikipedia(self) -> tuple[Pool, dict[str, list[Question]]]:
        return wikipedia(self.encoder)

    @cached_property
    def squad(self) -> tuple[Pool, list[Question], list[Question]]:
        return squad(self.encoder)


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
    corpus, queries = rows(f"{name}/corpus.jsonl"), rows(f"{name}/queries.jsonl")
    pool = Pool(f"{name}_pool", *([row[key] for row in corpus] for key in ("_id", "title", "text")), encoder)
    grades: dict[str, dict[int, int]] = {}
    for line in (DATA / name / "qrels.tsv").read_text(encoding="utf-8").splitlines()[1:]:
        query, document, grade = line.split("\t")[:3]
        if int(grade) > 0:
            grades.setdefault(query, {})[pool.at[document]] = int(grade)
    encoded = vectors(f"q_{name}", [row["text"] for row in queries], encoder)
    pairs = zip(queries, encoded, strict=True)
    return pool, [
        Asked(row["text"], vector, grades[row["_id"]], slice_of(row["_id"]))
        for row, vector in pairs
        if row["_id"] in grades
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
            return self.rows.tolist()
        scores = weight * min_max(self.logits) + (1 - weight) * min_max(self.own)
        return self.rows[np.argsort(-scores, kind="stable")].tolist()


def min_max(values: np.ndarray) -> np.ndarray:
    """Brought to 0..1; all equal, all 1, as the fusion does it."""
    low, high = values.min(), values.max()
    return np.ones_like(values) if high == low else (values - low) / (high - low)


ScoreOf = Callable[[Pool, str, Sequence[Chunk]], Sequence[float]]
"""Scores of some chunks of a pool for a question, on any scale."""


def with_words(logits: Logits, encoder: Remembered) -> ScoreOf:
    """What our judge goes by: the cross-encoder with the encoder and the question's words (judging/trained.py)."""

    def score(pool: Pool, question: str, chunks: Sequence[Chunk]) -> list[float]:
        relevance = LocalRelevance(encoder, index_terms, pool.rarity, sentence_spans)
        made_of = relevance.judged(question, [chunk.text for chunk in chunks], [chunk.title for chunk in chunks])
        return [
            LOGIT_WEIGHT * logit + SENTENCE_WEIGHT * part.sentence + TERMS_WEIGHT * part.terms
            for logit, part in zip(logits(question, chunks), made_of, strict=True)
        ]

    return score


def listed(pool: Pool, asked: Asked, score_of: ScoreOf) -> dict[str, Listed]:
    """The encoder's candidates, and those of encoder and BM25 together."""
    cosines = pool.vectors @ asked.vector
    dense = np.argsort(-cosines, kind="stable")[:DEPTH]
    fused = candidates(pool, asked.text, asked.vector, number=DEPTH)
    hybrid = np.array([one.row for one in fused])
    both = list(dict.fromkeys([*dense.tolist(), *hybrid.tolist()]))
    read = dict(zip(both, score_of(pool, asked.text, [pool.chunks[row] for row in both]), strict=True))
    sums = WEIGHTS[0] * min_max(cosines[hybrid]) + WEIGHTS[1] * min_max(np.array([one.bm25 for one in fused]))
    return {
        name: Listed(order, own, np.array([read[row] for row in order.tolist()]))
        for name, order, own in (("dense", dense, cosines[dense]), ("hybrid", hybrid, sums))
    }


def ndcg(order: Sequence[int], grades: Mapping[int, int]) -> float:
    """Of the first ten, gains as they are (trec_eval), over the best order of all that is known to be relevant."""
    gains = [grades.get(row, 0) for row in order[:CUTOFF]]
    return discounted(gains) / discounted(sorted(grades.values(), reverse=True)[:CUTOFF])


def discounted(gains: Sequence[int]) -> float:
    return float(sum(gain / np.log2(rank + 1) for rank, gain in enumerate(gains, start=1)))


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
    """Every set before and after the cross-encoder alone, and our judge, which it is a part of."""
    encoder = Remembered(data.encoder)
    results = {}
    for name, score_of in (
        ("cross-encoder", lambda _pool, question, chunks: logits(question, chunks)),
        ("our judge", with_words(logits, encoder)),
    ):
        print(f"\n== {name}")
        results[name] = reranked(data, score_of, final=final)
    encoder.save()
    return results


def reranked(data: Data, score_of: ScoreOf, *, final: bool) -> dict[str, Any]:
    """Every set before and after one score."""
    ranked: dict[str, Ranked] = {}
    for name, (pool, questions) in ranked_sets(data).items():
        wanted = [asked for asked in questions if name == "Cranfield" or asked.slice in slices_of(final)]
        ranked[name] = Ranked(wanted, [listed(pool, asked, score_of) for asked in wanted])
    weights, tried = chosen_weights({name: ranked[name].of(TUNE) for name in BLENDED_ON})
    for start, values in tried.items():
        told = "  ".join(f"{weight:.1f} {value:.4f}" for weight, value in values.items())
        print(f"weight of the judge over {start}, mean nDCG@{CUTOFF} of {len(BLENDED_ON)} sets (tune): {told}")
    results: dict[str, Any] = {"weights": weights, "tried": tried, "sets": {}}
    for name, questions in ranked.items():
        parts = {"tune": questions.of(TUNE)} | ({"final": questions.of(FINAL)} if final else {})
        if name == "Cranfield":
            parts["all"] = questions
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


def slices_of(final: bool) -> tuple[int, ...]:
    return TUNE + FINAL if final else TUNE


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


def shown(found: Interval | Comparison) -> str:
    """A value or a difference with its interval."""
    if isinstance(found, Comparison):
        return f"({found.difference:+.3f} [{found.low:+.3f}, {found.high:+.3f}])"
    return f"{found.value:.3f} [{found.low:.3f}, {found.high:.3f}]"


# --- the evaluator ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Read:
    """Questions of one set with, for each, its best raw scores as it is and with what answers it out of reach."""

    questions: list[Question]
    best: dict[str, np.ndarray]
    """(n_questions, 2) by score."""
    parts: np.ndarray
    """(n_questions, 2, 10, 3): `PARTS` of every candidate; where there are fewer, the first one again."""

    def split(self, name: str, slices: Sequence[int]) -> Scores:
        return of_slices(self.best[name], self.questions, slices)

    def within(self, slices: Sequence[int]) -> np.ndarray:
        return np.array([asked.slice in slices for asked in self.questions])


def read(
    pool: Pool, questions: list[Question], judges: Mapping[str, Judge], logits: Logits, encoder: Remembered
) -> Read:
    """Judges the ten best hybrid candidates of every question, twice."""
    relevance = LocalRelevance(encoder, index_terms, pool.rarity, sentence_spans)
    best: dict[str, list[float]] = {name: [] for name in (*judges, REFERENCE, TRAINED)}
    parts = []
    for asked in questions:
        for out in (frozenset[int](), asked.answered_by):
            found = candidates(pool, asked.text, asked.vector, out)
            chunks, cosines = [pool.chunks[one.row] for one in found], [one.cosine for one in found]
            texts, titles = [chunk.text for chunk in chunks], [chunk.title for chunk in chunks]
            made_of = relevance.judged(asked.text, texts, titles, cosines=cosines)
            values = logits(asked.text, chunks)
            for name, judge in judges.items():
                best[name].append(max(judge(asked.text, pool, found)))
            best[REFERENCE].append(max(relevance.relevance(one) for one in made_of))
            best[TRAINED].append(float(sigmoid(np.max(values))))
            table = [[value, one.sentence, one.terms] for value, one in zip(values, made_of, strict=True)]
            parts.append(table + table[:1] * (CANDIDATES - len(table)))
    shape = (len(questions), 2)
    return Read(
        questions,
        {name: np.array(values).reshape(shape) for name, values in best.items()},
        np.array(parts).reshape(*shape, CANDIDATES, len(PARTS)),
    )


def sigmoid(values: np.ndarray) -> np.ndarray:
    return 1 / (1 + np.exp(-values))


def evaluator(data: Data, logits: Logits, *, final: bool) -> dict[str, Any]:
    """Can it tell whether what was retrieved suffices?"""
    pool, sets = data.wikipedia
    paragraphs, answerable, tricks = data.squad
    encoder = Remembered(data.encoder)
    judges: dict[str, Judge] = {"best cosine": best_cosine, "BM25 share": bm25_share, "ECRAG C": confidence}
    found = {}
    for name, questions in {**sets, "SQuAD": answerable}.items():
        wanted = [asked for asked in questions if asked.slice in slices_of(final)]
        found[name] = read(paragraphs if name == "SQuAD" else pool, wanted, judges, logits, encoder)
    marked = [asked for asked in tricks if asked.slice in slices_of(final)]
    unanswerable = read(paragraphs, marked, judges, logits, encoder)
    encoder.save()
    fits = combine(found, unanswerable)
    for name, weights in fits.items():
        print(f"combination {name}: " + ", ".join(f"{part} {value:+.2f}" for part, value in weights.items()))
    scale, shift = same_weight({name: one.parts[..., 0].max(axis=2)[..., None] for name, one in found.items()}, found)
    print(f"logit that is the log odds of sufficient evidence (tune, best of ten): {scale:.3f} logit {shift:+.3f}")
    print(PUBLISHED)
    results: dict[str, Any] = {
        "combination": fits,
        "log_odds": {"scale": scale, "shift": shift},
        "published": PUBLISHED,
        "sets": {},
    }
    for name, one in found.items():
        results["sets"][name] = {}
        for score in one.best:
            results["sets"][name][score] = measured(name, score, found, final=final)
    results["squad_marked_unanswerable"] = {
        part: against_marked(part, found["SQuAD"], unanswerable, slices)
        for part, slices in (("tune", TUNE), ("final", FINAL))
        if part == "tune" or final
    }
    return results


# --- the evaluator: the combination -----------------------------------------------------------------------------------


Chosen = Callable[[np.ndarray], np.ndarray]
"""Numbers of a set's tune questions to those that take part in a fit."""


def logistic(inputs: np.ndarray, target: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """Weights and intercept of a logistic regression by Newton's method, with a ridge that only keeps it finite."""
    table = np.column_stack([inputs, np.ones(len(inputs))])
    weight = weight / weight.sum() * len(weight)
    ridge = np.diag([1e-2] * inputs.shape[1] + [0.0])
    found = np.zeros(table.shape[1])
    for _ in range(50):
        told = sigmoid(table @ found)
        slope = table.T @ (weight * (target - told)) - ridge @ found
        curvature = (table * (weight * told * (1 - told))[:, None]).T @ table + ridge
        step = np.linalg.solve(curvature, slope)
        found += step
        if np.abs(step).max() < 1e-9:
            break
    return found


def same_weight(
    inputs: Mapping[str, np.ndarray],
    found: Mapping[str, Read],
    chosen: Chosen = np.ones_like,
) -> np.ndarray:
    """A logistic regression on tune questions, each set weighing the same.

    `inputs` are (n_questions, 2, d) by set.
    """
    tables, targets, weights = [], [], []
    for name, values in inputs.items():
        tune = np.flatnonzero(found[name].within(TUNE))
        tune = tune[chosen(np.arange(len(tune))).astype(bool)]
        tables.append(values[tune].reshape(-1, values.shape[2]))
        targets.append(np.tile([1.0, 0.0], len(tune)))
        weights.append(np.full(2 * len(tune), 1 / len(tune)))
    return logistic(np.concatenate(tables), np.concatenate(targets), np.concatenate(weights))


def combination(
    parts: Mapping[str, np.ndarray], found: Mapping[str, Read], chosen: Chosen = np.ones_like
) -> np.ndarray:
    """Weights and intercept, fitted on the candidate where they are highest, which changes with them.

    It starts with the candidate that the judge puts first, and ends when another round changes nothing.
    """
    weights = np.array([1.0] + [0.0] * len(PARTS))
    for _ in range(ROUNDS):
        before, highest = weights, {}
        for name, values in parts.items():
            top = (values @ weights[:-1]).argmax(axis=2)[..., None, None]
            highest[name] = np.take_along_axis(values, top, axis=2)[:, :, 0]
        weights = same_weight(highest, found, chosen)
        if np.allclose(weights, before):
            break
    return weights


def combine(found: dict[str, Read], unanswerable: Read) -> dict[str, dict[str, float]]:
    """Adds the combinations to the scores; returns what each fit multiplies the parts by.

    On tune questions `COMBINED` is told by a fit on the other folds, elsewhere by the fit on all of tune; `ELSEWHERE`
    is told by a fit on the other sets everywhere.
    """
    parts = {name: one.parts for name, one in found.items()}
    whole = combination(parts, found)
    fits = {"on all sets": whole}
    folds = [combination(parts, found, lambda number, out=fold: number % FOLDS != out) for fold in range(FOLDS)]
    for name, one in found.items():
        values = apply(whole, one.parts)
        for number, at in enumerate(np.flatnonzero(one.within(TUNE))):
            values[at] = apply(folds[number % FOLDS], one.parts[at])
        one.best[COMBINED] = values
        others = fits[f"without {name}"] = combination({k: v for k, v in parts.items() if k != name}, found)
        one.best[ELSEWHERE] = apply(others, one.parts)
    unanswerable.best[COMBINED] = apply(whole, unanswerable.parts)
    unanswerable.best[ELSEWHERE] = apply(fits["without SQuAD"], unanswerable.parts)
    return {name: dict(zip((*PARTS, "intercept"), values.tolist(), strict=True)) for name, values in fits.items()}


def apply(weights: np.ndarray, parts: np.ndarray) -> np.ndarray:
    """The best candidate's probability."""
    return sigmoid((parts @ weights[:-1]).max(axis=-1) + weights[-1])


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
    odds = {name: log_odds(one.best[score])[:, :, None] for name, one in found.items()}
    slope, intercept = same_weight(odds, found)
    return lambda raw: sigmoid(slope * log_odds(raw) + intercept)


def log_odds(raw: np.ndarray) -> np.ndarray:
    clipped = np.clip(raw, CLIP, 1 - CLIP)
    return np.log(clipped / (1 - clipped))


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
            f"AUROC {shown(area)}"
        )
    return results


def tell_score(label: str, score: str, found: Mapping[str, Any]) -> None:
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


# --- speed ------------------------------------------------------------------------------------------------------------

BESIDE = """
import json, pathlib, sys, time
tools, data, run, threads = sys.argv[1:]
sys.path.insert(0, tools)
import torch, transformers
from train_judge import Judge, download
torch.set_num_threads(int(threads))
original = download(pathlib.Path(data))
judge = Judge(original).eval()
weights = pathlib.Path(run) / "judge.pt"
if weights.exists():
    judge.load_state_dict(torch.load(weights, map_location="cpu"))
tokenizer = transformers.AutoTokenizer.from_pretrained(original)
def plain(question, texts):
    batch = tokenizer([question] * len(texts), texts, padding=True, truncation=True, return_tensors="pt")
    return judge(batch["input_ids"], batch["token_type_ids"], batch["attention_mask"])[0][:, 0].tolist()
calls = {"torch": plain}
try:
    from sentence_transformers import CrossEncoder
except ImportError:
    pass
else:
    other = CrossEncoder(str(original), num_labels=1, device="cpu")
    calls["sentence-transformers"] = lambda question, texts: other.predict([(question, text) for text in texts])
print(json.dumps(list(calls)), flush=True)
with torch.inference_mode():
    for line in sys.stdin:
        name, question, texts = json.loads(line)
        start = time.perf_counter()
        calls[name](question, texts)
        print(time.perf_counter() - start, flush=True)
"""


class Beside:
    """The float model in another Python, asked one repetition at a time."""

    def __init__(self, python: str, data: Path, run: Path) -> None:
        command = [python, "-c", BESIDE, str(ROOT / "tools"), str(data), str(run), str(usable_cores())]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.names: list[str] = json.loads(self._answer())

    def __call__(self, name: str, question: str, texts: Sequence[str]) -> float:
        """Seconds of one repetition."""
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps([name, question, texts]) + "\n")
        self._process.stdin.flush()
        return float(self._answer())

    def _answer(self) -> str:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            raise SystemExit(f"the other Python ended with {self._process.wait()}")
        return line

    def close(self) -> None:
        self._process.communicate()


def speed(judge: BundledJudge, folder: Path, options: argparse.Namespace) -> dict[str, Any]:
    """Seconds for 20 unread pairs, beside others; the order turns, ratios are taken within a round."""
    fastembed = FastembedCrossEncoder(str(folder))
    calls: dict[str, Callable[[str, Sequence[str]], float]] = {
        "bundled": lambda question, texts: timed(lambda: judge(question, texts)),
        "fastembed": lambda question, texts: timed(lambda: fastembed(question, texts)),
    }
    beside = None
    if options.torch:
        beside = Beside(options.torch, options.data or options.run.parent, options.run)
        for name in beside.names:
            calls[name] = lambda question, texts, name=name: beside(name, question, texts)
    draw = np.random.default_rng(0)
    words = single_tokens(folder)
    question, texts = unread(draw, words)
    agree = [abs(a.value - b.value) for a, b in zip(judge(question, texts), fastembed(question, texts), strict=True)]
    seconds: dict[str, list[float]] = {name: [] for name in calls}
    names = list(calls)
    for turn in range(-2, options.repetitions):  # two to warm up
        shift = turn % len(names)
        for name in names[shift:] + names[:shift]:
            time.sleep(PAUSE)
            passed = calls[name](*unread(draw, words))
            if turn >= 0:
                seconds[name].append(passed)
    if beside is not None:
        beside.close()
    print(f"{PAIRS} unread pairs of {PAIR_TOKENS} tokens, {usable_cores()} cores, {options.repetitions} repetitions")
    print(f"largest difference of a logit to fastembed's: {max(agree):.4f}")
    results: dict[str, Any] = {"pairs": PAIRS, "tokens": PAIR_TOKENS, "cores": usable_cores(), "largest": max(agree)}
    for name, values in seconds.items():
        p50 = statistics.median(values)
        times = [other / own for other, own in zip(values, seconds["bundled"], strict=True)]
        spread = {"median": statistics.median(times), "lowest": min(times), "highest": max(times)}
        results[name] = {"p50_ms": 1000 * p50, "pairs_per_second": PAIRS / p50, "times_bundled": spread}
        print(
            f"{name:<22} p50 {1000 * p50:7.1f} ms ({1000 * min(values):.1f} to {1000 * max(values):.1f})  "
            f"{PAIRS / p50:6.1f} pairs/s  {spread['median']:.2f} times bundled's seconds "
            f"({spread['lowest']:.2f} to {spread['highest']:.2f})"
        )
    return results


def timed(call: Callable[[], object]) -> float:
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


def single_tokens(folder: Path) -> list[str]:
    """Words of the vocabulary, each of which is one token."""
    vocabulary = json.loads((folder / "tokenizer.json").read_text(encoding="utf-8"))["model"]["vocab"]
    return sorted(word for word in vocabulary if word.isascii() and word.isalpha() and word.islower() and len(word) > 3)


def unread(draw: np.random.Generator, words: Sequence[str]) -> tuple[str, list[str]]:
    """A question and texts that nobody has read, each pair of `PAIR_TOKENS` tokens with its three marks."""
    question = " ".join(draw.choice(words, QUESTION_TOKENS))
    return question, [" ".join(draw.choice(words, PAIR_TOKENS - 3 - QUESTION_TOKENS)) for _ in range(PAIRS)]


# --- all together -----------------------------------------------------------------------------------------------------


def kept_before(judge: str) -> dict[str, Any]:
    """Other sections of results/judge.json, if they are of the same judge."""
    file = RESULTS / "judge.json"
    found = json.loads(file.read_text(encoding="utf-8")) if file.exists() else {}
    return {name: found[name] for name in ("rerank", "evaluator", "speed") if name in found and found["judge"] == judge}


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("section", nargs="?", choices=("rerank", "evaluator", "speed", "all"), default="all")
    parser.add_argument("--final", action="store_true", help="also the final fifth; writes results/judge.json")
    parser.add_argument("--folder", type=Path, default=BUNDLED_JUDGE, help="the weights")
    parser.add_argument("--untitled", action="store_true", help="the judge reads texts without their titles")
    parser.add_argument("--torch", help="a Python with torch and transformers")
    parser.add_argument("--run", type=Path, help="what tools/train_judge.py wrote, with judge.pt; goes with --torch")
    parser.add_argument("--data", type=Path, help="what tools/training_data.py wrote; default: the folder of --run")
    parser.add_argument("--repetitions", type=int, default=15)
    options = parser.parse_args()
    if options.torch and options.run is None:
        parser.error("--torch needs --run")
    tell()
    judge = BundledJudge(options.folder)
    name = judge.name + (", untitled" if options.untitled else "")
    print(f"judge {name}")
    results: dict[str, Any] = {}
    if options.section in ("rerank", "evaluator", "all"):
        data, logits = Data(), Logits(judge, titled=not options.untitled)
        if options.section != "evaluator":
            results["rerank"] = rerank(data, logits, final=options.final)
        if options.section != "rerank":
            results["evaluator"] = evaluator(data, logits, final=options.final)
    if options.section in ("speed", "all"):
        results["speed"] = speed(judge, options.folder, options)
    if options.final:
        keep("judge", {**kept_before(name), "judge": name, **results})


if __name__ == "__main__":
    main()
