"""The settings table `postgres`: the database of a collection, given in a call, else by its home."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

from pydantic import Field, SecretStr

from thresher.errors import UsageError
from thresher.protocols import Home
from thresher.settings import Frozen, of_home


class PostgresSettings(Frozen):
    """The database of collections with the store `postgres`."""

    dsn: SecretStr | None = Field(None, description="its address: postgresql://USER:PASSWORD@HOST/DATABASE")
    prefix: str = Field(
        "thresher",
        pattern="^[a-z_][a-z0-9_]{0,30}$",
        description="what the names of schemas begin with; homes with the same database and prefix share collections",
    )
    tenant: str = Field(
        "",
        pattern="^([a-z_][a-z0-9_]{0,30})?$",
        description="role that the data belongs to: its schemas are its own, and a policy on each table keeps others "
        "out; empty = no tenants",
    )

    @property
    def address(self) -> str:
        """The dsn, password included; empty without one."""
        return self.dsn.get_secret_value() if self.dsn else ""

    def heed(self, folder: Home) -> None:
        """Apply values given in a call for the collection in a folder, from now on."""
        if isinstance(folder, Path):
            values = {name: getattr(self, name) for name in self.model_fields_set}
            _said[folder.absolute()] = {**_said.get(folder.absolute(), {}), **values}


_said: dict[Path, Mapping[str, Any]] = {}
"""What calls gave for the collection in a folder."""


def around(home: Path) -> PostgresSettings:
    """The settings of a home."""
    return cast(PostgresSettings, of_home(home).postgres)  # type: ignore[attr-defined]


def of(folder: Path) -> PostgresSettings:
    """The settings of the collection in a folder, two levels below its home. Raises UsageError without a database."""
    given = {name: value for name, value in _said.get(folder.absolute(), {}).items() if value or name != "dsn"}
    found = PostgresSettings() if "dsn" in given else around(folder.absolute().parents[1])
    if not (found := found.model_copy(update=given)).dsn:
        raise UsageError(
            "is kept on PostgreSQL, and nothing says where",
            subject=f"collection {folder.name}",
            next_step="set `postgres.dsn`, or THRESHER_POSTGRES__DSN, to postgresql://USER:PASSWORD@HOST/DATABASE",
        )
    return found
