"""How probable it is that what the answerer proposes is right: fits the rows of models/weights/certainty.json.

    python -m research.answer_certainty ask --out PROPOSALS [--questions HOME] [--real HOME]
    python -m research.answer_certainty fit PROPOSALS [--write]

Questions are asked offline with `corrective`; the trace has every proposal with its signs. The sets: the 150 questions
of benchmarks/questions and the dev part of benchmarks/real_text, marked by their rules; for cells alone, questions of
WikiTableQuestions and TAT-QA, ten tables a collection; SQuAD 2.0 and Natural
Questions, where a passage is right that holds a gold answer, and a span that is one or shares half of its words with
one. Of the public sets the questions of the training and tune fifths are asked.

A row is a logistic regression over the signs that are named in SIGNS, with a penalty of 1 on each weight. All proposals
of a question weigh 1 together, all questions of a set 100. A kind with fewer than 100 proposals has no weights: its
intercept is that of (right + 1) / (n + 2). Printed: n, right, and by tenfold cross-validation over questions the AUROC
and the calibration error.
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
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

import thresher
from benchmarks import table_cells
from benchmarks.machine import CACHE, DATA
from benchmarks.questions import rules
from benchmarks.questions.rules import Mark
from benchmarks.real_text import documents as real_documents
from benchmarks.real_text import questions as real_questions
from thresher.answering.spans import ENOUGH_ROWS, TABLE
from thresher.judging.fitting import auroc, calibration_error, logistic_weights
from thresher_evals.dataset import split_of
from thresher_evals.metrics.answers import exact_match, f1

SEED, FOLDS = 23, 10
SIGNS = {
    "answer": ("relevance", "rank", "uncovered"),
    "passage": ("relevance", "rank", "terms", "uncovered"),
    "span": ("relevance", "place", "terms", "sentence"),
    "cell": (),
}
"""What each row weighs."""
BOUNDS = (0.0, 0.15, 0.2, 0.25, 0.3, 0.4, 0.5, 0.6, 0.7)
"""Certainties from which an answer might be shown, or asserted."""
PENALTY = 1.0
SET_WEIGHT = 100.0
PUBLIC = 200
"""Questions of each public set."""
SHARED = 0.5
"""Word F1 with a gold answer from which a span is right."""
DISTRACTORS = 1_500
"""Passages of Wikipedia beside those that the questions are about."""

TABLES, A_COLLECTION, A_TABLE = 60, 10, 6
"""Tables of each set, tables asked together, and questions to each at most."""

EVERYTHING = {"lower": 0.0, "min_probability": 0.0, "answer": {"min_confidence": 0.0}}
"""Settings with which no passage is held back."""

Right = Callable[[str, str], bool]
"""Whether a text of a kind is right."""
Row = dict[str, Any]


# --- asking -----------------------------------------------------------------------------------------------------------


def rows_of(name: str, collection: thresher.Collection, asked: list[tuple[str, str, Right]]) -> Iterator[Row]:
    """A row for each question of one set: its proposals, their spans, and whether each is right."""
    for id_, question, is_right in asked:
        answer = collection.ask(question, settings=EVERYTHING)
        notes = next(step.value for step in answer.steps if step.name == "generate").notes
        if notes.facts.get("parts"):
            continue  # their proposals are told together
        proposals = []
        for one in notes.facts.get("proposals", ()):
            right = {"right": is_right(one["kind"], one["text"])}
            if one.get("words"):
                right["span_right"] = is_right("span", one["words"])
            proposals.append({**one, **right})
        texts = [answer.text, *(one.text for one in answer.alternatives)]
        shown = not answer.abstained and any(is_right("passage", text) for text in texts)
        yield {"set": name, "id": id_, "question": question, "proposals": proposals, "right": shown}


def by_rule(question: rules.Question) -> Right:
    """The rules of a question set; a passage may hold more than the answer."""

    def is_right(kind: str, text: str) -> bool:
        if kind == "passage":
            return question.answerable and all(rules.stated(text, question.expected))
        return rules.marked(question, text, abstained=False).mark is Mark.RIGHT

    return is_right


def by_gold(answers: list[str]) -> Right:
    """A gold answer, or for a passage a text that holds one."""

    def is_right(kind: str, text: str) -> bool:
        said = re.sub(r"\*\*| \[\d+\]", "", text)
        if kind == "passage":
            return any(re.search(rf"(?<!\w){re.escape(answer)}(?!\w)", said, re.IGNORECASE) for answer in answers)
        return bool(answers) and (exact_match(said, answers) or f1(said, answers) >= SHARED)

    return is_right


def lines(path: Path) -> list[Row]:
    """The rows of a JSON Lines file."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def sets(home: Path, questions: Path, real: Path) -> Iterator[Iterator[Row]]:
    """The rows of every set, one set after another; what is not indexed yet is."""
    draw = random.Random(SEED)
    dev = [one for one in real_questions.load() if one.part == "dev"]
    yield cells()
    with thresher.open(real, "real_text") as collection:
        yield rows_of("real_text", collection, [(one.id, one.question, by_rule(one)) for one in dev])

    squad = [row for row in lines(DATA / "squad" / "answered.jsonl") if split_of(row["title"]) != "final"]
    texts = {row["context"]: row["title"] for row in squad}
    folder = written(home / "squad", {f"p{at}": (title, text) for at, (text, title) in enumerate(texts.items())})
    asked = [
        (str(row["id"]), row["question"], by_gold(list({text for _, text in row["answers"]})))
        for row in draw.sample(squad, PUBLIC)
    ]
    with thresher.open(home, "squad") as collection:
        collection.add(folder)
        yield rows_of("squad", collection, asked)

    corpus = {row["_id"]: (row["title"], row["text"]) for row in lines(DATA / "wikipedia" / "corpus.jsonl")}
    natural = [row for row in lines(DATA / "wikipedia" / "nq.jsonl") if split_of(str(row["id"])) != "final"]
    chosen_nq = draw.sample(natural, min(PUBLIC, len(natural)))
    wanted = {id_ for row in chosen_nq for id_ in row["retrieved_ids"]} | set(draw.sample(sorted(corpus), DISTRACTORS))
    folder = written(home / "nq", {id_: corpus[id_] for id_ in sorted(wanted) if id_ in corpus})
    with thresher.open(home, "nq") as collection:
        collection.add(folder)
        yield rows_of("nq", collection, [(r["id"], r["question"], by_gold(r["answers"])) for r in chosen_nq])

    by_collection: dict[str, list[rules.Question]] = defaultdict(list)
    for one in rules.load():
        by_collection[one.collection].append(one)
    for name, chosen in by_collection.items():
        with thresher.open(questions, name) as collection:
            yield rows_of("questions", collection, [(one.id, one.question, by_rule(one)) for one in chosen])


def cells() -> Iterator[Row]:
    """The cells that are proposed for questions to tables which nobody wrote for Thresher."""
    for name in table_cells.SETS:
        by_table = defaultdict[str, list[Row]](list)
        for row in table_cells.rows_of(name):
            by_table[row["passage"]].append(row)
        chosen = sorted(by_table, key=lambda passage: sha256(passage.encode()).hexdigest())[:TABLES]
        for at in range(0, len(chosen), A_COLLECTION):
            together = chosen[at : at + A_COLLECTION]
            with TemporaryDirectory() as home, thresher.open(home) as collection:
                for number, passage in enumerate(together):
                    collection.add_text(
                        table_cells.as_markdown(passage), source=f"{number}.md", title=f"Table {number}"
                    )
                asked = [
                    (f"{at}-{place}-{number}", row["question"], by_table_row(row))
                    for place, passage in enumerate(together)
                    for number, row in enumerate(by_table[passage][:A_TABLE])
                ]
                for row in rows_of(name, collection, asked):
                    yield {**row, "proposals": [one for one in row["proposals"] if one["kind"] == "cell"]}


def by_table_row(row: Row) -> Right:
    """The answers of a question to a table; nothing is right where it has none."""

    def is_right(_kind: str, text: str) -> bool:
        said = re.sub(r" \[\d+\]", "", text)
        return row["answerable"] and table_cells.is_right(said, row["answers"])

    return is_right


def written(folder: Path, texts: dict[str, tuple[str, str]]) -> Path:
    """The texts as files, each with its title as heading."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, (title, text) in texts.items():
        (folder / f"{re.sub(r'[^A-Za-z0-9]', '-', name)}.md").write_text(f"# {title}\n\n{text}\n", encoding="utf-8")
    return folder


def ask(options: argparse.Namespace) -> None:
    """Write the proposals of all sets."""
    with options.out.open("w", encoding="utf-8") as file:
        for rows in sets(CACHE / "answer_certainty", options.questions, options.real):
            for row in rows:
                file.write(json.dumps(row, ensure_ascii=False) + "\n")
                file.flush()


# --- fitting ----------------------------------------------------------------------------------------------------------


def regression(features: np.ndarray, right: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Weights and intercept of a penalised logistic regression."""
    precision = np.array([*[PENALTY] * features.shape[1], 1e-6])
    return logistic_weights(np.c_[features, np.ones(len(features))], right, precision=precision, share=weights)


def observed(name: str, rows: list[Row]) -> list[tuple[Row, Row, bool]]:
    """Question, signs and whether it is right, of each proposal of a kind; the spans are those of the passages."""
    if name == "answer":
        first = [(row, row["proposals"][0]) for row in rows if row["proposals"]]
        return [(row, one, row["right"]) for row, one in first if one["kind"] == "passage"]
    if name == "span":
        return [(row, one, one["span_right"]) for row in rows for one in row["proposals"] if "span_right" in one]
    return [(row, one, one["right"]) for row in rows for one in row["proposals"] if one["kind"] == name]


def fitted(name: str, rows: list[Row]) -> dict[str, Any] | None:
    """The row of one kind; None for one that was not proposed."""
    found = observed(name, rows)
    if not found:
        return None
    right = np.array([float(is_right) for _, _, is_right in found])
    n, hits, signs = len(found), int(right.sum()), SIGNS[name]
    told: dict[str, Any] = {"n": n, "right": hits, "sets": dict(Counter(row["set"] for row, _, _ in found))}
    if n < ENOUGH_ROWS or not signs:
        return {"intercept": round(float(np.log((hits + 1) / (n - hits + 1))), 3), **told, "weights": {}}
    each = Counter((row["set"], row["id"]) for row, _, _ in found)
    asked = Counter(set_ for set_, _ in each)
    weights = np.array([SET_WEIGHT / asked[row["set"]] / each[row["set"], row["id"]] for row, _, _ in found])
    features = np.array([[one.get(sign, 0.0) for sign in signs] for _, one, _ in found])
    folds = {key: at % FOLDS for at, key in enumerate(random.Random(SEED).sample(sorted(each), len(each)))}
    fold = np.array([folds[row["set"], row["id"]] for row, _, _ in found])
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
            if (chosen := np.array([row["set"] == set_ for row, _, _ in found])).any() and 0 < right[chosen].mean() < 1
        }
    }
    if name == "answer":
        kinds = np.array([row["set"] for row, _, _ in found])
        told["shown"] = {set_: risk(held_out[kinds == set_], right[kinds == set_]) for set_ in asked}
    named = {sign: round(float(weight), 3) for sign, weight in zip(signs, learned[:-1], strict=True)}
    return {"intercept": round(float(learned[-1]), 3), **told, "weights": named}


def risk(probabilities: np.ndarray, right: np.ndarray) -> dict[str, str]:
    """Right ones of those shown from a certainty on: what is shown against what is withheld."""
    chosen = {bound: probabilities >= bound for bound in BOUNDS}
    return {f"{bound:g}": f"{right[shown].sum():.0f} of {shown.sum()}" for bound, shown in chosen.items()}


def fit(options: argparse.Namespace) -> None:
    """Print the rows, and write them."""
    rows = lines(options.proposals)
    before = json.loads(TABLE.read_text(encoding="utf-8"))["rows"]
    table = {name: fitted(name, rows) or before[name] for name in SIGNS}
    for name, row in table.items():
        print(f"{name}: {json.dumps(row)}")
    if options.write:
        git = [shutil.which("git") or "git", "rev-parse", "--short", "HEAD"]
        commit = subprocess.run(git, capture_output=True, text=True, check=True)
        made = {"date": datetime.now(UTC).date().isoformat(), "commit": commit.stdout.strip(), "rows": table}
        TABLE.write_text(json.dumps(made, indent=1) + "\n", encoding="utf-8")


def main() -> None:
    """Run the command that is named."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    commands = parser.add_subparsers(required=True)
    one = commands.add_parser("ask", help="ask all questions and keep the proposals")
    one.add_argument("--out", type=Path, required=True)
    one.add_argument("--questions", type=Path, default=CACHE / "questions", help="home of benchmarks.questions")
    one.add_argument("--real", type=Path, default=real_documents.FOLDER / "home", help="home of benchmarks.real_text")
    one.set_defaults(run=ask)
    one = commands.add_parser("fit", help="fit the rows on kept proposals")
    one.add_argument("proposals", type=Path)
    one.add_argument("--write", action="store_true", help="write models/weights/certainty.json")
    one.set_defaults(run=fit)
    options = parser.parse_args()
    options.run(options)


if __name__ == "__main__":
    main()
