"""What goes into an `index`, and what it reports."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from thresher.errors import DocumentError
from thresher.indexing.catalog import Changes
from thresher.types import Document


@dataclass(frozen=True, slots=True)
class Incoming:
    """A file or URL to take in; `documents` reads it, yields its documents and, as values, rows that failed."""

    source: str
    sha256: str
    root: str
    documents: Callable[[], Iterator[Document | DocumentError]]
    given: str = ""
    """What the caller added to its metadata, as JSON: a change of it is a change of the file."""


@dataclass(slots=True)
class Report:
    """What an `index` did; `to_dict` is the JSON of the public contract."""

    added: int = 0
    updated: int = 0
    unchanged: int = 0
    duplicates: int = 0
    removed: int = 0
    failed: list[DocumentError] = field(default_factory=list)
    chunks: int = 0
    seconds: float = 0.0

    def count(self, changes: Changes) -> None:
        """Add what a batch changed."""
        self.added += changes.added
        self.updated += changes.updated
        self.unchanged += changes.unchanged
        self.duplicates += changes.duplicates
        self.removed += changes.removed

    def to_dict(self) -> dict[str, Any]:
        """JSON form of the public contract."""
        failed = [{"source": e.subject, "error": e.what, "next": e.next_step} for e in self.failed]
        return {**asdict(replace(self, failed=[])), "failed": failed}
