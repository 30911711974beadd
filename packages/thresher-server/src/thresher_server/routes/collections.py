"""Collections: list, describe, make, rename, copy and drop."""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import asdict
from typing import Any

from fastapi import APIRouter
from pydantic import Field

from thresher import recipes
from thresher.collection import Collection, DocumentRecord
from thresher.recipes.judges import judge_of
from thresher.recipes.settings import CorrectiveSettings, JudgeSettings
from thresher_server import conversations
from thresher_server.asking import worked
from thresher_server.jobs.store import Jobs
from thresher_server.naming import (
    LONGEST_NAME,
    NAME_PATTERN,
    READING,
    CollectionName,
    Opened,
    Served,
    can_be_a_folder,
    is_there,
)
from thresher_server.problems import Problem, replies
from thresher_server.security.access import Admin, Askers, Known, Reader
from thresher_server.security.keys import Scope
from thresher_server.service import Service
from thresher_server.shapes import Body, Reply
from thresher_server.uploads import TOKEN_FILE, Uploads

router = APIRouter(prefix="/api/collections", tags=["collections"])

FIELD_VALUES = 50
"""Values shown of a field, the most frequent first."""


class CollectionLine(Reply):
    """A collection and its size."""

    name: str = Field(examples=["default"])
    documents: int
    bytes: int = Field(description="on disk; 0 for a key with a filter")


class CollectionList(Reply):
    """Collections by name."""

    collections: list[CollectionLine]


class FieldReply(Reply):
    """A field that filters may name."""

    name: str = Field(examples=["kind"])
    values: dict[str, int] = Field(description="its most frequent values, each with its documents")


class Status(CollectionLine):
    """What a collection holds."""

    chunks: int = Field(description="passages of the usual recipe")
    files: int = Field(description="on disk")
    ready: list[str] = Field(description="recipes that can be asked; others need their index made first")
    tables: list[dict[str, Any]] = Field(description="chunk tables, each with its `recipes`, `chunks` and `bytes`")
    extractions: dict[str, int] = Field(description="documents by version of the extraction")
    calibrated: dict[str, dict[str, Any]] = Field(description="calibrations of the judges here")
    fields: list[FieldReply]


class NameBody(Body):
    """The name of a collection."""

    name: str = Field(min_length=1, max_length=LONGEST_NAME, pattern=NAME_PATTERN, examples=["papers"])


class Named(Reply):
    """A collection that was made or changed."""

    name: str


@router.get("", summary="List collections", responses=replies(), dependencies=[READING])
def listed(caller: Known, service: Served) -> CollectionList:
    """The collections of the key, by name."""
    found = [one for one in service.engine.collections if any(caller.may(scope, one.name) for scope in Scope)]
    lines = [CollectionLine(**asdict(one)) for one in found]
    if caller.where is not None:
        stores = [(line.name, service.seen_by(caller, line.name).opened.store) for line in lines]
        lines = [CollectionLine(name=name, documents=len(store.records()), bytes=0) for name, store in stores]
    return CollectionList(collections=lines)


@router.post("", summary="Make a collection", status_code=201, responses=replies(409, 507))
async def make(caller: Admin, body: NameBody, service: Served) -> Named:
    """Makes an empty collection."""
    await worked(service, lambda: _made(service, body.name))
    service.audit.write(caller.name, "make collection", collection=body.name)
    return Named(name=body.name)


@router.get("/{collection}", summary="What a collection holds", responses=replies(404), dependencies=[READING])
def status(caller: Reader, collection: Opened, service: Served) -> Status:
    """Documents, chunks, size, extraction, calibrations, and the fields that filters may name."""
    records = collection.documents() if is_there(collection) else []
    tables = collection.tables() if records else []
    storage = collection.storage() if records else {"bytes": 0, "files": 0}
    return Status(
        name=collection.name,
        documents=len(records),
        bytes=storage["bytes"],
        chunks=passages(tables, service.front.recipe),
        files=storage["files"],
        ready=collection.ready() if records else [],
        tables=tables,
        extractions=collection.extractions() if records else {},
        calibrated=_calibrated(service, collection, tables),
        fields=_fields(records),
    )


@router.patch("/{collection}", summary="Rename a collection", responses=replies(404, 409))
async def rename(caller: Admin, collection: CollectionName, body: NameBody, service: Served) -> Named:
    """Documents, traces and conversations move with it; 409 while a job works on it."""
    await worked(service, lambda: _renamed(service, collection, body.name))
    service.audit.write(caller.name, "rename collection", collection=collection, to=body.name)
    return Named(name=body.name)


@router.post("/{collection}/copy", summary="Copy a collection", status_code=201, responses=replies(404, 409, 507))
async def copy(caller: Admin, collection: CollectionName, body: NameBody, service: Served) -> Named:
    """Makes a second collection of the same documents; the traces stay with the first."""
    await worked(service, lambda: _copied(service, collection, body.name))
    service.audit.write(caller.name, "copy collection", collection=collection, to=body.name)
    return Named(name=body.name)


@router.delete("/{collection}", summary="Drop a collection", responses=replies(404, 409))
async def drop(caller: Admin, collection: CollectionName, service: Served) -> Named:
    """Removes documents, uploaded files, traces and conversations too; 409 while a job works on it."""
    await worked(service, lambda: _dropped(service, collection))
    service.audit.write(caller.name, "drop collection", collection=collection)
    return Named(name=collection)


def passages(tables: Iterable[Mapping[str, Any]], recipe: str) -> int:
    """The passages of one recipe, or where it has no index the most that another one has."""
    chunks = [one for one in tables if one["level"] == "chunk"]
    own = [one["chunks"] for one in chunks if recipe in one["recipes"]]
    return max(own or [one["chunks"] for one in chunks], default=0)


def _made(service: Service, name: str) -> None:
    _check_free(service, name)
    with tempfile.TemporaryDirectory() as nothing:
        service.collection(name).add(nothing, recipe=service.front.recipe)


def _renamed(service: Service, name: str, new: str) -> None:
    _check_held(service, name)
    _check_free(service, new)
    Jobs(service.home).check_idle(name)
    for one in (name, new):
        service.engine.forget(one)
    service.engine.collections.rename(name, new)
    conversations.rename_collection(service.home, name, new)
    Askers(service.home).rename(name, new)


def _copied(service: Service, name: str, new: str) -> None:
    _check_held(service, name)
    _check_free(service, new)
    service.engine.forget(new)
    service.engine.collections.copy(name, new)
    service.collection(new).files.remove([TOKEN_FILE])  # the copy gets its own uploads


def _dropped(service: Service, name: str) -> None:
    _check_held(service, name)
    Jobs(service.home).check_idle(name)
    Uploads(service.home, service.collection(name)).forget_all()
    service.engine.forget(name)
    service.engine.collections.drop(name)
    conversations.forget_collection(service.home, name)
    Askers(service.home).forget(name)


def _check_held(service: Service, name: str) -> None:
    if name not in service.engine.collections:
        raise Problem(404, "is not there", subject=f"collection {name}", next_step="see GET /api/collections")


def _check_free(service: Service, name: str) -> None:
    if not can_be_a_folder(name):
        raise Problem(422, "is too long for a folder", subject=f"collection {name}", next_step="give a shorter name")
    if name in service.engine.collections:
        raise Problem(409, "is there already", subject=f"collection {name}", next_step="choose another name")


def _calibrated(
    service: Service, collection: Collection, tables: Iterable[Mapping[str, Any]]
) -> dict[str, dict[str, Any]]:
    """Calibrations learned here, by recipe; recipes with their built-in calibration are left out."""
    encoders = {row["encoder"] for row in tables}
    found = {}
    for recipe in map(recipes.get, recipes.names()):
        configured = recipe.configured({}, home=service.home)
        if not isinstance(configured, JudgeSettings | CorrectiveSettings):
            continue
        judge = _judge(recipe, configured)
        for encoder in sorted(encoders):
            if learned := collection.calibrations.get(judge, encoder):
                found[recipe.name] = learned.to_dict()
    return found


def _judge(recipe: recipes.Recipe, settings: JudgeSettings | CorrectiveSettings) -> str:
    if recipe.bounds is not None:
        return judge_of(recipe.name, settings)
    return "trained" if settings.judge == "auto" else settings.judge


def _fields(records: list[DocumentRecord]) -> list[FieldReply]:
    counted: dict[str, Counter[str]] = {}
    for record in records:
        for name, value in {"kind": record.kind, "date": record.date, **record.metadata}.items():
            if value is not None:
                counted.setdefault(name, Counter())[str(value)] += 1
    return [FieldReply(name=name, values=dict(values.most_common(FIELD_VALUES))) for name, values in counted.items()]
