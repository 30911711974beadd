"""What more documents cost: latency, memory, processor time and size of the index, flat beside hierarchical.

ECRAG, section 6.3 and Figure 11: latency "scales approximately as O(n log n)", where a flat index is searched in linear
time (X16 in docs/methods.md). Documents are distinct, never copies. Every measurement is a fresh collection in a
temporary folder and two processes, one that indexes and one that asks; rounds over all sizes and recipes follow each
other, in an order that is drawn anew, so that what the machine does meanwhile falls on all of them.
"""

from __future__ import annotations

import hashlib
import json
import math
import random
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from pydantic import Field

from benchmarks.studies.study import (
    Cells,
    Findings,
    Materials,
    Row,
    Study,
    Table,
    split_names,
    split_numbers,
    spread,
)
from thresher import recipes
from thresher.errors import ModelError, UsageError
from thresher.settings import Frozen, known_to
from thresher_evals.asker import parse_variant
from thresher_evals.datasets.records import records
from thresher_evals.rows import fingerprint
from thresher_evals.stats import quantile_interval

CURVES: Mapping[str, Callable[[float], float]] = {
    "a": lambda n: 0.0,
    "a + b log n": math.log,
    "a + b n": float,
    "a + b n log n": lambda n: n * math.log(n),
}

ALIKE = 2.0
"""AIC difference below which two curves are not told apart."""

EXACT = 1e-12
"""Of the sum of squares around nothing: what rounding leaves of a perfect fit, whose logarithm means nothing."""


@dataclass(frozen=True, slots=True)
class Fit:
    """One curve: a + b f(n)."""

    curve: str
    a: float
    b: float
    r_squared: float | None
    """Share of the variance it explains; None where there is none."""
    aic: float
    delta: float
    """AIC above the best curve's."""


def fits(numbers: Sequence[float], values: Sequence[float]) -> list[Fit]:
    """Every curve fitted to the points, the best first; nothing for fewer than two different numbers.

    Repeated measurements at one number are points of their own: their spread is the noise that curves are held against.
    """
    if len(set(numbers)) < 2:
        return []
    y = np.asarray(values, dtype=np.float64)
    around_mean = float(((y - y.mean()) ** 2).sum())
    least = EXACT * max(float((y**2).sum()), 1e-300)
    made = []
    for curve, shape in CURVES.items():
        constant = curve == "a"
        x = np.array([shape(number) for number in numbers])
        table = np.ones((len(y), 1)) if constant else np.column_stack([np.ones(len(y)), x])
        found = np.linalg.lstsq(table, y, rcond=None)[0]
        rest = float(((y - table @ found) ** 2).sum())
        aic = len(y) * math.log(max(rest, least) / len(y)) + 2 * (len(found) + 1)
        explained = None if around_mean <= least else max(0.0, 1 - rest / around_mean)
        made.append((aic, curve, float(found[0]), 0.0 if constant else float(found[1]), explained))
    best = min(aic for aic, *_ in made)
    ordered = sorted(made, key=lambda one: one[0])
    return [Fit(curve, a, b, explained, aic, aic - best) for aic, curve, a, b, explained in ordered]


def verdict(made: Sequence[Fit]) -> str:
    """Which curve wins, and which others the noise allows, in words."""
    if not made:
        return "too few sizes to fit anything"
    best, *others = made
    allowed = [one.curve for one in others if one.delta < ALIKE]
    falling = ", falling" if best.b < 0 else ""
    if not allowed:
        nearest = f"; the next is {others[0].delta:.1f} behind" if others else ""
        return f"{best.curve}{falling}{nearest}"
    return f"{best.curve}{falling}, not told apart from {', '.join(allowed)} (AIC within {ALIKE:g})"


# --- what more documents cost: latency, memory, processor time and size of the index, flat beside hierarchica----------


FEWEST_SIZES = 5
"""Below it four curves of up to two parameters can hardly be told apart, whatever a criterion says."""

PUBLISHED = (("RAG", 2.03), ("CRAG", 2.41), ("ECRAG", 2.25))
"""ECRAG, section 6.2: seconds a query at 250 PDFs, the answer's generation included."""

PUBLISHED_DOCUMENTS = 250

WORKER = "benchmarks.studies.growth_worker"


class Settings(Frozen):
    """Settings of the study."""

    documents: str = Field("", description="corpus.jsonl (_id, title, text) or a folder of files; the dataset's own")
    sizes: str = Field(
        "10,25,50,100,250,500,1000,2500,5000,10000",
        description="numbers of documents; those above what there is become what there is",
    )
    rounds: int = Field(3, ge=1, description="times that each size is measured")
    compared: str = Field(
        "rag,rag[chunk.size=300,chunk.overlap=50],ecrag",
        description="recipes: plain dense over chunks, the same over pieces of ecrag's size, and ecrag's hierarchy",
    )


def recipes_of(settings: Settings) -> Sequence[str]:
    """The recipes that are compared."""
    return split_names(settings.compared)


# --- documents --------------------------------------------------------------------------------------------------------


def documents_path(materials: Materials) -> Path:
    """Where the documents are."""
    settings: Settings = materials.settings
    path = Path(settings.documents).expanduser() if settings.documents else materials.dataset.corpus
    if path is None or not path.exists():
        raise UsageError(
            "no such file or folder" if path else "the questions come without documents",
            subject=f"documents {path or ''}".strip(),
            next_step="give a corpus.jsonl or a folder with --set documents=PATH",
        )
    return path


def distinct(path: Path, seed: int) -> list[dict[str, str]]:
    """Every different document once, in an order of the seed: the documents of a small size are among a larger one's.

    A line of a corpus is {"_id", "title", "text"}; a file of a folder is {"path"}. Documents are different when their
    texts are (in a folder: their bytes).
    """
    found: dict[str, dict[str, str]] = {}
    if path.is_dir():
        for file in sorted(one for one in path.rglob("*") if one.is_file() and not one.name.startswith(".")):
            found.setdefault(hashlib.sha256(file.read_bytes()).hexdigest(), {"path": str(file.resolve())})
    else:
        for record in records(path):
            title, text = (str(record.fields.get(name) or "") for name in ("title", "text"))
            if text.strip():
                line = {"_id": record.identity("_id"), "title": title, "text": text}
                found.setdefault(hashlib.sha256(text.encode("utf-8", "replace")).hexdigest(), line)
    if not found:
        raise UsageError("holds no documents", subject=str(path), next_step="give another --set documents=PATH")
    return [found[key] for key in sorted(found, key=lambda key: hashlib.sha256(f"{seed}:{key}".encode()).hexdigest())]


def sizes_of(settings: Settings, available: int) -> list[int]:
    """The sizes that can be made of so many documents; the largest is all of them where more were asked for."""
    return sorted({min(size, available) for size in split_numbers(settings.sizes, subject="setting sizes")})


def data_of(materials: Materials) -> Mapping[str, Any]:
    """The documents, by their hash and number."""
    found = distinct(documents_path(materials), materials.seed)
    return {"documents": fingerprint(found), "distinct documents": len(found)}


def number_of(materials: Materials) -> int:
    """A row for each round of each size and recipe."""
    settings: Settings = materials.settings
    available = len(distinct(documents_path(materials), materials.seed))
    return len(sizes_of(settings, available)) * len(recipes_of(settings)) * settings.rounds


# --- measuring --------------------------------------------------------------------------------------------------------


def measure(materials: Materials, done: Set[str]) -> Iterator[Row]:
    """A row for each round of each size and recipe."""
    settings: Settings = materials.settings
    found = distinct(documents_path(materials), materials.seed)
    for number in range(1, settings.rounds + 1):
        order = [(recipe, size) for size in sizes_of(settings, len(found)) for recipe in recipes_of(settings)]
        random.Random(f"{materials.seed}:{number}").shuffle(order)
        for recipe, size in order:
            id_ = f"{recipe}|{size}|{number}"
            if id_ not in done:
                measured = measure_one(materials, recipe, found[:size])
                yield {"id": id_, "recipe": recipe, "size": size, "round": number, **measured}


def measure_one(materials: Materials, recipe: str, documents: Sequence[Mapping[str, str]]) -> dict[str, Any]:
    """Index the documents in one process and ask in another."""
    variant = parse_variant(recipe)
    settings = {**known_to(recipes.get(variant.recipe).settings, materials.given), **variant.settings}
    with TemporaryDirectory(prefix="thresher-study-") as folder:
        common = {"home": folder, "recipe": variant.recipe, "settings": settings}
        indexed = in_process(Path(folder), {**common, "documents": given(Path(folder), documents)})
        asked = in_process(
            Path(folder), {**common, "questions": [question.question for question in materials.dataset.questions]}
        )
    return {"index": indexed, "ask": asked}


def given(folder: Path, documents: Sequence[Mapping[str, str]]) -> list[str]:
    """The paths to index: the files, or a corpus of the lines."""
    if "path" in documents[0]:
        return [document["path"] for document in documents]
    corpus = folder / "corpus.jsonl"
    corpus.write_text("".join(json.dumps(document) + "\n" for document in documents), encoding="utf-8")
    return [str(corpus)]


def in_process(folder: Path, job: Mapping[str, Any]) -> dict[str, Any]:
    """What `benchmarks.studies.growth_worker` makes of a job."""
    job_file, result_file = folder / "job.json", folder / "result.json"
    job_file.write_text(json.dumps(job), encoding="utf-8")
    ended = subprocess.run(
        [sys.executable, "-m", WORKER, str(job_file), str(result_file)], capture_output=True, check=False, text=True
    )
    if ended.returncode:
        last = (ended.stderr.strip().splitlines() or ["no message"])[-1]
        raise ModelError(f"the measuring process ended with {ended.returncode}: {last}", subject=str(job["recipe"]))
    result: dict[str, Any] = json.loads(result_file.read_text(encoding="utf-8"))
    if "error" in result:
        raise UsageError(result["error"], subject=f"measuring {job['recipe']}")
    return result


# --- what the rows say ------------------------------------------------------------------------------------------------


def tell(rows: Sequence[Row], settings: Settings, seed: int) -> Findings:
    """Costs by size, the curves, and Figure 11."""
    by_recipe = {recipe: [row for row in rows if row["recipe"] == recipe] for recipe in recipes_of(settings)}
    by_recipe = {recipe: measured for recipe, measured in by_recipe.items() if measured}
    sizes = sorted({row["index"]["documents"] for row in rows})
    questions = max(len(row["ask"]["retrieved"]) for row in rows)
    rounds = max(row["round"] for row in rows)
    curves = {
        recipe: fits([row["index"]["documents"] for row in measured], [milliseconds(row) for row in measured])
        for recipe, measured in by_recipe.items()
    }
    text = [
        f"Each size is a fresh collection of distinct documents ({', '.join(map(str, sizes))}), measured in "
        f"{rounds} interleaved rounds with n = {questions} questions each. Latency is from the question to what was "
        "retrieved, models loaded, nothing generated: reading an answer does not depend on the number of documents.",
        "The source says that latency grows as O(n log n) and that this keeps the system responsive; a flat index is "
        "searched in linear time, so n log n would be the worse of the two. What the curves say here: "
        + " ".join(f"{recipe}: {verdict(made)}." for recipe, made in curves.items()),
    ]
    if len(sizes) < FEWEST_SIZES:
        text.append(f"{len(sizes)} sizes are too few to tell curves apart; {FEWEST_SIZES} are the least.")
    grouped = [(recipe, *group) for recipe, measured in by_recipe.items() for group in at_size(measured).items()]
    points = max(map(len, by_recipe.values()))
    drawn = {"x": "documents", "by": "recipe", "log": True}
    return Findings(
        text,
        (
            Table(
                "latency",
                f"Latency, n = {questions}",
                [latency(*group) for group in grouped],
                f"n = {questions} questions a round. Intervals are 95 % (bootstrap, exact) over questions and rounds "
                "together; the p50 by round is from the fastest round to the slowest, and says what the machine adds.",
                {**drawn, "y": "p50 ms", "low": "p50 ms low", "high": "p50 ms high"},
            ),
            Table(
                "costs",
                "What it costs",
                [costs(*group) for group in grouped],
                "Median of the rounds with the smallest and the largest. Memory includes the loaded models.",
                {**drawn, "y": "index MiB", "low": "index MiB low", "high": "index MiB high"},
            ),
            Table(
                "curves",
                "How latency grows",
                [curve_cells(recipe, one) for recipe, made in curves.items() for one in made],
                f"Least squares over at most {points} round medians a recipe. Curves within {ALIKE:g} of the best are "
                "not told apart (Burnham and Anderson 2002).",
            ),
            Table(
                "published",
                f"As published: ECRAG, {PUBLISHED_DOCUMENTS} PDFs",
                [{"method": method, "seconds a query": seconds} for method, seconds in PUBLISHED],
                "With generation, on other hardware: for the size of the differences only. n and spread are not given.",
            ),
        ),
    )


def at_size(measured: Sequence[Row]) -> dict[int, list[Row]]:
    """Number of documents to its rounds."""
    found: dict[int, list[Row]] = {}
    for row in sorted(measured, key=lambda row: row["index"]["documents"]):
        found.setdefault(row["index"]["documents"], []).append(row)
    return found


def milliseconds(row: Row) -> float:
    """The median latency of a round."""
    return float(1000 * median(row["ask"]["retrieved"]))


def latency(recipe: str, documents: int, rounds: Sequence[Row]) -> Cells:
    """p50 and p95 with intervals, and how far the rounds lie apart."""
    times, judged = ([1000 * one for row in rounds for one in row["ask"][step]] for step in ("retrieved", "judged"))
    medians = [milliseconds(row) for row in rounds]
    return {
        "recipe": recipe,
        "documents": documents,
        **spread("p50 ms", quantile_interval(times, 0.5)),
        **spread("p95 ms", quantile_interval(times, 0.95)),
        "p50 of the fastest round, ms": min(medians),
        "p50 of the slowest round, ms": max(medians),
        **spread("p50 with judging, ms", quantile_interval(judged, 0.5)),
        "rounds": len(rounds),
    }


def costs(recipe: str, documents: int, rounds: Sequence[Row]) -> Cells:
    """Memory, processor time, disk and indexing time."""
    index, ask = ([row[part] for row in rounds] for part in ("index", "ask"))
    return {
        "recipe": recipe,
        "documents": documents,
        "chunks": rounds[0]["index"]["chunks"],
        **of_rounds("peak MiB asking", [one["memory_mib"] for one in ask]),
        **of_rounds("processor ms a question", [1000 * one["cpu_seconds"] for one in ask]),
        **of_rounds("index MiB", [one["bytes"] / 2**20 for one in index]),
        **of_rounds("indexing seconds", [one["seconds"] for one in index]),
        **of_rounds("processor seconds indexing", [one["cpu_seconds"] for one in index]),
        **of_rounds("peak MiB indexing", [one["memory_mib"] for one in index]),
    }


def of_rounds(column: str, values: Sequence[float]) -> Cells:
    """The median of the rounds and the extremes."""
    return {column: median(values), f"{column} low": min(values), f"{column} high": max(values)}


def curve_cells(recipe: str, fit: Fit) -> Cells:
    """A curve through the medians of a recipe's rounds."""
    return {
        "recipe": recipe,
        "median ms": fit.curve,
        "a": fit.a,
        "b": fit.b,
        "R²": fit.r_squared,
        "AIC above the best": fit.delta,
    }


STUDY = Study(
    "growth",
    "Growth with the number of documents",
    Settings,
    recipes_of,
    measure,
    tell,
    number_of,
    data_of,
    needs_collection=False,
)
