"""A file of JSON lines that grows: a killed process loses at most the line it was at."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from threading import Lock
from typing import Any

from thresher.evals.rows import whole_lines, written


class LineFile:
    """Adds lines to a file, whole ones only; what was torn before is cut first. Safe to use from several threads."""

    def __init__(self, path: Path) -> None:
        path.parent.mkdir(exist_ok=True)
        cut_torn_line(path)
        self._path = path
        self._lock = Lock()

    def add(self, value: Mapping[str, Any]) -> None:
        """One more line, on disk before this returns."""
        with self._lock, self._path.open("ab") as stream:
            try:
                stream.write(written(value))
                stream.flush()
            except OSError:  # a full disk may have taken half a line, to which another thread would add its own
                cut_torn_line(self._path)
                raise


def cut_torn_line(path: Path) -> None:
    """Remove what follows the last end of line, so that the next one starts on its own."""
    if not path.is_file():
        return
    kept = sum(len(line) + 1 for line in whole_lines(path))
    with path.open("rb+") as stream:
        stream.truncate(kept)
