"""Tables and figures that are studies: redundancy, relevance, the evaluator, the growth of latency."""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping, Sequence
from typing import Any

from benchmarks import machine
from benchmarks.commands import HOME, thresher
from benchmarks.seeds.answers import DATA, run
from benchmarks.seeds.pool import COLLECTION, PASSAGES, pool
from benchmarks.seeds.rows import Lines, Measured, Provenance
from benchmarks.studies.judge_accuracy import RETRIEVER
from benchmarks.studies.relevance import side_means

QUESTIONS = 100
EVALUATED = 200
"""More than there are: every question that no judge was trained on."""

SIZES = "10,25,50,100,250"
"""Documents, up to the 250 of the thesis."""

GROWING = ("rag", "ecrag")
BEFORE = "before"
THOUSAND = 1000
"""A stored score of a judge is in thousandths: 8,000 of them fit into one file."""


def study(kind: str, *options: str, questions: int) -> list[dict[str, Any]]:
    """Measure a study anew; its rows."""
    out = machine.CACHE / "seeds" / kind
    shutil.rmtree(out, ignore_errors=True)
    thresher("eval", "study", kind, *options, "--sample", str(questions), "--out", str(out), home=False)
    return [json.loads(line) for line in (out / "rows.jsonl").read_text(encoding="utf-8").splitlines()]


def routing() -> tuple[str, ...]:
    """The collection that `answers` asks, inside; one question makes and indexes it where it is not there."""
    run("prepared", ("rag",), 1, ())
    return ("--dataset", f"routing:{pool() / 'popqa.jsonl'}", "--home", str(HOME))


def redundancy() -> Measured:
    """What each threshold removes of the candidates of a question, by embeddings."""
    rows = study("redundancy", *routing(), questions=QUESTIONS)
    sweeps = [[one for one in row["sweep"] if one["vectors"] == "embedding"] for row in rows]
    first = [sweep[0] for sweep in sweeps]
    lines = {BEFORE: {"chunks": [one["total"] for one in first], **side(first, "before")}}
    for at, threshold in enumerate(one["threshold"] for one in sweeps[0]):
        found = [sweep[at] for sweep in sweeps]
        lines[str(threshold)] = {"removed": [one["removed"] for one in found], **side(found, "after")}
    settings = f"candidates of `chunkrag` (dedup.vectors=embedding) for questions of {DATA}"
    return Measured("redundancy", Provenance.now(), settings, lines)


def side(found: Sequence[Mapping[str, Any]], when: str) -> dict[str, list[float | None]]:
    """Length and both similarities before or after."""
    names = {"words": "words", "pairwise": "pairwise_similarity", "query": "query_similarity"}
    return {name: [one[key][when] for one in found] for name, key in names.items()}


def relevance() -> Measured:
    """The mean grade of what each side hands on, by two judges."""
    rows = study("relevance", *routing(), questions=QUESTIONS)
    lines: dict[str, dict[str, Sequence[float | None]]] = {}
    for judge in rows[0]["grades"]:
        grades = [row["grades"][judge] for row in rows]
        for name in grades[0]:
            lines.setdefault(name, {})[judge] = side_means(grades, name)
            lines[name]["chunks"] = [len(one[name]) for one in grades]
    settings = f"chunks that are handed on, at most 5, for questions of {DATA}"
    return Measured("relevance", Provenance.now(), settings, lines)


def evaluator() -> Measured:
    """Every judge's score of ten passages a question, and which are of the gold page."""
    folder = pool()
    thresher("index", str(folder / "corpus.jsonl"), "--recipe", RETRIEVER, "--collection", COLLECTION)
    asked = ("--dataset", f"wikipedia:{folder / 'evaluated.jsonl'}", "--collection", COLLECTION, "--home", str(HOME))
    rows = [row for row in study("evaluator", *asked, questions=EVALUATED) if row["passages"]]
    settings = f"PopQA's questions that trained no judge, ten passages each of the {PASSAGES}; scores in thousandths"
    return Measured("evaluator", Provenance.now(), settings, passages(rows))


def passages(rows: Sequence[Mapping[str, Any]]) -> Lines:
    """Split to the passages of its questions, one after the other: gold or not, and each judge's score."""
    lines: dict[str, dict[str, list[float | None]]] = {}
    for row in rows:
        if row["split"] in ("tune", "final"):
            kept = lines.setdefault(row["split"], {"question": [], "gold": []})
            number = len(set(kept["question"]))
            for one in row["passages"]:
                kept["question"].append(number)
                kept["gold"].append(int(one["gold"]))
                for judge, score in one["scores"].items():
                    kept.setdefault(judge, []).append(None if score is None else round(THOUSAND * score))
    return lines


def evaluated(measures: Mapping[str, Sequence[float | None]]) -> list[dict[str, Any]]:
    """The questions of a split again, as the study's tables want them."""
    judges = [name for name in measures if name not in ("question", "gold")]
    rows: dict[float | None, dict[str, Any]] = {}
    for at, question in enumerate(measures["question"]):
        scores = {judge: in_unit(measures[judge][at]) for judge in judges}
        rows.setdefault(question, {"passages": []})["passages"].append(
            {"gold": bool(measures["gold"][at]), "scores": scores}
        )
    return list(rows.values())


def in_unit(thousandths: float | None) -> float | None:
    """The score itself."""
    return None if thousandths is None else thousandths / THOUSAND


def growth() -> Measured:
    """Seconds until a question is retrieved for, by number of documents."""
    asked = ("--dataset", f"wikipedia:{pool() / 'popqa.jsonl'}")
    growing = ("--set", f"sizes={SIZES}", "--set", "rounds=1", "--set", f"compared={','.join(GROWING)}")
    rows = study("growth", *asked, *growing, questions=20)
    lines: dict[str, dict[str, Sequence[float | None]]] = {}
    for row in sorted(rows, key=lambda row: (row["recipe"], row["index"]["documents"])):
        milliseconds = [1000 * seconds for seconds in row["ask"]["retrieved"]]
        lines.setdefault(f"{row['recipe']} {row['index']['documents']}", {})[f"round {row['round']}"] = milliseconds
    settings = "distinct passages of Wikipedia, 20 questions of PopQA, 1 round; milliseconds until it is retrieved"
    return Measured("growth", Provenance.now(), settings, lines)
