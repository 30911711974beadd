"""Options of a question to a server."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypedDict

from thresher.answer import Answer


class SearchOptions(TypedDict, total=False):
    """Options of `Collection.search`."""

    recipe: str | None
    limit: int
    where: str | None
    max_tokens: int | None
    settings: Mapping[str, Any] | None


class AskOptions(TypedDict, total=False):
    """Options of `Collection.ask`."""

    recipe: str | None
    outside: str | None
    """none, web or collection:NAME."""
    where: str | None
    settings: Mapping[str, Any] | None
    strict: bool
    budget_calls: int | None
    budget_tokens: int | None
    budget_seconds: float | None
    max_tokens: int | None
    history: Sequence[tuple[str, str] | Answer]
    conversation: str | None
    """Id of a conversation on the server."""


def headers(key: str) -> dict[str, str]:
    """Headers of every request."""
    return {"Authorization": f"Bearer {key}"} if key else {}
