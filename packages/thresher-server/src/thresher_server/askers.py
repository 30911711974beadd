"""Which traces of a collection a caller may see: empty files in `server/askers` of the home.

A question is visible to its asker and the operator. The same question of two callers is one trace, visible to both.
"""

from __future__ import annotations

import hashlib

from thresher.home.places import Home, home_files
from thresher_server.security.keys import Caller, Scope


class Askers:
    """Records of who asked, by collection."""

    def __init__(self, home: Home) -> None:
        self._files = home_files(home).below("server").below("askers")

    def note(self, caller: Caller, collection: str, trace: str) -> None:
        """Record that a caller asked for this answer; an answer without a trace is not recorded."""
        if trace:
            self._files.create(f"{collection}/{_hash(caller)}/{trace}", b"")

    def may_see(self, caller: Caller, collection: str, trace: str) -> bool:
        """Whether a caller may see a trace."""
        if caller.may(Scope.ADMIN, collection):
            return True
        return self._files.find(f"{collection}/{_hash(caller)}/{trace}") is not None

    def rename(self, collection: str, new: str) -> None:
        """Move the records of a collection to its new name."""
        self.forget(new)
        for file in self._files.list(f"{collection}/"):
            self._files.create(f"{new}{file.name.removeprefix(collection)}", b"")
        self.forget(collection)

    def forget(self, collection: str) -> None:
        """Remove the records of a collection."""
        self._files.remove(file.name for file in self._files.list(f"{collection}/"))


def _hash(caller: Caller) -> str:
    return hashlib.sha256(caller.identity.encode()).hexdigest()[:16]
