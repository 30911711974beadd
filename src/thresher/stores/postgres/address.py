"""Which database a collection is in: what a call said, else the settings around its home, else the environment."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from thresher.errors import MissingExtra, UsageError
from thresher.protocols import Files

PREFIX = "thresher"
"""What the names of schemas begin with."""


@dataclass(frozen=True, slots=True)
class Address:
    """A database and what the schemas in it begin with; homes that share both share their collections."""

    dsn: str | None
    prefix: str = PREFIX
    tenant: str = ""
    """The role that the data belongs to; empty where the database has no tenants."""
    is_homes: bool = False
    """Whether the home itself is kept there: its settings name `postgres` as the store of new collections."""


def _of_environment(home: Path) -> Address:
    return Address(
        os.environ.get("THRESHER_POSTGRES__DSN"),
        os.environ.get("THRESHER_POSTGRES__PREFIX", PREFIX),
        os.environ.get("THRESHER_POSTGRES__TENANT", ""),
        is_homes=os.environ.get("THRESHER_STORE") == "postgres",
    )


around: Callable[[Path], Address] = _of_environment
"""The address that the settings around a home give; no store reads settings, `thresher.recipes` puts its own here."""

_said: dict[Path, Mapping[str, str]] = {}


def say(folder: Path, given: Mapping[str, str]) -> None:
    """Remember what a call gave for the collection in a folder: some of `dsn`, `prefix` and `tenant`."""
    _said[folder.absolute()] = {**_said.get(folder.absolute(), {}), **given}


def files_of_home(home: Path) -> Files | None:
    """What the homes of one database and prefix keep together; None for a home that is not kept in one."""
    found = around(home)
    if not (found.is_homes and found.dsn):
        return None
    try:
        from thresher.stores.postgres.store import home_files
    except ImportError as error:
        raise MissingExtra("psycopg", extra="postgres") from error
    return home_files(found.dsn, found.prefix, found.tenant)


def of(folder: Path) -> Address:
    """The address for the collection in a folder, which is two below its home; UsageError where nobody says any."""
    said = _said.get(folder.absolute(), {})
    found = Address(said["dsn"]) if "dsn" in said else around(folder.absolute().parents[1])
    if not found.dsn:
        raise UsageError(
            "is kept on PostgreSQL, and nothing says where",
            subject=f"collection {folder.name}",
            next_step="set `postgres.dsn`, or THRESHER_POSTGRES__DSN, to postgresql://USER:PASSWORD@HOST/DATABASE",
        )
    return Address(found.dsn, said.get("prefix", found.prefix), said.get("tenant", found.tenant))
