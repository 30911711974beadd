"""The store on LanceDB in a bucket, which several machines share.

Tables are asked for their newest version every few seconds only, and at once by whoever is about to write: it holds the
commit lease, and looks again when it has got it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import timedelta
from functools import cached_property
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Any, TypeVar
from weakref import WeakSet

from thresher.errors import StoreError
from thresher.stores.lance import LanceStore
from thresher.stores.lance_chunks import LanceChunkTable
from thresher.stores.lance_memory import Memory
from thresher.stores.lance_table import LanceRecords, LanceTable, store_error, store_errors
from thresher_bucket.files import CONNECT_SECONDS, RETRIES, BucketFiles, allows_http, bucket_of, error_of
from thresher_bucket.folder import BucketFolder
from thresher_bucket.lease import HeldObject, held_by

if TYPE_CHECKING:
    import pyarrow as pa

LEASE = "{}.lease"
"""Beside the tables: who commits, and who keeps them up."""


_OF_BUCKET = re.compile(r'Generic (S3|GCS|MicrosoftAzure) error|store: "(S3|GCS|MicrosoftAzure)"')

Table = TypeVar("Table", bound=LanceTable)


def _in_our_words(subject: str, error: Exception) -> StoreError:
    """What Lance raised, where it comes from the bucket, without what the bucket's own text quotes."""
    text = str(error)
    return error_of(subject, text) if _OF_BUCKET.search(text) else store_error(subject, error)


class BucketLanceStore(LanceStore):
    """A Lance database in a folder of a bucket (implements `Store`)."""

    in_our_words = staticmethod(_in_our_words)

    def __init__(self, folder: BucketFolder, *, memory: Memory | None = None, ann_rows: int | None = None) -> None:
        # Its folder is only told of: no such one is on this machine.
        super().__init__(Path(str(folder)), memory=memory, ann_rows=ann_rows)
        self._address: BucketFolder = folder
        self._tables_opened: WeakSet[LanceTable] = WeakSet()
        self._seen_at = -float("inf")

    @property
    def exists(self) -> bool:
        """Whether anything was ever stored here; that it does is believed for a while."""
        bucket = bucket_of(self._address)
        if monotonic() - self._seen_at > bucket.options.seconds_behind:
            if BucketFiles(self._address).is_empty():
                return False
            self._seen_at = monotonic()
        return True

    def shared_lock(self, name: str, seconds: float) -> TableLease:
        """What one process at a time holds, on whatever machine: `commit` or `upkeep`; waited for so long."""
        return TableLease(self, self._lease(name), seconds)

    def refresh(self) -> None:
        """Let every open table show its newest version at the next read."""
        for table in list(self._tables_opened):
            with store_errors(table.name, _in_our_words):
                table.refresh()

    def records(self, name: str, *, key: str, columns: Mapping[str, str]) -> LanceRecords:
        """A table of records, created when missing; `columns` maps names to `text` or `whole`."""
        return self._guarded(super().records(name, key=key, columns=columns))

    def _lease(self, name: str) -> HeldObject:
        return held_by(BucketFiles(self._address.parent), LEASE.format(name))

    @cached_property
    def _database(self) -> Any:
        options = bucket_of(self._address).options
        with store_errors(str(self._address), _in_our_words):
            return self._connected(timedelta(seconds=options.seconds_behind), _storage_options(options.timeout_seconds))

    def _chunk_table(self, table: Any) -> LanceChunkTable:
        return self._guarded(super()._chunk_table(table))

    def _created(self, name: str, schema: pa.Schema) -> Any:
        self._lease("commit").check()
        return super()._created(name, schema)

    def _guarded(self, table: Table) -> Table:
        """A table that is refreshed with the others, and not written after the lease was lost."""
        table.in_our_words = _in_our_words
        table.check = self._lease("commit").check
        table.check_upkeep = self._lease("upkeep").check
        self._tables_opened.add(table)
        return table


class TableLease:
    """The lease of a store's collection; whoever has just got it sees what was committed before."""

    def __init__(self, store: BucketLanceStore, held: HeldObject, seconds: float) -> None:
        self._store = store
        self._held = held
        self._seconds = seconds

    def acquire(self) -> None:
        """Take it, again where this thread has it. Raises `filelock.Timeout` when another holds it for too long."""
        self._held.acquire(self._seconds)
        try:
            self._store.refresh()
        except BaseException:
            self._held.release()
            raise

    def release(self) -> None:
        """Give it back as often as it was taken."""
        self._held.release()


def _storage_options(timeout_seconds: float) -> dict[str, str]:
    """What Lance's own client of the bucket is told; where it is and with which keys it reads from the environment."""
    return {
        "allow_http": str(allows_http()).lower(),
        "timeout": f"{timeout_seconds}s",
        "connect_timeout": f"{min(CONNECT_SECONDS, timeout_seconds)}s",
        # Lance itself reads four times what fails. So that these are not multiplied, its client tries again only what
        # fails at once, such as a 503; an error then comes after four times the timeout at most.
        "client_max_retries": str(RETRIES),
        "client_retry_timeout": "1",
    }
