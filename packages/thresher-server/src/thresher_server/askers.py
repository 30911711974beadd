"""Who asked what: which of a collection's traces a caller may see, as empty files in `server/askers` of the home.

A question is its asker's and the operator's to see; the same question asked by two is one trace and both may see it.
"""

from __future__ import annotations

import hashlib

from thresher.home.places import Home, home_files
from thresher_server.security.keys import Caller, Scope


class Askers:
    """Notes of who asked, collection by collection."""

    def __init__(self, home: Home) -> None:
        self._files = home_files(home).below("server").below("askers")

    def note(self, caller: Caller, collection: str, trace: str) -> None:
        """Keep that a caller asked for an answer; nothing for one without a trace."""
        if trace:
            self._files.create(f"{collection}/{_hash(caller)}/{trace}", b"")

    def may_see(self, caller: Caller, collection: str, trace: str) -> bool:
        """Whether a trace is the caller's to see."""
        if caller.may(Scope.ADMIN, collection):
            return True
        return self._files.find(f"{collection}/{_hash(caller)}/{trace}") is not None

    def rename(self, collection: str, new: str) -> None:
        """Keep the notes of a collection under its new name."""
        self.forget(new)
        for file in self._files.list(f"{collection}/"):
            self._files.create(f"{new}{file.name.removeprefix(collection)}", b"")
        self.forget(collection)

    def forget(self, collection: str) -> None:
        """Remove the notes of a collection."""
        self._files.remove(file.name for file in self._files.list(f"{collection}/"))


def _hash(caller: Caller) -> str:
    return hashlib.sha256(caller.identity.encode()).hexdigest()[:16]
