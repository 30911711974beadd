"""The kinds of studies. A new kind is a file with its `KIND` and a word in `KINDS`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ValidationError

from thresher import recipes
from thresher.collection import Collection
from thresher.errors import UnknownSetting, UsageError
from thresher.protocols import Progress
from thresher.settings import check_known, flat, keys, own
from thresher_evals.dataset import Dataset
from thresher_evals.report.blocks import Section
from thresher_evals.rows import LOCK, LineFile, fingerprint, held
from thresher_evals.runner import collection_of, parse_variant
from thresher_evals.studies import (
    crag_actions as actions,
)
from thresher_evals.studies import (
    growth,
    redundancy,
    relevance,
    retrieved,
)
from thresher_evals.studies import (
    judge_accuracy as evaluator,
)
from thresher_evals.studies.runner import (
    ROWS_FILE,
    STUDY_FILE,
    Kind,
    Materials,
    configured,
    ids_of,
    new_study,
    open_study,
    read_study,
    read_study_rows,
)

KINDS: Mapping[str, Kind] = {
    module.KIND.name: module.KIND for module in (redundancy, relevance, growth, retrieved, actions, evaluator)
}


def kind_of(name: str) -> Kind:
    """The kind of that name. Raises UnknownSetting."""
    if name not in KINDS:
        raise UnknownSetting(name, KINDS, kind="kind of study")
    return KINDS[name]


# --- measures a study into its folder, row by row, and goes on where a killed one stopped -----------------------------


@dataclass(frozen=True, slots=True)
class Conducted:
    """What a call of `conduct` did."""

    directory: Path
    kind: str
    measured: int
    skipped: int
    """Rows that were there before."""

    def to_dict(self) -> dict[str, Any]:
        """JSON form."""
        return {
            "directory": str(self.directory),
            "kind": self.kind,
            "measured": self.measured,
            "skipped": self.skipped,
        }


def prepare(
    kind: Kind, dataset: Dataset, given: Mapping[str, Any], *, home: Path, collection: str | None, seed: int
) -> Materials:
    """What the kind measures with: `given` holds settings of the study and of the recipes it uses.

    Raises UsageError for a setting that neither has, and for a collection that the kind has no use for.
    """
    if collection is not None and not kind.needs_collection:
        raise UsageError(
            "makes its own collections", subject=f"study {kind.name}", next_step="measure it without --collection"
        )
    check_known(given, {*recipes.settings_keys(), *keys(kind.settings)})
    mine = own(kind.settings, given)
    rest = {key: value for key, value in given.items() if key not in mine}
    name = collection or collection_of(dataset)
    return Materials(checked(kind.settings, mine), rest, seed, home, name, dataset)


def checked(model: type[BaseModel], given: Mapping[str, Any]) -> BaseModel:
    """The kind's settings. Raises UsageError for a value they cannot have."""
    try:
        return model.model_validate(dict(given))
    except ValidationError as error:
        first = error.errors()[0]
        key = ".".join(str(part) for part in first["loc"])
        raise UsageError(
            f"{first['msg']} (given: {first['input']!r})", subject=f"setting {key}", next_step="see docs/studies.md"
        ) from error


def conduct(
    kind: Kind,
    materials: Materials,
    out: Path,
    *,
    resume: bool = False,
    command: str = "",
    progress: Progress | None = None,
) -> Conducted:
    """Measure what has no row yet. `progress` is called with the number of rows just finished."""
    study = new_study(
        kind.name,
        kind.title,
        settings=settings_of(kind, materials),
        data=data_of(kind, materials),
        seed=materials.seed,
        command=command,
    )
    open_study(out, study, resume=resume)
    measured = 0
    with held(out), without_a_trace(out):
        rows = LineFile(out / ROWS_FILE)
        done = ids_of(read_study_rows(out))
        if progress is not None and done:
            progress(len(done))
        for row in kind.measure(materials, done):
            rows.add(row)
            measured += 1
            if progress is not None:
                progress(1)
    return Conducted(out, kind.name, measured, len(done))


@contextmanager
def without_a_trace(out: Path) -> Iterator[None]:
    """What fails before its first row leaves nothing: the folder would only be in the way of the next try."""
    try:
        yield
    except BaseException:
        rows = out / ROWS_FILE
        if not rows.is_file() or not rows.stat().st_size:
            with suppress(OSError):  # what somebody else put there stays, and so does its folder
                for name in (ROWS_FILE, STUDY_FILE, LOCK):
                    (out / name).unlink(missing_ok=True)
                out.rmdir()
        raise


def settings_of(kind: Kind, materials: Materials) -> dict[str, Any]:
    """The study's settings and, under `recipes`, all of each recipe's; secrets as stars."""
    told = {}
    for recipe in kind.recipes(materials.settings):
        variant = parse_variant(recipe)
        told[recipe] = flat(configured(variant.recipe, {**materials.given, **variant.settings}, materials.home))
    return {**materials.settings.model_dump(), "recipes": told}


def data_of(kind: Kind, materials: Materials) -> dict[str, Any]:
    """What is measured on: hashes of files and questions, numbers of documents."""
    dataset = materials.dataset
    told: dict[str, Any] = {
        "question file": dataset.sha256,
        "questions": fingerprint([[question.id, question.question] for question in dataset.questions]),
        **kind.data(materials),
    }
    if kind.needs_collection:
        documents = Collection(materials.home, materials.collection).documents()
        told |= {"collection": materials.collection, "documents": len(documents)}
    return told


# --- A study's folder as a section of the report ----------------------------------------------------------------------


def is_study(directory: Path) -> bool:
    """Whether the folder is one that `thresher eval study` wrote."""
    return (directory / STUDY_FILE).is_file()


def section_of(directory: Path) -> Section:
    """What the rows of a study say. Raises UsageError for a folder that holds no study, or a damaged one."""
    study = read_study(directory)
    kind = kind_of(study.kind)
    rows = read_study_rows(directory)
    if not rows:
        return Section(study.title, ("Nothing has been measured yet.",))
    return kind.section(rows, study)
