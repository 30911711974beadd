"""What the operator offers to agents: tools and collections. No agent can extend it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum

from thresher_server.security.keys import ANYBODY, Caller, Scope


class Profile(StrEnum):
    """A set of tools."""

    DEFAULT = "default"
    CHATGPT = "chatgpt"
    """`search` and `fetch`, as ChatGPT's connectors and deep research call them."""


READ_ONLY = frozenset({Scope.READ, Scope.ASK})


@dataclass(frozen=True, slots=True)
class Offer:
    """Tools by profile and scope; `collections` None means all."""

    profile: Profile = Profile.DEFAULT
    scopes: frozenset[Scope] = READ_ONLY
    collections: frozenset[str] | None = None

    def to(self, caller: Caller) -> Caller:
        """The caller with the rights that are also offered here; without a key it may not write."""
        scopes = frozenset(scope for scope in self.scopes if caller.may(scope))
        own = None if Scope.ADMIN in caller.scopes else caller.collections
        both = [one for one in (own, self.collections) if one is not None]
        collections = frozenset.intersection(*both) if both else None
        return replace(caller, scopes=scopes & READ_ONLY if caller is ANYBODY else scopes, collections=collections)
