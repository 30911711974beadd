"""How sure chosen sentences are to hold the answer: fits the weights of generation/passages.py and measures them.

    .venv/bin/python -m research.reader.passages [--most N]

Questions of the training data for readers that ask for an explanation or a list are asked over their passage and the
three of its article that are nearest by words; then without their passage; and with a name or year put in from
another question (a look-alike). The sentences are right when they hold a gold answer. Rows as they are weigh as much as
all others together. The judge did not see these sets. Measured: AUROC and calibration error on each half of the sets
by weights that were fitted on the other half.
"""

from __future__ import annotations

import argparse
import gzip
import json
import random
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from math import log
from typing import Any

import numpy as np

from benchmarks.machine import DATA
from research.judge.evaluator import logistic
from research.pools import holds, plain
from thresher.generation.passages import PassageChooser, PassageSigns
from thresher.generation.sentence_support import SupportJudge
from thresher.judging.calibration import auroc
from thresher.models.cross_encoders import BundledJudge
from thresher.models.encoders import BundledEncoder
from thresher.text.entities import name_places
from thresher.text.questions import Kind, asked_for
from thresher.text.terms import query_terms, term_set
from thresher.types import COSINE, Chunk, Evidence, Hit, Score

HALVES = (("squadshifts_new_wiki", "qed_nq_train"), ("squad_train_slices", "covidqa"))
NEAR = 3
YEAR = re.compile(r"\b(?:1[5-9]|20)\d\d\b")
NAMES = tuple(PassageSigns.__dataclass_fields__)


def rows(name: str) -> list[dict[str, Any]]:
    """All rows of a set."""
    with gzip.open(DATA / "train" / f"reader_{name}.jsonl.gz", "rt", encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def asked(name: str, most: int, draw: random.Random) -> Iterator[tuple[list[float], bool, bool]]:
    """Signs of the sentences chosen for each question, whether they are right, and whether it was asked as it is."""
    every = rows(name)
    articles: dict[str, dict[str, None]] = defaultdict(dict)
    for row in every:
        articles[row["title"]][row["passage"]] = None
    passages = [(title, passage) for title, own in articles.items() for passage in own]
    counts = Counter(term for title, passage in passages for term in term_set(f"{title} {passage}"))

    def rarity(question: str) -> Mapping[str, float]:
        number = len(passages)
        return {term: log(1 + (number - counts[term] + 0.5) / (counts[term] + 0.5)) for term in query_terms(question)}

    choose = PassageChooser(BundledJudge(), SupportJudge(BundledEncoder(), rarity), 0.0)
    kinds = (Kind.EXPLANATION, Kind.LIST)
    chosen = [row for row in every if row["answerable"] and asked_for(row["question"]).kind in kinds]
    draw.shuffle(chosen)
    names = [found for row in chosen for _, found in name_places(f"- {row['question']}")]
    for row in chosen[:most]:
        wanted = rarity(row["question"])
        others = [one for one in articles[row["title"]] if one != row["passage"]]
        others += [one for _, one in draw.sample(passages, 300)] if len(others) < NEAR else []
        others.sort(key=lambda one: -sum(wanted[term] for term in wanted.keys() & term_set(one)))
        for question, texts, gold in (
            (row["question"], [row["passage"], *others[:NEAR]], row["answers"]),
            (row["question"], others[:NEAR], []),
            (look_alike(row["question"], names, draw), [row["passage"], *others[:NEAR]], []),
        ):
            passage = choose(question, pieces(row["title"], texts), most=4) if question else None
            if passage is not None and passage.signs is not None:
                text = plain(" ".join(sentence.text for sentence in passage.sentences))
                yield [getattr(passage.signs, name) for name in NAMES], bool(gold) and holds(text, gold), bool(gold)


def look_alike(question: str, names: Sequence[str], draw: random.Random) -> str:
    """The question about another year or name; "" where it has none."""
    if year := YEAR.search(question):
        return question[: year.start()] + str(int(year[0]) + draw.choice((-2, -1, 1, 2))) + question[year.end() :]
    own = [(at - 2, name) for at, name in name_places(f"- {question}")]
    if not own:
        return ""
    at, name = own[-1]
    other = draw.choice([one for one in names if one not in question])
    return question[:at] + other + question[at + len(name) :]


def pieces(title: str, texts: Sequence[str]) -> list[Evidence]:
    """Each text as a document of its own."""
    return [
        Evidence(
            Hit(Chunk(str(at), str(at), "", title, 0, len(text), text), Score(0.0, COSINE), at), 0, len(text), text
        )
        for at, text in enumerate(texts, start=1)
    ]


def calibration_error(told: np.ndarray, right: np.ndarray, weight: np.ndarray) -> float:
    """Of ten bins of equal width, weighted."""
    bins = np.minimum((told * 10).astype(int), 9)
    return float(sum(abs((weight * (told - right))[bins == one].sum()) for one in range(10)) / weight.sum())


def main() -> None:
    """Reads, fits and prints."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--most", type=int, default=100, help="questions of a set at most")
    most = parser.parse_args().most
    halves = []
    for half in HALVES:
        found = [one for name in half for one in asked(name, most, random.Random(7))]
        signs, right, as_is = (np.array(column) for column in zip(*found, strict=True))
        halves.append((signs, right, np.where(as_is, 0.5 / as_is.sum(), 0.5 / (~as_is).sum())))
    for fitted, measured in ((0, 1), (1, 0)):
        signs, right, weight = halves[fitted]
        weights = logistic(signs, right.astype(float), weight)
        signs, right, weight = halves[measured]
        told = 1 / (1 + np.exp(-(signs @ weights[:-1] + weights[-1])))
        error = calibration_error(told, right, weight)
        print(HALVES[measured], len(right), f"AUROC {auroc(told, right):.3f} ECE {error:.3f}", weights.round(2))
    signs, right, weight = (np.concatenate(column) for column in zip(*halves, strict=True))
    print("all", dict(zip((*NAMES, "intercept"), logistic(signs, right.astype(float), weight).round(2), strict=True)))


if __name__ == "__main__":
    main()
