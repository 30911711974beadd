"""Whether a file is still what was indexed of it: its size and its time of change are looked at, nothing is read."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from thresher.types import Stale

if TYPE_CHECKING:
    from thresher.indexing.store import DocumentStore


def state(file: str | Path) -> tuple[int, int] | None:
    """Bytes of a file and when it was changed last, in nanoseconds since 1970; None where there is none.

    Raises OSError where that cannot be told: no right to look, a disk that fails.
    """
    try:
        status = os.stat(file)
    except (FileNotFoundError, NotADirectoryError):
        return None
    return status.st_size, status.st_mtime_ns


def is_gone(file: str | Path) -> bool:
    """Whether a path of this machine leads to nothing; False for what is no path, and where it cannot be told."""
    try:
        return os.path.isabs(file) and state(file) is None
    except (OSError, ValueError):
        return False


def stale(store: DocumentStore, document_ids: Iterable[str]) -> dict[str, Stale]:
    """What became of the files of documents, by the document's id: those that changed or are gone.

    A document is cited from its first file, a member of an archive from the archive. Nothing is said of what is no
    file of this machine: addresses, texts of a program, files that were indexed before their state was kept, and where
    machines share the tables, files that were not indexed with their folder or whose folder is not here.
    """
    documents = store.kept_documents(list(dict.fromkeys(document_ids)))
    files = {id_: document.container or document.source for id_, document in documents.items()}
    records = store.record_table("read_files").get(set(files.values())) if files else {}
    found = {file: became(record, shared=store.is_shared) for file, record in records.items()}
    return {id_: found[file] for id_, file in files.items() if found.get(file)}


def became(record: Mapping[str, Any], *, shared: bool = False) -> Stale:
    """The same of one file, by what is recorded of it; `shared` with other machines."""
    file, root = record["source"], record["root"]
    if record["size"] is None or (shared and (root == file or not os.path.isdir(root))):
        return ""
    try:
        now = state(file)
    except OSError:
        return ""
    if now is None:
        return "gone"
    return "" if now == (record["size"], record["modified"]) else "changed"
