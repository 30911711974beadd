"""What a question costs: calls, tokens and seconds, recipe by recipe, with a chat model that takes 500 ms a reply.

    .venv/bin/python -m benchmarks.speed

The model is scripted: it reads each prompt, replies in the form that was asked for, and goes by shared words. So the
number of calls and the size of prompts are those of a real question, the quality of the answers is not. It counts a
word as a token, as the scripted server does; a real tokenizer counts about 1.3. Questions are put to SQuAD paragraphs:
some are answered there, some not. Those of the second table may also look into a collection outside, which is no web
request. The third table is `chunkrag` with exactly 20 chunks left to judge, one chunk a call against 20 a call.
"""

from __future__ import annotations

import json
import os
import re
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import mean
from typing import Any

import numpy as np

import thresher as engine
from benchmarks.commands import HOME
from benchmarks.machine import DATA, keep, tell
from thresher.answer import Answer
from thresher.answering.chat_model import PARAMETRIC_SYSTEM
from thresher.answering.chat_model import SYSTEM as GROUNDED
from thresher.answering.checked_answer import NOT_FOUND
from thresher.collection import Collection
from thresher.correction.search_query import MOST_WORDS
from thresher.models.replies import TOP_GRADE
from thresher.text.terms import STOP_WORDS, index_terms
from thresher.types import Step
from thresher_evals import runner
from thresher_evals.asker import CollectionAsker
from thresher_evals.dataset import Dataset
from thresher_evals.datasets import registry as datasets
from thresher_methods.thresholds import THRESHOLD
from thresher_testing.llm_server import NO_LOGPROBS, Reply, ScriptedServer

# --- what a question costs: the scripted model ------------------------------------------------------------------------

RECIPES = ("no-retrieval", "rag", "hybrid", "crag", "ecrag", "chunkrag", "chunkrag-v1", "corrective")
CORRECTING = ("crag", "ecrag", "corrective")
QUESTIONS, CALL_SECONDS = 20, 0.5
SUMMARIES = {"summary": "extractive"}
"""Indexing asks no model; `ecrag` finds the same index when it is asked with one."""

CHUNKS = 20
VARIANTS = {
    "stat, a call each": {"threshold": "stat", "batch": 1},
    "stat, 20 a call": {"threshold": "stat", "batch": CHUNKS},
    "llm, a call each": {"threshold": "llm", "batch": 1},
    "llm, 20 a call": {"threshold": "llm", "batch": CHUNKS},
}
DEPTHS = range(10, 31)
"""Depths of the lexical list that are tried, with 10 dense candidates, until 20 chunks are left to judge."""

ENOUGH = 0.5
"""Share of the question's words in a sentence from which the scripted model finds its answer there."""


def model(body: Mapping[str, Any]) -> Reply:
    """The reply to any prompt of the engine, after `CALL_SECONDS`."""
    if body.get("logprobs"):
        return NO_LOGPROBS
    system, user = (message["content"] for message in body["messages"])
    if "response_format" in body:
        text = json.dumps(reply_object(body["response_format"]["json_schema"]["schema"]["properties"], system, user))
    elif system.startswith(GROUNDED):
        text = quoted(user)
    elif system.startswith(PARAMETRIC_SYSTEM):
        text = NOT_FOUND
    else:
        raise ValueError(f"a prompt the scripted model does not know: {system[:80]}")
    return Reply(text, seconds=CALL_SECONDS)


def reply_object(fields: Mapping[str, Any], system: str, user: str) -> dict[str, Any]:
    """The JSON that was asked for."""
    if all(name.isdigit() for name in fields):
        return {name: round(TOP_GRADE * score) for name, score in zip(fields, scores(user), strict=True)}
    if "scores" in fields:
        return {"scores": [gap(user)] if system == THRESHOLD.system else scores(user)}
    if "query" in fields:
        return {"query": " ".join(content_words(user.removeprefix("Question: ")))}
    if "words" in fields:
        return {"words": " ".join(content_words(inside("question", user)[0])[:MOST_WORDS])}
    raise ValueError(f"a form the scripted model does not know: {', '.join(fields)}")


def content_words(question: str) -> list[str]:
    """The words of a question that carry its content."""
    return [word for word in re.findall(r"[\w'’.-]*\w", question) if word.lower() not in STOP_WORDS]


def scores(user: str) -> list[float]:
    """For each chunk the share of the query's terms it holds."""
    (query,) = inside("query", user)
    return [round(shared(query, chunk), 2) for chunk in inside("chunk", user)]


def gap(user: str) -> float:
    """The middle of the widest gap between two scores."""
    values = [float(value) for value in user.rpartition("Scores: ")[2].split(", ")]
    above, below = max(pairwise([*values, 0.0]), key=lambda pair: pair[0] - pair[1])
    return round((above + below) / 2, 3)


def quoted(user: str) -> str:
    """The sentence of the evidence that shares most with the question, and its marker."""
    question = user.rpartition("Question: ")[2]
    best, marker, sentence = 0.0, 0, ""
    for number, text in enumerate(inside("evidence", user), start=1):
        for candidate in re.split(r"(?<=[.!?])\s+", text):
            if (share := shared(question, candidate)) > best:
                best, marker, sentence = share, number, candidate
    return f"{sentence.rstrip('.')} [{marker}]." if best >= ENOUGH else NOT_FOUND


def inside(name: str, user: str) -> list[str]:
    """What stands between the marks of a name, in order."""
    return re.findall(rf"<{name}\b[^>]*>\n?(.*?)\n?</{name}>", user, re.DOTALL)


def shared(asked: str, text: str) -> float:
    """Share of the asked terms that a text holds."""
    wanted = set(index_terms(" ".join(content_words(asked)))) or set(index_terms(asked))
    return len(wanted & set(index_terms(text))) / max(1, len(wanted))


# --- what a question costs: measuring ---------------------------------------------------------------------------------


@dataclass(frozen=True)
class Asked:
    """One question's cost."""

    answer: Answer
    seconds: float


def asked(asker: CollectionAsker, server: ScriptedServer, recipe: str, question: str) -> Asked:
    """A question put and timed. Calls that the answer does not count, or that went wrong, end the benchmark."""
    before = len(server.asked())
    started = time.perf_counter()
    answer = asker.ask(question, recipe=recipe)
    seconds = time.perf_counter() - started
    calls = len(server.asked()) - before
    if calls != answer.usage.llm_calls or answer.degraded:
        raise SystemExit(f"{recipe}: {calls} calls, counted {answer.usage.llm_calls}; degraded {answer.degraded}")
    return Asked(answer, seconds)


def summary(rows: Sequence[Asked]) -> dict[str, Any]:
    """What the questions cost."""
    usages = [row.answer.usage for row in rows]
    calls = [usage.llm_calls for usage in usages]
    seconds = [row.seconds for row in rows]
    return {
        "n": len(rows),
        "answered": sum(not row.answer.abstained for row in rows),
        "calls": {"mean": mean(calls), "least": min(calls), "most": max(calls)},
        "prompt_tokens": mean(usage.prompt_tokens for usage in usages),
        "completion_tokens": mean(usage.completion_tokens for usage in usages),
        "web_requests": mean(usage.web_requests for usage in usages),
        "seconds": {
            "median": float(np.median(seconds)),
            "p95": float(np.quantile(seconds, 0.95)),
            "most": max(seconds),
        },
    }


def show(name: str, cost: Mapping[str, Any]) -> None:
    """One line of a table."""
    calls, seconds = cost["calls"], cost["seconds"]
    spread = f"{calls['mean']:.1f} ({calls['least']}-{calls['most']})"
    answered = f"{cost['answered']}/{cost['n']}"
    print(
        f"{name:<18} {spread:>14} {cost['prompt_tokens']:>8.0f} {cost['completion_tokens']:>8.1f} "
        f"{cost['web_requests']:>4.0f} {seconds['median']:>8.2f} {seconds['p95']:>6.2f} {answered:>8}",
        flush=True,
    )


def head(title: str) -> None:
    """The head of a table."""
    print(
        f"\n{title}\n{'':<18} {'calls':>14} {'prompt':>8} {'reply':>8} {'web':>4} {'median s':>8} {'p95':>6} answered"
    )


def costs_of(
    dataset: Dataset, server: ScriptedServer, recipes: Sequence[str], *, looking_outside: bool
) -> dict[str, dict[str, Any]]:
    """What each recipe costs on a dataset's questions."""
    name = runner.collection_of(dataset)
    outside = runner.outside_of(dataset, name) if looking_outside else "none"
    for corpus, owner in runner.files(dataset, HOME, name, outside=outside):
        with engine.open(HOME, owner) as collection:
            collection.add(corpus, recipe=[one for one in recipes if one != "no-retrieval"], settings=SUMMARIES)
    found = {}
    with engine.open(HOME, name) as collection:
        asker = CollectionAsker(collection, {**settings(server), **SUMMARIES}, outside=outside)
        for recipe in recipes:
            asker.warm_up(recipe)
            rows = [asked(asker, server, recipe, question.question) for question in dataset.questions]
            found[recipe] = summary(rows)
            show(recipe, found[recipe])
    return found


def settings(server: ScriptedServer) -> dict[str, Any]:
    """The scripted model, and no cross-encoder on purpose."""
    return {"llm.base_url": server.base_url, "llm.model": "scripted", "rerank": "none"}


def twenty_chunks(dataset: Dataset, server: ScriptedServer) -> dict[str, dict[str, Any]]:
    """`chunkrag` on the answerable questions that leave exactly 20 chunks to judge at some depth."""
    rows: dict[str, list[Asked]] = {variant: [] for variant in VARIANTS}
    with engine.open(HOME, runner.collection_of(dataset)) as collection:
        for question in dataset.questions:
            depth = depth_for(collection, question.question, server) if question.answerable else None
            if depth is None:
                continue
            for variant, chosen in VARIANTS.items():
                given = {**settings(server), "lexical.depth": depth, **chosen}
                row = asked(CollectionAsker(collection, given), server, "chunkrag", question.question)
                if judged(row.answer) != CHUNKS:
                    raise SystemExit(f"{judged(row.answer)} chunks were judged where {CHUNKS} were retrieved")
                rows[variant].append(row)
    found = {variant: summary(measured) for variant, measured in rows.items()}
    for variant, cost in found.items():
        show(variant, cost)
    return found


def depth_for(collection: Collection, question: str, server: ScriptedServer) -> int | None:
    """Depth of the lexical list that leaves 20 chunks after redundancy; None where none does."""
    for depth in DEPTHS:
        steps = collection.run(question, recipe="chunkrag", settings={**settings(server), "lexical.depth": depth})
        left = next(step.kept for step in steps if isinstance(step, Step) and step.name == "retrieve")
        if left >= CHUNKS:
            return depth if left == CHUNKS else None
    return None


def judged(answer: Answer) -> int:
    """Chunks that were judged."""
    return next(step.considered for step in answer.steps if step.name == "judge")


def costs() -> None:
    """The three tables."""
    loads = [os.getloadavg()[0]]
    squad = DATA / "squad" / "answered.jsonl"
    with ScriptedServer(model) as server:
        inside_questions = datasets.load(f"refusal:{squad}", sample=QUESTIONS)
        head(f"{QUESTIONS} questions, {dict(inside_questions.categories)}; {CALL_SECONDS:g} s a call")
        recipes = costs_of(inside_questions, server, RECIPES, looking_outside=False)
        outside_questions = datasets.load(f"routing:{squad}", sample=QUESTIONS)
        head(f"{QUESTIONS} questions, {dict(outside_questions.categories)}; with another collection outside")
        corrected = costs_of(outside_questions, server, CORRECTING, looking_outside=True)
        head(f"chunkrag, {CHUNKS} chunks judged, by threshold and chunks in a call")
        chunkrag = twenty_chunks(inside_questions, server)
    loads.append(os.getloadavg()[0])
    busy = max(loads) > (os.cpu_count() or 1)
    state = "busy, seconds are too long" if busy else "quiet"
    print(f"\nload average {loads[0]:.1f} before, {loads[1]:.1f} after: {state}")
    keep(
        "costs",
        {
            "seconds_per_call": CALL_SECONDS,
            "load": loads,
            "busy": busy,
            "questions": dict(inside_questions.categories),
            "recipes": recipes,
            "questions_outside": dict(outside_questions.categories),
            "recipes_with_outside": corrected,
            "chunkrag_20_chunks": chunkrag,
        },
    )


if __name__ == "__main__":
    tell()
    costs()
