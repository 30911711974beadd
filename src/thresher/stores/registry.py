"""The stores by name, and which of them a collection was made with.

A store takes a folder, which may be remote, and implements `thresher.protocols.Store`; another one is a file and a line
in `STORES`, or an entry point `thresher.stores` of another distribution. `thresher_testing.store_contract` tests it.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

from thresher.errors import StoreError, UsageError, missing
from thresher.home import places
from thresher.home.places import STORES as GROUP
from thresher.plugins import brought, load_plugins, loaded
from thresher.protocols import Files, Home, Store

__all__ = ["RECORD", "STORES", "opened", "recorded"]


def _lance(folder: Home) -> Store:
    if not isinstance(folder, Path):
        return folder.store()
    from thresher.stores.lance import LanceStore

    return LanceStore(folder)


STORES: dict[str, Callable[[Any], Store]] = {"lance": _lance}

DEFAULT = "lance"

RECORD = "collection.json"
"""File in a collection's folder that says which store it was made with."""


def check(name: str, *, subject: str = "") -> None:
    """Raise UsageError for a name that no store has; `subject` is what names it, the setting `store` by default."""
    if name not in STORES and name not in brought(GROUP):
        load_plugins()  # one of them may put a line into `STORES`
    if name not in STORES and name not in brought(GROUP):
        known = " or ".join(sorted({*STORES, *brought(GROUP)}))
        unknown = UsageError(f"there is no store {name!r}", subject=subject or "`store`", next_step=f"use {known}")
        raise missing(GROUP, name) or unknown


def recorded(folder: Home) -> str | None:
    """The store that a collection was made with; None without a collection. Raises StoreError for a damaged record."""
    content = _beside(folder).read(RECORD) or places.record_files(folder).read(RECORD)
    if content is None:  # before there was a choice, nothing was recorded
        return DEFAULT if isinstance(folder, Path) and (folder / DEFAULT).is_dir() else None
    try:
        return str(json.loads(content)["store"])
    except (ValueError, KeyError, TypeError) as error:
        advice = f'write {{"store": "{DEFAULT}"}} into it'
        raise StoreError("does not name a store", subject=str(folder / RECORD), next_step=advice) from error


def record(folder: Home, name: str) -> None:
    """Keep the name of its store with a collection that has none yet, as a whole or not at all."""
    if recorded(folder) is not None:
        return
    try:
        _keeping(folder, name).create(RECORD, json.dumps({"store": name}).encode() + b"\n")
    except StoreError as error:
        what = f"cannot be created ({error.what})"
        raise StoreError(what, subject=str(folder), next_step="choose another `home`") from error


def _beside(folder: Home) -> Files:
    return places.files_asked(places.files_at(folder))


def _keeping(folder: Home, name: str) -> Files:
    """The files that hold the record: in the folder for the default store, else beside the tables."""
    return _beside(folder) if name == DEFAULT else places.record_files(folder)


def opened(folder: Home, name: str) -> Store:
    """The tables of the collection in a folder, in the store of that name. Raises UsageError for an unknown name."""
    check(name, subject=f"collection {folder.name}")
    make = STORES[name] if name in STORES else cast("Callable[[Any], Store]", loaded(brought(GROUP)[name]))
    return make(folder / name)


def check_in_folder(folder: Home) -> None:
    """Raise UsageError for a collection whose tables are not in its folder and would not come along with it."""
    if not isinstance(folder, Path):
        raise UsageError(
            f"is in a {folder.kind}, where nothing is renamed or copied as a whole",
            subject=f"collection {folder.name}",
            next_step=f"index the documents into another collection; for a copy use the tools of the {folder.kind}",
        )
    if hasattr(opened(folder, recorded(folder) or DEFAULT), "drop"):
        raise UsageError(
            "keeps its tables in a database, not in its folder",
            subject=f"collection {folder.name}",
            next_step="index the documents into another collection; for a copy use the tools of the database",
        )


def forget(folder: Home) -> None:
    """Take the record away: from then on there is no collection."""
    _keeping(folder, recorded(folder) or DEFAULT).remove([RECORD])


def drop_tables(folder: Home) -> None:
    """Remove what the store of the collection in a folder keeps elsewhere, and the record of it there."""
    name = recorded(folder) or DEFAULT
    if drop := getattr(opened(folder, name), "drop", None):
        drop()
        _keeping(folder, name).remove([RECORD])
