"""Replies of chat models kept for later questions."""

from __future__ import annotations

import json
import logging
import re
from collections.abc import Sequence

from thresher.errors import StoreError
from thresher.models.usage import content_hash
from thresher.protocols import Files

_log = logging.getLogger(__name__)

MAX_REPLIES = 20_000  # some hundreds of questions of a recipe that judges every chunk, well below 100 MB
FOLDERS = 256  # by the first two digits of the hash; the bound is kept in each: a write looks at one folder only


class ReplyCache:
    """Replies by the hash of the request, one file each; the oldest go when there are too many.

    A file that cannot be read or written never fails a question. Several threads and processes may share the files. A
    reply of the wrong form stays here; the second try asks with another prompt (`replies.asked`) and never meets it.
    """

    def __init__(self, files: Files, *, max_replies: int = MAX_REPLIES) -> None:
        self._files = files
        self._per_folder = max(1, max_replies // FOLDERS)

    def get(self, key_parts: Sequence[str]) -> str | None:
        """The stored reply to this request; None for none."""
        try:
            content = self._files.read(_name(key_parts))
            stored = None if content is None else json.loads(content)
        except (StoreError, ValueError, RecursionError) as error:
            _log.info("a stored reply cannot be read (%s); the model is asked instead", type(error).__name__)
            return None
        reply = stored.get("reply") if isinstance(stored, dict) else None
        return reply if isinstance(reply, str) else None

    def put(self, key_parts: Sequence[str], reply: str) -> None:
        """Store a reply, in place of an older one to the same request."""
        name = _name(key_parts)
        try:
            self._files.write(name, json.dumps({"reply": reply}).encode())
            kept = self._files.list(name.partition("/")[0] + "/")
            self._files.remove(file.name for file in kept[: -self._per_folder])
        except StoreError as error:
            _log.info("a reply cannot be stored: %s", error)

    def clear(self) -> None:
        """Forget every reply. Raises StoreError when a file cannot be removed."""
        names = [file.name for file in self._files.list()]
        self._files.remove(name for name in names if re.fullmatch("[0-9a-f]{2}/[0-9a-f]+[.]json", name))


def _name(key_parts: Sequence[str]) -> str:
    hashed = content_hash(key_parts)
    return f"{hashed[:2]}/{hashed[2:]}.json"
