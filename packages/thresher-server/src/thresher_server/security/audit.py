"""Who asked and who changed what, and what was refused: a line of JSON each in `server/audit.jsonl` of the home.

The guard keeps a line of every request with its status; what a door knows besides (a trace, sources) has its own.
"""

from __future__ import annotations

import json
import os
from datetime import UTC, datetime
from pathlib import Path
from threading import Lock
from typing import Any

from thresher.home.files import make_folder


class Audit:
    """Appends lines, each with one write, so that several processes may; keeps nothing without a home.

    What is kept of a question is that it was asked and its trace, not its words: those lie with the collection.
    """

    def __init__(self, home: Path | None) -> None:
        self.file = None if home is None else home / "server" / "audit.jsonl"
        self._lock = Lock()

    def write(self, caller: str, did: str, *, collection: str | None = None, **details: Any) -> None:
        """Keep that a caller did something."""
        if self.file is None:
            return
        told = {"time": datetime.now(UTC).isoformat(timespec="milliseconds"), "caller": caller, "did": did}
        if collection is not None:
            told["collection"] = collection
        line = json.dumps({**told, **details}, default=str) + "\n"  # ASCII: no name in it moves a terminal
        with self._lock:
            make_folder(self.file.parent)
            file = os.open(self.file, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
            try:
                os.write(file, line.encode())
            finally:
                os.close(file)
