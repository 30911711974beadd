"""How probable it is that what the answerer proposes is right: fits the rows of models/weights/certainty.json.

    python -m research.answer_certainty ask --out PROPOSALS [--questions HOME] [--real HOME]
    python -m research.answer_certainty fit PROPOSALS [--write]

Questions are asked offline with `corrective`; the trace has every proposal with its signs. The sets: the 150 questions
of benchmarks/questions and the dev part of benchmarks/real_text, marked by their rules; for cells alone, questions of
WikiTableQuestions and TAT-QA, ten tables a collection; SQuAD 2.0 and Natural
Questions, where a passage is right that holds a gold answer, and a span that is one or shares half of its words with
one. Of the public sets the questions of the training and tune fifths are asked.

A row is a logistic regression over the signs that are named in SIGNS, with a penalty of 1 on each weight. All sentences
or spans of a question weigh 1 together, all questions of a set 100. The row of answers is fitted on the sentence that
the row of sentences puts first, of each question. A kind with fewer than 100 proposals has no weights: its intercept is
that of (right + 1) / (n + 2). Printed: n, right, and with each set left out in turn the AUROC and the calibration
error; of answers how many are right from some certainties on.
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
from contextlib import contextmanager
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from unittest.mock import patch

import numpy as np

import thresher
from benchmarks import table_cells
from benchmarks.machine import CACHE, DATA
from benchmarks.questions import rules
from benchmarks.questions.rules import Mark
from benchmarks.real_text import documents as real_documents
from benchmarks.real_text import questions as real_questions
from thresher.answering.sentences import Marked, SentenceFinder
from thresher.answering.spans import ENOUGH_ROWS, TABLE
from thresher.judging.fitting import auroc, calibration_error, logistic_weights
from thresher_evals.dataset import split_of
from thresher_evals.metrics.answers import exact_match, f1

SEED = 23
SIGNS = {
    "sentence": ("least", "held", "position", "uncovered"),
    "answer": ("relevance", "held", "uncovered"),
    "span": ("relevance", "place", "terms", "near"),
    "cell": (),
}
"""What each row weighs."""
BOUNDS = (0.0, 0.05, 0.1, 0.15, 0.2, 0.3, 0.4, 0.45, 0.5, 0.55, 0.6)
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
        with recorded() as read:
            answer = collection.ask(question, settings=EVERYTHING)
        notes = next(step.value for step in answer.steps if step.name == "generate").notes
        if notes.facts.get("parts"):
            continue  # their proposals are told together
        sentences = [{**one, "right": is_right("passage", str(one["text"]))} for one in read]
        proposals = []
        for one in notes.facts.get("proposals", ()):
            right = {"right": is_right(one["kind"], one["text"])}
            if one.get("words"):
                right["span_right"] = is_right("span", one["words"])
            proposals.append({**one, **right})
        yield {"set": name, "id": id_, "question": question, "proposals": proposals, "sentences": sentences}


@contextmanager
def recorded() -> Iterator[list[Row]]:
    """Every sentence that is read meanwhile, with its signs."""
    found, read = list[Row](), SentenceFinder.read

    def noted(self: SentenceFinder, question: str, passages: Any, allowed: Any) -> list[list[Marked]]:
        each = read(self, question, passages, allowed)
        for (passage, _), own in zip(passages, each, strict=True):
            at = f"{passage.document_id} {passage.start}"
            found.extend({"passage": at, "text": passage.quote[slice(*one.span)], **one.signs.to_dict()} for one in own)
        return each

    with patch.object(SentenceFinder, "read", noted):
        yield found


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


def observed(name: str, rows: list[Row], order: np.ndarray | None = None) -> list[tuple[Row, Row, bool]]:
    """Question, signs and whether it is right, of each proposal of a kind; the spans are those of the passages.

    An answer is the best sentence of a question, by a row in the order of the signs of sentences.
    """
    if name == "answer" and order is not None:
        best = [(row, max(row["sentences"], key=lambda one: of(one, order))) for row in rows if row["sentences"]]
        return [(row, one, one["right"]) for row, one in best]
    if name == "sentence":
        return [(row, one, one["right"]) for row in rows for one in row["sentences"]]
    if name == "span":
        return [(row, one, one["span_right"]) for row in rows for one in row["proposals"] if "span_right" in one]
    return [(row, one, one["right"]) for row in rows for one in row["proposals"] if one["kind"] == name]


def of(one: Row, order: np.ndarray) -> float:
    """The log odds of a sentence but for the intercept."""
    return float(np.array([one.get(sign, 0.0) for sign in SIGNS["sentence"]]) @ order)


def fitted(name: str, rows: list[Row], order: np.ndarray | None = None) -> dict[str, Any] | None:
    """The row of one kind; None for one that was not proposed."""
    found = observed(name, rows, order)
    if not found:
        return None
    right = np.array([float(is_right) for _, _, is_right in found])
    n, hits, signs = len(found), int(right.sum()), SIGNS[name]
    told: dict[str, Any] = {"n": n, "right": hits, "sets": dict(Counter(row["set"] for row, _, _ in found))}
    if n < ENOUGH_ROWS or not signs:
        return {"intercept": round(float(np.log((hits + 1) / (n - hits + 1))), 3), **told, "weights": {}}
    sets, ids = (np.array([row[key] for row, _, _ in found]) for key in ("set", "id"))
    each, asked = Counter(zip(sets, ids, strict=True)), Counter(set_ for set_, _ in {*zip(sets, ids, strict=True)})
    weights = np.array([SET_WEIGHT / asked[a] / each[a, b] for a, b in zip(sets, ids, strict=True)])
    features = np.array([[one.get(sign, 0.0) for sign in signs] for _, one, _ in found])

    held_out = np.zeros(n)
    for set_ in asked:
        others = sets != set_
        row = regression(features[others], right[others], weights[others])
        held_out[~others] = logits(features[~others], row)
    held_out, row = 1 / (1 + np.exp(-held_out)), regression(features, right, weights)
    told["held_out"] = {
        set_: {
            "auroc": round(auroc(held_out[own], right[own].astype(bool)), 3),
            "ece": round(calibration_error(held_out[own], right[own].astype(bool)), 3),
            **({"marked": risk(held_out[own], right[own])} if name == "answer" else {}),
        }
        for set_ in asked
        if (own := sets == set_).any() and 0 < right[own].mean() < 1
    }
    named = {sign: round(float(weight), 3) for sign, weight in zip(signs, row[:-1], strict=True)}
    return {"intercept": round(float(row[-1]), 3), **told, "weights": named}


def logits(features: np.ndarray, row: np.ndarray) -> np.ndarray:
    """The log odds of each row of features."""
    return np.asarray(features @ row[:-1] + row[-1])


def risk(probabilities: np.ndarray, right: np.ndarray) -> dict[str, str]:
    """Right ones of those shown from a certainty on: what is shown against what is withheld."""
    chosen = {bound: probabilities >= bound for bound in BOUNDS}
    return {f"{bound:g}": f"{right[shown].sum():.0f} of {shown.sum()}" for bound, shown in chosen.items()}


def fit(options: argparse.Namespace) -> None:
    """Print the rows, and write them."""
    rows = lines(options.proposals)
    before = json.loads(TABLE.read_text(encoding="utf-8"))["rows"]
    table = {"sentence": fitted("sentence", rows) or before["sentence"]}
    order = np.array([table["sentence"]["weights"][sign] for sign in SIGNS["sentence"]])
    table |= {name: fitted(name, rows, order) or before[name] for name in SIGNS if name not in table}
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
