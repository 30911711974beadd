"""The audit log: requests, changes and refusals as lines of JSON in `server/audit.jsonl` of the home.

The guard logs every request with its status; a route logs what only it knows (a trace, sources).
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
    """Appends each line with one write, so that several processes may; logs nothing without a home.

    A question is logged with its trace, without its words: those are stored with the collection.
    """

    def __init__(self, home: Path | None) -> None:
        self.file = None if home is None else home / "server" / "audit.jsonl"
        self._lock = Lock()

    def write(self, caller: str, did: str, *, collection: str | None = None, **details: Any) -> None:
        """Log an action of a caller."""
        if self.file is None:
            return
        told = {"time": datetime.now(UTC).isoformat(timespec="milliseconds"), "caller": caller, "did": did}
        if collection is not None:
            told["collection"] = collection
        line = json.dumps({**told, **details}, default=str) + "\n"  # ASCII: no control characters for a terminal
        with self._lock:
            make_folder(self.file.parent)
            file = os.open(self.file, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
            try:
                os.write(file, line.encode())
            finally:
                os.close(file)
