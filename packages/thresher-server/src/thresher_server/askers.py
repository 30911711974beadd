"""Who asked what: which of a collection's traces a caller may see, as empty files in `server/askers` of the home.

A question is its asker's and the operator's to see; the same question asked by two is one trace and both may see it.
"""

from __future__ import annotations

import hashlib
import shutil
from pathlib import Path

from thresher_server.security.keys import Caller, Scope


class Askers:
    """Notes of who asked, collection by collection."""

    def __init__(self, home: Path) -> None:
        self._folder = home / "server" / "askers"

    def note(self, caller: Caller, collection: str, trace: str) -> None:
        """Keep that a caller asked for an answer; nothing for one without a trace."""
        if trace:
            folder = self._folder / collection / _hash(caller)
            folder.mkdir(parents=True, exist_ok=True)
            (folder / trace).touch()

    def may_see(self, caller: Caller, collection: str, trace: str) -> bool:
        """Whether a trace is the caller's to see."""
        if caller.may(Scope.ADMIN, collection):
            return True
        return (self._folder / collection / _hash(caller) / trace).exists()

    def rename(self, collection: str, new: str) -> None:
        """Keep the notes of a collection under its new name."""
        self.forget(new)
        if (self._folder / collection).is_dir():
            (self._folder / collection).rename(self._folder / new)

    def forget(self, collection: str) -> None:
        """Remove the notes of a collection."""
        shutil.rmtree(self._folder / collection, ignore_errors=True)


def _hash(caller: Caller) -> str:
    return hashlib.sha256(caller.name.encode()).hexdigest()[:16]
