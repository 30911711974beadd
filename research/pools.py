"""Pools of passages with the questions that are put to them, and how a judge is measured.

Every question is asked twice: of the pool as it is, and with the passages that answer it out of reach (PopQA: all that
hold subject and alias; NQ and TriviaQA: all that hold an answer and are known or come up; SQuAD: the paragraph). The
ten best hybrid candidates are judged; a question's raw score is its best. Splits: sha1 of "split:KEY" modulo 5, 0 to 2
train, 3 tune, 4 final (KEY: subject, question id, article). Halves: each question once, by sha1 of "route:ID".
"""

from __future__ import annotations

import pickle
import random
import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from math import log
from typing import Any

import numpy as np

from benchmarks.machine import DATA, RESEARCH, rows
from thresher.judging.calibration import Calibration
from thresher.models.encoders import DIMENSION, BundledEncoder
from thresher.text.sentences import sentence_spans
from thresher.text.terms import TITLE_WEIGHT, index_terms, query_terms
from thresher.types import Chunk
from thresher_evals.dataset import sha1_number

FOLDER = RESEARCH / ".cache" / "calibration"
LIST_DEPTH, CANDIDATES = 20, 10
WORDS = 90  # of a packed piece, about
K1, B = 1.2, 0.75
WEIGHTS = (0.4, 0.6)  # dense and lexical, as in the hybrid recipe without a cross-encoder
SQUAD_QUESTIONS = 900
TRAIN, TUNE, FINAL = (0, 1, 2), (3,), (4,)

# --- pools and questions ----------------------------------------------------------------------------------------------


def vectors(name: str, texts: Sequence[str], encoder: BundledEncoder) -> np.ndarray:
    """Encoded once, kept as float16."""
    file = FOLDER / f"{name}.npy"
    if not file.exists():
        FOLDER.mkdir(parents=True, exist_ok=True)
        np.save(file, encoder.encode(texts).astype(np.float16))
    return np.asarray(np.load(file), np.float32)


def plain(text: str) -> str:
    """Lower case without accents and punctuation, a space on either side."""
    bare = (mark for mark in unicodedata.normalize("NFKD", text).lower() if not unicodedata.combining(mark))
    return " ".join(["", *re.findall(r"\w+", "".join(bare)), ""])


def holds(text: str, answers: Iterable[str]) -> bool:
    """Whether a plain text holds one of the answers as whole words."""
    return any(plain(answer) in text for answer in answers if plain(answer).strip())


class Pool:
    """Passages (`_id`, `title`, `text`) with their BM25 postings and their vectors, which are 0 without an encoder."""

    def __init__(self, name: str, corpus: Iterable[Mapping[str, Any]], encoder: BundledEncoder | None) -> None:
        self.chunks = [
            Chunk(row["_id"], row["_id"], name, row["title"], 0, len(row["text"]), row["text"]) for row in corpus
        ]
        self.at = {chunk.id: row for row, chunk in enumerate(self.chunks)}
        self.plain = [plain(f"{chunk.title} {chunk.text}") for chunk in self.chunks]
        texts = [chunk.titled for chunk in self.chunks]
        self.vectors = vectors(name, texts, encoder) if encoder else np.zeros((len(texts), DIMENSION), np.float32)
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
        """Question term to its inverse document frequency."""
        found = {term: len(self.postings[term][0]) if term in self.postings else 0 for term in query_terms(question)}
        return {term: log(1 + (len(self.chunks) - n + 0.5) / (n + 0.5)) for term, n in found.items()}

    def bm25(self, question: str) -> np.ndarray:
        """(n_chunks,) scores of the question."""
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
    answers: tuple[str, ...] = ()
    """What counts as right."""


@dataclass(frozen=True)
class Candidate:
    """A row of a pool and its two scores."""

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
    """Fifths 0 to 4 of a key."""
    return sha1_number(f"split:{key}") % 5


def in_answerable_half(id_: str) -> bool:
    """Whether a question of the halves is asked of the pool as it is."""
    return sha1_number(f"route:{id_}") % 2 == 0


def wikipedia(encoder: BundledEncoder) -> tuple[Pool, dict[str, list[Question]]]:
    """The pool and the questions of its three sets."""
    pool = Pool("pool", rows("wikipedia/corpus.jsonl"), encoder)
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
        asked.append(Question(row["question"], vector, frozenset(answered_by | {gold}), *place, tuple(row["answers"])))
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
        asked.append(Question(row["question"], vector, frozenset(answered_by), *place, tuple(row["answers"])))
    return asked


def paragraphs(found: Sequence[Mapping[str, Any]]) -> list[dict[str, str]]:
    """SQuAD's paragraphs, each once; its id is its article and its number."""
    places = {f"{row['title']}:{row['paragraph']}": row for row in found}
    return [
        {"_id": place, "title": row["title"].replace("_", " "), "text": row["context"]} for place, row in places.items()
    ]


def squad(encoder: BundledEncoder) -> tuple[Pool, list[Question], list[Question]]:
    """The pool, answerable questions, and those that SQuAD marks unanswerable (asked once, of the pool as it is)."""
    found = rows("squad/answered.jsonl") + rows("squad/questions_only.jsonl")
    pool = Pool("squad_pool", paragraphs(found), encoder)
    encoded = vectors("q_squad", [row["question"] for row in found], encoder)
    asked: dict[bool, list[Question]] = {True: [], False: []}
    for row, vector in zip(found, encoded, strict=True):
        if row["unanswerable"] is not None:
            paragraph = frozenset({pool.at[f"{row['title']}:{row['paragraph']}"]})
            place = slice_of(row["title"]), in_answerable_half(row["id"])
            golds = tuple(text for _, text in row["answers"])
            asked[not row["unanswerable"]].append(Question(row["question"], vector, paragraph, *place, golds))
    for questions in asked.values():
        random.Random(3).shuffle(questions)
    return pool, asked[True][:SQUAD_QUESTIONS], asked[False][: SQUAD_QUESTIONS // 3]


class Remembered:
    """The bundled encoder with its vectors kept on disk: sentences come up again and again."""

    name, dimension, max_tokens = "remembered", 384, 256

    def __init__(self, encoder: BundledEncoder) -> None:
        self.encoder = encoder
        self.file = FOLDER / "sentences.pickle"
        self.known: dict[str, np.ndarray] = pickle.loads(self.file.read_bytes()) if self.file.exists() else {}

    def encode(self, texts: Sequence[str], *, progress: Any = None) -> np.ndarray:
        """(n_texts, 384) float32, from memory where it can be."""
        new = [text for text in dict.fromkeys(texts) if text not in self.known]
        self.known.update(zip(new, self.encoder.encode(new).astype(np.float16), strict=True))
        return np.array([self.known[text] for text in texts], np.float32)

    def encode_query(self, text: str) -> np.ndarray:
        """As `encode` for one text."""
        return np.asarray(self.encode([text])[0])

    def warm_up(self) -> None:
        """Load the weights."""
        self.encoder.warm_up()

    def save(self) -> None:
        """Keep what is remembered."""
        self.file.write_bytes(pickle.dumps(self.known))


# --- labels, and texts cut into pieces -------------------------------------------------------------------------------


def grades(name: str) -> dict[str, dict[str, int]]:
    """Query to the documents that are relevant to it, of a folder in BEIR's layout."""
    found: dict[str, dict[str, int]] = {}
    for line in (DATA / name / "qrels.tsv").read_text(encoding="utf-8").splitlines()[1:]:
        query, document, grade = line.split("\t")[:3]
        if int(grade) > 0:
            found.setdefault(query, {})[document] = int(grade)
    return found


def by_words(text: str) -> list[str]:
    """Whole sentences up to about `WORDS` words."""
    pieces: list[list[str]] = [[]]
    for start, end in sentence_spans(text):
        if sum(len(sentence.split()) for sentence in pieces[-1]) > WORDS:
            pieces.append([])
        pieces[-1].append(text[start:end])
    return [" ".join(piece) for piece in pieces if piece]


# --- scores -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Scores:
    """Best raw scores of the questions of some slices, answerable first, and which of them are in the halves."""

    raw: np.ndarray
    answerable: np.ndarray
    half: np.ndarray

    @property
    def kinds(self) -> tuple[list[float], list[float]]:
        """Raw scores of the answerable, and of the others."""
        return self.raw[self.answerable].tolist(), self.raw[~self.answerable].tolist()


def of_slices(best: np.ndarray, questions: Sequence[Question], slices: Sequence[int]) -> Scores:
    """The scores of the questions of some slices."""
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
    """The score from which to say yes that is right most often."""
    cuts = np.unique(scores.raw)
    return float(max(cuts, key=lambda cut: ((scores.raw >= cut) == scores.answerable).mean()))


def probabilities(calibration: Calibration, raw: np.ndarray) -> np.ndarray:
    """What a calibration makes of raw scores."""
    return np.array([calibration.probability(value) for value in raw.tolist()])
