"""The store on LanceDB: tables of rows, vectors and BM25 in one folder, every change one transaction."""

from __future__ import annotations

import os
from collections.abc import Mapping
from datetime import timedelta
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from thresher.errors import StoreError
from thresher.home.places import make_folder
from thresher.protocols import CHUNK_TABLE_PREFIX
from thresher.settings import of_home
from thresher.stores import lance_memory
from thresher.stores.lance_chunks import LanceChunkTable, chunk_schema
from thresher.stores.lance_memory import Memory
from thresher.stores.lance_table import InOurWords, LanceRecords, store_error, store_errors
from thresher.stores.lance_upkeep import QUIET

if TYPE_CHECKING:
    import pyarrow as pa

    from thresher.protocols import Home


class LanceStore:
    """A Lance database in a folder (implements `Store`); every read sees the newest committed version."""

    in_our_words: InOurWords = staticmethod(store_error)
    """How its errors and those of its tables are worded."""

    def __init__(self, folder: Path, *, memory: Memory | None = None, ann_rows: int | None = None) -> None:
        """`memory` in place of the one of the process; `ann_rows` as `LanceChunkTable` has it."""
        self._folder = folder
        self._address: Home = folder
        self._given_memory = memory
        self._ann_rows = ann_rows

    @cached_property
    def _memory(self) -> Memory:
        if self._given_memory is not None:
            return self._given_memory
        home = self._address.absolute() if isinstance(self._address, Path) else self._address
        return lance_memory.of_process(of_home(home.parent.parent.parent).memory_megabytes)

    @property
    def exists(self) -> bool:
        """Whether anything was ever stored here."""
        return self._folder.is_dir()

    @cached_property
    def _database(self) -> Any:
        try:
            make_folder(self._folder)
        except OSError as error:
            raise StoreError(
                f"cannot be created ({error.strerror})", subject=str(self._folder), next_step="choose another `home`"
            ) from error
        return self._connected(timedelta(0), {})

    def _connected(self, behind: timedelta, options: Mapping[str, str]) -> Any:
        """The database at the address, whose reads may be so far behind; `options` are those of its storage."""
        os.environ.setdefault("LANCEDB_LOG", QUIET)
        import lancedb

        stable = {"new_table_enable_stable_row_ids": "true"}  # compaction must not move what is looked up
        return lancedb.connect(
            str(self._address),
            read_consistency_interval=behind,
            session=self._memory.session,
            storage_options={**stable, **options},
        )

    def records(self, name: str, *, key: str, columns: Mapping[str, str]) -> LanceRecords:
        """A table of records, made if missing; `columns` maps names to `text` or `whole`, new ones are added empty."""
        import pyarrow as pa

        types = {"text": pa.string(), "whole": pa.int64()}
        schema = pa.schema([pa.field(column, types[kind]) for column, kind in columns.items()])
        if (stored := self._stored(name)) is not None:
            with store_errors(name, self.in_our_words):
                lacking = [field for field in schema if field.name not in stored.schema.names]
                if lacking and set(stored.schema.names) < set(schema.names):
                    stored.add_columns(pa.schema(lacking))
        return LanceRecords(self._created(name, schema), self._folder, key=key)

    def _stored(self, name: str) -> Any | None:
        """A table; None where there is none, or only the folder of one whose making was killed."""
        with store_errors(name, self.in_our_words):
            try:
                return self._database.open_table(name)
            except ValueError as error:
                if "was not found" in str(error):
                    return None
                raise

    def chunk_tables(self) -> set[str]:
        """Names of the chunk tables there are."""
        names: list[str] = []
        token = None
        while True:
            page = self._database.list_tables(page_token=token)
            names += page.tables
            token = page.page_token
            if not token:
                return {name for name in names if name.startswith(CHUNK_TABLE_PREFIX)}

    def create(self, name: str, *, dimension: int) -> None:
        """Make an empty chunk table with its full-text and scalar indexes; one that is there is left as it is."""
        if self._stored(name) is None:  # one of an earlier version has fewer columns, and every one metadata of its own
            self._created(name, chunk_schema(dimension))
        with store_errors(name, self.in_our_words):
            self.open(name).create_indexes()

    def open(self, name: str) -> LanceChunkTable:
        """A chunk table that exists."""
        with store_errors(name, self.in_our_words):
            table = self._database.open_table(name)
            if not {"packed", "length"} <= set(table.schema.names):
                raise self._of_another_version(name)
            return self._chunk_table(table)

    def _chunk_table(self, table: Any) -> LanceChunkTable:
        return LanceChunkTable(table, self._folder, self._memory, ann_rows=self._ann_rows)

    def _created(self, name: str, schema: pa.Schema) -> Any:
        with store_errors(name, self.in_our_words):
            try:
                return self._database.create_table(name, schema=schema, exist_ok=True)
            except ValueError as error:
                raise self._of_another_version(name) from error

    def _of_another_version(self, name: str) -> StoreError:
        what = "was written by another version of Thresher"
        return StoreError(what, subject=f"{self._folder} ({name})", next_step="index into a new `home`")
