"""Which edits does `thresher ci` report? Edits of known effect, made to documents whose answers are known.

    .venv/bin/python -m benchmarks.knowledge_edits                       paragraphs of SQuAD, without a chat model
    .venv/bin/python -m benchmarks.knowledge_edits --set manuals         pages of manuals (after `real_text fetch`)
    .venv/bin/python -m benchmarks.knowledge_edits --scripted            with a scripted chat model
    .venv/bin/python -m benchmarks.knowledge_edits --set three           three files of 300 changed, 200 questions
    .venv/bin/python -m benchmarks.knowledge_edits --facts 20 --rounds 1 --single 2

Each writes its cell of results/knowledge_edits.json. The facts are in `facts`. Each document is a paragraph of SQuAD
below the title of its article, or a page; the paragraphs are those of the facts and the first ones of their articles.
What is expected of a question is the sentence that its answer stands in. A question whose expectation is not met before
the edits counts nowhere.

In a *round* each document gets one edit at most, in turn one of:

    delete      the sentence of the answer goes                                            breaks
    contradict  another value stands in the place of the answer                            breaks
    reword      a clause stands in front of the sentence, by rule: its meaning stays       breaks nothing
    move        the document becomes a section of a document of several articles           breaks nothing
    rename      the file has another name                                                  breaks nothing
    tear out    the sentence alone goes to a new file with the same title                  may break

A sentence that is torn out of its paragraph may lose what `it` or `the problem` refers to; it counts on a line of its
own. `caught` is the share of breaking edits whose question is broken or contradicted, `false alarms` that of those that
break nothing. An edit made alone gives the seconds of a run and the share of the questions that are answered again;
so do three edits at once, of `--set three`.

The scripted model reads without fault: it quotes the sentence of its evidence that shares most words with the one that
is expected, and finds nothing where that shares less than half of them.
"""

from __future__ import annotations

import argparse
import shutil
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from time import perf_counter, process_time
from typing import Any

from benchmarks.knowledge_edits.facts import SETS, Fact, paragraphs, written
from benchmarks.machine import CACHE, keep, kept, tell
from benchmarks.speed import ENOUGH, inside, model, shared
from thresher.answering.chat_model import SYSTEM
from thresher.answering.checked_answer import NOT_FOUND
from thresher.text.sentences import sentence_spans
from thresher_ci.asking import Asker
from thresher_ci.comparison import FAILING, Difference, compared
from thresher_ci.documents import Workplace
from thresher_ci.knowledge import Question
from thresher_ci.outcome import Outcome
from thresher_ci.run import Reader
from thresher_evals.stats import wilson_interval
from thresher_testing.llm_server import Reply, ScriptedServer

FOLDER = CACHE / "knowledge_edits"

KINDS = ("delete", "contradict", "reword", "move", "tear out", "rename")
BREAKING = ("delete", "contradict")
KEEPING = ("reword", "move", "rename")

COLLECTED = "collected.md"
"""The document that paragraphs move to."""

CLAUSE = "According to the records, "


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

    def __init__(self, folder: Path, questions: Sequence[Question], settings: Mapping[str, Any]) -> None:
        shutil.rmtree(folder, ignore_errors=True)
        self.place, self.settings = Workplace(folder), settings
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
            asker = Asker(collection, "corrective", self.settings, self.place.relative, known)
            return {one.question: one for one in asker(self.questions)}, asker.again

    def compared(self, old: Mapping[str, Outcome], new: Mapping[str, Outcome]) -> dict[str, Difference]:
        """What became of each question."""
        with self.place.collection() as collection:
            found = compared(self.questions, old, new, Reader(collection))
            return {one.question.question: one for one in found}


def folder_of(name: str, settings: Mapping[str, Any]) -> Path:
    """The workplace of a set."""
    return FOLDER / f"{name}{'-scripted' if settings else ''}"


def rounds(found: Sequence[Fact], number: int) -> Iterator[list[tuple[Fact, str]]]:
    """The edits of each round: one of a document at most, the kinds in turn, another one in each round."""
    for shift in range(number):
        edits: dict[str, tuple[Fact, str]] = {}
        for at, fact in enumerate(found):
            kind = KINDS[(at + shift) % len(KINDS)]
            if fact.false or kind != "contradict":
                edits.setdefault(fact.file, (fact, kind))
        yield list(edits.values())


def measured(name: str, number: int, most_rounds: int, single: int, settings: Mapping[str, Any]) -> dict[str, Any]:
    """All that is printed of a set of facts."""
    found, documents = SETS[name](number)
    bench = Bench(folder_of(name, settings), [fact.question for fact in found], settings)
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
    alone, contradicted = [], [fact for fact in found if fact.false]
    for at, kind in enumerate(KINDS * single):
        started = perf_counter()
        fact = contradicted[at * 7 % len(contradicted)]
        new, again = bench.asked(edited(documents, fact, kind), known)
        bench.compared(old, new)
        share, seconds = again / len(found), round(perf_counter() - started, 1)
        alone.append({"kind": kind, "answered_again": round(share, 3), "seconds": seconds})
        print(alone[-1], flush=True)
    return {"before": before, "kinds": {kind: dict(counts) for kind, counts in kinds.items()}, "alone": alone}


def three_changed(single: int, settings: Mapping[str, Any]) -> dict[str, Any]:
    """What a run costs after a sentence was deleted, one reworded and one file renamed."""
    found, documents = paragraphs(200, 300)
    bench = Bench(folder_of("three", settings), [fact.question for fact in found], settings)
    begun = perf_counter()
    old, _ = bench.asked(documents, {})
    before = {"documents": len(documents), "questions": len(found), "seconds": round(perf_counter() - begun, 1)}
    print(before, flush=True)
    known = {one.footprint: one for one in old.values() if one.footprint}
    alone, step = [], len(found) // (3 * single)
    for at in range(single):
        after = dict(documents)
        for fact, kind in zip(found[3 * at * step :: step], ("delete", "reword", "rename"), strict=False):
            after = edited(after, fact, kind)
        started, spent = perf_counter(), process_time()
        new, again = bench.asked(after, known)
        kinds = Counter(one.kind for one in bench.compared(old, new).values())
        took = {"seconds": round(perf_counter() - started, 1), "CPU seconds": round(process_time() - spent, 1)}
        alone.append(
            {"kind": "three files", "answered_again": round(again / len(found), 3), **took, "found": dict(kinds)}
        )
        print(alone[-1], flush=True)
    return {"before": before, "kinds": {}, "alone": alone}


def shares(results: Mapping[str, Any]) -> Iterator[str]:
    """The lines that are printed: caught, false alarms, and what a single edit costs."""
    for name, kinds in (("caught", BREAKING), ("false alarms", KEEPING), ("broken of", ("tear out",))):
        of_all = [results["kinds"].get(kind, {}) for kind in kinds]
        number = sum(sum(counts.values()) for counts in of_all)
        failing = sum(counts.get(kind, 0) for counts in of_all for kind in FAILING)
        share = wilson_interval(failing, number)
        if share.value is not None:
            within = f"{share.value:.1%} ({share.low:.1%} to {share.high:.1%})"
            yield f"{name} ({', '.join(kinds)}): {failing} of {number}, {within}"
    for kind in (*KINDS, "three files"):
        of_kind = [one for one in results["alone"] if one["kind"] == kind]
        if of_kind:
            again = sum(one["answered_again"] for one in of_kind) / len(of_kind)
            seconds = sum(one["seconds"] for one in of_kind) / len(of_kind)
            yield f"one {kind}: {again:.0%} of the questions answered again, {seconds:.1f} s"


def unwaited(body: Mapping[str, Any]) -> Reply:
    """What the scripted model of benchmarks/speed replies, at once."""
    return replace(model(body), seconds=0.0)


def faultless(found: Sequence[Fact]) -> Callable[[Mapping[str, Any]], Reply]:
    """A model that quotes what is sought, where its evidence has it."""
    sought = {fact.question.question: fact.sentence for fact in found}

    def reply(body: Mapping[str, Any]) -> Reply:
        system, user = (message["content"] for message in body["messages"])
        wanted = sought.get(user.rpartition("Question: ")[2].strip())
        if wanted is None or not system.startswith(SYSTEM):
            return unwaited(body)
        texts = enumerate(inside("evidence", user), start=1)
        quotes = [(text[slice(*span)], number) for number, text in texts for span in sentence_spans(text)]
        best, number = max(quotes, key=lambda quote: shared(wanted, quote[0]), default=("", 0))
        read = " ".join(best.split()).rstrip(".")
        return Reply(f"{read} [{number}]." if shared(wanted, best) >= ENOUGH else NOT_FOUND)

    return reply


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--set", choices=(*SETS, "three"), default="squad")
    parser.add_argument("--scripted", action="store_true", help="with a scripted chat model")
    parser.add_argument("--facts", type=int, default=79)
    parser.add_argument("--rounds", type=int, default=len(KINDS))
    parser.add_argument("--single", type=int, default=3, help="edits of each kind that are made alone")
    given = parser.parse_args()
    tell()
    with ExitStack() as stack:
        settings: dict[str, Any] = {}
        if given.scripted:
            found, _ = paragraphs(200, 300) if given.set == "three" else SETS[given.set](given.facts)
            url = stack.enter_context(ScriptedServer(faultless(found))).base_url
            settings = {"llm.base_url": url, "llm.model": "scripted", "llm.cache": True}
        if given.set == "three":
            results = three_changed(given.single, settings)
        else:
            results = measured(given.set, given.facts, given.rounds, given.single, settings)
    for line in shares(results):
        print(line)
    cell = f"{given.set}, {'scripted model' if given.scripted else 'no chat model'}"
    before = kept("knowledge_edits").get("cells", {})
    keep("knowledge_edits", {"cells": {**before, cell: {**vars(given), **results}}})


if __name__ == "__main__":
    main()
