"""Replies of chat models on disk: the same prompt to the same model need not be paid for twice."""

from __future__ import annotations

import json
import logging
import os
import tempfile
from collections.abc import Sequence
from pathlib import Path

from thresher.errors import StoreError
from thresher.models.cassette import content_hash

MAX_REPLIES = 20_000
"""Replies kept at most: some hundreds of questions of a recipe that judges every chunk, well below 100 MB."""

FOLDERS = 256
"""Named by the first two digits of the hash; the bound is kept in each, so that a write looks at one folder only."""

_log = logging.getLogger(__name__)


class ReplyCache:
    """Replies by the hash of what was asked, one file each in `folder`; the oldest go when there are too many.

    Never the reason that a question fails: what cannot be read is missing, what cannot be written is left out. Several
    threads and processes may share a folder. A reply that could not be read as what it should be does stay here, but
    the second try asks with another prompt (`structured.asked`) and so never meets it.
    """

    def __init__(self, folder: Path, *, max_replies: int = MAX_REPLIES) -> None:
        self.folder = Path(folder)
        self._per_folder = max(1, max_replies // FOLDERS)

    def get(self, key_parts: Sequence[str]) -> str | None:
        """The reply to what these parts say was asked; None for none."""
        try:
            stored = json.loads(self._file(key_parts).read_text(encoding="utf-8"))
        except FileNotFoundError:
            return None
        except (OSError, ValueError, RecursionError) as error:
            _log.info("a stored reply cannot be read (%s); the model is asked instead", type(error).__name__)
            return None
        reply = stored.get("reply") if isinstance(stored, dict) else None
        return reply if isinstance(reply, str) else None

    def put(self, key_parts: Sequence[str], reply: str) -> None:
        """Keep a reply, in place of an older one to the same."""
        file = self._file(key_parts)
        try:
            file.parent.mkdir(parents=True, exist_ok=True)
            _write(file, json.dumps({"reply": reply}))
            self._tidy(file.parent)
        except OSError as error:
            _log.info("a reply cannot be stored in %s (%s)", self.folder, type(error).__name__)

    def clear(self) -> None:
        """Forget every reply. Raises StoreError when a file cannot be removed."""
        try:
            for folder in self.folder.glob("[0-9a-f]" * 2):
                for file in folder.iterdir():
                    file.unlink(missing_ok=True)
                folder.rmdir()
        except OSError as error:
            raise StoreError(
                f"cannot be cleared ({error.strerror})", subject=str(self.folder), next_step="remove the folder by hand"
            ) from error

    def _file(self, key_parts: Sequence[str]) -> Path:
        name = content_hash(key_parts)
        return self.folder / name[:2] / f"{name[2:]}.json"

    def _tidy(self, folder: Path) -> None:
        """Remove the oldest files beyond the bound; also those a process that was killed left half written."""
        names = os.listdir(folder)
        if len(names) > self._per_folder:
            oldest_first = sorted((folder / name for name in names), key=lambda file: (file.stat().st_mtime_ns, file))
            for file in oldest_first[: -self._per_folder]:
                file.unlink(missing_ok=True)


def _write(file: Path, text: str) -> None:
    """Write beside the file and move into place: whoever reads sees the whole of it or nothing."""
    handle, beside = tempfile.mkstemp(dir=file.parent, suffix=".tmp")
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as open_file:
            open_file.write(text)
        os.replace(beside, file)
    except OSError:
        Path(beside).unlink(missing_ok=True)
        raise
