"""The settings table `postgres` of a collection."""

from __future__ import annotations

from pathlib import Path

from pydantic import Field, SecretStr

from thresher.protocols import Home
from thresher.settings import Frozen


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

    def heed(self, folder: Home) -> None:
        """Apply values given in a call for the collection in a folder, from now on."""
        if isinstance(folder, Path):
            from thresher_postgres.address import say

            say(folder, self)
