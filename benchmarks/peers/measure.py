"""The command line, the data and the clock that every measured system shares.

A system is two context managers that yield a search function: ``build`` indexes a corpus file and keeps the index on
disk, ``reopen`` opens that index again. ``run`` measures them:

    index    from the corpus file to a first answer, the index written to disk
    query    many questions, one after another, to a reopened index
    cold     from the start of a fresh process to its first answer

Each prints one JSON line. Only the standard library is used, so the same file measures systems of any environment.
"""

import argparse
import json
import math
import os
import resource
import shutil
import statistics
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

MODULE_STARTED_AT = time.time()
# Set before the measured libraries are imported: some read these once, at import.
os.environ.update(
    ANONYMIZED_TELEMETRY="False",
    HAYSTACK_TELEMETRY_ENABLED="False",
    LANGSMITH_TRACING="false",
    HF_HUB_OFFLINE="1",
    TRANSFORMERS_OFFLINE="1",
)

LIMIT = 10  # the depth at which nDCG is read

Search = Callable[[str], Sequence[str]]
"""Question to document identifiers, best first."""


@dataclass(frozen=True, slots=True)
class Place:
    """What a system reads and where it writes."""

    corpus: Path  # JSON lines with _id, title and text
    home: Path  # a folder of the system's own
    weights: Path  # a sentence-transformers model folder
    limit: int  # documents in an answer
    candidates: int  # documents each retriever brings to the fusion


@dataclass(frozen=True, slots=True)
class Document:
    """One row of the corpus; the text is title and abstract, joined as BEIR joins them."""

    identifier: str
    text: str


@dataclass(frozen=True, slots=True)
class Question:
    """One query and the gain of each document that answers it."""

    text: str
    gains: Mapping[str, int]


Opening = Callable[[Place], AbstractContextManager[Search]]


@dataclass(frozen=True, slots=True)
class System:
    """A system under measurement and the packages whose versions describe it."""

    build: Opening
    reopen: Opening
    packages: tuple[str, ...]


def read_documents(corpus: Path) -> list[Document]:
    """All rows of a corpus file, in its order."""
    rows = map(json.loads, corpus.read_text(encoding="utf-8").splitlines())
    return [Document(row["_id"], f"{row['title']} {row['text']}".strip()) for row in rows]


def read_questions(data: Path, identifiers: set[str], limit: int) -> list[Question]:
    """The first ``limit`` queries that some document of the corpus answers."""
    judgements: dict[str, dict[str, int]] = {}
    for line in (data / "qrels.tsv").read_text(encoding="utf-8").splitlines()[1:]:
        query, document, gain = line.split("\t")
        if document in identifiers and int(gain) > 0:
            judgements.setdefault(query, {})[document] = int(gain)
    rows = map(json.loads, (data / "queries.jsonl").read_text(encoding="utf-8").splitlines())
    judged = [Question(row["text"], judgements[row["_id"]]) for row in rows if row["_id"] in judgements]
    return judged[:limit]


def read_first_question(data: Path) -> str:
    """The text of the first query, without reading the rest."""
    with (data / "queries.jsonl").open(encoding="utf-8") as lines:
        return str(json.loads(next(lines))["text"])


def cut_corpus(data: Path, folder: Path, limit: int | None) -> Path:
    """The corpus file, or a copy in ``folder`` of its first ``limit`` rows."""
    whole = data / "corpus.jsonl"
    if limit is None:
        return whole
    rows = whole.read_text(encoding="utf-8").splitlines(keepends=True)[:limit]
    folder.mkdir(parents=True, exist_ok=True)
    part = folder / f"corpus-{limit}.jsonl"
    part.write_text("".join(rows), encoding="utf-8")
    return part


def discounted_gain(gains: Sequence[int]) -> float:
    """Sum of gains, each divided by log2(rank + 1); ranks start at 1 (Järvelin and Kekäläinen 2002)."""
    return sum(gain / math.log2(rank + 1) for rank, gain in enumerate(gains, start=1))


def ndcg(found: Sequence[str], gains: Mapping[str, int], depth: int = LIMIT) -> float:
    """Normalised discounted gain at ``depth``, in 0..1; a document found twice counts once."""
    ideal = discounted_gain(sorted(gains.values(), reverse=True)[:depth])
    return discounted_gain([gains.get(name, 0) for name in list(dict.fromkeys(found))[:depth]]) / ideal


def peak_memory() -> float:
    """Largest resident size this process had, in MiB."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / (1024 if sys.platform == "linux" else 1024**2)


def measure_index(system: System, place: Place, data: Path) -> dict[str, float]:
    """Index the corpus afresh; the clock stops at the first answer."""
    question = read_first_question(data)
    shutil.rmtree(place.home, ignore_errors=True)
    place.home.mkdir(parents=True)
    started = time.perf_counter()
    with system.build(place) as search:
        search(question)
        seconds = time.perf_counter() - started
    count = len(read_documents(place.corpus))
    return {"documents": count, "index_seconds": seconds, "documents_per_second": count / seconds}


def measure_query(system: System, place: Place, questions: Sequence[Question]) -> dict[str, float]:
    """Ask the questions one after another; the first warms up and is not counted."""
    milliseconds, scores, first = [], [], []
    warm_up, *counted = questions
    with system.reopen(place) as search:
        search(warm_up.text)
        for question in counted:
            started = time.perf_counter()
            found = search(question.text)
            milliseconds.append((time.perf_counter() - started) * 1000)
            scores.append(ndcg(found, question.gains))
            first.append(any(question.gains.get(name, 0) > 0 for name in found[:1]))
    percentiles = statistics.quantiles(milliseconds, n=100, method="inclusive")
    return {
        "queries": len(counted),
        "query_p50_milliseconds": percentiles[49],
        "query_p95_milliseconds": percentiles[94],
        "nDCG@10": statistics.fmean(scores),
        "first": statistics.fmean(first),
    }


def measure_cold(system: System, place: Place, data: Path, started_at: float) -> dict[str, float]:
    """Seconds from ``started_at`` (Unix time) to the first answer from a reopened index."""
    question = read_first_question(data)
    with system.reopen(place) as search:
        search(question)
        return {"cold_start_seconds": time.time() - started_at}


def parse_arguments() -> argparse.Namespace:
    """The options that every system's command line has."""
    parser = argparse.ArgumentParser(description="Measure one system; print one JSON line.")
    parser.add_argument("command", choices=("index", "query", "cold"))
    parser.add_argument("--data", type=Path, required=True, help="folder: corpus.jsonl, queries.jsonl, qrels.tsv")
    parser.add_argument("--home", type=Path, required=True, help="folder of the index; `index` empties it first")
    parser.add_argument("--weights", type=Path, required=True, help="sentence-transformers model folder")
    parser.add_argument("--limit-documents", type=int, help="index only the first documents of the corpus")
    parser.add_argument("--limit-queries", type=int, default=300, help="questions to ask (default %(default)s)")
    parser.add_argument("--candidates", type=int, default=LIMIT, help="documents per retriever (default %(default)s)")
    parser.add_argument("--started-at", type=float, default=MODULE_STARTED_AT, help="Unix time this process was asked")
    return parser.parse_args()


def measure(system: System, arguments: argparse.Namespace) -> dict[str, float]:
    """Run the command that was asked for."""
    corpus = cut_corpus(arguments.data, arguments.home.parent, arguments.limit_documents)
    place = Place(corpus, arguments.home, arguments.weights, limit=LIMIT, candidates=arguments.candidates)
    match arguments.command:
        case "index":
            return measure_index(system, place, arguments.data)
        case "query":
            identifiers = {document.identifier for document in read_documents(corpus)}
            questions = read_questions(arguments.data, identifiers, arguments.limit_queries + 1)
            return measure_query(system, place, questions)
        case "cold":
            return measure_cold(system, place, arguments.data, arguments.started_at)
    raise AssertionError(arguments.command)


def run(system: System) -> None:
    """Measure as the command line asks and print one JSON line."""
    result: dict[str, object] = {**measure(system, parse_arguments())}
    result["processor_seconds"] = time.process_time()  # over all threads: tells a slow run from one that waited
    result["peak_memory_mebibytes"] = peak_memory()
    result["versions"] = {package: version(package) for package in system.packages}
    print(json.dumps(result))
