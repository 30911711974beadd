"""What the bundled judge reads: answers as spans, refusals, true and false claims, multiple choice.

    .venv/bin/python benchmarks/reader.py [squad|popqa|labels|options|all] [--final] [--folder DIR]

squad    SQuAD 2.0 questions, each with its own paragraph: the likeliest place, and when to refuse.
popqa    Long-tail PopQA over the contexts that CRAG's authors published: one short answer from several pieces of text.
labels   Claims with evidence: the sign of the support logit against true and false.
options  ARC-Challenge over CRAG's contexts: the option whose best piece scores highest.

Without `--final` nothing of the final fifth is read: splits are those of thresher_evals.dataset, by article, subject,
claim or question id. Whatever there is to choose (thresholds, weights, one way of several) is chosen on the tune fifth.
The judge was trained on the training fifths of SQuAD, PopQA, SciFact and Climate-FEVER; it has not seen PubHealth and
ARC, whose training fifths count as tune here. Intervals are 95 %, over questions. With `--final` the numbers go to
results/reader.json, each part replacing what was there of it.

Readings are kept in .cache/judge/reader.sqlite under the hash of the model's files and the judge's limits. Delete it
after changing how thresher.models.judge reads.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import re
import sqlite3
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from math import exp, log, log1p
from pathlib import Path
from typing import Any, Literal, NamedTuple, get_args

import numpy as np
from evaluate import keep
from machine import CACHE, DATA, RESULTS, tell

from thresher.generation.reader import ExtractiveReader
from thresher.generation.sentence_support import SUPPORT, SupportJudge, rarity_from
from thresher.models import cross_encoders as limits
from thresher.models.cross_encoders import BUNDLED_JUDGE, BundledJudge
from thresher.models.encoders import BundledEncoder, RememberingEncoder
from thresher.models.onnx import usable_cores
from thresher.protocols import PairReader
from thresher.text.sentences import sentence_spans
from thresher.text.terms import index_terms, query_terms
from thresher.types import Chunk, Evidence, Hit, Query, Reading, Score
from thresher_evals.dataset import split_of
from thresher_evals.metrics.answers import exact_match, f1, match, match_norm, normalise, word_f1
from thresher_evals.stats import Forecast, auroc_interval, mean_interval, proportion_interval, quantile_interval

Part = Literal["squad", "popqa", "labels", "options"]
FILE = CACHE / "judge" / "reader.sqlite"
SENTENCES, STRIDE = 3, 2  # a window shares a sentence with the next
WORDS = 90  # of a packed piece, about
QUOTED_WORDS = 20  # what an extractive answer is cut to: the median of its sentences on PopQA
ASKED_WORDS = 40  # a longer question loses its beginning, or the option behind it would not be read
POWERS = (0.1, 0.25, 0.5, 0.75, 1.0, 1.5, 2.0)
PASSAGE = re.compile(r"; (?=[^;/]{1,80} // )")  # between a passage and the next one's title
LEAST = 1e-9  # a certainty below it is taken for it, so that its logarithm is finite
BATCH = 1000
PUBLISHED = {
    "CRAG, 7B generator": {"match": 0.598, "n": 1399},
    "ChunkRAG, 7B generator": {"match": 0.649, "n": 1399},
}

Table = dict[str, dict[str, Any]]


# --- readings ---------------------------------------------------------------------------------------------------------


class Text(NamedTuple):
    """What is read in one go, and the title above it."""

    text: str
    title: str = ""


class Asked(NamedTuple):
    """A question or claim, and the texts it is read with."""

    question: str
    texts: tuple[Text, ...]


class Readings:
    """A judge's readings, each made once and kept on disk."""

    def __init__(self, judge: PairReader, file: Path = FILE) -> None:
        self.judge = judge
        sizes = (limits.MAX_TOKENS, limits.QUESTION_TOKENS, limits.TITLE_TOKENS, limits.OVERLAP_TOKENS)
        self.name = ":".join(map(str, (judge.name, *sizes, limits.SPAN_TOKENS)))
        file.parent.mkdir(parents=True, exist_ok=True)
        self.kept = sqlite3.connect(file, timeout=60)
        columns = "key BLOB PRIMARY KEY, relevance REAL, support REAL, start INTEGER, stop INTEGER, certainty REAL"
        self.kept.execute(f"CREATE TABLE IF NOT EXISTS readings ({columns}) WITHOUT ROWID")

    def __call__(self, part: str, asked: Sequence[Asked]) -> list[list[Reading]]:
        """One reading per text; what is new is read on all cores."""
        keys = [[self._key(one.question, text) for text in one.texts] for one in asked]
        places = {
            key: (one.question, text)
            for one, own in zip(asked, keys, strict=True)
            for text, key in zip(one.texts, own, strict=True)
        }
        known = {key: reading for key in places if (reading := self._recalled(key)) is not None}
        new = [key for key in places if key not in known]
        print(f"\n{part}: {len(asked)} questions, {len(places)} pairs, {len(new)} of them new", flush=True)
        started = time.perf_counter()
        with ThreadPoolExecutor(usable_cores()) as pool:
            for low in range(0, len(new), BATCH):
                batch = new[low : low + BATCH]
                found = dict(zip(batch, pool.map(lambda key: self._read(*places[key]), batch), strict=True))
                self._keep(found)
                known |= found
                done = low + len(batch)
                rate = done / (time.perf_counter() - started)
                print(f"  {done} of {len(new)}, {rate:.0f} a second", file=sys.stderr, flush=True)
        return [[known[key] for key in own] for own in keys]

    def _read(self, question: str, text: Text) -> Reading:
        return self.judge.read(question, [text.text], [text.title])[0]

    def _recalled(self, key: bytes) -> Reading | None:
        query = "SELECT relevance, support, start, stop, certainty FROM readings WHERE key = ?"
        row = self.kept.execute(query, (key,)).fetchone()
        return Reading(*row) if row else None

    def _keep(self, found: Mapping[bytes, Reading]) -> None:
        values = [(key, r.relevance, r.support, r.start, r.end, r.certainty) for key, r in found.items()]
        with self.kept:
            self.kept.executemany("INSERT OR REPLACE INTO readings VALUES (?, ?, ?, ?, ?, ?)", values)

    def _key(self, question: str, text: Text) -> bytes:
        parts = (self.name, question, text.title, text.text)
        return hashlib.sha256("\0".join(parts).encode("utf-8", "backslashreplace")).digest()


# --- texts ------------------------------------------------------------------------------------------------------------


def rows(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (DATA / name).read_text(encoding="utf-8").splitlines()]


def windows(text: str) -> list[str]:
    """Every `SENTENCES` sentences as they stand in the text, `STRIDE` sentences apart; the last end with the text."""
    spans = sentence_spans(text)
    last = max(0, len(spans) - SENTENCES)
    return [stretch(text, spans[at : at + SENTENCES]) for at in (*range(0, last, STRIDE), last)] if spans else []


def by_sentences(text: str) -> list[str]:
    """Up to `SENTENCES` sentences to a piece, none in two; the pages that a web context is made of stay apart."""
    pages = [(page, sentence_spans(page)) for page in text.split(" ; ")]
    return [
        stretch(page, spans[at : at + SENTENCES]) for page, spans in pages for at in range(0, len(spans), SENTENCES)
    ]


def stretch(text: str, spans: Sequence[tuple[int, int]]) -> str:
    """The text from the first span's beginning to the last one's end."""
    return text[spans[0][0] : spans[-1][1]]


def by_words(text: str) -> list[str]:
    """Whole sentences up to about `WORDS` words."""
    pieces: list[list[str]] = [[]]
    for start, end in sentence_spans(text):
        if sum(len(sentence.split()) for sentence in pieces[-1]) > WORDS:
            pieces.append([])
        pieces[-1].append(text[start:end])
    return [" ".join(piece) for piece in pieces if piece]


def sentence_at(text: str, start: int) -> str:
    """The sentence that a place begins in."""
    return next((text[low:high] for low, high in sentence_spans(text) if low <= start < high), text)


def cut(text: str) -> str:
    return " ".join(text.split()[:QUOTED_WORDS])


# --- scores and measures ----------------------------------------------------------------------------------------------


def log_sigmoid(logit: float) -> float:
    return min(0.0, logit) - log1p(exp(-abs(logit)))


def log_certainty(reading: Reading) -> float:
    return log(max(reading.certainty, LEAST))


def sureness(reading: Reading) -> float:
    """sigmoid(relevance) * certainty: that the text answers, and in this place."""
    return exp(log_sigmoid(reading.relevance)) * reading.certainty


def shares(values: Sequence[bool | float]) -> dict[str, Any]:
    """A mean with its interval; Wilson's where all are alike."""
    numbers = [float(value) for value in values]
    binary = set(numbers) <= {0.0, 1.0}
    return (proportion_interval(numbers) if binary else mean_interval(numbers)).to_dict()


def measures(answers: Sequence[str], golds: Sequence[Sequence[str]]) -> dict[str, Any]:
    """How the answers compare with the gold answers, and how long they are."""
    pairs = list(zip(answers, golds, strict=True))
    return {
        "match": shares([match(*pair) for pair in pairs]),
        "match_norm": shares([match_norm(*pair) for pair in pairs]),
        "EM": shares([exact_match(*pair) for pair in pairs]),
        "F1": shares([f1(*pair) for pair in pairs]),
        "words": quantile_interval([len(answer.split()) for answer in answers], 0.5).to_dict(),
    }


def show(title: str, table: Mapping[str, Mapping[str, Any]], chosen: str = "") -> None:
    """A table of measures with their intervals; the row that was chosen on tune has a star."""
    print(f"\n{title}")
    width = max(map(len, table), default=0)
    for label, values in table.items():
        cells = [
            f"{name} {value['value']:.3f} [{value['low']:.3f}, {value['high']:.3f}]"
            for name, value in values.items()
            if isinstance(value, dict) and value.get("value") is not None
        ]
        print(f"{'*' if label == chosen else ' '} {label:<{width}}  " + "  ".join(cells))


def best_by(table: Mapping[str, Mapping[str, Any]], *names: str) -> str:
    """The row with the highest value of the first measure; of rows alike, of the next; then the first row."""
    return max(table, key=lambda label: tuple(table[label][name]["value"] for name in names))


class BestSentence:
    """The extractive reader's best sentence and its support, for a collection of these texts."""

    def __init__(self, collection: Sequence[str]) -> None:
        counts = Counter(term for text in set(collection) for term in set(index_terms(text)))
        number = len(set(collection))

        def rarity(question: str) -> Mapping[str, float]:
            return rarity_from({term: counts[term] for term in query_terms(question)}, number)

        encoder = RememberingEncoder(BundledEncoder())
        support = SupportJudge(encoder, sentence_spans, index_terms, rarity)
        self.reader = ExtractiveReader(support, min_support=0.0, max_sentences=1)

    def __call__(self, question: str, texts: Sequence[Text]) -> tuple[str, float]:
        """Nothing and 0 where no sentence can be quoted."""
        evidence = []
        for rank, (text, title) in enumerate(texts, start=1):
            chunk = Chunk(str(rank), str(rank), "benchmark", title, 0, len(text), text)
            evidence.append(Evidence(Hit(chunk, Score(1.0, SUPPORT), rank), 0, len(text), text))
        citations = self.reader(Query(question, question), evidence).citations
        return (citations[0].quote, citations[0].score.value) if citations else ("", 0.0)


# --- SQuAD: spans and refusals ----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Answered:
    """What was answered, and what there is to decide whether it should have been."""

    text: str
    relevance: float
    """A logit, or the extractive reader's support."""
    log_certainty: float = 0.0


Rule = Callable[[Answered], float]
"""Higher for answers that are better given than withheld."""


JUDGED_BY = {"whole": "relevance", "windows": "relevance", "best sentence": "support"}
"""Readers that may refuse, and what the number is called that they always have."""


@dataclass(frozen=True)
class Paragraphs:
    """Questions with gold answers (none where the paragraph does not answer) and every reader's answers."""

    golds: list[list[str]]
    answers: dict[str, list[Answered]]

    @property
    def answerable(self) -> np.ndarray:
        return np.array([bool(golds) for golds in self.golds])

    def gains(self, reader: str, measure: Callable[..., float]) -> tuple[np.ndarray, np.ndarray]:
        """What each question is worth answered, and refused."""
        pairs = zip(self.answers[reader], self.golds, strict=True)
        given = [float(measure(answer.text, golds)) if golds else 0.0 for answer, golds in pairs]
        return np.array(given), 1.0 - self.answerable


def squad(readings: Readings, *, final: bool) -> dict[str, Any]:
    found = rows("squad/answered.jsonl")
    paragraphs = [row["context"] for row in found + rows("squad/questions_only.jsonl")]
    quote = BestSentence(paragraphs)
    results: dict[str, Any] = {}
    rules: dict[str, dict[str, tuple[Rule, float]]] = {}
    for split in ("tune", "final") if final else ("tune",):
        asked = [row for row in found if split_of(row["title"]) == split]
        read = read_paragraphs(readings, quote, asked)
        if split == "tune":
            rules = {reader: refusals(read, reader) for reader in JUDGED_BY}
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


def read_paragraphs(readings: Readings, quote: BestSentence, asked: Sequence[dict[str, Any]]) -> Paragraphs:
    """Every question with its paragraph whole, in windows, and through the extractive reader."""
    titles = [row["title"].replace("_", " ") for row in asked]
    texts = [
        [Text(row["context"], title), *(Text(window, title) for window in windows(row["context"]))]
        for row, title in zip(asked, titles, strict=True)
    ]
    pairs = [Asked(row["question"], tuple(own)) for row, own in zip(asked, texts, strict=True)]
    answers: dict[str, list[Answered]] = {"whole": [], "windows": [], "its sentence": [], "best sentence": []}
    for row, own, found in zip(asked, texts, readings("squad", pairs), strict=True):
        whole, best = 0, max(range(1, len(found)), key=lambda at: sureness(found[at]))
        for name, at in (("whole", whole), ("windows", best)):
            reading = found[at]
            text = own[at].text[reading.start : reading.end]
            answers[name].append(Answered(text, reading.relevance, log_certainty(reading)))
        sentence = sentence_at(own[whole].text, found[whole].start)
        answers["its sentence"].append(Answered(cut(sentence), found[whole].relevance, log_certainty(found[whole])))
        sentence, support = quote(row["question"], own[:1])
        answers["best sentence"].append(Answered(cut(sentence), support))
    return Paragraphs([[text for _, text in row["answers"] or ()] for row in asked], answers)


def always_answered(read: Paragraphs) -> Table:
    """Measures over the questions that the paragraph answers."""
    at = np.flatnonzero(read.answerable)
    golds = [read.golds[one] for one in at]
    names = {
        "whole": "span, paragraph read whole",
        "windows": f"span, windows of {SENTENCES} sentences",
        "its sentence": f"sentence of the span, {QUOTED_WORDS} words",
        "best sentence": f"extractive reader, {QUOTED_WORDS} words",
    }
    return {label: measures([read.answers[name][one].text for one in at], golds) for name, label in names.items()}


def refusals(read: Paragraphs, reader: str) -> dict[str, tuple[Rule, float]]:
    """Rules with the threshold that is best for SQuAD 2.0's F1; the power and the weights are chosen here too."""
    gains = read.gains(reader, f1)
    answers = read.answers[reader]

    def tuned(rule: Rule) -> tuple[float, float]:
        return best_threshold(np.array([rule(answer) for answer in answers]), *gains)

    rules: dict[str, Rule] = {JUDGED_BY[reader]: lambda answer: answer.relevance}
    if JUDGED_BY[reader] == "relevance":
        rules["certainty"] = lambda answer: answer.log_certainty
        products = {power: product(power) for power in POWERS}
        power = max(POWERS, key=lambda power: tuned(products[power])[1])
        rules[f"sigmoid(relevance) * certainty^{power:g}"] = products[power]
        features = np.array([(answer.relevance, answer.log_certainty) for answer in answers])
        slope, certain, _ = fitted(features, read.answerable.astype(float))
        name = f"{slope:.2f} relevance + {certain:.2f} log certainty"
        rules[name] = lambda answer: slope * answer.relevance + certain * answer.log_certainty
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


def fitted(features: np.ndarray, outcomes: np.ndarray, *, ridge: float = 1e-3, steps: int = 30) -> np.ndarray:
    """Weights and intercept of a logistic regression, by Newton's method."""
    table = np.column_stack([features, np.ones(len(features))])
    weights = np.zeros(table.shape[1])
    for _ in range(steps):
        chances = 1 / (1 + np.exp(-np.clip(table @ weights, -30, 30)))
        slope = table.T @ (outcomes - chances) - ridge * weights
        curve = (table * (chances * (1 - chances))[:, None]).T @ table + ridge * np.eye(len(weights))
        weights = weights + np.linalg.solve(curve, slope)
    return weights


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


# --- PopQA: one answer from several pieces ----------------------------------------------------------------------------


class Place(NamedTuple):
    """The likeliest answer of one piece."""

    piece: str
    reading: Reading

    @property
    def answer(self) -> str:
        return self.piece[self.reading.start : self.reading.end]


Way = Callable[[Sequence[Place]], Place]
CUTS: dict[str, Callable[[str], list[str]]] = {
    f"{SENTENCES} sentences": by_sentences,
    f"{WORDS} words": by_words,
}


def most_relevant(places: Sequence[Place]) -> Place:
    return max(places, key=lambda place: place.reading.relevance)


def surest(places: Sequence[Place]) -> Place:
    return max(places, key=lambda place: sureness(place.reading))


def voted(places: Sequence[Place]) -> Place:
    """The surest place of the answer that is surest in sum; answers that normalise to the same are one."""
    votes: dict[str, list[Place]] = defaultdict(list)
    for place in places:
        votes[normalise(place.answer)].append(place)
    return surest(max(votes.values(), key=lambda same: sum(sureness(place.reading) for place in same)))


WAYS: dict[str, Way] = {"most relevant": most_relevant, "surest": surest, "voted": voted}


def popqa(readings: Readings, *, final: bool) -> dict[str, Any]:
    found = rows("popqa_longtail/questions.jsonl")
    quote = BestSentence([row[name] for row in found for name in ("internal", "web")])
    splits = ("train", "tune", "final") if final else ("train", "tune")
    tables: dict[str, dict[str, Table]] = {}
    for split in splits:
        asked = [row for row in found if split_of(row["subject"]) == split]
        tables[split] = popqa_tables(readings, quote, asked)
    spans = {label: values for label, values in tables["tune"]["combined"].items() if label.startswith("span")}
    chosen = best_by(spans, "match", "F1")
    for split, contexts in tables.items():
        for context, table in contexts.items():
            seen = ", seen in training" if split == "train" else ""
            n = next(iter(table.values()))["match"]["n"]
            show(f"PopQA long tail, {split}{seen}, context {context}, n {n}", table, chosen)
    print("\nPublished, match over all 1,399 questions, of which these are a part of 663: ", end="")
    print(", ".join(f"{name} {values['match']:.3f}" for name, values in PUBLISHED.items()))
    return {"chosen": chosen, "published": PUBLISHED, **tables}


def popqa_tables(readings: Readings, quote: BestSentence, asked: Sequence[dict[str, Any]]) -> dict[str, Table]:
    """Measures by context and way; the combined context is the other two, one after the other."""
    golds = [row["answers"] for row in asked]
    pieces = {
        (name, context): [cut_up(row[context]) for row in asked]
        for name, cut_up in CUTS.items()
        for context in ("internal", "web")
    }
    flat = [
        Asked(row["question"], tuple(Text(piece) for own in pieces.values() for piece in own[at]))
        for at, row in enumerate(asked)
    ]
    known = [
        dict(zip((text.text for text in one.texts), found, strict=True))
        for one, found in zip(flat, readings("popqa", flat), strict=True)
    ]
    tables: dict[str, Table] = {}
    for context, made_of in (("combined", ("internal", "web")), ("internal", ("internal",)), ("web", ("web",))):
        table: Table = {}
        for name in CUTS:
            places = [
                [Place(piece, own[piece]) for part in made_of for piece in pieces[name, part][at]]
                for at, own in enumerate(known)
            ]
            for label, way in WAYS.items():
                best = [way(own) if own else None for own in places]
                table[f"span, {label}, {name}"] = measures([one.answer if one else "" for one in best], golds)
            best = [voted(own) if own else None for own in places]
            sentences = [sentence_at(one.piece, one.reading.start) if one else "" for one in best]
            table[f"sentence of the voted span, {name}"] = measures(sentences, golds)
            table[f"its first {QUOTED_WORDS} words, {name}"] = measures([cut(text) for text in sentences], golds)
        quotes = [quote(row["question"], [Text(row[part]) for part in made_of])[0] for row in asked]
        table["extractive reader, best sentence"] = measures(quotes, golds)
        table[f"extractive reader, first {QUOTED_WORDS} words"] = measures([cut(text) for text in quotes], golds)
        pasted = measures([" ".join(row[part] for part in made_of) for row in asked], golds)
        table["whole context pasted"] = {name: pasted[name] for name in ("match", "match_norm", "words")}
        tables[context] = table
    return tables


# --- claims: true or false --------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Claim:
    """A claim with its evidence, cut in three ways; evidence that is no running text is one sentence to a window."""

    split: str
    text: str
    true: bool
    sentences: list[Text]
    windows: list[Text]
    whole: Text


@dataclass(frozen=True)
class Judged:
    """The readings of a claim's evidence."""

    sentences: list[Reading]
    windows: list[Reading]
    whole: Reading


def ranked(found: Sequence[Reading]) -> list[Reading]:
    return sorted(found, key=lambda reading: -reading.relevance)


def mean_support(found: Sequence[Reading]) -> float:
    return float(np.mean([reading.support for reading in found]))


def weighed_support(found: Sequence[Reading]) -> float:
    """Each reading counts as much as it is relevant."""
    weights = [exp(log_sigmoid(reading.relevance)) + LEAST for reading in found]
    return float(np.average([reading.support for reading in found], weights=weights))


SIGNS: dict[str, Callable[[Judged], float]] = {
    "most relevant sentence": lambda judged: ranked(judged.sentences)[0].support,
    "mean of the 3 most relevant": lambda judged: mean_support(ranked(judged.sentences)[:3]),
    "sentences by relevance": lambda judged: weighed_support(judged.sentences),
    "most relevant window": lambda judged: ranked(judged.windows)[0].support,
    "windows by relevance": lambda judged: weighed_support(judged.windows),
    "whole evidence": lambda judged: judged.whole.support,
}


def labels(readings: Readings, *, final: bool) -> dict[str, Any]:
    sets = {
        "SciFact, gold abstract": list(scifact()),
        "Climate-FEVER, five sentences": list(climate_fever()),
        "Climate-FEVER, each sentence that supports or refutes": list(climate_sentences()),
        "PubHealth, explanation as oracle evidence (it gives the label away)": list(pubhealth()),
    }
    chosen_on = list(sets)[:2]
    tables: dict[str, dict[str, Table]] = {}
    for split in ("tune", "final") if final else ("tune",):
        chosen_claims = {name: [one for one in claims if one.split == split] for name, claims in sets.items()}
        tables[split] = {name: label_table(readings, claims) for name, claims in chosen_claims.items()}
    means = {
        sign: np.mean([tables["tune"][name][sign]["accuracy"]["value"] for name in chosen_on]).item() for sign in SIGNS
    }
    chosen = max(means, key=lambda sign: means[sign])
    if final:
        # The rule is chosen without PubHealth, and nothing was trained on it: all of it is as good as final.
        *_, oracle = sets
        tables["all"] = {oracle: label_table(readings, sets[oracle])}
    for split, by_set in tables.items():
        for name, table in by_set.items():
            n = table["the more frequent label"]["accuracy"]["n"]
            show(f"{name}, {split}, n {n}", table, chosen)
    return {"chosen": chosen, "chosen_on": chosen_on, **tables}


def label_table(readings: Readings, claims: Sequence[Claim]) -> Table:
    """Accuracy of the sign, and AUROC of the logit, which does not depend on where the threshold lies."""
    asked = [Asked(one.text, (*one.sentences, *one.windows, one.whole)) for one in claims]
    judged = [
        Judged(found[: len(one.sentences)], found[len(one.sentences) : -1], found[-1])
        for one, found in zip(claims, readings("labels", asked), strict=True)
    ]
    true = [one.true for one in claims]
    frequent = sum(true) * 2 >= len(true)
    table: Table = {"the more frequent label": {"accuracy": shares([label == frequent for label in true])}}
    for name, sign in SIGNS.items():
        logits = [sign(one) for one in judged]
        forecasts = [Forecast(logit, float(label)) for logit, label in zip(logits, true, strict=True)]
        table[name] = {
            "accuracy": shares([(logit > 0) == label for logit, label in zip(logits, true, strict=True)]),
            "true found": shares([logit > 0 for logit, label in zip(logits, true, strict=True) if label]),
            "false found": shares([logit <= 0 for logit, label in zip(logits, true, strict=True) if not label]),
            "AUROC": auroc_interval(forecasts).to_dict(),
        }
    return table


def scifact() -> Iterator[Claim]:
    """Claims with each abstract that supports or contradicts them."""
    claims = {row["_id"]: row["text"] for row in rows("scifact/queries.jsonl")}
    abstracts = {row["_id"]: row for row in rows("scifact/corpus.jsonl")}
    for line in (DATA / "scifact/evidence.tsv").read_text(encoding="utf-8").splitlines()[1:]:
        claim, abstract, label = line.split("\t")
        title, text = abstracts[abstract]["title"], abstracts[abstract]["text"]
        yield running(split_of(claim), claims[claim], label == "SUPPORT", text, title)


def pubhealth() -> Iterator[Claim]:
    """Claims that are true or false, with what a journalist wrote to explain the verdict."""
    for row in rows("pubhealth/claims.jsonl"):
        if row["label"] in ("true", "false"):
            split = "final" if split_of(row["claim_id"]) == "final" else "tune"
            yield running(split, row["claim"], row["label"] == "true", row["explanation"])


def running(split: str, claim: str, true: bool, text: str, title: str = "") -> Claim:
    """A claim whose evidence is running text."""
    sentences = [Text(text[start:end], title) for start, end in sentence_spans(text)] or [Text(text, title)]
    wider = [Text(window, title) for window in windows(text)] or sentences
    return Claim(split, claim, true, sentences, wider, Text(text, title))


def climate_fever() -> Iterator[Claim]:
    """Claims that their five sentences support or refute, some of which say nothing about them."""
    for row in rows("climate_fever/claims.jsonl"):
        if row["claim_label"] in ("SUPPORTS", "REFUTES"):
            texts = [evidence_text(evidence) for evidence in row["evidences"]]
            titles = " ".join(dict.fromkeys(text.title for text in texts))
            whole = Text(" ".join(text.text for text in texts), titles)
            true = row["claim_label"] == "SUPPORTS"
            yield Claim(split_of(row["claim_id"]), row["claim"], true, texts, texts, whole)


def climate_sentences() -> Iterator[Claim]:
    """Each sentence that supports or refutes its claim, by itself."""
    for row in rows("climate_fever/claims.jsonl"):
        for evidence in row["evidences"]:
            if evidence["evidence_label"] in ("SUPPORTS", "REFUTES"):
                text = evidence_text(evidence)
                true = evidence["evidence_label"] == "SUPPORTS"
                yield Claim(split_of(row["claim_id"]), row["claim"], true, [text], [text], text)


def evidence_text(evidence: Mapping[str, Any]) -> Text:
    return Text(evidence["evidence"].strip('"'), evidence["article"])


# --- multiple choice --------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Choice:
    """A question with options; `alone` and `options` are readings of the pieces of its context."""

    question: str
    options: list[str]
    right: int
    pieces: list[Text]
    alone: list[Reading] = field(default_factory=list)
    """Of the question without an option."""
    together: list[list[Reading]] = field(default_factory=list)
    """Of the question with each option."""


Scorer = Callable[[Choice], list[float]]
"""One score per option; options that score alike share the credit."""


def option_support(choice: Choice) -> list[float]:
    return [ranked(found)[0].support for found in choice.together]


def option_both(choice: Choice) -> list[float]:
    return [max(log_sigmoid(r.relevance) + log_sigmoid(r.support) for r in found) for found in choice.together]


def option_overlap(choice: Choice) -> list[float]:
    """F1 of the option's words and those of the spans that answer the question, each by how sure it is."""
    spans = [
        (sureness(reading), normalise(text.text[reading.start : reading.end]).split())
        for text, reading in zip(choice.pieces, choice.alone, strict=True)
    ]
    words = [normalise(option).split() for option in choice.options]
    return [sum(sure * word_f1(span, own) for sure, span in spans) for own in words]


def option_words(choice: Choice) -> list[float]:
    """Share of the option's terms in the piece that holds most of them."""
    held = [set(index_terms(text.text)) for text in choice.pieces]
    wanted = [set(index_terms(option)) for option in choice.options]
    return [max(len(own & terms) / max(1, len(own)) for terms in held) for own in wanted]


SCORERS: dict[str, Scorer] = {
    "relevance": lambda choice: [max(r.relevance for r in found) for found in choice.together],
    "mean relevance": lambda choice: [float(np.mean([r.relevance for r in found])) for found in choice.together],
    "support of the most relevant": option_support,
    "support by relevance": lambda choice: [weighed_support(found) for found in choice.together],
    "relevance and support": option_both,
    "words of the answer's span": option_overlap,
}
BASELINES: dict[str, Scorer] = {
    "chance": lambda choice: [0.0] * len(choice.options),
    "longest option": lambda choice: [float(len(option)) for option in choice.options],
    "terms in the context": option_words,
}


def options(readings: Readings, *, final: bool) -> dict[str, Any]:
    found = rows("arc/questions.jsonl")
    contexts = {"internal": ("internal",), "web": ("web",), "internal and web": ("internal", "web")}
    tables: dict[str, dict[str, Table]] = {}
    for split in ("tune", "final") if final else ("tune",):
        asked = [row for row in found if (split_of(row["id"]) == "final") == (split == "final")]
        tables[split] = {}
        for context, parts in contexts.items():
            choices = [choice for row in asked if (choice := choice_of(row, parts)).pieces]
            read = read_choices(readings, choices)
            scorers = BASELINES | SCORERS
            table = {
                name: {"accuracy": shares([credit(one, scorer) for one in read])} for name, scorer in scorers.items()
            }
            tables[split][context] = table
    own = {name: tables["tune"]["internal and web"][name] for name in SCORERS}
    chosen = best_by(own, "accuracy")
    for split, by_context in tables.items():
        for context, table in by_context.items():
            n = table["chance"]["accuracy"]["n"]
            show(f"ARC-Challenge, {split}, context {context}, n {n} that have one", table, chosen)
    return {"chosen": chosen, **tables}


def choice_of(row: Mapping[str, Any], parts: Sequence[str]) -> Choice:
    """A question over the pieces of one or two contexts."""
    right = row["choices"]["label"].index(row["answer"])
    pieces = [text for part in parts for text in titled_pieces(row[part])]
    question = " ".join(row["question"].split()[-ASKED_WORDS:])
    return Choice(question, row["choices"]["text"], right, pieces)


def titled_pieces(context: str) -> list[Text]:
    """Pieces of a context; CRAG writes "title // text; title // text" where it retrieved the texts itself."""
    if " // " not in context:
        return [Text(piece) for piece in by_words(context)]
    passages = [passage.partition(" // ") for passage in PASSAGE.split(context)]
    return [Text(piece, title) for title, _, text in passages for piece in by_words(text)]


def read_choices(readings: Readings, choices: Sequence[Choice]) -> list[Choice]:
    """The choices with what the judge says to each."""
    asked = [
        Asked(words, tuple(one.pieces))
        for one in choices
        for words in (one.question, *(f"{one.question} {option}" for option in one.options))
    ]
    found = iter(readings("options", asked))
    return [
        Choice(one.question, one.options, one.right, one.pieces, next(found), [next(found) for _ in one.options])
        for one in choices
    ]


def credit(choice: Choice, scorer: Scorer) -> float:
    """1 for the right option, shared among those that score as high."""
    scores = scorer(choice)
    best = max(scores)
    return (scores[choice.right] == best) / scores.count(best)


# --- the run ----------------------------------------------------------------------------------------------------------

PARTS: dict[Part, Callable[..., dict[str, Any]]] = {
    "squad": squad,
    "popqa": popqa,
    "labels": labels,
    "options": options,
}


def add_results(parts: Mapping[str, Any]) -> None:
    """Parts that were not run this time stay as they are."""
    file = RESULTS / "reader.json"
    before = json.loads(file.read_text(encoding="utf-8")) if file.exists() else {}
    keep("reader", {part: parts.get(part, before.get(part)) for part in PARTS if part in parts or part in before})


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("part", nargs="?", choices=(*get_args(Part), "all"), default="all")
    parser.add_argument("--final", action="store_true", help="read the final fifth too, and keep the results")
    parser.add_argument("--folder", type=Path, default=BUNDLED_JUDGE, help="the judge's folder (default: the bundled)")
    arguments = parser.parse_args()
    tell()
    # A thread for each reading and none within: that keeps the cores busy where a question has one text.
    readings = Readings(BundledJudge(arguments.folder, threads=1))
    chosen = PARTS if arguments.part == "all" else {arguments.part: PARTS[arguments.part]}
    found = {
        name: {"model": readings.judge.name, **part(readings, final=arguments.final)} for name, part in chosen.items()
    }
    if arguments.final:
        add_results(found)


if __name__ == "__main__":
    main()
