"""Which edits does `thresher ci` report? Edits of known effect, made to documents whose answers are known.

    .venv/bin/python -m benchmarks.knowledge_edits                 writes results/knowledge_edits.json
    .venv/bin/python -m benchmarks.knowledge_edits --facts 20 --rounds 1 --single 2

The facts are those of benchmarks/planted_conflicts. Each document is a paragraph of SQuAD below the title of its
article; the paragraphs are those of the facts and the first ones of their articles. What is expected of a question is
the sentence that SQuAD's answer stands in. A question whose expectation is not met before the edits counts nowhere.

In a *round* each document gets one edit at most, in turn one of:

    delete      the sentence of the answer goes                                            breaks
    contradict  another value stands in the place of the answer                            breaks
    reword      a clause stands in front of the sentence, by rule: its meaning stays       breaks nothing
    move        the paragraph becomes a section of a document of several articles        breaks nothing
    tear out    the sentence alone goes to a new file with the same title                  breaks nothing
    rename      the file has another name                                                  breaks nothing

`caught` is the share of breaking edits whose question is broken or contradicted, `false alarms` that of the others.
An edit made alone gives the seconds of a run and the share of the questions that are answered again.
"""

from __future__ import annotations

import argparse
import shutil
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import Any

from benchmarks.machine import CACHE, keep, rows, tell
from benchmarks.planted_conflicts import answers_of, facts, title_of
from thresher.text.sentences import sentence_spans
from thresher_ci.asking import Asker
from thresher_ci.comparison import FAILING, Difference, compared
from thresher_ci.documents import Workplace
from thresher_ci.knowledge import Expected, Question
from thresher_ci.outcome import Outcome
from thresher_ci.run import checks
from thresher_evals.stats import wilson_interval

FOLDER = CACHE / "knowledge_edits"

KINDS = ("delete", "contradict", "reword", "move", "tear out", "rename")
BREAKING = ("delete", "contradict")

BESIDE = 8
"""Paragraphs of an article besides those of its facts."""

COLLECTED = "collected.md"
"""The document that paragraphs move to."""

CLAUSE = "According to the records, "


@dataclass(frozen=True)
class Fact:
    """A sentence of a document, the question that it answers, and another value for its answer."""

    question: Question
    file: str
    title: str
    text: str
    start: int
    end: int
    answer: int
    """Offset of the answer in the text."""
    right: str
    false: str

    @property
    def sentence(self) -> str:
        """That holds the answer."""
        return self.text[self.start : self.end]

    def with_sentence(self, sentence: str) -> str:
        """The paragraph with another sentence in its place."""
        return f"{self.text[: self.start]}{sentence}{self.text[self.end :]}"


def planted(number: int) -> tuple[list[Fact], dict[str, str]]:
    """The first facts, and the documents by the names of their files."""
    known = {row["id"]: row for row in rows("squad/answered.jsonl")}
    found: list[Fact] = []
    documents: dict[str, str] = {}
    for one in facts()[:number]:
        row = known[one.id]
        at, right = row["answers"][0]
        text, file = row["context"], f"{row['title']}-{row['paragraph']}.md"
        start, end = next(span for span in sentence_spans(text) if at < span[1])
        expected = Expected(quote=text[start:end].strip(), source=file)
        question = Question(one.question, expected)
        found.append(Fact(question, file, title_of(row), text, start, end, at, right, one.false))
        assert right in answers_of(row)
        documents[file] = written(title_of(row), text)
    titles = {fact.title for fact in found}
    beside: Counter[str] = Counter()
    for row in known.values():
        file, title = f"{row['title']}-{row['paragraph']}.md", title_of(row)
        if title in titles and file not in documents and beside[title] < BESIDE:
            beside[title] += 1
            documents[file] = written(title, row["context"])
    return found, documents


def written(title: str, text: str) -> str:
    """A document."""
    return f"# {title}\n\n{text.strip()}\n"


def edited(documents: Mapping[str, str], fact: Fact, kind: str) -> dict[str, str]:
    """The documents after an edit."""
    after = dict(documents)
    before, at = fact.sentence, fact.answer - fact.start
    match kind:
        case "delete":
            after[fact.file] = written(fact.title, fact.with_sentence(""))
        case "contradict":
            changed = f"{before[:at]}{fact.false}{before[at + len(fact.right) :]}"
            after[fact.file] = written(fact.title, fact.with_sentence(changed))
        case "reword":
            after[fact.file] = written(fact.title, fact.with_sentence(CLAUSE + before))
        case "move":
            others = after.get(COLLECTED, "# Collected\n")
            after[COLLECTED] = f"{others}\n## {fact.title}\n\n{fact.text.strip()}\n"
            del after[fact.file]
        case "tear out":
            after[fact.file] = written(fact.title, fact.with_sentence(""))
            after[f"annex-{fact.file}"] = written(fact.title, before)
        case "rename":
            after[f"renamed-{fact.file}"] = after.pop(fact.file)
    return after


# --- asked ------------------------------------------------------------------------------------------------------------


class Bench:
    """The documents in a workplace of their own, and the outcomes before any edit."""

    def __init__(self, folder: Path, questions: Sequence[Question]) -> None:
        shutil.rmtree(folder, ignore_errors=True)
        self.place = Workplace(folder)
        self.files = folder / "files"
        self.questions = list(questions)

    def asked(self, documents: Mapping[str, str], known: Mapping[str, Outcome]) -> tuple[dict[str, Outcome], int]:
        """The outcomes by question, and how many were answered again."""
        shutil.rmtree(self.files, ignore_errors=True)
        self.files.mkdir(parents=True)
        for name, text in documents.items():
            (self.files / name).write_text(text, encoding="utf-8")
        self.place.documents.mkdir(parents=True, exist_ok=True)
        self.place.show({name: self.files / name for name in documents})
        with self.place.collection() as collection:
            collection.add(self.place.documents, prune=True)
            asker = Asker(collection, "corrective", {}, self.place.relative, known)
            return {one.question: one for one in asker(self.questions)}, asker.again

    def compared(self, old: Mapping[str, Outcome], new: Mapping[str, Outcome]) -> dict[str, Difference]:
        """What became of each question."""
        with self.place.collection() as collection:
            found = compared(self.questions, old, new, checks(collection))
            return {one.question.question: one for one in found}


def rounds(found: Sequence[Fact], number: int) -> Iterator[list[tuple[Fact, str]]]:
    """The edits of each round: one of a document at most, the kinds in turn, another one in each round."""
    for shift in range(number):
        edits: dict[str, tuple[Fact, str]] = {}
        for at, fact in enumerate(found):
            edits.setdefault(fact.file, (fact, KINDS[(at + shift) % len(KINDS)]))
        yield list(edits.values())


def measured(number: int, most_rounds: int, single: int) -> dict[str, Any]:
    """All that is printed."""
    found, documents = planted(number)
    bench = Bench(FOLDER, [fact.question for fact in found])
    begun = perf_counter()
    old, _ = bench.asked(documents, {})
    before = {"documents": len(documents), "questions": len(found), "seconds": round(perf_counter() - begun, 1)}
    met = {name for name, one in bench.compared({}, old).items() if one.met}
    before["met"] = len(met)
    print(before, flush=True)
    known = {one.footprint: one for one in old.values() if one.footprint}
    kinds: dict[str, Counter[str]] = defaultdict(Counter)
    for edits in rounds(found, most_rounds):
        after = dict(documents)
        for fact, kind in edits:
            after = edited(after, fact, kind)
        new, _ = bench.asked(after, known)
        differences = bench.compared(old, new)
        for fact, kind in edits:
            if fact.question.question in met:
                kinds[kind][differences[fact.question.question].kind] += 1
        print({kind: dict(counts) for kind, counts in kinds.items()}, flush=True)
    alone = []
    for at, kind in enumerate(KINDS * single):
        started = perf_counter()
        fact = found[at * 7 % len(found)]
        new, again = bench.asked(edited(documents, fact, kind), known)
        bench.compared(old, new)
        share, seconds = again / len(found), round(perf_counter() - started, 1)
        alone.append({"kind": kind, "answered_again": round(share, 3), "seconds": seconds})
        print(alone[-1], flush=True)
    return {"before": before, "kinds": {kind: dict(counts) for kind, counts in kinds.items()}, "alone": alone}


def shares(results: Mapping[str, Any]) -> Iterator[str]:
    """The lines that are printed: caught, false alarms, and what a single edit costs."""
    for name, kinds in (("caught", BREAKING), ("false alarms", tuple(kind for kind in KINDS if kind not in BREAKING))):
        of_all = [results["kinds"].get(kind, {}) for kind in kinds]
        number = sum(sum(counts.values()) for counts in of_all)
        failing = sum(counts.get(kind, 0) for counts in of_all for kind in FAILING)
        share = wilson_interval(failing, number)
        if share.value is not None:
            within = f"{share.value:.1%} ({share.low:.1%} to {share.high:.1%})"
            yield f"{name} ({', '.join(kinds)}): {failing} of {number}, {within}"
    for kind in KINDS:
        of_kind = [one for one in results["alone"] if one["kind"] == kind]
        if of_kind:
            again = sum(one["answered_again"] for one in of_kind) / len(of_kind)
            seconds = sum(one["seconds"] for one in of_kind) / len(of_kind)
            yield f"one {kind}: {again:.0%} of the questions answered again, {seconds:.1f} s"


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--facts", type=int, default=79)
    parser.add_argument("--rounds", type=int, default=len(KINDS))
    parser.add_argument("--single", type=int, default=3, help="edits of each kind that are made alone")
    given = parser.parse_args()
    tell()
    results = measured(given.facts, given.rounds, given.single)
    for line in shares(results):
        print(line)
    keep("knowledge_edits", {**vars(given), **results})


if __name__ == "__main__":
    main()
