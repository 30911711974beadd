"""How certain each answerer's candidates are: fits the rows of models/weights/certainty.json.

    .venv/bin/python -m research.answer_certainty ask --out CANDIDATES [--questions HOME] [--real HOME]
    .venv/bin/python -m research.answer_certainty fit CANDIDATES [--write]
    .venv/bin/python -m research.answer_certainty rules CANDIDATES

Questions are asked offline with `corrective`; the trace has every candidate with its signs. The sets: the 150
questions of benchmarks/questions and the dev part of benchmarks/real_text, marked by their rules; SQuAD 2.0 and Natural
Questions, where a candidate is right that is a gold answer or shares half of its words with one, and a passage that
holds one; ARC, where the letter decides; who wrote each paper of benchmarks/questions, by the surname of its first
author.

A row is a logistic regression over the signs that are named in SIGNS, with a penalty of 1 on each weight. All
candidates of a question weigh 1 together, all questions of a set 100. An answerer with fewer than 100 candidates has no
weights: its intercept is that of (right + 1) / (n + 2), and the selector counts it with the lower bound of its interval
at most. Printed: n, right, and by tenfold cross-validation over questions the AUROC and the calibration error.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import shutil
import subprocess
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np

import thresher
from benchmarks.machine import CACHE, DATA
from benchmarks.questions import rules
from benchmarks.questions.rules import Mark
from benchmarks.real_text import documents as real_documents
from benchmarks.real_text import questions as real_questions
from thresher.answering.answerers.options import OptionAnswerer
from thresher.answering.material import Material
from thresher.answering.places import Places
from thresher.answering.select import CERTAINTY, ENOUGH
from thresher.judging.calibration import auroc, calibration_error
from thresher.models.cross_encoders import BUNDLED_JUDGE, BundledJudge
from thresher.recipes.answerer import wilson
from thresher.text.document_names import SURE_FIT
from thresher.types import COSINE, Chunk, Evidence, Hit, Query, Score
from thresher_evals.metrics.answers import exact_match, f1

SEED, FOLDS = 23, 10
SIGNS = {
    "spans": ("relevance", "place", "terms", "sentence"),
    "passages": ("relevance", "whole", "place", "terms", "uncovered"),
    "comparison": ("relevance", "place", "terms", "uncovered"),
    "options": ("relevance",),
    "documents": ("name",),
    "mails": ("name",),
    "shared_name": ("support", "ahead"),
}
"""What each row weighs, of those with enough candidates."""
PENALTY = 1.0
SET_WEIGHT = 100.0
PUBLIC = 200
"""Questions of each public set."""
CONTEXT = 2_000
"""Characters of each context of ARC that are read."""
SHARED = 0.5
"""Word F1 with a gold answer from which a span is right."""
DISTRACTORS = 1_500
"""Passages of Wikipedia beside those that the questions are about."""

KEPT = {
    "shared_name": {
        "intercept": -0.6, "n": 53, "right": 45, "weights": {"support": 4.4, "ahead": 2.7},
        "sets": {"inference questions of MultiHop-RAG, train and tune parts": 53},
    },
    "lists": {
        "intercept": 2.303, "n": 9, "right": 9, "weights": {},
        "sets": {"questions, and those that lists were first looked at with": 9},
    },
    "yes_no": {
        "intercept": 0.916, "n": 5, "right": 4, "weights": {},
        "sets": {"questions": 4, "a question to a manual that was asked by hand": 1},
    },
}  # fmt: skip
"""Rows that were counted before, or on more than what is asked here."""

TAKEN = {"comparison": "passages", "mails": "documents", "enumerations": "lists"}
"""Answerers with too few candidates of their own, and whose count too: what both do is alike (a passage is shown, a
document is found by its name, items are read out by rule)."""

AUTHORS = {
    "1502.03167": "Ioffe", "1512.03385": "He", "2002.08909": "Guu", "2004.04906": "Karpukhin", "2005.11401": "Lewis",
    "2007.01282": "Izacard", "2010.11929": "Dosovitskiy", "2104.08663": "Thakur", "2210.11610": "Huang",
    "2301.11305": "Mitchell", "2302.00083": "Ram", "Adam": "Kingma", "Attention": "Vaswani", "BERT": "Devlin",
    "DeepSeek-V2": "DeepSeek", "DeepSeek_R1": "DeepSeek", "Direct": "Rafailov", "ELMo": "Peters",
    "Efficient_Memory": "Kwon", "Fast": "Leviathan", "GPT1": "Radford", "GPT2": "Radford", "GaLore": "Zhao",
    "Is_Cosine": "Steck", "Jasper": "Zhang", "Longformer": "Beltagy", "Medusa": "Cai", "Mixed": "Micikevicius",
    "Mixtral": "Jiang", "NV-Embed": "Lee", "OLMo": "Groeneveld", "Recitation": "Sun", "Scaling": "Chung",
    "Switch": "Fedus", "Train_Short": "Press", "Training_language": "Ouyang", "XLNet": "Yang", "YaRN": "Peng",
    "ZeRO": "Rajbhandari",
}  # fmt: skip
"""The first author of each paper, by how the name of its file begins."""

UNSCORED = Score(0.0, COSINE)

Right = Callable[[dict[str, Any]], bool]
Row = dict[str, Any]


# --- asking -----------------------------------------------------------------------------------------------------------


def rows_of(name: str, collection: thresher.Collection, asked: list[tuple[str, str, Right]]) -> Iterator[Row]:
    """A row for each question of one part: its candidates, and whether each is right."""
    for id_, question, is_right in asked:
        steps = collection.ask(question).steps
        notes = next(step.value for step in steps if step.name == "generate").notes
        if notes.facts.get("parts"):
            continue  # their candidates are told together
        candidates = [{**one, "right": is_right(one)} for one in notes.facts.get("candidates", ())]
        yield {"set": name, "id": id_, "question": question, "candidates": candidates}


def by_rule(question: rules.Question) -> Right:
    """The rules of a question set."""
    return lambda one: rules.marked(question, one["text"], abstained=False).mark is Mark.RIGHT


def by_gold(answers: list[str]) -> Right:
    """A gold answer, or for a passage a text that holds one."""

    def is_right(one: dict[str, Any]) -> bool:
        text = re.sub(r"\*\*| \[\d+\]", "", one["text"])
        if one["by"] == "passages":
            return any(re.search(rf"(?<!\w){re.escape(answer)}(?!\w)", text, re.IGNORECASE) for answer in answers)
        return bool(answers) and (exact_match(text, answers) or f1(text, answers) >= SHARED)

    return is_right


def lines(path: Path) -> list[dict[str, Any]]:
    """The rows of a JSON Lines file."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def sets(home: Path, questions: Path, real: Path) -> Iterator[Iterator[Row]]:
    """The rows of every set, one set after another; what is not indexed yet is."""
    draw = random.Random(SEED)
    by_collection: dict[str, list[rules.Question]] = defaultdict(list)
    for one in rules.load():
        by_collection[one.collection].append(one)
    for name, chosen in by_collection.items():
        with thresher.open(questions, name) as collection:
            yield rows_of("questions", collection, [(one.id, one.question, by_rule(one)) for one in chosen])
    dev = [one for one in real_questions.load() if one.part == "dev"]
    with thresher.open(real, "real_text") as collection:
        yield rows_of("real_text", collection, [(one.id, one.question, by_rule(one)) for one in dev])
    with thresher.open(questions, "papers") as collection:
        yield rows_of("authors", collection, list(authors(collection)))

    squad = lines(DATA / "squad" / "answered.jsonl")
    texts = {row["context"]: row["title"] for row in squad}
    folder = written(home / "squad", {f"p{at}": (title, text) for at, (text, title) in enumerate(texts.items())})
    asked = [
        (str(row["id"]), row["question"], by_gold(list({text for _, text in row["answers"]})))
        for row in draw.sample(squad, PUBLIC)
    ]
    with thresher.open(home, "squad") as collection:
        collection.add(folder)
        yield rows_of("squad", collection, asked)

    yield arc()

    corpus = {row["_id"]: (row["title"], row["text"]) for row in lines(DATA / "wikipedia" / "corpus.jsonl")}
    chosen_nq = draw.sample(lines(DATA / "wikipedia" / "nq.jsonl"), PUBLIC)
    wanted = {id_ for row in chosen_nq for id_ in row["retrieved_ids"]} | set(draw.sample(sorted(corpus), DISTRACTORS))
    folder = written(home / "nq", {id_: corpus[id_] for id_ in sorted(wanted) if id_ in corpus})
    with thresher.open(home, "nq") as collection:
        collection.add(folder)
        yield rows_of("nq", collection, [(r["id"], r["question"], by_gold(r["answers"])) for r in chosen_nq])


def arc() -> Iterator[Row]:
    """Questions with options, over the contexts of CRAG's authors; only the options are read."""
    answerer = OptionAnswerer(BundledJudge(BUNDLED_JUDGE), 0.0)
    rows = [row for row in lines(DATA / "arc" / "questions.jsonl") if row["internal"] or row["web"]]
    for row in random.Random(SEED).sample(rows, PUBLIC):
        listed = " ".join(
            f"({letter}) {text}" for letter, text in zip("ABCDEFGH", row["choices"]["text"], strict=False)
        )
        query = Query(f"{row['question']} {listed}", row["question"])
        texts = [str(row[name])[:CONTEXT] for name in ("internal", "web") if row[name]]
        evidence = [
            Evidence(Hit(Chunk(f"{at}", f"{at}", "", "", 0, len(text), text), UNSCORED, at), 0, len(text), text)
            for at, text in enumerate(texts, start=1)
        ]
        material = Material(query, evidence, lambda ids: {}, lambda question, pieces: Places())  # type: ignore[arg-type]
        letter = "ABCDEFGH"[row["choices"]["label"].index(row["answer"])]
        candidates = [
            {"by": one.by, "text": one.answer.text, **one.signs.to_dict(), "right": f"({letter})" in one.answer.text}
            for one in answerer(query, material)
        ]
        yield {"set": "arc", "id": str(row["id"]), "question": query.question, "candidates": candidates}


def authors(collection: thresher.Collection) -> Iterator[tuple[str, str, Right]]:
    """Who wrote each paper that is here, by its title."""
    for record in collection.documents():
        surname = next((name for begin, name in AUTHORS.items() if Path(record.source).name.startswith(begin)), None)
        if surname and record.title:
            yield record.source, f"Who wrote the paper “{record.title}”?", naming(surname)


def naming(name: str) -> Right:
    """A text that has a name."""
    return lambda one: name in one["text"]


def written(folder: Path, texts: dict[str, tuple[str, str]]) -> Path:
    """The texts as files, each with its title as heading."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, (title, text) in texts.items():
        (folder / f"{re.sub(r'[^A-Za-z0-9]', '-', name)}.md").write_text(f"# {title}\n\n{text}\n", encoding="utf-8")
    return folder


def ask(options: argparse.Namespace) -> None:
    """Write the candidates of all sets."""
    with options.out.open("w", encoding="utf-8") as file:
        for rows in sets(CACHE / "answer_certainty", options.questions, options.real):
            for row in rows:
                file.write(json.dumps(row, ensure_ascii=False) + "\n")
                file.flush()


# --- fitting ----------------------------------------------------------------------------------------------------------


def regression(features: np.ndarray, right: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Weights and intercept of a penalised logistic regression, by Newton's method."""
    with_one = np.c_[features, np.ones(len(features))]
    found = np.zeros(with_one.shape[1])
    penalty = np.diag([*[PENALTY] * features.shape[1], 1e-6])
    for _ in range(100):
        probability = 1 / (1 + np.exp(-with_one @ found))
        gradient = with_one.T @ (weights * (probability - right)) + penalty @ found
        hessian = (with_one * (weights * probability * (1 - probability))[:, None]).T @ with_one + penalty
        step = np.linalg.solve(hessian, gradient)
        found -= step
        if np.abs(step).max() < 1e-9:
            break
    return found


def fitted(name: str, rows: list[Row]) -> dict[str, Any] | None:
    """The row of one answerer; None for one that proposed nothing."""
    counted = {name, TAKEN.get(name, name)}
    found = [
        (row, one)
        for row in rows
        for one in row["candidates"]
        if one["by"] in counted and "objection" not in one and (row["set"] != "authors" or "documents" in counted)
    ]
    if not found:
        return None
    right = np.array([float(one["right"]) for _, one in found])
    n, hits = len(found), int(right.sum())
    told: dict[str, Any] = {"n": n, "right": hits, "sets": dict(Counter(row["set"] for row, _ in found))}
    signs = SIGNS.get(name, ())
    if n < ENOUGH or not signs:
        share = float(np.log((hits + 1) / (n - hits + 1)))
        if signs != ("name",):
            return {"intercept": round(share, 3), **told, "weights": {}}
        # all were named in full; a name that leaves out as much as it says means the document as often as not
        weight = share / (1 - SURE_FIT)
        return {"intercept": round(-weight * SURE_FIT, 3), **told, "weights": {"name": round(weight, 3)}}
    each = Counter((row["set"], row["id"]) for row, _ in found)
    asked = Counter(set_ for set_, _ in each)
    weights = np.array([SET_WEIGHT / asked[row["set"]] / each[row["set"], row["id"]] for row, _ in found])
    features = np.array([[one.get(sign, 0.0) for sign in signs] for _, one in found])
    folds = {key: at % FOLDS for at, key in enumerate(random.Random(SEED).sample(sorted(each), len(each)))}
    fold = np.array([folds[row["set"], row["id"]] for row, _ in found])
    held_out = np.zeros(n)
    for number in range(FOLDS):
        ours = fold == number
        learned = regression(features[~ours], right[~ours], weights[~ours])
        held_out[ours] = 1 / (1 + np.exp(-np.c_[features[ours], np.ones(ours.sum())] @ learned))
    learned = regression(features, right, weights)
    told |= {
        "held_out": {
            set_: {
                "auroc": round(auroc(held_out[chosen], right[chosen].astype(bool)), 3),
                "ece": round(calibration_error(held_out[chosen], right[chosen].astype(bool)), 3),
            }
            for set_ in asked
            if (chosen := np.array([row["set"] == set_ for row, _ in found])).any() and 0 < right[chosen].mean() < 1
        }
    }
    named = {sign: round(float(weight), 3) for sign, weight in zip(signs, learned[:-1], strict=True)}
    return {"intercept": round(float(learned[-1]), 3), **told, "weights": named}


def fit(options: argparse.Namespace) -> None:
    """Print the rows, and write them."""
    rows = lines(options.candidates)
    before = json.loads(CERTAINTY.read_text(encoding="utf-8"))["answerers"]
    table: dict[str, Any] = {}
    for name in sorted({one["by"] for row in rows for one in row["candidates"]} | set(before)):
        table[name] = KEPT.get(name) or KEPT.get(TAKEN.get(name, "")) or fitted(name, rows) or before[name]
        print(f"{name}: {json.dumps(table[name])}")
    if options.write:
        git = [shutil.which("git") or "git", "rev-parse", "--short", "HEAD"]
        commit = subprocess.run(git, capture_output=True, text=True, check=True)
        made = {"date": datetime.now(UTC).date().isoformat(), "commit": commit.stdout.strip(), "answerers": table}
        CERTAINTY.write_text(json.dumps(made, indent=1) + "\n", encoding="utf-8")


# --- what rules are worth ---------------------------------------------------------------------------------------------

OBJECTIONS = (
    ("another name (codes, numbered things, labels)", r"names|“|-\S+, not of"),
    ("another year", r"of \d{4}, not of"),
    ("another day or month", r"of \w+, not of"),
    ("an opposite (first, last; buy, sell)", r"the other of"),
    ("before, during or after something else", r"(?:is|says) (?:before|during|after)"),
    ("nothing about before", r"nothing about before"),
)
"""Groups of the rules of verification/agreement.py, by what they say."""


def shares(found: list[tuple[str, bool]]) -> str:
    """Right of all with the 95 % interval, of text that exists for its own sake and of invented files."""
    cells = []
    for invented in (False, True):
        right = [one for set_, one in found if (set_ == "questions") is invented]
        low, high = wilson(sum(right), len(right))[1:] if right else (0.0, 0.0)
        cells.append(f"{sum(right)} of {len(right)} [{low:.2f}, {high:.2f}]" if right else "-")
    return " | ".join(cells)


def told_rules(options: argparse.Namespace) -> None:
    """Print the two tables of docs/rules.md."""
    rows = lines(options.candidates)
    every = [(row["set"], one) for row in rows for one in row["candidates"]]
    print("| answerer | proposed and right: public and real text | invented files |\n|---|---|---|")
    for name in sorted({one["by"] for _, one in every}):
        free = [(set_, one["right"]) for set_, one in every if one["by"] == name and "objection" not in one]
        print(f"| {name} | {shares(free)} |")
    print("\n| the nearest place says | accused though right: public and real text | invented files |\n|---|---|---|")
    left = [(set_, one) for set_, one in every if "objection" in one]
    for group, pattern in OBJECTIONS:
        accused = [(set_, one["right"]) for set_, one in left if re.search(pattern, one["objection"])]
        left = [(set_, one) for set_, one in left if not re.search(pattern, one["objection"])]
        print(f"| {group} | {shares(accused)} |")
    print(f"| other | {shares([(set_, one['right']) for set_, one in left])} |")


def main() -> None:
    """Run the command that is named."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    commands = parser.add_subparsers(required=True)
    one = commands.add_parser("ask", help="ask all questions and keep the candidates")
    one.add_argument("--out", type=Path, required=True)
    one.add_argument("--questions", type=Path, default=CACHE / "questions", help="home of benchmarks.questions")
    one.add_argument("--real", type=Path, default=real_documents.FOLDER / "home", help="home of benchmarks.real_text")
    one.set_defaults(run=ask)
    one = commands.add_parser("fit", help="fit the rows on kept candidates")
    one.add_argument("candidates", type=Path)
    one.add_argument("--write", action="store_true", help="write models/weights/certainty.json")
    one.set_defaults(run=fit)
    one = commands.add_parser("rules", help="print what each group of rules proposed and accused")
    one.add_argument("candidates", type=Path)
    one.set_defaults(run=told_rules)
    options = parser.parse_args()
    options.run(options)


if __name__ == "__main__":
    main()
