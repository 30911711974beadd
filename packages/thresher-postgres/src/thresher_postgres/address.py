"""The database of a collection: given in a call, else in the settings of its home."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from thresher.errors import UsageError
from thresher.home import settings
from thresher_postgres.settings import PostgresSettings


@dataclass(frozen=True, slots=True)
class Address:
    """A database and the prefix of its schemas; homes with the same of both share their collections."""

    dsn: str | None
    prefix: str = "thresher"
    tenant: str = ""
    """The role that owns the data; empty without tenants."""


_said: dict[Path, Mapping[str, Any]] = {}


def say(folder: Path, given: PostgresSettings) -> None:
    """Store the values given in a call for the collection in a folder."""
    values = {name: getattr(given, name) for name in given.model_fields_set}
    _said[folder.absolute()] = {**_said.get(folder.absolute(), {}), **values}


def around(home: Path) -> Address:
    """The address in the settings of a home."""
    found = cast(PostgresSettings, settings.of_home(home).postgres)  # type: ignore[attr-defined]
    return Address(_plain(found), found.prefix, found.tenant)


def of(folder: Path) -> Address:
    """The address of the collection in a folder, two levels below its home. Raises UsageError if there is none."""
    said = PostgresSettings.model_construct(**_said.get(folder.absolute(), {}))
    found = Address(_plain(said)) if said.dsn else around(folder.absolute().parents[1])
    if not found.dsn:
        raise UsageError(
            "is kept on PostgreSQL, and nothing says where",
            subject=f"collection {folder.name}",
            next_step="set `postgres.dsn`, or THRESHER_POSTGRES__DSN, to postgresql://USER:PASSWORD@HOST/DATABASE",
        )
    given = said.model_fields_set
    prefix = said.prefix if "prefix" in given else found.prefix
    return Address(found.dsn, prefix, said.tenant if "tenant" in given else found.tenant)


def _plain(table: PostgresSettings) -> str | None:
    return None if table.dsn is None else table.dsn.get_secret_value()
