"""Can a judge without a model tell whether what was retrieved suffices, and is its probability one?

    .venv/bin/python benchmarks/calibration.py

Every question is asked twice: of the pool as it is, and with the passages that answer it out of reach (PopQA: all that
hold subject and alias; NQ and TriviaQA: all that hold an answer and are known or come up; SQuAD: the paragraph). The
ten best hybrid candidates are judged; a question's raw score is its best. Splits: sha1 of "split:KEY" modulo 5, 0 to 2
train, 3 tune, 4 final (KEY: subject, question id, article). Halves: each question once, by sha1 of "route:ID".
"""

from __future__ import annotations

import hashlib
import json
import pickle
import random
import re
import time
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence, Set
from dataclasses import dataclass, replace
from math import log
from typing import Any

import numpy as np
from evaluate import keep
from machine import CACHE, DATA, tell

from thresher.judging.calibration import SHIPPED, Calibration, auroc, calibration_error, fit
from thresher.judging.scorers import LocalRelevance
from thresher.judging.synthetic_questions import gather, synthetic_questions
from thresher.models.encoders import BundledEncoder
from thresher.text.sentences import sentence_spans
from thresher.text.terms import TITLE_WEIGHT, index_terms, query_terms
from thresher.types import Chunk

FOLDER = CACHE / "calibration"
LIST_DEPTH, CANDIDATES = 20, 10
K1, B = 1.2, 0.75
WEIGHTS = (0.4, 0.6)  # dense and lexical, as in the hybrid recipe without a cross-encoder
SQUAD_QUESTIONS = 900
SHIPPED_QUESTIONS = 200  # of each set, so that each weighs the same
MADE = 300
BOUNDS = (0.15, 0.2, 0.25, 0.3, 0.4, 0.5, 0.6, 0.7, 0.75, 0.8, 0.85, 0.9)
TRAIN, TUNE, FINAL = (0, 1, 2), (3,), (4,)


# --- pools and questions ----------------------------------------------------------------------------------------------


def rows(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (DATA / name).read_text(encoding="utf-8").splitlines()]


def vectors(name: str, texts: Sequence[str], encoder: BundledEncoder) -> np.ndarray:
    """Encoded once, kept as float16."""
    file = FOLDER / f"{name}.npy"
    if not file.exists():
        FOLDER.mkdir(parents=True, exist_ok=True)
        np.save(file, encoder.encode(texts).astype(np.float16))
    return np.load(file).astype(np.float32)


def plain(text: str) -> str:
    bare = (mark for mark in unicodedata.normalize("NFKD", text).lower() if not unicodedata.combining(mark))
    return " ".join(["", *re.findall(r"\w+", "".join(bare)), ""])


def holds(text: str, answers: Iterable[str]) -> bool:
    return any(plain(answer) in text for answer in answers if plain(answer).strip())


class Pool:
    """Passages with their vectors and BM25 postings."""

    def __init__(self, name: str, ids: Sequence[str], titles: Sequence[str], texts: Sequence[str], encoder: Any):
        self.chunks = [
            Chunk(id_, id_, name, title, 0, len(text), text)
            for id_, title, text in zip(ids, titles, texts, strict=True)
        ]
        self.at = {chunk.id: row for row, chunk in enumerate(self.chunks)}
        self.plain = [plain(f"{title} {text}") for title, text in zip(titles, texts, strict=True)]
        self.vectors = vectors(name, [chunk.titled for chunk in self.chunks], encoder)
        terms = [Counter(index_terms(c.title) * TITLE_WEIGHT + index_terms(c.text)) for c in self.chunks]
        lengths = np.array([counts.total() for counts in terms])
        self.norms = K1 * (1 - B + B * lengths / lengths.mean())
        postings: dict[str, tuple[list[int], list[int]]] = defaultdict(lambda: ([], []))
        for row, counts in enumerate(terms):
            for term, count in counts.items():
                postings[term][0].append(row)
                postings[term][1].append(count)
        self.postings = {term: (np.array(at), np.array(counts)) for term, (at, counts) in postings.items()}

    def rarity(self, question: str) -> dict[str, float]:
        found = {term: len(self.postings[term][0]) if term in self.postings else 0 for term in query_terms(question)}
        return {term: log(1 + (len(self.chunks) - n + 0.5) / (n + 0.5)) for term, n in found.items()}

    def bm25(self, question: str) -> np.ndarray:
        scores = np.zeros(len(self.chunks))
        for term, idf in self.rarity(question).items():
            if term in self.postings:
                at, counts = self.postings[term]
                scores[at] += idf * counts * (K1 + 1) / (counts + self.norms[at])
        return scores


@dataclass(frozen=True)
class Question:
    """A question, the rows that answer it, its slice and its half."""

    text: str
    vector: np.ndarray
    answered_by: frozenset[int]
    slice: int
    answerable_half: bool


@dataclass(frozen=True)
class Candidate:
    row: int
    cosine: float
    bm25: float


def candidates(
    pool: Pool, text: str, vector: np.ndarray, without: Set[int] = frozenset(), *, number: int = CANDIDATES
) -> list[Candidate]:
    """The best of both lists, fused by a weighted sum of min-max scores."""
    scores = (pool.vectors @ vector, pool.bm25(text))
    sums: dict[int, float] = defaultdict(float)
    depth = max(LIST_DEPTH, number // 2)
    for weight, values in zip(WEIGHTS, scores, strict=True):
        order = np.argsort(-values, kind="stable")[: depth + len(without)].tolist()
        best = [row for row in order if row not in without and values[row] > 0][:depth]
        low, high = (values[best[-1]], values[best[0]]) if best else (0, 0)
        for row in best:
            sums[row] += weight * (1.0 if high == low else float((values[row] - low) / (high - low)))
    ranked = sorted(sums, key=lambda row: (-sums[row], row))[:number]
    return [Candidate(row, float(scores[0][row]), float(scores[1][row])) for row in ranked]


def slice_of(key: str) -> int:
    return int(hashlib.sha1(f"split:{key}".encode()).hexdigest(), 16) % 5


def in_answerable_half(id_: str) -> bool:
    return int(hashlib.sha1(f"route:{id_}".encode()).hexdigest(), 16) % 2 == 0


def wikipedia(encoder: BundledEncoder) -> tuple[Pool, dict[str, list[Question]]]:
    corpus = rows("wikipedia/corpus.jsonl")
    pool = Pool("pool", *([row[key] for row in corpus] for key in ("_id", "title", "text")), encoder)
    sets = {name: asked_of(pool, file, encoder) for name, file in (("NQ", "nq"), ("TriviaQA", "triviaqa"))}
    return pool, {"PopQA": popqa(pool, encoder), **sets}


def popqa(pool: Pool, encoder: BundledEncoder) -> list[Question]:
    """Questions whose first gold passage holds an alias of the answer."""
    found = rows("wikipedia/popqa.jsonl")
    asked = []
    for row, vector in zip(found, vectors("q_popqa", [row["question"] for row in found], encoder), strict=True):
        gold = pool.at.get(row["gold_ids"][0])
        if gold is None or not holds(pool.plain[gold], row["answers"]):
            continue
        subject = plain(row["subject"])
        answered_by = {at for at, text in enumerate(pool.plain) if subject in text and holds(text, row["answers"])}
        place = slice_of(row["subject"]), in_answerable_half(row["id"])
        asked.append(Question(row["question"], vector, frozenset(answered_by | {gold}), *place))
    return asked


def asked_of(pool: Pool, name: str, encoder: BundledEncoder) -> list[Question]:
    """Questions with a passage in the pool that holds an answer (silver: nobody checked that it answers)."""
    found = rows(f"wikipedia/{name}.jsonl")
    asked = []
    for row, vector in zip(found, vectors(f"q_{name}", [row["question"] for row in found], encoder), strict=True):
        silver = {pool.at[id_] for id_ in row["silver_ids"] if id_ in pool.at}
        if not silver:
            continue
        known = {pool.at[id_] for id_ in row["retrieved_ids"] if id_ in pool.at}
        near = {found.row for found in candidates(pool, row["question"], vector, number=80)}
        answered_by = silver | {at for at in known | near if holds(pool.plain[at], row["answers"])}
        place = slice_of(row["id"]), in_answerable_half(row["id"])
        asked.append(Question(row["question"], vector, frozenset(answered_by), *place))
    return asked


def squad(encoder: BundledEncoder) -> tuple[Pool, list[Question], list[Question]]:
    """The pool, answerable questions, and those that SQuAD marks unanswerable (asked once, of the pool as it is)."""
    found = rows("squad/answered.jsonl") + rows("squad/questions_only.jsonl")
    places = {f"{row['title']}:{row['paragraph']}": row for row in found}
    titles = [row["title"].replace("_", " ") for row in places.values()]
    pool = Pool("squad_pool", list(places), titles, [row["context"] for row in places.values()], encoder)
    encoded = vectors("q_squad", [row["question"] for row in found], encoder)
    asked: dict[bool, list[Question]] = {True: [], False: []}
    for row, vector in zip(found, encoded, strict=True):
        if row["unanswerable"] is not None:
            paragraph = frozenset({pool.at[f"{row['title']}:{row['paragraph']}"]})
            place = slice_of(row["title"]), in_answerable_half(row["id"])
            asked[not row["unanswerable"]].append(Question(row["question"], vector, paragraph, *place))
    for questions in asked.values():
        random.Random(3).shuffle(questions)
    return pool, asked[True][:SQUAD_QUESTIONS], asked[False][: SQUAD_QUESTIONS // 3]


# --- judges -----------------------------------------------------------------------------------------------------------

Judge = Callable[[str, Pool, Sequence[Candidate]], list[float]]


def best_cosine(question: str, pool: Pool, found: Sequence[Candidate]) -> list[float]:
    return [min(1.0, max(0.0, one.cosine)) for one in found]


def bm25_share(question: str, pool: Pool, found: Sequence[Candidate]) -> list[float]:
    ceiling = sum(pool.rarity(question).values()) * (K1 + 1) or 1.0
    return [min(1.0, one.bm25 / ceiling) for one in found]


def confidence(question: str, pool: Pool, found: Sequence[Candidate]) -> list[float]:
    """ECRAG's C on absolute scores (X8, X10 in docs/methods.md)."""
    pairs = zip(best_cosine(question, pool, found), bm25_share(question, pool, found), strict=True)
    return [0.7 * cosine + 0.3 * lexical for cosine, lexical in pairs]


class Remembered:
    """The bundled encoder with its vectors kept on disk: sentences come up again and again."""

    name, dimension, max_tokens = "remembered", 384, 256

    def __init__(self, encoder: BundledEncoder) -> None:
        self.encoder = encoder
        self.file = FOLDER / "sentences.pickle"
        self.known: dict[str, np.ndarray] = pickle.loads(self.file.read_bytes()) if self.file.exists() else {}

    def encode(self, texts: Sequence[str], *, progress: Any = None) -> np.ndarray:
        new = [text for text in dict.fromkeys(texts) if text not in self.known]
        self.known.update(zip(new, self.encoder.encode(new).astype(np.float16), strict=True))
        return np.array([self.known[text] for text in texts], np.float32)

    def encode_query(self, text: str) -> np.ndarray:
        return self.encode([text])[0]

    def warm_up(self) -> None:
        self.encoder.warm_up()

    def save(self) -> None:
        self.file.write_bytes(pickle.dumps(self.known))


def local(encoder: Any) -> Judge:
    def judge(question: str, pool: Pool, found: Sequence[Candidate]) -> list[float]:
        chunks = [pool.chunks[one.row] for one in found]
        relevance = LocalRelevance(encoder, index_terms, pool.rarity, sentence_spans)
        cosines = [one.cosine for one in found]
        return relevance(question, [c.text for c in chunks], [c.title for c in chunks], cosines=cosines)

    return judge


# --- scores and measures ----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Scores:
    """Best raw scores of the questions of some slices, answerable first, and which of them are in the halves."""

    raw: np.ndarray
    answerable: np.ndarray
    half: np.ndarray

    @property
    def kinds(self) -> tuple[list[float], list[float]]:
        return self.raw[self.answerable].tolist(), self.raw[~self.answerable].tolist()


def best_scores(judges: dict[str, Judge], pool: Pool, questions: Sequence[Question]) -> dict[str, np.ndarray]:
    """(n_questions, 2): best raw score as it is, and with what answers out of reach."""
    best: dict[str, list[list[float]]] = {name: [] for name in judges}
    for asked in questions:
        both = [candidates(pool, asked.text, asked.vector, out) for out in (frozenset[int](), asked.answered_by)]
        for name, judge in judges.items():
            best[name].append([max(judge(asked.text, pool, found)) for found in both])
    return {name: np.array(values) for name, values in best.items()}


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


def of_slices(best: np.ndarray, questions: Sequence[Question], slices: Sequence[int]) -> Scores:
    chosen = np.array([asked.slice in slices for asked in questions])
    half = np.array([asked.answerable_half for asked in questions])[chosen]
    values = best[chosen]
    n = len(values)
    return Scores(values.T.reshape(-1), np.arange(2 * n) < n, np.concatenate([half, ~half]))


def with_interval(measure: Callable[[np.ndarray], float], n: int) -> dict[str, float]:
    """A measure of paired questions and its bootstrap 95 % interval over questions."""
    generator = np.random.default_rng(0)
    drawn = [measure(generator.integers(0, n, n)) for _ in range(1000)]
    low, high = np.quantile(drawn, (0.025, 0.975))
    return {"value": measure(np.arange(n)), "low": float(low), "high": float(high)}


def best_threshold(scores: Scores) -> float:
    cuts = np.unique(scores.raw)
    return float(max(cuts, key=lambda cut: ((scores.raw >= cut) == scores.answerable).mean()))


def probabilities(calibration: Calibration, raw: np.ndarray) -> np.ndarray:
    return np.array([calibration.probability(value) for value in raw.tolist()])


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
    them is answerable."""
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
    questions = synthetic_questions(pool.chunks, number=MADE, seed=0, spans=sentence_spans, terms=index_terms)

    def score(question: str, without: Set[str]) -> float | None:
        out = frozenset(pool.at[id_] for id_ in without)
        found = candidates(pool, question, encoder.encode_query(question), out)
        return max(judge(question, pool, found), default=None)

    kinds = gather(questions, score)
    source = "questions made of the collection"
    return fit(*kinds, judge=name, encoder=encoder.encoder.name, source=source)


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
    keep("calibration", results)


def agrees(shipped: Calibration) -> bool:
    """Whether the package ships what was just fitted."""
    return (
        np.allclose(shipped.parameters, SHIPPED["local"].parameters, atol=0.01)
        and shipped.encoder == SHIPPED["local"].encoder
    )


def tell_judge(name: str, judge: str, found: dict[str, Any]) -> None:
    area, accuracy = found["auroc"], found["accuracy"]
    errors = "  ".join(f"{kind} {value:.3f}" for kind, value in found["ece"].items())
    print(
        f"{name:<9} n {found['n_questions']:<4} {judge:<12} AUROC {area['value']:.3f} [{area['low']:.3f}, "
        f"{area['high']:.3f}] halves {found['auroc_halves']:.3f}  accuracy {accuracy['value']:.3f} "
        f"[{accuracy['low']:.3f}, {accuracy['high']:.3f}] halves {found['accuracy_halves']:.3f}  ECE {errors}"
    )


if __name__ == "__main__":
    main()
