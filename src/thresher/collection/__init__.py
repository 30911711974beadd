"""A collection of documents that can be added to, searched and asked; loaded when it is first used."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from thresher.collection.asking import AskOptions
    from thresher.collection.collection import Collection

__all__ = ["AskOptions", "Collection"]


def __getattr__(name: str) -> Any:
    if name == "Collection":
        from thresher.collection.collection import Collection

        return Collection
    if name == "AskOptions":
        from thresher.collection.asking import AskOptions

        return AskOptions
    raise AttributeError(f"module 'thresher.collection' has no attribute {name!r}")
