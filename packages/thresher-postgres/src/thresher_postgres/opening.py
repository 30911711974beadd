"""Entry point of `thresher.stores`: the store of a collection, and files shared by homes."""

from __future__ import annotations

from pathlib import Path

from thresher.errors import UsageError
from thresher.protocols import Files, Home
from thresher_postgres import settings
from thresher_postgres.store import PostgresStore, home_files, schema_name


class Opened:
    """Opens stores by their collections' folders on this machine."""

    def __call__(self, folder: Home) -> PostgresStore:
        """The store of the collection whose folder contains `folder`; its tables are in the database."""
        if not isinstance(folder, Path):
            raise UsageError(
                f"keeps its tables in that {folder.kind}, not in a database",
                subject=f"a home such as {folder.parent.parent.parent}",
                next_step="leave `store` out, or choose a `home` on this machine",
            )
        found = settings.of(folder.parent)
        schema = schema_name(found.prefix, folder.parent.name, found.tenant)
        return PostgresStore(found.address, schema, tenant=found.tenant)

    def home_files(self, home: Path) -> Files | None:
        """Files shared by homes with the same database and prefix; None without a database."""
        found = settings.around(home)
        return home_files(found.address, found.prefix, found.tenant) if found.dsn else None


opened = Opened()
