"""A run written by hand: two recipes and a variant, four questions, every kind of outcome."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from thresher_evals.dataset import Question
from thresher_evals.report.blocks import Cell, Number
from thresher_evals.report.data import Run, read_measured
from thresher_evals.report.pages import dataset_pages
from thresher_evals.report.write import Report, write_report
from thresher_evals.rows import Place, Row, read_reply, rows_path, written

QUESTIONS = (
    Question("q1", "Who painted?", ("Ada Moor",), category="inside"),
    Question("q2", "Who <script>alert('q')</script> cooked?", ("Ben Hill",), category="inside"),
    Question("q3", "Who sang?", ("Cato Lund",), category="outside"),
    Question("q4", "Who will sing?", (), answerable=False, category="outside"),
)
SAID: Mapping[str, Sequence[str | None]] = {
    "rag": ("Ada Moor", "Nobody", "Nobody", "Somebody"),
    "crag": ("Ada Moor", "Ben Hill | *chef* <script>alert(1)</script>", None, None),
    "crag[upper=0.9]": ("Nobody", "Ben Hill", "Cato Lund", None),
}
"""None is a refusal."""
BEST: Mapping[str, Sequence[float]] = {"crag": (0.8, 0.7, 0.2, 0.4), "crag[upper=0.9]": (0.8, 0.7, 0.2, 0.4)}


def verdict_of(best: float, upper: float) -> str:
    return "correct" if best > upper else "incorrect" if best <= 0.3 else "ambiguous"


def make_answer(recipe: str, place: int, text: str | None) -> dict[str, Any]:
    steps: list[dict[str, Any]] = []
    verdict = confidence = None
    if recipe in BEST:
        best, upper = BEST[recipe][place], 0.9 if "upper" in recipe else 0.7
        verdict, confidence = verdict_of(best, upper), best
        steps = [{"name": "decide", "detail": {"best": best, "lower": 0.3, "upper": upper}}]
    return {
        "text": text or "The documents do not say.",
        "abstained": text is None,
        "verdict": verdict,
        "confidence": confidence,
        "citations": [],
        "steps": steps,
        "usage": {"llm_calls": 1, "prompt_tokens": 10, "completion_tokens": 2, "web_requests": 0},
        "trace": f"trace-{recipe[:4]}-{place}",
    }


def make_rows(recipe: str, generator: str) -> list[Row]:
    rows = [
        Row(
            question,
            recipe,
            "c0ffee",
            seconds=float(place + 1),
            reply=read_reply(make_answer(recipe, place, text)),
            cpu_seconds=0.5,
            memory_mib=100.0,
            generator=generator,
            judge="local" if recipe in BEST else "",
            degraded=("correct: the web was away",) if recipe in BEST else (),
        )
        for place, (question, text) in enumerate(zip(QUESTIONS, SAID[recipe], strict=True))
    ]
    failed = Question("q5", "Who failed?", ("Dora",), category="inside")
    return [*rows, Row(failed, recipe, "c0ffee", 9.0, error="ThresherError: it fell over", timed_out=True)]


def write_folder(
    directory: Path,
    *,
    kind: str = "qa",
    generators: Mapping[str, str] | None = None,
    sample: int | None = None,
    rows: Mapping[str, Sequence[Row]] | None = None,
    task: str = "ask",
    together: bool = False,
) -> Path:
    of = rows or {recipe: make_rows(recipe, (generators or {}).get(recipe, "model-a")) for recipe in SAID}
    (directory / "rows").mkdir(parents=True)
    dataset = {
        "spec": f"{kind}:people.jsonl",
        "kind": kind,
        "name": "popqa",
        "task": task,
        "sha256": "5eed",
        "questions": len(next(iter(of.values()))),
        "questions_sha256": "5eed",
        "categories": {"inside": 3, "outside": 2},
        "note": "by hand",
        "split": "all",
        "sample": sample,
    }
    settings = {recipe: {"upper": 0.9 if "upper" in recipe else 0.7, "bounds": "blog"} for recipe in of}
    described = {"dataset": dataset, "recipes": list(of), "settings": settings, "limit": 5, "together": together}
    (directory / "run.json").write_text(json.dumps(described), encoding="utf-8")
    for recipe, lines in of.items():
        rows_path(directory, recipe).write_bytes(b"".join(written(row.to_dict()) for row in lines))
    return directory


@pytest.fixture
def write_run(tmp_path: Path) -> Callable[..., Path]:
    """Writes a run folder below `tmp_path`; the options are those of `write_folder`."""
    return lambda name="run", **options: write_folder(tmp_path / name, **options)


@pytest.fixture(scope="session")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of one run, a sample."""
    return write_folder(tmp_path_factory.mktemp("runs") / "run", sample=5)


@pytest.fixture(scope="session")
def report(run: Path) -> Report:
    """Its report, written once."""
    return write_report([run], run.parent / "out", title="Numbers & <names>")


@pytest.fixture
def ranked() -> dict[str, list[Row]]:
    """Two recipes that were searched only: the second finds q2's document first and loses q1's."""

    def row(recipe: str, id: str, *sources: str) -> Row:
        places = tuple(Place(source, score=1 / rank) for rank, source in enumerate(sources, start=1))
        return Row(Question(id, f"{id}?", grades={id: 1.0}), recipe, "c0ffee", 0.1, places, 0.1)

    return {
        "rag": [row("rag", "q1", "q1", "x"), row("rag", "q2", "x", "q2")],
        "hybrid": [row("hybrid", "q1", "x", "y"), row("hybrid", "q2", "q2", "x")],
    }


ASKED = 20


@pytest.fixture
def answered() -> Callable[..., list[Row]]:
    """Twenty questions put to a recipe, of which the first `right` are answered rightly."""

    def make(recipe: str, right: int, *, generator: str = "model-a", refused: bool = False) -> list[Row]:
        return [
            Row(
                Question(f"q{place}", f"Who is {place}?", (f"Person {place}",)),
                recipe,
                "c0ffee",
                0.1,
                reply=read_reply(
                    make_answer(recipe, 0, None if refused else f"Person {place}" if place < right else "Nobody")
                ),
                generator="" if refused else generator,
            )
            for place in range(ASKED)
        ]

    return make


@pytest.fixture
def measured(write_run: Callable[..., Path], answered: Callable[..., list[Row]]) -> Callable[..., Run]:
    """A run of recipes with so many right answers of twenty."""

    def make(name: str = "run", **right: int) -> Run:
        rows = {recipe: answered(recipe, count) for recipe, count in right.items()}
        return read_measured(write_run(name, rows=rows), name)

    return make


Tables = Mapping[str, list[dict[str, str]]]


@pytest.fixture
def tables_in() -> Callable[[Path], Tables]:
    """The tables of a Markdown page: what stands above a table, to its rows by their columns."""

    def read(path: Path) -> Tables:
        found: dict[str, list[dict[str, str]]] = {}
        title, heads = "", None
        for line in path.read_text(encoding="utf-8").splitlines():
            if line.startswith("#"):
                title = line.lstrip("# ")
            cells = re.split(r"(?<!\\) \| ", line.strip("| ")) if line.startswith("| ") else None
            if cells is None:
                heads = None if not line.startswith("|") else heads
            elif heads is None:
                heads = cells
            elif set("".join(cells)) != {"-"}:
                found.setdefault(title, []).append(dict(zip(heads, cells, strict=True)))
        return found

    return read


@pytest.fixture
def tables_of() -> Callable[..., Tables]:
    """The same of the pages of run folders, which are neither drawn nor written."""

    def text(cell: Cell) -> str:
        return "–" if cell is None else f"*{cell}*" if isinstance(cell, Number) and cell.claimed else str(cell)

    def read(*folders: Path) -> Tables:
        pages = dataset_pages([read_measured(folder, folder.name) for folder in folders], 0)
        tables = [table for page in pages for section in page.sections for table in section.tables]
        return {
            table.title: [dict(zip(table.columns, map(text, row), strict=True)) for row in table.rows]
            for table in tables
        }

    return read
