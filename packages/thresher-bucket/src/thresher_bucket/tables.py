"""The LanceDB store in a bucket, shared by several machines.

Tables look for their newest version only every few seconds, and a writer looks again once it holds the commit lease.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import timedelta
from functools import cached_property
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Any, TypeVar, cast
from weakref import WeakSet

from thresher.errors import StoreError
from thresher.stores.lance import LanceChunkTable, LanceStore
from thresher.stores.lance_memory import Memory
from thresher.stores.lance_table import LanceRecords, LanceTable, store_error, store_errors
from thresher_bucket.address import BucketAddress
from thresher_bucket.files import CONNECT_SECONDS, RETRIES, BucketFiles, allows_http, bucket_of, error_of
from thresher_bucket.lease import HeldObject, held_by

if TYPE_CHECKING:
    import pyarrow as pa

    from thresher.protocols import RemoteFolder

LEASE = "{}.lease"
"""Lease object beside the tables: of the committer, and of upkeep."""


_OF_BUCKET = re.compile(r'Generic (S3|GCS|MicrosoftAzure) error|store: "(S3|GCS|MicrosoftAzure)"')

Table = TypeVar("Table", bound=LanceTable)


def _in_our_words(subject: str, error: Exception) -> StoreError:
    """Lance's error in our words; without the text of the bucket's errors."""
    text = str(error)
    return error_of(subject, text) if _OF_BUCKET.search(text) else store_error(subject, error)


class BucketLanceStore(LanceStore):
    """A Lance database in a folder of a bucket (implements `Store`)."""

    in_our_words = staticmethod(_in_our_words)

    def __init__(self, folder: BucketAddress, *, memory: Memory | None = None, ann_rows: int | None = None) -> None:
        # The path is only a name: this machine has no such folder.
        super().__init__(Path(str(folder)), memory=memory, ann_rows=ann_rows)
        self._address = cast("RemoteFolder", folder)
        self._bucket = folder
        self._tables_opened: WeakSet[LanceTable] = WeakSet()
        self._seen_at = -float("inf")

    @property
    def exists(self) -> bool:
        """Whether anything was ever stored here; true is cached for some seconds."""
        bucket = bucket_of(self._bucket)
        if monotonic() - self._seen_at > bucket.options.seconds_behind:
            if BucketFiles(self._bucket).is_empty():
                return False
            self._seen_at = monotonic()
        return True

    def shared_lock(self, name: str, seconds: float) -> TableLease:
        """The lock `commit` or `upkeep`, held by one process on any machine; waits up to `seconds`."""
        return TableLease(self, self._lease(name), seconds)

    def refresh(self) -> None:
        """Let every open table read its newest version next."""
        for table in list(self._tables_opened):
            with store_errors(table.name, _in_our_words):
                table.refresh()

    def chunk_tables(self) -> set[str]:
        """Names of the existing chunk tables; some servers keep the empty folder of a discarded one."""
        files = BucketFiles(self._bucket)
        return {name for name in super().chunk_tables() if not files.below(f"{name}.lance").is_empty()}

    def records(self, name: str, *, key: str, columns: Mapping[str, str]) -> LanceRecords:
        """A table of records, made if missing; `columns` maps names to `text` or `whole`."""
        return self._guarded(super().records(name, key=key, columns=columns))

    def _lease(self, name: str) -> HeldObject:
        return held_by(BucketFiles(self._bucket.parent), LEASE.format(name))

    @cached_property
    def _database(self) -> Any:
        options = bucket_of(self._bucket).options
        with store_errors(str(self._address), _in_our_words):
            return self._connected(timedelta(seconds=options.seconds_behind), _storage_options(options.timeout_seconds))

    def _chunk_table(self, table: Any) -> LanceChunkTable:
        return self._guarded(super()._chunk_table(table))

    def _created(self, name: str, schema: pa.Schema) -> Any:
        self._lease("commit").check()
        return super()._created(name, schema)

    def _guarded(self, table: Table) -> Table:
        """A table that is refreshed with the others, and not written after a lost lease."""
        table.in_our_words = _in_our_words
        table.check = self._lease("commit").check
        table.check_upkeep = self._lease("upkeep").check
        self._tables_opened.add(table)
        return table


class TableLease:
    """The lease of a store's collection; its holder sees everything committed before."""

    def __init__(self, store: BucketLanceStore, held: HeldObject, seconds: float) -> None:
        self._store = store
        self._held = held
        self._seconds = seconds

    def acquire(self) -> None:
        """Take it; reentrant. Raises `filelock.Timeout` if another one holds it for too long."""
        self._held.acquire(self._seconds)
        try:
            self._store.refresh()
        except BaseException:
            self._held.release()
            raise

    def release(self) -> None:
        """Release it once for each `acquire`."""
        self._held.release()


def _storage_options(timeout_seconds: float) -> dict[str, str]:
    return {
        "allow_http": str(allows_http()).lower(),
        "timeout": f"{timeout_seconds}s",
        "connect_timeout": f"{min(CONNECT_SECONDS, timeout_seconds)}s",
        # Lance itself tries a failed read four times. So its client retries only immediate failures, such as a 503;
        # an error then takes at most four times the timeout.
        "client_max_retries": str(RETRIES),
        "client_retry_timeout": "1",
    }
