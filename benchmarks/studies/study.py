"""What a study is, how it is measured into its folder, and what the folder says.

A study measures what is not a question and its answer. Its folder holds study.json (what is measured on what, with
which settings) and rows.jsonl (a line a measurement; what was killed goes on). From the rows alone come about.json and
a CSV file a table, which the report reads (`thresher_evals.report.study`).
"""

from __future__ import annotations

import csv
import json
import platform
import re
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

from thresher import recipes
from thresher.collection import Collection
from thresher.errors import UsageError
from thresher.home.places import Home, LocalFiles
from thresher.indexing.store import DocumentStore
from thresher.models.usage import Meter
from thresher.pipeline import Pipeline
from thresher.protocols import ChunkTable, Progress
from thresher.recipes.components import Components, Models
from thresher.recipes.settings import RecipeSettings
from thresher.settings import Frozen, check_known, flat, keys, known_to, validated
from thresher_evals.asker import parse_variant
from thresher_evals.dataset import Dataset, Question
from thresher_evals.rows import LOCK, RowLog, fingerprint, finite, this_machine, unlike, version_of
from thresher_evals.runner import collection_of
from thresher_evals.stats import Comparison, Interval, mean_interval, paired_difference

ABOUT_FILE = "about.json"

INTERVALS = "Intervals are 95 %, bootstrap over the questions (10,000 resamples)."

Row = Mapping[str, Any]
"""One measurement: a JSON object with an `id`; what else it has is its study's."""

Cell = str | int | float | None
Cells = Mapping[str, Cell]
"""Column to what stands in it."""


@dataclass(frozen=True, slots=True)
class Table:
    """A table and the name of its file; `plot` says what of it is drawn."""

    name: str
    title: str
    rows: Sequence[Cells]
    note: str = ""
    plot: Mapping[str, Any] | None = None

    @property
    def columns(self) -> list[str]:
        """Every column that a row has, in order."""
        return list(dict.fromkeys(column for row in self.rows for column in row))


class Findings(NamedTuple):
    """What the rows say: paragraphs and tables."""

    text: Sequence[str]
    tables: Sequence[Table]


@dataclass(frozen=True, slots=True)
class Materials:
    """Questions, a collection and settings; a study uses what it needs of them."""

    settings: Any
    """The study's own, as its model."""
    given: Mapping[str, Any]
    """Settings that count for the recipes which have them."""
    seed: int
    home: Path
    collection: str
    dataset: Dataset

    def left(self, done: Set[str]) -> Iterator[Question]:
        """The questions that have no row yet, in their order."""
        return (question for question in self.dataset.questions if question.id not in done)


@dataclass(frozen=True, slots=True)
class Study:
    """How something is measured, and what is said of it."""

    name: str
    title: str
    settings: type[Frozen]
    """Its own; those of recipes can be given beside them."""
    recipes: Callable[[Any], Sequence[str]]
    """The recipes it uses, by its settings; variants as in `eval run`."""
    measure: Callable[[Materials, Set[str]], Iterator[Row]]
    """The rows whose ids are not among those done."""
    tell: Callable[[Sequence[Row], Any, int], Findings]
    """What at least one row says, by the study's settings and seed."""
    number: Callable[[Materials], int] = lambda materials: len(materials.dataset.questions)
    """How many rows there will be."""
    data: Callable[[Materials], Mapping[str, Any]] = lambda materials: {}
    """What it is measured on besides the questions and the collection: name to sha256 or number."""
    needs_collection: bool = True
    """Whether the questions are put to a collection that is there already."""

    def prepare(
        self, dataset: Dataset, given: Mapping[str, Any], *, home: Path, collection: str | None, seed: int
    ) -> Materials:
        """What it measures with: `given` holds settings of the study and of the recipes it uses.

        Raises UsageError for a setting that neither has, and for a collection that the study has no use for.
        """
        if collection is not None and not self.needs_collection:
            raise UsageError(
                "makes its own collections", subject=f"study {self.name}", next_step="measure it without --collection"
            )
        given = dict(given)
        check_known(given, {*recipes.settings_keys(), *keys(self.settings)})
        mine = known_to(self.settings, given)
        rest = {key: value for key, value in given.items() if key not in mine}
        name = collection or collection_of(dataset)
        return Materials(validated(self.settings, mine), rest, seed, home, name, dataset)


# --- measuring --------------------------------------------------------------------------------------------------------


class Measured(NamedTuple):
    """Rows measured now, and rows that were there before."""

    measured: int
    skipped: int


def conduct(
    study: Study,
    materials: Materials,
    out: Path,
    *,
    resume: bool = False,
    command: str = "",
    progress: Progress = lambda _: None,
) -> Measured:
    """Measure what has no row yet and write what the rows say, also when it is interrupted."""
    log = study_log(out)
    log.begin(described(study, materials, command), differences, resume=resume)
    with log.locked(), without_a_trace(log):
        rows = {row["id"]: row for row in read_rows(out)}
        skipped = len(rows)
        progress(skipped)
        try:
            for row in study.measure(materials, set(rows)):
                log.add(dict(row))
                rows.setdefault(row["id"], json.loads(json.dumps(finite(row))))
                progress(1)
        finally:
            if rows:
                write_findings(out, study.title, study.tell(list(rows.values()), materials.settings, materials.seed))
    return Measured(len(rows) - skipped, skipped)


def described(study: Study, materials: Materials, command: str) -> dict[str, Any]:
    """study.json: what is measured on what, by which version, where and when; secret settings as stars."""
    variants = {name: parse_variant(name) for name in study.recipes(materials.settings)}
    used = {
        name: flat(configured(one.recipe, {**materials.given, **one.settings}, materials.home))
        for name, one in variants.items()
    }
    dataset = materials.dataset
    data: dict[str, Any] = {
        "question file": dataset.sha256,
        "questions": fingerprint([[question.id, question.question] for question in dataset.questions]),
        **study.data(materials),
    }
    if study.needs_collection:
        documents = Collection(materials.home, materials.collection).documents()
        data |= {"collection": materials.collection, "documents": len(documents)}
    return {
        "kind": study.name,
        "title": study.title,
        "version": version_of("thresher") or "",
        "settings": json.loads(json.dumps(finite({**materials.settings.model_dump(), "recipes": used}))),
        "data": data,
        "seed": materials.seed,
        "machine": {**this_machine(), "python": platform.python_version()},
        "started": datetime.now(UTC).isoformat(timespec="seconds"),
        "command": command,
    }


def differences(before: Mapping[str, Any], now: Mapping[str, Any]) -> list[str]:
    """What makes two studies different measurements, in words."""
    found = [words for name in ("kind", "seed", "data") for words in unlike(name, before[name], now[name])]
    return found + unlike("settings", each_setting(before["settings"]), each_setting(now["settings"]))


def each_setting(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Every setting on its own, those of recipes under the recipe's name."""
    mine = {key: value for key, value in settings.items() if key != "recipes"}
    of_recipes = settings.get("recipes", {}).items()
    return mine | {f"{recipe}: {key}": value for recipe, values in of_recipes for key, value in values.items()}


@contextmanager
def without_a_trace(log: RowLog[dict[str, Any]]) -> Iterator[None]:
    """What fails before its first row leaves nothing: the folder would only be in the way of the next try."""
    try:
        yield
    except BaseException:
        rows = log.path()
        if not rows.is_file() or not rows.stat().st_size:
            with suppress(OSError):  # what somebody else put there stays, and so does its folder
                for path in (rows, log.head, log.folder / LOCK):
                    path.unlink(missing_ok=True)
                log.folder.rmdir()
        raise


# --- the folder -------------------------------------------------------------------------------------------------------


def study_log(directory: Path) -> RowLog[dict[str, Any]]:
    """study.json and the rows of a study."""
    needed = ("kind", "seed", "data", "settings")
    return RowLog(directory, dict, head="study.json", needed=needed, lines="rows.jsonl", what="study")


def read_study(directory: Path) -> dict[str, Any]:
    """study.json of a folder."""
    return study_log(directory).read_head()


def read_rows(directory: Path) -> list[Row]:
    """The whole rows, the first of each id."""
    rows: dict[str, Row] = {}
    for row in study_log(directory).rows():
        rows.setdefault(row["id"], row)
    return list(rows.values())


def write_findings(directory: Path, title: str, findings: Findings) -> None:
    """about.json and a CSV file a table."""
    about: dict[str, Any] = {"title": title, "text": list(findings.text), "tables": []}
    for table in findings.tables:
        file = f"{table.name}.csv"
        with (directory / file).open("w", encoding="utf-8", newline="") as stream:
            lines = csv.DictWriter(stream, table.columns, restval="", lineterminator="\n")
            lines.writeheader()
            lines.writerows({column: plain(cell) for column, cell in row.items()} for row in table.rows)
        plot = {"plot": dict(table.plot)} if table.plot else {}
        about["tables"].append({"file": file, "title": table.title, "note": table.note, **plot})
    LocalFiles(directory).write(ABOUT_FILE, (json.dumps(about, indent=1, ensure_ascii=False) + "\n").encode())


def plain(cell: Cell) -> Cell:
    """A number with six digits that count, nothing for None."""
    return f"{cell:.6g}" if isinstance(cell, float) else cell


# --- cells ------------------------------------------------------------------------------------------------------------


def spread(column: str, interval: Interval) -> dict[str, Cell]:
    """A value and the bounds of its interval."""
    return {column: interval.value, f"{column} low": interval.low, f"{column} high": interval.high}


def change(column: str, compared: Comparison) -> dict[str, Cell]:
    """A difference, the bounds of its interval, and p."""
    bounds = {f"{column} low": compared.low, f"{column} high": compared.high, f"{column} p": compared.p}
    return {column: compared.difference, **bounds}


def mean_of(values: Sequence[float | None], seed: int) -> Interval:
    """Mean of the values that are there."""
    return mean_interval([value for value in values if value is not None], seed=seed)


def difference_of(first: Sequence[float | None], second: Sequence[float | None], seed: int) -> Comparison:
    """Second minus first, over the questions that have both."""
    pairs = [(one, other) for one, other in zip(first, second, strict=True) if one is not None and other is not None]
    return paired_difference([one for one, _ in pairs], [other for _, other in pairs], seed=seed)


def mean(values: Sequence[float]) -> float | None:
    """Mean, or None of nothing."""
    return sum(values) / len(values) if values else None


# --- recipes slot by slot ---------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Opened:
    """A collection, the parts that its recipes are made of, and the settings that were given."""

    collection: Collection
    parts: Components
    given: Mapping[str, Any]

    @classmethod
    def of(cls, materials: Materials) -> Opened:
        """The collection the questions are put to. Raises StoreError where it holds no documents."""
        collection = Collection(materials.home, materials.collection)
        collection.documents()
        return cls(collection, parts_of(collection, materials.home), materials.given)

    def configured(self, recipe: str, more: Mapping[str, Any] | None = None) -> RecipeSettings:
        """Settings of a recipe: its own, those around, those given, and `more`, the later the stronger."""
        return configured(recipe, {**self.given, **(more or {})}, self.collection.home)

    def pipeline(self, recipe: str, more: Mapping[str, Any] | None = None) -> Pipeline:
        """The recipe, ready to run slot by slot."""
        made = recipes.get(recipe)
        return made.pipeline(self.configured(recipe, more), self.parts)

    def table(self, recipe: str) -> ChunkTable:
        """The recipe's chunk table; it is made when it is missing."""
        return table_of(recipe, self.configured(recipe), self.parts)


def parts_of(collection: Collection, home: Path) -> Components:
    """What recipes are made of over a collection; replies of chat models are kept in `home` where that is asked for."""
    store, replies = DocumentStore(collection.folder), LocalFiles(home / "replies")
    return Components(store, Models(), Meter(), replies=replies, calibrations=lambda: collection.calibrations)


def table_of(recipe: str, settings: RecipeSettings, parts: Components) -> ChunkTable:
    """The chunk table of a recipe that retrieves."""
    index = recipes.get(recipe).index_config(settings, parts)
    assert index is not None, f"{recipe} retrieves nothing"
    return parts.table(index)


def configured(recipe: str, given: Mapping[str, Any], home: Home) -> RecipeSettings:
    """As `Collection.settings` finds them, as a model; settings that the recipe has not are passed over."""
    found = recipes.get(recipe)
    return found.configured(known_to(found.settings, given), home=home)


# --- names and numbers in one word of the command line ----------------------------------------------------------------


COMMA = re.compile(r",(?![^\[\]]*\])")
"""A comma that is not inside brackets: those of `rag[chunk.size=300,chunk.overlap=50]` belong to the name."""


def split_names(text: str) -> tuple[str, ...]:
    """`a, b[c=1,d=2]` to `a` and `b[c=1,d=2]`, without repeats."""
    return tuple(dict.fromkeys(part.strip() for part in COMMA.split(text) if part.strip()))


def split_numbers(text: str, *, subject: str) -> tuple[int, ...]:
    """`100, 10,25` to 10, 25, 100. Raises UsageError for what is no whole number above 0."""
    parts = split_names(text)
    if not parts or not all(part.isdecimal() and int(part) > 0 for part in parts):
        raise UsageError(f"'{text}' is not a list of numbers", subject=subject, next_step="e.g. 10,25,50")
    return tuple(sorted({int(part) for part in parts}))
