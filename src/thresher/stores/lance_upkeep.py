"""Upkeep of a growing Lance table: indexes brought up by increments, files joined, old versions dropped.

lancedb's `optimize` writes every index and most files anew, however few rows came: 6.9 s for 100 at 300,000. This calls
the Lance inside lancedb directly, through pylance, while others add or delete rows; where a deletion meets files that
are being joined, the joining gives way. Two upkeeps of one table must not run at the same time.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Iterable
from datetime import timedelta
from pathlib import Path
from typing import Any

from thresher.errors import StoreError

_log = logging.getLogger(__name__)

LANCE_INSIDE = {"0.40": "13.0.0"}
"""The Lance that each lancedb is built with: indexes that another one builds are invisible to it."""

MOST_SEGMENTS = 8
"""Parts of an index from which they are joined; joining takes .3 s at a million rows, and each part is asked."""

DELETED_SHARE = 0.1
"""A file is written anew, without its deleted rows, when they are more than this share of it (Lance's default)."""

QUIET = "error"
"""Lance's warnings on standard error help no user (an empty partition); LANCE_LOG or LANCEDB_LOG shows them."""


def check_versions(lancedb: str, pylance: str) -> None:
    """Raise StoreError where pylance is not the Lance inside lancedb."""
    inside = LANCE_INSIDE.get(".".join(lancedb.split(".")[:2]))
    if pylance != inside:
        known = "; ".join(f"lancedb {theirs} goes with pylance {ours}" for theirs, ours in LANCE_INSIDE.items())
        raise StoreError(
            f"pylance {pylance} is not the Lance inside lancedb {lancedb}, and cannot see the indexes that one builds",
            subject="the store on LanceDB",
            next_step=f"install a pair that belongs together ({known})",
        )


HALF_WRITTEN = ".tmp*"
"""What Lance calls a file until all of it is there; its own clean-up passes them by."""


def newest(table: Any) -> Any:
    """The newest version of a lancedb table in pylance. Raises StoreError where the two do not belong together."""
    os.environ.setdefault("LANCE_LOG", QUIET)
    import lance
    import lancedb

    check_versions(lancedb.__version__, lance.__version__)
    return lance.dataset(table.uri, storage_options=table.initial_storage_options() or None)


def bring_up(table: Any, names: Iterable[str]) -> None:
    """Add to indexes what came since, as a part of its own, and join the parts of those that have many."""
    dataset = newest(table)
    wanted = {index.name: index for index in table.list_indices() if index.name in set(names)}
    behind = [name for name, index in wanted.items() if index.num_unindexed_rows]
    if behind:
        dataset.optimize.optimize_indices(num_indices_to_merge=0, index_names=behind)
    crowded = [name for name, index in wanted.items() if (index.num_segments or 0) >= MOST_SEGMENTS]
    if crowded:
        dataset = newest(table)
        dataset.optimize.optimize_indices(num_indices_to_merge=2 * MOST_SEGMENTS, index_names=crowded)


def join_files(table: Any, *, rows: int, every_deletion: bool = False) -> None:
    """Join neighbouring files that the same index segments cover to about `rows` rows, without many deleted rows.

    With `every_deletion` no deleted row is left in a file.
    """
    share = 0.0 if every_deletion else DELETED_SHARE
    try:
        newest(table).optimize.compact_files(
            target_rows_per_fragment=rows, materialize_deletions=True, materialize_deletions_threshold=share
        )
    except OSError as error:
        # Lance's words where another change came first and this one has to be tried again.
        if every_deletion or "Retryable commit conflict" not in str(error):
            raise
        _log.info("%s: files are not joined this time, rows are being deleted", table.name)


def drop_versions_before(table: Any, older_than: timedelta, *, unfinished: bool = False) -> None:
    """Drop older versions and their files; `unfinished` also drops files of killed processes: nobody may write then."""
    newest(table).cleanup_old_versions(older_than=older_than, delete_unverified=unfinished)
    if unfinished and "://" not in table.uri:
        for file in Path(table.uri).rglob(HALF_WRITTEN):
            file.unlink(missing_ok=True)
