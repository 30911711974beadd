"""With a chat model that really writes: what each recipe answers rightly, invents and refuses, and what its states are.

    python -m thresher_testing.real_model                                   fetches Qwen2.5-Coder-1.5B, 1.1 GB, once
    python -m benchmarks.real_model --limit 20 --variants rag corrective    some minutes to an hour
    python -m benchmarks.real_model                                         all questions of all variants, for nights
    python -m benchmarks.real_model --show                                  the table of what there is
    python -m benchmarks.real_model --labels                                what a person said of its sentences

Questions to papers and manuals (`benchmarks.real_text`), with an answer and near misses without one, drawn by hash.
Each row is kept as it comes and not asked again; replies are kept by their prompt, so that another version of the
engine asks the model only what it asks anew. Every sentence of the model is written to `sentences.jsonl` with its state
and the words it cites, for a person to label.

*In the evidence*: what is expected stands in what the model was given. *Right*: it is stated. *Said*: without a mark;
the others have a sentence that is marked, or stand in doubt. *In view*: stated in the answer or in a passage beside it.
What is said to a near miss is invented.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import thresher
from benchmarks.machine import CACHE, ROOT, tell
from benchmarks.quality.sets import manuals, papers
from benchmarks.questions.rules import Mark, Question, holds, marked, stated
from thresher.collection import Collection
from thresher.types import ClaimState
from thresher_evals.stats import wilson_interval
from thresher_testing.real_model import RealModel

FOLDER = CACHE / "real_model"
ROWS, SENTENCES = FOLDER / "rows.jsonl", FOLDER / "sentences.jsonl"
LABELLED = ROOT / "benchmarks" / "results" / "real_model_sentences.jsonl"
"""Sentences as answers to their questions, read by a person: `label` is true, false or not stated."""
VARIANTS: Mapping[str, Mapping[str, Any]] = {
    "no-retrieval": {"recipe": "no-retrieval"},
    "rag": {"recipe": "rag"},
    "rag, unchecked": {"recipe": "rag", "settings": {"answer.check": "none"}},
    "hybrid": {"recipe": "hybrid"},
    "crag": {"recipe": "crag"},
    "crag, judge=trained": {"recipe": "crag", "settings": {"judge": "trained"}},
    "ecrag": {"recipe": "ecrag"},
    "chunkrag": {"recipe": "chunkrag"},
    "corrective": {"recipe": "corrective"},
    "corrective, verify=local": {"recipe": "corrective", "settings": {"answer.verify": "local"}},
    "corrective, verify=model": {"recipe": "corrective", "settings": {"answer.verify": "model"}},
    "corrective, strict": {"recipe": "corrective", "settings": {"answer.mode": "strict"}},
    "corrective, max_tokens=1200": {"recipe": "corrective", "max_tokens": 1200},
}
"""What `ask` is given."""

ANSWERABLE, NEAR_MISSES = 60, 40
PORT = 41339
"""The server's in every run: a reply is kept by the address that gave it and the prompt."""


def drawn(limit: int | None) -> list[Question]:
    """Questions with an answer and near misses, three to two and in turn, by hash."""
    every = [*papers().questions, *manuals().questions]
    every.sort(key=lambda one: hashlib.sha256(one.id.encode()).hexdigest())
    answered, others = ([one for one in every if one.answerable is there] for there in (True, False))
    both = [*enumerate(answered[:ANSWERABLE]), *enumerate(others[:NEAR_MISSES])]
    both.sort(key=lambda one: (one[0] + 0.5) / (ANSWERABLE if one[1].answerable else NEAR_MISSES))
    return [one for _, one in both][:limit]


@contextmanager
def chat_model(base_url: str | None) -> Iterator[dict[str, Any]]:
    """Settings of the model: behind a server of our own, or behind one that runs at `base_url`."""
    settings = {"llm.model": "qwen-1.5b", "llm.cache": True, "llm.timeout_seconds": 600}
    if base_url is not None:
        yield {"llm.base_url": base_url, **settings}
        return
    with RealModel("qwen-1.5b", slots=1, threads=len(os.sched_getaffinity(0)), port=PORT) as server:
        yield {"llm.base_url": server.base_url, **settings}


def ask(collection: Collection, question: Question, variant: str, model: Mapping[str, Any]) -> dict[str, Any]:
    """One row: what came, and how it is marked."""
    given = VARIANTS[variant]
    started = time.perf_counter()
    found = collection.ask(question.question, **{**given, "settings": {**model, **given.get("settings", {})}})
    answer = found.to_dict()
    text = answer["text"]
    beside = " ".join([text, *(one["text"] for one in answer["alternatives"])])
    mark = marked(question, text, abstained=answer["abstained"], reason=answer["reason"] or "").mark
    removed = answer.get("removed", [])
    written = [*answer["sentences"], *removed] if answer["answered_by"] == "model" else removed
    quotes = {one["marker"]: one["quote"] for one in answer["citations"]}
    return {
        "variant": variant,
        "model": model["llm.model"],
        "id": question.id,
        "question": question.question,
        "answerable": question.answerable,
        "state": answer["state"],
        "mark": str(mark),
        "in_view": question.answerable and all(stated(beside, question.expected)),
        "in_evidence": holds(question, [piece.text for piece in found.evidence]),
        "text": text,
        "reason": answer["reason"],
        "answered_by": answer["answered_by"],
        "calls": answer["usage"]["llm_calls"],
        "tokens": answer["usage"]["prompt_tokens"] + answer["usage"]["completion_tokens"],
        "seconds": round(time.perf_counter() - started, 1),
        "sentences": [
            {
                "text": one["text"],
                "state": one["state"],
                "support": one["support"],
                "reason": one.get("reason", ""),
                "words": [quotes[marker] for marker in one["citations"] if marker in quotes],
            }
            for one in written
        ],
    }


def run(questions: Sequence[Question], variants: Sequence[str], base_url: str | None) -> None:
    """Ask what was not asked; each row is kept as it comes."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    known = {(row["variant"], row["id"]) for row in rows()}
    wanted = [(one, name) for one in questions for name in variants if (name, one.id) not in known]
    with chat_model(base_url) as model:
        opened: dict[str, Collection] = {}
        for of in (papers(), manuals()):
            for name, sources in of.sources.items():
                opened[name] = thresher.open(str(FOLDER / "home"), name)
                for recipe in dict.fromkeys(VARIANTS[variant]["recipe"] for variant in variants):
                    if recipe != "no-retrieval":
                        opened[name].add(*sources, recipe=recipe)
        for question, name in wanted:
            row = ask(opened[question.collection], question, name, model)
            with ROWS.open("a", encoding="utf-8") as out:
                out.write(json.dumps(row, ensure_ascii=False) + "\n")
            print(f"{name}: {row['mark']}, {row['seconds']:.0f} s: {question.question}", flush=True)


def rows() -> list[dict[str, Any]]:
    """Those that are kept."""
    return [json.loads(line) for line in ROWS.read_text(encoding="utf-8").splitlines()] if ROWS.is_file() else []


def table(every: Sequence[Mapping[str, Any]], variants: Sequence[str]) -> Iterator[str]:
    """What each variant answers: said without a mark, said with one or in doubt, refused."""
    told = ("said", "marked or in doubt")
    heads = [f"{mark}, {how}" for mark in ("right", "wrong") for how in told]
    heads = ["in the evidence", *heads, "refused", "in view"]
    heads += ["near misses", *told, "refused", "calls", "tokens", "seconds"]
    yield f"| variant | with an answer | {' | '.join(heads)} |"
    yield "|---" * (2 + len(heads)) + "|"
    for name in variants:
        mine = [row for row in every if row["variant"] == name]
        of = Counter((row["answerable"], row["mark"] == Mark.RIGHT, fate(row)) for row in mine)
        answered = [of[True, right, how] for right in (True, False) for how in told]
        counts = [*answered, sum(row["answerable"] and fate(row) == "refused" for row in mine)]
        invented = [sum(not row["answerable"] and fate(row) == how for row in mine) for how in (*told, "refused")]
        n, misses = sum(counts), sum(invented)
        there = sum(bool(row["in_evidence"]) for row in mine)
        cells = [name, n, there, interval(counts[0], n), *counts[1:]]
        cells += [sum(row["in_view"] for row in mine), misses, interval(invented[0], misses), *invented[1:]]
        means = (sum(row[key] for row in mine) / max(1, len(mine)) for key in ("calls", "tokens", "seconds"))
        yield f"| {' | '.join(map(str, [*cells, *(f'{mean:.1f}' for mean in means)]))} |"


def fate(row: Mapping[str, Any]) -> str:
    """Whether an answer is said, said with a sentence that is marked or in doubt, or refused."""
    if row["state"] == "refused":
        return "refused"
    shown = VARIANTS[row["variant"]].get("settings", {}).get("answer.check") != "none"
    marks = shown and any(not ClaimState(one["state"]).holds for one in row["sentences"])
    return "marked or in doubt" if row["state"] == "doubtful" or marks else "said"


def labels(sentences: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """The state of each sentence by what a person says of it, for each variant."""
    said, variants = ("true", "false", "not stated"), list(dict.fromkeys(one["variant"] for one in sentences))
    yield f"| state | {' | '.join(f'`{name}`: {label}' for name in variants for label in said)} |"
    yield "|---" * (1 + len(said) * len(variants)) + "|"
    for state in ClaimState:
        of = Counter((one["variant"], one["label"]) for one in sentences if one["state"] == state)
        yield f"| {state} | {' | '.join(str(of[name, label]) for name in variants for label in said)} |"


def interval(count: int, of: int) -> str:
    """A count with the interval of its share."""
    found = wilson_interval(count, of)
    return f"{count} ({found.low:.0%} to {found.high:.0%})" if of else "-"


def main() -> None:
    """Ask and show."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--variants", nargs="+", choices=list(VARIANTS), default=list(VARIANTS), metavar="VARIANT")
    parser.add_argument("--limit", type=int, help="so many questions, three with an answer to two without")
    parser.add_argument("--skip", type=int, default=0, help="leave out so many, on which a change was chosen")
    parser.add_argument("--base-url", help="a server that has the model already, as one built for this processor")
    parser.add_argument("--show", action="store_true", help="ask nothing")
    parser.add_argument("--labels", action="store_true", help="the table of the labelled sentences alone")
    given = parser.parse_args()
    tell()
    if given.labels:
        lines = LABELLED.read_text(encoding="utf-8").splitlines()
        print("\n".join(labels([json.loads(line) for line in lines])))
        return
    questions = drawn(given.limit)[given.skip :]
    if not given.show:
        run(questions, given.variants, given.base_url)
    chosen = {one.id for one in questions}
    every = [row for row in rows() if row["id"] in chosen]
    print("\n".join(table(every, given.variants)))
    told = [{**one, "variant": row["variant"], "id": row["id"]} for row in every for one in row["sentences"]]
    SENTENCES.write_text("".join(json.dumps(one, ensure_ascii=False) + "\n" for one in told), encoding="utf-8")
    for state in dict.fromkeys(one["state"] for one in told):
        print(f"{state}: {sum(one['state'] == state for one in told)} sentences")


if __name__ == "__main__":
    main()
