"""The stores by name, and which of them a collection was made with.

A store is a class that takes a folder of its own and does what `thresher.protocols.Store` says; one more of them is a
file of its own and a line in `STORES`, or an entry point of another distribution under `thresher.stores`.
`thresher.testing.store_contract` tests what the protocol promises.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import cast

from thresher.errors import MissingExtra, StoreError, UsageError
from thresher.home import places
from thresher.home.files import LocalFiles
from thresher.plugins import brought, load_plugins, loaded
from thresher.protocols import Files, Store


def _lance(folder: Path) -> Store:
    from thresher.stores.lance import LanceStore

    return LanceStore(folder)


def _postgres(folder: Path) -> Store:
    from thresher.stores.postgres import address

    try:
        from thresher.stores.postgres.store import PostgresStore, schema_name
    except ImportError as error:  # psycopg, or the library of PostgreSQL that it needs
        raise MissingExtra("psycopg", extra="postgres") from error
    where = address.of(folder.parent)
    schema = schema_name(where.prefix, folder.parent.name, where.tenant)
    return PostgresStore(str(where.dsn), schema, tenant=where.tenant)


STORES: dict[str, Callable[[Path], Store]] = {
    "lance": _lance,
    "postgres": _postgres,
}

GROUP = "thresher.stores"
"""The entry points of stores that other distributions bring: a name, and a callable that takes a folder."""

DEFAULT = "lance"

RECORD = "collection.json"
"""File in a collection's folder that says which store it was made with."""


def check(name: str, *, subject: str = "") -> None:
    """Raise UsageError for a name that no store has; `subject` is what names it, the setting `store` by default."""
    if name not in STORES and name not in brought(GROUP):
        load_plugins()  # one of them may put a line into `STORES`
    if name not in STORES and name not in brought(GROUP):
        known = " or ".join(sorted({*STORES, *brought(GROUP)}))
        raise UsageError(f"there is no store {name!r}", subject=subject or "`store`", next_step=f"use {known}")


def of_name(name: str) -> Callable[[Path], Store]:
    """What opens a store of that name in a folder. Raises UsageError for a name that no store has."""
    check(name)
    return STORES[name] if name in STORES else cast("Callable[[Path], Store]", loaded(brought(GROUP)[name]))


def recorded(folder: Path) -> str | None:
    """The store that the collection in a folder was made with; None where there is no collection yet.

    Raises StoreError for a record that names none.
    """
    content = LocalFiles(folder).read(RECORD) or places.files_at(folder).read(RECORD)
    if content is None:
        return DEFAULT if (folder / DEFAULT).is_dir() else None  # before there was a choice, nothing was recorded
    try:
        return str(json.loads(content)["store"])
    except (ValueError, KeyError, TypeError) as error:
        advice = f'write {{"store": "{DEFAULT}"}} into it'
        raise StoreError("does not name a store", subject=str(folder / RECORD), next_step=advice) from error


def record(folder: Path, name: str) -> None:
    """Keep the name of its store with a collection that has none yet, as a whole or not at all."""
    if recorded(folder) is not None:
        return
    try:
        _keeping(folder, name).create(RECORD, json.dumps({"store": name}).encode() + b"\n")
    except StoreError as error:
        what = f"cannot be created ({error.what})"
        raise StoreError(what, subject=str(folder), next_step="choose another `home`") from error


def _keeping(folder: Path, name: str) -> Files:
    """Where the record is kept: beside the tables, which those of the default store are in the folder."""
    return LocalFiles(folder) if name == DEFAULT else places.files_at(folder)


def opened(folder: Path, name: str) -> Store:
    """The tables of the collection in a folder, in the store of that name."""
    check(name, subject=f"collection {folder.name}")
    return of_name(name)(folder / name)


def check_in_folder(folder: Path) -> None:
    """Raise UsageError for a collection whose tables are not in its folder and would not come along with it."""
    if hasattr(opened(folder, recorded(folder) or DEFAULT), "drop"):
        raise UsageError(
            "keeps its tables in a database, not in its folder",
            subject=f"collection {folder.name}",
            next_step="index the documents into another collection; for a copy use the tools of the database",
        )


def drop_tables(folder: Path) -> None:
    """Remove what the store of the collection in a folder keeps elsewhere, and the record of it there."""
    name = recorded(folder) or DEFAULT
    drop = getattr(opened(folder, name), "drop", None)
    if drop is not None:
        drop()
        _keeping(folder, name).remove([RECORD])
