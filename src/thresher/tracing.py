"""The stored answers of a collection, each with every chunk that was touched: what `explain` shows."""

from __future__ import annotations

import hashlib
import json
import os
import threading
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from thresher.errors import StoreError, UsageError

KEPT = 1000
"""Traces kept at most; the oldest go first. One is about 50 kB, so a collection's traces stay under 50 MB."""

LEFT = 950
"""Of more than `KEPT` so many stay: which are oldest is then looked up for every fiftieth answer only."""

DAMAGED = ""
"""Stands for the sources of a trace that cannot be read; no source is the empty text."""


def trace_id(*parts: str) -> str:
    """The same question of the same collection with the same settings has the same trace."""
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:12]


class Traces:
    """A folder with one JSON file per trace."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def save(
        self,
        identifier: str,
        described: Mapping[str, Any],
        *,
        labels: Mapping[str, str] | None = None,
        asking: Mapping[str, Any] | None = None,
    ) -> None:
        """Write a trace; a reader sees the old file or the new one, never half. Raises OSError.

        `labels` are the names of the chunks for people, by chunk id; `asking` is what is needed to ask again without a
        network. Neither is part of the contract's JSON.
        """
        self.folder.mkdir(parents=True, exist_ok=True)
        whole = {"answer": described, "labels": dict(labels or {}), "asking": dict(asking or {})}
        stored = json.dumps(whole, ensure_ascii=False)
        for name, text in ((f"{identifier}.json", stored), ("last", identifier)):
            unfinished = self.folder / f".{name}.{os.getpid()}.{threading.get_ident()}"
            try:
                unfinished.write_text(text, encoding="utf-8")
                unfinished.replace(self.folder / name)
            finally:
                unfinished.unlink(missing_ok=True)
        if sum(name.endswith(".json") for name in os.listdir(self.folder)) > KEPT:
            for old in self._by_age()[:-LEFT]:
                old.unlink(missing_ok=True)

    def load(self, identifier: str = "last") -> dict[str, Any]:
        """A stored answer by its id, or the newest. Raises UsageError when there is none."""
        answer: dict[str, Any] = self._read(self._file(identifier))["answer"]
        return answer

    def labels(self, identifier: str = "last") -> dict[str, str]:
        """What people call the chunks of a stored answer, by chunk id."""
        labels: dict[str, str] = self._read(self._file(identifier))["labels"]
        return labels

    def asking(self, identifier: str = "last") -> dict[str, Any]:
        """How the question of a stored answer was asked, and everything that came from outside for it."""
        asking: dict[str, Any] = self._read(self._file(identifier)).get("asking", {})
        if not asking:
            raise UsageError(
                "the trace was stored by a version that kept no replies",
                subject=identifier,
                next_step="ask the question again",
            )
        return asking

    def _file(self, identifier: str) -> Path:
        if identifier == "last":
            pointer = self.folder / "last"
            if not pointer.is_file():
                raise UsageError("no question was asked of this collection yet", next_step="ask one: `ask(QUESTION)`")
            identifier = pointer.read_text(encoding="utf-8").strip()
        file = self.folder / f"{identifier}.json"
        if not identifier.isalnum() or not file.is_file():
            raise UsageError("no such trace", subject=identifier, next_step="use the id that `ask` printed, or `last`")
        return file

    def _read(self, file: Path) -> dict[str, Any]:
        try:
            stored: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
            if not {"answer", "labels"} <= stored.keys():
                raise ValueError("not a trace")
        except (ValueError, AttributeError) as error:
            raise StoreError(
                "the stored trace is damaged", subject=str(file), next_step="ask the question again to write it anew"
            ) from error
        return stored

    def forget(self, sources: Iterable[str]) -> int:
        """Remove the traces that quote any of the sources, and damaged ones; returns how many."""
        wanted = {*sources, DAMAGED}
        removed = 0
        for file in self._by_age():
            if self._quoted(file) & wanted:
                file.unlink(missing_ok=True)
                removed += 1
        return removed

    def _quoted(self, file: Path) -> set[str]:
        """The sources a trace quotes. What a damaged one quotes cannot be known, so it counts as quoting anything."""
        try:
            described = self._read(file)["answer"]
            return {item["source"] for item in (*described["chunks"], *described["citations"])}
        except (StoreError, KeyError, TypeError):
            return {DAMAGED}

    def _by_age(self) -> list[Path]:
        aged = []
        for file in self.folder.glob("*.json"):
            with suppress(FileNotFoundError):  # another process removed it just now
                aged.append((file.stat().st_mtime, file.name, file))
        return [file for _, _, file in sorted(aged)]
