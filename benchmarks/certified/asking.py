"""The questions of each set, asked once: how certain each answer is, and whether what is marked in it is right.

Right is marked by rule; the gold answers stand in for the person. SQuAD, PopQA and Natural Questions: a gold answer
stands in the sentence in bold, or the cell. Rows stored before 29 November 2026 counted any passage shown. Papers and
manuals: the rules of benchmarks/questions and benchmarks/speakers, where what is marked as unsupported does not count.
A question that has a row is not asked again, so that a run that ended early goes on.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import thresher
from benchmarks.knowledge_edits.facts import written
from benchmarks.machine import BENCHMARKS, CACHE, rows
from benchmarks.planted_conflicts import title_of
from benchmarks.quality.rows import marked_in
from benchmarks.questions import rules
from benchmarks.questions.rules import stated, states
from benchmarks.speakers import questions as speakers
from benchmarks.speakers import sources
from benchmarks.speakers.doubles import Double
from benchmarks.speakers.measuring import unmarked
from thresher import Answer
from thresher.recipes.certify import asserted
from thresher_testing.llm_server import ScriptedServer
from thresher_testing.real_model import RealModel

ROWS = BENCHMARKS / "results" / "certified_rows.jsonl"
FOLDER = CACHE / "certified"
SEED = 23
ASKED = 300
"""Questions of SQuAD, of PopQA and of Natural Questions."""
BESIDE = 500
"""Passages of Wikipedia besides those that the questions are about."""


@dataclass(frozen=True, slots=True)
class Row:
    """What came of one question."""

    set: str
    id: str
    certainty: float | None
    """Of what is shown; None for a refusal, and where a model's answer is in doubt at any threshold."""
    right: bool


@dataclass(frozen=True, slots=True)
class Asked:
    """A question of a set."""

    id: str
    question: str
    home: Path
    collection: str
    is_right: Callable[[str], bool]
    """Whether a text that is shown answers it."""


def read() -> list[Row]:
    """The stored rows."""
    lines = ROWS.read_text(encoding="utf-8").splitlines() if ROWS.exists() else []
    return [Row(**json.loads(line)) for line in lines]


def forget(name: str) -> None:
    """Drop the rows of a set."""
    kept = [json.dumps(asdict(row)) + "\n" for row in read() if row.set != name]
    ROWS.write_text("".join(kept), encoding="utf-8")


def ask(name: str) -> None:
    """Ask the questions of a set that have no row."""
    known = {row.id for row in read() if row.set == name}
    with MODELS.get(name, silent)() as settings, ROWS.open("a", encoding="utf-8") as file:
        for one in SETS[name]():
            if one.id not in known:
                with thresher.open(one.home, one.collection) as collection:
                    row = row_of(name, one, collection.ask(one.question, settings=settings))
                file.write(json.dumps(asdict(row)) + "\n")
                file.flush()


def row_of(name: str, one: Asked, answer: Answer) -> Row:
    """What is kept of an answer."""
    certainty = asserted(answer)
    right = not answer.abstained and one.is_right(marked_in(unmarked(answer.to_dict())))
    return Row(name, one.id, None if certainty is None else round(certainty, 4), right)


# --- the sets ---------------------------------------------------------------------------------------------------------


def squad() -> Iterator[Asked]:
    """Questions of SQuAD 2.0 to the paragraphs of its six articles."""
    found = rows("squad/answered.jsonl")
    texts = {f"{row['title']}-{row['paragraph']}": written(title_of(row), row["context"]) for row in found}
    indexed("squad", texts)
    for row in drawn(found):
        yield Asked(row["id"], row["question"], FOLDER, "squad", holding(text for _, text in row["answers"]))


def popqa() -> Iterator[Asked]:
    """Questions of PopQA to Wikipedia."""
    return wikipedia(drawn(rows("wikipedia/popqa.jsonl")))


def natural_questions() -> Iterator[Asked]:
    """Questions of people to a search engine, to Wikipedia."""
    return wikipedia(drawn(rows("wikipedia/nq.jsonl")))


def wikipedia(found: Sequence[Mapping[str, Any]]) -> Iterator[Asked]:
    """Questions to the passages that those of PopQA and Natural Questions are about, and others."""
    corpus = {row["_id"]: row for row in rows("wikipedia/corpus.jsonl")}
    wanted = {one for row in drawn(rows("wikipedia/popqa.jsonl")) for one in row["gold_ids"]}
    wanted |= {one for row in drawn(rows("wikipedia/nq.jsonl")) for one in row["retrieved_ids"]}
    wanted |= set(random.Random(SEED).sample(sorted(corpus), BESIDE))
    indexed("wikipedia", {one: written(corpus[one]["title"], corpus[one]["text"]) for one in wanted & corpus.keys()})
    for row in found:
        yield Asked(str(row["id"]), row["question"], FOLDER, "wikipedia", holding(row["answers"]))


def papers_and_manuals() -> Iterator[Asked]:
    """Those of benchmarks/speakers and benchmarks/questions; those of the gate are stored there."""
    yield from (one for one in who_speaks() if one.collection != "office")
    for one in rules.load():
        if one.collection == "papers":
            yield Asked(one.id, one.question, CACHE / "questions", "papers", stating(one))


def who_speaks() -> Iterator[Asked]:
    """Those of benchmarks/speakers: to papers, office files and a manual, 22 of them near misses."""
    sources.index(["papers", "office", "manual"], ["corrective"])
    for one in speakers.load():
        yield Asked(one.id, one.question, sources.HOME, one.collection, one.answered_by)


def drawn(found: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The questions that are asked; more of them begin with these."""
    return random.Random(SEED).sample(found, len(found))[:ASKED]


def holding(answers: Iterator[str] | Sequence[str]) -> Callable[[str], bool]:
    """Whether a text holds one of the gold answers."""
    golds = list(dict.fromkeys(answers))
    return lambda text: any(states(text, gold) for gold in golds)


def stating(question: rules.Question) -> Callable[[str], bool]:
    """Whether a text states all that is expected."""
    return lambda text: question.answerable and all(stated(text, question.expected))


def indexed(collection: str, texts: Mapping[str, str]) -> None:
    """Index documents that are not there yet."""
    folder = FOLDER / "files" / collection
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in texts.items():
        (folder / f"{name}.md").write_text(text, encoding="utf-8")
    with thresher.open(FOLDER, collection) as opened:
        opened.add(folder)


# --- who answers ------------------------------------------------------------------------------------------------------


@contextmanager
def silent() -> Iterator[dict[str, Any]]:
    """Settings without a chat model."""
    yield {}


@contextmanager
def smollm2() -> Iterator[dict[str, Any]]:
    """Settings of a real chat model."""
    with RealModel(slots=1) as server:
        yield {"llm.base_url": server.base_url, "llm.model": server.model}


@contextmanager
def scripted() -> Iterator[dict[str, Any]]:
    """Settings of a scripted model, which quotes the sentence that shares most words with the question."""
    with ScriptedServer(Double("nearest", speakers.load())) as server:
        yield {"llm.base_url": server.base_url, "llm.model": "scripted"}


SETS: dict[str, Callable[[], Iterator[Asked]]] = {
    "SQuAD": squad,
    "PopQA": popqa,
    "Natural Questions": natural_questions,
    "papers and manuals": papers_and_manuals,
    "who speaks, no chat model": who_speaks,
    "who speaks, SmolLM2": who_speaks,
    "who speaks, scripted model": who_speaks,
}
MODELS = {"who speaks, SmolLM2": smollm2, "who speaks, scripted model": scripted}
