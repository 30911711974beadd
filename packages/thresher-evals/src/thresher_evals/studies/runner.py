"""What a kind of study is."""

from __future__ import annotations

import json
import platform
import re
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from dataclasses import asdict, dataclass, fields
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from thresher import recipes
from thresher.collection import Collection
from thresher.errors import UsageError
from thresher.indexing.store import DocumentStore
from thresher.models.reply_cache import ReplyCache
from thresher.models.usage import Meter
from thresher.pipeline import Pipeline
from thresher.protocols import ChunkTable
from thresher.recipes.components import Components, Models
from thresher.recipes.settings import RecipeSettings
from thresher.settings import Frozen, ambient, own
from thresher_evals.dataset import Dataset, Question
from thresher_evals.jsonl import write_whole
from thresher_evals.report.blocks import Section
from thresher_evals.rows import finite, is_begun, this_machine, unlike, version_of, whole_lines
from thresher_evals.stats import Comparison, Interval, mean_interval, paired_difference

StudyRow = Mapping[str, Any]
"""One measurement: a JSON object with an `id`; what else it has is its kind's."""

STUDY_FILE = "study.json"
ROWS_FILE = "rows.jsonl"


@dataclass(frozen=True, slots=True)
class Study:
    """What is known of a study before its first row."""

    kind: str
    title: str
    version: str
    """Of Thresher."""
    settings: Mapping[str, Any]
    """Those of the study by name, and under `recipes` all settings of each recipe it uses; secrets as stars."""
    data: Mapping[str, Any]
    """Name to sha256, or to a number of documents."""
    seed: int
    machine: Mapping[str, Any]
    started: str
    """ISO 8601, UTC."""
    command: str
    """As it was typed."""


def new_study(
    kind: str, title: str, *, settings: Mapping[str, Any], data: Mapping[str, Any], seed: int, command: str
) -> Study:
    """A study that starts now, on this machine."""
    machine = {**this_machine(), "python": platform.python_version()}
    started = datetime.now(UTC).isoformat(timespec="seconds")
    kept = json.loads(json.dumps(finite(settings)))
    return Study(kind, title, version_of("thresher") or "", kept, dict(data), seed, machine, started, command)


def open_study(out: Path, study: Study, *, resume: bool) -> None:
    """Make the folder, or check that what it holds is the same study."""
    if is_begun(out, STUDY_FILE, resume=resume):
        differences = compare(read_study(out), study)
        if differences:
            raise UsageError(
                f"the study in this folder is another one: {'; '.join(differences)}",
                subject=str(out),
                next_step="measure as it was measured then, or give another --out",
            )
        return
    out.mkdir(parents=True, exist_ok=True)
    write_whole(out / STUDY_FILE, (json.dumps(asdict(study), indent=2, allow_nan=False) + "\n").encode())


def compare(before: Study, now: Study) -> list[str]:
    """What makes two studies different measurements, in words."""
    differences = [
        words for name in ("kind", "seed", "data") for words in unlike(name, getattr(before, name), getattr(now, name))
    ]
    return [*differences, *unlike("settings", each_setting(before), each_setting(now))]


def each_setting(study: Study) -> dict[str, Any]:
    """Every setting on its own, those of recipes under the recipe's name."""
    own = {key: value for key, value in study.settings.items() if key != "recipes"}
    used = study.settings.get("recipes", {})
    return own | {f"{recipe}: {key}": value for recipe, values in used.items() for key, value in values.items()}


def read_study(directory: Path) -> Study:
    """study.json of a folder."""
    try:
        told = json.loads((directory / STUDY_FILE).read_text(encoding="utf-8"))
        return Study(**{field.name: told[field.name] for field in fields(Study)})
    except (OSError, ValueError, TypeError, KeyError) as error:
        raise UsageError(
            f"no study in it ({STUDY_FILE} is missing or damaged)",
            subject=str(directory),
            next_step="give a folder that 'thresher eval study' wrote",
        ) from error


def read_study_rows(directory: Path) -> list[StudyRow]:
    """The whole rows, the first of each id; a torn last line is not a row."""
    path = directory / ROWS_FILE
    rows: dict[str, StudyRow] = {}
    for number, line in enumerate(whole_lines(path), start=1):
        try:
            row = json.loads(line)
            rows.setdefault(row["id"], row)
        except (ValueError, KeyError, TypeError) as error:
            raise UsageError(
                "not a row of a study",
                subject=f"{path}:{number}",
                next_step="delete the line and measure again with --resume",
            ) from error
    return list(rows.values())


def ids_of(rows: Sequence[StudyRow]) -> set[str]:
    """What was measured."""
    return {row["id"] for row in rows}


# --- what a kind of study is given to measure with --------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Materials:
    """Questions, a collection and settings; a kind uses what it needs of them."""

    settings: Any
    """The kind's own, as its model."""
    given: Mapping[str, Any]
    """Settings that count for the recipes which have them."""
    seed: int
    home: Path
    collection: str
    dataset: Dataset

    def left(self, done: Set[str]) -> Iterator[Question]:
        """The questions that have no row yet, in their order."""
        return (question for question in self.dataset.questions if question.id not in done)


# --- what a kind of study is ------------------------------------------------------------------------------------------


def of_questions(materials: Materials) -> int:
    """A row for each question."""
    return len(materials.dataset.questions)


def nothing_more(materials: Materials) -> Mapping[str, Any]:
    """Nothing is measured on but the questions and the collection."""
    return {}


@dataclass(frozen=True, slots=True)
class Kind:
    """How something is measured, and what is said of it."""

    name: str
    title: str
    settings: type[Frozen]
    """Its own; those of recipes can be given beside them."""
    recipes: Callable[[Any], Sequence[str]]
    """The recipes it uses, by its settings; variants as in `eval run`."""
    measure: Callable[[Materials, Set[str]], Iterator[StudyRow]]
    """The rows whose ids are not among those done."""
    section: Callable[[Sequence[StudyRow], Study], Section]
    """What at least one row says."""
    number: Callable[[Materials], int] = of_questions
    """How many rows there will be."""
    data: Callable[[Materials], Mapping[str, Any]] = nothing_more
    """What it is measured on besides the questions and the collection: name to sha256 or number."""
    needs_collection: bool = True
    """Whether the questions are put to a collection that is there already."""


# --- A collection with the parts of its recipes in hand: studies look into slots that a search does not show ----------


@dataclass(frozen=True)
class Opened:
    """A collection, the parts that its recipes are made of, and the settings that were given."""

    collection: Collection
    parts: Components
    given: Mapping[str, Any]

    def configured(self, recipe: str, more: Mapping[str, Any] | None = None) -> RecipeSettings:
        """Settings of a recipe: its own, those around, those given, and `more`, the later the stronger."""
        return configured(recipe, {**self.given, **(more or {})}, self.collection.home)

    def pipeline(self, recipe: str, more: Mapping[str, Any] | None = None) -> Pipeline:
        """The recipe, ready to run slot by slot."""
        made = recipes.get(recipe)
        return made.pipeline(self.configured(recipe, more), self.parts)

    def table(self, recipe: str, level: str = "chunk") -> ChunkTable:
        """The recipe's chunk table; it is made when it is missing."""
        layout = recipes.get(recipe).index_config(self.configured(recipe), self.parts)
        assert layout is not None, f"{recipe} retrieves nothing"
        return self.parts.table(layout, level)


def opened(home: Path, name: str, given: Mapping[str, Any]) -> Opened:
    """The collection of that name. Raises StoreError where it holds no documents."""
    collection = Collection(home, name)
    collection.documents()
    return Opened(collection, parts_of(collection, home), given)


def parts_of(collection: Collection, home: Path) -> Components:
    """What recipes are made of over a collection; replies of chat models are kept in `home` where that is asked for."""
    store, replies = DocumentStore(collection.folder), ReplyCache(home / "replies")
    return Components(store, Models(), Meter(), replies=replies, calibrations=collection.calibrations)


def configured(recipe: str, given: Mapping[str, Any], home: Path) -> RecipeSettings:
    """As `Collection.settings` finds them, as a model; settings that the recipe has not are passed over."""
    model = recipes.get(recipe).settings
    around = ambient(recipes.settings_keys(), home)
    return recipes.get(recipe).configured({**own(model, around), **own(model, given)})


# --- numbers as they stand in the tables of studies: the value and its 95 % interval ----------------------------------


INTERVALS = "Intervals are 95 %, bootstrap over the questions (10,000 resamples)."


def shown(interval: Interval, digits: int = 3) -> str | None:
    """`0.42 [0.31, 0.52]`; None where nothing can be said."""
    if interval.value is None or interval.low is None or interval.high is None:
        return None
    return f"{interval.value:.{digits}f} [{interval.low:.{digits}f}, {interval.high:.{digits}f}]"


def mean_of(values: Sequence[float | None], seed: int) -> Interval:
    """Mean of the values that are there."""
    return mean_interval([value for value in values if value is not None], seed=seed)


def difference_of(first: Sequence[float | None], second: Sequence[float | None], seed: int) -> Comparison:
    """Second minus first, over the questions that have both."""
    pairs = [(one, other) for one, other in zip(first, second, strict=True) if one is not None and other is not None]
    return paired_difference([one for one, _ in pairs], [other for _, other in pairs], seed=seed)


def shown_difference(compared: Comparison, digits: int = 3) -> str | None:
    """`+0.10 [+0.02, +0.18], p = 0.01`; None where nothing was compared."""
    if compared.difference is None or compared.low is None or compared.high is None or compared.p is None:
        return None
    bounds = f"[{compared.low:+.{digits}f}, {compared.high:+.{digits}f}]"
    return f"{compared.difference:+.{digits}f} {bounds}, p = {compared.p:.2g}"


def mean(values: Sequence[float]) -> float | None:
    """Mean, or None of nothing."""
    return sum(values) / len(values) if values else None


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
