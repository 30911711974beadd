"""A JSON file of a collection with an entry for each key."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from thresher.errors import StoreError
from thresher.protocols import Files


@dataclass(frozen=True, slots=True)
class Entries:
    """The entries of a file, absent until the first one is put; a reader sees the old file or the new, never half."""

    files: Files
    name: str
    damage: str
    """What an error says of a damaged file."""
    next_step: str

    def read(self) -> dict[str, Any]:
        """All of them by key. Raises StoreError for a damaged file."""
        content = self.files.read(self.name)
        try:
            read = {} if content is None else json.loads(content)
        except ValueError as error:
            raise self.damaged() from error
        if not isinstance(read, dict):
            raise self.damaged()
        return read

    def put(self, key: str, entry: Any) -> None:
        """Keep one in place of an earlier one and of a damaged file; None removes it."""
        try:
            before = self.read()
        except StoreError:
            before = {}
        entries = {name: one for name, one in {**before, key: entry}.items() if one is not None}
        self.files.write(self.name, json.dumps(entries, indent=1).encode())

    def damaged(self) -> StoreError:
        """The error for a damaged file."""
        return StoreError(self.damage, subject=self.files.where(self.name), next_step=self.next_step)
